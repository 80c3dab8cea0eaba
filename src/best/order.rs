//! The order of a query that an index on sketches can follow.

use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::catalog::ours::is_sketch_match;
use crate::pg::catalog::strategy::{FLOAT_FAMILY, MATCHES};
use crate::pg::compat;
use crate::pg::nodes::{cast, elements, is_not_null, list_of};
use pgrx::pg_sys::{self, FuncExpr, IndexOptInfo, Node, NodeTag, Oid, PathKey, PlannerInfo, RelOptInfo};
use text::sketch::threshold::Measure;

/// `ORDER BY sketch_similarity(stored, query) DESC`, or by one of the containments.
pub(super) struct BestOrder {
    /// The first sort key of the query.
    pub(super) key: *mut PathKey,
    /// The share by which it sorts.
    pub(super) share: *mut FuncExpr,
    pub(super) measure: Measure,
    pub(super) stored: *mut Node,
    pub(super) query: *mut Node,
    pub(super) index: SearchedIndex,
}

/// An index on the sketches.
pub(super) struct SearchedIndex {
    pub(super) info: *mut IndexOptInfo,
    pub(super) column: i16,
    /// The operator `stored @@ sketch_query`.
    pub(super) matches: Oid,
}

impl BestOrder {
    /// # Safety
    /// The relation must be one of the query that is being planned.
    pub(super) unsafe fn of(root: &PlannerInfo, relation: &RelOptInfo) -> Option<Self> {
        // SAFETY: the planner has put sort keys into this list, and expressions into their classes.
        unsafe {
            let ours = ExtensionOids::known()?;
            let key: *mut PathKey = elements(root.query_pathkeys).first()?.cast();
            let class = &*(*key).pk_eclass;
            let is_falling = (*key).pk_opfamily == FLOAT_FAMILY && compat::is_falling(&*key);
            // An index is searched before other conditions hide rows, and raises errors about these.
            if !is_falling || class.ec_has_volatile || root.qual_security_level > 0 {
                return None;
            }
            let members =
                compat::members_of(class, relation).into_iter().flat_map(|list| elements(list).iter());
            members
                .map(|&member| &*member.cast::<pg_sys::EquivalenceMember>())
                .filter(|member| pg_sys::bms_equal(member.em_relids, relation.relids))
                .find_map(|member| Self::by(key, member.em_expr.cast(), relation, &ours))
                .filter(|order| !(*key).pk_nulls_first || is_never_null(root, relation, order.stored))
        }
    }

    /// The order by an expression.
    ///
    /// # Safety
    /// The expression must be one of the query, about this relation.
    unsafe fn by(
        key: *mut PathKey,
        expression: *mut Node,
        relation: &RelOptInfo,
        ours: &ExtensionOids,
    ) -> Option<Self> {
        // SAFETY: an expression of the query, as the caller promises.
        unsafe {
            let share = cast::<FuncExpr>(expression, NodeTag::T_FuncExpr)?;
            let of_pair = match share.funcid {
                function if function == ours.sketches.similarity => [Measure::Similarity; 2],
                function if function == ours.sketches.containment => [Measure::OfSketch, Measure::OfQuery],
                _ => return None,
            };
            let &mut [a, b] = elements(share.args) else { return None };
            let is_fixed = |&&node: &&*mut Node| {
                !pg_sys::contain_var_clause(node)
                    && !pg_sys::contain_subplans(node)
                    && !pg_sys::contain_volatile_functions(node)
            };
            let [measure_a, measure_b] = of_pair;
            let sides = [(a, b, measure_a), (b, a, measure_b)];
            let (stored, query, measure) = sides.into_iter().find(|(_, query, _)| is_fixed(&query))?;
            let index = SearchedIndex::on(stored, relation, ours.sketches.query_type)?;
            Some(Self { key, share, measure, stored, query, index })
        }
    }
}

impl SearchedIndex {
    /// # Safety
    /// The expression must be one of the query, about this relation.
    unsafe fn on(stored: *mut Node, relation: &RelOptInfo, query_type: Oid) -> Option<Self> {
        // SAFETY: the planner's descriptions of indexes, each with a family for each of its columns.
        unsafe {
            elements(relation.indexlist).iter().find_map(|&index| {
                let info: *mut IndexOptInfo = index.cast();
                // An index of a partitioned table has no pages, and so no estimate of its cost.
                let is_searchable = (*info).amcostestimate.is_some();
                let is_complete = is_searchable && ((*info).indpred.is_null() || (*info).predOK);
                (0..(*info).nkeycolumns).filter(|_| is_complete).find_map(|column| {
                    let family = *(*info).opfamily.add(column as usize);
                    let array = pg_sys::INT8ARRAYOID;
                    let matches = pg_sys::get_opfamily_member(family, array, query_type, MATCHES);
                    let is_searched = matches != pg_sys::InvalidOid
                        && is_sketch_match(pg_sys::get_opcode(matches))
                        && pg_sys::match_index_to_operand(stored, column, info);
                    is_searched.then_some(Self { info, column: column as i16, matches })
                })
            })
        }
    }
}

/// Whether no row that the query reads has NULL in place of a sketch.
///
/// # Safety
/// The expression must be one of the query, about this relation.
unsafe fn is_never_null(root: &PlannerInfo, relation: &RelOptInfo, stored: *mut Node) -> bool {
    // SAFETY: as the caller promises; conditions of the relation.
    unsafe {
        let column = cast::<pg_sys::Var>(stored, NodeTag::T_Var);
        let is_declared =
            column.is_some_and(|column| compat::is_declared_not_null(root, relation, column.varattno));
        is_declared || {
            let conditions = pg_sys::extract_actual_clauses(relation.baserestrictinfo, false);
            pg_sys::predicate_implied_by(list_of(&[is_not_null(stored)]), conditions, false)
        }
    }
}

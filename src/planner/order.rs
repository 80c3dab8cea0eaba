//! Sorts by falling similarity as by rising distance, which indexes can.
//!
//! `hamming_similarity(a, b) DESC` and `a <~> b` are one order with the same ties, except for NULLs: DESC
//! puts them first, and an index returns them last. So the key is replaced where NULLS LAST is written, where
//! there are no NULLs, and where all are NULL. The query then looks as if the parser had read
//! `ORDER BY a <~> b`. The planner reads the list of sort keys after our hook.

use super::expressions::{CodePair, FLOAT_FAMILY, similarity_of};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::compat::is_declared_not_null;
use crate::pg::nodes::{cast, elements, is_not_null, list_of, make};
use pgrx::pg_sys::{self, Node, NodeTag};

/// Called once for each relation of a query, after its conditions were rewritten.
///
/// # Safety
/// Both must be the planner's own.
pub(super) unsafe fn rewrite_order(
    root: &mut pg_sys::PlannerInfo,
    relation: &pg_sys::RelOptInfo,
    ours: &ExtensionOids,
) {
    // SAFETY: sort keys refer to entries of the query's target list, which the planner goes on with.
    unsafe {
        let query = &mut *root.parse;
        if !sorts_rows(query) || root.processed_tlist != query.targetList {
            return;
        }
        for clause in elements(query.sortClause) {
            let key = &*clause.cast::<pg_sys::SortGroupClause>();
            let entry = &mut *pg_sys::get_sortgroupclause_tle((&raw const *key).cast_mut(), query.targetList);
            let Some(pair) = similarity_of(entry.expr.cast(), ours) else { continue };
            let strategy = pg_sys::get_op_opfamily_strategy(key.sortop, FLOAT_FAMILY);
            let is_falling = strategy as u32 == pg_sys::BTGreaterStrategyNumber;
            if is_falling
                && has_one_length(pair)
                && !is_served_as_it_is(relation, entry)
                && (!key.nulls_first
                    || [pair.a, pair.b].iter().all(|&node| is_never_null(root, relation, node)))
            {
                *clause = sort_by(pair.distance(), entry, query.targetList).cast();
            }
        }
    }
}

/// Whether the sort keys serve nothing but the order of the rows.
///
/// # Safety
/// `query` must be one that is being planned.
unsafe fn sorts_rows(query: &pg_sys::Query) -> bool {
    query.commandType == pg_sys::CmdType::CMD_SELECT
        && !query.hasAggs
        && !query.hasWindowFuncs
        && !query.hasTargetSRFs
        && query.distinctClause.is_null()
        && query.groupClause.is_null()
        && query.groupingSets.is_null()
        && query.setOperations.is_null()
}

/// Whether the strings of all rows are of one length. Otherwise a greater distance may be a greater
/// similarity.
///
/// # Safety
/// The expressions of the pair must be alive.
unsafe fn has_one_length(pair: CodePair<'_>) -> bool {
    // SAFETY: expressions of the query.
    unsafe { pair.bits().is_some() || [pair.a, pair.b].iter().any(|&node| !pg_sys::contain_var_clause(node)) }
}

/// Whether the similarity cannot be replaced, or is what an index of the relation has.
///
/// # Safety
/// `relation` and `entry` must be those of the query that is being planned.
unsafe fn is_served_as_it_is(relation: &pg_sys::RelOptInfo, entry: &pg_sys::TargetEntry) -> bool {
    let similarity = entry.expr.cast();
    // SAFETY: an expression, and lists of others.
    unsafe {
        pg_sys::contain_volatile_functions(similarity)
            || pg_sys::contain_subplans(similarity)
            || elements(relation.indexlist).iter().any(|&index| {
                pg_sys::list_member((*index.cast::<pg_sys::IndexOptInfo>()).indexprs, similarity.cast())
            })
    }
}

/// A sort key for the distance. It takes the similarity's entry in the target list if the similarity is not
/// returned, and otherwise an entry of its own.
///
/// # Safety
/// `distance` must be an expression of the query that is being planned. `entries` must be a list of its
/// expressions.
unsafe fn sort_by(
    distance: *mut Node,
    entry: &mut pg_sys::TargetEntry,
    entries: *mut pg_sys::List,
) -> *mut pg_sys::SortGroupClause {
    // SAFETY: appending to a list that is not empty leaves it where it is.
    unsafe {
        let entry = if entry.resjunk {
            entry.expr = distance.cast();
            entry
        } else {
            let last =
                elements(entries).iter().map(|&entry| (*entry.cast::<pg_sys::TargetEntry>()).ressortgroupref);
            let (last, number) = (last.max().unwrap_or(0), elements(entries).len() as i16 + 1);
            let new = pg_sys::makeTargetEntry(distance.cast(), number, std::ptr::null_mut(), true);
            (*new).ressortgroupref = last + 1;
            pg_sys::lappend(entries, new.cast());
            &mut *new
        };
        let key = make::<pg_sys::SortGroupClause>(NodeTag::T_SortGroupClause);
        key.tleSortGroupRef = entry.ressortgroupref;
        key.eqop = pg_sys::Int4EqualOperator.into();
        key.sortop = pg_sys::Int4LessOperator.into();
        key.hashable = true;
        key
    }
}

/// Whether the expression is NULL in no row, or in all.
///
/// # Safety
/// `node` must be an expression of the query that is being planned.
unsafe fn is_never_null(root: &pg_sys::PlannerInfo, relation: &pg_sys::RelOptInfo, node: *mut Node) -> bool {
    // SAFETY: an expression of the query.
    unsafe {
        if !pg_sys::contain_var_clause(node) {
            return true;
        }
        let mut facts = Facts::default();
        facts.gather((*root.parse).jointree.cast());
        let declared = cast::<pg_sys::Var>(node, NodeTag::T_Var).is_some_and(|column| {
            let relid = column.varno as pg_sys::Index;
            relid == relation.relid
                && facts.relations.contains(&relid)
                && is_declared_not_null(root, relation, column.varattno)
        });
        declared || pg_sys::predicate_implied_by(list_of(&[is_not_null(node)]), facts.conditions, false)
    }
}

/// What is true of every row of a query: these conditions hold, and an outer join makes no column of these
/// relations NULL.
#[derive(Default)]
struct Facts {
    conditions: *mut pg_sys::List,
    relations: Vec<pg_sys::Index>,
}

impl Facts {
    /// Adds the facts of a part of the join tree.
    ///
    /// # Safety
    /// `item` must be an expression of the query that is being planned.
    unsafe fn gather(&mut self, item: *mut Node) {
        use pg_sys::JoinType::{JOIN_ANTI, JOIN_INNER, JOIN_LEFT, JOIN_SEMI};
        // SAFETY: items of a join tree are of these three kinds, with conditions that are lists.
        unsafe {
            if let Some(from) = cast::<pg_sys::FromExpr>(item, NodeTag::T_FromExpr) {
                elements(from.fromlist).iter().for_each(|&item| self.gather(item));
                self.add(from.quals);
            } else if let Some(join) = cast::<pg_sys::JoinExpr>(item, NodeTag::T_JoinExpr) {
                if [JOIN_INNER, JOIN_LEFT, JOIN_SEMI, JOIN_ANTI].contains(&join.jointype) {
                    self.gather(join.larg);
                }
                if join.jointype == JOIN_INNER {
                    self.gather(join.rarg);
                    self.add(join.quals);
                }
            } else if let Some(table) = cast::<pg_sys::RangeTblRef>(item, NodeTag::T_RangeTblRef) {
                self.relations.push(table.rtindex as pg_sys::Index);
            }
        }
    }

    /// # Safety
    /// `conditions` must be an expression of the query that is being planned.
    unsafe fn add(&mut self, conditions: *mut Node) {
        // SAFETY: checked to be a list.
        unsafe {
            if let Some(list) = cast::<pg_sys::List>(conditions, NodeTag::T_List) {
                self.conditions = pg_sys::list_concat(self.conditions, list);
            }
        }
    }
}

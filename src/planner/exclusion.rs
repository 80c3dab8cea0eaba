//! Gives comparisons of distances back where Postgres leaves out tables by them.
//!
//! Partition pruning and constraint exclusion understand `a <~> b <= k`, but not the
//! `hamming_within(a, b, k)` that it has become. So where a table is partitioned by a distance, or has a
//! CHECK of one, the comparison is put next to it again. Rewriting leaves a comparison alone that has its
//! `hamming_within` next to it.

use super::conditions::change_conditions;
use super::expressions::{CodePair, compared, distance_of};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::nodes::{cast, copy, elements, integer, list_of};
use pgrx::pg_sys::{self, List, Node, NodeTag};
use std::ffi::CStr;

/// Called for each relation of a query, before conditions are handed out to it.
///
/// # Safety
/// Both must be the planner's own, and the table that of the relation.
pub(super) unsafe fn keep_comparisons(
    root: &pg_sys::PlannerInfo,
    table: pg_sys::Oid,
    relation: &pg_sys::RelOptInfo,
    ours: &ExtensionOids,
) {
    // SAFETY: both are the planner's own, and the table that of the relation, as the caller promises.
    unsafe {
        let keys = distances_of_partitions(relation, ours);
        let is_base = relation.reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL;
        let is_checked = is_checked_by_distance(table, is_base, ours);
        if keys.is_empty() && !is_checked {
            return;
        }
        if is_base {
            let known = std::ptr::null_mut();
            let bounded = Bounded { root, relation: relation.relid, keys, is_checked, known, ours };
            change_conditions(&*root.parse, &mut |list| bounded.with_comparisons(list));
        } else {
            change_conditions_of_parent(root, relation.relid, ours);
        }
    }
}

/// The distances that a table is partitioned by.
///
/// # Safety
/// `relation` must be that of the query that is being planned.
unsafe fn distances_of_partitions(relation: &pg_sys::RelOptInfo, ours: &ExtensionOids) -> Vec<*mut Node> {
    // SAFETY: a partitioned table has a list of expressions for each column of its key.
    unsafe {
        let Some(scheme) = relation.part_scheme.as_ref() else { return Vec::new() };
        let columns = std::slice::from_raw_parts(relation.partexprs, scheme.partnatts as usize);
        let all = columns.iter().flat_map(|&expressions| elements(expressions).iter().copied());
        all.filter(|&key| distance_of(key, ours).is_some()).collect()
    }
}

/// Whether a table has a CHECK with a distance, and the planner looks at it.
///
/// # Safety
/// The table must be one of the query that is being planned.
unsafe fn is_checked_by_distance(table: pg_sys::Oid, is_base: bool, ours: &ExtensionOids) -> bool {
    use pg_sys::ConstraintExclusionType::{CONSTRAINT_EXCLUSION_OFF, CONSTRAINT_EXCLUSION_PARTITION};
    // SAFETY: a setting. The planner has the table locked; its checks are texts, which end with a zero byte.
    unsafe {
        let setting = pg_sys::constraint_exclusion as u32;
        if setting == CONSTRAINT_EXCLUSION_OFF || is_base && setting == CONSTRAINT_EXCLUSION_PARTITION {
            return false;
        }
        let relation = pg_sys::table_open(table, pg_sys::NoLock as i32);
        let has_distance = (*(*relation).rd_att).constr.as_ref().is_some_and(|constraints| {
            (0..constraints.num_check.into())
                .any(|index| is_about_distances(CStr::from_ptr((*constraints.check.add(index)).ccbin), ours))
        });
        pg_sys::table_close(relation, pg_sys::NoLock as i32);
        has_distance
    }
}

/// Whether an expression has a distance. It is in the catalog's spelling, which names functions and operators
/// by OID.
fn is_about_distances(expression: &CStr, ours: &ExtensionOids) -> bool {
    let expression = expression.to_string_lossy();
    let has = |field, object: pg_sys::Oid| expression.contains(&format!(":{field} {} ", object.to_u32()));
    ours.codes().any(|oids| has("funcid", oids.hamming) || has("opno", oids.distance_operator))
}

/// A part has the conditions of its parent, which are handed out to it after this.
///
/// # Safety
/// `root` must be that of the query that is being planned.
unsafe fn change_conditions_of_parent(root: &pg_sys::PlannerInfo, part: pg_sys::Index, ours: &ExtensionOids) {
    // SAFETY: a part has an entry that leads to its parent, and that is a relation of the query.
    unsafe {
        let parent = (**root.append_rel_array.add(part as usize)).parent_relid;
        let conditions = (**root.simple_rel_array.add(parent as usize)).baserestrictinfo;
        // The keys are columns of the part, but these conditions are not.
        let keys = Vec::new();
        let known = pg_sys::extract_actual_clauses(conditions, false);
        let bounded = Bounded { root, relation: parent, keys, is_checked: true, known, ours };
        for condition in elements(conditions) {
            let copy: *mut pg_sys::RestrictInfo = pg_sys::copyObjectImpl((*condition).cast()).cast();
            let both = bounded.with_comparisons(list_of(&[(*copy).clause.cast()]));
            (*copy).clause = pg_sys::make_ands_explicit(both);
            *condition = copy.cast();
        }
    }
}

/// A relation whose rows are known to be within some distances.
struct Bounded<'a> {
    root: &'a pg_sys::PlannerInfo,
    /// The relation itself, or the one that it is a part of.
    relation: pg_sys::Index,
    /// The distances that it is partitioned by.
    keys: Vec<*mut Node>,
    /// Whether the relation has a CHECK of another distance, or one of its parts has a key or a CHECK.
    is_checked: bool,
    /// Conditions that hold in any case.
    known: *mut List,
    ours: &'a ExtensionOids,
}

impl Bounded<'_> {
    /// Conditions that all have to hold. Returns the list, which may have grown.
    ///
    /// # Safety
    /// `list` must be a list of expressions of the query that is being planned.
    unsafe fn with_comparisons(&self, list: *mut List) -> *mut List {
        let mut all = list;
        // SAFETY: a list of expressions.
        unsafe {
            for index in 0..elements(list).len() {
                let condition = elements(all)[index];
                self.change_below(condition);
                if let Some(comparison) = self.comparison(condition, all) {
                    all = pg_sys::lappend(all, comparison.cast());
                }
            }
        }
        all
    }

    /// Changes conditions below AND and OR.
    ///
    /// # Safety
    /// `condition` must be an expression of the query that is being planned.
    unsafe fn change_below(&self, condition: *mut Node) {
        // SAFETY: the arguments of these are lists of expressions.
        unsafe {
            let Some(bool_expr) = cast::<pg_sys::BoolExpr>(condition, NodeTag::T_BoolExpr) else { return };
            match bool_expr.boolop {
                pg_sys::BoolExprType::AND_EXPR => bool_expr.args = self.with_comparisons(bool_expr.args),
                pg_sys::BoolExprType::OR_EXPR => {
                    for alternative in elements(bool_expr.args) {
                        let both = self.with_comparisons(list_of(&[*alternative]));
                        *alternative = pg_sys::make_ands_explicit(both).cast();
                    }
                }
                _ => {}
            }
        }
    }

    /// The comparison that a condition on the relation means, if it has to be added. A volatile condition has
    /// none, for it would be evaluated twice.
    ///
    /// # Safety
    /// `condition` must be an expression of the query that is being planned. `beside` must be a list of its
    /// expressions.
    unsafe fn comparison(&self, condition: *mut Node, beside: *mut List) -> Option<*mut Node> {
        // SAFETY: an expression of the query, and conditions.
        unsafe {
            let (pair, radius) = self.read(condition)?;
            let relations = pg_sys::pull_varnos(std::ptr::from_ref(self.root).cast_mut(), condition);
            let key = self.keys.iter().find(|&&key| self.is_between(key, pair));
            let distance = match (key, radius) {
                (Some(&key), _) => key,
                (None, Some(_)) if self.is_checked => pair.distance(),
                _ => return None,
            };
            let compare = |strategy, number| copy(compared(pg_sys::INT4OID, distance, strategy, number));
            let equal = compare(pg_sys::BTEqualStrategyNumber, radius.unwrap_or_else(|| integer(0)));
            let wanted = radius.map_or(equal, |radius| compare(pg_sys::BTLessEqualStrategyNumber, radius));
            let is_there = |node: *mut Node| {
                pg_sys::list_member(beside, node.cast()) || pg_sys::list_member(self.known, node.cast())
            };
            let is_wanted = pg_sys::bms_is_member(self.relation as i32, relations)
                && !pg_sys::contain_volatile_functions(condition)
                && !pg_sys::contain_subplans(condition)
                && !is_there(equal)
                && !is_there(wanted);
            is_wanted.then_some(wanted)
        }
    }

    /// The arguments of `hamming_within(a, b, radius)`, or the sides of `a = b`, which it is at radius 0.
    ///
    /// # Safety
    /// `condition` must be an expression of the query that is being planned.
    unsafe fn read(&self, condition: *mut Node) -> Option<(CodePair<'_>, Option<*mut Node>)> {
        // SAFETY: an expression of the query.
        unsafe {
            if let Some(call) = cast::<pg_sys::FuncExpr>(condition, NodeTag::T_FuncExpr) {
                let oids = self.ours.codes().find(|oids| oids.within == call.funcid)?;
                let &mut [a, b, radius] = elements(call.args) else { return None };
                return Some((CodePair { oids, a, b }, Some(radius)));
            }
            let equality = cast::<pg_sys::OpExpr>(condition, NodeTag::T_OpExpr)?;
            let &mut [a, b] = elements(equality.args) else { return None };
            let is_of_bigints = pg_sys::get_opcode(equality.opno).to_u32() == pg_sys::F_INT8EQ;
            is_of_bigints.then_some((CodePair { oids: self.ours.of_bigint(), a, b }, None))
        }
    }

    /// Whether a distance is that between two values.
    ///
    /// # Safety
    /// The expressions of the pair must be alive. `key` must be an expression of the query that is being
    /// planned.
    unsafe fn is_between(&self, key: *mut Node, pair: CodePair<'_>) -> bool {
        let exchanged = CodePair { a: pair.b, b: pair.a, ..pair };
        // SAFETY: expressions, of which two are codes of one type.
        unsafe { [pair, exchanged].iter().any(|pair| pg_sys::equal(key.cast(), pair.distance().cast())) }
    }
}

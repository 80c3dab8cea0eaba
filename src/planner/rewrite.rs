//! Turns comparisons of distances into `hamming_within`.
//!
//! `a <~> b <= k` and its relatives become `hamming_within(a, b, k)`; with `=`, the comparison itself stays
//! beside it. That holds for NULLs as well. A radius of 0 is equality of the fingerprints, which hash joins
//! and B-trees serve. Rewriting twice changes nothing more, so it is done for every relation of a query
//! without keeping a record.

use super::names::Names;
use super::nodes::{cast, constant, elements, function, integer, list_of, operator};
use crate::ball::radius_below;
use crate::pg::interrupts::check_for_interrupts;
use pgrx::pg_guard;
use pgrx::pg_sys::{self, Node, NodeTag};

/// Strategies of the B-tree family of integers.
const LESS: i32 = 1;
pub(super) const LESS_OR_EQUAL: i32 = 2;
pub(super) const EQUAL: i32 = 3;
/// With the sides exchanged, strategy s is 6 - s.
const EXCHANGED: i32 = 6;

static mut NEXT_HOOK: pg_sys::get_relation_info_hook_type = None;

/// Called once, when the library is loaded.
pub(crate) fn install_hook() {
    // SAFETY: a backend has one thread, and nobody else looks at these while a library is being loaded.
    unsafe {
        NEXT_HOOK = pg_sys::get_relation_info_hook;
        pg_sys::get_relation_info_hook = Some(on_relation);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn on_relation(
    root: *mut pg_sys::PlannerInfo,
    table: pg_sys::Oid,
    is_parent: bool,
    relation: *mut pg_sys::RelOptInfo,
) {
    // SAFETY: the planner passes what it has of the query and of one of its relations; it does nothing else
    // with either until we return.
    unsafe {
        if let Some(next) = NEXT_HOOK {
            pg_sys::ffi::pg_guard_ffi_boundary(|| next(root, table, is_parent, relation));
        }
        let Some(names) = Names::known() else { return };
        // Partitions have the conditions of their parent, which were rewritten with it.
        if (*relation).reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL {
            change_conditions(&*(*root).parse, &mut |list| rewrite_and(list, &names));
        }
        super::exclusion::keep_comparisons(&*root, table, &*relation, &names);
        super::indexes::prepare(root, &*relation, &names);
    }
}

/// Changes each list of conditions of a query, which mean AND at this stage: those of FROM, WHERE and JOIN, of row-level
/// security, and of security barrier views.
pub(super) unsafe fn change_conditions(
    query: &pg_sys::Query,
    change: &mut dyn FnMut(*mut pg_sys::List) -> *mut pg_sys::List,
) {
    // SAFETY: a query of the planner's.
    unsafe {
        change_jointree(query.jointree.cast(), change);
        for &mut table in elements(query.rtable) {
            for conditions in elements((*table.cast::<pg_sys::RangeTblEntry>()).securityQuals) {
                change_list(conditions, change);
            }
        }
    }
}

unsafe fn change_jointree(item: *mut Node, change: &mut dyn FnMut(*mut pg_sys::List) -> *mut pg_sys::List) {
    // SAFETY: items of a join tree are of these two kinds, or references to relations.
    unsafe {
        if let Some(from) = cast::<pg_sys::FromExpr>(item, NodeTag::T_FromExpr) {
            for &mut item in elements(from.fromlist) {
                change_jointree(item, change);
            }
            change_list(&mut from.quals, change);
        } else if let Some(join) = cast::<pg_sys::JoinExpr>(item, NodeTag::T_JoinExpr) {
            change_jointree(join.larg, change);
            change_jointree(join.rarg, change);
            change_list(&mut join.quals, change);
        }
    }
}

unsafe fn change_list(
    conditions: &mut *mut Node,
    change: &mut dyn FnMut(*mut pg_sys::List) -> *mut pg_sys::List,
) {
    // SAFETY: checked to be a list.
    if let Some(list) = unsafe { cast::<pg_sys::List>(*conditions, NodeTag::T_List) } {
        *conditions = change(list).cast();
    }
}

/// An index's predicate has to look like the query's conditions. It may belong to somebody else's hook.
pub(super) unsafe fn rewrite_index(index: &mut pg_sys::IndexOptInfo, names: &Names) {
    // SAFETY: a copy of a list of expressions.
    unsafe {
        if !index.indpred.is_null() {
            let predicate = pg_sys::copyObjectImpl(index.indpred.cast()).cast();
            index.indpred = rewrite_and(predicate, names);
        }
    }
}

/// Conditions that all have to hold. Returns the list, which may have grown.
unsafe fn rewrite_and(list: *mut pg_sys::List, names: &Names) -> *mut pg_sys::List {
    let mut all = list;
    // SAFETY: a list of expressions.
    unsafe {
        for index in 0..elements(list).len() {
            check_for_interrupts();
            let condition = elements(all)[index];
            rewrite_within(condition, names);
            let Some(comparison) = Comparison::read(condition, names) else { continue };
            let within = comparison.within(names);
            // Both stand here already: see `exclusion`.
            if pg_sys::list_member(all, within.cast()) {
                continue;
            }
            if !comparison.is_equality() || is_equality_of_fingerprints(within) {
                elements(all)[index] = within;
            } else {
                all = pg_sys::lappend(all, within.cast());
            }
        }
    }
    all
}

/// What is below AND and OR.
unsafe fn rewrite_within(condition: *mut Node, names: &Names) {
    // SAFETY: the arguments of these are lists of expressions.
    unsafe {
        let Some(bool_expr) = cast::<pg_sys::BoolExpr>(condition, NodeTag::T_BoolExpr) else { return };
        match bool_expr.boolop {
            pg_sys::BoolExprType::AND_EXPR => bool_expr.args = rewrite_and(bool_expr.args, names),
            pg_sys::BoolExprType::OR_EXPR => {
                for alternative in elements(bool_expr.args) {
                    rewrite_within(*alternative, names);
                    let Some(comparison) = Comparison::read(*alternative, names) else { continue };
                    let within = comparison.within(names);
                    *alternative = match comparison.is_equality() && !is_equality_of_fingerprints(within) {
                        true => pg_sys::make_andclause(list_of(&[within, *alternative])).cast(),
                        false => within,
                    };
                }
            }
            _ => {}
        }
    }
}

unsafe fn is_equality_of_fingerprints(node: *mut Node) -> bool {
    // SAFETY: an expression.
    unsafe { cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr).is_some() }
}

/// A distance compared with a number: less, less or equal, or equal.
struct Comparison {
    a: *mut Node,
    b: *mut Node,
    strategy: i32,
    limit: *mut Node,
}

impl Comparison {
    unsafe fn read(node: *mut Node, names: &Names) -> Option<Self> {
        // SAFETY: an expression; operators have as many arguments as sides.
        unsafe {
            let comparison = cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr)?;
            let &mut [left, right] = elements(comparison.args) else { return None };
            let (distance, limit, exchanged) = match (distance_of(left, names), distance_of(right, names)) {
                (Some(distance), None) => (distance, right, false),
                (None, Some(distance)) => (distance, left, true),
                _ => return None,
            };
            let strategy = pg_sys::get_op_opfamily_strategy(comparison.opno, pg_sys::INTEGER_BTREE_FAM_OID);
            let strategy = if exchanged { EXCHANGED - strategy } else { strategy };
            // Other operators have strategy 0. A limit of NULL is true for nothing, and left to others.
            let is_null =
                cast::<pg_sys::Const>(limit, NodeTag::T_Const).is_some() && constant(limit).is_none();
            let (a, b) = distance;
            // With `=` both conditions stay, and what is volatile, or may be, would be evaluated twice.
            let is_volatile = strategy == EQUAL
                && (pg_sys::contain_volatile_functions(node) || pg_sys::contain_subplans(node));
            let is_known = [LESS, LESS_OR_EQUAL, EQUAL].contains(&strategy);
            (is_known && !is_null && !is_volatile).then_some(Self { a, b, strategy, limit })
        }
    }

    fn is_equality(&self) -> bool {
        self.strategy == EQUAL
    }

    unsafe fn within(&self, names: &Names) -> *mut Node {
        // SAFETY: nodes are copied, since the comparison may stay as well.
        unsafe {
            let [a, b] = [self.a, self.b].map(|node| pg_sys::copyObjectImpl(node.cast()).cast());
            within(a, b, self.radius(names), names)
        }
    }

    /// The radius as an integer: folded if it is a constant, clamped if it is of another width.
    unsafe fn radius(&self, names: &Names) -> *mut Node {
        let inclusive = self.strategy != LESS;
        // SAFETY: the limit is an integer of one of three widths, for the operator is of their family.
        unsafe {
            let width = pg_sys::exprType(self.limit);
            if let Some(datum) = constant(self.limit) {
                let limit = match width {
                    pg_sys::INT2OID => i64::from(datum.value() as i16),
                    pg_sys::INT4OID => i64::from(datum.value() as i32),
                    _ => datum.value() as i64,
                };
                return integer(radius_below(limit, inclusive));
            }
            let limit: *mut Node = pg_sys::copyObjectImpl(self.limit.cast()).cast();
            let to_bigint = match width {
                pg_sys::INT4OID if inclusive => return limit,
                pg_sys::INT4OID => pg_sys::F_INT8_INT4,
                pg_sys::INT2OID => pg_sys::F_INT8_INT2,
                _ => 0,
            };
            let limit = match to_bigint {
                0 => limit,
                cast => function(pg_sys::Oid::from(cast), pg_sys::INT8OID, &[limit]),
            };
            let clamp = if inclusive { names.radius_le } else { names.radius_lt };
            function(clamp, pg_sys::INT4OID, &[limit])
        }
    }
}

/// The two sides of `a <~> b`.
unsafe fn distance_of(node: *mut Node, names: &Names) -> Option<(*mut Node, *mut Node)> {
    // SAFETY: an expression; the operator has two sides.
    unsafe {
        let distance = cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr)?;
        match elements(distance.args) {
            &mut [a, b] if distance.opno == names.distance_operator => Some((a, b)),
            _ => None,
        }
    }
}

/// `hamming_within(a, b, radius)`, or `a = b` if the radius is 0.
pub(super) unsafe fn within(a: *mut Node, b: *mut Node, radius: *mut Node, names: &Names) -> *mut Node {
    // SAFETY: makes an expression of three others, of the types that it takes.
    unsafe {
        match constant(radius) {
            Some(datum) if datum.value() as i32 == 0 => {
                let (integers, bigint) = (pg_sys::INTEGER_BTREE_FAM_OID, pg_sys::INT8OID);
                let equal = pg_sys::get_opfamily_member(integers, bigint, bigint, EQUAL as i16);
                operator(equal, pg_sys::BOOLOID, a, b)
            }
            _ => function(names.within, pg_sys::BOOLOID, &[a, b, radius]),
        }
    }
}

/// `a <~> b` for a call of `hamming(a, b)` with these arguments.
pub(super) unsafe fn distance(args: *mut pg_sys::List, names: &Names) -> Option<*mut Node> {
    // SAFETY: makes an expression of two others.
    unsafe {
        match elements(args) {
            &mut [a, b] => Some(operator(names.distance_operator, pg_sys::INT4OID, a, b)),
            _ => None,
        }
    }
}

//! Turns comparisons of distances and similarities into `hamming_within`.
//!
//! `a <~> b <= k` and its relatives become `hamming_within(a, b, k)`, and so does `hamming_similarity(a, b) >= x`, with
//! the largest distance that is similar enough; with `=`, the comparison itself stays beside it. That holds for
//! NULLs as well. A radius of 0 is equality of the fingerprints, which hash joins and B-trees serve. Rewriting twice
//! changes nothing more, so it is done for every relation of a query without keeping a record.

use super::names::Names;
use super::nodes::{cast, constant, elements, function, integer, list_of, operator};
use super::trial::rewrite_by_trial;
use crate::pg::interrupts::check_for_interrupts;
use pgrx::pg_guard;
use pgrx::pg_sys::{self, Node, NodeTag};

/// The B-tree families of the types that distances, similarities and their limits have or are cast to.
const FAMILIES: [pg_sys::Oid; 3] = [pg_sys::INTEGER_BTREE_FAM_OID, FLOATS, pg_sys::Oid::from_u32(1988)];
pub(super) const FLOATS: pg_sys::Oid = pg_sys::Oid::from_u32(1970);
/// The types of limits that we know: of distances and similarities, and of distances alone.
const FLOAT_TYPES: [pg_sys::Oid; 2] = [pg_sys::FLOAT4OID, pg_sys::FLOAT8OID];
const OTHER_TYPES: [pg_sys::Oid; 4] = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID, pg_sys::NUMERICOID];
/// Strategies of these families.
const LESS: i32 = 1;
pub(super) const LESS_OR_EQUAL: i32 = 2;
pub(super) const EQUAL: i32 = 3;
pub(super) const GREATER: i32 = 5;
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
            super::order::rewrite_order(&mut *root, &*relation, &names);
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
            let Some(Rewritten { within, replaces }) = Rewritten::of(condition, names) else { continue };
            // Both stand here already: see `exclusion`.
            if is_member(all, within) {
                continue;
            }
            if replaces {
                elements(all)[index] = within;
            } else {
                all = pg_sys::lappend(all, within.cast());
            }
        }
    }
    all
}

/// Whether a condition is in the list, whichever of its two fingerprints comes first.
unsafe fn is_member(list: *mut pg_sys::List, within: *mut Node) -> bool {
    // SAFETY: a call of hamming_within, or an equality, in nodes of our own.
    unsafe {
        let exchanged = copy(within);
        if let Some(call) = cast::<pg_sys::FuncExpr>(exchanged, NodeTag::T_FuncExpr) {
            elements(call.args).swap(0, 1);
        } else if let Some(equality) = cast::<pg_sys::OpExpr>(exchanged, NodeTag::T_OpExpr) {
            elements(equality.args).swap(0, 1);
        }
        pg_sys::list_member(list, within.cast()) || pg_sys::list_member(list, exchanged.cast())
    }
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
                    let Some(Rewritten { within, replaces }) = Rewritten::of(*alternative, names) else {
                        continue;
                    };
                    *alternative = match replaces {
                        true => within,
                        false => pg_sys::make_andclause(list_of(&[within, *alternative])).cast(),
                    };
                }
            }
            _ => {}
        }
    }
}

/// What a condition becomes.
pub(super) struct Rewritten {
    pub(super) within: *mut Node,
    /// Otherwise it stays as well.
    pub(super) replaces: bool,
}

impl Rewritten {
    unsafe fn of(condition: *mut Node, names: &Names) -> Option<Self> {
        // SAFETY: an expression.
        unsafe {
            match Comparison::read(condition, names) {
                Some(comparison) => Some(comparison.rewritten(names)),
                None => rewrite_by_trial(condition, names),
            }
        }
    }
}

/// What two fingerprints are compared by.
pub(super) struct Measured {
    pub(super) a: *mut Node,
    pub(super) b: *mut Node,
    /// Similarities fall as distances grow.
    pub(super) is_similarity: bool,
}

impl Measured {
    pub(super) unsafe fn of(node: *mut Node, names: &Names) -> Option<Self> {
        // SAFETY: an expression; the operator and the function have two arguments.
        unsafe {
            if let Some(distance) = cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr) {
                let &mut [a, b] = elements(distance.args) else { return None };
                return (distance.opno == names.distance_operator).then_some(Self {
                    a,
                    b,
                    is_similarity: false,
                });
            }
            let (a, b) = similarity_of(node, names)?;
            Some(Self { a, b, is_similarity: true })
        }
    }
}

/// The integer of 4 bytes that is cast to another type of number, if that is what the expression does: a distance is
/// the same number in each.
unsafe fn without_cast(node: *mut Node) -> *mut Node {
    let casts = [
        pg_sys::F_INT2_INT4,
        pg_sys::F_INT8_INT4,
        pg_sys::F_FLOAT4_INT4,
        pg_sys::F_FLOAT8_INT4,
        pg_sys::F_NUMERIC_INT4,
    ];
    // SAFETY: an expression; casts have one argument.
    unsafe {
        match cast::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr) {
            Some(call) if casts.contains(&call.funcid.to_u32()) => elements(call.args)[0],
            _ => node,
        }
    }
}

/// The arguments of `hamming_similarity(a, b)`.
pub(super) unsafe fn similarity_of(node: *mut Node, names: &Names) -> Option<(*mut Node, *mut Node)> {
    // SAFETY: an expression; the function has two arguments.
    unsafe {
        let call = cast::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr)?;
        match elements(call.args) {
            &mut [a, b] if call.funcid == names.similarity => Some((a, b)),
            _ => None,
        }
    }
}

/// A distance that has to be less than a number, at most it, or equal to it; or a similarity with which it is so.
struct Comparison {
    measured: Measured,
    strategy: i32,
    limit: *mut Node,
}

impl Comparison {
    unsafe fn read(node: *mut Node, names: &Names) -> Option<Self> {
        // SAFETY: an expression; operators have as many arguments as sides.
        unsafe {
            let comparison = cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr)?;
            let &mut [left, right] = elements(comparison.args) else { return None };
            let (measured, limit, is_exchanged) =
                match [left, right].map(|side| Measured::of(without_cast(side), names)) {
                    [Some(measured), None] => (measured, right, false),
                    [None, Some(measured)] => (measured, left, true),
                    _ => return None,
                };
            let strategies = FAMILIES.map(|family| pg_sys::get_op_opfamily_strategy(comparison.opno, family));
            // Other operators have strategy 0. A limit of NULL is true for nothing, and left to others.
            let strategy = strategies.into_iter().max()?;
            let strategy =
                if is_exchanged == measured.is_similarity { strategy } else { EXCHANGED - strategy };
            let is_null =
                cast::<pg_sys::Const>(limit, NodeTag::T_Const).is_some() && constant(limit).is_none();
            // With `=` both conditions stay, and what is volatile, or may be, would be evaluated twice.
            let is_volatile = strategy == EQUAL
                && (pg_sys::contain_volatile_functions(node) || pg_sys::contain_subplans(node));
            // Others may have added types of their own to the families.
            let type_ = pg_sys::exprType(limit);
            let is_number =
                FLOAT_TYPES.contains(&type_) || !measured.is_similarity && OTHER_TYPES.contains(&type_);
            let is_known = is_number && [LESS, LESS_OR_EQUAL, EQUAL].contains(&strategy);
            (is_known && !is_null && !is_volatile).then_some(Self { measured, strategy, limit })
        }
    }

    /// With `=`, the comparison stays unless it is one of the fingerprints themselves.
    unsafe fn rewritten(&self, names: &Names) -> Rewritten {
        // SAFETY: nodes are copied, since the comparison may stay as well.
        unsafe {
            let [a, b] = [self.measured.a, self.measured.b].map(|node| copy(node));
            let within = within(a, b, self.radius(names), names);
            let is_of_fingerprints = cast::<pg_sys::OpExpr>(within, NodeTag::T_OpExpr).is_some();
            Rewritten { within, replaces: self.strategy != EQUAL || is_of_fingerprints }
        }
    }

    /// The radius as an integer: now if the limit is a constant, otherwise as an expression.
    unsafe fn radius(&self, names: &Names) -> *mut Node {
        // SAFETY: the limit is a number, for the operator is of a family of numbers; our functions are called with
        // what they take.
        unsafe {
            let limit = widened(self.limit);
            let type_ = pg_sys::exprType(limit);
            let [inclusive, exclusive] = names.radius_functions(self.measured.is_similarity, type_);
            let Some(datum) = constant(limit) else {
                let is_radius = pg_sys::exprType(self.limit) == pg_sys::INT4OID;
                return match self.strategy {
                    LESS => function(exclusive, pg_sys::INT4OID, &[limit]),
                    _ if is_radius => copy(self.limit),
                    _ => function(inclusive, pg_sys::INT4OID, &[limit]),
                };
            };
            let [inclusive, exclusive] = [inclusive, exclusive].map(|function| {
                pg_sys::OidFunctionCall1Coll(function, pg_sys::InvalidOid, datum).value() as i32
            });
            integer(match self.strategy {
                LESS => exclusive,
                // A number that is no distance, and no similarity.
                EQUAL if inclusive == exclusive => -1,
                _ => inclusive,
            })
        }
    }
}

pub(super) unsafe fn copy(node: *mut Node) -> *mut Node {
    // SAFETY: an expression.
    unsafe { pg_sys::copyObjectImpl(node.cast()).cast() }
}

/// A copy of the number, as the widest type of its family.
unsafe fn widened(number: *mut Node) -> *mut Node {
    // SAFETY: an expression, which the casts take.
    unsafe {
        let (cast, type_) = match pg_sys::exprType(number) {
            pg_sys::INT2OID => (pg_sys::F_INT8_INT2, pg_sys::INT8OID),
            pg_sys::INT4OID => (pg_sys::F_INT8_INT4, pg_sys::INT8OID),
            pg_sys::FLOAT4OID => (pg_sys::F_FLOAT8_FLOAT4, pg_sys::FLOAT8OID),
            _ => return copy(number),
        };
        let number = function(pg_sys::Oid::from(cast), type_, &[copy(number)]);
        pg_sys::eval_const_expressions(std::ptr::null_mut(), number)
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

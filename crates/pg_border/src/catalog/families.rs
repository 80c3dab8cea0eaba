//! Operators, their functions, and the operator families that they belong to.

use pgrx::pg_sys::{self, Oid};

/// The operator of a family with this strategy and these operand types, if there is one.
pub fn operator_in(family: Oid, left: Oid, right: Oid, strategy: i16) -> Option<Oid> {
    // SAFETY: the function looks an operator up.
    let operator = unsafe { pg_sys::get_opfamily_member(family, left, right, strategy) };
    (operator != pg_sys::InvalidOid).then_some(operator)
}

/// The strategy of an operator in a family; 0 if it does not belong to the family.
pub fn strategy_in(operator: Oid, family: Oid) -> i32 {
    // SAFETY: the function looks an operator up.
    unsafe { pg_sys::get_op_opfamily_strategy(operator, family) }
}

/// Whether an operator belongs to a family.
pub fn is_in(operator: Oid, family: Oid) -> bool {
    // SAFETY: the function looks an operator up.
    unsafe { pg_sys::op_in_opfamily(operator, family) }
}

/// The function of an operator; invalid if there is no such operator.
pub fn function_of(operator: Oid) -> Oid {
    // SAFETY: the function looks an operator up.
    unsafe { pg_sys::get_opcode(operator) }
}

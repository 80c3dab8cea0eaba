//! Checks that the access method can serve an operator class.
//!
//! The index computes distances itself. So an operator only means the same to the index as to a sequential
//! scan if its function is ours. Values of a further column are hashed by PostgreSQL's functions. So its
//! operator class needs the equality that belongs to this hash.

use super::code::NO_CODES;
use super::filter::{can_be_hashed, is_hashed_equality};
use crate::pg::access_method::ScanKey;
use crate::pg::catalog::families::function_of;
use crate::pg::catalog::operator_classes::{FamilyOperator, OperatorClass};
use crate::pg::catalog::ours::is_ours;
use crate::pg::catalog::strategy::{DISTANCE, EQUAL, NEAR, WITHIN_BALL};
use crate::pg::code::CodeType;
use crate::pg::code::constant::is_ball;
use crate::pg::error;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::{UnwrapOrReport, info};
use pgrx::pg_sys::errcodes::PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION;
use pgrx::pg_sys::{self, Oid};
use std::borrow::Cow;

/// What is wrong with an operator.
type Fault = Cow<'static, str>;

/// The fault of an operator for a first column, if it has one.
fn fault_of(member: &FamilyOperator, input_type: Oid) -> Option<Fault> {
    let function = function_of(member.operator);
    // The centers of balls are codes, by which an index on balls is searched as well.
    let is_of_centers = member.strategy != NEAR && is_ball(input_type, CodeType::Bigint);
    let left_type = if is_of_centers { CodeType::Bigint.oid() } else { input_type };
    if member.left_type != left_type {
        return Some("its left side is not of the type of the operator class".into());
    }
    match member.strategy {
        DISTANCE if !member.is_order_by => Some("it is there to search by, not to order by".into()),
        DISTANCE if member.sort_family != pg_sys::INTEGER_BTREE_FAM_OID => {
            Some("it is not ordered as integers are".into())
        }
        WITHIN_BALL | EQUAL | NEAR if member.is_order_by => {
            Some("it is there to order by, not to search by".into())
        }
        strategy => fault_of_function(strategy, function, input_type),
    }
}

/// Whether an operator class can be served. Reports its faults.
pub(super) fn is_valid(class: &OperatorClass) -> bool {
    let faults = faults(class.family, class.input_type);
    for fault in &faults {
        let message = format!("operator class \"{}\" of access method hamming: {fault}", class.name);
        info(ERRCODE_INVALID_OBJECT_DEFINITION, message);
    }
    faults.is_empty()
}

/// Raises an error if an index has an operator class that we cannot serve: its values and operands would be
/// read as values of another type.
pub(super) fn check_class(index: OpenIndex<'_>) {
    for place in 0..index.columns() {
        let (family, input_type) = (index.family(place), index.class_type(place));
        let faults =
            if place == 0 { first_faults(family, input_type) } else { filter_faults(family, input_type) };
        if let Some(fault) = faults.first() {
            Err(error::operator_class(index.name(), input_type, fault)).unwrap_or_report()
        }
    }
}

/// Raises an error if a key has an operator that we cannot serve. It may have been added to our family later.
pub(super) fn check_operator(key: ScanKey<'_>, input_type: Oid) {
    let strategy = key.strategy();
    let function = key.function();
    if function != Oid::INVALID && fault_of_function(strategy, function, input_type).is_some() {
        Err(error::unknown_strategy(strategy)).unwrap_or_report()
    }
}

/// The fault of an operator's function. If there is none, its arguments have the right types.
fn fault_of_function(strategy: i16, function: Oid, input_type: Oid) -> Option<Fault> {
    let codes = CodeType::of(input_type);
    if codes.is_none() && strategy == NEAR {
        let is_near = is_ours(function, c"hamming_ball_near");
        return (!is_near).then_some("it is not ~ of two hamming_ball".into());
    }
    // An index on balls has their centers.
    let kind = codes.unwrap_or(CodeType::Bigint).kind();
    let [within, equality, distance] = kind.operators;
    let (is_right, operator) = match strategy {
        WITHIN_BALL => (is_ours(function, kind.within_ball), within),
        EQUAL if codes.is_some() => (kind.equal.contains(&function.to_u32()), equality),
        DISTANCE => (is_ours(function, kind.distance), distance),
        _ => return Some("there is no such strategy".into()),
    };
    (!is_right).then(|| format!("it is not {operator}").into())
}

/// The faults of an operator class for a type, and of its family.
fn faults(family: Oid, input_type: Oid) -> Vec<String> {
    match strategies_of_first(input_type) {
        Some(_) => first_faults(family, input_type),
        None => filter_faults(family, input_type),
    }
}

/// The strategies of an operator class for a first column; `None` for types other than codes and balls.
fn strategies_of_first(input_type: Oid) -> Option<&'static [i16]> {
    match CodeType::of(input_type) {
        Some(codes) if input_type == codes.oid() => Some(&[WITHIN_BALL, EQUAL, DISTANCE]),
        _ => is_ball(input_type, CodeType::Bigint).then_some(&[NEAR, WITHIN_BALL, DISTANCE]),
    }
}

/// The faults of an operator class for a further column.
fn filter_faults(family: Oid, input_type: Oid) -> Vec<String> {
    let unhashed = (!can_be_hashed(input_type)).then(|| "values of its type cannot be hashed".to_owned());
    // A class of codes has other operators as well, which are not used for a further column.
    let is_for_codes = CodeType::of(input_type).is_some();
    let mut members = FamilyOperator::all(family);
    members.retain(|member| member.left_type == input_type);
    let fault = |member: &FamilyOperator| match member.strategy {
        EQUAL if is_hashed_equality(member.operator, input_type) => None,
        EQUAL => Some("it is not an equality by which values of the type are hashed".into()),
        _ if is_for_codes => None,
        _ => Some("there is no such strategy".into()),
    };
    unhashed.into_iter().chain(faults_of_members(&members, fault, &[EQUAL])).collect()
}

/// The faults of an operator class for a first column.
fn first_faults(family: Oid, input_type: Oid) -> Vec<String> {
    let Some(strategies) = strategies_of_first(input_type) else {
        return vec![NO_CODES.to_owned()];
    };
    faults_of_members(&FamilyOperator::all(family), |member| fault_of(member, input_type), strategies)
}

/// The faults of operators, and the strategies for which there is no operator.
fn faults_of_members(
    members: &[FamilyOperator],
    fault: impl Fn(&FamilyOperator) -> Option<Fault>,
    strategies: &[i16],
) -> Vec<String> {
    let faulty = members.iter().filter_map(|member| {
        let fault = fault(member)?;
        Some(format!("operator {} with strategy {}: {fault}", member.name(), member.strategy))
    });
    let missing =
        strategies.iter().filter(|&strategy| members.iter().all(|member| member.strategy != *strategy));
    faulty.chain(missing.map(|strategy| format!("it has no operator with strategy {strategy}"))).collect()
}

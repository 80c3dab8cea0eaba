//! Checks that the access method can serve an operator class.
//!
//! The index computes distances itself. So an operator only means the same to the index as to a sequential
//! scan if its function is ours. Values of a further column are hashed by PostgreSQL's functions. So its
//! operator class needs the equality that belongs to this hash.

use super::filter::{can_be_hashed, is_hashed_equality};
use crate::pg::catalog::families::function_of;
use crate::pg::catalog::ours::{is_ball, is_ours};
use crate::pg::catalog::strategy::{DISTANCE, EQUAL, NEAR, WITHIN_BALL};
use crate::pg::code::CodeType;
use crate::pg::error;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::UnwrapOrReport;
use pgrx::pg_sys::errcodes::PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION;
use pgrx::pg_sys::{self, Oid, SysCacheIdentifier};
use pgrx::{PgLogLevel, ereport, pg_guard};
use std::borrow::Cow;
use std::ffi::CStr;

/// What is wrong with an operator.
type Fault = Cow<'static, str>;

/// An operator of an operator family.
struct Member {
    strategy: i16,
    operator: Oid,
    /// `s` for a search, `o` for ORDER BY.
    purpose: u8,
    sort_family: Oid,
    left_type: Oid,
}

impl Member {
    fn name(&self) -> String {
        // SAFETY: the function returns a new string, or raises an error.
        crate::pg::encoding::for_message(unsafe { CStr::from_ptr(pg_sys::format_operator(self.operator)) })
    }

    /// The fault of the operator, if it has one.
    fn fault(&self, input_type: Oid) -> Option<Fault> {
        let function = function_of(self.operator);
        // The centers of balls are codes, by which an index on balls is searched as well.
        let is_of_centers = self.strategy != NEAR && is_ball(input_type, CodeType::Bigint);
        let left_type = if is_of_centers { CodeType::Bigint.oid() } else { input_type };
        if self.left_type != left_type {
            return Some("its left side is not of the type of the operator class".into());
        }
        match self.strategy {
            DISTANCE if self.purpose != b'o' => Some("it is there to search by, not to order by".into()),
            DISTANCE if self.sort_family != pg_sys::INTEGER_BTREE_FAM_OID => {
                Some("it is not ordered as integers are".into())
            }
            WITHIN_BALL | EQUAL | NEAR if self.purpose != b's' => {
                Some("it is there to order by, not to search by".into())
            }
            strategy => fault_of_function(strategy, function, input_type),
        }
    }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amvalidate(class: Oid) -> bool {
    let Some((family, input_type, name)) = class_of(class) else { return false };
    let faults = faults(family, input_type);
    for fault in &faults {
        let message = format!("operator class \"{name}\" of access method hamming: {fault}");
        ereport!(PgLogLevel::INFO, ERRCODE_INVALID_OBJECT_DEFINITION, message);
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
pub(super) fn check_operator(key: &pg_sys::ScanKeyData, input_type: Oid) {
    let (strategy, function) = (key.sk_strategy as i16, key.sk_func.fn_oid);
    if function != pg_sys::InvalidOid && fault_of_function(strategy, function, input_type).is_some() {
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
    let members: Vec<Member> =
        members_of(family).into_iter().filter(|member| member.left_type == input_type).collect();
    let fault = |member: &Member| match member.strategy {
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
        return vec!["the first column must have type bigint or bit".to_owned()];
    };
    faults_of_members(&members_of(family), |member| member.fault(input_type), strategies)
}

/// The faults of operators, and the strategies for which there is no operator.
fn faults_of_members(
    members: &[Member],
    fault: impl Fn(&Member) -> Option<Fault>,
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

/// The family, type and name of an operator class.
fn class_of(class: Oid) -> Option<(Oid, Oid, String)> {
    // SAFETY: the row belongs to pg_opclass, and is released after its fields were copied.
    unsafe {
        let row = pg_sys::SearchSysCache1(SysCacheIdentifier::CLAOID as i32, class.into());
        let form = row.as_mut().map(|row| pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_opclass>())?;
        let name = CStr::from_ptr((*form).opcname.data.as_ptr());
        let class = ((*form).opcfamily, (*form).opcintype, crate::pg::encoding::for_message(name));
        pg_sys::ReleaseSysCache(row);
        Some(class)
    }
}

fn members_of(family: Oid) -> Vec<Member> {
    let (cache, none) = (SysCacheIdentifier::AMOPSTRATEGY as i32, pg_sys::Datum::null());
    // SAFETY: the list has rows of pg_amop whose first key is the family. It is released after it was read.
    unsafe {
        let list = pg_sys::SearchSysCacheList(cache, 1, family.into(), none, none);
        let rows = (*list).members.as_slice((*list).n_members as usize);
        let members = rows.iter().map(|&row| {
            let form = &*pg_sys::GETSTRUCT(&raw mut (*row).tuple).cast::<pg_sys::FormData_pg_amop>();
            Member {
                strategy: form.amopstrategy,
                operator: form.amopopr,
                purpose: form.amoppurpose as u8,
                sort_family: form.amopsortfamily,
                left_type: form.amoplefttype,
            }
        });
        let members = members.collect();
        pg_sys::ReleaseCatCacheList(list);
        members
    }
}

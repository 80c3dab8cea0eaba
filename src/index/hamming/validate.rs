//! Checks that the access method can serve an operator class.
//!
//! The index computes distances itself. So an operator only means the same to the index as to a sequential
//! scan if its function is ours. Values of a further column are hashed by PostgreSQL's functions. So its
//! operator class needs the equality that belongs to this hash.

use super::filter::{can_be_hashed, is_hashed_equality};
use crate::pg::catalog::families::function_of;
use crate::pg::catalog::ours;
use crate::pg::catalog::strategy::{DISTANCE, EQUAL, NEAR, WITHIN_BALL};
use crate::pg::code::CodeType;
use crate::pg::error;
use crate::pg::open_index::OpenIndex;
use pgrx::pg_sys::errcodes::PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::pg_sys::{self, Oid, SysCacheIdentifier};
use pgrx::{PgLogLevel, ereport, pg_guard};
use std::ffi::CStr;

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
    fn fault(&self, input_type: Oid) -> Option<&'static str> {
        let function = function_of(self.operator);
        if self.left_type != input_type {
            return Some("its left side is not of the type of the operator class");
        }
        match self.strategy {
            DISTANCE if self.purpose != b'o' => Some("it is there to search by, not to order by"),
            DISTANCE if self.sort_family != pg_sys::INTEGER_BTREE_FAM_OID => {
                Some("it is not ordered as integers are")
            }
            WITHIN_BALL | EQUAL | NEAR if self.purpose != b's' => {
                Some("it is there to order by, not to search by")
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
            Err(error::operator_class(index.name(), fault)).unwrap_or_report()
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

/// What is wrong with the function of an operator. If nothing is wrong, its arguments have the right types.
fn fault_of_function(strategy: i16, function: Oid, input_type: Oid) -> Option<&'static str> {
    let number = function.to_u32();
    let Some(codes) = CodeType::of(input_type) else {
        // A class for another type has that fault, too.
        let is_wrong = ours::is_ball(input_type, CodeType::Bigint) && !is_near(strategy, function);
        return is_wrong.then_some("it is not ~ of two hamming_ball");
    };
    let (equal, faults): (&[u32], _) = match codes {
        CodeType::Bigint => (
            &[pg_sys::F_INT8EQ, pg_sys::F_INT84EQ, pg_sys::F_INT82EQ],
            [
                "it is not <@ of bigint and hamming_ball",
                "it is not = of two bigint",
                "it is not <~> of two bigint",
            ],
        ),
        CodeType::Bits => (
            &[pg_sys::F_BITEQ],
            [
                "it is not <@ of bit and hamming_bit_ball",
                "it is not = of two bit",
                "it is not <^> of two bit",
            ],
        ),
    };
    let [not_within, not_equal, not_distance] = faults;
    let (is_right, fault) = match strategy {
        WITHIN_BALL => (ours::is_within_ball(function, codes), not_within),
        EQUAL => (equal.contains(&number), not_equal),
        DISTANCE => (ours::is_distance(function, codes), not_distance),
        _ => (false, "there is no such strategy"),
    };
    (!is_right).then_some(fault)
}

fn is_near(strategy: i16, function: Oid) -> bool {
    strategy == NEAR && ours::is_near_ball(function)
}

/// What is wrong with an operator class for a type, and with the family that it belongs to.
fn faults(family: Oid, input_type: Oid) -> Vec<String> {
    match CodeType::of(input_type) {
        Some(_) => code_faults(family, input_type),
        None if ours::is_ball(input_type, CodeType::Bigint) => first_faults(family, input_type),
        None => filter_faults(family, input_type),
    }
}

/// What is wrong with the operator class of a further column.
fn filter_faults(family: Oid, input_type: Oid) -> Vec<String> {
    let mut faults: Vec<String> = Vec::new();
    if !can_be_hashed(input_type) {
        faults.push("values of its type cannot be hashed".into());
    }
    // A class of codes has other operators as well, which are not used for a further column.
    let is_for_codes = CodeType::of(input_type).is_some();
    let of_type = |member: &Member| member.left_type == input_type;
    let members: Vec<Member> = members_of(family).into_iter().filter(of_type).collect();
    for member in &members {
        let fault = match member.strategy {
            EQUAL if is_hashed_equality(member.operator, input_type) => continue,
            EQUAL => "it is not an equality by which values of the type are hashed",
            _ if is_for_codes => continue,
            _ => "there is no such strategy",
        };
        faults.push(format!("operator {} with strategy {}: {fault}", member.name(), member.strategy));
    }
    if !members.iter().any(|member| member.strategy == EQUAL) {
        faults.push(format!("it has no operator with strategy {EQUAL}"));
    }
    if count_of_functions(family) > 0 {
        faults.push("it has support functions, of which the access method knows none".into());
    }
    faults
}

/// What is wrong with the operator class of a first column, of codes or of balls.
fn first_faults(family: Oid, input_type: Oid) -> Vec<String> {
    if !ours::is_ball(input_type, CodeType::Bigint) {
        return code_faults(family, input_type);
    }
    let members = members_of(family);
    let faults = members.iter().filter_map(|member| {
        let fault = member.fault(input_type)?;
        Some(format!("operator {} with strategy {}: {fault}", member.name(), member.strategy))
    });
    let missing = members.is_empty().then(|| format!("it has no operator with strategy {NEAR}"));
    let functions = (count_of_functions(family) > 0)
        .then(|| "it has support functions, of which the access method knows none".to_owned());
    faults.chain(missing).chain(functions).collect()
}

/// What is wrong with the operator class of a column of codes.
fn code_faults(family: Oid, input_type: Oid) -> Vec<String> {
    let members = members_of(family);
    let mut faults: Vec<String> = Vec::new();
    if ![pg_sys::INT8OID, pg_sys::BITOID].contains(&input_type) {
        faults.push("it is neither for type bigint nor for type bit".into());
    }
    for member in &members {
        if let Some(fault) = member.fault(input_type) {
            faults.push(format!("operator {} with strategy {}: {fault}", member.name(), member.strategy));
        }
    }
    for strategy in [WITHIN_BALL, EQUAL, DISTANCE] {
        if !members.iter().any(|member| member.strategy == strategy) {
            faults.push(format!("it has no operator with strategy {strategy}"));
        }
    }
    if count_of_functions(family) > 0 {
        faults.push("it has support functions, of which the access method knows none".into());
    }
    faults
}

/// Family, type and name of an operator class.
fn class_of(class: Oid) -> Option<(Oid, Oid, String)> {
    // SAFETY: a row of pg_opclass, released after it was copied.
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
    rows_of(SysCacheIdentifier::AMOPSTRATEGY, family, |row| {
        // SAFETY: the row belongs to pg_amop.
        let form = unsafe { &*row.cast::<pg_sys::FormData_pg_amop>() };
        Member {
            strategy: form.amopstrategy,
            operator: form.amopopr,
            purpose: form.amoppurpose as u8,
            sort_family: form.amopsortfamily,
            left_type: form.amoplefttype,
        }
    })
}

fn count_of_functions(family: Oid) -> usize {
    rows_of(SysCacheIdentifier::AMPROCNUM, family, |_| ()).len()
}

/// The rows of a catalog whose first key is the family.
fn rows_of<T>(
    cache: SysCacheIdentifier::Type,
    family: Oid,
    read: impl Fn(*mut std::ffi::c_void) -> T,
) -> Vec<T> {
    let none = pg_sys::Datum::null();
    // SAFETY: the list of rows is released after it was read.
    unsafe {
        let list = pg_sys::SearchSysCacheList(cache as i32, 1, family.into(), none, none);
        let members = (*list).members.as_slice((*list).n_members as usize);
        let rows = members.iter().map(|&member| read(pg_sys::GETSTRUCT(&raw mut (*member).tuple).cast()));
        let rows = rows.collect();
        pg_sys::ReleaseCatCacheList(list);
        rows
    }
}

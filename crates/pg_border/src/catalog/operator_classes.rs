//! Operator classes, and the operators of their families.

use crate::encoding::for_message;
use pgrx::pg_sys::{self, Oid, SysCacheIdentifier};
use std::ffi::CStr;

/// An operator class.
pub struct OperatorClass {
    /// Its operator family.
    pub family: Oid,
    /// The type of the values that it is for.
    pub input_type: Oid,
    /// Its name, for messages.
    pub name: String,
}

impl OperatorClass {
    /// The operator class with this OID, if there is one.
    pub fn of(class: Oid) -> Option<Self> {
        // SAFETY: the row belongs to pg_opclass, and is released after its fields were copied.
        unsafe {
            let row = pg_sys::SearchSysCache1(SysCacheIdentifier::CLAOID as i32, class.into());
            let form =
                row.as_mut().map(|row| pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_opclass>())?;
            let class = Self {
                family: (*form).opcfamily,
                input_type: (*form).opcintype,
                name: for_message(CStr::from_ptr((*form).opcname.data.as_ptr())),
            };
            pg_sys::ReleaseSysCache(row);
            Some(class)
        }
    }
}

/// An operator of an operator family.
pub struct FamilyOperator {
    /// The number of the operator in the family.
    pub strategy: i16,
    /// The OID of the operator.
    pub operator: Oid,
    /// Whether rows are ordered by it. Otherwise, it is a condition.
    pub is_order_by: bool,
    /// The family by which its results are ordered.
    pub sort_family: Oid,
    /// The type of its left argument.
    pub left_type: Oid,
}

impl FamilyOperator {
    /// The operators of a family.
    pub fn all(family: Oid) -> Vec<Self> {
        let cache = SysCacheIdentifier::AMOPSTRATEGY as i32;
        let no_key = pg_sys::Datum::null();
        // SAFETY: the list has rows of pg_amop whose first key is the family. It is released after it was
        // read.
        unsafe {
            let list = pg_sys::SearchSysCacheList(cache, 1, family.into(), no_key, no_key);
            let rows = (*list).members.as_slice((*list).n_members as usize);
            let operators = rows.iter().map(|&row| {
                let form = &*pg_sys::GETSTRUCT(&raw mut (*row).tuple).cast::<pg_sys::FormData_pg_amop>();
                Self {
                    strategy: form.amopstrategy,
                    operator: form.amopopr,
                    is_order_by: form.amoppurpose as u8 == pg_sys::AMOP_ORDER,
                    sort_family: form.amopsortfamily,
                    left_type: form.amoplefttype,
                }
            });
            let operators = operators.collect(); // Bounded: the operators of a family.
            pg_sys::ReleaseCatCacheList(list);
            operators
        }
    }

    /// The operator with its types, for messages.
    pub fn name(&self) -> String {
        // SAFETY: the function returns a new string, or raises an error.
        for_message(unsafe { CStr::from_ptr(pg_sys::format_operator(self.operator)) })
    }
}

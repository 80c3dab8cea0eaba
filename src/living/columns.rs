//! The columns of a table of clusters, and the operators of their types.

use super::spi::{name_at, quoted};
use crate::pg::encoding::to_database;
use crate::pg::report::SqlError;
use crate::pg::varlena::c_string;
use pgrx::pg_sys;
use std::iter;

/// A column that clustering looks at.
#[derive(Clone)]
pub(super) struct Column {
    /// As SQL writes it.
    pub(super) name: String,
    pub(super) type_: pg_sys::Oid,
    equal: String,
    less: String,
    greater: String,
}

/// What the table of clusters has.
pub(super) struct Columns {
    pub(super) key: Column,
    pub(super) code: Column,
    /// The second code, if there is one.
    pub(super) look: Option<Column>,
    pub(super) within: Vec<Column>,
    pub(super) first: Vec<Column>,
}

impl Column {
    fn of(name: &str, type_: pg_sys::Oid) -> Self {
        let flags = pg_sys::TYPECACHE_EQ_OPR | pg_sys::TYPECACHE_LT_OPR | pg_sys::TYPECACHE_GT_OPR;
        // SAFETY: looks the type up; the entry stays in the cache.
        let (equal, less, greater) = unsafe {
            let entry = pg_sys::lookup_type_cache(type_, flags as i32);
            ((*entry).eq_opr, (*entry).lt_opr, (*entry).gt_opr)
        };
        let (equal, less, greater) = (operator(equal, "="), operator(less, "<"), operator(greater, ">"));
        Self { name: quoted(name), type_, equal, less, greater }
    }

    /// Whether the values of two rows are equal, and not NULL.
    pub(super) fn equal(&self, a: &str, b: &str) -> String {
        format!("{a}.{} {} {b}.{}", self.name, self.equal, self.name)
    }

    /// `a = b` for any two expressions of the type.
    pub(super) fn equal_values(&self, a: &str, b: &str) -> String {
        format!("{a} {} {b}", self.equal)
    }

    /// Whether the values of two rows are equal, or both are NULL.
    pub(super) fn same(&self, a: &str, b: &str) -> String {
        self.same_as(a, &format!("{b}.{}", self.name))
    }

    /// Whether the value of a row is the given one, or both are NULL.
    pub(super) fn same_as(&self, row: &str, value: &str) -> String {
        let own = format!("{row}.{}", self.name);
        format!("({} OR {own} IS NULL AND {value} IS NULL)", self.equal_values(&own, value))
    }

    /// Whether the value of `a` comes after that of `b`.
    pub(super) fn after(&self, a: &str, b: &str, descending: bool, nulls_first: bool) -> String {
        let (name, later) = (&self.name, if descending { &self.less } else { &self.greater });
        let (null, value) = if nulls_first { (b, a) } else { (a, b) };
        format!("({a}.{name} {later} {b}.{name} OR {null}.{name} IS NULL AND {value}.{name} IS NOT NULL)")
    }

    /// The name of the type.
    pub(super) fn type_name(&self) -> String {
        // SAFETY: a new string.
        unsafe { name_at(pg_sys::format_type_be_qualified(self.type_)) }
    }
}

/// An operator with its schema; a type without one gets PostgreSQL's own error.
fn operator(operator: pg_sys::Oid, default: &str) -> String {
    // SAFETY: looks the operator up; new strings.
    unsafe {
        let row = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::OPEROID as i32, operator.into());
        if row.is_null() {
            return default.to_owned();
        }
        let form = pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_operator>();
        let schema = name_at(pg_sys::get_namespace_name((*form).oprnamespace));
        let name = name_at((*form).oprname.data.as_ptr());
        pg_sys::ReleaseSysCache(row);
        format!("OPERATOR({}.{name})", quoted(&schema))
    }
}

impl Columns {
    /// Those of a table of clusters, whose first column is the key.
    pub(super) fn of(table: pg_sys::Oid, key: &str) -> Result<Option<Self>, SqlError> {
        let column = |name: &str| {
            let c_name = c_string(&[&to_database(name.to_owned())?]);
            // SAFETY: looks a column up, and its type if it is there.
            let type_ = unsafe {
                let number = pg_sys::get_attnum(table, c_name.cast_mut_ptr());
                (number > 0).then(|| pg_sys::get_atttype(table, number))
            };
            Ok::<_, SqlError>(type_.map(|type_| Column::of(name, type_)))
        };
        let numbered = |prefix: &str| {
            let mut all = Vec::new();
            while let Some(next) = column(&format!("{prefix}_{}", all.len() + 1))? {
                all.push(next);
            }
            Ok::<_, SqlError>(all)
        };
        let (Some(key), Some(code)) = (column(key)?, column("code")?) else { return Ok(None) };
        Ok(Some(Self {
            key,
            code,
            look: column("look")?,
            within: numbered("within")?,
            first: numbered("first")?,
        }))
    }

    /// What must agree with another row.
    pub(super) fn compared(&self) -> impl Iterator<Item = &Column> {
        iter::once(&self.code).chain(&self.look).chain(&self.within)
    }

    /// What is copied from the table.
    pub(super) fn copied(&self) -> impl Iterator<Item = &Column> {
        self.compared().chain(&self.first)
    }
}

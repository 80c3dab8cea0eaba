//! An open index, and what PostgreSQL knows of its columns.

use super::encoding::for_message;
use pgrx::pg_sys::{self, Oid};
use std::ffi::CStr;
use std::marker::PhantomData;

/// An index that is open as long as this lasts.
#[derive(Clone, Copy)]
pub(crate) struct OpenIndex<'a> {
    relation: pg_sys::Relation,
    life: PhantomData<&'a ()>,
}

/// The type of a column, and its modifier: the number of bits of a bit(n), or -1.
#[derive(Clone, Copy)]
pub(crate) struct ColumnType {
    pub(crate) type_: Oid,
    pub(crate) modifier: i32,
}

impl<'a> OpenIndex<'a> {
    /// # Safety
    /// The index must be open, and stay so as long as this lasts.
    pub(crate) unsafe fn new(relation: pg_sys::Relation) -> Self {
        Self { relation, life: PhantomData }
    }

    /// The number of its key columns, which are counted from 0 here.
    pub(crate) fn columns(self) -> usize {
        // SAFETY: open.
        unsafe { (*(*self.relation).rd_index).indnkeyatts as usize }
    }

    pub(crate) fn name(self) -> &'a CStr {
        // SAFETY: open; names end with a zero byte.
        unsafe { CStr::from_ptr((*(*self.relation).rd_rel).relname.data.as_ptr()) }
    }

    /// The type that the operator class of a column is for.
    pub(crate) fn class_type(self, column: usize) -> Oid {
        assert!(column < self.columns());
        // SAFETY: open, with such a column.
        unsafe { *(*self.relation).rd_opcintype.add(column) }
    }

    /// The operator family of a column.
    pub(crate) fn family(self, column: usize) -> Oid {
        assert!(column < self.columns());
        // SAFETY: open, with such a column.
        unsafe { *(*self.relation).rd_opfamily.add(column) }
    }

    /// A support function of a column's operator class, by its number there, counted from 1.
    pub(crate) fn support(self, column: usize, number: usize) -> Oid {
        // SAFETY: open; each column has as many support functions as the access method says.
        unsafe {
            let functions = usize::from((*(*self.relation).rd_indam).amsupport);
            assert!(column < self.columns() && (1..=functions).contains(&number));
            *(*self.relation).rd_support.add(column * functions + number - 1)
        }
    }

    pub(crate) fn collation(self, column: usize) -> Oid {
        assert!(column < self.columns());
        // SAFETY: open, with such a column.
        unsafe { *(*self.relation).rd_indcollation.add(column) }
    }

    /// The type of a column, as the index was declared.
    pub(crate) fn column_type(self, column: usize) -> ColumnType {
        let (mut type_, mut modifier, mut collation) = (pg_sys::InvalidOid, -1, pg_sys::InvalidOid);
        let (number, places) = (column as i16 + 1, (&raw mut type_, &raw mut modifier, &raw mut collation));
        // SAFETY: open; looks a column up, or raises an error.
        unsafe {
            pg_sys::get_atttypetypmodcoll((*self.relation).rd_id, number, places.0, places.1, places.2)
        };
        ColumnType { type_, modifier }
    }

    /// The table and the first column, as SQL writes them; `None` if the index is one of an expression.
    pub(crate) fn indexed_column(self) -> Option<(String, String)> {
        // SAFETY: open, with a column at least; names are looked up, and copied.
        unsafe {
            let entry = &*(*self.relation).rd_index;
            let column = *entry.indkey.values.as_ptr();
            if column == 0 {
                return None;
            }
            let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(entry.indrelid));
            let table = pg_sys::quote_qualified_identifier(schema, pg_sys::get_rel_name(entry.indrelid));
            let column = pg_sys::quote_identifier(pg_sys::get_attname(entry.indrelid, column, false));
            Some((for_message(CStr::from_ptr(table)), for_message(CStr::from_ptr(column))))
        }
    }

    /// The storage parameters, if any are set.
    ///
    /// # Safety
    /// The access method must keep them as `T`.
    pub(crate) unsafe fn options<T>(self) -> Option<&'a T> {
        // SAFETY: open, with such parameters.
        unsafe { (*self.relation).rd_options.cast::<T>().as_ref() }
    }
}

impl ColumnType {
    /// The type that a domain is based on, with the modifier that it has there.
    pub(crate) fn base(self) -> Self {
        let mut modifier = self.modifier;
        // SAFETY: looks a type up.
        let type_ = unsafe { pg_sys::getBaseTypeAndTypmod(self.type_, &raw mut modifier) };
        Self { type_, modifier }
    }
}

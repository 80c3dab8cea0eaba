//! An open index, and PostgreSQL's description of its columns.

use super::encoding::for_message;
use super::planned_index::PlannedIndex;
use pgrx::pg_sys::{self, Oid};
use std::ffi::CStr;
use std::marker::PhantomData;

/// An index that is open for the lifetime.
#[derive(Clone, Copy)]
pub struct OpenIndex<'a> {
    relation: pg_sys::Relation,
    life: PhantomData<&'a ()>,
}

/// The type of a column and its modifier: the number of bits for bit(n), or -1.
#[derive(Clone, Copy)]
pub struct ColumnType {
    /// The OID of the type.
    pub type_: Oid,
    /// The type's modifier, or -1.
    pub modifier: i32,
}

impl<'a> OpenIndex<'a> {
    /// # Safety
    /// The index must be open, and stay open for the lifetime.
    pub unsafe fn new(relation: pg_sys::Relation) -> Self {
        Self { relation, life: PhantomData }
    }

    /// The pointer to the index.
    pub(crate) fn pointer(self) -> pg_sys::Relation {
        self.relation
    }

    /// The OID of the index.
    pub fn oid(self) -> Oid {
        // SAFETY: the index is open.
        unsafe { (*self.relation).rd_id }
    }

    /// The number of the file of the index, which changes when the index is rebuilt. A rollback restores it.
    pub fn file(self) -> Oid {
        // SAFETY: the index is open.
        unsafe { (*(*self.relation).rd_rel).relfilenode }
    }

    /// Whether the table is temporary.
    pub fn is_temporary(self) -> bool {
        // SAFETY: the index is open.
        unsafe { (*(*self.relation).rd_rel).relpersistence as u8 == pg_sys::RELPERSISTENCE_TEMP }
    }

    /// The number of key columns. Columns are counted from 0 here.
    pub fn columns(self) -> usize {
        // SAFETY: the index is open.
        unsafe { (*(*self.relation).rd_index).indnkeyatts as usize }
    }

    /// The name of the index.
    pub fn name(self) -> &'a CStr {
        // SAFETY: the index is open, and a name ends with a zero byte.
        unsafe { CStr::from_ptr((*(*self.relation).rd_rel).relname.data.as_ptr()) }
    }

    /// Whether this is the index of a partitioned table. It has no storage, so its pages must not be read.
    pub fn is_partitioned(self) -> bool {
        // SAFETY: the index is open.
        unsafe { (*(*self.relation).rd_rel).relkind as u8 == pg_sys::RELKIND_PARTITIONED_INDEX }
    }

    /// The input type of a column's operator class.
    pub fn class_type(self, column: usize) -> Oid {
        assert!(column < self.columns());
        // SAFETY: the index is open, and has this column.
        unsafe { *(*self.relation).rd_opcintype.add(column) }
    }

    /// The operator family of a column.
    pub fn family(self, column: usize) -> Oid {
        assert!(column < self.columns());
        // SAFETY: the index is open, and has this column.
        unsafe { *(*self.relation).rd_opfamily.add(column) }
    }

    /// A support function of a column's operator class, by its number, counted from 1.
    pub fn support(self, column: usize, number: usize) -> Oid {
        // SAFETY: the index is open, and has this many support functions for each column.
        unsafe {
            let functions = usize::from((*(*self.relation).rd_indam).amsupport);
            assert!(column < self.columns() && (1..=functions).contains(&number));
            *(*self.relation).rd_support.add(column * functions + number - 1)
        }
    }

    /// The collation of a column.
    pub fn collation(self, column: usize) -> Oid {
        assert!(column < self.columns());
        // SAFETY: the index is open, and has this column.
        unsafe { *(*self.relation).rd_indcollation.add(column) }
    }

    /// The declared type of an index column.
    pub fn column_type(self, column: usize) -> ColumnType {
        // SAFETY: the index is open.
        ColumnType::of(unsafe { (*self.relation).rd_id }, column as i16 + 1)
    }

    /// The number of the table's column that is the first key, counted from 1; `None` if the first key is an
    /// expression.
    pub fn column_number(self) -> Option<i16> {
        // SAFETY: the index is open, and has a first key.
        let number = unsafe { *(*(*self.relation).rd_index).indkey.values.as_ptr() };
        (number != 0).then_some(number)
    }

    /// The table and the first column, quoted for SQL; `None` if the first key is an expression.
    pub fn indexed_column(self) -> Option<(String, String)> {
        let column = self.column_number()?;
        // SAFETY: the index is open. Names are looked up and copied.
        unsafe {
            let entry = &*(*self.relation).rd_index;
            let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(entry.indrelid));
            let table = pg_sys::quote_qualified_identifier(schema, pg_sys::get_rel_name(entry.indrelid));
            let column = pg_sys::quote_identifier(pg_sys::get_attname(entry.indrelid, column, false));
            Some((for_message(CStr::from_ptr(table)), for_message(CStr::from_ptr(column))))
        }
    }
}

/// The types of an index's columns. An index keeps them as long as it exists.
pub struct ColumnTypes {
    index: Oid,
    types: Vec<Oid>,
}

impl ColumnTypes {
    /// Looks up the types of the columns of an index.
    pub fn of(index: OpenIndex<'_>) -> Self {
        // Bounded: the columns of an index.
        let types = (0..index.columns()).map(|column| index.column_type(column).type_).collect();
        Self { index: index.oid(), types }
    }

    /// The type of a column, counted from 0.
    pub fn type_of(&self, column: usize) -> Oid {
        self.types[column]
    }

    /// The type of a column of the index, which must be the one whose types these are.
    pub fn of_column(&self, index: OpenIndex<'_>, column: usize) -> Oid {
        assert_eq!(self.index, index.oid(), "types are those of the columns of one index");
        self.types[column]
    }
}

/// Opens an index of the planner for the duration of a call.
pub fn with_planned_index<R>(index: PlannedIndex<'_>, use_: impl FnOnce(OpenIndex<'_>) -> R) -> R {
    let no_lock = pg_sys::NoLock as i32;
    // SAFETY: the planner has the index locked. After an error, PostgreSQL closes it.
    unsafe {
        let relation = pg_sys::index_open(index.oid(), no_lock);
        let result = use_(OpenIndex::new(relation));
        pg_sys::index_close(relation, no_lock);
        result
    }
}

impl ColumnType {
    /// The declared type of a column of a table or of an index, which must exist.
    pub fn of(relation: Oid, number: i16) -> Self {
        let (mut type_, mut modifier, mut collation) = (pg_sys::InvalidOid, -1, pg_sys::InvalidOid);
        let places = (&raw mut type_, &raw mut modifier, &raw mut collation);
        // SAFETY: the function looks the column up, or raises an error.
        unsafe { pg_sys::get_atttypetypmodcoll(relation, number, places.0, places.1, places.2) };
        Self { type_, modifier }
    }

    /// The base type of a domain, with its modifier there; other types unchanged.
    pub fn base(self) -> Self {
        let mut modifier = self.modifier;
        // SAFETY: the function looks a type up.
        let type_ = unsafe { pg_sys::getBaseTypeAndTypmod(self.type_, &raw mut modifier) };
        Self { type_, modifier }
    }
}

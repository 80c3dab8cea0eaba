//! Reads a column of codes of a table, and optionally a column of texts and a key.
//!
//! The query runs with the rights of the caller, who has only named the table. So it calls nothing that the
//! owner of the table could have written, apart from what a plain SELECT of these columns runs as well: the
//! expressions of a view, and the policies of row-level security. The casts of codes and texts are
//! PostgreSQL's own, because the types of these columns are checked first, and the table is locked.

use crate::encoding::{for_message, type_name};
use crate::error;
use crate::extension::code::CodeType;
use crate::extension::code::list::CodeList;
use crate::open_index::ColumnType;
use crate::query::{QueryCursor, QueryRow};
use crate::report::SqlError;
use crate::value::Value;
use pgrx::pg_sys;
use pgrx::spi::Spi;
use std::ffi::{CStr, CString};

/// The largest number of rows that are fetched at once.
const BATCH: i64 = 10_000;

/// The quoted names of a table, of a column of type bigint or bit, and optionally of a column of texts and of
/// a key.
pub struct CodeColumn {
    table: CString,
    column: CString,
    text: Option<CString>,
    key: Option<CString>,
    /// The type of the column.
    pub codes: CodeType,
    /// The number of bits of each value, if the type has one.
    pub bits: Option<u32>,
}

impl CodeColumn {
    /// Finds a column of a table, and optionally a column of texts. It is an error if there is none, or if it
    /// has another type.
    pub fn of(table: pg_sys::Oid, column: &CStr, text: Option<&CStr>) -> Result<Self, SqlError> {
        let name = hold(table)?;
        let column_type = type_of_column(table, column)?;
        let text = text.map(|text| text_column(table, text)).transpose()?;
        let ColumnType { type_, modifier } = column_type.base();
        let (codes, bits) = CodeType::of_column(type_, modifier).ok_or_else(|| {
            error::column_type(&for_message(column), &type_name(column_type.type_), "bigint or bit")
                .set_hint("Specify the column that contains the fingerprints.")
        })?;
        Ok(Self { table: name, column: quoted(column), text, key: None, codes, bits })
    }

    /// Also reads the column `key`.
    pub fn with_key(mut self, table: pg_sys::Oid, key: &CStr) -> Result<Self, SqlError> {
        type_of_column(table, key)?;
        self.key = Some(quoted(key));
        Ok(self)
    }

    /// Calls `take` for each row, or for `at_random` rows that are chosen at random. Rows whose code or text
    /// is NULL are skipped. The memory in which `take` runs is freed after each row.
    pub fn read(
        &self,
        at_random: Option<i32>,
        take: &mut dyn FnMut(CodeRow<'_>) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let query = self.query(at_random);
        // SAFETY: SPI is connected, and an error also disconnects it and frees all of this. The query ends
        // with a zero byte.
        Spi::connect(|_| unsafe {
            let plan = pg_sys::SPI_prepare(query.as_ptr().cast(), 0, std::ptr::null_mut());
            QueryCursor::open(plan).each_row(BATCH, |row| take(CodeRow(row, self.codes)))
        })
    }

    fn query(&self, at_random: Option<i32>) -> Vec<u8> {
        let column = self.column.as_bytes();
        let table = self.table.as_bytes();
        // The casts give these types even if somebody has changed the types of the columns meanwhile.
        let text = self.text.as_deref().map(CStr::to_bytes);
        let returned: [&[u8]; 3] = text.map_or([b""; 3], |text| [b", ", text, b"::pg_catalog.text"]);
        let wanted: [&[u8]; 3] = text.map_or([b""; 3], |text| [b" AND ", text, b" IS NOT NULL"]);
        // A cast of the key could be a function of whoever owns its type. This calls the output function, as
        // a plain SELECT does, and gives an empty text for NULL.
        let key = self.key.as_deref().map(CStr::to_bytes);
        let key: [&[u8]; 3] = key.map_or([b""; 3], |key| [b", pg_catalog.concat(", key, b")"]);
        let order = at_random.map(|count| format!(" ORDER BY pg_catalog.random() LIMIT {count}"));
        let select: [&[u8]; 4] = [b"SELECT ", column, b"::pg_catalog.", self.codes.kind().cast];
        let from: [&[u8]; 5] = [b" FROM ", table, b" WHERE ", column, b" IS NOT NULL"];
        let end: [&[u8]; 2] = [order.as_deref().unwrap_or_default().as_bytes(), b"\0"];
        // Bounded: some names of the catalog.
        [&select[..], &returned, &key, &from, &wanted, &end].concat().concat()
    }
}

/// The columns of the query's result.
const CODE: i32 = 1;
const TEXT: i32 = 2;
const KEY: i32 = 3;

/// The query's current row.
#[derive(Clone, Copy)]
pub struct CodeRow<'a>(QueryRow<'a>, CodeType);

impl CodeRow<'_> {
    /// Adds the code to a list of codes of the column's type.
    pub fn push_code(&self, codes: &mut CodeList) -> Result<(), SqlError> {
        // SAFETY: the query casts the column to this type, and skips NULLs.
        let code = self.0.value(CODE).map(|code| unsafe { Value::new(code, self.1.oid()) });
        code.and_then(Value::as_code).map_or(Ok(()), |code| codes.push(code))
    }

    /// The text, in the encoding of the database.
    pub fn text(&self) -> &[u8] {
        // SAFETY: the query casts the column to text, and skips NULLs.
        unsafe { self.0.text(TEXT) }.unwrap_or_default()
    }

    /// The key as a text, which is empty if it is NULL.
    pub fn key(&self) -> &[u8] {
        // SAFETY: the query returns a text.
        unsafe { self.0.text(KEY) }.unwrap_or_default()
    }
}

/// Locks a table until the end of the transaction, so that its name cannot pass to another table meanwhile.
/// Returns the quoted name.
fn hold(table: pg_sys::Oid) -> Result<CString, SqlError> {
    // SAFETY: the function waits for the lock, and opens the relation if it still exists. Each name is a
    // string in the current memory context.
    unsafe {
        let opened = pg_sys::try_relation_open(table, pg_sys::AccessShareLock as i32);
        if opened.is_null() {
            return Err(error::no_such_relation(table));
        }
        pg_sys::relation_close(opened, pg_sys::NoLock as i32);
        let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(table));
        let name = pg_sys::quote_qualified_identifier(schema, pg_sys::get_rel_name(table));
        Ok(CStr::from_ptr(name).to_owned())
    }
}

fn type_of_column(table: pg_sys::Oid, column: &CStr) -> Result<ColumnType, SqlError> {
    // SAFETY: names and types are looked up. The table is locked, so it has a name, which is a string in the
    // current memory context.
    unsafe {
        let number = pg_sys::get_attnum(table, column.as_ptr());
        if number <= 0 {
            let name = CStr::from_ptr(pg_sys::get_rel_name(table));
            return Err(error::no_such_column(&for_message(column), &for_message(name)));
        }
        Ok(ColumnType::of(table, number))
    }
}

/// The quoted names of a table, which is locked, and of a column of texts.
pub fn table_and_text(table: pg_sys::Oid, column: &CStr) -> Result<(CString, CString), SqlError> {
    Ok((hold(table)?, text_column(table, column)?))
}

/// The quoted name of a column of texts.
fn text_column(table: pg_sys::Oid, column: &CStr) -> Result<CString, SqlError> {
    let column_type = type_of_column(table, column)?;
    match column_type.base().type_ {
        pg_sys::TEXTOID | pg_sys::VARCHAROID | pg_sys::BPCHAROID => Ok(quoted(column)),
        _ => Err(error::column_type(&for_message(column), &type_name(column_type.type_), "text").set_hint(
            "Specify the column that contains the texts, or create a view with a column of type text.",
        )),
    }
}

/// A name as an identifier of a query.
pub fn quoted(name: &CStr) -> CString {
    // SAFETY: the result is a string in the current memory context.
    unsafe { CStr::from_ptr(pg_sys::quote_identifier(name.as_ptr())).to_owned() }
}

/// A text as a literal of a query.
pub fn literal(text: &CStr) -> CString {
    // SAFETY: the result is a string in the current memory context.
    unsafe { CStr::from_ptr(pg_sys::quote_literal_cstr(text.as_ptr())).to_owned() }
}

//! A column of codes of a table, and perhaps one of texts next to it.

use super::QueryCursor;
use crate::pg::code::CodeType;
use crate::pg::encoding::{for_message, type_name};
use crate::pg::error;
use crate::pg::report::{SqlError, quote, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::spi::Spi;
use pgrx::{PgMemoryContexts, pg_sys};
use std::ffi::{CStr, CString};

/// Codes that are fetched together.
const BATCH: i64 = 10_000;
/// Bytes of codes and stored texts that are fetched together, if each has the size of those before.
const BATCH_BYTES: usize = 4 << 20;

/// The names of a table and of a column of type bigint or bit, and perhaps of one of texts, as queries write
/// them.
pub(crate) struct CodeColumn {
    table: CString,
    column: CString,
    text: Option<CString>,
    key: Option<CString>,
    pub(crate) codes: CodeType,
    /// The number of bits of each value, if the type says it.
    pub(crate) bits: Option<u32>,
}

impl CodeColumn {
    pub(crate) fn of(table: pg_sys::Oid, column: &CStr, text: Option<&CStr>) -> Result<Self, SqlError> {
        hold(table)?;
        let (type_, mut modifier) = type_of_column(table, column)?;
        let text = text.map(|text| text_column(table, text)).transpose()?;
        // SAFETY: looks names and types up; the table is held, and each name is a string in the memory of the
        // current call.
        unsafe {
            let (codes, bits) = match pg_sys::getBaseTypeAndTypmod(type_, &raw mut modifier) {
                pg_sys::INT8OID => (CodeType::Bigint, Some(hamming::BITS)),
                pg_sys::BITOID => (CodeType::Bits, u32::try_from(modifier).ok()),
                pg_sys::VARBITOID => (CodeType::Bits, None),
                _ => return Err(not_a_code(&for_message(column), &type_name(type_))),
            };
            let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(table));
            let name = pg_sys::get_rel_name(table);
            let table = CStr::from_ptr(pg_sys::quote_qualified_identifier(schema, name)).to_owned();
            Ok(Self { table, column: quoted(column), text, key: None, codes, bits })
        }
    }

    /// Reads this column with each text, too.
    pub(crate) fn with_key(mut self, table: pg_sys::Oid, key: &CStr) -> Result<Self, SqlError> {
        type_of_column(table, key)?;
        self.key = Some(quoted(key));
        Ok(self)
    }

    /// Calls `take` with each code, or with `at_random` of them, chosen at random; codes that are NULL, or
    /// whose text is, are left out. The memory in which `take` is called is freed after each of them.
    pub(crate) fn read(
        &self,
        at_random: Option<i32>,
        take: &mut dyn FnMut(pg_sys::Datum) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        self.each_row(at_random, false, &mut |cursor, row| take(cursor.value(row, 1).0))
    }

    /// Calls `take` with each code and its text, which is a value of type text as it is stored.
    pub(crate) fn read_with_text(
        &self,
        at_random: Option<i32>,
        take: &mut dyn FnMut(pg_sys::Datum, StoredText) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        self.each_row(at_random, true, &mut |cursor, row| {
            take(cursor.value(row, 1).0, StoredText(cursor.value(row, 2).0))
        })
    }

    /// As [`Self::read_with_text`], with the key of the row as a text, which is empty if it is NULL.
    pub(crate) fn read_with_key(
        &self,
        at_random: Option<i32>,
        take: &mut dyn FnMut(pg_sys::Datum, StoredText, StoredText) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        self.each_row(at_random, true, &mut |cursor, row| {
            let [code, text, key] = [1, 2, 3].map(|column| cursor.value(row, column).0);
            take(code, StoredText(text), StoredText(key))
        })
    }

    fn query(&self, at_random: Option<i32>, with_text: bool) -> Vec<u8> {
        let (column, table) = (self.column.as_bytes(), self.table.as_bytes());
        // The casts hold even if somebody has given the columns other types meanwhile.
        let type_: &[u8] = if self.codes == CodeType::Bigint { b"int8" } else { b"varbit" };
        let text = self.text.as_ref().map(|text| text.as_bytes());
        let returned: [&[u8]; 3] = match text {
            Some(text) if with_text => [b", ", text, b"::pg_catalog.text"],
            _ => [b""; 3],
        };
        let key: [&[u8]; 3] = match &self.key {
            Some(key) if with_text => [b", COALESCE(", key.as_bytes(), b"::pg_catalog.text, '')"],
            _ => [b""; 3],
        };
        let wanted: [&[u8]; 3] = text.map_or([b""; 3], |text| [b" AND ", text, b" IS NOT NULL"]);
        let order = at_random.map(|count| format!(" ORDER BY pg_catalog.random() LIMIT {count}"));
        let select: [&[u8]; 4] = [b"SELECT ", column, b"::pg_catalog.", type_];
        let from: [&[u8]; 5] = [b" FROM ", table, b" WHERE ", column, b" IS NOT NULL"];
        let end: [&[u8]; 2] = [order.as_deref().unwrap_or_default().as_bytes(), b"\0"];
        // Bounded: some names of the catalog.
        [&select[..], &returned, &key, &from, &wanted, &end].concat().concat()
    }

    fn each_row(
        &self,
        at_random: Option<i32>,
        with_text: bool,
        take: &mut dyn FnMut(&QueryCursor, usize) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let query = self.query(at_random, with_text);
        // SAFETY: SPI is connected, and disconnected also by an error, which frees all of this. The query
        // ends with a zero; its columns are without NULLs, and the second one is of a type of variable
        // length.
        Spi::connect(|_| unsafe {
            let plan = pg_sys::SPI_prepare(query.as_ptr().cast(), 0, std::ptr::null_mut());
            let mut cursor = QueryCursor::open(plan);
            let mut scratch = PgMemoryContexts::new("simhash_pg value of a column");
            // Short texts, and those that a view computes, stand in their rows.
            let mut batch = if with_text { 1 } else { BATCH };
            while cursor.fetch(batch) {
                let mut bytes = 1;
                for row in 0..cursor.rows {
                    scratch.switch_to(|_| take(&cursor, row))?;
                    pg_sys::MemoryContextReset(scratch.value());
                    if with_text {
                        bytes += pgrx::varsize_any(cursor.value(row, 2).0.cast_mut_ptr());
                    }
                }
                if with_text {
                    let fitting = (BATCH_BYTES / bytes.div_ceil(cursor.rows)) as i64;
                    batch = fitting.min(2 * batch).clamp(1, BATCH);
                }
            }
            Ok(())
        })
    }
}

/// A value of type text, as it is stored.
#[derive(Clone, Copy)]
pub(crate) struct StoredText(pg_sys::Datum);

impl StoredText {
    /// The bytes, in the encoding of the database and in the memory of the current call.
    ///
    /// # Safety
    /// The row that the text was read from must be there still.
    pub(crate) unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: the row that the text was read from is there still, as the caller promises; the value is
        // not NULL.
        unsafe { pgrx::varlena_to_byte_slice(pg_sys::pg_detoast_datum_packed(self.0.cast_mut_ptr())) }
    }
}

/// Locks a table until the end of the transaction, so that nobody gives its name to another one meanwhile.
fn hold(table: pg_sys::Oid) -> Result<(), SqlError> {
    // SAFETY: waits for the lock, and opens what is there then.
    unsafe {
        let opened = pg_sys::try_relation_open(table, pg_sys::AccessShareLock as i32);
        if opened.is_null() {
            return Err(error::no_such_relation(table));
        }
        pg_sys::relation_close(opened, pg_sys::NoLock as i32);
    }
    Ok(())
}

/// The type of a column, and its modifier.
fn type_of_column(table: pg_sys::Oid, column: &CStr) -> Result<(pg_sys::Oid, i32), SqlError> {
    // SAFETY: looks names and types up; the table is held, so it has a name, which is a string in the memory
    // of the current call.
    unsafe {
        let number = pg_sys::get_attnum(table, column.as_ptr());
        if number <= 0 {
            let name = CStr::from_ptr(pg_sys::get_rel_name(table));
            return Err(error::no_such_column(&for_message(column), &for_message(name)));
        }
        let (mut type_, mut modifier, mut collation) = (pg_sys::InvalidOid, -1, pg_sys::InvalidOid);
        pg_sys::get_atttypetypmodcoll(table, number, &raw mut type_, &raw mut modifier, &raw mut collation);
        Ok((type_, modifier))
    }
}

/// The name of a column of texts, as queries write it.
fn text_column(table: pg_sys::Oid, column: &CStr) -> Result<CString, SqlError> {
    let (type_, _) = type_of_column(table, column)?;
    // SAFETY: looks types up.
    let base = unsafe { pg_sys::getBaseType(type_) };
    match base {
        pg_sys::TEXTOID | pg_sys::VARCHAROID | pg_sys::BPCHAROID => Ok(quoted(column)),
        _ => Err(not_a_text(&for_message(column), &type_name(type_))),
    }
}

fn quoted(name: &CStr) -> CString {
    // SAFETY: the result is a string in the memory of the current call.
    unsafe { CStr::from_ptr(pg_sys::quote_identifier(name.as_ptr())).to_owned() }
}

fn not_a_code(column: &str, type_name: &str) -> SqlError {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("column \"{}\" has type {}, not bigint or bit", quote(column), quote(type_name)),
    )
    .set_hint("Name the column that has the fingerprints.")
}

fn not_a_text(column: &str, type_name: &str) -> SqlError {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("column \"{}\" has type {}, not text", quote(column), quote(type_name)),
    )
    .set_hint("Name the column that has the texts, or make a view with a column of type text.")
}

//! Runs queries that read, as the user who calls us: over a column of a table, or as the user wrote them.

use super::code::CodeType;
use super::encoding::{for_message, type_name};
use super::error;
use super::nodes::elements;
use super::report::SqlError;
use super::varlena::c_string;
use pgrx::spi::Spi;
use pgrx::{PgMemoryContexts, pg_sys};
use std::ffi::{CStr, CString};

/// Codes that are fetched together.
const BATCH: i64 = 10_000;
/// Rows with texts that are fetched together, at most.
const TEXT_BATCH: i64 = 50;
/// Larger texts, on average, are fetched one by one.
const SMALL_TEXT: usize = 64 << 10;
/// Bytes of codes and stored texts that are fetched together, if each has the size of those before.
const BATCH_BYTES: usize = 4 << 20;

/// The names of a table and of a column of type bigint or bit, and perhaps of one of texts, as queries write them.
pub(crate) struct CodeColumn {
    table: CString,
    column: CString,
    text: Option<CString>,
    pub(crate) codes: CodeType,
    /// The number of bits of each value, if the type says it.
    pub(crate) bits: Option<u32>,
}

impl CodeColumn {
    pub(crate) fn of(table: pg_sys::Oid, column: &CStr, text: Option<&CStr>) -> Result<Self, SqlError> {
        let (type_, mut modifier) = type_of_column(table, column)?;
        let text = text.map(|text| text_column(table, text)).transpose()?;
        // SAFETY: looks names and types up; each name is a string in the memory of the current call.
        unsafe {
            let (codes, bits) = match pg_sys::getBaseTypeAndTypmod(type_, &raw mut modifier) {
                pg_sys::INT8OID => (CodeType::Bigint, Some(hamming::BITS)),
                pg_sys::BITOID => (CodeType::Bits, u32::try_from(modifier).ok()),
                pg_sys::VARBITOID => (CodeType::Bits, None),
                _ => return Err(error::not_a_code(&for_message(column), &type_name(type_))),
            };
            let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(table));
            let name = pg_sys::get_rel_name(table);
            let table = CStr::from_ptr(pg_sys::quote_qualified_identifier(schema, name)).to_owned();
            Ok(Self { table, column: quoted(column), text, codes, bits })
        }
    }

    /// Calls `take` with each code, or with `at_random` of them, chosen at random; codes that are NULL, or whose text
    /// is, are left out. The memory in which `take` is called is freed after each of them.
    pub(crate) fn read(
        &self,
        at_random: Option<i32>,
        take: &mut dyn FnMut(pg_sys::Datum) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        self.each_row(at_random, false, &mut |cursor, row| take(cursor.value(row, 1).0))
    }

    /// The same with the texts, each of which is a value of type text as it is stored.
    pub(crate) fn read_with_text(
        &self,
        at_random: Option<i32>,
        take: &mut dyn FnMut(pg_sys::Datum, StoredText) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        self.each_row(at_random, true, &mut |cursor, row| {
            take(cursor.value(row, 1).0, StoredText(cursor.value(row, 2).0))
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
        let wanted: [&[u8]; 3] = text.map_or([b""; 3], |text| [b" AND ", text, b" IS NOT NULL"]);
        let order = at_random.map(|count| format!(" ORDER BY pg_catalog.random() LIMIT {count}"));
        let select: [&[u8]; 4] = [b"SELECT ", column, b"::pg_catalog.", type_];
        let from: [&[u8]; 5] = [b" FROM ", table, b" WHERE ", column, b" IS NOT NULL"];
        let end: [&[u8]; 2] = [order.as_deref().unwrap_or_default().as_bytes(), b"\0"];
        // Bounded: some names of the catalog.
        [&select[..], &returned, &from, &wanted, &end].concat().concat()
    }

    fn each_row(
        &self,
        at_random: Option<i32>,
        with_text: bool,
        take: &mut dyn FnMut(&Cursor, usize) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let query = self.query(at_random, with_text);
        // SAFETY: SPI is connected, and disconnected also by an error, which frees all of this. The query
        // ends with a zero; its columns are without NULLs, and the second one is of a type of variable length.
        Spi::connect(|_| unsafe {
            let plan = pg_sys::SPI_prepare(query.as_ptr().cast(), 0, std::ptr::null_mut());
            let mut cursor = Cursor::open(plan);
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
        // SAFETY: promised by the caller; the value is not NULL.
        unsafe { pgrx::varlena_to_byte_slice(pg_sys::pg_detoast_datum_packed(self.0.cast_mut_ptr())) }
    }
}

/// The type of a column, and its modifier.
fn type_of_column(table: pg_sys::Oid, column: &CStr) -> Result<(pg_sys::Oid, i32), SqlError> {
    // SAFETY: looks names and types up; a name that is not NULL is a string in the memory of the current call.
    unsafe {
        let name = pg_sys::get_rel_name(table);
        if name.is_null() {
            return Err(error::no_such_table(table));
        }
        let number = pg_sys::get_attnum(table, column.as_ptr());
        if number <= 0 {
            return Err(error::no_such_column(&for_message(column), &for_message(CStr::from_ptr(name))));
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
        _ => Err(error::not_a_text(&for_message(column), &type_name(type_))),
    }
}

fn quoted(name: &CStr) -> CString {
    // SAFETY: the result is a string in the memory of the current call.
    unsafe { CStr::from_ptr(pg_sys::quote_identifier(name.as_ptr())).to_owned() }
}

/// A key and a text.
pub(crate) struct KeyedText<'a> {
    /// Of the type that was asked for, in the memory of the current batch; `None` if it is NULL.
    pub(crate) key: Option<pg_sys::Datum>,
    /// In the encoding of the database; `None` if it is NULL.
    pub(crate) text: Option<&'a [u8]>,
}

/// Runs the user's query, which must return two columns: keys of the type, and texts. Calls `take` with each row, in
/// their order.
pub(crate) fn each_keyed_text(
    query: &[u8],
    key_type: pg_sys::Oid,
    mut take: impl FnMut(KeyedText<'_>) -> Result<(), SqlError>,
) -> Result<(), SqlError> {
    // A value of type text has no zero byte.
    let query = c_string(&[query]);
    // SAFETY: SPI is connected, and disconnected also by an error, which frees all of this. The plan is one of a
    // query that returns rows, whose columns are of the types that are checked.
    Spi::connect(|_| unsafe {
        let plan = pg_sys::SPI_prepare(query.cast_mut_ptr(), 0, std::ptr::null_mut());
        check_reads_only(plan)?;
        let mut cursor = Cursor::open(plan);
        check_columns((*cursor.portal).tupDesc, key_type)?;
        // Texts that are computed stand in their rows, whatever their size. So batches grow only while texts are small.
        let mut batch = 1;
        while cursor.fetch(batch) {
            let mut bytes = 0;
            for row in 0..cursor.rows {
                let (key, is_null) = cursor.value(row, 1);
                let key = (!is_null).then_some(key);
                let (text, is_null) = cursor.value(row, 2);
                if is_null {
                    take(KeyedText { key, text: None })?;
                    continue;
                }
                let stored = text.cast_mut_ptr();
                let plain = pg_sys::pg_detoast_datum_packed(stored);
                let text = pgrx::varlena_to_byte_slice(plain);
                bytes += text.len();
                take(KeyedText { key, text: Some(text) })?;
                if plain != stored {
                    pg_sys::pfree(plain.cast());
                }
            }
            batch = if bytes / cursor.rows < SMALL_TEXT { TEXT_BATCH.min(2 * batch) } else { 1 };
        }
        Ok(())
    })
}

/// A cursor over a query that only reads. It sees the same rows as the calling query.
struct Cursor {
    portal: pg_sys::Portal,
    batch: *mut pg_sys::SPITupleTable,
    /// The rows of the current batch.
    rows: usize,
}

impl Cursor {
    /// # Safety
    /// SPI must be connected, and stay so; the plan must be one of a query that returns rows, without parameters.
    unsafe fn open(plan: pg_sys::SPIPlanPtr) -> Self {
        // SAFETY: promised by the caller.
        let portal = unsafe {
            pg_sys::SPI_cursor_open(std::ptr::null(), plan, std::ptr::null_mut(), std::ptr::null(), true)
        };
        Self { portal, batch: std::ptr::null_mut(), rows: 0 }
    }

    /// Goes on to the next batch. At the end of the rows the cursor is closed.
    fn fetch(&mut self, count: i64) -> bool {
        // SAFETY: the cursor is open while it has rows; SPI keeps the rows of the last fetch until they are freed.
        unsafe {
            if !self.batch.is_null() {
                pg_sys::SPI_freetuptable(self.batch);
            }
            pg_sys::SPI_cursor_fetch(self.portal, true, count);
            (self.rows, self.batch) = (pg_sys::SPI_processed as usize, pg_sys::SPI_tuptable);
            if self.rows == 0 {
                pg_sys::SPI_freetuptable(self.batch);
                pg_sys::SPI_cursor_close(self.portal);
            }
        }
        self.rows > 0
    }

    /// The value of a column, counted from 1, and whether it is NULL.
    fn value(&self, row: usize, column: i32) -> (pg_sys::Datum, bool) {
        assert!(row < self.rows, "a row of the batch");
        let mut is_null = false;
        // SAFETY: the batch has the row; SPI answers NULL for a column that is not there.
        let value = unsafe {
            let tuple = *(*self.batch).vals.add(row);
            pg_sys::SPI_getbinval(tuple, (*self.batch).tupdesc, column, &raw mut is_null)
        };
        (value, is_null)
    }
}

/// # Safety
/// The plan must be one of SPI, or null.
unsafe fn check_reads_only(plan: pg_sys::SPIPlanPtr) -> Result<(), SqlError> {
    // SAFETY: a plan for a cursor has one query, which has been analyzed.
    unsafe {
        if plan.is_null() || !pg_sys::SPI_is_cursor_plan(plan) {
            return Err(error::corpus::not_a_query());
        }
        let source = elements(pg_sys::SPI_plan_get_plan_sources(plan))[0].cast::<pg_sys::CachedPlanSource>();
        let query = &*elements((*source).query_list)[0].cast::<pg_sys::Query>();
        let is_select = query.commandType == pg_sys::CmdType::CMD_SELECT;
        if !is_select || query.hasModifyingCTE || !query.rowMarks.is_null() {
            return Err(error::corpus::writes());
        }
    }
    Ok(())
}

/// # Safety
/// The description must be that of a query's rows.
unsafe fn check_columns(columns: pg_sys::TupleDesc, key_type: pg_sys::Oid) -> Result<(), SqlError> {
    // SAFETY: promised by the caller; types are looked up for columns that are there.
    unsafe {
        let count = (*columns).natts;
        if count != 2 {
            return Err(error::corpus::columns(count));
        }
        let (key, text) = (pg_sys::SPI_gettypeid(columns, 1), pg_sys::SPI_gettypeid(columns, 2));
        if !pg_sys::IsBinaryCoercible(key, key_type) {
            return Err(error::corpus::key_type(&type_name(key), &type_name(key_type)));
        }
        if !pg_sys::IsBinaryCoercible(pg_sys::getBaseType(text), pg_sys::TEXTOID) {
            return Err(error::corpus::text_type(&type_name(text)));
        }
    }
    Ok(())
}

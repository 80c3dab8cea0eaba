//! Runs a user's query that returns the documents of a corpus: keys and texts.

use crate::encoding::type_name;
use crate::node_structs::elements;
use crate::query::QueryCursor;
use crate::report::{SqlError, quote, report};
use crate::value::Value;
use crate::varlena::c_string;
use pgrx::pg_sys;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::spi::Spi;

/// The largest number of rows that are fetched at once. Texts that are computed are in the fetched rows
/// themselves, whatever their size.
const TEXT_BATCH: i64 = 50;

/// Runs the user's query, which must return two columns: keys of this type, and texts. Calls `take` for each
/// row in order, with its key, and its text in the encoding of the database; `None` is NULL.
pub fn each_keyed_text(
    query: &[u8],
    key_type: pg_sys::Oid,
    mut take: impl FnMut(Option<Value<'_>>, Option<&[u8]>) -> Result<(), SqlError>,
) -> Result<(), SqlError> {
    // A value of type text contains no zero byte.
    let query = c_string(&[query]);
    // SAFETY: SPI is connected, and an error also disconnects it and frees all of this. The plan is checked
    // to return rows, and the types of their columns are checked.
    Spi::connect(|_| unsafe {
        let plan = pg_sys::SPI_prepare(query.cast_mut_ptr(), 0, std::ptr::null_mut());
        check_reads_only(plan)?;
        let cursor = QueryCursor::open(plan);
        check_columns((*cursor.portal).tupDesc, key_type)?;
        cursor
            .each_row(TEXT_BATCH, |row| take(row.value(1).map(|key| Value::new(key, key_type)), row.text(2)))
    })
}

/// # Safety
/// The plan must belong to SPI, or be null.
unsafe fn check_reads_only(plan: pg_sys::SPIPlanPtr) -> Result<(), SqlError> {
    // SAFETY: a plan for a cursor has one query, which has been analyzed.
    unsafe {
        if plan.is_null() || !pg_sys::SPI_is_cursor_plan(plan) {
            return Err(not_a_query());
        }
        let source = elements(pg_sys::SPI_plan_get_plan_sources(plan))[0].cast::<pg_sys::CachedPlanSource>();
        let query = &*elements((*source).query_list)[0].cast::<pg_sys::Query>();
        let is_select = query.commandType == pg_sys::CmdType::CMD_SELECT;
        if !is_select || query.hasModifyingCTE || !query.rowMarks.is_null() {
            return Err(writes());
        }
    }
    Ok(())
}

/// # Safety
/// The argument must describe the rows of a query.
unsafe fn check_columns(columns: pg_sys::TupleDesc, key_type: pg_sys::Oid) -> Result<(), SqlError> {
    // SAFETY: as the caller promises. Types are looked up for columns that exist.
    unsafe {
        let count = (*columns).natts;
        if count != 2 {
            return Err(wrong_columns(count));
        }
        let key = pg_sys::SPI_gettypeid(columns, 1);
        let text = pg_sys::SPI_gettypeid(columns, 2);
        if !pg_sys::IsBinaryCoercible(key, key_type) {
            return Err(wrong_key_type(&type_name(key), &type_name(key_type)));
        }
        if !pg_sys::IsBinaryCoercible(pg_sys::getBaseType(text), pg_sys::TEXTOID) {
            return Err(wrong_text_type(&type_name(text)));
        }
    }
    Ok(())
}

const EXAMPLE: &str = "For example: repeated_passages('SELECT id, body FROM document ORDER BY id').";

fn not_a_query() -> SqlError {
    report(Code::ERRCODE_SYNTAX_ERROR, "query of a corpus must be a single SELECT").set_hint(EXAMPLE)
}

fn writes() -> SqlError {
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, "query of a corpus must not modify or lock rows")
        .set_hint(EXAMPLE)
}

fn wrong_columns(count: i32) -> SqlError {
    let message = format!("query of a corpus must return 2 columns, not {count}");
    report(Code::ERRCODE_DATATYPE_MISMATCH, message)
        .set_detail("The first column is the key of a document, the second one its text.")
        .set_hint(EXAMPLE)
}

fn wrong_key_type(type_name: &str, expected: &str) -> SqlError {
    let type_name = quote(type_name);
    let expected = quote(expected);
    let message = format!("keys of documents have type {type_name}, not {expected}");
    report(Code::ERRCODE_DATATYPE_MISMATCH, message)
        .set_hint(format!("Specify the type: repeated_passages(query, 100, NULL::{type_name})."))
}

fn wrong_text_type(type_name: &str) -> SqlError {
    let message = format!("second column of a corpus has type {}, not text", quote(type_name));
    report(Code::ERRCODE_DATATYPE_MISMATCH, message).set_hint("Cast it to text.")
}

/// A document of a corpus has no key.
pub fn null_key() -> SqlError {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, "key of a document must not be null")
        .set_hint("Leave out the rows with null keys.")
}

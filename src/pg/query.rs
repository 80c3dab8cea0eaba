//! Reads a column of a table as the user who calls us.

use super::codes::Kind;
use super::encoding::for_message;
use super::error;
use super::report::SqlError;
use pgrx::pg_sys;
use pgrx::spi::Spi;
use std::ffi::{CStr, CString};

/// Rows that are fetched together.
const BATCH: i64 = 10_000;

/// The names of a table and of a column of type bigint or bit, as queries write them.
pub(crate) struct CodeColumn {
    table: CString,
    column: CString,
    pub(crate) kind: Kind,
    /// The number of bits of each value, if the type says it.
    pub(crate) bits: Option<u32>,
}

impl CodeColumn {
    pub(crate) fn of(table: pg_sys::Oid, column: &CStr) -> Result<Self, SqlError> {
        // SAFETY: looks names and types up; each name that is not NULL is a string in the memory of the
        // current call.
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
            pg_sys::get_atttypetypmodcoll(
                table,
                number,
                &raw mut type_,
                &raw mut modifier,
                &raw mut collation,
            );
            let (kind, bits) = match pg_sys::getBaseTypeAndTypmod(type_, &raw mut modifier) {
                pg_sys::INT8OID => (Kind::Bigint, Some(hamming::BITS)),
                pg_sys::BITOID => (Kind::Bits, u32::try_from(modifier).ok()),
                pg_sys::VARBITOID => (Kind::Bits, None),
                _ => {
                    let type_ = CStr::from_ptr(pg_sys::format_type_be(type_));
                    return Err(error::not_a_code(&for_message(column), &for_message(type_)));
                }
            };
            let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(table));
            let table = CStr::from_ptr(pg_sys::quote_qualified_identifier(schema, name)).to_owned();
            let column = CStr::from_ptr(pg_sys::quote_identifier(column.as_ptr())).to_owned();
            Ok(Self { table, column, kind, bits })
        }
    }

    /// Calls `take` with each value that is not NULL, or with `at_random` of them, chosen at random.
    pub(crate) fn read(
        &self,
        at_random: Option<i32>,
        take: &mut dyn FnMut(pg_sys::Datum) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let (column, table) = (self.column.as_bytes(), self.table.as_bytes());
        // The cast holds even if somebody has given the column another type meanwhile.
        let type_: &[u8] = if self.kind == Kind::Bigint { b"int8" } else { b"varbit" };
        let parts = [b"SELECT ", column, b"::pg_catalog.", type_, b" FROM ", table, b" WHERE ", column];
        let mut query = parts.concat();
        query.extend(b" IS NOT NULL");
        if let Some(count) = at_random {
            query.extend(format!(" ORDER BY pg_catalog.random() LIMIT {count}").bytes());
        }
        query.push(0);
        // SAFETY: SPI is connected, and disconnected also by an error, which frees all of this. The query
        // ends with a zero and has one column, without NULLs. Reading only, it sees the same
        // rows as the calling query.
        Spi::connect(|_| unsafe {
            let plan = pg_sys::SPI_prepare(query.as_ptr().cast(), 0, std::ptr::null_mut());
            let cursor =
                pg_sys::SPI_cursor_open(std::ptr::null(), plan, std::ptr::null_mut(), std::ptr::null(), true);
            loop {
                pg_sys::SPI_cursor_fetch(cursor, true, BATCH);
                let (rows, table) = (pg_sys::SPI_processed as usize, pg_sys::SPI_tuptable);
                for row in 0..rows {
                    let mut is_null = false;
                    let tuple = *(*table).vals.add(row);
                    take(pg_sys::SPI_getbinval(tuple, (*table).tupdesc, 1, &raw mut is_null))?;
                }
                pg_sys::SPI_freetuptable(table);
                if rows == 0 {
                    break;
                }
            }
            pg_sys::SPI_cursor_close(cursor);
            Ok(())
        })
    }
}

//! Statements as the owner of a table, with a search path that nobody else chooses.

use crate::pg::encoding::{for_message, to_database};
use crate::pg::report::SqlError;
use crate::pg::varlena::c_string;
use pgrx::{pg_sys, spi::Spi};
use std::ffi::{CStr, c_int};

/// A value with its type.
pub(super) type Parameter = (pg_sys::Oid, Option<pg_sys::Datum>);

/// Where names are looked up that have no schema.
pub(super) const SAFE_PATH: &str = "pg_catalog, pg_temp";

/// Runs `work` as the owner of the table, as REFRESH MATERIALIZED VIEW does. Row security is an error instead
/// of a filter, so that no row is missed.
///
/// An error ends the transaction or subtransaction, which gives back user and settings.
pub(super) fn as_owner<T>(
    owner: pg_sys::Oid,
    work: impl FnOnce() -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    let (mut user, mut security) = (pg_sys::InvalidOid, 0);
    // SAFETY: reads and sets the user of the session, and opens a level of settings.
    let level = unsafe {
        pg_sys::GetUserIdAndSecContext(&raw mut user, &raw mut security);
        let restricted = security | pg_sys::SECURITY_RESTRICTED_OPERATION as c_int;
        pg_sys::SetUserIdAndSecContext(owner, restricted | pg_sys::SECURITY_LOCAL_USERID_CHANGE as c_int);
        pg_sys::NewGUCNestLevel()
    };
    set(c"search_path", SAFE_PATH)?;
    set(c"row_security", "off")?;
    set(c"standard_conforming_strings", "on")?;
    plan_for_maintenance()?;
    let result = Spi::connect(|_| work())?;
    // SAFETY: the level and the user of above.
    unsafe {
        pg_sys::AtEOXact_GUC(false, level);
        pg_sys::SetUserIdAndSecContext(user, security);
    }
    Ok(result)
}

/// What a page costs that is not the next one, in pages read in order: most of those that clusters need are
/// in memory, since each statement of a refresh comes back to them.
const RANDOM_PAGE: f64 = 1.1;

/// Lets the planner look rows up by index, gives it the memory that building an index has, and spares the
/// compilation of statements that run once.
fn plan_for_maintenance() -> Result<(), SqlError> {
    // SAFETY: reads settings of the session.
    let (random, sequential, work_mem, maintenance) = unsafe {
        (pg_sys::random_page_cost, pg_sys::seq_page_cost, pg_sys::work_mem, pg_sys::maintenance_work_mem)
    };
    set(c"jit", "off")?;
    set(c"random_page_cost", &random.min(RANDOM_PAGE * sequential).to_string())?;
    set(c"work_mem", &work_mem.max(maintenance).to_string())
}

/// Sets a setting until the current level of settings ends.
pub(super) fn set(name: &CStr, value: &str) -> Result<(), SqlError> {
    let value = c_string(&[&to_database(value.to_owned())?]);
    // SAFETY: strings that live as long as the call, which copies them.
    unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.cast_mut_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
    }
    Ok(())
}

/// Runs a statement inside [`as_owner`]. Returns the values of its first row with their types, if it returns
/// rows.
pub(super) fn run(sql: &str, parameters: &[Parameter]) -> Result<Vec<Parameter>, SqlError> {
    let sql = c_string(&[&to_database(sql.to_owned())?]);
    let mut types: Vec<_> = parameters.iter().map(|&(type_, _)| type_).collect();
    let mut values: Vec<_> =
        parameters.iter().map(|(_, value)| value.unwrap_or(pg_sys::Datum::null())).collect();
    let nulls: Vec<_> =
        parameters.iter().map(|(_, value)| if value.is_some() { b' ' } else { b'n' }).collect();
    // SAFETY: SPI is connected; as many types, values and signs for NULL as parameters.
    unsafe {
        pg_sys::SPI_execute_with_args(
            sql.cast_mut_ptr(),
            parameters.len() as c_int,
            types.as_mut_ptr(),
            values.as_mut_ptr(),
            nulls.as_ptr().cast(),
            false,
            0,
        );
        Ok(first_row())
    }
}

/// The values of the first row of the last statement, with their types.
///
/// # Safety
/// SPI must be connected, and have run a statement.
pub(super) unsafe fn first_row() -> Vec<Parameter> {
    // SAFETY: SPI has run a statement, as the caller promises; if it has returned rows, they are here.
    unsafe {
        let table = pg_sys::SPI_tuptable;
        if table.is_null() || pg_sys::SPI_processed == 0 {
            return Vec::new();
        }
        let columns = (*table).tupdesc;
        let row = *(*table).vals;
        let value = |number| {
            let mut is_null = false;
            let value = pg_sys::SPI_getbinval(row, columns, number, &raw mut is_null);
            (pg_sys::SPI_gettypeid(columns, number), (!is_null).then_some(value))
        };
        (1..=(*columns).natts).map(value).collect()
    }
}

/// Runs a statement that returns one number.
pub(super) fn number(sql: &str, parameters: &[Parameter]) -> Result<i64, SqlError> {
    let row = run(sql, parameters)?;
    Ok(row.first().and_then(|&(_, value)| value).map_or(0, |value| value.value() as i64))
}

/// A name as SQL writes it.
pub(super) fn quoted(name: &str) -> String {
    let Ok(name) = to_database(name.to_owned()) else { return String::new() };
    // SAFETY: a string; the result is that or a new one.
    unsafe { name_at(pg_sys::quote_identifier(c_string(&[&name]).cast_mut_ptr())) }
}

/// A name of the catalog, which was allocated for us.
///
/// # Safety
/// The pointer must be null, or that of a string.
pub(super) unsafe fn name_at(name: *const std::ffi::c_char) -> String {
    if name.is_null() {
        return String::new();
    }
    // SAFETY: a string, as the caller promises.
    for_message(unsafe { CStr::from_ptr(name) })
}

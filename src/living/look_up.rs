//! `near_cluster_of` says which cluster a code would join now.

use super::error;
use super::objects::Clustered;
use super::spi::first_row;
use super::statements::Statements;
use crate::pg::call::{Call, pg_function};
use crate::pg::datum::Passing;
use crate::pg::elements::ArrayElements;
use crate::pg::encoding::{to_database, type_name};
use crate::pg::report::SqlError;
use crate::pg::varlena::c_string;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{FromDatum, PgMemoryContexts, pg_sys, spi::Spi};
use std::cell::RefCell;

/// A look-up, and the types of its parameters.
type Statement = (String, Vec<pg_sys::Oid>);

thread_local! {
    /// The last look-up, and its plan.
    static LAST: RefCell<Option<(Statement, pg_sys::SPIPlanPtr)>> = const { RefCell::new(None) };
}

pg_function!(
    pg_finfo_near_cluster_of,
    fn near_cluster_of(call) {
        // SAFETY: declared so in `sql/living.sql`.
        let found = unsafe { look_up(call) }.unwrap_or_report();
        found.unwrap_or_else(|| call.null())
    }
);

/// The key of the keeper that a row with this code would join as the last one.
///
/// # Safety
/// The function must be declared with a table, a code, an array of text, a string of bits and any element,
/// whose type it returns.
unsafe fn look_up(call: Call) -> Result<Option<pg_sys::Datum>, SqlError> {
    if call.is_null(0) || call.is_null(1) {
        return Ok(None);
    }
    // SAFETY: declared so, as the caller promises; not NULL. The types of arguments are in the call.
    unsafe {
        let flinfo = (*call.info()).flinfo;
        let table = pg_sys::Oid::from_datum(call.datum(0), false).unwrap_or(pg_sys::InvalidOid);
        let clustered = Clustered::of(table, (*flinfo).fn_oid)?;
        let columns = &clustered.columns;
        let (code, key) = (pg_sys::get_fn_expr_argtype(flinfo, 1), pg_sys::get_fn_expr_argtype(flinfo, 4));
        if code != columns.code.type_ {
            return Err(error::other_code_type(&type_name(code), &type_name(columns.code.type_)));
        }
        if key != columns.key.type_ {
            return Err(error::other_key_type(&type_name(key), &type_name(columns.key.type_)));
        }
        let mut values = vec![Some(call.datum(1))];
        if columns.look.is_some() {
            values.push((!call.is_null(3)).then(|| call.datum(3)));
        }
        values.extend(tenants(call, &clustered)?);
        let types: Vec<_> = columns.compared().map(|column| column.type_).collect();
        let passing = Passing::of(key);
        let caller = pg_sys::CurrentMemoryContext;
        let sql = Statements(&clustered).look_up();
        Spi::connect(|_| {
            run(sql, types, &values)?;
            let found = first_row().first().and_then(|&(_, value)| value);
            Ok(found.map(|found| PgMemoryContexts::For(caller).switch_to(|_| passing.copy(found))))
        })
    }
}

/// The values of the columns that clusters are within, as the column's types read them.
///
/// # Safety
/// As for [`look_up`].
unsafe fn tenants(call: Call, clustered: &Clustered) -> Result<Vec<Option<pg_sys::Datum>>, SqlError> {
    let within = &clustered.columns.within;
    // SAFETY: an array of text that is not NULL.
    let given = (!call.is_null(2)).then(|| unsafe { ArrayElements::of(call.datum(2)) });
    let count = given.as_ref().map_or(0, |given| given.values.len());
    if count != within.len() {
        return Err(error::other_tenants(count, within.len()));
    }
    let Some(given) = given else { return Ok(Vec::new()) };
    let read = |((column, &value), &is_null): ((&super::columns::Column, &pg_sys::Datum), &bool)| {
        // SAFETY: a text, which the type's own function reads.
        (!is_null).then(|| unsafe {
            let (mut input, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
            pg_sys::getTypeInputInfo(column.type_, &raw mut input, &raw mut parameter);
            let text = pg_sys::text_to_cstring(value.cast_mut_ptr());
            pg_sys::OidInputFunctionCall(input, text, parameter, -1)
        })
    };
    Ok(within.iter().zip(given.values).zip(given.nulls).map(read).collect())
}

/// Runs the look-up, whose plan is kept for the next one.
///
/// # Safety
/// SPI must be connected; as many values as types, and of them.
unsafe fn run(
    sql: String,
    types: Vec<pg_sys::Oid>,
    values: &[Option<pg_sys::Datum>],
) -> Result<(), SqlError> {
    let statement = (sql, types);
    let kept =
        LAST.with_borrow(|last| last.as_ref().filter(|(of, _)| *of == statement).map(|&(_, plan)| plan));
    let mut datums: Vec<_> = values.iter().map(|value| value.unwrap_or(pg_sys::Datum::null())).collect();
    let nulls: Vec<_> = values.iter().map(|value| if value.is_some() { b' ' } else { b'n' }).collect();
    // SAFETY: SPI is connected, as the caller promises. A plan that is kept lives until it is freed here.
    unsafe {
        let plan = match kept {
            Some(plan) => plan,
            None => {
                let text = c_string(&[&to_database(statement.0.clone())?]);
                let mut types = statement.1.clone();
                let plan = pg_sys::SPI_prepare(text.cast_mut_ptr(), types.len() as i32, types.as_mut_ptr());
                pg_sys::SPI_keepplan(plan);
                if let Some((_, old)) = LAST.replace(Some((statement, plan))) {
                    pg_sys::SPI_freeplan(old);
                }
                plan
            }
        };
        pg_sys::SPI_execute_plan(plan, datums.as_mut_ptr(), nulls.as_ptr().cast(), true, 1);
    }
    Ok(())
}

//! `near_clusters_refresh` brings clusters up to date.

use super::error;
use super::objects::Clustered;
use super::spi::{as_owner, number, run};
use super::statements::Statements;
use crate::pg::call::{Call, pg_function};
use crate::pg::encoding::to_utf8;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{SqlError, quote};
use hamming::clusters::Linkage;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{FromDatum, IntoDatum, PgLogLevel, pg_sys};

/// Changed rows from which on the planner has to know how many they are.
const MANY_CHANGES: i64 = 1000;

/// A cluster of fewer rows is not worth a warning.
const MANY_MEMBERS: i64 = 100;

pg_function!(
    pg_finfo_near_clusters_refresh,
    fn near_clusters_refresh(call) {
        // SAFETY: declared so in `sql/living.sql`.
        unsafe { refresh_for(call) }.unwrap_or_report().into_datum().unwrap_or(pg_sys::Datum::null())
    }
);

/// # Safety
/// The function must be declared with a table and a boolean.
unsafe fn refresh_for(call: Call) -> Result<i64, SqlError> {
    // SAFETY: declared so, as the caller promises.
    let (table, function) =
        unsafe { (pg_sys::Oid::from_datum(call.datum(0), false), (*(*call.info()).flinfo).fn_oid) };
    let all = call.datum(1).value() != 0;
    let clustered = Clustered::of(table.unwrap_or(pg_sys::InvalidOid), function)?;
    clustered.table.check_owner()?;
    // SAFETY: reads the level of isolation of the transaction.
    if unsafe { pg_sys::XactIsoLevel } >= pg_sys::XACT_REPEATABLE_READ as i32 {
        return Err(error::old_snapshot());
    }
    as_owner(clustered.table.owner, || refresh(&clustered, all))
}

/// Settles all that is noted. Returns how many rows were settled.
pub(super) fn refresh(clustered: &Clustered, all: bool) -> Result<i64, SqlError> {
    let statements = Statements(clustered);
    let names = &clustered.names;
    // A second refresh waits for the first; TRUNCATE of the table waits, or is waited for.
    run(&format!("LOCK TABLE ONLY {} IN SHARE ROW EXCLUSIVE MODE", names.clusters), &[])?;
    run(&format!("LOCK TABLE ONLY {} IN ACCESS SHARE MODE", names.source), &[])?;
    clustered.record_dependencies()?;
    let key = &clustered.columns.key.name;
    let any = |condition: &str| {
        number(&format!("SELECT count(*) FROM (SELECT FROM {} {condition} LIMIT 1) AS c", names.changes), &[])
    };
    let all = all || any(&format!("WHERE {key} IS NULL"))? > 0;
    clustered.check_persistence()?;
    if !all && any("")? == 0 {
        return Ok(0);
    }
    clustered.table.check_key(&clustered.definition.key)?;
    let copied = run(&statements.copy_changes(all), &[])?;
    let [left, (_, changed)] = copied[..] else { return Ok(0) };
    let is_leader = clustered.definition.linkage == Linkage::Leader;
    let changed = changed.map_or(0, |changed| changed.value() as i64);
    if changed == 0 {
        return Ok(0);
    }
    let mut unsettled = changed;
    if is_leader && left.1.is_some() {
        unsettled += number(&statements.unsettle(), &[left])?;
    }
    analyze_if_many(clustered, unsettled)?;
    let settled =
        if is_leader { settle_leaders(clustered)? } else { number(&statements.settle_connected(), &[left])? };
    if analyze_if_many(clustered, settled)? {
        warn_of_large(clustered)?;
    }
    Ok(settled)
}

/// Lets the planner know how many rows are unsettled, if they are many. Returns whether they are.
fn analyze_if_many(clustered: &Clustered, rows: i64) -> Result<bool, SqlError> {
    let all = number(
        &format!("SELECT reltuples::bigint FROM pg_class WHERE oid = {}", clustered.clusters.to_u32()),
        &[],
    )?;
    let are_many = rows >= MANY_CHANGES || rows * 10 >= all;
    if are_many {
        run(&format!("ANALYZE {} ({}, cluster)", clustered.names.clusters, clustered.columns.key.name), &[])?;
    }
    Ok(are_many)
}

/// Clusters unsettled rows, until no further ones are affected.
fn settle_leaders(clustered: &Clustered) -> Result<i64, SqlError> {
    let settle = Statements(clustered).settle_leaders();
    loop {
        check_for_interrupts();
        let counts = run(&settle, &[])?;
        let count = |index: usize| {
            counts.get(index).and_then(|count| count.1).map_or(0, |count| count.value() as i64)
        };
        if count(0) == 0 {
            return Ok(count(1));
        }
        analyze_if_many(clustered, count(0))?;
    }
}

/// A cluster of half of the rows means that the radius is too large.
pub(super) fn warn_of_large(clustered: &Clustered) -> Result<(), SqlError> {
    let statements = Statements(clustered);
    if number(&statements.has_large(), &[])? == 0 {
        return Ok(());
    }
    let largest = run(&statements.largest(), &[])?;
    let [(_, Some(keeper)), (_, Some(members)), (_, Some(rows))] = largest[..] else { return Ok(()) };
    let (members, rows) = (members.value() as i64, rows.value() as i64);
    if members < MANY_MEMBERS || members * 2 < rows {
        return Ok(());
    }
    // SAFETY: the column is of type text.
    let keeper = unsafe { <&[u8]>::from_datum(keeper, false) }.unwrap_or_default();
    let keeper = to_utf8(keeper)?;
    error::large_cluster(&quote(&keeper), members, rows, &clustered.definition).report(PgLogLevel::WARNING);
    Ok(())
}

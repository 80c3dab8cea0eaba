//! `sql/trigger.sql`: a trigger that computes a fingerprint whenever a row is written.

mod error;

use crate::pg::call::{Call, pg_functions};
use crate::pg::encoding;
use crate::pg::report::SqlError;
use crate::pg::trigger_row::{TriggerColumn, TriggerRow};
use crate::sql::simhash::{SEPARATOR, fingerprint};
use pgrx::pg_sys;
use std::borrow::Cow;
use std::ffi::CStr;
use text::features::Scheme;

/// The prefix of the argument that names a scheme.
const SCHEME_ARGUMENT: &[u8] = b"scheme=";

pg_functions!(simhash_trigger);

/// Returns the row being written, with its fingerprint set.
fn simhash_trigger(call: Call) -> Result<pg_sys::Datum, SqlError> {
    let row = TriggerRow::being_written(call).map_err(error::misfired)?;
    let arguments = Arguments::parse(&row.trigger_arguments())?;
    let target = column(&row, arguments.target)?;
    if target.is_generated {
        return Err(error::generated_target(&encoding::for_message(arguments.target)));
    }
    if target.declared_type != pg_sys::INT8OID {
        return Err(error::target_type(&encoding::for_message(arguments.target), &target.type_name()));
    }
    let doc = joined_text(&row, &arguments.sources)?;
    let scheme = arguments.scheme.unwrap_or(Scheme::DOC2);
    let fingerprint = doc.map(|doc| fingerprint(&doc, scheme)).transpose()?.flatten();
    Ok(row.with_bigint(&target, fingerprint))
}

/// The joined texts of the columns that are not NULL; `None` if all are NULL.
fn joined_text<'a>(row: &'a TriggerRow<'_>, sources: &[&CStr]) -> Result<Option<Cow<'a, str>>, SqlError> {
    let mut joined: Option<Cow<'a, str>> = None;
    for name in sources {
        let Some(text) = row.text(&source_column(row, name)?)? else { continue };
        joined = Some(match joined {
            None => text,
            Some(before) => {
                let mut all = match before {
                    Cow::Owned(all) => all,
                    Cow::Borrowed(first) => encoding::copy(first)?,
                };
                encoding::append(&mut all, SEPARATOR)?;
                encoding::append(&mut all, &text)?;
                Cow::Owned(all)
            }
        });
    }
    Ok(joined)
}

fn column(row: &TriggerRow<'_>, name: &CStr) -> Result<TriggerColumn, SqlError> {
    let no_column =
        || error::no_such_column(&encoding::for_message(name), &row.table_name(), row.has_column_like(name));
    row.column(name).ok_or_else(no_column)
}

fn source_column(row: &TriggerRow<'_>, name: &CStr) -> Result<TriggerColumn, SqlError> {
    let column = column(row, name)?;
    if column.is_generated {
        return Err(error::generated_column(&encoding::for_message(name)));
    }
    if !column.is_text() {
        return Err(error::source_type(&encoding::for_message(name), &column.type_name()));
    }
    Ok(column)
}

/// The trigger's arguments: the target column, the text columns, and optionally a scheme.
struct Arguments<'a> {
    target: &'a CStr,
    sources: Vec<&'a CStr>,
    scheme: Option<Scheme>,
}

impl<'a> Arguments<'a> {
    fn parse(arguments: &[&'a CStr]) -> Result<Self, SqlError> {
        let mut columns = Vec::with_capacity(arguments.len()); // Bounded: the arguments of a trigger.
        let mut scheme = None;
        for &argument in arguments {
            match argument.to_bytes().strip_prefix(SCHEME_ARGUMENT) {
                Some(_) if scheme.is_some() => {
                    return Err(error::second_scheme(&encoding::for_message(argument)));
                }
                Some(name) => scheme = Some(encoding::to_utf8(name)?.parse()?),
                None => columns.push(argument),
            }
        }
        match columns.split_first() {
            Some((target, sources)) if !sources.is_empty() => {
                Ok(Self { target, sources: sources.to_vec(), scheme }) // Bounded: the arguments of a trigger.
            }
            _ => Err(error::too_few_arguments(columns.len())),
        }
    }
}

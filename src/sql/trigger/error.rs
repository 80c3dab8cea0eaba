//! Errors of `simhash_trigger`. The row is not written then.

use crate::pg::error;
use crate::pg::report::{SqlError, quote, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use text::features::Scheme;

const EXAMPLE: &str = "CREATE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON document \
    FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'title', 'body');";

/// A trigger that was not created as it has to be.
pub(super) fn misfired(message: &'static str) -> SqlError {
    report(Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, message).set_hint(EXAMPLE)
}

pub(super) fn too_few_arguments(given: usize) -> SqlError {
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("simhash_trigger needs a target column and at least one text column, got {given} names"),
    )
    .set_hint(EXAMPLE)
}

pub(super) fn second_scheme(argument: &str) -> SqlError {
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("simhash_trigger has a second scheme: \"{}\"", quote(argument)),
    )
    .set_hint("Give one scheme, or none for the default.")
}

pub(super) fn no_such_column(column: &str, table: &str) -> SqlError {
    error::no_such_column(column, table).set_detail("simhash_trigger was told to use it.").set_hint(
        match column.parse::<Scheme>() {
            Ok(_) => "A scheme is written as 'scheme=word:3'.",
            Err(_) => "Names are taken as written in the trigger's arguments, with upper and lower case.",
        },
    )
}

pub(super) fn target_type(column: &str, type_name: &str) -> SqlError {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("column \"{}\" has type {}, not bigint", quote(column), quote(type_name)),
    )
    .set_detail("The first argument of simhash_trigger names the column that receives the fingerprint.")
    .set_hint(EXAMPLE)
}

pub(super) fn source_type(column: &str, type_name: &str) -> SqlError {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("column \"{}\" has type {}, not text", quote(column), quote(type_name)),
    )
    .set_hint(
        "For a column of another type use a generated column with simhash(column::text), \
        if that cast is immutable.",
    )
}

pub(super) fn generated_target(column: &str) -> SqlError {
    report(
        Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        format!("simhash_trigger cannot set generated column \"{}\"", quote(column)),
    )
    .set_hint("Name a plain bigint column, or drop the trigger if the column is generated from simhash.")
}

pub(super) fn generated_column(column: &str) -> SqlError {
    report(
        Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        format!("simhash_trigger cannot use generated column \"{}\"", quote(column)),
    )
    .set_detail("Generated columns are computed after BEFORE triggers have run.")
    .set_hint("Name the columns that it is generated from.")
}

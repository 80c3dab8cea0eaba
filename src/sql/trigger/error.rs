//! Errors of `simhash_trigger`. The row is not written then.

use crate::pg::error;
use crate::pg::report::{SqlError, quote, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use text::features::Scheme;

const EXAMPLE: &str = "CREATE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON document \
    FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'title', 'body');";

/// A trigger that was not created as it has to be.
pub(super) fn misfired(fault: &str) -> SqlError {
    cannot(format!("simhash_trigger {fault}")).set_hint(EXAMPLE)
}

fn cannot(message: impl Into<String>) -> SqlError {
    report(Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, message)
}

pub(super) fn too_few_arguments(given: usize) -> SqlError {
    let message =
        format!("simhash_trigger requires a target column and at least one text column, not {given} names");
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message).set_hint(EXAMPLE)
}

pub(super) fn second_scheme(argument: &str) -> SqlError {
    let message = format!("fingerprint scheme specified more than once: \"{}\"", quote(argument));
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message)
        .set_hint("Specify one scheme, or none to use the default.")
}

/// The table may have a column with the name in other letters, upper or lower case.
pub(super) fn no_such_column(column: &str, table: &str, differs_by_case: bool) -> SqlError {
    error::no_such_column(column, table).set_detail("It is an argument of simhash_trigger.").set_hint(
        match column.parse::<Scheme>() {
            Ok(_) => "To specify a scheme, write 'scheme=word:3'.",
            Err(_) if differs_by_case => "Column names in the arguments of a trigger are case-sensitive.",
            Err(_) => "If the column was renamed, drop the trigger and create it again with the new name.",
        },
    )
}

pub(super) fn target_type(column: &str, type_name: &str) -> SqlError {
    error::column_type(column, type_name, "bigint")
        .set_detail("The first argument of simhash_trigger names the column that receives the fingerprint.")
        .set_hint(EXAMPLE)
}

pub(super) fn source_type(column: &str, type_name: &str) -> SqlError {
    error::column_type(column, type_name, "text").set_hint(
        "For a column of another type, use a column generated from simhash(column::text), \
        if that cast is immutable.",
    )
}

pub(super) fn generated_target(column: &str) -> SqlError {
    cannot(format!("simhash_trigger cannot set generated column \"{}\"", quote(column))).set_hint(
        "Use an ordinary bigint column, or drop the trigger if the column is generated from simhash.",
    )
}

pub(super) fn generated_column(column: &str) -> SqlError {
    cannot(format!("simhash_trigger cannot use generated column \"{}\"", quote(column)))
        .set_detail("Generated columns are computed after BEFORE triggers have run.")
        .set_hint("Use the columns from which it is generated.")
}

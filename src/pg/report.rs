//! Errors and notices for the client.

use super::settings::database_encoding;
use base::{Problem, ProblemKind};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, pg_sys};

/// An error that will be sent to the client.
pub(crate) type SqlError = ErrorReport;

/// An error with a code and a message, to which detail and hint can be added.
pub(crate) fn report(code: Code, message: impl Into<String>) -> SqlError {
    ErrorReport::new(code, message.into(), "simhash_pg")
}

/// Sends the client a NOTICE.
pub(crate) fn notice(message: &str, hint: &str) {
    report(Code::ERRCODE_SUCCESSFUL_COMPLETION, message).set_hint(hint).report(PgLogLevel::NOTICE);
}

/// The error for a problem that an algorithm has returned.
pub(crate) fn problem(problem: impl Into<Problem>) -> SqlError {
    let Problem { kind, message, detail, hint } = problem.into();
    let mut error = report(code_of(kind), in_database_encoding(message));
    if let Some(detail) = detail {
        error = error.set_detail(in_database_encoding(detail));
    }
    match hint {
        Some(hint) => error.set_hint(in_database_encoding(hint)),
        None => error,
    }
}

fn code_of(kind: ProblemKind) -> Code {
    match kind {
        ProblemKind::InvalidValue => Code::ERRCODE_INVALID_PARAMETER_VALUE,
        ProblemKind::InvalidText => Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
        ProblemKind::TooLarge => Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        ProblemKind::OutOfMemory => Code::ERRCODE_OUT_OF_MEMORY,
    }
}

/// A user's text for a message: shortened, and in characters that the database has.
pub(crate) fn quote(text: &str) -> String {
    in_database_encoding(Problem::quote(text))
}

/// Messages are not converted to the client's encoding: in a database not in UTF-8 they are ASCII.
fn in_database_encoding(text: String) -> String {
    if database_encoding() == pg_sys::pg_enc::PG_UTF8 { text } else { escaped(&text) }
}

/// The text with every character outside ASCII replaced by an escape.
fn escaped(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii() { c.to_string() } else { c.escape_unicode().to_string() }).collect()
}

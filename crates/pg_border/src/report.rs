//! Errors and notices for the client.

use super::settings::database_encoding;
use base::{OutOfMemory, Problem, ProblemKind, grow_text};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::{ErrorReport, ErrorReportable};
use pgrx::{PgLogLevel, pg_sys};

/// An error that will be sent to the client. A [`Problem`] that an algorithm returns becomes one by `?`.
#[derive(Debug)]
pub struct SqlError(ErrorReport);

impl SqlError {
    /// The primary message.
    pub fn message(&self) -> &str {
        self.0.message()
    }

    /// The error with a DETAIL, a complete sentence.
    pub fn set_detail(self, detail: impl Into<String>) -> Self {
        Self(self.0.set_detail(detail))
    }

    /// The error with a HINT, a complete sentence.
    pub fn set_hint(self, hint: impl Into<String>) -> Self {
        Self(self.0.set_hint(hint))
    }
}

impl<P: Into<Problem>> From<P> for SqlError {
    fn from(problem: P) -> Self {
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
}

/// The result of a function that cannot return an error, such as a callback of PostgreSQL.
pub trait UnwrapOrReport<T> {
    /// Returns the value, or ends the statement with the error.
    fn unwrap_or_report(self) -> T;
}

impl<T, E: Into<SqlError>> UnwrapOrReport<T> for Result<T, E> {
    fn unwrap_or_report(self) -> T {
        self.map_err(|error| error.into().0).unwrap_or_report()
    }
}

/// An error with a code and a message, to which detail and hint can be added.
pub fn report(code: Code, message: impl Into<String>) -> SqlError {
    SqlError(ErrorReport::new(code, message.into(), "simhash_pg"))
}

/// Sends the client a NOTICE.
pub fn notice(message: &str, hint: &str) {
    report(Code::ERRCODE_SUCCESSFUL_COMPLETION, message).set_hint(hint).0.report(PgLogLevel::NOTICE);
}

/// Sends the client an INFO, which is shown whatever the settings are.
pub fn info(code: Code, message: impl Into<String>) {
    report(code, message).0.report(PgLogLevel::INFO);
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
pub fn quote(text: &str) -> String {
    in_database_encoding(Problem::quote(text))
}

/// Messages are not converted to the client's encoding: in a database not in UTF-8 they are ASCII.
fn in_database_encoding(text: String) -> String {
    if database_encoding() == pg_sys::pg_enc::PG_UTF8 { text } else { escape(&text).unwrap_or_default() }
}

/// The text with every character outside ASCII replaced by an escape.
pub(super) fn escape(text: &str) -> Result<String, OutOfMemory> {
    let mut escaped = String::new();
    for c in text.chars() {
        grow_text(&mut escaped, MOST_OF_ESCAPE)?;
        if c.is_ascii() { escaped.push(c) } else { escaped.extend(c.escape_unicode()) }
    }
    Ok(escaped)
}

/// The longest escape of a character is `\u{10ffff}`.
const MOST_OF_ESCAPE: usize = 10;

//! Why there is no result, in the words that a user reads.

use crate::OutOfMemory;
use std::fmt::{self, Display};

/// Characters of a user's own text that a message repeats.
const QUOTED: usize = 64;

/// The sort of a problem; the extension gives each an SQLSTATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A parameter has a value that it may not have.
    InvalidValue,
    /// A text does not have the form in which it can be read.
    InvalidText,
    /// A number lies outside of what 64 bits can hold.
    InvalidNumber,
    /// The input, or the result, is larger than the algorithm allows.
    TooLarge,
    /// The memory that the work takes cannot be had.
    OutOfMemory,
}

/// Why there is no result.
///
/// Message, detail and hint follow PostgreSQL's style: the message begins in lower case and has no full stop,
/// the detail and the hint are sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The sort of problem, which decides the SQLSTATE.
    pub kind: ProblemKind,
    /// What is wrong, with the actual values.
    pub message: String,
    /// A sentence that helps to understand the message, such as the valid values.
    pub detail: Option<String>,
    /// A sentence that says what the user can do.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem of this kind, without detail and hint.
    pub fn new(kind: ProblemKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), detail: None, hint: None }
    }

    /// A parameter has a value outside its range.
    pub fn out_of_range(name: &str, value: impl Display, min: impl Display, max: impl Display) -> Self {
        let value = Self::quote(&value.to_string());
        Self::new(ProblemKind::InvalidValue, format!("{name} {value} is out of range"))
            .with_detail(format!("Valid values are {min} to {max}."))
    }

    /// A parameter's value is a name, and is not among the names that it may have.
    pub fn unknown(name: &str, value: &str, hint: impl Into<String>) -> Self {
        let message = format!("unknown {name} \"{}\"", Self::quote(value));
        Self::new(ProblemKind::InvalidValue, message).with_hint(hint)
    }

    /// Adds the detail.
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }

    /// Adds the hint.
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// A text of the user's in the form in which a message repeats it: its first 64 characters, and dots if
    /// it is longer.
    pub fn quote(text: &str) -> String {
        match text.char_indices().nth(QUOTED) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text.to_owned(),
        }
    }
}

impl Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl From<OutOfMemory> for Problem {
    fn from(OutOfMemory(bytes): OutOfMemory) -> Self {
        Self::new(ProblemKind::OutOfMemory, "out of memory")
            .with_detail(format!("Failed on a request of {bytes} bytes."))
    }
}

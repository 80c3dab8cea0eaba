//! Problems: why there is no result, in words for the user.

use crate::OutOfMemory;
use std::fmt::Display;

/// The most characters of a user's text that a message repeats.
const QUOTED: usize = 64;

/// The kind of a problem. The extension has an SQLSTATE for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A parameter has a value that is not allowed.
    InvalidValue,
    /// A text cannot be parsed.
    InvalidText,
    /// The input, or the result, is larger than the algorithm allows.
    TooLarge,
    /// Memory was refused.
    OutOfMemory,
}

/// Why there is no result.
///
/// Message, detail and hint follow PostgreSQL's style: the message begins in lower case and has no full stop,
/// the detail and the hint are sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of the problem, which decides the SQLSTATE.
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

    /// The problem of a parameter whose value is outside its range.
    pub fn out_of_range(name: &str, value: impl Display, min: impl Display, max: impl Display) -> Self {
        let value = Self::quote(&value.to_string());
        Self::new(ProblemKind::InvalidValue, format!("{name} {value} is out of range"))
            .with_detail(format!("Valid values are {min} to {max}."))
    }

    /// The problem of a parameter whose value is a name that is not allowed.
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

    /// A user's text as a message repeats it: its first 64 characters, followed by dots if it is longer.
    pub fn quote(text: &str) -> String {
        match text.char_indices().nth(QUOTED) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text.to_owned(),
        }
    }
}

impl From<OutOfMemory> for Problem {
    fn from(OutOfMemory(bytes): OutOfMemory) -> Self {
        Self::new(ProblemKind::OutOfMemory, "out of memory")
            .with_detail(format!("Failed on a request of {bytes} bytes."))
    }
}

//! Why there is no result, in the words that a user reads.

use crate::OutOfMemory;
use std::fmt::{self, Display};

/// Characters of a user's own text that a message repeats.
const QUOTED: usize = 64;

/// What sort of problem it is; the extension gives each an SQLSTATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A parameter has a value that it may not have.
    InvalidValue,
    /// A text is not written as it must be to be read.
    InvalidText,
    /// A number lies outside of what 64 bits can hold.
    InvalidNumber,
    /// The input, or the result, is larger than the algorithm allows.
    TooLarge,
    /// There is no memory.
    OutOfMemory,
}

/// Why there is no result.
///
/// Message, detail and hint follow PostgreSQL's style: the message begins in lower case and has no full stop,
/// the detail and the hint are sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What sort of problem it is.
    pub kind: Kind,
    /// What is wrong, with the values.
    pub message: String,
    /// What else helps to understand it.
    pub detail: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem of this kind, without detail and hint.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), detail: None, hint: None }
    }

    /// A parameter has a value outside its range.
    pub fn out_of_range(name: &str, value: impl Display, min: impl Display, max: impl Display) -> Self {
        let value = Self::quote(&value.to_string());
        Self::new(Kind::InvalidValue, format!("{name} {value} is out of range"))
            .with_detail(format!("Valid values are {min} to {max}."))
    }

    /// A parameter has a value that is not among those with a name.
    pub fn unknown(name: &str, value: &str, hint: impl Into<String>) -> Self {
        let message = format!("unknown {name} \"{}\"", Self::quote(value));
        Self::new(Kind::InvalidValue, message).with_hint(hint)
    }

    /// Adds the detail.
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }

    /// Adds the hint.
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// A text of the user's as a message may repeat it: cut, if it is long.
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
        Self::new(Kind::OutOfMemory, "out of memory")
            .with_detail(format!("Failed on a request of {bytes} bytes."))
    }
}

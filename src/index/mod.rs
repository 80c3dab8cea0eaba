//! The indexes: what PostgreSQL requires of an access method or an operator class.
//!
//! - [`hamming`]: the access method for codes
//! - [`gist`]: the operator class of GiST for codes
//! - [`gin`]: the operator class of GIN for sketches
#![forbid(unsafe_code)]

pub(crate) mod gin;
pub(crate) mod gist;
pub(crate) mod hamming;

pub(crate) use hamming::register;

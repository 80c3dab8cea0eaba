//! The indexes: what PostgreSQL asks of an access method or of an operator class.
//!
//! - [`hamming`]: the access method of codes
//! - [`gist`]: the operator class of codes for GiST
//! - [`gin`]: the operator class of sketches for GIN

pub(crate) mod gin;
pub(crate) mod gist;
pub(crate) mod hamming;

pub(crate) use hamming::register;

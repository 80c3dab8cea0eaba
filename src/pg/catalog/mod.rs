//! What the catalog says of our functions, operators and types.
//!
//! - [`names`]: their numbers (OIDs)
//! - [`ours`]: whether an object that somebody names is really ours
//! - [`sketches`]: those of the functions on sketches
//! - [`strategy`]: the numbers that operators have in our operator classes

pub(crate) mod names;
pub(crate) mod ours;
pub(crate) mod sketches;
pub(crate) mod strategy;

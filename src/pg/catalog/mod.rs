//! What the catalog says of our functions, operators and types.

/// Their numbers (OIDs).
pub(crate) mod names;
/// Whether an object that somebody names is really ours.
pub(crate) mod ours;
/// The numbers that operators have in our operator classes.
pub(crate) mod strategy;

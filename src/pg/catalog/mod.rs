//! What the catalog says of our functions, operators and types.
//!
//! - [`lookup`]: finds an object by its name
//! - [`oids`]: the numbers (OIDs) of all that the planner needs
//! - [`ours`]: whether an object that somebody names is really ours
//! - [`sketch_oids`]: the numbers of the functions on sketches
//! - [`strategy`]: the numbers that operators have in our operator classes

mod lookup;
pub(crate) mod oids;
pub(crate) mod ours;
pub(crate) mod sketch_oids;
pub(crate) mod strategy;

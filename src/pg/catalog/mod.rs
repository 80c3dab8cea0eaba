//! Reads the catalog: our functions, operators and types.

pub(crate) mod families;
mod lookup;
pub(crate) mod oids;
pub(crate) mod ours;
pub(crate) mod sketch_oids;
pub(crate) mod strategy;

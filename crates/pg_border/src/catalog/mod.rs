//! Reads the catalog: our functions, operators and types.

pub mod families;
mod lookup;
pub mod oids;
pub mod operator_classes;
pub mod ours;
pub mod sketch_oids;
pub mod strategy;

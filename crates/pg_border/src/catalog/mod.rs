//! Reads the catalog: functions, operators and types.

pub mod families;
pub(crate) mod lookup;
pub mod operator_classes;
pub mod ours;

pub use crate::extension::{oids, sketch_oids, strategy};

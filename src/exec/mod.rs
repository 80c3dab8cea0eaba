//! What PostgreSQL's executor runs for us.
//!
//! - [`near_join`]: the node that joins two relations by distance
#![forbid(unsafe_code)]

pub(crate) mod near_join;

//! What every algorithm may say to its caller.
//!
//! - [`Problem`]: why there is no result, worded once, for whoever shows it to a user
//! - [`Limit`]: the values that a parameter may have
//! - [`OutOfMemory`], [`reserve`], [`push`], [`collect`]: memory that may not be there
//! - [`Heartbeat`]: long work reports that it is alive, and can be stopped

#![forbid(unsafe_code)]

mod heartbeat;
mod limit;
mod memory;
mod problem;

pub use heartbeat::{Heartbeat, sort};
pub use limit::Limit;
pub use memory::{OutOfMemory, collect, push, reserve};
pub use problem::{Kind, Problem};

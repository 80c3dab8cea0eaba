//! What every algorithm may say to its caller.
//!
//! - [`Problem`]: why there is no result, worded once, for whoever shows it to a user
//! - [`Limit`]: the values that a parameter may have
//! - [`OutOfMemory`], [`reserve`], [`grow`], [`push`], [`extend`], [`collect`]: memory that may not be there
//! - [`ask`], [`may_be_refused`]: which requests for memory may be refused
//! - [`Heartbeat`]: long work reports that it is alive, and can be stopped

#![forbid(unsafe_code)]

mod heartbeat;
mod limit;
mod memory;
mod problem;

pub use heartbeat::{Heartbeat, sort};
pub use limit::Limit;
pub use memory::{
    Collector, OutOfMemory, ask, collect, extend, grow, grow_map, grow_queue, grow_text, may_be_refused,
    push, reserve, reserve_text,
};
pub use problem::{Problem, ProblemKind};

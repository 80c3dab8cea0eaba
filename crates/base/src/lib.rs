//! Types that every algorithm uses: a [`Problem`] for the user; the [`Limit`] of a parameter;
//! [`OutOfMemory`], if a request for memory is refused; and a [`Heartbeat`], by which long work can be
//! stopped.

#![forbid(unsafe_code)]

mod heartbeat;
mod limit;
mod memory;
mod problem;
#[cfg(feature = "steering")]
pub mod steering;

pub use heartbeat::{Heartbeat, beat_every, copied, fill, filled, pieces, sort};
pub use limit::{Limit, choose, greatest_common_divisor};
pub use memory::{
    Collector, OutOfMemory, ask, collect, extend, grow, grow_map, grow_text, may_be_refused, push, reserve,
    reserve_text,
};
pub use problem::{Problem, ProblemKind};

//! Text that stands in two places: the passages themselves, and hashes by which an index finds texts that
//! may share a passage.

mod agreement;
pub mod headline;
pub mod recursive;
pub mod repeats;
mod rows;
mod search;
mod shared;
mod sketch;
mod table;
mod windows;

pub use shared::{MAX_PASSAGES, MIN_LENGTH, Passage, shared_passages};
pub use sketch::passage_sketch;

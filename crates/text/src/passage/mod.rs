//! Text that occurs in two places: the passages themselves, and hashes by which an index finds texts that may
//! share a passage.

mod agreement;
pub mod headline;
pub mod recursive;
pub mod repeats;
mod shared;

pub use recursive::passage_sketch;
pub use shared::{MAX_PASSAGES, MIN_LENGTH, Passage, shared_passages};

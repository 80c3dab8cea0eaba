//! Fingerprints: 64 bits for each text. The fingerprints of similar texts differ in few bits.

mod bit_counts;
pub mod differences;
mod distinct;
pub(crate) mod doc2;
pub mod explain;
mod simhash;
pub mod spelling;
pub mod weighted;

pub use simhash::SimHasher;

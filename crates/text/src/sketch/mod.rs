//! Sketches: sets of hashes that represent texts. Texts that share a passage share some of their values.

pub mod heintze;
pub mod manber;
pub mod minhash;
pub mod overlap;
pub mod rarity;
mod sample;
pub mod sizes;
mod sort;
pub mod threshold;
pub mod versions;
mod vocabulary;
pub mod winnow;

pub use sample::MAX_VALUES;
pub(crate) use sample::SketchSample;

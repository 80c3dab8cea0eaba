//! Fingerprints and sketches by which near-duplicate texts are found.
//!
//! Pure algorithms: no Postgres, no `unsafe`, no global state. The extension `simhash_pg` puts them
//! into SQL.
//!
//! ```
//! use simhash_core::{SimHasher, hamming};
//!
//! let mut hasher = SimHasher::default();
//! let mut of = |text: &str| hasher.fingerprint(text, "char:4".parse().unwrap(), &mut || ());
//! let a = of("The quick brown fox jumps over the lazy dog").unwrap();
//! let b = of("The quick brown fox jumped over the lazy dog").unwrap();
//! assert!(hamming::distance(a, b) < 20);
//! assert_eq!(of(""), None);
//! ```

#![forbid(unsafe_code)]

mod addresses;
mod batch;
mod bit_counts;
mod buckets;
pub mod calibration;
mod char_shingles;
pub mod clusters;
mod common_crawl;
mod distinct;
mod error;
pub mod explain;
pub mod hamming;
pub mod heintze;
pub mod html;
pub mod manber;
pub mod minhash;
pub mod near_pairs;
pub mod passages;
pub mod recursive;
mod rolling;
pub mod sample;
mod scheme;
mod simhash;
mod sink;
pub mod sketch;
pub mod spelling;
pub mod weighted;
pub mod winnow;
mod words;

pub use error::{OutOfMemory, OutOfRange};
pub use scheme::{DESCRIPTIONS, Description, EXAMPLE, MAX_SHINGLE, Scheme, SchemeError};
pub use simhash::SimHasher;

//! Fingerprints and sketches by which near-duplicate texts are found, and the passages that texts share.
//!
//! Pure algorithms: no Postgres, no `unsafe`, and no state that changes a result. The extension `simhash_pg`
//! puts them into SQL.
//!
//! - [`features`]: what a text consists of, by a named [`Scheme`](features::Scheme)
//! - [`fingerprint`]: 64 bits for a text, what they come from, and how they are written
//! - [`sketch`]: sets of hashes that represent a text
//! - [`passage`]: text that is in two places
//! - [`html`]: the text of a document
//!
//! ```
//! use text::fingerprint::SimHasher;
//!
//! let mut hasher = SimHasher::default();
//! let mut of = |text: &str| hasher.fingerprint(text, "char:4".parse().unwrap(), &mut || ()).unwrap();
//! let a = of("The quick brown fox jumps over the lazy dog").unwrap();
//! let b = of("The quick brown fox jumped over the lazy dog").unwrap();
//! assert!((a ^ b).count_ones() < 20);
//! assert_eq!(of(""), None);
//! ```

#![forbid(unsafe_code)]

pub mod features;
pub mod fingerprint;
mod hash;
pub mod html;
pub mod passage;
pub mod sketch;

//! Fingerprints and sketches of texts, which find near-duplicates, and the passages that texts share.
//!
//! Pure algorithms: no PostgreSQL, no `unsafe`, and no state that changes a result. The extension
//! `simhash_pg` makes them available in SQL.
//!
//! - [`features`]: the features of a text by a named [`Scheme`](features::Scheme)
//! - [`fingerprint`]: 64 bits for a text, explanations of them, and their text forms
//! - [`sketch`]: sets of hashes that represent a text
//! - [`passage`]: text that occurs in two places
//! - [`html`]: the text of an HTML document
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
#[cfg(test)]
mod steered;

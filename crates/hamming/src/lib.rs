//! Fingerprints as numbers of 64 bits: how far apart they are, which are near one another, and what distances
//! mean.
//!
//! Pure algorithms: no Postgres, no text, no `unsafe`, no global state.
//!
//! - [`distance()`], [`within`], [`similarity`] and the radii that comparisons stand for
//! - [`codes`]: the same for strings of any number of bits
//! - [`code_text`]: such strings in hexadecimal digits and in base64
//! - [`words`]: the same cut into words, for the algorithms below
//! - [`near_pairs`]: all pairs within a radius, without comparing each with each
//! - [`clusters`]: which rows are versions of one another, and which of them is kept
//! - [`calibration`]: which radius suits a table
//! - [`kernel`]: the loop that compares one fingerprint with many, for these and for indexes
//!
//! ```
//! assert_eq!(hamming::distance(0b1100, 0b1010), 2);
//! assert!(hamming::within(0b1100, 0b1010, 2));
//! assert_eq!(hamming::radius(0.90).unwrap(), 6);
//! ```

#![forbid(unsafe_code)]

mod buckets;
pub mod calibration;
pub mod clusters;
pub mod code_text;
pub mod codes;
mod distance;
pub mod kernel;
pub mod near_pairs;
pub mod words;

pub use distance::{BITS, RADIUS, distance, radius, radius_below, similarity, within};

//! Codes: how far apart they are, which are near one another, and what distances mean.
//!
//! Pure algorithms: no Postgres, no text, no `unsafe`, and no state that changes a result.
//!
//! - [`code`]: what a code is, its bits, bytes and words; distance, similarity and radius
//! - [`code_text`]: codes in hexadecimal digits
//! - [`near_pairs`]: all pairs within a radius, without comparing each with each
//! - [`clusters`]: which rows are versions of one another, and which of them is kept
//! - [`queries`]: some codes compared with every row of a table
//! - [`histogram`]: how far apart the codes of a table are
//! - [`hash`]: a number that looks random
//! - [`kernel`]: the loop that compares one word with many, for these and for indexes
//!
//! ```
//! assert_eq!(hamming::distance(0b1100, 0b1010), 2);
//! assert!(hamming::within(0b1100, 0b1010, 2));
//! assert_eq!(hamming::code::radius(0.90, hamming::BITS).unwrap(), 6);
//! ```

#![forbid(unsafe_code)]

mod buckets;
pub mod clusters;
pub mod code;
pub mod code_text;
pub mod hash;
pub mod histogram;
pub mod kernel;
pub mod near_pairs;
pub mod queries;

pub use code::{BITS, distance, within};

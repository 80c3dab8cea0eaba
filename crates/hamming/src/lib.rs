//! Codes: their distances, near pairs and clusters of codes, and what distances mean in a table.
//!
//! Pure algorithms: no PostgreSQL, no text, no `unsafe`, and no state that changes a result.
//!
//! - [`code`]: the forms of a code: bits, bytes and words; distance, similarity and radius
//! - [`code_text`]: codes in hexadecimal digits
//! - [`cut_table`]: many codes of one length as words
//! - [`near_pairs`]: all pairs within a radius, without comparing all codes with all
//! - [`clusters`]: which rows are versions of one another, and which of them to keep
//! - [`queries`]: comparisons of some codes with every row of a table
//! - [`histogram`]: the distances between the codes of a table
//! - [`hash`]: a hash that looks random
//! - [`kernel`]: the loops that compare one word or one code with many, used here and in indexes
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
pub mod cut_table;
pub mod hash;
pub mod histogram;
pub mod kernel;
pub mod near_pairs;
pub mod queries;
#[cfg(test)]
mod steered;

pub use code::{BITS, distance, within};

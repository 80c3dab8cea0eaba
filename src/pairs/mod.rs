//! `sql/pairs.sql`: which rows of a table are near-duplicates of which.

mod clusters;
mod error;
mod near_pairs;
mod row_codes;
mod window;

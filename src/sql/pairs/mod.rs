//! `sql/pairs.sql`: which rows of a table are near-duplicates of which.

mod blocks;
mod clusters;
mod error;
mod row_codes;
mod window;

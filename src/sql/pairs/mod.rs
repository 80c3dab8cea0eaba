//! `sql/pairs.sql`: near pairs and clusters of the rows of a table.

mod blocks;
mod clusters;
mod error;
mod window;

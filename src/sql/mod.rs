//! The functions that users call, one file for each topic. Files of the same names in `sql/` declare them.

mod code;
mod differences;
mod explain;
mod histogram;
mod html;
mod minhash;
mod pairs;
mod passage;
mod rarity;
mod simhash;
mod sketch;
mod spelling;
mod trigger;
mod weighted;

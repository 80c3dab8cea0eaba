//! The functions that users call, a file for each topic. The file of the same name in `sql/` declares them.
#![forbid(unsafe_code)]

mod code;
mod differences;
mod explain;
mod histogram;
mod html;
mod minhash;
mod pairs;
mod passage;
mod rare_code;
mod rarity;
mod simhash;
mod sketch;
mod spelling;
mod trigger;
mod weighted;

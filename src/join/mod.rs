//! The near join: a join on `hamming_within(a, b, radius)` as one node of a plan, set at a time.
//!
//! A nested loop searches an index once for each row of one side. This node keeps the codes of the inner side
//! in memory, and compares them with those of many outer rows at once, as `crates/hamming` finds near pairs.
//!
//! 1. PostgreSQL asks for further ways to join two relations ([`hook`]). If a condition is on a distance
//!    between them ([`condition`]), the near join is proposed with what it costs ([`path`](mod@path)).
//! 2. If it is the cheapest, it becomes a node of the plan, a `CustomScan` ([`plan`]).
//! 3. The executor begins the node, asks it for rows, begins it again and ends it ([`node`]).
//!    [`run`] goes from stage to stage. [`read`] reads a chunk of the inner side, as much as memory
//!    may have, and batches of the outer side, each of which is larger than the last. [`pairs`]
//!    finds the near pairs of a batch and the chunk, and [`partners`], for semi and anti joins,
//!    which outer rows have one. [`output`] returns the rows. If memory has no room for the inner
//!    side, both are divided into files by their codes, and joined part by part ([`division`],
//!    [`file`](mod@file)). Sketches are not divided: the outer side is read once for each chunk of the inner
//!    one, from a temporary file.
//! 4. EXPLAIN shows the condition and the work ([`explain`]).
//!
//! [`by_inner`] proposes a plan of PostgreSQL's own nodes for EXISTS with few inner rows. [`kind`] has the
//! kinds of joins, [`look`] the conditions on distances, [`side`] the rows and codes of one side in memory,
//! and [`rows`] the rows alone.

mod by_inner;
mod condition;
mod division;
mod explain;
mod file;
mod hook;
mod kind;
mod look;
mod measure;
mod node;
mod output;
mod pairs;
mod partners;
mod path;
mod plan;
mod read;
mod rows;
mod run;
mod side;
mod sketches;

pub(crate) use hook::install_hook;

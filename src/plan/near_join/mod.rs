//! The near join: a plan node that joins rows by `hamming_within(a, b, radius)` for many rows at once.
//!
//! A nested loop searches an index for each row of one side. This node keeps the codes of the inner side in
//! memory, and compares them with the codes of many outer rows at once, as `crates/hamming` finds near pairs.
//!
//! 1. PostgreSQL asks for further paths to join two relations ([`hook`]). If a condition is on a distance
//!    between them ([`condition`]), the near join is proposed with its cost ([`path`](mod@path)).
//! 2. If it is the cheapest path, it becomes a node of the plan, a `CustomScan` ([`plan`]).
//! 3. The executor starts the node, asks it for rows, restarts it and ends it ([`node`]). [`run`] is the loop
//!    that calls the four parts. [`inputs`] reads both children ([`reader`]): the inner side, and then the
//!    outer side in batches of growing size. A [`batch`] has the rows that are in memory. [`finder`] finds
//!    its near pairs, and [`output`] returns rows. If memory has no room for the inner side, both sides are
//!    written to files and divided by their codes ([`division`], [`file`](mod@file), [`record`]), and each
//!    round reads some of the inner side. The processes of a parallel plan share the files, and each takes
//!    some of the work ([`shared`], [`summary`]).
//! 4. EXPLAIN shows the conditions and the work ([`explain`]).
//!
//! [`by_inner`] proposes a plan of PostgreSQL's own nodes for EXISTS with few inner rows, and
//! [`never_analysed`] one for a small outer table. [`kind`] has the types of joins, [`stored`] what a plan
//! stores, [`side`] the rows and codes of one side in memory, [`rows`] its rows, [`partners`] the sets of
//! rows that have a partner, and [`memory`](mod@memory) the limits of memory.

mod batch;
mod by_inner;
mod condition;
mod division;
mod explain;
mod file;
mod finder;
mod hook;
mod inputs;
mod kind;
mod memory;
mod never_analysed;
mod node;
mod output;
mod partners;
mod path;
mod plan;
mod reader;
mod record;
mod rows;
mod run;
mod shared;
mod side;
mod stored;
mod summary;

pub(crate) use hook::install_hook;

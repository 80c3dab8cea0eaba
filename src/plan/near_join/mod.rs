//! The near join: a join on `hamming_within(a, b, radius)` as one node of a plan, set at a time.
//!
//! A nested loop searches an index once for each row of one side. This node keeps the codes of the inner side
//! in memory, and compares them with those of many outer rows at once, as `crates/hamming` finds near pairs.
//!
//! 1. PostgreSQL asks for further ways to join two relations ([`hook`]). If a condition is on a distance
//!    between them ([`condition`]), the near join is proposed with what it costs ([`path`](mod@path)).
//! 2. If it is the cheapest, it becomes a node of the plan, a `CustomScan` ([`plan`]).
//! 3. The executor begins the node, asks it for rows, begins it again and ends it ([`node`]).
//!    [`run`] is the loop between the four parts that do the work. [`inputs`] reads both children
//!    ([`reader`]): the inner side for a round, and then batches of the outer side, each of which is
//!    larger than the last. The rows are in a [`batch`]. [`finder`] finds its near pairs, and [`output`]
//!    returns rows. If memory has no room for the inner side, both are written to files and divided by
//!    their codes ([`division`], [`file`](mod@file), [`record`]). Sketches are not divided: the outer
//!    side is read once for each round, from a [`copy`].
//!    The processes of a parallel plan share the files, and take parts of the work from one another
//!    ([`shared`], [`summary`]).
//! 4. EXPLAIN shows the condition and the work ([`explain`]).
//!
//! [`by_inner`] proposes a plan of PostgreSQL's own nodes for EXISTS with few inner rows, and
//! [`never_analysed`] one with a small outer table. [`kind`] has the kinds of joins, [`kept`] what a plan
//! keeps, [`side`] the rows and codes of one side in memory, [`rows`] the rows alone, [`partners`] which rows
//! have one, and [`memory`](mod@memory) who may take how much.

mod batch;
mod by_inner;
mod condition;
mod copy;
mod division;
mod explain;
mod file;
mod finder;
mod hook;
mod inputs;
mod kept;
mod kind;
mod measure;
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
mod sketches;
mod summary;

pub(crate) use hook::install_hook;

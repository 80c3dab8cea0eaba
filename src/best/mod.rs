//! The best sketches: `ORDER BY sketch_similarity(sketch, $1) DESC LIMIT 10` by an index, as a node of a
//! plan.
//!
//! An index with `sketch_ops` finds the sketches that reach a share, but in no order. This node lets it
//! search for a large share first, and for smaller ones as long as more rows are asked for. So the rows come
//! in the order that was asked for, and the work depends on how many are. The passes are those of
//! `crates/text/src/sketch/descent.rs`.
//!
//! 1. PostgreSQL asks for further ways to read a table ([`hook`]). If the query sorts it by falling shares
//!    and an index can search for them ([`order`]), the node is proposed with what it costs
//!    ([`path`](mod@path)).
//! 2. If it is the cheapest, it becomes a node of the plan, a `CustomScan` ([`plan`]). It has two children.
//!    The first one is a Sort of an ordinary scan by the index. The second one reads the table for rows that
//!    no index finds. Both apply all other conditions of the query.
//! 3. The executor begins the node, asks it for rows, begins it again and ends it ([`node`]). For each pass
//!    the node gives the index another share to search for, and leaves out the rows of the passes before
//!    ([`rows`]).
//!
//! PostgreSQL has no parameter that belongs to a custom node: one that no node above it sets is an error of
//! the planner. So the node writes what is searched for where the scan of the index reads it.
//!
//! An index of our own would have to look up each value of the query too: how many lists have a row decides,
//! and no order within a list says it.

mod hook;
mod node;
mod order;
mod path;
mod plan;
mod rows;

pub(crate) use hook::install_hook;

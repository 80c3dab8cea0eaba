//! The near join as the executor runs it: a node that joins the rows of its two children by their distance.
//!
//! [`node`] has the functions that PostgreSQL calls, and [`run`] the states of a join. A [`reader`] reads
//! rows of both children into the [`batch`], which has both sides in memory; a [`finder`] finds its near
//! pairs, and an [`output`] returns rows. If memory has no room (`src/plan/near_join/memory.rs`), both sides
//! go to files ([`spill`]) and are divided into [`partitions`], which the processes of a parallel plan share
//! ([`shared`]). [`work`] is what is counted, which [`explain`] shows. The rows themselves, in memory and in
//! files, are in [`rows`](super::rows). What the planner has stored is in `src/plan/near_join/stored.rs`. The
//! window function `near_cluster` finds the rows that are near each other by a [`self_join`].

mod batch;
mod explain;
mod finder;
mod node;
mod output;
mod partitions;
mod reader;
mod run;
mod self_join;
mod shared;
mod spill;
mod work;

pub(crate) use node::register;
pub(crate) use self_join::{NearRows, SelfJoin};

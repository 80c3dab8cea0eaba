//! The near join as the executor runs it: a node that joins the rows of its two children by their distance.
//!
//! [`node`] has the functions that PostgreSQL calls, and [`run`] the states of a join. A [`reader`] reads
//! rows of both children into the [`batch`], which has both sides in memory ([`side`]); a
//! [`finder`] finds its near pairs, and an [`output`] returns rows. Each side has a set of its rows that are
//! [`matched`]. If memory has no room (`src/plan/near_join/memory.rs`), both sides go to files ([`spill`],
//! [`file`](mod@file), [`record`], [`summary`]) and are divided into [`partitions`], which the processes of a
//! parallel plan share ([`shared`]). [`explain`] shows the work. What the planner has stored is in
//! `src/plan/near_join/stored.rs`. The window function `near_cluster` keeps its rows in the same form,
//! and [`self_join`] finds those that are near each other.

mod batch;
mod explain;
mod file;
mod finder;
mod matched;
mod node;
mod output;
mod partitions;
mod reader;
mod record;
mod run;
mod self_join;
mod shared;
mod side;
mod spill;
mod summary;
mod work;

pub(crate) use file::RowFile;
pub(crate) use matched::MatchedSet;
pub(crate) use node::register;
pub(crate) use record::{RecordFormat, RecordNumber};
pub(crate) use self_join::{NearRows, SelfJoin};
pub(crate) use side::{CodePlace, JoinSide};
pub(crate) use summary::SideSummary;

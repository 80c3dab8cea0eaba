//! Rows whose codes are compared, in memory and in temporary files, for the near join and for `near_cluster`.
//!
//! A [`JoinSide`] has rows in memory, with their codes apart from their columns. If memory has no room, rows
//! go to a [`RowFile`], in the format of a [`Record`]. A [`SideSummary`] has what is needed to divide them
//! into several files. A [`MatchedSet`] has rows by their numbers. How much memory rows may take is in
//! `src/plan/near_join/memory.rs`, because the planner computes costs with it.

mod file;
mod matched;
mod record;
mod side;
mod summary;

pub(crate) use file::{RowFile, SideFiles};
pub(crate) use matched::MatchedSet;
pub(crate) use record::{Record, RecordFormat, RecordNumber};
pub(crate) use side::{CodePlace, JoinSide};
pub(crate) use summary::SideSummary;

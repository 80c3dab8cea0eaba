//! The clusters of a window's rows, for the window function `near_cluster`.
//!
//! [`run`] has the diagram of the states: rows are collected, decided, and returned with the keys of their
//! keepers. If memory has no room for them, the rows that are not decided yet are in files ([`open_rows`]),
//! of which a search of leaders ([`leaders`]) divides one by its connected components ([`components`]) where
//! it has to. [`decisions`] has the keepers that are known, as numbers of rows, and [`keys`] replaces these
//! by keys. [`form`](mod@form) is what all of them have in common: types, radii and linkage.
//!
//! Rows in memory and in files have the form of those of a near join.

mod components;
mod decisions;
mod form;
mod keys;
mod leaders;
mod open_rows;
mod run;

pub(crate) use form::{ClusterForm, ClusterRadius};
pub(crate) use keys::{KeeperKey, RowKeepers};
pub(crate) use run::ClusterRows;

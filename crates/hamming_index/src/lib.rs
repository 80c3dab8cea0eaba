//! Indexes that find codes by Hamming distance.
//!
//! Pure algorithms: no PostgreSQL, no `unsafe`. The extension `simhash_pg` connects them to PostgreSQL's
//! index access methods. `README.md` of this crate describes how an index is searched, changed and logged,
//! and why that is safe while other processes do the same.
//!
//! - [`BoundingBox`]: bounding boxes, for GiST.
//! - [`Index`]: exact multi-index hashing over pages, for the access method `hamming`. A word of a code is
//!   cut into bands ([`key`]), each of which has a tree of pages ([`page`]). An [`IndexSearch`] reads in each
//!   tree the keys whose band is near the query's.

#![forbid(unsafe_code)]

mod bounds;
pub mod build;
mod change;
mod code_scan;
mod index_search;
pub mod key;
pub mod layout;
mod leaf_path;
pub mod page;
mod pass;
mod probe;
mod query;
pub mod radius_division;
mod results;
pub mod search_cost;
mod sorted;
pub mod store;
mod stretch;
mod survey;
mod tree;
mod vacuum;
mod walk;
mod word_search;

pub use bounds::{BoundingBox, split};
pub use index_search::IndexSearch;
pub use layout::{CodeTrees, Layout};
pub use query::{CodeBall, CodeLookup, SearchCenter, SearchHit, SearchQuery};
pub use stretch::{SharedStretches, StretchAccess};
pub use survey::{Damage, Totals};
pub use tree::Index;

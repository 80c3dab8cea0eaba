//! How indexes find fingerprints by Hamming distance.
//!
//! Pure algorithms: no Postgres, no `unsafe`. The extension `simhash_pg` puts them behind PostgreSQL's
//! index interfaces.

#![forbid(unsafe_code)]

mod bounds;

pub use bounds::{Bounds, split};

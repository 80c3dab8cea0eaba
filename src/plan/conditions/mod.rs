//! `sql/conditions.sql`: lets the planner use an index for a comparison of a distance.
//!
//! A query comes to an index condition in three steps, the same for every type of index:
//!
//! 1. `hamming(a, b)` becomes the operator expression `a <~> b` ([`support`]), which an index can order by.
//! 2. A comparison of `a <~> b` or `hamming_similarity(a, b)` with a number becomes a call of
//!    `hamming_within` ([`rewrite`]). PostgreSQL calls no support function for a comparison, so a planner
//!    hook does this ([`hook`]): at each relation of a query, after the conditions of the query were
//!    simplified and before the planner assigns them to relations.
//! 3. `hamming_within(a, b, radius)` offers the index condition `a <@ hamming_ball(b, radius)`, or
//!    `b <@ hamming_ball(a, radius)` for an index on b ([`support`]). `src/estimate/` estimates the rows and
//!    the cost of this condition.
//!
//! Step 1 loads this library, so the hook of step 2 is there even for the first query of a session. Step 1
//! installs the hook again if another library has replaced it since.
//!
//! The hook calls, in this order:
//!
//! - [`rewrite`] for each list of conditions, to which the hook adds the FILTER of aggregates. It calls
//!   [`comparison`], which brings `a <~> b <= k` and its relatives to one form: two codes are within a
//!   radius. [`line`](mod@line) reads what is computed with a distance.
//! - [`order`], by which `ORDER BY hamming_similarity(a, b) DESC` becomes `ORDER BY a <~> b`.
//! - [`indexes`], which describes the indexes of a relation.
//!
//! PostgreSQL calls the hook only for tables. In a query without tables, a near join reads the comparisons
//! itself (`src/plan/near_join/condition.rs`).
//!
//! Conditions on sketches take the same steps: [`sketches`] rewrites comparisons, and [`sketch_support`]
//! answers the planner's questions.
//!
//! [`expressions`] has what several of these files read and make, and [`radius`] the SQL functions that turn
//! a limit into a radius.

mod comparison;
mod expressions;
mod hook;
mod indexes;
mod line;
mod order;
mod radius;
mod rewrite;
mod sketch_support;
mod sketches;
mod support;

pub(crate) use expressions::Rewritten;
pub(crate) use hook::install_hook;
pub(crate) use rewrite::rewritten_as_call;

//! `sql/conditions.sql`: makes the planner see index conditions in comparisons of distances.
//!
//! Whatever index answers, a query gets there in three steps:
//!
//! 1. `hamming(a, b)` becomes the operator expression `a <~> b` ([`support`]), which an index can order by.
//! 2. A comparison of it, or of `hamming_similarity(a, b)`, with a number becomes `hamming_within(a, b,
//!    radius)` ([`rewrite`]). Postgres asks no support function about a comparison, so this is done in a hook
//!    of the planner ([`hook`]): at each relation of a query, after its conditions were simplified and before
//!    they are handed out to the relations.
//! 3. `hamming_within(a, b, radius)` offers the index condition `a <@ hamming_ball(b, radius)`, and the same
//!    from the other side ([`support`]). How many rows that finds, and what it costs, is worked out in
//!    `src/estimate/`.
//!
//! Step 1 calls this library, so the hook of step 2 is in place even in the first query of a session, and is
//! put back if another library has replaced it since.
//!
//! The hook calls, in this order:
//!
//! - [`rewrite`] for each list of conditions ([`lists`] knows where they are). It asks [`comparison`]
//!   for the radius of `a <~> b <= k`.
//! - [`order`], by which `ORDER BY hamming_similarity(a, b) DESC` becomes `ORDER BY a <~> b`.
//! - [`indexes`], which describes the indexes of a relation.
//!
//! PostgreSQL calls the hook for tables alone. In a query without any, a near join reads the comparisons
//! itself (`src/plan/near_join/condition.rs`).
//!
//! Conditions on sketches take the same steps: [`sketches`] has what the hook makes of them, and
//! [`sketch_support`] the answers about that.
//!
//! All of them meet and make the same [`expressions`]. What PostgreSQL asks our functions is a [`request`].
//! [`radius`] has the SQL functions that turn a limit into a radius.

mod comparison;
mod expressions;
mod hook;
mod indexes;
mod lists;
mod order;
mod radius;
mod request;
mod rewrite;
mod sketch_support;
mod sketches;
mod support;

pub(crate) use expressions::Rewritten;
pub(crate) use hook::install_hook;
pub(crate) use rewrite::called;

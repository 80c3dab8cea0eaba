//! `sql/planner.sql`: makes the planner see index conditions in comparisons of distances.
//!
//! Whatever index answers, a query gets there in three steps:
//!
//! 1. `hamming(a, b)` becomes the operator expression `a <~> b` ([`support`]), which an index can order by.
//! 2. A comparison of it, or of `hamming_similarity(a, b)`, with a number becomes `hamming_within(a, b, radius)`
//!    ([`rewrite`], and [`trial`] if it is computed with). No support function is asked about that shape, so it
//!    is done in a hook of the planner: at the first relation of each query, after its conditions were simplified
//!    and before they are handed out.
//!    Where tables are left out by a distance, the comparison is put back beside it ([`exclusion`]).
//! 3. `hamming_within(a, b, radius)` offers the index condition `a <@ hamming_ball(b, radius)`, and the same
//!    from the other side ([`support`]), and estimates how many rows that are ([`selectivity`]).
//!
//! `ORDER BY hamming_similarity(a, b) DESC` becomes `ORDER BY a <~> b` in the same hook ([`order`]).
//!
//! Step 1 calls this library, so the hook of step 2 is in place even in the first query of a session.

pub(crate) mod cost;
mod exclusion;
mod indexes;
mod names;
pub(crate) mod nodes;
mod order;
mod rewrite;
pub(crate) mod selectivity;
mod support;
mod trial;

pub(crate) use rewrite::install_hook;

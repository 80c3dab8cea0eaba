//! The near join: a plan node that joins rows by `hamming_within(a, b, radius)` for many rows at once.
//!
//! A nested loop searches an index for each row of one side. This node keeps the codes of the inner side in
//! memory, and compares them with the codes of many outer rows at once, as `crates/hamming` finds near pairs.
//!
//! 1. PostgreSQL calls [`hook`] for further paths to join two relations. If a condition is on a distance
//!    between them ([`condition`]), the near join is proposed with its cost ([`path`](mod@path)), which
//!    depends on how its memory is divided ([`memory`](mod@memory)).
//! 2. If it is the cheapest path, it becomes a node of the plan, a `CustomScan` ([`plan`]).
//! 3. The executor runs the node (`src/exec/near_join`). All that it gets from the planner is [`stored`],
//!    with the types of joins and their sides ([`kind`]).
//!
//! For a few rows, [`nested_loops`] proposes plans of PostgreSQL's own nodes.

mod condition;
mod hook;
mod kind;
pub(crate) mod memory;
mod nested_loops;
mod path;
mod plan;
mod stored;

pub(super) use hook::install_hook;
pub(crate) use kind::{BySide, JoinKind, Side};
pub(crate) use stored::{StoredExpressions, StoredJoin};

//! `sql/living.sql`: clusters of a table that stay right while its rows come and go.
//!
//! `near_clusters_create('story', …)` makes three objects next to the table, and two triggers:
//!
//! - `story_clusters`, a table: each row's keeper, with copies of all that clustering looks at. It changes in
//!   refreshes alone, so it is at any time the clusters of one state of the table.
//! - `story_clusters_changes`, a table: keys of rows that have changed since, noted row by row by triggers
//!   ([`note`]). Notes of open transactions are not seen yet, and those of aborted ones never. NULL says
//!   that any row may have changed.
//! - `story_clusters_rows`, a view: what is to be copied from the table. It holds the user's expressions, so
//!   that they keep their meaning whatever the search path.
//!
//! The triggers' arguments are the only record of radius and linkage ([`definition`]); pg_dump knows all of
//! it.
//!
//! A refresh ([`refresh`]) takes notes and copies the rows that they name in one statement, hence by one
//! snapshot. Rows whose cluster may change get the cluster NULL: rows that are new, and all that belonged to
//! a keeper that has changed or gone. Then they are clustered by `near_cluster`, together with the keepers
//! near them. Where that makes a keeper of a row that was none, or the reverse, later rows are affected, and
//! get NULL as well. It ends when nothing is affected any more: keepers only change after the row that caused
//! it. [`statements`] has the SQL of all of that, which near joins and indexes run set at a time.

mod columns;
mod create;
mod definition;
mod error;
mod look_up;
mod note;
mod objects;
mod refresh;
mod spi;
mod statements;

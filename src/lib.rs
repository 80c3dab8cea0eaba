//! simhash_pg: similarity fingerprints of text in PostgreSQL, and exact search for near-duplicates.
//!
//! This crate is the PostgreSQL side: it unpacks arguments, calls the pure crates under `crates/`, and packs
//! results. It has five parts, each of which uses only parts below it:
//!
//! - [`sql`]: the functions that users call, in files named after those in `sql/`, which declare them
//! - [`exec`]: what the executor runs for us, the near join, and the clusters of a window
//! - [`plan`]: what the planner does with conditions on distances, and the plan of a near join
//! - [`index`]: the operator classes and the access method
//! - [`estimate`]: how many rows a condition finds, and what a search costs
//!
//! The border to PostgreSQL itself is the crate `crates/pg_border`, which is called [`pg`] here.
#![forbid(unsafe_code)]

mod estimate;
mod exec;
mod index;
mod plan;
mod sql;

use pg_border as pg;

pg::library::pg_library!(initialize);

// The SQL surface, in order, for `cargo pgrx`. The Makefile joins the same files.
pgrx::extension_sql_file!("../sql/conditions.sql", name = "conditions");
pgrx::extension_sql_file!("../sql/code.sql", name = "code", requires = ["conditions"]);
pgrx::extension_sql_file!("../sql/gist.sql", name = "gist", requires = ["code"]);
pgrx::extension_sql_file!("../sql/hamming.sql", name = "hamming", requires = ["gist"]);
pgrx::extension_sql_file!("../sql/simhash.sql", name = "simhash", requires = ["hamming"]);
pgrx::extension_sql_file!("../sql/weighted.sql", name = "weighted", requires = ["simhash"]);
pgrx::extension_sql_file!("../sql/explain.sql", name = "explain", requires = ["weighted"]);
pgrx::extension_sql_file!("../sql/spelling.sql", name = "spelling", requires = ["explain"]);
pgrx::extension_sql_file!("../sql/sketch.sql", name = "sketch", requires = ["spelling"]);
pgrx::extension_sql_file!("../sql/gin.sql", name = "gin", requires = ["sketch"]);
pgrx::extension_sql_file!("../sql/minhash.sql", name = "minhash", requires = ["gin"]);
pgrx::extension_sql_file!("../sql/rarity.sql", name = "rarity", requires = ["minhash"]);
pgrx::extension_sql_file!("../sql/rare_code.sql", name = "rare_code", requires = ["rarity"]);
pgrx::extension_sql_file!("../sql/passage.sql", name = "passage", requires = ["rare_code"]);
pgrx::extension_sql_file!("../sql/html.sql", name = "html", requires = ["passage"]);
pgrx::extension_sql_file!("../sql/trigger.sql", name = "trigger", requires = ["html"]);
pgrx::extension_sql_file!("../sql/pairs.sql", name = "pairs", requires = ["trigger"]);
pgrx::extension_sql_file!("../sql/histogram.sql", name = "histogram", requires = ["pairs"]);
pgrx::extension_sql_file!("../sql/differences.sql", name = "differences", requires = ["histogram"]);

/// Called when PostgreSQL has loaded the library.
fn initialize() {
    pg::backtrace::turn_off();
    plan::install_hooks();
    exec::near_join::register();
    index::register();
}

//! `sql/hamming.sql`: distances between fingerprints.

use crate::pg::encoding;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use pgrx::pg_extern;
use text::fingerprint::differing_characters;

#[pg_extern(sql = false)]
fn hamming(a: i64, b: i64) -> i32 {
    hamming::distance(a as u64, b as u64) as i32
}

#[pg_extern(sql = false)]
fn hamming_within(a: i64, b: i64, radius: i32) -> bool {
    hamming::within(a as u64, b as u64, radius)
}

#[pg_extern(sql = false)]
fn hamming_similarity(a: i64, b: i64) -> f64 {
    hamming::similarity(a as u64, b as u64)
}

#[pg_extern(sql = false)]
fn hamming_radius(similarity: f64) -> Result<i32, SqlError> {
    hamming::radius(similarity).map_err(report::problem)
}

#[pg_extern(sql = false)]
fn ham_dist(a: &[u8], b: &[u8]) -> Result<i32, SqlError> {
    let (a, b) = (encoding::to_utf8(a)?, encoding::to_utf8(b)?);
    // A text has fewer than 2^30 characters.
    Ok(differing_characters(&a, &b, &mut check_for_interrupts) as i32)
}

//! `sql/hamming.sql`: distances between fingerprints.

use crate::pg::error::{self, SqlError};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::text;
use pgrx::pg_extern;
use simhash_core::hamming as distances;

#[pg_extern(sql = false)]
fn hamming(a: i64, b: i64) -> i32 {
    distances::distance(a as u64, b as u64) as i32
}

#[pg_extern(sql = false)]
fn hamming_within(a: i64, b: i64, radius: i32) -> bool {
    distances::within(a as u64, b as u64, radius)
}

#[pg_extern(sql = false)]
fn hamming_similarity(a: i64, b: i64) -> f64 {
    distances::similarity(a as u64, b as u64)
}

#[pg_extern(sql = false)]
fn hamming_radius(similarity: f64) -> Result<i32, SqlError> {
    distances::radius(similarity).map_err(error::similarity)
}

#[pg_extern(sql = false)]
fn ham_dist(a: &[u8], b: &[u8]) -> Result<i32, SqlError> {
    let (a, b) = (text::to_utf8(a)?, text::to_utf8(b)?);
    // A text has fewer than 2^30 characters.
    Ok(distances::text_distance(&a, &b, &mut check_for_interrupts) as i32)
}

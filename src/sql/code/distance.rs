//! Distances between codes.

use crate::pg::call::pg_functions;
use crate::pg::code::bits::Bits;
use crate::pg::report::SqlError;
use hamming::code;

pg_functions!(
    hamming,
    hamming_within,
    hamming_similarity,
    hamming_radius,
    hamming_bits,
    hamming_bits_within,
    hamming_bits_similarity
);

fn hamming(a: i64, b: i64) -> i32 {
    hamming::distance(a as u64, b as u64) as i32
}

fn hamming_within(a: i64, b: i64, radius: i32) -> bool {
    hamming::within(a as u64, b as u64, radius)
}

fn hamming_similarity(a: i64, b: i64) -> f64 {
    code::similarity(hamming::distance(a as u64, b as u64), hamming::BITS)
}

fn hamming_radius(similarity: f64, bits: i32) -> Result<i32, SqlError> {
    Ok(code::radius(similarity, code::LENGTH.of(bits)?)?)
}

fn hamming_bits(a: Bits<'_>, b: Bits<'_>) -> Result<i32, SqlError> {
    a.distance(b).map(|distance| distance as i32)
}

fn hamming_bits_within(a: Bits<'_>, b: Bits<'_>, radius: i32) -> Result<bool, SqlError> {
    a.is_within(b, radius)
}

fn hamming_bits_similarity(a: Bits<'_>, b: Bits<'_>) -> Result<f64, SqlError> {
    a.similarity(b)
}

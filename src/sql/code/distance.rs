//! Distances between codes, and between texts character by character.

use crate::pg::call::{Call, pg_function};
use crate::pg::code::bits::Bits;
use crate::pg::encoding;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use hamming::code;
use pgrx::pg_extern;
use pgrx::pg_sys::panic::ErrorReportable;
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
    code::similarity(hamming::distance(a as u64, b as u64), hamming::BITS)
}

#[pg_extern(sql = false)]
fn hamming_radius(similarity: f64, bits: i32) -> Result<i32, SqlError> {
    let bits = code::LENGTH.of(bits).map_err(report::problem)?;
    code::radius(similarity, bits).map_err(report::problem)
}

#[pg_extern(sql = false)]
fn ham_dist(a: &[u8], b: &[u8]) -> Result<i32, SqlError> {
    let (a, b) = (encoding::to_utf8(a)?, encoding::to_utf8(b)?);
    // A text has fewer than 2^30 characters.
    Ok(differing_characters(&a, &b, &mut check_for_interrupts) as i32)
}

/// Two arguments of type bit.
///
/// # Safety
/// The function must be declared with them in front.
unsafe fn pair<'a>(call: Call) -> [Bits<'a>; 2] {
    // SAFETY: the function is declared with them in front, as the caller promises.
    [0, 1].map(|index| unsafe { Bits::of(call.datum(index)) })
}

pg_function!(
    pg_finfo_hamming_bits,
    fn hamming_bits(call) {
        // SAFETY: declared with two of bit.
        let [a, b] = unsafe { pair(call) };
        (a.distance(b).unwrap_or_report() as i32).into()
    }
);

pg_function!(
    pg_finfo_hamming_bits_within,
    fn hamming_bits_within(call) {
        // SAFETY: declared with two of bit, and an integer.
        let [a, b] = unsafe { pair(call) };
        a.is_within(b, call.integer(2)).unwrap_or_report().into()
    }
);

pg_function!(
    pg_finfo_hamming_bits_similarity,
    fn hamming_bits_similarity(call) {
        // SAFETY: declared with two of bit.
        let [a, b] = unsafe { pair(call) };
        a.similarity(b).unwrap_or_report().to_bits().into()
    }
);

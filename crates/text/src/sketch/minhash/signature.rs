//! Uses of signatures: estimates and bits.

use super::bins::{fill, is_empty};
use crate::hash::mix;
use base::{Heartbeat, Problem, collect};
use std::iter::repeat_n;

/// The fraction of equal values of two signatures, without values that are empty in both; `None` if all are
/// empty.
pub fn similarity(a: &[i32], b: &[i32]) -> Option<f64> {
    let mut agreeing = 0usize;
    let mut values = 0usize;
    for (a, b) in a.iter().zip(b) {
        let counts = !(is_empty(a) && is_empty(b));
        values += usize::from(counts);
        agreeing += usize::from(counts && a == b);
    }
    (values > 0).then(|| agreeing as f64 / values as f64)
}

/// One bit for each value, in bytes whose highest bit is the first.
///
/// For texts of similarity J, a bit is equal with probability (1 + J)/2 (Li and König, "b-Bit Minwise
/// Hashing", 2010).
pub fn bits(signature: &[i32], heartbeat: &mut dyn Heartbeat) -> Result<Vec<u8>, Problem> {
    let signature = fill(signature, heartbeat)?;
    let length = signature.len().div_ceil(8);
    let mut bytes = collect(repeat_n(0, length), length)?;
    write_bits(&signature, &mut bytes);
    Ok(bytes)
}

/// The number of bits of a byte.
const BYTE: usize = u8::BITS as usize;

/// Writes the lowest bit of each value's hash. AVX2 and AVX-512 hash four or eight values at a time.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn write_bits(signature: &[i32], bytes: &mut [u8]) {
    let hash = |place: usize, value: i32| mix(u64::from(value as u32) | (place as u64) << 32);
    let (eights, rest) = signature.as_chunks::<BYTE>();
    for (number, (eight, byte)) in eights.iter().zip(&mut *bytes).enumerate() {
        let mut hashes = [0; BYTE];
        for (at, entry) in hashes.iter_mut().enumerate() {
            *entry = hash(BYTE * number + at, eight[at]);
        }
        *byte = hashes.iter().fold(0, |byte, hash| byte << 1 | (*hash as u8 & 1));
    }
    if let Some(byte) = bytes.get_mut(eights.len()) {
        let first = BYTE * eights.len();
        for (at, &value) in rest.iter().enumerate() {
            *byte |= (hash(first + at, value) as u8 & 1) << (BYTE - 1 - at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first value's bit is the highest of the first byte. At another place, a value has another bit.
    #[test]
    fn bits_are_those_of_values_at_their_places() {
        let bits = |signature: &[i32]| bits(signature, &mut || ()).unwrap();
        assert_eq!(bits(&[]), [0; 0]);
        let bit = |value: u64, place: u64| mix(value + (place << 32)) % 2;
        let expected = (0..8).fold(0, |byte, place| 2 * byte + bit(7, place));
        assert_eq!(bits(&[7; 8]), [expected as u8]);
        assert_eq!(bits(&[7; 9]), [expected as u8, (bit(7, 8) << 7) as u8]);
        assert_eq!(bits(&[-5]), [(bit((1 << 32) - 5, 0) << 7) as u8]);
    }

    proptest! {
        /// With every number of bits of the last byte, and with more values than are hashed at a time.
        #[test]
        fn bits_are_those_of_one_value_after_the_other(signature in prop::collection::vec(0..i32::MAX, 0..70)) {
            let mut expected = vec![0u8; signature.len().div_ceil(8)];
            for (place, &value) in signature.iter().enumerate() {
                let bit = mix(value as u64 + ((place as u64) << 32)) % 2;
                expected[place / 8] += (bit as u8) << (7 - place % 8);
            }
            prop_assert_eq!(bits(&signature, &mut || ()).unwrap(), expected);
        }
    }
}

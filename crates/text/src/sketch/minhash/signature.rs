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
    for (place, &value) in signature.iter().enumerate() {
        let bit = mix(u64::from(value as u32) | (place as u64) << 32) as u8 & 1;
        bytes[place / 8] |= bit << (7 - place % 8);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

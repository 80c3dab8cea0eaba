//! Uses of signatures: estimates, bands and bits.

use super::MAX_VALUES;
use super::bins::{fill, is_empty};
use crate::hash::{mix, xxh3_64};
use base::{Heartbeat, Limit, Problem, ProblemKind, collect};
use std::iter::repeat_n;

/// The number of parts that a signature is cut into.
pub const BANDS: Limit = Limit::new("bands", 1, MAX_VALUES);

/// The fraction of equal values of two signatures, without values that are empty in both; `None` if all are
/// empty.
pub fn similarity(a: &[i32], b: &[i32]) -> Option<f64> {
    let (mut agreeing, mut values) = (0usize, 0usize);
    for (a, b) in a.iter().zip(b) {
        let counts = !(is_empty(a) && is_empty(b));
        values += usize::from(counts);
        agreeing += usize::from(counts && a == b);
    }
    (values > 0).then(|| agreeing as f64 / values as f64)
}

/// One hash for each band of a signature, sorted and distinct. Similar texts probably have a common hash.
///
/// Texts of similarity J have a common hash with probability 1 - (1 - J^r)^b, for b bands of r values.
pub fn bands(signature: &[i32], bands: usize, heartbeat: &mut dyn Heartbeat) -> Result<Vec<i64>, Problem> {
    let bands = BANDS.of(bands)?;
    let values = signature.len();
    if !values.is_multiple_of(bands) {
        let message = format!("signature of {values} values cannot be cut into {bands} equal bands");
        return Err(Problem::new(ProblemKind::InvalidValue, message)
            .with_hint(format!("Choose a number of bands that divides {values}.")));
    }
    let signature = fill(signature, heartbeat)?;
    if signature.is_empty() {
        return Ok(Vec::new());
    }
    let hash = |(band, values): (usize, &[i32])| {
        let mut bytes = (band as u32).to_le_bytes().to_vec(); // Bounded: a band of a signature.
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        xxh3_64(&bytes) as i64
    };
    let mut hashes = collect(signature.chunks(values / bands).enumerate().map(hash), bands)?;
    hashes.sort_unstable();
    hashes.dedup();
    Ok(hashes)
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
    use super::super::tests::{bins, text};
    use super::*;

    /// 3,000 pairs of texts that leave nearly no bin empty.
    #[test]
    fn bands_agree_as_often_as_they_should() {
        let (shared, words, pairs) = (200usize, 400usize, 3000);
        let resemblance = shared as f64 / (2 * words - shared) as f64;
        let agreeing = (0..pairs)
            .filter(|pair| {
                let first = pair * 1000;
                let a = bins(&text(first..first + words), 64, "word:1").unwrap();
                let b =
                    bins(&text(first + words - shared..first + 2 * words - shared), 64, "word:1").unwrap();
                let (a, b) = (bands(&a, 16, &mut || ()).unwrap(), bands(&b, 16, &mut || ()).unwrap());
                a.iter().any(|hash| b.contains(hash))
            })
            .count() as f64;
        let expected = pairs as f64 * (1.0 - (1.0 - resemblance.powi(4)).powi(16));
        assert!((agreeing - expected).abs() < 5.0 * expected.sqrt(), "{agreeing} instead of {expected}");
    }

    #[test]
    fn bands_are_equal_parts() {
        let a: Vec<i32> = (0..12).collect();
        assert_eq!(bands(&a, 4, &mut || ()).unwrap().len(), 4);
        assert_eq!(
            bands(&a, 5, &mut || ()).unwrap_err().message,
            "signature of 12 values cannot be cut into 5 equal bands"
        );
        assert!(bands(&a, 0, &mut || ()).is_err());
        let mut b = a.clone();
        b[0] = 99;
        let (a, b) = (bands(&a, 4, &mut || ()).unwrap(), bands(&b, 4, &mut || ()).unwrap());
        assert_eq!(a.iter().filter(|hash| b.contains(hash)).count(), 3);
        // Equal values in different bands have different hashes.
        assert_eq!(bands(&[7, 7, 7], 3, &mut || ()).unwrap().len(), 3);
    }

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

//! The features of `commoncrawl`: every four consecutive UTF-16 code units, as the Similarity Index paper ran
//! it.

use super::{BATCH, Batch, Sink};
use crate::hash::rabin::{UNITS, hash_ascii};

/// Passes every feature to the sink, in the order of the text; fewer than four code units have none.
pub(crate) fn shingles(text: &str, sink: &mut impl Sink) {
    let mut window = [0; UNITS];
    for (seen, unit) in text.encode_utf16().enumerate() {
        window.rotate_left(1);
        window[UNITS - 1] = unit;
        if seen + 1 >= UNITS {
            sink.take_units(window);
        }
    }
}

/// Passes the hash of every feature of an ASCII text to the batch.
pub(crate) fn hash_ascii_shingles(text: &[u8], batch: &mut Batch<'_>) {
    let shingles = text.windows(UNITS).len();
    for start in (0..shingles).step_by(BATCH) {
        let piece = &text[start..(start + BATCH).min(shingles) + UNITS - 1];
        batch.extend(piece.array_windows().map(hash_ascii));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::rabin::hash;
    use proptest::prelude::*;

    fn hashes(text: &str) -> Vec<u64> {
        let mut hashes = Vec::new();
        let mut consumer = |batch: &[u64]| hashes.extend_from_slice(batch);
        let mut batch = Batch::new(&mut consumer);
        if text.is_ascii() {
            hash_ascii_shingles(text.as_bytes(), &mut batch)
        } else {
            shingles(text, &mut batch)
        }
        batch.flush();
        hashes
    }

    proptest! {
        #[test]
        fn all_windows_are_hashed(text in prop_oneof!["[ -~]{0,700}", "\\PC{0,40}"]) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let expected: Vec<u64> = units.array_windows().map(|&window| hash(window)).collect();
            prop_assert_eq!(hashes(&text), expected);
        }
    }
}

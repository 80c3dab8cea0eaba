//! The features of `commoncrawl`: every four consecutive UTF-16 code units, as the Similarity Index paper ran it.
//!
//! A feature is the eight bytes of its code units, the higher byte of each first, and its hash is their
//! Rabin fingerprint: the remainder of the message as a polynomial over the field of two elements, modulo an
//! irreducible polynomial of degree 64, with the coefficients reflected as in a CRC. The remainder of eight
//! bytes is a sum of one table entry for each byte and a constant, so that every feature is hashed by itself.
//! Multiplication by x^64 is invertible there: different features have different hashes.

use crate::batch::Batch;
use crate::distinct::BATCH;
use crate::sink::Sink;

/// Code units in a feature.
pub(crate) const UNITS: usize = 4;
/// Bytes in a feature.
const BYTES: usize = 2 * UNITS;
/// The polynomial, its highest coefficient being implied, and also the fingerprint of no bytes.
const POLYNOMIAL: u64 = 0xd743_07d3_fd33_82db;

/// What a byte adds to the fingerprint of eight, by the number of bytes after it.
static TABLES: [[u64; 256]; BYTES] = tables();
/// What the beginning adds to the fingerprint of eight bytes.
const BEGINNING: u64 = {
    let mut state = POLYNOMIAL;
    let mut byte = 0;
    while byte < BYTES {
        state = append(state, 0);
        byte += 1;
    }
    state
};

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

/// The Rabin fingerprint of four code units.
pub(crate) fn hash(units: [u16; UNITS]) -> u64 {
    let bytes = units.iter().flat_map(|unit| unit.to_be_bytes());
    bytes.zip(TABLES.iter().rev()).fold(BEGINNING, |sum, (byte, table)| sum ^ table[usize::from(byte)])
}

/// The same for code units whose higher bytes are 0, which add nothing.
fn hash_ascii(units: &[u8; UNITS]) -> u64 {
    let tables = TABLES.iter().rev().skip(1).step_by(2);
    units.iter().zip(tables).fold(BEGINNING, |sum, (&unit, table)| sum ^ table[usize::from(unit)])
}

const fn tables() -> [[u64; 256]; BYTES] {
    let mut tables = [[0; 256]; BYTES];
    let mut value = 0;
    while value < 256 {
        let mut state = append(0, value as u8);
        let mut after = 0;
        while after < BYTES {
            tables[after][value] = state;
            state = append(state, 0);
            after += 1;
        }
        value += 1;
    }
    tables
}

/// The fingerprint of a message with one more byte, by the definition.
const fn append(state: u64, byte: u8) -> u64 {
    let mut state = state ^ byte as u64;
    let mut bit = 0;
    while bit < 8 {
        state = if state & 1 == 1 { state >> 1 ^ POLYNOMIAL } else { state >> 1 };
        bit += 1;
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;
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

    fn naive_hashes(text: &str) -> Vec<u64> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let bytes = |window: &[u16]| window.iter().flat_map(|unit| unit.to_be_bytes()).collect::<Vec<u8>>();
        units.windows(UNITS).map(|window| bytes(window).into_iter().fold(POLYNOMIAL, append)).collect()
    }

    #[test]
    fn published_fingerprint_of_a_byte() {
        assert_eq!(append(POLYNOMIAL, b'a'), 0x790d_8448_bd0c_e884);
    }

    proptest! {
        #[test]
        fn tables_agree_with_the_definition(text in prop_oneof!["[ -~]{0,700}", "\\PC{0,40}"]) {
            prop_assert_eq!(hashes(&text), naive_hashes(&text));
        }
    }
}

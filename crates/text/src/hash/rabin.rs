//! The hash of `commoncrawl`: Rabin's fingerprint ("Fingerprinting by Random Polynomials", 1981) of four
//! UTF-16 code units.
//!
//! The units are eight bytes, the higher byte of each first. Their fingerprint is the remainder of the
//! message, as a polynomial over the field of two elements, modulo an irreducible polynomial of degree 64.
//! Coefficients are reflected, as in a CRC. The remainder of eight bytes is the sum of a constant and a table
//! entry for each byte, so every feature is hashed separately.
//!
//! Guarantee: different features have different hashes, since multiplication by x^64 is invertible modulo
//! the polynomial. Cost: eight lookups in tables of 16 KB, or four for Latin-1.

/// Code units in a feature.
pub(crate) const UNITS: usize = 4;
/// Bytes in a feature.
const BYTES: usize = 2 * UNITS;
/// The polynomial without its highest coefficient. It is also the fingerprint of no bytes.
const POLYNOMIAL: u64 = 0xd743_07d3_fd33_82db;

/// The part of a byte in the fingerprint of eight bytes, by the number of bytes after it.
static TABLES: [[u64; 256]; BYTES] = tables();
/// The constant part of the fingerprint of eight bytes.
const BEGINNING: u64 = {
    let mut state = POLYNOMIAL;
    let mut byte = 0;
    while byte < BYTES {
        state = append(state, 0);
        byte += 1;
    }
    state
};

/// The Rabin fingerprint of four code units.
pub(crate) fn hash(units: [u16; UNITS]) -> u64 {
    let bytes = units.iter().flat_map(|unit| unit.to_be_bytes());
    bytes.zip(TABLES.iter().rev()).fold(BEGINNING, |sum, (byte, table)| sum ^ table[usize::from(byte)])
}

/// The Rabin fingerprint of four code units of Latin-1. Their higher bytes are 0, whose part is 0.
pub(crate) fn hash_latin1(units: &[u8; UNITS]) -> u64 {
    let tables = TABLES.iter().rev().skip(1).step_by(2);
    units.iter().zip(tables).fold(BEGINNING, |sum, (&unit, table)| sum ^ table[usize::from(unit)])
}

/// The table for a number of bytes that follow: for each byte value, its part.
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

/// The fingerprint of a message after appending a byte, by the definition.
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

    #[test]
    fn published_fingerprint_of_a_byte() {
        assert_eq!(append(POLYNOMIAL, b'a'), 0x790d_8448_bd0c_e884);
    }

    proptest! {
        #[test]
        fn tables_agree_with_the_definition(units: [u16; UNITS]) {
            let bytes = units.iter().flat_map(|unit| unit.to_be_bytes());
            prop_assert_eq!(hash(units), bytes.fold(POLYNOMIAL, append));
        }

        #[test]
        fn latin1_needs_the_lower_bytes_alone(units: [u8; UNITS]) {
            prop_assert_eq!(hash_latin1(&units), hash(units.map(u16::from)));
        }
    }
}

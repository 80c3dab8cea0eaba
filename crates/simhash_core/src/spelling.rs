//! How fingerprints are written for people and other programs.
//!
//! Base32 with the alphabet of RFC 4648, lower case, big-endian and without padding: 13 letters, the last of which
//! carries one bit that is always zero. A scheme may stand before it, with a colon. Read are also 16
//! hexadecimal and 64 binary digits, and 1 to 16 hexadecimal digits after `0x`; either case; and white space anywhere, as in
//! the listings of the Similarity Index paper. Decimal numbers are read by [`from_decimal`] alone, so 16 digits without a
//! letter or `0x`, which can be either, are refused.

use crate::scheme::{Scheme, SchemeError};
use std::fmt;

const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Letters of a fingerprint in base32.
const LENGTH: usize = 13;
/// Bits of a letter.
const LETTER: u32 = 5;
/// Hexadecimal digits of a fingerprint.
const HEXADECIMAL: usize = 16;
/// Binary digits of a fingerprint.
const BINARY: usize = 64;

/// Longer texts are not looked at.
const MAX_BYTES: usize = 1000;

/// What is read, for people.
pub const VALID: &str = "A fingerprint has 13 letters of base32, 16 hexadecimal or 64 binary digits. \
    Shorter hexadecimal ones are read as '0x' || code, binary ones as lpad(code, 64, '0'), \
    and decimal ones as code::numeric.";

/// Why a text is no fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpellingError {
    /// It has neither 13, 16 nor 64 characters, but so many.
    Length(usize),
    /// After `0x` there are not 1 to 16 digits, but so many.
    Hexadecimal(usize),
    /// These 16 digits can be a hexadecimal or a decimal number.
    Ambiguous(String),
    /// The character is no digit in the base that the length says.
    Digit(char, u32),
    /// The last letter of base32 has its lowest bit set.
    Padding(char),
    /// What stands before the colon is no scheme.
    Scheme(SchemeError),
}

impl fmt::Display for SpellingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(length) => write!(f, "it has {length} characters beside white space and scheme"),
            Self::Hexadecimal(length) => write!(f, "it has {length} digits after 0x, not 1 to {HEXADECIMAL}"),
            Self::Ambiguous(digits) => write!(f, "{digits} can be hexadecimal or decimal"),
            Self::Digit(digit, base) => write!(f, "\"{digit}\" is not a digit of base {base}"),
            Self::Padding(letter) => write!(f, "\"{letter}\" cannot be the last letter of a fingerprint"),
            Self::Scheme(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SpellingError {}

/// The fingerprint in base32.
pub fn encode(fingerprint: u64) -> String {
    let padded = u128::from(fingerprint) << 1;
    let letter = |index: u32| char::from(LETTERS[(padded >> (index * LETTER)) as usize % LETTERS.len()]);
    (0..LENGTH as u32).rev().map(letter).collect()
}

/// The fingerprint that was written, in any of the ways that are read.
pub fn decode(text: &str) -> Result<u64, SpellingError> {
    if text.len() > MAX_BYTES {
        return Err(SpellingError::Length(text.len()));
    }
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let digits = match compact.rsplit_once(':') {
        Some((scheme, digits)) => scheme.parse::<Scheme>().map(|_| digits).map_err(SpellingError::Scheme)?,
        None => &compact,
    };
    if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return match digits.chars().count() {
            1..=HEXADECIMAL => number(digits, 16),
            length => Err(SpellingError::Hexadecimal(length)),
        };
    }
    match digits.chars().count() {
        LENGTH => from_base32(digits),
        HEXADECIMAL if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            Err(SpellingError::Ambiguous(digits.to_owned()))
        }
        HEXADECIMAL => number(digits, 16),
        BINARY => number(digits, 2),
        length => Err(SpellingError::Length(length)),
    }
}

/// The fingerprint that others write as this decimal number, without a sign or with one: 0 to 2^64 - 1, or -2^63 to 2^63 - 1.
pub fn from_decimal(number: &str) -> Option<u64> {
    let whole = match number.split_once('.') {
        Some((whole, fraction)) => fraction.bytes().all(|digit| digit == b'0').then_some(whole)?,
        None => number,
    };
    let value: i128 = whole.parse().ok()?;
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value).then_some(value as u64)
}

fn from_base32(digits: &str) -> Result<u64, SpellingError> {
    let mut padded = 0u128;
    let mut last = ' ';
    for digit in digits.chars() {
        let value = LETTERS.iter().position(|&letter| char::from(letter) == digit.to_ascii_lowercase());
        padded = padded << LETTER | value.ok_or(SpellingError::Digit(digit, 32))? as u128;
        last = digit;
    }
    if padded & 1 == 1 { Err(SpellingError::Padding(last)) } else { Ok((padded >> 1) as u64) }
}

/// As many digits as 64 bits have in the base.
fn number(digits: &str, base: u32) -> Result<u64, SpellingError> {
    digits.chars().try_fold(0u64, |number, digit| {
        let value = digit.to_digit(base).ok_or(SpellingError::Digit(digit, base))?;
        Ok(number.wrapping_mul(base.into()) | u64::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn published_spellings() {
        for (fingerprint, letters) in [
            (0i64, "aaaaaaaaaaaaa"),
            (1, "aaaaaaaaaaaac"),
            (264, "aaaaaaaaaaaqq"),
            (335, "aaaaaaaaaaau6"),
            (-1, "7777777777776"),
            (4565828753376763011, "h5orkd3wjfoig"),
            (1964999968704519315, "dncrkd36jfojg"),
            (2259985744163069059, "d5orkd3wjfoig"),
        ] {
            assert_eq!(encode(fingerprint as u64), letters);
            assert_eq!(decode(letters), Ok(fingerprint as u64));
        }
        let sttech = 0x3f5d_150f_7649_5c83;
        for text in [
            "3f5d150f76495c83",
            "3F5D150F76495C83",
            " 0011111101011101000101010000111101110110010 010010101110010000011\n",
            "doc1:h5orkd3wjfoig",
            "0x3f5d150f76495c83",
            "0X3F5D150F 76495C83",
            "char:4:H5ORKD3WJFOIG",
            "word:2 : h5ork d3wjf oig",
        ] {
            assert_eq!(decode(text), Ok(sttech), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(decode(""), Err(SpellingError::Length(0)));
        assert_eq!(decode("h5orkd3wjfoi"), Err(SpellingError::Length(12)));
        assert_eq!(decode(&"a".repeat(1001)), Err(SpellingError::Length(1001)));
        assert_eq!(decode("h5orkd3wjfo1g"), Err(SpellingError::Digit('1', 32)));
        assert_eq!(decode("h5orkd3wjfoiГ"), Err(SpellingError::Digit('Г', 32)));
        assert_eq!(decode("0x"), Err(SpellingError::Hexadecimal(0)));
        assert_eq!(decode("0x03f5d150f76495c83"), Err(SpellingError::Hexadecimal(17)));
        assert_eq!(decode("0x-1"), Err(SpellingError::Digit('-', 16)));
        assert_eq!(decode("4565828753376763"), Err(SpellingError::Ambiguous("4565828753376763".into())));
        assert_eq!(decode("4565828753376763011"), Err(SpellingError::Length(19)));
        assert_eq!(decode("3f5d150f76495c8x"), Err(SpellingError::Digit('x', 16)));
        assert_eq!(decode(&"2".repeat(64)), Err(SpellingError::Digit('2', 2)));
        for letter in "bdfhjlnprtvxz357".chars() {
            assert_eq!(decode(&format!("aaaaaaaaaaaa{letter}")), Err(SpellingError::Padding(letter)));
        }
        assert!(matches!(decode("doc9:h5orkd3wjfoig"), Err(SpellingError::Scheme(_))));
        assert!(matches!(decode(":h5orkd3wjfoig"), Err(SpellingError::Scheme(_))));
    }

    #[test]
    fn decimal_numbers() {
        for (number, fingerprint) in [
            ("0", 0),
            ("18446744073709551615", u64::MAX),
            ("9223372036854775808", 1 << 63),
            ("-9223372036854775808", 1 << 63),
            ("-1", u64::MAX),
            ("42.000", 42),
        ] {
            assert_eq!(from_decimal(number), Some(fingerprint), "{number}");
        }
        let huge = "1".repeat(131_072);
        for wrong in [
            "18446744073709551616",
            "-9223372036854775809",
            "1.5",
            "-0.5",
            "NaN",
            "Infinity",
            "-Infinity",
            &huge,
        ] {
            assert_eq!(from_decimal(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(fingerprint: u64, shift in 0u32..64) {
            let shorter = fingerprint >> shift;
            prop_assert_eq!(decode(&encode(fingerprint)), Ok(fingerprint));
            prop_assert_eq!(decode(&format!("{shorter:#x}")), Ok(shorter));
            prop_assert_eq!(decode(&format!("{fingerprint:064b}")), Ok(fingerprint));
            prop_assert_eq!(from_decimal(&shorter.to_string()), Some(shorter));
            prop_assert_eq!(from_decimal(&(fingerprint as i64).to_string()), Some(fingerprint));
        }

        #[test]
        fn hexadecimal_digits_are_never_taken_for_others(digits in "[0-9]{16}|[0-9a-fA-F]{16}") {
            let expected = u64::from_str_radix(&digits, 16).unwrap();
            let has_letter = digits.contains(|digit: char| digit.is_ascii_alphabetic());
            prop_assert_eq!(decode(&digits).ok(), has_letter.then_some(expected));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,80}") {
            let _ = decode(&text);
        }
    }
}

//! Text forms of fingerprints, for people and for other programs.
//!
//! Fingerprints are written in base32 with the alphabet of RFC 4648, in lower case, big-endian and without
//! padding: 13 letters, the last of which has one unused bit, which is zero.
//!
//! Other forms are read, too: 16 hexadecimal digits, 64 binary digits, and 1 to 16 hexadecimal digits after
//! `0x`. Upper case is accepted, a scheme with a colon before the digits, and white space anywhere, as in the
//! listings of the Similarity Index paper. Decimal numbers are not, so 16 digits that may be one are refused.

use crate::features::Scheme;
use base::{Problem, ProblemKind};

const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// The number of letters of a fingerprint in base32.
const LENGTH: usize = 13;
/// The number of bits of a letter.
const LETTER: u32 = 5;
/// The number of hexadecimal digits of a fingerprint.
const HEXADECIMAL: usize = 16;
/// The number of binary digits of a fingerprint.
const BINARY: usize = 64;

/// The longest text that is accepted, in bytes.
const MAX_BYTES: usize = 1000;

/// The accepted forms, for a hint.
const VALID: &str = "A fingerprint has 13 letters of base32, 16 hexadecimal or 64 binary digits. \
    To read fewer hexadecimal digits, write '0x' || code; fewer binary ones, lpad(code, 64, '0'); \
    a decimal number, code::numeric.";

/// Writes the fingerprint in base32.
pub fn encode(fingerprint: u64) -> String {
    let padded = u128::from(fingerprint) << 1;
    let letter = |index: u32| char::from(LETTERS[(padded >> (index * LETTER)) as usize % LETTERS.len()]);
    (0..LENGTH as u32).rev().map(letter).collect()
}

/// Reads a fingerprint in any of its forms but decimal.
pub fn decode(text: &str) -> Result<u64, Problem> {
    let reading = FingerprintText { text };
    let wrong_length =
        |length| reading.invalid(format!("It has {length} characters apart from white space and scheme"));
    if text.len() > MAX_BYTES {
        return Err(wrong_length(text.len()));
    }
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let digits = match compact.rsplit_once(':') {
        Some((scheme, digits)) => scheme.parse::<Scheme>().map(|_| digits)?,
        None => &compact,
    };
    if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return match digits.chars().count() {
            1..=HEXADECIMAL => reading.number(digits, 16),
            length => {
                Err(reading.invalid(format!("It has {length} digits after 0x, not 1 to {HEXADECIMAL}")))
            }
        };
    }
    match digits.chars().count() {
        LENGTH => reading.base32(digits),
        HEXADECIMAL if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            Err(reading.invalid(format!("The digits {digits} can be hexadecimal or decimal")).with_hint(
                format!("Write '0x{digits}' if it is hexadecimal, {digits}::numeric if it is decimal."),
            ))
        }
        HEXADECIMAL => reading.number(digits, 16),
        BINARY => reading.number(digits, 2),
        length => Err(wrong_length(length)),
    }
}

/// The text of a fingerprint, for messages.
struct FingerprintText<'a> {
    text: &'a str,
}

impl FingerprintText<'_> {
    fn base32(&self, digits: &str) -> Result<u64, Problem> {
        let mut padded = 0u128;
        let mut last = ' ';
        for digit in digits.chars() {
            let value = LETTERS.iter().position(|&letter| char::from(letter) == digit.to_ascii_lowercase());
            padded = padded << LETTER | value.ok_or_else(|| self.not_a_digit(digit, 32))? as u128;
            last = digit;
        }
        if padded & 1 == 1 {
            return Err(self.invalid(format!("\"{last}\" cannot be the last letter of a fingerprint")));
        }
        Ok((padded >> 1) as u64)
    }

    /// Reads the digits of a number of 64 bits in this base. There must not be too many digits.
    fn number(&self, digits: &str, base: u32) -> Result<u64, Problem> {
        digits.chars().try_fold(0u64, |number, digit| {
            let value = digit.to_digit(base).ok_or_else(|| self.not_a_digit(digit, base))?;
            Ok(number.wrapping_mul(base.into()) | u64::from(value))
        })
    }

    fn not_a_digit(&self, digit: char, base: u32) -> Problem {
        self.invalid(format!("\"{digit}\" is not a digit of base {base}"))
    }

    fn invalid(&self, why: String) -> Problem {
        let message = format!("invalid fingerprint: \"{}\"", Problem::quote(self.text));
        Problem::new(ProblemKind::InvalidText, message).with_detail(format!("{why}.")).with_hint(VALID)
    }
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
        for (text, detail) in [
            ("", "It has 0 characters apart from white space and scheme."),
            ("h5orkd3wjfoi", "It has 12 characters apart from white space and scheme."),
            (&"a".repeat(1001), "It has 1001 characters apart from white space and scheme."),
            ("h5orkd3wjfo1g", "\"1\" is not a digit of base 32."),
            ("h5orkd3wjfoiГ", "\"Г\" is not a digit of base 32."),
            ("0x", "It has 0 digits after 0x, not 1 to 16."),
            ("0x03f5d150f76495c83", "It has 17 digits after 0x, not 1 to 16."),
            ("0x-1", "\"-\" is not a digit of base 16."),
            ("4565828753376763", "The digits 4565828753376763 can be hexadecimal or decimal."),
            ("4565828753376763011", "It has 19 characters apart from white space and scheme."),
            ("3f5d150f76495c8x", "\"x\" is not a digit of base 16."),
            (&"2".repeat(64), "\"2\" is not a digit of base 2."),
        ] {
            let problem = decode(text).unwrap_err();
            assert_eq!(
                (problem.kind, problem.detail.as_deref()),
                (ProblemKind::InvalidText, Some(detail)),
                "{text}"
            );
        }
        for letter in "bdfhjlnprtvxz357".chars() {
            let detail = decode(&format!("aaaaaaaaaaaa{letter}")).unwrap_err().detail;
            assert_eq!(detail, Some(format!("\"{letter}\" cannot be the last letter of a fingerprint.")));
        }
        for text in ["doc9:h5orkd3wjfoig", ":h5orkd3wjfoig"] {
            assert!(decode(text).unwrap_err().message.starts_with("unknown fingerprint scheme"));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(fingerprint: u64, shift in 0u32..64) {
            let shorter = fingerprint >> shift;
            prop_assert_eq!(decode(&encode(fingerprint)), Ok(fingerprint));
            prop_assert_eq!(decode(&format!("{shorter:#x}")), Ok(shorter));
            prop_assert_eq!(decode(&format!("{fingerprint:064b}")), Ok(fingerprint));
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

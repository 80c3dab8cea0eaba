//! How codes are written as text: in hexadecimal digits, or in base64 (RFC 4648).
//!
//! What is written is read as the same code, and the other way round but for white space, case and the
//! padding of base64. So only codes whose bits fill all digits are written: of 4 bits each in hexadecimal, of
//! 8 in base64.

use limits::{Problem, ProblemKind, reserve, reserve_text};
use std::str::FromStr;

const DIGITS: &[u8; 16] = b"0123456789abcdef";
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Most bits of a value of type bit varying, in whole bytes.
const MAX_BITS: usize = i32::MAX as usize / 8 * 8;

/// A form in which codes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeFormat {
    /// Digits of 4 bits.
    Hex,
    /// Letters of 6 bits, which are filled up to whole bytes.
    Base64,
}

impl FromStr for CodeFormat {
    type Err = Problem;

    fn from_str(name: &str) -> Result<Self, Problem> {
        match name.to_ascii_lowercase().as_str() {
            "hex" => Ok(Self::Hex),
            "base64" => Ok(Self::Base64),
            _ => Err(Problem::unknown("format of codes", name, "Valid formats are hex and base64.")),
        }
    }
}

impl CodeFormat {
    /// Writes a code, of which there are as many bits as is said.
    pub fn encode(self, code: &[u8], bits: u32) -> Result<String, Problem> {
        let mut text = String::new();
        let size = match self {
            Self::Hex => code.len() * 2,
            Self::Base64 => code.len().div_ceil(3) * 4,
        };
        reserve_text(&mut text, size)?;
        match self {
            Self::Hex if !bits.is_multiple_of(4) => return Err(unfilled(bits, "hexadecimal digits", 4)),
            Self::Base64 if !bits.is_multiple_of(8) => return Err(unfilled(bits, "base64", 8)),
            Self::Hex => {
                let digits = code.iter().flat_map(|byte| [byte >> 4, byte & 15]);
                text.extend(
                    digits.take(bits as usize / 4).map(|digit| char::from(DIGITS[usize::from(digit)])),
                );
            }
            Self::Base64 => code.chunks(3).for_each(|bytes| write_letters(bytes, &mut text)),
        }
        Ok(text)
    }

    /// Reads a code: its bytes, and how many bits it has.
    pub fn decode(self, text: &str) -> Result<(Vec<u8>, u32), Problem> {
        let digit_bits = match self {
            Self::Hex => 4,
            Self::Base64 => 6,
        };
        let mut code = Vec::new();
        reserve(&mut code, (text.len() * digit_bits).div_ceil(8))?;
        let (mut held, mut held_bits, mut padding, mut digits) = (0u32, 0, 0, 0usize);
        for digit in text.chars().filter(|digit| !digit.is_ascii_whitespace()) {
            if digit == '=' && self == Self::Base64 {
                padding += 1;
                continue;
            }
            let value =
                self.value(digit).filter(|_| padding == 0).ok_or_else(|| self.not_a_digit(text, digit))?;
            digits += 1;
            (held, held_bits) = (held << digit_bits | value, held_bits + digit_bits);
            if held_bits >= 8 {
                held_bits -= 8;
                code.push((held >> held_bits) as u8);
                held &= (1 << held_bits) - 1;
            }
        }
        if self == Self::Base64 {
            check_end(text, digits, padding, held)?;
            held_bits = 0;
        }
        let bits = code.len() * 8 + held_bits;
        if held_bits > 0 {
            code.push((held << (8 - held_bits)) as u8);
        }
        match bits {
            ..=MAX_BITS => Ok((code, bits as u32)),
            _ => Err(Problem::new(ProblemKind::TooLarge, format!("a code of {bits} bits is too long"))
                .with_detail(format!("A code has up to {MAX_BITS} bits."))),
        }
    }

    fn value(self, digit: char) -> Option<u32> {
        match self {
            Self::Hex => digit.to_digit(16),
            Self::Base64 => {
                LETTERS.iter().position(|&letter| char::from(letter) == digit).map(|place| place as u32)
            }
        }
    }

    fn not_a_digit(self, text: &str, digit: char) -> Problem {
        let (name, hint) = match self {
            Self::Hex => (
                "a hexadecimal digit",
                "Write the digits alone, without 0x before them. Codes in base64 are read by code_decode(code, 'base64').",
            ),
            Self::Base64 => (
                "a letter of base64 that may stand there",
                "For letters of URLs, write code_decode(translate(code, '-_', '+/'), 'base64').",
            ),
        };
        invalid(text, format!("\"{digit}\" is not {name}.")).with_hint(hint)
    }
}

/// Appends the letters of up to three bytes.
fn write_letters(bytes: &[u8], text: &mut String) {
    let byte = |index: usize| u32::from(bytes.get(index).copied().unwrap_or(0));
    let number = byte(0) << 16 | byte(1) << 8 | byte(2);
    for place in 0..4 {
        let letter = LETTERS[(number >> (18 - 6 * place)) as usize % LETTERS.len()];
        text.push(if place > bytes.len() { '=' } else { char::from(letter) });
    }
}

/// Whether a text in base64 ends as it must. The padding may be missing.
fn check_end(text: &str, digits: usize, padding: usize, held: u32) -> Result<(), Problem> {
    let is_padded = padding == 0 || padding < 3 && (digits + padding).is_multiple_of(4);
    if digits % 4 == 1 || !is_padded {
        let detail = format!("It has {digits} letters and {padding} of \"=\", which are not whole bytes.");
        return Err(invalid(text, detail).with_hint("It may have been cut off."));
    }
    if held != 0 {
        return Err(invalid(text, "Its last letter has bits that belong to no byte.".into())
            .with_hint("It may have been cut off."));
    }
    Ok(())
}

fn unfilled(bits: u32, digits: &str, bits_of_digit: u32) -> Problem {
    let filled = bits.next_multiple_of(bits_of_digit);
    Problem::new(ProblemKind::InvalidValue, format!("cannot write a code of {bits} bits in {digits}"))
        .with_detail(format!("The number of bits has to be a multiple of {bits_of_digit}."))
        .with_hint(format!(
            "Add zeros on the right with code::bit({filled}), or write the bits themselves with code::text."
        ))
}

fn invalid(text: &str, detail: String) -> Problem {
    Problem::new(ProblemKind::InvalidText, format!("invalid code: \"{}\"", Problem::quote(text)))
        .with_detail(detail)
}

#[cfg(test)]
mod tests {
    use super::CodeFormat::{Base64, Hex};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_codes() {
        for (text, code, bits) in
            [("", &[][..], 0), ("A", &[0xa0], 4), (" 0f\n1 ", &[0x0f, 0x10], 12), ("fF", &[255], 8)]
        {
            assert_eq!(Hex.decode(text), Ok((code.to_vec(), bits)), "{text}");
        }
        // Of RFC 4648; also without the padding.
        for (code, text) in
            [("", ""), ("f", "Zg=="), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy")]
        {
            let bits = code.len() as u32 * 8;
            assert_eq!(Base64.encode(code.as_bytes(), bits), Ok(text.to_string()));
            assert_eq!(Base64.decode(text.trim_end_matches('=')), Ok((code.as_bytes().to_vec(), bits)));
        }
        assert_eq!(Hex.encode(&[0x0f, 0x10], 12), Ok("0f1".to_string()));
        assert_eq!("HEX".parse(), Ok(Hex));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (format, text, detail) in [
            (Hex, "0xff", "\"x\" is not a hexadecimal digit."),
            (Hex, "ä", "\"ä\" is not a hexadecimal digit."),
            (Base64, "a-_b", "\"-\" is not a letter of base64 that may stand there."),
            (Base64, "Zg==Zg==", "\"Z\" is not a letter of base64 that may stand there."),
            (Base64, "Z", "It has 1 letters and 0 of \"=\", which are not whole bytes."),
            (Base64, "Zg=", "It has 2 letters and 1 of \"=\", which are not whole bytes."),
            (Base64, "Zm9v====", "It has 4 letters and 4 of \"=\", which are not whole bytes."),
            (Base64, "Zh==", "Its last letter has bits that belong to no byte."),
        ] {
            let problem = format.decode(text).unwrap_err();
            assert_eq!(
                (problem.kind, problem.detail.as_deref()),
                (ProblemKind::InvalidText, Some(detail)),
                "{text}"
            );
        }
        for (format, bits, hint) in [(Hex, 5, "bit(8)"), (Hex, 255, "bit(256)"), (Base64, 12, "bit(16)")] {
            let problem = format.encode(&[0; 32], bits).unwrap_err();
            assert!(problem.hint.unwrap().contains(hint), "{bits}");
        }
        assert!("base32".parse::<CodeFormat>().is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(code: Vec<u8>, cut: bool) {
            let mut code = code;
            let mut bits = code.len() as u32 * 8;
            let base64 = Base64.encode(&code, bits).unwrap();
            prop_assert_eq!(Base64.decode(&base64), Ok((code.clone(), bits)));
            if cut && let Some(last) = code.last_mut() {
                *last &= 0xf0;
                bits -= 4;
            }
            let hex = Hex.encode(&code, bits).unwrap();
            prop_assert_eq!(Hex.decode(&hex.to_uppercase()), Ok((code, bits)));
        }
    }
}

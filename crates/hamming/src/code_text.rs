//! Codes as text, in hexadecimal digits.
//!
//! A written code is read as the same code. A text that is read is written as the same text, except for white
//! space and case. So the number of bits of a code that is written must be a multiple of 4.

use base::{Heartbeat, Problem, ProblemKind, pieces, reserve, reserve_text};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The most bits of a value of type bit varying, in whole bytes.
const MAX_BITS: usize = i32::MAX as usize / 8 * 8;

/// How many bytes are written, or characters read, between two heartbeats.
const STRIDE: usize = 1 << 16;

/// Writes a code with this number of bits.
pub fn encode(code: &[u8], bits: u32, heartbeat: &mut dyn Heartbeat) -> Result<String, Problem> {
    if !bits.is_multiple_of(4) {
        return Err(unfilled(bits));
    }
    let mut text = String::new();
    reserve_text(&mut text, code.len() * 2)?;
    for code in code.chunks(STRIDE) {
        heartbeat.beat();
        let digits = code.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        text.extend(digits.map(|digit| char::from(DIGITS[usize::from(digit)])));
    }
    text.truncate(bits as usize / 4);
    Ok(text)
}

/// Reads a code. Returns its bytes and its number of bits.
pub fn decode(text: &str, heartbeat: &mut dyn Heartbeat) -> Result<(Vec<u8>, u32), Problem> {
    let mut code = Vec::new();
    reserve(&mut code, text.len().div_ceil(2))?;
    let mut digits = 0usize;
    for piece in pieces(text, STRIDE) {
        heartbeat.beat();
        for digit in piece.chars().filter(|digit| !digit.is_ascii_whitespace()) {
            let value = digit.to_digit(16).ok_or_else(|| not_a_digit(text, digit))? as u8;
            match code.last_mut() {
                Some(last) if !digits.is_multiple_of(2) => *last |= value,
                _ => code.push(value << 4),
            }
            digits += 1;
        }
    }
    match digits * 4 {
        bits @ ..=MAX_BITS => Ok((code, bits as u32)),
        bits => Err(Problem::new(ProblemKind::TooLarge, format!("code of {bits} bits is too long"))
            .with_detail(format!("A code can have at most {MAX_BITS} bits."))),
    }
}

fn unfilled(bits: u32) -> Problem {
    let filled = bits.next_multiple_of(4);
    let message = format!("cannot write a code of {bits} bits in hexadecimal digits");
    Problem::new(ProblemKind::InvalidValue, message)
        .with_detail("The number of bits must be a multiple of 4.")
        .with_hint(format!(
            "Add zeros on the right with code::bit({filled}), or write the bits themselves with code::text."
        ))
}

fn not_a_digit(text: &str, digit: char) -> Problem {
    Problem::new(ProblemKind::InvalidText, format!("invalid code: \"{}\"", Problem::quote(text)))
        .with_detail(format!("\"{digit}\" is not a hexadecimal digit."))
        .with_hint(match digit {
            'x' | 'X' | '\\' => "Write the digits without a leading 0x or \\x.",
            '-' => "To read a uuid, use code_decode(replace(code, '-', '')).",
            _ => "To read a code in base64, use code_decode(encode(decode(code, 'base64'), 'hex')).",
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_codes() {
        for (text, code, bits) in
            [("", &[][..], 0), ("A", &[0xa0], 4), (" 0f\n1 ", &[0x0f, 0x10], 12), ("fF", &[255], 8)]
        {
            assert_eq!(decode(text, &mut || ()), Ok((code.to_vec(), bits)), "{text}");
        }
        assert_eq!(encode(&[0x0f, 0x10], 12, &mut || ()), Ok("0f1".to_string()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, digit) in [("0xff", 'x'), ("8b1g", 'g'), ("ü", 'ü')] {
            let detail = decode(text, &mut || ()).unwrap_err().detail;
            assert_eq!(detail, Some(format!("\"{digit}\" is not a hexadecimal digit.")), "{text}");
        }
        let uuid = "45a50d70-45ba-41bc-99ae-2ad864512551";
        for (text, hint) in [("0xff", "0x or"), ("\\x00ff", "or \\x"), (uuid, "'-'"), ("ix/N6A==", "base64")]
        {
            assert!(decode(text, &mut || ()).unwrap_err().hint.unwrap().contains(hint), "{text}");
        }
        for (bits, hint) in [(5, "bit(8)"), (255, "bit(256)")] {
            assert!(encode(&[0; 32], bits, &mut || ()).unwrap_err().hint.unwrap().contains(hint), "{bits}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(code: Vec<u8>, cut: bool) {
            let mut code = code;
            let mut bits = code.len() as u32 * 8;
            if cut && let Some(last) = code.last_mut() {
                *last &= 0xf0;
                bits -= 4;
            }
            let hex = encode(&code, bits, &mut || ()).unwrap();
            prop_assert_eq!(decode(&hex.to_uppercase(), &mut || ()), Ok((code, bits)));
        }
    }
}

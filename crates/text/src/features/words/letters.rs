//! The letters of a text, for a sketch that uses nothing else.
//!
//! ASCII letters are selected without branches. Other text is decoded and looked up in the table of all
//! characters ([`table`](super::table)), as in [`machine`](super::machine). If a character depends on its
//! neighbours, the Unicode crates normalize the text run by run.

use super::machine::{GROWTH, lengthen, stays_in_place};
use super::normal::{is_letter, normalize};
use super::runs::{next_run, split_piece};
use super::table::{Entry, SHORT, class, entry};
use super::utf8::{DecodedCharacter, decode, encode};
use super::{BUFFERED, Keep};
use base::{Heartbeat, OutOfMemory, grow};

/// The number of bytes that may be written temporarily.
const SLACK: usize = 4;

/// Appends the letters of the text in UTF-8, normalized and in lower case.
pub(crate) fn add_letters(
    text: &str,
    letters: &mut Vec<u8>,
    heartbeat: &mut dyn Heartbeat,
) -> Result<(), OutOfMemory> {
    let mut rest = text;
    let mut passed = 0;
    let mut buffer = Vec::new();
    while !rest.is_empty() {
        let (piece, after) = split_piece(rest).or_else(|| next_run(rest)).unwrap_or((rest, ""));
        passed += rest.len() - after.len();
        rest = after;
        add_piece(piece, &mut buffer, letters)?;
        if passed >= BUFFERED {
            passed = 0;
            heartbeat.beat();
        }
    }
    Ok(())
}

/// Adds the letters of whole runs at once; or of run by run, if a character depends on its neighbours.
fn add_piece(piece: &str, buffer: &mut Vec<u8>, letters: &mut Vec<u8>) -> Result<(), OutOfMemory> {
    let most = GROWTH * piece.len() + SLACK;
    lengthen(buffer, most)?;
    grow(letters, most)?;
    if piece.is_ascii() {
        let length = put_ascii_letters(piece.as_bytes(), buffer);
        letters.extend_from_slice(&buffer[..length]);
        return Ok(());
    }
    if let Some(length) = put_letters(piece, buffer) {
        letters.extend_from_slice(&buffer[..length]);
        return Ok(());
    }
    let mut rest = piece;
    while let Some((run, after)) = next_run(rest) {
        if let Some(length) = put_letters(run, buffer) {
            letters.extend_from_slice(&buffer[..length]);
        } else {
            let mut utf8 = [0; 4];
            for letter in normalize(run, Keep::All).filter(|&c| is_letter(c)) {
                letters.extend_from_slice(letter.encode_utf8(&mut utf8).as_bytes());
            }
        }
        rest = after;
    }
    Ok(())
}

/// Writes the ASCII letters into the buffer, and returns their number. Every byte is written, but overwritten
/// by the next one unless it is a letter.
fn put_ascii_letters(text: &[u8], buffer: &mut [u8]) -> usize {
    let mut end = 0;
    for &byte in text {
        let lower_case = byte | 0x20;
        buffer[end] = lower_case;
        end += usize::from(lower_case.wrapping_sub(b'a') < 26);
    }
    end
}

/// Writes the letters into the buffer, and returns their number of bytes; `None` if a character depends on
/// its neighbours.
fn put_letters(text: &str, buffer: &mut [u8]) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut end = 0;
    let mut put = |entry: Entry, utf8: u32, length: usize| {
        buffer[end..end + 4].copy_from_slice(&utf8.to_le_bytes());
        end += if entry.has(Entry::LETTER) { length } else { 0 };
    };
    let mut at = 0;
    let mut combining_class = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte < 0x80 {
            put(SHORT[usize::from(byte)], u32::from(byte | 0x20), 1);
            combining_class = 0;
            at += 1;
            continue;
        }
        let DecodedCharacter { code_point, utf8, length } = decode(&bytes[at..])?;
        let entry = entry(code_point);
        if entry.is_plain() {
            put(entry, utf8, length);
            combining_class = 0;
        } else if entry.class() == class::SEVERAL {
            for c in entry.normal_form().chars() {
                let (utf8, length) = encode(u32::from(c));
                put(self::entry(u32::from(c)), utf8, length);
                combining_class = self::entry(u32::from(c)).combining_class();
            }
        } else if entry.class() == class::DEPENDS {
            return None;
        } else if entry.combining_class() != 0 {
            if !stays_in_place(entry, code_point, combining_class, &text[..at]) {
                return None;
            }
            combining_class = entry.combining_class();
        } else {
            let (utf8, length) = encode(entry.value());
            put(entry, utf8, length);
            combining_class = 0;
        }
        at += length;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn letters_are_those_of_the_definition(
            text in prop_oneof!["\\PC{0,300}", "([a-zé\u{301}\u{327}Σß각ﷺｶﾞ]| ){0,1500}"],
        ) {
            let mut letters = Vec::new();
            add_letters(&text, &mut letters, &mut || ()).unwrap();
            let runs = text.split(|c: char| c.is_ascii_whitespace());
            let expected: String = runs.flat_map(|run| normalize(run, Keep::All)).filter(|&c| is_letter(c)).collect();
            prop_assert_eq!(String::from_utf8(letters).unwrap(), expected);
        }
    }
}

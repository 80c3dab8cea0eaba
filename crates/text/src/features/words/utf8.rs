//! Decodes the first character of a text in UTF-8.

use super::table::{Entry, SHORT, entry};

/// The first character of a text.
#[derive(Clone, Copy)]
pub(super) struct DecodedCharacter {
    pub(super) code_point: u32,
    /// Its UTF-8; the first byte is the lowest.
    pub(super) utf8: u32,
    pub(super) length: usize,
}

/// The normal form of the first character, if it is an alphabetic letter whose normal form has the same
/// length. Returns its UTF-8, whose first byte is the lowest, and its length.
#[inline(always)]
pub(super) fn next_letter(bytes: &[u8]) -> Option<(u32, usize)> {
    let &[first, second] = bytes.first_chunk()?;
    match first {
        0..0x80 => {
            let entry = SHORT[usize::from(first)];
            (entry.low_half() == Entry::PLAIN_LETTER).then_some((entry.value(), 1))
        }
        0x80..0xe0 => {
            let entry = SHORT[(usize::from(first) & 0x1f) << 6 | usize::from(second) & 0x3f];
            (entry.low_half() == Entry::PLAIN_LETTER).then_some((entry.value(), 2))
        }
        _ => {
            let &[first, second, third, fourth] = bytes.first_chunk()?;
            let code_point = code_point_of_three([first, second, third]);
            (first < 0xf0 && entry(code_point).low_half() == Entry::PLAIN_LETTER)
                .then_some((u32::from_le_bytes([first, second, third, fourth]), 3))
        }
    }
}

/// The code point of a character with three bytes of UTF-8.
#[inline(always)]
pub(super) fn code_point_of_three(utf8: [u8; 3]) -> u32 {
    let [first, second, third] = utf8.map(u32::from);
    (first & 0x0f) << 12 | (second & 0x3f) << 6 | third & 0x3f
}

/// The first character of the text, which must not be ASCII.
#[inline(always)]
pub(super) fn decode(bytes: &[u8]) -> Option<DecodedCharacter> {
    let at = |index: usize| bytes.get(index).copied();
    let first = at(0)?;
    let second = at(1)?;
    if first < 0xe0 {
        let code_point = u32::from(first & 0x1f) << 6 | u32::from(second & 0x3f);
        return Some(DecodedCharacter {
            code_point,
            utf8: u32::from_le_bytes([first, second, 0, 0]),
            length: 2,
        });
    }
    let third = at(2)?;
    if first < 0xf0 {
        let code_point = code_point_of_three([first, second, third]);
        return Some(DecodedCharacter {
            code_point,
            utf8: u32::from_le_bytes([first, second, third, 0]),
            length: 3,
        });
    }
    let fourth = at(3)?;
    let code_point = u32::from(first & 7) << 18
        | u32::from(second & 0x3f) << 12
        | u32::from(third & 0x3f) << 6
        | u32::from(fourth & 0x3f);
    Some(DecodedCharacter { code_point, utf8: u32::from_le_bytes([first, second, third, fourth]), length: 4 })
}

/// The UTF-8 of a character, whose first byte is the lowest, and its length.
#[inline(always)]
pub(super) fn encode(code_point: u32) -> (u32, usize) {
    let mut utf8 = [0; 4];
    let c = char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER);
    let length = c.encode_utf8(&mut utf8).len();
    (u32::from_le_bytes(utf8), length)
}

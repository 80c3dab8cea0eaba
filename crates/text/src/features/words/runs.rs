//! Runs of text between ASCII white space, pieces of several runs, and the words of a run of ASCII.

use super::ascii::{WINDOW, beyond_ascii};
use crate::features::addresses::UUID_LENGTH;

/// The largest number of bytes of a run.
pub(super) const MAX_RUN: usize = 16 * 1024;

/// A window that has more OTHER bytes than this after folding, as in Hebrew, is not cut by masks either: its
/// runs are faster in one piece. A piece of other text ends before a window that has no more bytes beyond
/// ASCII than this.
pub(super) const NOT_FOLDED: u32 = 14;

/// The most bytes of a piece of several runs, whose words fit into the processor's first cache.
pub(super) const PIECE: usize = 1024;

// Classes of bytes. A run has the classes of all its bytes.
pub(super) const LETTER: u8 = 1;
pub(super) const DIGIT: u8 = 2;
/// The underscore, which joins words but is not a word.
pub(super) const JOINER: u8 = 4;
pub(super) const WORD: u8 = LETTER | DIGIT | JOINER;
pub(super) const PUNCTUATION: u8 = 8;
/// Punctuation that is inside every address, unless it is a UUID.
pub(super) const ADDRESS: u8 = 16;
pub(super) const NOT_ASCII: u8 = 32;
/// Tab, line feed, vertical tab, form feed, carriage return, blank.
pub(super) const SPACE: u8 = 64;
/// Control characters that are not white space.
pub(super) const CONTROL: u8 = 128;

const CLASSES: [u8; 256] = {
    let mut classes = [NOT_ASCII; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => JOINER,
            b'/' | b'.' | b'@' | b':' => PUNCTUATION | ADDRESS,
            b'\t'..=b'\r' | b' ' => SPACE,
            0..b' ' | 127 => CONTROL,
            _ => PUNCTUATION,
        };
        byte += 1;
    }
    classes
};

pub(super) fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

/// Text between ASCII white space.
pub(super) struct TextRun<'a> {
    pub(super) text: &'a str,
    pub(super) classes: u8,
    pub(super) after: &'a str,
}

impl TextRun<'_> {
    pub(super) fn has(&self, classes: u8) -> bool {
        self.classes & classes != 0
    }

    /// Whether the run has a character of addresses inside, or is long enough for a UUID.
    pub(super) fn may_have_address(&self) -> bool {
        let before_end = &self.text.as_bytes()[..self.text.len() - 1];
        self.has(ADDRESS) && before_end.iter().any(|&byte| class(byte) & ADDRESS != 0)
            || self.has(PUNCTUATION) && self.text.len() >= UUID_LENGTH
    }
}

/// The next run of the text.
pub(super) fn next_run(text: &str) -> Option<TextRun<'_>> {
    let bytes = text.as_bytes();
    let start = bytes.iter().position(|&byte| class(byte) != SPACE)?;
    let within = &bytes[start..bytes.len().min(start + MAX_RUN)];
    let mut length = count_letters(within);
    let mut classes = if length > 0 { LETTER } else { 0 };
    while let Some(&byte) = within.get(length)
        && class(byte) != SPACE
    {
        classes |= class(byte);
        length += 1;
    }
    let end = if length == MAX_RUN { text.floor_char_boundary(start + length) } else { start + length };
    Some(TextRun { text: &text[start..end], classes, after: &text[end..] })
}

/// The number of ASCII letters at the beginning of the text. Eight bytes are examined at once, since most
/// words are shorter.
pub(super) fn count_letters(text: &[u8]) -> usize {
    let mut length = 0;
    while let Some(&bytes) = text[length..].first_chunk() {
        let others = mark_others(u64::from_le_bytes(bytes));
        if others != 0 {
            return length + others.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    length
}

/// Sets the highest bit of each byte that is not an ASCII letter.
fn mark_others(bytes: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let high = bytes & (EACH << 7);
    let lower_case = (bytes & !(EACH << 7)) | (EACH * 0x20);
    let from_a = lower_case + EACH * (0x80 - b'a' as u64);
    let past_z = lower_case + EACH * (0x7f - b'z' as u64);
    (!from_a | past_z | high) & (EACH << 7)
}

/// The length and the classes of the first word of `run` (UAX #29 rules 5 to 13).
pub(super) fn measure_ascii_word(run: &[u8]) -> (usize, u8) {
    let mut classes = class(run[0]);
    let mut length = count_letters(run).max(1);
    while let Some(&byte) = run.get(length) {
        let before = class(run[length - 1]);
        let joined = match byte {
            b'.' | b'\'' => LETTER | DIGIT,
            b':' => LETTER,
            b',' | b';' => DIGIT,
            _ => 0,
        } & before;
        let inside = if joined == 0 {
            class(byte) & WORD != 0
        } else {
            run.get(length + 1).is_some_and(|&after| class(after) == joined)
        };
        if !inside {
            break;
        }
        classes |= class(byte);
        length += 1;
    }
    (length, classes)
}

/// Cuts off a piece of whole runs with the blank after it, unless the first run is too long. After the first
/// window, the piece ends where the text is nearly all ASCII, since masks are faster there.
pub(super) fn split_piece(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let (windows, _) = bytes[..bytes.len().min(PIECE)].as_chunks::<WINDOW>();
    let is_foreign = |window: &&[u8; WINDOW]| beyond_ascii(window).count_ones() > NOT_FOLDED;
    let foreign = 1 + windows.iter().skip(1).take_while(is_foreign).count();
    let length = if foreign == windows.len() { PIECE } else { foreign * WINDOW };
    if bytes.len() <= length {
        return Some((text, ""));
    }
    let last_blank = bytes[..length].iter().rposition(|&byte| class(byte) == SPACE)?;
    Some(text.split_at(last_blank + 1))
}

//! Words of ASCII, 64 bytes at a time.
//!
//! For each class of characters, a mask of 64 bits tells which bytes have it. Words are found in the masks by
//! shifts, by the rules of UAX #29 for the classes that ASCII has. Anything else is left to the caller, run by
//! run.

use crate::features::addresses::{self, UUID_LENGTH};
use std::ops::Range;

/// Bytes that are looked at together.
pub(super) const WINDOW: usize = 64;
/// Bytes that may be read behind a window.
const BEHIND: usize = 16;
/// Room for the words of a window. Words have at least one byte between them, so with a blank after each they have at
/// most one byte more than the window. Up to 15 bytes are written behind the last.
const ROOM: usize = WINDOW + 2 * BEHIND;

const LETTER: u8 = 0;
const DIGIT: u8 = 1;
/// The underscore, which joins words and is none.
const JOINER: u8 = 2;
/// Full stop and apostrophe, which join two letters or two digits.
const MID_EITHER: u8 = 3;
/// The colon, which joins two letters.
const MID_LETTER: u8 = 4;
/// Comma and semicolon, which join two digits.
const MID_NUMBER: u8 = 5;
/// Tab, line feed, vertical tab, form feed, carriage return, blank.
const SPACE: u8 = 6;
/// Not of ASCII, a control character, or an at sign: its run is left to the caller.
const OTHER: u8 = 7;
/// Any other punctuation.
const NONE: u8 = 8;

/// The first bytes of a text, and the classes of these bytes.
pub(super) struct Window {
    /// The bytes, with blanks behind a text that ends before.
    bytes: [u8; WINDOW + BEHIND],
    /// For each class, the bytes that have it; the first byte is the lowest bit.
    masks: [u64; 8],
}

impl Window {
    #[inline(always)]
    pub(super) fn new(text: &[u8]) -> Self {
        let bytes = text.first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [b' '; WINDOW + BEHIND];
            bytes[..text.len()].copy_from_slice(text);
            bytes
        });
        Self { masks: make_masks(&bytes), bytes }
    }

    #[inline(always)]
    fn mask(&self, class: u8) -> u64 {
        self.masks[usize::from(class)]
    }

    /// The place of the last white space, if there is any: whole runs end there.
    pub(super) fn last_space(&self) -> Option<usize> {
        self.mask(SPACE).checked_ilog2().map(|last| last as usize)
    }

    /// Bytes whose run is not of ASCII alone, or has a control character or an at sign.
    #[inline(always)]
    pub(super) fn other(&self) -> u64 {
        self.mask(OTHER)
    }

    /// Bytes of runs that may have an address.
    #[inline(always)]
    pub(super) fn suspects(&self) -> u64 {
        self.telltales() | self.long_runs()
    }

    /// Bytes that every address but a UUID has one of.
    #[inline(always)]
    fn telltales(&self) -> u64 {
        let mut rest = (self.mask(MID_EITHER) | self.mask(MID_LETTER)) & !(self.mask(SPACE) >> 1);
        let mut found = 0;
        while rest != 0 {
            if addresses::is_telltale(&self.bytes, rest.trailing_zeros() as usize) {
                found |= rest & rest.wrapping_neg();
            }
            rest &= rest - 1;
        }
        found
    }

    /// Bytes that begin a sequence without a blank that is as long as a UUID.
    #[inline(always)]
    fn long_runs(&self) -> u64 {
        let mut runs = !self.mask(SPACE);
        for shift in [1, 2, 4, 8, 16] {
            runs &= runs >> shift;
        }
        runs & runs >> (UUID_LENGTH - 32)
    }

    /// Where the run of this byte begins and ends.
    #[inline(always)]
    pub(super) fn run_around(&self, at: u32) -> Range<usize> {
        let before = self.mask(SPACE) & !(u64::MAX << at);
        let start = u64::BITS - before.leading_zeros();
        let end = at + (self.mask(SPACE) >> at).trailing_zeros();
        start as usize..end as usize
    }

    /// Adds the words of whole runs, none of which has an [`other`](Self::other) byte.
    #[inline(always)]
    pub(super) fn add_words<const PROSE: bool>(
        &self,
        runs: Range<usize>,
        text: &mut Vec<u8>,
        starts: &mut Vec<usize>,
    ) {
        let [letters, digits] = [LETTER, DIGIT].map(|class| self.mask(class));
        let between = |mask: u64| mask << 1 & mask >> 1;
        let joins = (self.mask(MID_EITHER) | self.mask(MID_LETTER)) & between(letters)
            | (self.mask(MID_EITHER) | self.mask(MID_NUMBER)) & between(digits)
            | self.mask(JOINER);
        let plain = if PROSE { letters } else { letters | digits };
        let mut rest = (letters | digits | joins) & bits(runs);
        let mut room = [0; ROOM];
        let mut length = 0;
        while rest != 0 {
            let first = rest.trailing_zeros() as usize;
            // The carry runs through the word's bits and clears them.
            let after_word = rest & rest.wrapping_add(rest & rest.wrapping_neg());
            let word = rest ^ after_word;
            rest = after_word;
            let count = (!(word >> first)).trailing_zeros() as usize;
            let (bytes, target) = (&self.bytes[first..], &mut room[length..]);
            let written = if word & !plain == 0 {
                put(bytes, count, target);
                count
            } else {
                put_mixed::<PROSE>(&bytes[..count], target)
            };
            if written > 0 {
                target[written] = b' ';
                starts.push(text.len() + length);
                length += written + 1;
            }
        }
        // A copy of known length takes a few instructions.
        let before = text.len();
        text.extend_from_slice(&room);
        text.truncate(before + length);
    }
}

/// The bits of bytes within a window. A window's last run ends before its last byte.
#[inline(always)]
pub(super) fn bits(range: Range<usize>) -> u64 {
    (1 << range.end) - (1 << range.start)
}

/// Writes letters in lower case, and digits. Writes up to 15 bytes behind them, too.
#[inline(always)]
fn put(bytes: &[u8], count: usize, target: &mut [u8]) {
    let mut at = 0;
    loop {
        for (to, from) in target[at..at + 16].iter_mut().zip(&bytes[at..at + 16]) {
            *to = from | 0x20;
        }
        at += 16;
        if at >= count {
            return;
        }
    }
}

/// Writes a word that does not consist of letters alone, if it is wanted. Returns its length, or 0.
#[inline(never)]
fn put_mixed<const PROSE: bool>(word: &[u8], target: &mut [u8]) -> usize {
    let is_wanted = if PROSE { u8::is_ascii_alphabetic } else { u8::is_ascii_alphanumeric };
    if !word.iter().any(is_wanted) {
        return 0;
    }
    let mut length = 0;
    for &byte in word {
        target[length] = byte.to_ascii_lowercase();
        length += usize::from(!PROSE || byte.is_ascii_alphanumeric());
    }
    if PROSE && addresses::is_digest(&target[..length]) { 0 } else { length }
}

/// For each byte, its classes: byte c is 1 if it has class c.
static CLASSES: [u64; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let class = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => JOINER,
            b'.' | b'\'' => MID_EITHER,
            b':' => MID_LETTER,
            b',' | b';' => MID_NUMBER,
            b'\t'..=b'\r' | b' ' => SPACE,
            0..b' ' | b'@' | 127.. => OTHER,
            _ => NONE,
        };
        if class != NONE {
            classes[byte] = 1 << (8 * class);
        }
        byte += 1;
    }
    // As a full stop, it may be part of an address. What it joins does not matter, as it is OTHER.
    classes[b'@' as usize] |= 1 << (8 * MID_EITHER);
    classes
};

/// Makes a mask for each class.
///
/// Eight bytes make eight masks of eight bits in one word. This was as fast as comparisons that the compiler
/// turned into vector instructions, since from safe code it does not make those that gather the results in a
/// mask.
#[inline(always)]
fn make_masks(bytes: &[u8; WINDOW + BEHIND]) -> [u64; 8] {
    let mut words = [0; 8];
    let (eights, _) = bytes.as_chunks::<8>();
    for (word, eight) in words.iter_mut().zip(eights) {
        for &byte in eight.iter().rev() {
            *word = *word << 1 | CLASSES[usize::from(byte)];
        }
    }
    swap_across::<4>(&mut words, 0x0000_0000_ffff_ffff);
    swap_across::<2>(&mut words, 0x0000_ffff_0000_ffff);
    swap_across::<1>(&mut words, 0x00ff_00ff_00ff_00ff);
    words
}

/// A step of the transposition of a square of eight times eight bytes: swaps squares of DISTANCE bytes across
/// the diagonal. `mask` has the lower half of each square (Warren, "Hacker's Delight", section 7-3).
#[inline(always)]
fn swap_across<const DISTANCE: usize>(words: &mut [u64; 8], mask: u64) {
    for low in (0..8).filter(|low| low & DISTANCE == 0) {
        let difference = (words[low] >> (8 * DISTANCE) ^ words[low + DISTANCE]) & mask;
        words[low + DISTANCE] ^= difference;
        words[low] ^= difference << (8 * DISTANCE);
    }
}

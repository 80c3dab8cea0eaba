//! Words of text that is mostly ASCII, 64 bytes at a time.
//!
//! For each class of characters, a mask of 64 bits says which bytes have it. Words are found in the masks by
//! shifts, by the rules of UAX #29 for the classes that ASCII has. [`latin`](super::latin) brings other
//! letters and quotes into the masks. Anything else is left to the caller, run by run.

use super::readable_word::{ReadableWord, SHORT_WORD, TakeWord};
use crate::features::addresses::{self, UUID_LENGTH};
use std::ops::Range;
use wide::u8x16;

/// Bytes that are looked at together.
pub(super) const WINDOW: usize = 64;
/// Bytes that may be read behind a window: no fewer than behind a word, and a multiple of sixteen, which is
/// copied fast.
const BEHIND: usize = 32;
/// A window and the bytes behind it.
pub(super) type WindowBytes = [u8; WINDOW + BEHIND];
/// Bytes of a buffer for the words of a window. Words have at least one byte between them, so with a blank
/// after each they have at most one byte more than the window. Up to 15 bytes are written behind the last.
const BUFFER: usize = WINDOW + BEHIND;

pub(super) const LETTER: u8 = 0;
pub(super) const DIGIT: u8 = 1;
/// The underscore, which joins words and is none.
pub(super) const JOINER: u8 = 2;
/// Full stop and apostrophe, which join two letters or two digits.
pub(super) const MID_EITHER: u8 = 3;
/// The colon, which joins two letters.
const MID_LETTER: u8 = 4;
/// Comma and semicolon, which join two digits.
const MID_NUMBER: u8 = 5;
/// Tab, line feed, vertical tab, form feed, carriage return, blank.
const SPACE: u8 = 6;
/// A control character, an at sign, or beyond ASCII and not folded: its run is left to the caller.
pub(super) const OTHER: u8 = 7;
/// Any other punctuation.
pub(super) const NONE: u8 = 8;

/// The first bytes of a text, and the classes of these bytes.
pub(super) struct Window<'a> {
    pub(super) bytes: &'a WindowBytes,
    /// Bits to be set in letters and digits to make them lower case: none if they are so already.
    pub(super) to_lower_case: u8x16,
    /// For each class, the bytes that have it; the first byte is the lowest bit.
    pub(super) masks: [u64; 8],
}

impl<'a> Window<'a> {
    /// The first bytes of the text, or in `padded` those of a short text with blanks behind.
    #[inline(always)]
    pub(super) fn new(text: &'a [u8], padded: &'a mut WindowBytes) -> Self {
        let bytes = text.first_chunk().unwrap_or_else(|| {
            padded.fill(b' ');
            padded[..text.len()].copy_from_slice(text);
            padded
        });
        Self { masks: make_masks(bytes), bytes, to_lower_case: u8x16::splat(0x20) }
    }

    #[inline(always)]
    pub(super) fn mask(&self, class: u8) -> u64 {
        self.masks[usize::from(class)]
    }

    /// The place of the last white space, if there is any: whole runs end there.
    pub(super) fn last_space(&self) -> Option<usize> {
        self.mask(SPACE).checked_ilog2().map(|last| last as usize)
    }

    /// Bytes whose run is left to the caller.
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
            if addresses::is_telltale(self.bytes, rest.trailing_zeros() as usize) {
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

    /// The words of whole runs, none of which has an [`other`](Self::other) byte.
    #[inline(always)]
    fn words<const PROSE: bool>(&self, runs: Range<usize>) -> WindowWords {
        let [letters, digits] = [LETTER, DIGIT].map(|class| self.mask(class));
        let between = |mask: u64| mask << 1 & mask >> 1;
        let joins = (self.mask(MID_EITHER) | self.mask(MID_LETTER)) & between(letters)
            | (self.mask(MID_EITHER) | self.mask(MID_NUMBER)) & between(digits)
            | self.mask(JOINER);
        let alphanumeric = letters | digits;
        let (wanted, kept) = if PROSE { (letters, alphanumeric) } else { (alphanumeric, u64::MAX) };
        WindowWords { rest: (alphanumeric | joins) & bits(runs), wanted, kept }
    }

    /// Adds the words of whole runs, none of which has an [`other`](Self::other) byte.
    #[inline(always)]
    pub(super) fn add_words<const PROSE: bool>(
        &self,
        runs: Range<usize>,
        text: &mut Vec<u8>,
        starts: &mut Vec<usize>,
    ) {
        let before = text.len();
        text.extend_from_slice(&[0; BUFFER]);
        let buffer = &mut text[before..];
        let mut length = 0;
        for WindowWord { first, count, mixed } in self.words::<PROSE>(runs) {
            let (bytes, target) = (&self.bytes[first..], &mut buffer[length..]);
            let written = match mixed {
                None => {
                    put(bytes, count, self.to_lower_case, target);
                    count
                }
                Some(kept) => put_mixed::<PROSE>(&bytes[..count], kept, target),
            };
            if written > 0 {
                target[written] = b' ';
                starts.push(before + length);
                length += written + 1;
            }
        }
        text.truncate(before + length);
    }

    /// Passes on the same words of prose, which are not written where that can be avoided.
    #[inline(always)]
    pub(super) fn take_words(&self, runs: Range<usize>, consumer: &mut impl TakeWord) {
        let set = self.to_lower_case.to_array()[0];
        let words = self.words::<true>(runs);
        if words.rest & !words.wanted | longer(words.rest) == 0 {
            let word = |(first, length)| ReadableWord { bytes: &self.bytes[first..], length, set };
            return runs_of_ones(words.rest).for_each(|run| consumer.take_short(word(run)));
        }
        for WindowWord { first, count, mixed } in words {
            let bytes = &self.bytes[first..];
            let Some(kept) = mixed else {
                consumer.take(ReadableWord { bytes, length: count, set });
                continue;
            };
            let mut written = [0; WINDOW + BEHIND];
            let length = put_mixed::<true>(&bytes[..count], kept, &mut written);
            if length > 0 {
                consumer.take(ReadableWord { bytes: &written, length, set: 0 });
            }
        }
    }
}

/// The first bit of runs of ones that are longer than a short word, and perhaps more of their bits.
#[inline(always)]
fn longer(bits: u64) -> u64 {
    const { assert!(SHORT_WORD == 16) };
    let mut runs = bits & bits >> 1;
    for shift in [1, 2, 4, 8] {
        runs &= runs >> shift;
    }
    runs
}

/// Where each run of ones begins, and its length. The highest bit is a zero.
#[inline(always)]
fn runs_of_ones(bits: u64) -> impl Iterator<Item = (usize, usize)> {
    let (mut firsts, mut ends) = (bits & !(bits << 1), bits << 1 & !bits);
    std::iter::from_fn(move || {
        let first = firsts.trailing_zeros() as usize;
        let length = ends.trailing_zeros() as usize - first;
        if firsts == 0 {
            return None;
        }
        firsts &= firsts - 1;
        ends &= ends - 1;
        Some((first, length))
    })
}

/// A word of a window.
struct WindowWord {
    first: usize,
    count: usize,
    /// The bytes that are kept of a word that does not consist of wanted characters alone.
    mixed: Option<u64>,
}

/// The words of a window that have a wanted character.
struct WindowWords {
    /// The bytes of the words that are left.
    rest: u64,
    wanted: u64,
    kept: u64,
}

impl Iterator for WindowWords {
    type Item = WindowWord;

    #[inline(always)]
    fn next(&mut self) -> Option<WindowWord> {
        while self.rest != 0 {
            let rest = self.rest;
            let first = rest.trailing_zeros() as usize;
            // The carry runs through the word's bits and clears them.
            self.rest = rest & rest.wrapping_add(rest & rest.wrapping_neg());
            let word = rest ^ self.rest;
            let count = (!(word >> first)).trailing_zeros() as usize;
            if word & !self.wanted == 0 {
                return Some(WindowWord { first, count, mixed: None });
            }
            if word & self.wanted != 0 {
                return Some(WindowWord { first, count, mixed: Some(self.kept >> first) });
            }
        }
        None
    }
}

/// The bits of bytes within a window. A window's last run ends before its last byte.
#[inline(always)]
pub(super) fn bits(range: Range<usize>) -> u64 {
    (1 << range.end) - (1 << range.start)
}

/// Writes letters and digits. Writes up to 15 bytes behind them, too.
#[inline(always)]
fn put(bytes: &[u8], count: usize, to_lower_case: u8x16, target: &mut [u8]) {
    let mut at = 0;
    loop {
        let mut sixteen = [0; 16];
        sixteen.copy_from_slice(&bytes[at..at + 16]);
        let lower_case = u8x16::new(sixteen) | to_lower_case;
        target[at..at + 16].copy_from_slice(&lower_case.to_array());
        at += 16;
        if at >= count {
            return;
        }
    }
}

/// Writes the `kept` bytes of a word that does not consist of letters alone. Returns its length, or 0 if it
/// is a digest.
#[inline(never)]
fn put_mixed<const PROSE: bool>(word: &[u8], kept: u64, target: &mut [u8]) -> usize {
    let mut length = 0;
    for (at, byte) in word.iter().enumerate() {
        target[length] = byte.to_ascii_lowercase();
        length += usize::from(kept >> at & 1 == 1);
    }
    if PROSE && addresses::is_digest(&target[..length]) { 0 } else { length }
}

/// The bytes that are not of ASCII.
#[inline(always)]
pub(super) fn beyond_ascii(bytes: &[u8; WINDOW]) -> u64 {
    let (sixteens, _) = bytes.as_chunks();
    // A mask is made of the highest bit of each byte.
    sixteens.iter().rev().fold(0, |mask, &sixteen| mask << 16 | u64::from(u8x16::new(sixteen).to_bitmask()))
}

/// For each class, the bytes that have it.
#[inline(always)]
fn make_masks(bytes: &WindowBytes) -> [u64; 8] {
    let mut masks = [0; 8];
    let (sixteens, _) = bytes[..WINDOW].as_chunks();
    for (place, &sixteen) in sixteens.iter().enumerate() {
        for (mask, bytes) in masks.iter_mut().zip(classify(u8x16::new(sixteen))) {
            *mask |= u64::from(bytes.to_bitmask()) << (16 * place);
        }
    }
    masks
}

/// For each class, 255 for the bytes that have it, and 0 for others.
#[inline(always)]
fn classify(bytes: u8x16) -> [u8x16; 8] {
    let is = |byte| bytes.simd_eq(u8x16::splat(byte));
    let at = is(b'@');
    let space = is_within(bytes, b'\t', b'\r') | is(b' ');
    let mut classes = [u8x16::ZERO; 8];
    classes[usize::from(LETTER)] = is_within(bytes | u8x16::splat(0x20), b'a', b'z');
    classes[usize::from(DIGIT)] = is_within(bytes, b'0', b'9');
    classes[usize::from(JOINER)] = is(b'_');
    // As a full stop, an at sign may be part of an address. What it joins does not matter, as it is OTHER.
    classes[usize::from(MID_EITHER)] = is(b'.') | is(b'\'') | at;
    classes[usize::from(MID_LETTER)] = is(b':');
    classes[usize::from(MID_NUMBER)] = is(b',') | is(b';');
    classes[usize::from(SPACE)] = space;
    classes[usize::from(OTHER)] = !(is_within(bytes, b' ', b'~') | space) | at;
    classes
}

#[inline(always)]
fn is_within(bytes: u8x16, first: u8, last: u8) -> u8x16 {
    let offset = bytes - u8x16::splat(first);
    offset.min(u8x16::splat(last - first)).simd_eq(offset)
}

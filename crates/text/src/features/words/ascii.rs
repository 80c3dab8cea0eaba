//! Finds words in text that is mostly ASCII, 64 bytes at a time.
//!
//! For each class of characters, a mask of 64 bits says which bytes belong to it. Words are found by shifting
//! masks, by the rules of UAX #29 for the classes in ASCII. [`latin`](super::latin) adds other letters and
//! quotes to the masks. All other characters are left to the caller, run by run.

use super::readable_word::{ReadableWord, SHORT_WORD};
use crate::features::Consumer;
use crate::features::addresses::{self, DIGEST_LENGTH, UUID_LENGTH, is_digest};
use std::ops::Range;
use wide::u8x16;

/// The number of bytes that are examined together.
pub(super) const WINDOW: usize = 64;
/// The number of bytes that may be read behind a window: at least as many as behind a word, and a multiple of
/// sixteen, which can be copied fast.
const BEHIND: usize = 32;
/// A window and the bytes behind it.
pub(super) type WindowBytes = [u8; WINDOW + BEHIND];
/// The size of a buffer for a window's words. There is at least one byte between words, so with a blank after
/// each they have at most one byte more than the window. Up to 15 bytes are written behind the last.
const BUFFER: usize = WINDOW + BEHIND;

pub(super) const LETTER: u8 = 0;
pub(super) const DIGIT: u8 = 1;
/// The underscore, which joins words but is not a word.
pub(super) const JOINER: u8 = 2;
/// Full stop and apostrophe, which join two letters or two digits.
pub(super) const MID_EITHER: u8 = 3;
/// The colon, which joins two letters.
const MID_LETTER: u8 = 4;
/// Comma and semicolon, which join two digits.
const MID_NUMBER: u8 = 5;
/// Tab, line feed, vertical tab, form feed, carriage return, blank.
const SPACE: u8 = 6;
/// A control character, an at sign, or beyond ASCII and not folded. Its run is left to the caller.
pub(super) const OTHER: u8 = 7;
/// Any other punctuation.
pub(super) const NONE: u8 = 8;

/// The first bytes of a text, and the classes of these bytes.
pub(super) struct Window<'a> {
    pub(super) bytes: &'a WindowBytes,
    /// Bits that are set in letters and digits to make them lower case; none if they already are.
    pub(super) to_lower_case: u8x16,
    /// For each class, the bytes that belong to it. The first byte is the lowest bit.
    pub(super) masks: [u64; 8],
}

impl<'a> Window<'a> {
    /// The first bytes of the text. A short text is copied to `padded` and followed by blanks.
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

    /// The place of the last white space, if there is any, where the last whole run ends.
    pub(super) fn last_space(&self) -> Option<usize> {
        self.mask(SPACE).checked_ilog2().map(|last| last as usize)
    }

    /// The window of a part of a run, in which an at sign is punctuation as any other.
    #[inline(always)]
    pub(super) fn of_part(part: &'a [u8], padded: &'a mut WindowBytes) -> Self {
        let mut window = Self::new(part, padded);
        let (sixteens, _) = window.bytes[..WINDOW].as_chunks();
        let is_at = |&sixteen: &[u8; 16]| u8x16::new(sixteen).simd_eq(u8x16::splat(b'@')).to_bitmask();
        let at = sixteens.iter().rev().fold(0, |mask, sixteen| mask << 16 | u64::from(is_at(sixteen)));
        window.masks[usize::from(OTHER)] &= !at;
        window.masks[usize::from(MID_EITHER)] &= !at;
        window
    }

    /// The place of the last byte that no word contains, with no byte before it that is left to the caller.
    pub(super) fn last_break(&self) -> Option<usize> {
        let in_words = self.masks.iter().fold(0, |union, mask| union | mask) & !self.mask(SPACE);
        let before_other = self.other() & self.other().wrapping_neg();
        (!in_words & before_other.wrapping_sub(1)).checked_ilog2().map(|last| last as usize)
    }

    /// The bytes whose runs are left to the caller.
    #[inline(always)]
    pub(super) fn other(&self) -> u64 {
        self.mask(OTHER)
    }

    /// Bytes of runs that may contain an address.
    #[inline(always)]
    pub(super) fn suspects(&self) -> u64 {
        self.telltales() | self.long_runs()
    }

    /// The bytes that show an address, unless it is a UUID.
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

    /// The bytes that begin a sequence without white space that is long enough for a UUID.
    #[inline(always)]
    fn long_runs(&self) -> u64 {
        let mut runs = !self.mask(SPACE);
        for shift in [1, 2, 4, 8, 16] {
            runs &= runs >> shift;
        }
        runs & runs >> (UUID_LENGTH - 32)
    }

    /// The range of the run that contains this byte.
    #[inline(always)]
    pub(super) fn run_around(&self, at: u32) -> Range<usize> {
        let before = self.mask(SPACE) & !(u64::MAX << at);
        let start = u64::BITS - before.leading_zeros();
        let end = at + (self.mask(SPACE) >> at).trailing_zeros();
        start as usize..end as usize
    }

    /// The words of whole runs. The runs must not have an [`other`](Self::other) byte.
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

    /// Adds the words of whole runs. The runs must not have an [`other`](Self::other) byte.
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
        for WindowWord { first, count, kept } in self.words::<PROSE>(runs) {
            let bytes = &self.bytes[first..];
            let target = &mut buffer[length..];
            let written = match kept {
                None => {
                    put::<PROSE>(bytes, count, self.to_lower_case, target);
                    count
                }
                Some(kept) => put_kept(bytes, kept, self.to_lower_case, target),
            };
            if PROSE && is_digest(&target[..written]) {
                continue;
            }
            target[written] = b' ';
            starts.push(before + length);
            length += written + 1;
        }
        text.truncate(before + length);
    }

    /// Passes on the words of prose of whole runs. Where possible, they are not copied.
    #[inline(always)]
    pub(super) fn take_words(
        &self,
        runs: Range<usize>,
        consumer: &mut impl for<'w> Consumer<ReadableWord<'w>>,
    ) {
        let set = self.to_lower_case.to_array()[0];
        let words = self.words::<true>(runs);
        if words.rest & !words.kept | long(words.rest) == 0 {
            let wanted = words.wanted;
            let has_wanted = |&(first, length): &(usize, usize)| {
                let before_wanted = (wanted >> first).trailing_zeros() as usize;
                before_wanted < length
            };
            let in_place = |(first, length)| {
                let bytes: &[u8] = &self.bytes[first..];
                ReadableWord { bytes, length, set, is_short: true }
            };
            return runs_of_ones(words.rest).filter(has_wanted).for_each(|run| consumer.take(in_place(run)));
        }
        for WindowWord { first, count, kept } in words {
            let bytes = &self.bytes[first..];
            let Some(kept) = kept else {
                if !is_digest(&bytes[..count]) {
                    take_word(bytes, count, set, consumer);
                }
                continue;
            };
            let mut written = [0; WINDOW + BEHIND];
            let length = put_kept(bytes, kept, self.to_lower_case, &mut written);
            if !is_digest(&written[..length]) {
                take_word(&written, length, 0, consumer);
            }
        }
    }
}

/// Passes on a word. Most words are short, and that branch is predicted better than one on the length.
#[inline(always)]
fn take_word(bytes: &[u8], length: usize, set: u8, consumer: &mut impl for<'w> Consumer<ReadableWord<'w>>) {
    if length <= SHORT_WORD {
        consumer.take(ReadableWord { bytes, length, set, is_short: true });
    } else {
        consumer.take(ReadableWord { bytes, length, set, is_short: false });
    }
}

/// The first bit of each run of ones that is long enough for a digest, or longer than a short word; other
/// bits of the run may be set, too.
#[inline(always)]
fn long(bits: u64) -> u64 {
    const { assert!(DIGEST_LENGTH == 16 && SHORT_WORD >= DIGEST_LENGTH - 1) };
    let mut runs = bits;
    for shift in [1, 2, 4, 8] {
        runs &= runs >> shift;
    }
    runs
}

/// The beginning and the length of each run of ones. The highest bit must be zero.
#[inline(always)]
fn runs_of_ones(bits: u64) -> impl Iterator<Item = (usize, usize)> {
    let mut firsts = bits & !(bits << 1);
    let mut ends = bits << 1 & !bits;
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
    /// If some bytes of the word are not kept: those that are, from its first byte on.
    kept: Option<u64>,
}

/// The words of a window that have a wanted character.
struct WindowWords {
    /// The bytes of the words that were not returned yet.
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
            // The carry runs through the bits of the word and clears them.
            self.rest = rest & rest.wrapping_add(rest & rest.wrapping_neg());
            let word = rest ^ self.rest;
            let count = (!(word >> first)).trailing_zeros() as usize;
            if word & self.wanted != 0 {
                let kept = (word & !self.kept != 0).then_some((word & self.kept) >> first);
                return Some(WindowWord { first, count, kept });
            }
        }
        None
    }
}

/// The bits for a range of bytes in a window. The last run of a window ends before its last byte.
#[inline(always)]
pub(super) fn bits(range: Range<usize>) -> u64 {
    (1 << range.end) - (1 << range.start)
}

/// Writes a word of which all bytes are kept, and up to 15 bytes behind it. The underscore, which prose does
/// not keep, is the only byte of a word that setting the bit of lower case would change.
#[inline(always)]
fn put<const PROSE: bool>(bytes: &[u8], count: usize, to_lower_case: u8x16, target: &mut [u8]) {
    let mut at = 0;
    loop {
        let mut sixteen = [0; 16];
        sixteen.copy_from_slice(&bytes[at..at + 16]);
        let sixteen = u8x16::new(sixteen);
        let set = if PROSE { to_lower_case } else { to_lower_case & !sixteen.simd_eq(u8x16::splat(b'_')) };
        target[at..at + 16].copy_from_slice(&(sixteen | set).to_array());
        at += 16;
        if at >= count {
            return;
        }
    }
}

/// Writes the `kept` bytes of a word of prose, and up to 15 bytes behind them. Returns the number of bytes.
#[inline(never)]
fn put_kept(bytes: &[u8], kept: u64, to_lower_case: u8x16, target: &mut [u8]) -> usize {
    let mut length = 0;
    for (first, count) in runs_of_ones(kept) {
        put::<true>(&bytes[first..], count, to_lower_case, &mut target[length..]);
        length += count;
    }
    length
}

/// The bytes that are not ASCII.
#[inline(always)]
pub(super) fn beyond_ascii(bytes: &[u8; WINDOW]) -> u64 {
    let (sixteens, _) = bytes.as_chunks();
    // A bit mask has the highest bit of each byte.
    sixteens.iter().rev().fold(0, |mask, &sixteen| mask << 16 | u64::from(u8x16::new(sixteen).to_bitmask()))
}

/// For each class, the bytes that belong to it.
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

/// For each class, 255 for the bytes that belong to it, and 0 for others.
#[inline(always)]
fn classify(bytes: u8x16) -> [u8x16; 8] {
    let is = |byte| bytes.simd_eq(u8x16::splat(byte));
    let at = is(b'@');
    let space = is_within(bytes, b'\t', b'\r') | is(b' ');
    let mut classes = [u8x16::ZERO; 8];
    classes[usize::from(LETTER)] = is_within(bytes | u8x16::splat(0x20), b'a', b'z');
    classes[usize::from(DIGIT)] = is_within(bytes, b'0', b'9');
    classes[usize::from(JOINER)] = is(b'_');
    // Like a full stop, an at sign may be part of an address. It joins nothing, since it is OTHER.
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

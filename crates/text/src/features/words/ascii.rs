//! Words of ASCII, 64 bytes at a time.
//!
//! Each byte gets a set of classes, in a loop that the compiler turns into vector instructions. The sets are
//! transposed into a mask of 64 bits for each class, and words are found in the masks by shifts. The rules are
//! those of UAX #29 for the classes that ASCII has; anything else is left to the caller, run by run.

use super::Keep;
use crate::features::addresses::{self, UUID_LENGTH};

/// Bytes that are looked at together.
pub(super) const WINDOW: usize = 64;
/// Bytes that may be read behind a window.
const BEHIND: usize = 16;
/// Bytes of a window's words: each has a blank after it, as all but the last have a byte between. Some bytes
/// are written ahead.
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

/// The begin of a text, and what is in it.
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
        let mut sets = [0; WINDOW];
        for (set, &byte) in sets.iter_mut().zip(&bytes[..WINDOW]) {
            *set = classify(byte);
        }
        Self { bytes, masks: transpose(&sets) }
    }

    #[inline(always)]
    fn mask(&self, class: u8) -> u64 {
        self.masks[usize::from(class)]
    }

    /// The number of characters that are not ASCII, in bytes, and of the few others that are left to the caller.
    pub(super) fn others(&self) -> u32 {
        self.mask(OTHER).count_ones()
    }

    /// The place of the last white space, if there is any: whole runs end there.
    pub(super) fn last_space(&self) -> Option<usize> {
        self.mask(SPACE).checked_ilog2().map(|last| last as usize)
    }

    /// Bytes whose run cannot be taken as it is, or may not.
    #[inline(always)]
    pub(super) fn exceptions(&self, keep: Keep) -> u64 {
        match keep {
            Keep::All => self.mask(OTHER),
            Keep::Prose => self.mask(OTHER) | self.telltales() | self.long_runs(),
        }
    }

    /// Bytes that every address but a UUID or an e-mail address has one of.
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

    /// The first bytes of as many bytes without a blank as a UUID has.
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
    pub(super) fn run_around(&self, at: u32) -> (usize, usize) {
        let before = self.mask(SPACE) & !(u64::MAX << at);
        let start = u64::BITS - before.leading_zeros();
        let end = at + (self.mask(SPACE) >> at).trailing_zeros();
        (start as usize, end as usize)
    }

    /// Whether the run is of ASCII without control characters, and no address.
    #[inline(always)]
    pub(super) fn is_ordinary(&self, start: usize, end: usize) -> bool {
        self.mask(OTHER) & bits(start, end) == 0 && !addresses::has_address(&self.bytes[start..end])
    }

    /// Adds the words of whole runs, from `start` to `end`.
    #[inline(always)]
    pub(super) fn add_words<const PROSE: bool>(
        &self,
        start: usize,
        end: usize,
        text: &mut Vec<u8>,
        starts: &mut Vec<usize>,
    ) {
        let [letters, digits] = [LETTER, DIGIT].map(|class| self.mask(class));
        let between = |mask: u64| mask << 1 & mask >> 1;
        let joins = (self.mask(MID_EITHER) | self.mask(MID_LETTER)) & between(letters)
            | (self.mask(MID_EITHER) | self.mask(MID_NUMBER)) & between(digits)
            | self.mask(JOINER);
        let wanted = if PROSE { letters } else { letters | digits };
        let mut rest = (letters | digits | joins) & bits(start, end);
        let mut room = [0; ROOM];
        let mut length = 0;
        while rest != 0 {
            let first = rest.trailing_zeros();
            let after = first + (!(rest >> first)).trailing_zeros();
            let word = bits(first as usize, after as usize);
            rest &= !word;
            if wanted & word == 0 {
                continue;
            }
            let bytes = &self.bytes[first as usize..];
            let count = word.count_ones() as usize;
            let target = &mut room[length..];
            let written = if joins & word == 0 {
                put(bytes, count, target);
                count
            } else {
                put_joined::<PROSE>(&bytes[..count], target)
            };
            if PROSE && digits & word != 0 && addresses::is_digest(&target[..written]) {
                continue;
            }
            target[written] = b' ';
            starts.push(text.len() + length);
            length += written + 1;
        }
        // A copy of known length takes a few instructions.
        let before = text.len();
        text.extend_from_slice(&room);
        text.truncate(before + length);
    }
}

/// The bits from `start` to `end`, which is at most 63.
#[inline(always)]
fn bits(start: usize, end: usize) -> u64 {
    (1 << end) - (1 << start)
}

/// Writes letters and digits in lower case. Writes up to 15 bytes behind them, too.
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

/// Writes a word that has characters between letters or digits: these are left out of prose. Returns its length.
#[cold]
#[inline(never)]
fn put_joined<const PROSE: bool>(word: &[u8], target: &mut [u8]) -> usize {
    let mut length = 0;
    for &byte in word {
        target[length] = byte.to_ascii_lowercase();
        length += usize::from(!PROSE || byte.is_ascii_alphanumeric());
    }
    length
}

/// The set of classes of a byte, without a branch.
#[inline(always)]
fn classify(byte: u8) -> u8 {
    let flag = |condition: bool, class: u8| if condition { 1 << class } else { 0 };
    let is_space = byte == b' ' || byte.wrapping_sub(b'\t') <= b'\r' - b'\t';
    let is_other = !is_space & (byte.wrapping_sub(b' ') >= 127 - b' ') | (byte == b'@');
    flag((byte | 0x20).wrapping_sub(b'a') < 26, LETTER)
        | flag(byte.wrapping_sub(b'0') < 10, DIGIT)
        | flag(byte == b'_', JOINER)
        | flag((byte == b'.') | (byte == b'\''), MID_EITHER)
        | flag(byte == b':', MID_LETTER)
        | flag((byte == b',') | (byte == b';'), MID_NUMBER)
        | flag(is_space, SPACE)
        | flag(is_other, OTHER)
}

/// Makes eight masks of 64 bits of 64 sets of eight bits.
#[inline(always)]
fn transpose(sets: &[u8; WINDOW]) -> [u64; 8] {
    let (sets, _) = sets.as_chunks::<8>();
    let mut columns = [[0; 8]; 8];
    for (column, &eight) in columns.iter_mut().zip(sets) {
        *column = transpose_bits(u64::from_le_bytes(eight)).to_le_bytes();
    }
    let mut masks = [0; 8];
    for (class, mask) in masks.iter_mut().enumerate() {
        *mask = u64::from_le_bytes(columns.map(|column| column[class]));
    }
    masks
}

/// Transposes eight bytes as a square of bits: swaps bits, pairs, and squares of four, across the diagonal
/// (Warren, "Hacker's Delight", section 7-3).
#[inline(always)]
fn transpose_bits(square: u64) -> u64 {
    let swap = |square: u64, distance: u32, mask: u64| {
        let difference = (square ^ square >> distance) & mask;
        square ^ difference ^ difference << distance
    };
    let square = swap(square, 7, 0x00aa_00aa_00aa_00aa);
    let square = swap(square, 14, 0x0000_cccc_0000_cccc);
    swap(square, 28, 0x0000_0000_f0f0_f0f0)
}

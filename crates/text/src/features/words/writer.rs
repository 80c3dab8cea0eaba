//! Writes the words of a sequence of normalized characters.

use super::breaks::{is_waiting, state, step};
use super::table::{Entry, class};
use super::utf8::next_letter;
use crate::features::addresses;

/// Cuts characters into words, and writes the wanted words, each followed by a blank. PROSE means
/// [`Keep::Prose`](super::Keep::Prose).
///
/// All methods are inlined into one loop, so that the fields are kept in registers.
pub(super) struct WordWriter<'a, const PROSE: bool> {
    /// The buffer for words, with room for all of them and a few more bytes.
    buffer: &'a mut [u8],
    /// The places where words begin: `base` is added to their places in `buffer`.
    starts: &'a mut Vec<usize>,
    base: usize,
    word: UnfinishedWord,
    state: u8,
}

/// The word that is being written. Places are in the buffer.
#[derive(Clone, Copy, Default)]
struct UnfinishedWord {
    start: usize,
    end: usize,
    /// The flags of its characters; after a mid character that waits: its flags and those of later
    /// characters.
    flags: u32,
    /// The place of a mid character that waits for the next one, and the flags of the characters before it.
    mid: usize,
    flags_before_mid: u32,
}

impl<'a, const PROSE: bool> WordWriter<'a, PROSE> {
    pub(super) fn new(buffer: &'a mut [u8], starts: &'a mut Vec<usize>, base: usize) -> Self {
        Self { buffer, starts, base, word: UnfinishedWord::default(), state: state::START }
    }

    #[inline(always)]
    pub(super) fn state(&self) -> u8 {
        self.state
    }

    /// Adds a character: its entry, and its UTF-8, whose first byte is the lowest.
    #[inline(always)]
    pub(super) fn push(&mut self, entry: Entry, utf8: u32, length: usize) {
        if entry.class() == class::SPACE {
            self.end_word();
            return;
        }
        let step = step(self.state, entry.class());
        if !step.joins() {
            if step.is_break() {
                self.finish();
            } else if step.is_mid() {
                self.word.mid = self.word.end;
                self.word.flags_before_mid = self.word.flags;
                self.word.flags = 0;
            } else {
                self.word.flags |= self.word.flags_before_mid;
            }
        }
        self.state = step.state();
        self.put(utf8);
        if !PROSE || entry.has(Entry::WORD_CHARACTER) {
            self.word.end += length;
        }
        self.word.flags |= entry.0;
    }

    /// Adds the letters at the beginning of the text, and returns their number of bytes. To be called if
    /// [`takes_letter`](super::breaks::takes_letter).
    #[inline(always)]
    pub(super) fn push_letters(&mut self, text: &[u8]) -> usize {
        let mut rest = text;
        let mut buffer = &mut self.buffer[self.word.end..];
        while let Some((utf8, length)) = next_letter(rest)
            && let Some(target) = buffer.first_chunk_mut()
        {
            *target = utf8.to_le_bytes();
            rest = &rest[length..];
            buffer = &mut buffer[length..];
        }
        let length = text.len() - rest.len();
        if length > 0 {
            self.word.end += length;
            self.word.flags |= Entry::PLAIN_LETTER;
            self.state = state::LETTER;
        }
        length
    }

    /// Whether the word so far is a wanted ideograph or similar.
    #[inline(always)]
    pub(super) fn is_ideograph(&self) -> bool {
        const BOTH: u32 = Entry::LETTER | Entry::ALPHANUMERIC;
        self.state == state::OTHER && self.word.flags & BOTH == BOTH
    }

    /// Ends an ideograph, and begins the next one.
    #[inline(always)]
    pub(super) fn push_ideograph(&mut self, utf8: [u8; 3]) {
        self.starts.push(self.base + self.word.start);
        self.put(u32::from_le_bytes([b' ', utf8[0], utf8[1], utf8[2]]));
        self.word.start = self.word.end + 1;
        self.word.end += 4;
        self.word.flags = Entry::PLAIN_IDEOGRAPH;
    }

    /// Ends the word, before white space or the end of the text.
    #[inline(always)]
    pub(super) fn end_word(&mut self) {
        self.finish();
        self.state = state::START;
    }

    /// Ends the last word, and returns the number of bytes written.
    #[inline(always)]
    pub(super) fn end_text(mut self) -> usize {
        self.finish();
        self.word.start
    }

    /// Keeps the word if it is wanted.
    #[inline(always)]
    fn finish(&mut self) {
        let next = if is_waiting(self.state) {
            finish_at_mid::<PROSE>(self.buffer, self.starts, self.base, self.word)
        } else {
            finish::<PROSE>(self.buffer, self.starts, self.base, self.word)
        };
        self.word.start = next;
        self.word.end = next;
        self.word.flags = 0;
    }

    /// Writes four bytes at the end of the word. The caller counts how many of them belong to it.
    #[inline(always)]
    fn put(&mut self, utf8: u32) {
        self.buffer[self.word.end..self.word.end + 4].copy_from_slice(&utf8.to_le_bytes());
    }
}

/// Keeps the word if it is wanted. Returns where the next word begins.
#[inline(always)]
fn finish<const PROSE: bool>(
    buffer: &mut [u8],
    starts: &mut Vec<usize>,
    base: usize,
    word: UnfinishedWord,
) -> usize {
    let UnfinishedWord { start, end, flags, .. } = word;
    if !is_wanted::<PROSE>(flags) {
        return start;
    }
    if PROSE && addresses::is_digest(&buffer[start..end]) {
        return start;
    }
    starts.push(base + start);
    buffer[end] = b' ';
    end + 1
}

/// Keeps two words, if they are wanted. The first ends before the mid character. The second is that character
/// with its marks, and is a word if one of these is alphabetic. Returns where the next word begins.
#[cold]
#[inline(never)]
fn finish_at_mid<const PROSE: bool>(
    buffer: &mut [u8],
    starts: &mut Vec<usize>,
    base: usize,
    word: UnfinishedWord,
) -> usize {
    let UnfinishedWord { mid, end, flags, flags_before_mid, .. } = word;
    let first = UnfinishedWord { end: mid, flags: flags_before_mid, ..word };
    if !is_wanted::<PROSE>(flags) {
        return finish::<PROSE>(buffer, starts, base, first);
    }
    // After the blank that follows the first word.
    buffer.copy_within(mid..end, mid + 1);
    let start = finish::<PROSE>(buffer, starts, base, first);
    let second = UnfinishedWord { start, end: start + (end - mid), ..word };
    buffer.copy_within(mid + 1..=end, start);
    finish::<PROSE>(buffer, starts, base, second)
}

#[inline(always)]
fn is_wanted<const PROSE: bool>(flags: u32) -> bool {
    flags & if PROSE { Entry::LETTER } else { Entry::ALPHANUMERIC } != 0
}

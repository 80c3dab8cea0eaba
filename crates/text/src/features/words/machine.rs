//! Finds the words of any text in one pass: decodes a character, looks it up, makes a step of the automaton,
//! and writes the normal form.
//!
//! Sources: UAX #29 (words), UAX #15 (normal forms). The normal form of most characters does not depend on
//! their neighbours. A mark is written unchanged if it does not move (its combining class is not below that
//! of the mark before it) nor compose with the character before it. Any other text is refused, and the caller
//! uses the Unicode crates. So the words are those of the definition, as `tests` verify. Linear time.

use super::breaks::takes_letter;
use super::table::{Entry, SHORT, class, entry};
use super::utf8::{DecodedCharacter, code_point_of_three, decode, encode};
use super::writer::WordWriter;
use crate::features::addresses;
use base::{OutOfMemory, reserve};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::compose;

/// The most bytes of words per byte of text: U+FDFA has three bytes, and becomes four words of 33 bytes,
/// including blanks.
pub(super) const GROWTH: usize = 13;
/// The number of bytes that may be written temporarily.
const SLACK: usize = 64;

/// The machine, which reuses its memory for the next text.
#[derive(Debug, Default)]
pub(super) struct Machine {
    buffer: Vec<u8>,
}

/// What the machine found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MachineOutcome {
    Words,
    /// Words, and a character that addresses contain; only for prose.
    MaybeAddress,
}

impl Machine {
    /// Reserves memory for the words of a text of this length.
    pub(super) fn make_room(&mut self, length: usize) -> Result<(), OutOfMemory> {
        lengthen(&mut self.buffer, GROWTH * length + SLACK)
    }

    /// Adds the words of the text, each followed by a blank, and where they begin. Returns `None` and adds
    /// nothing if a character depends on its neighbours. [`make_room`](Self::make_room) must be called first.
    pub(super) fn add<const PROSE: bool>(
        &mut self,
        text: &str,
        words: &mut Vec<u8>,
        starts: &mut Vec<usize>,
    ) -> Option<MachineOutcome> {
        let count = starts.len();
        let writer = WordWriter::new(&mut self.buffer, starts, words.len());
        match MachineRun::<PROSE>::new(text, writer).run() {
            Some((length, found)) => {
                words.extend_from_slice(&self.buffer[..length]);
                Some(found)
            }
            None => {
                starts.truncate(count);
                None
            }
        }
    }
}

/// Makes a buffer at least as long.
pub(super) fn lengthen(buffer: &mut Vec<u8>, bytes: usize) -> Result<(), OutOfMemory> {
    if let Some(more) = bytes.checked_sub(buffer.len()) {
        reserve(buffer, more)?;
        buffer.resize(bytes, 0);
    }
    Ok(())
}

/// One pass over a text. PROSE stands for [`Keep::Prose`](super::Keep::Prose).
struct MachineRun<'a, const PROSE: bool> {
    text: &'a str,
    bytes: &'a [u8],
    /// The number of bytes that were read.
    at: usize,
    writer: WordWriter<'a, PROSE>,
    /// The combining class of the last character.
    combining_class: u32,
    found: MachineOutcome,
}

impl<'a, const PROSE: bool> MachineRun<'a, PROSE> {
    #[inline(always)]
    fn new(text: &'a str, writer: WordWriter<'a, PROSE>) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, writer, combining_class: 0, found: MachineOutcome::Words }
    }

    /// Returns the length of the words.
    #[inline(always)]
    fn run(mut self) -> Option<(usize, MachineOutcome)> {
        while self.at < self.bytes.len() {
            if takes_letter(self.writer.state()) {
                self.read_words_of_letters();
            } else if self.writer.is_ideograph() {
                self.read_ideographs();
            }
            match self.bytes.get(self.at) {
                None => break,
                Some(0..0x80) => self.read_ascii(),
                Some(_) => self.read_other()?,
            }
        }
        Some((self.writer.end_text(), self.found))
    }

    /// Reads letters that join the word, and further words of letters, each after one blank.
    #[inline(always)]
    fn read_words_of_letters(&mut self) {
        loop {
            let length = self.writer.push_letters(&self.bytes[self.at..]);
            if length > 0 {
                self.at += length;
                self.combining_class = 0;
            }
            if self.bytes.get(self.at) != Some(&b' ') {
                return;
            }
            self.writer.end_word();
            self.combining_class = 0;
            self.at += 1;
        }
    }

    /// Reads consecutive ideographs, each of which is a word.
    #[inline(always)]
    fn read_ideographs(&mut self) {
        while let Some(&[first, second, third]) = self.bytes[self.at..].first_chunk()
            && first & 0xf0 == 0xe0
            && entry(code_point_of_three([first, second, third])).low_half() == Entry::PLAIN_IDEOGRAPH
        {
            self.writer.push_ideograph([first, second, third]);
            self.combining_class = 0;
            self.at += 3;
        }
    }

    #[inline(always)]
    fn read_ascii(&mut self) {
        let byte = self.bytes[self.at];
        if PROSE && byte.is_ascii_control() && !matches!(byte, b'\t'..=b'\r') {
            // As if it were not there.
            self.at += 1;
            return;
        }
        if PROSE && addresses::is_telltale(self.bytes, self.at) {
            self.found = MachineOutcome::MaybeAddress;
        }
        let entry = SHORT[usize::from(byte & 0x7f)];
        self.combining_class = 0;
        self.at += 1;
        self.writer.push(entry, entry.value(), 1);
    }

    /// Reads a character beyond ASCII. Returns `None` if it depends on its neighbours.
    #[inline(always)]
    fn read_other(&mut self) -> Option<()> {
        let decoded = decode(&self.bytes[self.at..])?;
        if decoded.length == 2 {
            let entry = SHORT[decoded.code_point as usize & 0x7ff];
            if entry.is_plain() {
                self.at += 2;
                let is_control = matches!(decoded.code_point, 0x80..0xa0) && entry.class() != class::SPACE;
                if !(PROSE && is_control) {
                    self.combining_class = 0;
                    self.writer.push(entry, entry.value(), 2);
                }
                return Some(());
            }
        }
        let entry = entry(decoded.code_point);
        if entry.is_plain() {
            self.combining_class = 0;
            self.writer.push(entry, decoded.utf8, decoded.length);
        } else if entry.class() == class::SEVERAL {
            self.push_several(entry);
        } else if entry.class() == class::DEPENDS {
            return None;
        } else if entry.combining_class() != 0 {
            self.push_mark(entry, decoded)?;
        } else {
            let (utf8, length) = encode(entry.value());
            self.combining_class = 0;
            self.writer.push(entry, utf8, length);
        }
        self.at += decoded.length;
        Some(())
    }

    /// Writes a mark; `None` if it moves or may compose.
    #[inline(always)]
    fn push_mark(&mut self, entry: Entry, mark: DecodedCharacter) -> Option<()> {
        if !stays_in_place(entry, mark.code_point, self.combining_class, &self.text[..self.at]) {
            return None;
        }
        self.combining_class = entry.combining_class();
        self.writer.push(entry, mark.utf8, mark.length);
        Some(())
    }

    /// Writes a normal form that has several characters or none.
    #[inline(always)]
    fn push_several(&mut self, several: Entry) {
        for c in several.normal_form().chars() {
            let entry = entry(u32::from(c));
            let (utf8, length) = encode(u32::from(c));
            self.combining_class = entry.combining_class();
            self.writer.push(entry, utf8, length);
        }
    }
}

/// Whether a mark neither moves nor may compose, after this text, whose last character has this combining
/// class.
#[inline(always)]
pub(super) fn stays_in_place(mark: Entry, code_point: u32, class_before: u32, before: &str) -> bool {
    let may_compose = mark.has(Entry::CHANGED);
    mark.combining_class() >= class_before
        && !(may_compose && (class_before != 0 || !stays_apart(before, code_point)))
}

/// Whether the mark composes neither with the character before it nor with the folded form of that character.
#[inline(never)]
fn stays_apart(before: &str, mark: u32) -> bool {
    let (Some(mark), Some(c)) = (char::from_u32(mark), before.chars().next_back()) else {
        return true;
    };
    let entry = entry(u32::from(c));
    let is_alone = entry.class() < class::SPACE && entry.combining_class() == 0 && !c.is_control();
    if !is_alone {
        return false;
    }
    let normal = if entry.has(Entry::CHANGED) { char::from_u32(entry.value()).unwrap_or(c) } else { c };
    // A mark may compose with the letter of é, too: U+0327 makes ȩ and U+0301 of it.
    let takes_none = |c: char| compose(c, mark).is_none() && std::iter::once(c).nfd().nth(1).is_none();
    takes_none(c) && (normal == c || takes_none(normal))
}

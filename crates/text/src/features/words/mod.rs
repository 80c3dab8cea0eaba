//! Words of a text, normalized, and their shingles.
//!
//! A word is a segment of Unicode's word segmentation (UAX #29, default rules) that contains at least one
//! letter or digit. The segmentation runs between white space, after compatibility normalization (NFKC),
//! case folding and removal of invisible characters (Default_Ignorable_Code_Point). A shingle is written as
//! its words with one blank between two.
//!
//! [`Keep::Prose`] is for `doc1`, whose rules are in `docs/developers/doc1.md`: addresses, identifiers and
//! numbers are dropped, and words keep only their letters, marks and digits.
//!
//! Text is read in runs between ASCII white space. Runs longer than [`runs::MAX_RUN`] are split there, on a
//! character boundary, so memory is bounded for any text. Time is linear.
//!
//! There are three ways to find the words of a run. `tests` verify that they find the same words:
//!
//! - [`ascii`]: 64 bytes at a time, while most of them are ASCII. [`latin`] handles accented letters and
//!   quotes among them.
//! - [`machine`]: one pass over pieces of 1 KB in any script, by a table of all characters ([`table`]) and an
//!   automaton ([`breaks`], [`writer`]).
//! - [`normal`]: the definition itself, by the Unicode crates, at a twentieth of that speed. It is used for a
//!   run with a character whose normal form depends on its neighbours in a way that the machine does not
//!   handle. In most languages, that is less than one byte in a thousand.

mod ascii;
mod breaks;
mod latin;
mod letters;
mod machine;
mod normal;
#[cfg(any(test, feature = "oracle"))]
mod oracle;
mod output;
mod readable_word;
mod runs;
mod shingles;
mod table;
#[cfg(test)]
mod tests;
mod utf8;
mod writer;

pub(crate) use letters::add_letters;
pub(crate) use normal::Keep;
#[cfg(any(test, feature = "oracle"))]
pub use oracle::words_in_both_ways;
pub(crate) use readable_word::ReadableWord;

use super::{Consumer, addresses};
use ascii::{WINDOW, Window, bits};
use base::{OutOfMemory, grow, grow_text};
use machine::{GROWTH, Machine, MachineOutcome};
use normal::{is_letter, is_word_character, normalize, segment};
use output::{Output, ToBuffer};
use runs::{NOT_FOLDED, may_have_address, next_run, split_piece};

/// A window with more bytes beyond ASCII than this is not cut by masks. Measured: German, French and
/// Vietnamese have fewer such bytes, other scripts more.
const MOSTLY_ASCII: u32 = 40;

/// The size of a part of a text, or of its normalized words, that is passed to the consumer at once.
const BUFFERED: usize = 32 * 1024;

/// Bytes behind the words of a text that may be written temporarily, for which memory is reserved before.
const SLACK: usize = 256;

/// The words of a text. The memory is reused for the next text.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// Normalized words, each followed by a blank.
    text: Vec<u8>,
    /// Where each word begins in `text`.
    starts: Vec<usize>,
    /// The current run in normal form, if it is not ASCII.
    normalized: String,
    machine: Machine,
}

impl Words {
    fn clear(&mut self) {
        self.text.clear();
        self.starts.clear();
    }

    /// Reserves memory for the words of a text of this length, including bytes that are written temporarily.
    #[inline(always)]
    fn make_room(&mut self, length: usize) -> Result<(), OutOfMemory> {
        let bytes = GROWTH * length + SLACK;
        let is_enough = self.text.capacity() - self.text.len() >= bytes
            && self.starts.capacity() - self.starts.len() >= bytes / 8
            && self.normalized.capacity() >= bytes;
        if is_enough { Ok(()) } else { self.grow(length, bytes) }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, length: usize, bytes: usize) -> Result<(), OutOfMemory> {
        grow(&mut self.text, bytes)?;
        grow(&mut self.starts, bytes / 8)?;
        self.machine.make_room(length)?;
        self.normalized.clear();
        grow_text(&mut self.normalized, bytes)
    }

    /// Adds words that the text begins with, and returns the text after them.
    #[inline(always)]
    fn add_next<'a>(&mut self, text: &'a str, keep: Keep) -> Result<&'a str, OutOfMemory> {
        match keep {
            Keep::All => self.add_first::<false>(text, &mut ToBuffer::Buffer),
            Keep::Prose => self.add_first::<true>(text, &mut ToBuffer::Buffer),
        }
    }

    /// Adds words that the text begins with, and returns the text after them; PROSE stands for
    /// [`Keep::Prose`].
    #[inline(always)]
    fn add_first<'a, const PROSE: bool>(
        &mut self,
        text: &'a str,
        output: &mut Output<'_, impl for<'w> Consumer<ReadableWord<'w>>>,
    ) -> Result<&'a str, OutOfMemory> {
        self.make_room(WINDOW)?;
        let mut padded = [0; _];
        let window = Window::new(text.as_bytes(), &mut padded);
        match window.last_space() {
            Some(end) if window.other().count_ones() <= MOSTLY_ASCII => {
                if window.other() != 0 {
                    return self.add_folded_window::<PROSE>(text, &window, end, output);
                }
                self.add_window::<PROSE>(text, &window, end, output);
                Ok(text.get(end + 1..).unwrap_or_default())
            }
            _ => self.add_others::<PROSE>(text, output),
        }
    }

    /// Adds the first words of a text that is not cut by windows.
    #[inline(always)]
    fn add_others<'a, const PROSE: bool>(
        &mut self,
        text: &'a str,
        output: &mut Output<'_, impl for<'w> Consumer<ReadableWord<'w>>>,
    ) -> Result<&'a str, OutOfMemory> {
        let after = self.add_unicode(text, if PROSE { Keep::Prose } else { Keep::All })?;
        output.take_buffered(&mut self.text, &mut self.starts);
        Ok(after)
    }

    /// Adds the words of the first window of the text, which has characters beyond ASCII.
    #[inline(never)]
    fn add_folded_window<'a, const PROSE: bool>(
        &mut self,
        text: &'a str,
        window: &Window<'_>,
        end: usize,
        output: &mut Output<'_, impl for<'w> Consumer<ReadableWord<'w>>>,
    ) -> Result<&'a str, OutOfMemory> {
        let mut folded = [0; _];
        let window = window.fold(end, &mut folded);
        if window.other().count_ones() > NOT_FOLDED {
            return self.add_others::<PROSE>(text, output);
        }
        self.add_window::<PROSE>(text, &window, end, output);
        Ok(text.get(end + 1..).unwrap_or_default())
    }

    /// Adds the words of the window's whole runs before `end`. A run that has an address, or a character
    /// without a class in the window, is handled separately.
    #[inline(always)]
    fn add_window<const PROSE: bool>(
        &mut self,
        text: &str,
        window: &Window<'_>,
        end: usize,
        output: &mut Output<'_, impl for<'w> Consumer<ReadableWord<'w>>>,
    ) {
        let keep = if PROSE { Keep::Prose } else { Keep::All };
        let suspects = if PROSE { window.suspects() } else { 0 };
        let mut exceptions = (window.other() | suspects) & bits(0..end);
        let mut added = 0;
        while exceptions != 0 {
            let run = window.run_around(exceptions.trailing_zeros());
            exceptions &= u64::MAX << run.end;
            let run_bits = bits(run.clone());
            let has_address =
                suspects & run_bits != 0 && addresses::has_address(&text.as_bytes()[run.clone()]);
            if !has_address && window.other() & run_bits == 0 {
                continue;
            }
            output.take_window::<PROSE>(window, added..run.start, &mut self.text, &mut self.starts);
            added = run.end;
            if has_address {
                addresses::skip_addresses(&text[run], |part| self.add_part(part, keep));
            } else {
                self.add_part(&text[run], keep);
            }
            output.take_buffered(&mut self.text, &mut self.starts);
        }
        output.take_window::<PROSE>(window, added..end, &mut self.text, &mut self.starts);
    }

    /// Adds the words of a piece of the text; or of its first run, if it cannot be cut off as a piece.
    #[inline(never)]
    fn add_unicode<'a>(&mut self, text: &'a str, keep: Keep) -> Result<&'a str, OutOfMemory> {
        if let Some((piece, after)) = split_piece(text) {
            self.make_room(piece.len())?;
            self.add_piece(piece, keep);
            return Ok(after);
        }
        let Some((run, after)) = next_run(text) else {
            return Ok("");
        };
        self.make_room(run.len())?;
        self.add_run(run, keep);
        Ok(after)
    }

    /// Adds the words of several runs at once, which is faster than run by run. That is possible if they
    /// contain neither an address nor a character that depends on its neighbours.
    fn add_piece(&mut self, piece: &str, keep: Keep) {
        let before = (self.text.len(), self.starts.len());
        match self.run_machine(piece, keep) {
            Some(MachineOutcome::Words) => return,
            Some(MachineOutcome::MaybeAddress) if !addresses::has_address(piece.as_bytes()) => return,
            _ => (),
        }
        self.text.truncate(before.0);
        self.starts.truncate(before.1);
        self.add_runs(piece, keep);
    }

    /// Adds the words of a text run by run.
    fn add_runs(&mut self, text: &str, keep: Keep) {
        let mut rest = text;
        while let Some((run, after)) = next_run(rest) {
            self.add_run(run, keep);
            rest = after;
        }
    }

    /// Adds the words of a run of text without ASCII white space.
    fn add_run(&mut self, run: &str, keep: Keep) {
        let skipped = keep == Keep::Prose
            && may_have_address(run)
            && addresses::skip_addresses(run, |part| self.add_part(part, keep));
        if !skipped {
            self.add_part(run, keep);
        }
    }

    /// Adds the words of a part of a run, in which no address is looked for; in one pass, if no character
    /// depends on its neighbours.
    fn add_part(&mut self, part: &str, keep: Keep) {
        let rest = match keep {
            Keep::All => self.add_ascii::<false>(part),
            Keep::Prose => self.add_ascii::<true>(part),
        };
        if !rest.is_empty() && self.run_machine(rest, keep).is_none() {
            self.add_unicode_run(rest, keep);
        }
    }

    /// Adds words of a part of a run, if it is ASCII, by windows that end at punctuation between words.
    /// Returns what is left of the part.
    fn add_ascii<'a, const PROSE: bool>(&mut self, part: &'a str) -> &'a str {
        let is_ascii = part.is_ascii();
        let mut rest = part;
        while !rest.is_empty() && is_ascii {
            let mut padded = [0; _];
            let window = Window::of_part(rest.as_bytes(), &mut padded);
            let Some(end) = window.last_break() else { break };
            window.add_words::<PROSE>(0..end, &mut self.text, &mut self.starts);
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        rest
    }

    fn run_machine(&mut self, text: &str, keep: Keep) -> Option<MachineOutcome> {
        match keep {
            Keep::All => self.machine.add::<false>(text, &mut self.text, &mut self.starts),
            Keep::Prose => self.machine.add::<true>(text, &mut self.text, &mut self.starts),
        }
    }

    /// Adds the words of any run by the definition.
    fn add_unicode_run(&mut self, run: &str, keep: Keep) {
        let mut normalized = std::mem::take(&mut self.normalized);
        normalized.clear();
        normalized.extend(normalize(run, keep));
        for word in segment(&normalized) {
            self.add_unicode_word(word, keep);
        }
        self.normalized = normalized;
    }

    /// Adds a word that has a letter or a digit, if it is wanted.
    fn add_unicode_word(&mut self, word: &str, keep: Keep) {
        let start = self.text.len();
        match keep {
            Keep::All => self.text.extend_from_slice(word.as_bytes()),
            Keep::Prose if !word.chars().any(is_letter) => return,
            Keep::Prose => {
                let mut utf8 = [0; 4];
                for c in word.chars().filter(|&c| is_word_character(c)) {
                    self.text.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes());
                }
                if addresses::is_digest(&self.text[start..]) {
                    return self.text.truncate(start);
                }
            }
        }
        self.starts.push(start);
        self.text.push(b' ');
    }
}

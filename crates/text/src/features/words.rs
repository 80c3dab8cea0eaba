//! Words of a text, normalized, and their shingles.
//!
//! A word is a segment of Unicode's word segmentation (UAX #29, default rules) that contains at least one
//! letter or digit. The segmentation runs between white space, after compatibility normalization (NFKC),
//! case folding and removal of invisible characters (Default_Ignorable_Code_Point). A shingle is written as
//! its words with one blank between two.
//!
//! [`Keep::Prose`] is for `doc1`, whose rules are in `docs/doc1.md`: addresses, identifiers and numbers are
//! left out, and words keep only their letters, marks and digits.
//!
//! Text is taken in runs between ASCII white space. A run of ASCII, by far the most in many languages,
//! needs no normalization and is segmented by table; `tests` show that both ways agree. Runs longer than
//! [`MAX_RUN`] are split there, on a character boundary, so memory stays bounded whatever the text. Time is
//! linear.

use super::Sink;
use super::addresses::{self, UUID_LENGTH};
use caseless::Caseless;
use limits::{Heartbeat, OutOfMemory};
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_segmentation::UnicodeSegmentation;

/// Bytes of a run, at most.
pub const MAX_RUN: usize = 16 * 1024;

/// Bytes of normalized words after which their shingles are hashed.
const BUFFERED: usize = 32 * 1024;

/// Which of the words are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// No word is left out.
    All,
    /// Numbers and addresses (URL, e-mail) are left out.
    Prose,
}

/// Memory for words, kept from text to text.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// Words, each followed by a blank; normalized, except that ASCII letters may still be capitals.
    text: Vec<u8>,
    /// Where each word begins in `text`.
    starts: Vec<usize>,
    /// The run in normalized form, when it is not ASCII.
    normalized: String,
}

impl Words {
    /// Passes every k consecutive words to the sink; a text of fewer words is one shingle.
    pub(crate) fn shingles(&mut self, text: &str, k: usize, keep: Keep, sink: &mut impl Sink) {
        self.text.clear();
        self.starts.clear();
        let mut passed_any = false;
        let mut passed = 0;
        let mut rest = text;
        while let Some(run) = next_run(rest) {
            self.add_run(&run, keep);
            rest = run.after;
            passed += run.text.len();
            if passed >= BUFFERED {
                passed = 0;
                sink.pause();
            }
            if self.text.len() >= BUFFERED {
                passed_any |= self.pass_buffered(k, sink);
            }
        }
        passed_any |= self.pass_buffered(k, sink);
        self.text.make_ascii_lowercase();
        if !passed_any && let [words @ .., _blank] = self.text.as_slice() {
            sink.take(words);
        }
    }

    /// Passes on the shingles of the buffered words and keeps the last k - 1 words, which later shingles
    /// begin with. Returns whether there was a shingle.
    fn pass_buffered(&mut self, k: usize, sink: &mut impl Sink) -> bool {
        let shingles = (self.starts.len() + 1).saturating_sub(k);
        if shingles == 0 {
            return false;
        }
        self.text.make_ascii_lowercase();
        let ends = self.starts[k..].iter().copied().chain([self.text.len()]);
        for (&start, end) in self.starts.iter().zip(ends) {
            sink.take(&self.text[start..end - 1]);
        }
        let kept = self.starts.get(shingles).copied().unwrap_or(self.text.len());
        self.text.drain(..kept);
        self.starts.drain(..shingles);
        self.starts.iter_mut().for_each(|start| *start -= kept);
        true
    }

    /// Adds the words of a run of text without ASCII white space.
    fn add_run(&mut self, run: &Run<'_>, keep: Keep) {
        let skipped = keep == Keep::Prose
            && run.may_have_address()
            && addresses::skip_addresses(run.text, |part| self.add_unicode_run(part, keep));
        if skipped {
            return;
        }
        let is_ascii = !(run.has(NOT_ASCII) || keep == Keep::Prose && run.has(CONTROL));
        if !is_ascii {
            self.add_unicode_run(run.text, keep);
        } else if run.has(PUNCTUATION | CONTROL) {
            self.add_ascii_run(run.text.as_bytes(), keep);
        } else {
            self.add_ascii_word(run.text.as_bytes(), run.classes, keep);
        }
    }

    /// Adds the words of a run of ASCII, by Unicode's rules for the few classes of characters it has.
    fn add_ascii_run(&mut self, run: &[u8], keep: Keep) {
        let mut rest = run;
        while let Some(start) = rest.iter().position(|&byte| class(byte) & WORD != 0) {
            let (length, classes) = measure_ascii_word(&rest[start..]);
            let (word, after) = rest[start..].split_at(length);
            self.add_ascii_word(word, classes, keep);
            rest = after;
        }
    }

    /// Adds a word of ASCII that has characters of these classes, if it is wanted.
    #[inline(always)]
    fn add_ascii_word(&mut self, word: &[u8], classes: u8, keep: Keep) {
        let start = self.text.len();
        match keep {
            Keep::All if classes & (LETTER | DIGIT) == 0 => return,
            Keep::Prose if classes & LETTER == 0 => return,
            Keep::Prose if classes & !(LETTER | DIGIT) != 0 => {
                self.text.extend(word.iter().filter(|byte| byte.is_ascii_alphanumeric()));
            }
            _ => self.text.extend_from_slice(word),
        }
        if keep == Keep::Prose && classes & DIGIT != 0 && addresses::is_digest(&self.text[start..]) {
            return self.text.truncate(start);
        }
        self.starts.push(start);
        self.text.push(b' ');
    }

    /// Adds the words of any run.
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

/// Appends the letters of the text in UTF-8, normalized and in lower case.
pub(crate) fn add_letters(
    text: &str,
    letters: &mut Vec<u8>,
    heartbeat: &mut dyn Heartbeat,
) -> Result<(), OutOfMemory> {
    let mut rest = text;
    let mut passed = 0;
    while let Some(run) = next_run(rest) {
        // Normalization makes at most 18 characters of one.
        let most = if run.has(NOT_ASCII) { 18 * run.text.len() } else { run.text.len() };
        letters.try_reserve(most).map_err(|_| OutOfMemory(letters.len() + most))?;
        if run.has(NOT_ASCII) {
            let mut utf8 = [0; 4];
            for letter in normalize(run.text, Keep::All).filter(|&c| is_letter(c)) {
                letters.extend_from_slice(letter.encode_utf8(&mut utf8).as_bytes());
            }
        } else if run.classes == LETTER {
            letters.extend_from_slice(run.text.as_bytes());
        } else {
            letters.extend(run.text.bytes().filter(u8::is_ascii_alphabetic));
        }
        rest = run.after;
        passed += run.text.len();
        if passed >= BUFFERED {
            passed = 0;
            heartbeat.beat();
        }
    }
    letters.make_ascii_lowercase();
    Ok(())
}

/// NFKC, case folding, removal of what is invisible, and NFKC again, since these leave new neighbours.
fn normalize(text: &str, keep: Keep) -> impl Iterator<Item = char> {
    let is_visible = move |&c: &char| match keep {
        Keep::All => !is_default_ignorable(c),
        Keep::Prose => !is_default_ignorable(c) && (!c.is_control() || c.is_whitespace()),
    };
    text.nfkc().default_case_fold().filter(is_visible).nfkc()
}

/// The words of normalized text. White space separates even where a combining mark follows it.
fn segment(normalized: &str) -> impl Iterator<Item = &str> {
    normalized.split_whitespace().flat_map(UnicodeSegmentation::unicode_words)
}

// Classes of bytes. A run has the classes of all its bytes.
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
/// The underscore, which joins words and is none.
const JOINER: u8 = 4;
const WORD: u8 = LETTER | DIGIT | JOINER;
const PUNCTUATION: u8 = 8;
/// Punctuation that every address but a UUID has before its end.
const ADDRESS: u8 = 16;
const NOT_ASCII: u8 = 32;
/// Tab, line feed, vertical tab, form feed, carriage return, blank.
const SPACE: u8 = 64;
/// What cannot be printed and is no white space.
const CONTROL: u8 = 128;

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

fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

/// Text between ASCII white space.
struct Run<'a> {
    text: &'a str,
    classes: u8,
    after: &'a str,
}

impl Run<'_> {
    fn has(&self, classes: u8) -> bool {
        self.classes & classes != 0
    }

    /// Whether the run has a character of addresses before its end, or is long enough for a UUID.
    fn may_have_address(&self) -> bool {
        let before_end = &self.text.as_bytes()[..self.text.len() - 1];
        self.has(ADDRESS) && before_end.iter().any(|&byte| class(byte) & ADDRESS != 0)
            || self.has(PUNCTUATION) && self.text.len() >= UUID_LENGTH
    }
}

/// The next run of the text.
fn next_run(text: &str) -> Option<Run<'_>> {
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
    Some(Run { text: &text[start..end], classes, after: &text[end..] })
}

/// The number of ASCII letters that the text begins with. It looks at eight bytes at once, as most words
/// are shorter.
fn count_letters(text: &[u8]) -> usize {
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

/// Sets the highest bit of each byte that is no letter of ASCII.
fn mark_others(bytes: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let high = bytes & (EACH << 7);
    let lower_case = (bytes & !(EACH << 7)) | (EACH * 0x20);
    let from_a = lower_case + EACH * (0x80 - b'a' as u64);
    let past_z = lower_case + EACH * (0x7f - b'z' as u64);
    (!from_a | past_z | high) & (EACH << 7)
}

/// The length and the classes of the word that `run` begins with (UAX #29 rules 5 to 13).
fn measure_ascii_word(run: &[u8]) -> (usize, u8) {
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

/// Whether the character is a letter: general category L.
fn is_letter(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Letter
}

/// Whether the character is a letter, a mark or a digit: general category L, M or N.
fn is_word_character(c: char) -> bool {
    use GeneralCategoryGroup::{Letter, Mark, Number};
    c.is_ascii_alphanumeric() || !c.is_ascii() && matches!(c.general_category_group(), Letter | Mark | Number)
}

/// Unicode's Default_Ignorable_Code_Point: soft hyphens, joiners, variation selectors, directional
/// marks, byte order marks and their like, which no reader sees.
fn is_default_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests;

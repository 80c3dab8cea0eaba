//! Words of a text, normalized, and their shingles.
//!
//! A word is what Unicode's word segmentation (UAX #29, default rules) finds between white space after
//! compatibility normalization (NFKC), case folding and removal of invisible characters
//! (Default_Ignorable_Code_Point), and contains at least one letter or digit. The hash of a shingle is
//! that of its words with one blank between two.
//!
//! Text is taken in runs between ASCII white space. A run of ASCII, by far the most in many languages,
//! needs no normalization and is segmented by table; `tests` show that both ways agree. A run longer
//! than [`MAX_RUN`] is cut there, so that memory stays bounded whatever the text.

use crate::batch::Batch;
use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of text without ASCII white space that are looked at as one.
pub const MAX_RUN: usize = 16 * 1024;

/// Bytes of normalized words after which their shingles are hashed.
const BUFFERED: usize = 32 * 1024;

/// Which of the words are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// None.
    All,
    /// Numbers and addresses (URL, e-mail).
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
    /// Passes the hash of every k consecutive words to the batch; a text of fewer words is one shingle.
    pub(crate) fn hash_shingles(&mut self, text: &str, k: usize, keep: Keep, batch: &mut Batch<'_>) {
        self.text.clear();
        self.starts.clear();
        let mut hashed_any = false;
        let mut passed = 0;
        let mut rest = text;
        while let Some(run) = next_run(rest) {
            self.add_run(&run, keep);
            rest = run.after;
            // Also where there is nothing to hash, so that the consumer sees time pass.
            passed += run.text.len();
            if passed >= BUFFERED {
                passed = 0;
                batch.flush();
            }
            if self.text.len() >= BUFFERED {
                hashed_any |= self.hash_buffered(k, batch);
            }
        }
        hashed_any |= self.hash_buffered(k, batch);
        self.text.make_ascii_lowercase();
        if !hashed_any && let [words @ .., _blank] = self.text.as_slice() {
            batch.push(xxh3_64(words));
        }
    }

    /// Hashes the shingles of the buffered words and keeps the last k - 1 words, which later shingles
    /// begin with. Returns whether there was a shingle.
    fn hash_buffered(&mut self, k: usize, batch: &mut Batch<'_>) -> bool {
        let shingles = (self.starts.len() + 1).saturating_sub(k);
        if shingles == 0 {
            return false;
        }
        self.text.make_ascii_lowercase();
        let ends = self.starts[k..].iter().copied().chain([self.text.len()]);
        for (&start, end) in self.starts.iter().zip(ends) {
            batch.push(xxh3_64(&self.text[start..end - 1]));
        }
        let kept = self.starts.get(shingles).copied().unwrap_or(self.text.len());
        self.text.drain(..kept);
        self.starts.drain(..shingles);
        self.starts.iter_mut().for_each(|start| *start -= kept);
        true
    }

    /// Adds the words of a run of text without ASCII white space.
    fn add_run(&mut self, run: &Run<'_>, keep: Keep) {
        if keep == Keep::Prose && run.has(ADDRESS) && has_address(run.text) {
            return self.add_around_addresses(run.text);
        }
        if run.has(NOT_ASCII) {
            self.add_unicode_run(run.text, keep);
        } else if run.has(PUNCTUATION) {
            self.add_ascii_run(run.text.as_bytes(), keep);
        } else {
            self.add_word(run.text.as_bytes(), run.classes, keep);
        }
    }

    /// The words of a run that has an address in it, as text of unspaced scripts and markup do.
    fn add_around_addresses(&mut self, run: &str) {
        for piece in run.split_inclusive(|c| !is_address_character(c)) {
            let (piece, after) = match piece.char_indices().next_back() {
                Some((last, c)) if !is_address_character(c) => piece.split_at(last),
                _ => (piece, ""),
            };
            for text in [piece, after] {
                if !has_address(text) {
                    self.add_unicode_run(text, Keep::Prose);
                }
            }
        }
    }

    /// The words of a run of ASCII, by Unicode's rules for the few classes of characters it has.
    fn add_ascii_run(&mut self, run: &[u8], keep: Keep) {
        let mut rest = run;
        while let Some(start) = rest.iter().position(|&byte| class(byte) & WORD != 0) {
            let (length, classes) = measure_ascii_word(&rest[start..]);
            let (word, after) = rest[start..].split_at(length);
            self.add_word(word, classes, keep);
            rest = after;
        }
    }

    /// The words of any run.
    fn add_unicode_run(&mut self, run: &str, keep: Keep) {
        let mut normalized = std::mem::take(&mut self.normalized);
        normalized.clear();
        normalized.extend(normalize(run));
        for word in segment(&normalized) {
            let letter = if word.chars().any(is_letter) { LETTER } else { 0 };
            self.add_word(word.as_bytes(), letter | DIGIT, keep);
        }
        self.normalized = normalized;
    }

    /// Adds a word that has characters of these classes, if it is wanted.
    fn add_word(&mut self, word: &[u8], classes: u8, keep: Keep) {
        let wanted = match keep {
            Keep::All => LETTER | DIGIT,
            Keep::Prose => LETTER,
        };
        if classes & wanted != 0 {
            self.starts.push(self.text.len());
            self.text.extend_from_slice(word);
            self.text.push(b' ');
        }
    }
}

/// NFKC, case folding, removal of what is invisible, and NFKC again, since these leave new neighbours.
fn normalize(text: &str) -> impl Iterator<Item = char> {
    text.nfkc().default_case_fold().filter(|&c| !is_default_ignorable(c)).nfkc()
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
/// Punctuation that every URL or e-mail address has (`/`, `.` or `@`).
const ADDRESS: u8 = 16;
const NOT_ASCII: u8 = 32;
/// Tab, line feed, vertical tab, form feed, carriage return, blank.
const SPACE: u8 = 64;

const CLASSES: [u8; 256] = {
    let mut classes = [NOT_ASCII; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => JOINER,
            b'/' | b'.' | b'@' => PUNCTUATION | ADDRESS,
            b'\t'..=b'\r' | b' ' => SPACE,
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
}

/// The next run of the text.
fn next_run(text: &str) -> Option<Run<'_>> {
    let bytes = text.as_bytes();
    let start = bytes.iter().position(|&byte| class(byte) != SPACE)?;
    let mut classes = 0;
    let mut end = start;
    while let Some(&byte) = bytes.get(end)
        && class(byte) != SPACE
    {
        classes |= class(byte);
        end += 1;
        if end - start == MAX_RUN {
            end = text.floor_char_boundary(end);
            break;
        }
    }
    Some(Run { text: &text[start..end], classes, after: &text[end..] })
}

/// The length and the classes of the word that `run` begins with (UAX #29 rules 5 to 13).
fn measure_ascii_word(run: &[u8]) -> (usize, u8) {
    let mut classes = class(run[0]);
    let mut length = 1;
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

/// Whether there is a URL or an e-mail address in the text.
fn has_address(text: &str) -> bool {
    let starts_with_www = |at: usize| {
        text.as_bytes()[at..].first_chunk().is_some_and(|begin: &[u8; 4]| begin.eq_ignore_ascii_case(b"www."))
    };
    text.trim_matches('@').contains('@')
        || text.contains("://")
        || text.match_indices(['w', 'W']).any(|(at, _)| starts_with_www(at))
}

/// What addresses are written with. Quotes, brackets and all of Unicode end them.
fn is_address_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~:/?#@!$&*+,;=%".contains(c)
}

/// Neither a number nor a sign: general category L.
fn is_letter(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Letter
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words_of(text: &str, keep: Keep) -> Vec<String> {
        let mut words = Words::default();
        let mut rest = text;
        while let Some(run) = next_run(rest) {
            words.add_run(&run, keep);
            rest = run.after;
        }
        words.text.make_ascii_lowercase();
        let text = String::from_utf8(words.text).unwrap();
        text.split_terminator(' ').map(str::to_owned).collect()
    }

    /// The definition at the head of this file, taken literally.
    fn naive_words(text: &str) -> Vec<String> {
        let normalized: String = normalize(text).collect();
        segment(&normalized).map(str::to_owned).collect()
    }

    fn shingle_hashes(text: &str, k: usize) -> Vec<u64> {
        let mut hashes = Vec::new();
        let mut consumer = |batch: &[u64]| hashes.extend_from_slice(batch);
        let mut batch = Batch::new(&mut consumer);
        Words::default().hash_shingles(text, k, Keep::All, &mut batch);
        batch.flush();
        hashes
    }

    #[test]
    fn one_unicode_version() {
        assert_eq!(unicode_segmentation::UNICODE_VERSION, (16, 0, 0));
        assert_eq!(unicode_normalization::UNICODE_VERSION, (16, 0, 0));
        assert_eq!(caseless::UNICODE_VERSION, (16, 0, 0));
        assert_eq!(unicode_properties::UNICODE_VERSION, (16, 0, 0));
    }

    #[test]
    fn words_are_normalized() {
        let text = "Can\u{2019}t STOP: the Straße, ＡＢＣ co\u{ad}operate ﬁne ΣΊΣΥΦΟΣ e\u{301}t\u{e9} 3.14 snake_case";
        assert_eq!(
            words_of(text, Keep::All),
            [
                "can\u{2019}t",
                "stop",
                "the",
                "strasse",
                "abc",
                "cooperate",
                "fine",
                "σίσυφοσ",
                "\u{e9}t\u{e9}",
                "3.14",
                "snake_case"
            ]
        );
    }

    #[test]
    fn prose_has_no_numbers_and_no_addresses() {
        let text = "In 1994 see https://example.org/a or www.example.org, ask me@example.org: 3.14 or ٣٤ but B2B and/or e.g.";
        let expected = ["in", "see", "or", "ask", "or", "but", "b2b", "and", "or", "e.g"];
        assert_eq!(words_of(text, Keep::Prose), expected);
    }

    #[test]
    fn unspaced_scripts_are_cut_into_characters() {
        assert_eq!(words_of("日本語です", Keep::All), ["日", "本", "語", "で", "す"]);
    }

    #[test]
    fn endless_runs_are_cut() {
        let words = words_of(&"é".repeat(MAX_RUN), Keep::All);
        assert_eq!(words, ["é".repeat(MAX_RUN / 2), "é".repeat(MAX_RUN / 2)]);
        assert_eq!(words_of(&"a".repeat(MAX_RUN + 1), Keep::All).len(), 2);
    }

    #[test]
    fn a_text_of_few_words_is_one_shingle() {
        assert_eq!(shingle_hashes("Hello, world!", 3), [xxh3_64(b"hello world")]);
        assert_eq!(shingle_hashes("Hello", 1), [xxh3_64(b"hello")]);
        assert_eq!(shingle_hashes("...", 1), []);
    }

    /// Text in which the rules of word segmentation meet often.
    fn ascii_text() -> impl Strategy<Value = String> {
        prop_oneof!["[ -~\t\r\n]{0,60}", "[aZ9_.,:;'\" \n]{0,40}"]
    }

    fn unicode_text() -> impl Strategy<Value = String> {
        prop_oneof!["\\PC{0,40}", "[aB9._' \u{ad}\u{200d}\u{301}éß日本ไทยАبת\u{1f1e6}\u{fdfa}ﬁ　]{0,40}"]
    }

    proptest! {
        #[test]
        fn ascii_is_segmented_as_unicode_says(text in ascii_text()) {
            prop_assert_eq!(words_of(&text, Keep::All), naive_words(&text));
        }

        #[test]
        fn runs_can_be_segmented_apart(text in unicode_text()) {
            prop_assert_eq!(words_of(&text, Keep::All), naive_words(&text));
        }

        #[test]
        fn shingles_are_the_windows_over_all_words(
            text in prop::collection::vec("[a-c]{1,4}|[é日]{1,3}|x{9000}", 0..40),
            k in 1usize..8,
        ) {
            let words = naive_words(&text.join(" "));
            let expected: Vec<u64> = match words.len() {
                0 => vec![],
                few if few < k => vec![xxh3_64(words.join(" ").as_bytes())],
                _ => words.windows(k).map(|shingle| xxh3_64(shingle.join(" ").as_bytes())).collect(),
            };
            prop_assert_eq!(shingle_hashes(&text.join(" "), k), expected);
        }
    }
}

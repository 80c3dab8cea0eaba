//! `letters:k`: every k consecutive characters of a word of prose, with a blank before and after it.
//!
//! A wrong letter changes k features at most, and none of the words around it. So this suits texts with
//! errors or old spelling, and short texts. In scripts without blanks a word is about one character, and two
//! words that follow each other make a feature too.

use super::{Sink, chars};
use crate::hash::rabin::UNITS;

/// Bytes of a short word of a script in which characters have three bytes or more.
const SHORT_WORD: usize = 9;
/// What such characters begin with, at least.
const THREE_BYTES: u8 = 0xe0;

/// Takes words of prose and passes the characters that they are made of to the sink.
pub(super) struct LettersOfWords<'a, S> {
    k: usize,
    /// The word with its blanks.
    word: Vec<u8>,
    /// The word before, if it is a short one.
    before: Vec<u8>,
    sink: &'a mut S,
}

impl<'a, S: Sink> LettersOfWords<'a, S> {
    pub(super) fn new(k: usize, sink: &'a mut S) -> Self {
        Self { k, word: Vec::new(), before: Vec::new(), sink }
    }

    /// Passes on the feature that a short word makes with the one before.
    fn take_short(&mut self, word: &[u8]) {
        if !self.before.is_empty() {
            self.before.extend_from_slice(word);
            self.sink.take(&self.before);
            self.before.clear();
        }
        // Bounded: nine bytes.
        self.before.extend_from_slice(word);
    }
}

impl<S: Sink> Sink for LettersOfWords<'_, S> {
    #[inline]
    fn take(&mut self, word: &[u8]) {
        self.word.clear();
        self.word.push(b' ');
        // Bounded: the words of a run.
        self.word.extend_from_slice(word);
        self.word.push(b' ');
        chars::shingles_of_bytes(&self.word, self.k, self.sink);
        if word.len() <= SHORT_WORD && word.first().is_some_and(|&byte| byte >= THREE_BYTES) {
            self.take_short(word);
        } else {
            self.before.clear();
        }
    }

    fn take_units(&mut self, _: [u16; UNITS]) {}

    fn pause(&mut self) {
        self.sink.pause();
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shingler;
    use super::super::batch::tests::{any_text, hashes_of};
    use super::super::pairs::tests::Listed;
    use crate::features::Keep;
    use crate::hash::xxh3_64;
    use proptest::prelude::*;

    fn features(text: &str, scheme: &str) -> Vec<String> {
        let mut listed = Listed(Vec::new());
        Shingler::default().features(text, scheme.parse().unwrap(), &mut listed).unwrap();
        listed.0
    }

    /// The definition, from the words that `doc1` has.
    fn by_definition(text: &str, k: usize) -> Vec<String> {
        let mut words = Listed(Vec::new());
        Shingler::default().words.shingles(text, 1, Keep::Prose, &mut words).unwrap();
        let is_short = |word: &&String| word.len() <= 9 && word.as_bytes()[0] >= 0xe0;
        let mut features = Vec::new();
        for (at, word) in words.0.iter().enumerate() {
            let marked: Vec<char> = format!(" {word} ").chars().collect();
            features.extend(marked.windows(k.min(marked.len())).map(String::from_iter));
            let before = at.checked_sub(1).map(|at| &words.0[at]).filter(is_short);
            features.extend(before.filter(|_| is_short(&word)).map(|before| format!("{before}{word}")));
        }
        features
    }

    #[test]
    fn features_are_letters_of_words() {
        assert_eq!(
            features("Words, to a 1994", "letters:4"),
            [" wor", "word", "ords", "rds ", " to ", " a "]
        );
        assert_eq!(features("語言", "letters:4"), [" 語 ", " 言 ", "語言"]);
        assert_eq!(features("42", "letters:4"), [""; 0]);
    }

    proptest! {
        #[test]
        fn features_are_as_defined(text in prop_oneof![any_text(), "[a-cé語言ก็ ]{0,60}"], k in 1usize..=32) {
            let expected = by_definition(&text, k);
            let scheme = format!("letters:{k}");
            prop_assert_eq!(&features(&text, &scheme), &expected);
            let scheme = scheme.parse().unwrap();
            let hashes = hashes_of(|batch| Shingler::default().hash_features(&text, scheme, batch).unwrap());
            let expected: Vec<u64> = expected.iter().map(|feature| xxh3_64(feature.as_bytes())).collect();
            prop_assert_eq!(hashes, expected);
        }
    }
}

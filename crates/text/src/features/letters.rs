//! `letters:k`: every k consecutive characters of a word of prose, with a blank before and after it.
//!
//! A wrong letter changes at most k features, and none of the neighbouring words. So this suits short texts,
//! and texts with errors or old spelling. In scripts without blanks, a word has about one character; there,
//! two consecutive words are also a feature.

use super::{BATCH, Consumer, chars};
use std::array;

/// The number of bytes of a short word in a script whose characters have three or more bytes.
const SHORT_WORD: usize = 9;
/// The least first byte of such a character.
const THREE_BYTES: u8 = 0xe0;
/// The most bytes of a word that is hashed with others, since the places of a batch must fit into `u16`.
const MAX_TOGETHER: usize = 62;
/// The number of places that are written at once.
const STEP: usize = 16;

/// Takes words of prose and passes the characters that they are made of to the consumer.
///
/// A word has few features. So the features of many ASCII words are hashed in one loop.
pub(super) struct LettersOfWords<'a, S> {
    k: usize,
    /// The part of the text with the words that are hashed together, including the blank before them.
    begin: usize,
    end: usize,
    /// The places where the features of these words begin, counted from `begin`.
    places: [u16; BATCH + STEP],
    features: usize,
    /// The previous word, if it is a short word.
    before: Vec<u8>,
    consumer: &'a mut S,
}

impl<'a, S: for<'f> Consumer<&'f [u8]>> LettersOfWords<'a, S> {
    pub(super) fn new(k: usize, consumer: &'a mut S) -> Self {
        Self { k, begin: 0, end: 0, places: [0; BATCH + STEP], features: 0, before: Vec::new(), consumer }
    }

    /// Takes the words that begin at these places, each between two blanks.
    pub(super) fn take(&mut self, text: &[u8], starts: &[usize]) {
        self.begin = 0;
        self.end = 0;
        let afters = starts.iter().skip(1).copied().chain([text.len()]);
        for (&start, after) in starts.iter().zip(afters) {
            let marked = &text[start - 1..after];
            if (self.k..=MAX_TOGETHER + 2).contains(&marked.len()) && is_ascii(text, start - 1, after) {
                self.before.clear();
                self.take_together(text, start - 1, after);
            } else {
                self.flush(text);
                chars::shingles_of_bytes(marked, self.k, self.consumer);
                self.take_short(&marked[1..marked.len() - 1]);
            }
        }
        self.flush(text);
        self.consumer.pause();
    }

    /// Takes a word with the blanks around it, to be hashed together with earlier words.
    #[inline]
    fn take_together(&mut self, text: &[u8], start: usize, after: usize) {
        let features = after - start + 1 - self.k;
        if self.features + features > BATCH {
            self.flush(text);
        }
        if self.features == 0 {
            self.begin = start;
        }
        let mut place = start - self.begin;
        for places in self.places[self.features..].chunks_exact_mut(STEP).take(features.div_ceil(STEP)) {
            // These may be too many places: the next word overwrites the others.
            places.copy_from_slice(&array::from_fn::<u16, STEP, _>(|at| (place + at) as u16));
            place += STEP;
        }
        self.features += features;
        self.end = after;
    }

    /// Passes the features of the collected words to the consumer.
    fn flush(&mut self, text: &[u8]) {
        fn known<const K: usize>(
            words: &[u8],
            places: &[u16],
            consumer: &mut impl for<'f> Consumer<&'f [u8]>,
        ) {
            consumer.take_all(places.iter().map(|&place| &words[usize::from(place)..][..K]));
        }
        let words = &text[self.begin..self.end];
        let places = &self.places[..self.features];
        match self.k {
            4 => known::<4>(words, places, self.consumer),
            5 => known::<5>(words, places, self.consumer),
            k => self.consumer.take_all(places.iter().map(|&place| &words[usize::from(place)..][..k])),
        }
        self.begin = 0;
        self.end = 0;
        self.features = 0;
    }

    /// Passes to the consumer the feature of a short word and the short word before it.
    fn take_short(&mut self, word: &[u8]) {
        if word.len() > SHORT_WORD || word.first().is_none_or(|&byte| byte < THREE_BYTES) {
            self.before.clear();
            return;
        }
        if !self.before.is_empty() {
            self.before.extend_from_slice(word);
            self.consumer.take(&self.before);
            self.before.clear();
        }
        self.before.extend_from_slice(word); // Bounded: nine bytes.
    }
}

/// Whether this part of the text is ASCII. Short parts need no branch for their length.
#[inline(always)]
fn is_ascii(text: &[u8], start: usize, end: usize) -> bool {
    const NOT_ASCII: u128 = u128::from_le_bytes([0x80; 16]);
    match text[start..].first_chunk() {
        Some(&chunk) if end - start <= 16 => {
            u128::from_le_bytes(chunk) << (128 - 8 * (end - start)) & NOT_ASCII == 0
        }
        _ => text[start..end].is_ascii(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shingler;
    use super::super::batch::tests::{any_text, feature_hashes};
    use super::super::pairs::tests::Listed;
    use crate::features::Keep;
    use crate::hash::xxh3_64;
    use proptest::prelude::*;

    fn features(text: &str, scheme: &str) -> Vec<String> {
        let mut listed = Listed(Vec::new());
        Shingler::default().features(text, scheme.parse().unwrap(), &mut listed).unwrap();
        listed.0
    }

    /// The definition, applied to the words of `doc1`.
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

    #[test]
    fn words_are_taken_in_parts() {
        for words in ["an été of words, and of 語言 文 a ", "some-words ", "ab ", "語 言 "] {
            let text = words.repeat(70_000 / words.len());
            for k in [2, 4, 5, 9] {
                let scheme = format!("letters:{k}");
                assert!(features(&text, &scheme) == by_definition(&text, k), "{words}, {k}");
            }
        }
    }

    proptest! {
        #[test]
        fn features_are_as_defined(text in prop_oneof![any_text(), "[a-cé語言ก็ ]{0,60}"], k in 1usize..=32) {
            let expected = by_definition(&text, k);
            let scheme = format!("letters:{k}");
            prop_assert_eq!(&features(&text, &scheme), &expected);
            let scheme = scheme.parse().unwrap();
            let hashes = feature_hashes(&text, scheme);
            let expected: Vec<u64> = expected.iter().map(|feature| xxh3_64(feature.as_bytes())).collect();
            prop_assert_eq!(hashes, expected);
        }
    }
}

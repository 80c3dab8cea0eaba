//! The features of a text: the pieces that a scheme cuts it into, in the order of the text.

mod addresses;
mod batch;
pub(crate) mod chars;
mod consumer;
mod letters;
mod long_words;
mod marks;
pub(crate) mod pairs;
mod scheme;
mod utf16;
pub(crate) mod words;

pub(crate) use batch::{BATCH, Batch};
pub(crate) use consumer::Consumer;
pub(crate) use scheme::FeatureRule;
pub use scheme::{EXAMPLE, MAX_SHINGLE, SCHEMES, Scheme, SchemeFamily};
#[doc(hidden)]
#[cfg(any(test, feature = "oracle"))]
pub use words::words_in_both_ways;

use crate::hash::rabin::UNITS;
use base::OutOfMemory;
use letters::LettersOfWords;
use long_words::LongWords;
use pairs::{HashPairs, WritePairs};
use std::borrow::Cow;
use words::{Keep, Words};

/// Finds the features of texts, and reuses its memory for the next text.
#[derive(Debug, Default)]
pub(crate) struct Shingler {
    words: Words,
}

impl Shingler {
    /// Calls the consumer with the hashes of all features, in the order of the text, at most [`BATCH`] at a
    /// time.
    pub(crate) fn hash_features(
        &mut self,
        text: &str,
        scheme: Scheme,
        consumer: &mut dyn FnMut(&[u64]),
    ) -> Result<(), OutOfMemory> {
        let batch = &mut Batch::new(consumer);
        match scheme.rule() {
            FeatureRule::CodeUnits => utf16::hash_shingles(&fold(text, scheme, batch)?, batch),
            FeatureRule::WordsAndPairs => self.hash_pairs(&fold(text, scheme, batch)?, batch)?,
            _ => self.features(text, scheme, batch)?,
        }
        batch.flush();
        Ok(())
    }

    /// Passes every feature to the consumer, in the order of the text.
    pub(crate) fn features(
        &mut self,
        text: &str,
        scheme: Scheme,
        consumer: &mut (impl for<'f> Consumer<&'f [u8]> + Consumer<[u16; UNITS]>),
    ) -> Result<(), OutOfMemory> {
        let text = &*fold(text, scheme, consumer)?;
        match scheme.rule() {
            FeatureRule::WordsAndPairs => self.prose_words(text, &mut WritePairs::new(consumer))?,
            FeatureRule::Words(keep) => self.words.shingles(text, scheme.k, keep, consumer)?,
            FeatureRule::LongWords => self.prose_words(text, &mut LongWords(consumer))?,
            FeatureRule::CodeUnits => utf16::shingles(text, consumer),
            FeatureRule::Letters => {
                let mut letters = LettersOfWords::new(scheme.k, consumer);
                self.words.prose_in_parts(text, |words, starts| letters.take(words, starts))?;
            }
            FeatureRule::Characters => chars::shingles(text, scheme.k, consumer),
        }
        Ok(())
    }

    /// Passes the hash of every feature of `doc2` or `folded:doc2` to the consumer, in the order of the text.
    pub(crate) fn hash_features_of_doc2(
        &mut self,
        text: &str,
        scheme: Scheme,
        consumer: &mut impl Consumer<u64>,
    ) -> Result<(), OutOfMemory> {
        let text = if scheme.is_folded { marks::fold(text, &mut || consumer.pause())? } else { text.into() };
        self.hash_pairs(&text, consumer)
    }

    fn hash_pairs(&mut self, text: &str, consumer: &mut impl Consumer<u64>) -> Result<(), OutOfMemory> {
        self.words.each_of_prose(text, &mut HashPairs::new(consumer))
    }

    /// Passes every word, numbers included, to the consumer; folded, if the scheme reads texts so.
    pub(crate) fn single_words(
        &mut self,
        text: &str,
        scheme: Scheme,
        consumer: &mut impl for<'f> Consumer<&'f [u8]>,
    ) -> Result<(), OutOfMemory> {
        let text = &*fold(text, scheme, consumer)?;
        self.words.shingles(text, 1, Keep::All, consumer)
    }

    /// Passes every word of prose to the consumer.
    fn prose_words(
        &mut self,
        text: &str,
        consumer: &mut impl for<'f> Consumer<&'f [u8]>,
    ) -> Result<(), OutOfMemory> {
        self.words.shingles(text, 1, Keep::Prose, consumer)
    }
}

/// The text as the scheme reads it: without optional marks, or unchanged.
fn fold<'a>(
    text: &'a str,
    scheme: Scheme,
    consumer: &mut impl for<'f> Consumer<&'f [u8]>,
) -> Result<Cow<'a, str>, OutOfMemory> {
    if scheme.is_folded { marks::fold(text, &mut || consumer.pause()) } else { Ok(Cow::Borrowed(text)) }
}

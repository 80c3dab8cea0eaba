//! Charikar's simhash of a text: similar texts get fingerprints that differ in few bits.
//!
//! Every distinct feature of the text counts once, whatever its number of occurrences. Memory is bounded.
//! Time is linear in the text, times the number of scans: one up to some eight million distinct features,
//! and one more for about every eight million.

use crate::batch::Batch;
use crate::bit_counts::BitCounts;
use crate::char_shingles;
use crate::common_crawl;
use crate::distinct::{Distinct, Part, TooMany};
use crate::scheme::Scheme;
use crate::sink::Sink;
use crate::words::{Keep, Words};

/// Consecutive words in a feature of `doc1`.
const DOC1_WORDS: usize = 2;

/// Bytes of text for a word, its blank included: an estimate that sizes the table of features.
const BYTES_PER_WORD: usize = 6;

/// Finds the features of texts; keeps its memory from text to text.
#[derive(Debug, Default)]
pub(crate) struct Shingler {
    words: Words,
}

impl Shingler {
    /// Passes the hash of every feature to the batch, in the order of the text.
    pub(crate) fn hash_features(&mut self, text: &str, scheme: Scheme, batch: &mut Batch<'_>) {
        match scheme {
            Scheme::CommonCrawl if text.is_ascii() => {
                common_crawl::hash_ascii_shingles(text.as_bytes(), batch);
            }
            _ => self.features(text, scheme, batch),
        }
    }

    /// Passes every feature to the sink, in the order of the text.
    pub(crate) fn features(&mut self, text: &str, scheme: Scheme, sink: &mut impl Sink) {
        match scheme {
            Scheme::CommonCrawl => common_crawl::shingles(text, sink),
            Scheme::Doc1 => self.words.shingles(text, DOC1_WORDS, Keep::Prose, sink),
            Scheme::Chars(k) => char_shingles::shingles(text, k, sink),
            Scheme::Words(k) => self.words.shingles(text, k, Keep::All, sink),
        }
    }
}

/// Makes fingerprints; keeps its memory from text to text.
#[derive(Debug, Default)]
pub struct SimHasher {
    features: Distinct,
    shingler: Shingler,
}

impl SimHasher {
    /// The fingerprint of a text, or `None` if it has no features.
    ///
    /// `heartbeat` is called every few microseconds, or milliseconds at worst; it may unwind to stop the
    /// work.
    pub fn fingerprint(&mut self, text: &str, scheme: Scheme, heartbeat: &mut dyn FnMut()) -> Option<u64> {
        let mut counts = BitCounts::default();
        let mut part = Some(Part::WHOLE);
        while let Some(current) = part {
            let mut more = counts.clone();
            part = match self.count_features(text, scheme, current, &mut more, heartbeat) {
                Ok(()) => {
                    counts = more;
                    current.next()
                }
                Err(TooMany) => Some(current.first_half()),
            };
        }
        self.features.release();
        counts.majority()
    }

    /// Counts the distinct features whose hash lies in the part.
    fn count_features(
        &mut self,
        text: &str,
        scheme: Scheme,
        part: Part,
        counts: &mut BitCounts,
        heartbeat: &mut dyn FnMut(),
    ) -> Result<(), TooMany> {
        let Self { features, shingler } = self;
        features.begin(part, expected_features(text, scheme));
        let mut result = Ok(());
        let mut consumer = |hashes: &[u64]| {
            heartbeat();
            result = result.and_then(|()| features.add(hashes, &mut |fresh| counts.add_all(fresh)));
        };
        let mut batch = Batch::new(&mut consumer);
        shingler.hash_features(text, scheme, &mut batch);
        batch.flush();
        features.hand_on(&mut |fresh| counts.add_all(fresh));
        result
    }
}

fn expected_features(text: &str, scheme: Scheme) -> usize {
    match scheme {
        Scheme::Chars(_) | Scheme::CommonCrawl => text.len(),
        Scheme::Words(_) | Scheme::Doc1 => text.len() / BYTES_PER_WORD,
    }
}

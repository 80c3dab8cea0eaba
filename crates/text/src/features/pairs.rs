//! The features of `doc2`: every word, and every two consecutive words (`docs/doc2.md`).
//!
//! Each word is hashed once. A pair's hash is made of those of its words, and a word alone counts as a pair
//! with an empty word before it.

use super::{Batch, Sink};
use crate::fingerprint::doc2::{KEY, KEY_BITS};
use crate::hash::mix;
use crate::hash::rabin::UNITS;

/// Bits of a hash that choose a cell.
const CELL: u64 = !KEY;
/// The odd factor that XXH3 mixes the bits of short inputs with.
const CHUNK_FACTOR: u64 = 0x9fb2_1c65_1e98_df25;
/// 2^64 divided by the golden ratio.
const FIRST_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A word, as pairs need it.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    hash: u64,
    /// 1 for a long word, else 0.
    long: u32,
}

impl Word {
    #[inline(always)]
    fn new(word: &[u8]) -> Self {
        let (chunks, rest) = word.as_chunks::<8>();
        let mut hash = chunks.iter().fold(0, |hash, &chunk| append(hash, u64::from_le_bytes(chunk)));
        if !rest.is_empty() {
            hash = append(hash, little_endian(rest));
        }
        Self { hash, long: u32::from(is_long(word)) }
    }
}

/// Appends eight bytes to a word's hash.
#[inline(always)]
fn append(hash: u64, chunk: u64) -> u64 {
    let hash = (hash ^ chunk).wrapping_mul(CHUNK_FACTOR);
    hash ^ hash >> 32
}

/// The number that 1 to 7 bytes write, the lowest first.
#[inline(always)]
fn little_endian(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // Where the two overlap, they have the same bits.
        (Some(&low), Some(&high)) => {
            let high = u64::from(u32::from_le_bytes(high));
            u64::from(u32::from_le_bytes(low)) | high << (8 * (bytes.len() - 4))
        }
        _ => bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)),
    }
}

/// Short words are of up to three bytes that are not one character of three bytes.
#[inline(always)]
fn is_long(word: &[u8]) -> bool {
    word.len() > 3 || word.first().is_some_and(|&first| first >= 0xe0)
}

/// The hash of the feature that two words make. Every long word halves the key, so that the feature is chosen
/// more often.
#[inline(always)]
fn hash(first: Word, second: Word) -> u64 {
    let mixed = mix(first.hash.wrapping_mul(FIRST_FACTOR).wrapping_add(second.hash));
    mixed & CELL | (mixed & KEY) >> (first.long + second.long)
}

/// The hash of a feature that is written as one word, or as two words with a blank between them.
pub(crate) fn hash_feature(feature: &[u8]) -> u64 {
    let [first, second] = words_of(feature);
    hash(first, second)
}

/// How often such a feature is chosen, compared with one that has no long word.
pub(crate) fn weigh_feature(feature: &[u8]) -> f64 {
    let [first, second] = words_of(feature);
    f64::from(1 << (first.long + second.long))
}

fn words_of(feature: &[u8]) -> [Word; 2] {
    let mut words = feature.split(|&byte| byte == b' ').map(Word::new);
    let last = words.next_back().unwrap_or_default();
    [words.next().unwrap_or_default(), last]
}

/// Takes words and hashes the features that they make.
pub(super) struct HashPairs<'a, 'b> {
    before: Word,
    batch: &'a mut Batch<'b>,
}

impl<'a, 'b> HashPairs<'a, 'b> {
    pub(super) fn new(batch: &'a mut Batch<'b>) -> Self {
        Self { before: Word::default(), batch }
    }
}

impl Sink for HashPairs<'_, '_> {
    #[inline(always)]
    fn take(&mut self, word: &[u8]) {
        let word = Word::new(word);
        self.batch.push(hash(Word::default(), word));
        self.batch.push(hash(self.before, word));
        self.before = word;
    }

    fn take_units(&mut self, _: [u16; UNITS]) {}

    fn pause(&mut self) {
        self.batch.pause();
    }
}

/// Takes words and writes the features that they make.
pub(super) struct WritePairs<'a, S> {
    before: Vec<u8>,
    sink: &'a mut S,
}

impl<'a, S: Sink> WritePairs<'a, S> {
    pub(super) fn new(sink: &'a mut S) -> Self {
        Self { before: Vec::new(), sink }
    }
}

impl<S: Sink> Sink for WritePairs<'_, S> {
    fn take(&mut self, word: &[u8]) {
        self.sink.take(word);
        if !self.before.is_empty() {
            self.before.push(b' ');
            self.before.extend_from_slice(word);
            self.sink.take(&self.before);
            self.before.clear();
        }
        self.before.extend_from_slice(word);
    }

    fn take_units(&mut self, _: [u16; UNITS]) {}

    fn pause(&mut self) {
        self.sink.pause();
    }
}

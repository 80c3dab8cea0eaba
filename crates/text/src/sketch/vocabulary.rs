//! The words of two texts, by numbers, and how often each text has them.
//!
//! A name that consists of words and underscores, such as `disk_create`, counts as these words. Otherwise,
//! the title `GCLOUD_BETA_DISKS_CREATE` would be a word that no other text has. Scripts without blanks have
//! no words to count, and a single character says little. Instead of the characters of a run, its pairs of
//! adjacent characters count as words.
//!
//! Guarantee: exact except for collisions of 64-bit hashes. Cost: linear time; memory for the first million
//! words of each text.

use crate::features::{Consumer, Scheme, Shingler};
use crate::hash::probing_table::ProbingTable;
use crate::hash::secret::Secret;
use crate::hash::{GOLDEN_RATIO, mix, xxh3_64};
use base::{Heartbeat, OutOfMemory, beat_every, push};
use memchr::memchr_iter;
use std::iter::once;

/// The number of words of a text that are looked at.
pub(super) const WORDS: usize = 1 << 20;
/// The number of steps between two heartbeats.
pub(super) const STRIDE: usize = 1 << 14;
/// The fewest and the most slots of a table of words before it grows.
const LEAST_SLOTS: usize = 1 << 6;
const MOST_SLOTS: usize = 1 << 16;

/// The number of a different word, by its first occurrence in either text.
pub(super) type WordNumber = u32;

/// The different words of two texts, of which each has at most [`WORDS`] words.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// The number of a word plus 1, so that no entry is 0.
    table: ProbingTable,
    secret: &'static Secret,
    words: Vec<CountedWord>,
}

/// A word, and how often it occurs in each of two texts.
#[derive(Debug)]
struct CountedWord {
    hash: u64,
    counts: [u32; 2],
}

impl CountedWord {
    /// Whether only one text has the word.
    fn is_own(&self) -> bool {
        self.counts.contains(&0)
    }
}

impl Vocabulary {
    /// An empty vocabulary for texts of this many bytes.
    pub(super) fn new(bytes: usize, heartbeat: &mut dyn Heartbeat) -> Result<Self, OutOfMemory> {
        let mut table = ProbingTable::default();
        table.clear((bytes / 4).clamp(LEAST_SLOTS, MOST_SLOTS).next_power_of_two(), heartbeat)?;
        Ok(Self { table, secret: Secret::of_process(), words: Vec::new() })
    }

    /// The first words of the text `SIDE`, in its order, by their numbers.
    pub(super) fn read<const SIDE: usize>(
        &mut self,
        text: &str,
        scheme: Scheme,
        shingler: &mut Shingler,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Vec<WordNumber>, OutOfMemory> {
        let words = Vec::new();
        let mut consumer = WordConsumer::<SIDE> {
            words,
            vocabulary: self,
            character_before: None,
            refusal: None,
            heartbeat,
        };
        shingler.single_words(text, scheme, &mut consumer)?;
        consumer.refusal.map_or(Ok(consumer.words), Err)
    }

    /// Counts a word of the text `SIDE`, and returns its number.
    fn count<const SIDE: usize>(
        &mut self,
        hash: u64,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<WordNumber, OutOfMemory> {
        let Self { table, secret, words } = self;
        if !table.has_room_for(1) {
            table.grow(|entry| secret.place(words[entry as usize - 1].hash), heartbeat)?;
        }
        let is_wanted = |entry: u64| words[entry as usize - 1].hash == hash;
        let slot = table.find(secret.place(hash), is_wanted, heartbeat);
        if table.entry(slot) == 0 {
            push(words, CountedWord { hash, counts: [0; 2] })?;
            table.put(slot, words.len() as u64);
        }
        let entry = table.entry(slot);
        words[entry as usize - 1].counts[SIDE] += 1;
        Ok((entry - 1) as WordNumber)
    }

    /// Whether only one text has this word.
    pub(super) fn is_own(&self, word: WordNumber) -> bool {
        self.words[word as usize].is_own()
    }

    /// How often the most frequent word of each text occurs that the other one lacks.
    pub(super) fn most_of_own(&self, heartbeat: &mut dyn Heartbeat) -> [usize; 2] {
        let mut most = [0; 2];
        for words in self.words.chunks(STRIDE) {
            heartbeat.beat();
            for word in words.iter().filter(|word| word.is_own()) {
                most = std::array::from_fn(|side| word.counts[side].max(most[side]));
            }
        }
        most.map(|count| count as usize)
    }
}

/// Collects the words of the text `SIDE`, with pairs of adjacent characters in scripts without blanks.
struct WordConsumer<'a, const SIDE: usize> {
    words: Vec<WordNumber>,
    vocabulary: &'a mut Vocabulary,
    /// The hash of the word before, if it is a character of a script without blanks.
    character_before: Option<u64>,
    refusal: Option<OutOfMemory>,
    heartbeat: &'a mut dyn Heartbeat,
}

impl<const SIDE: usize> WordConsumer<'_, SIDE> {
    fn take_word(&mut self, word: &[u8]) {
        if self.words.len() >= WORDS || self.refusal.is_some() {
            return;
        }
        let hash = xxh3_64(word);
        let is_character = is_character(word);
        let before = std::mem::replace(&mut self.character_before, is_character.then_some(hash));
        let feature = match before {
            Some(before) if is_character => pair(before, hash),
            None if is_character => return,
            _ => hash,
        };
        let number = self.vocabulary.count::<SIDE>(feature, self.heartbeat);
        if let Err(refusal) = number.and_then(|number| push(&mut self.words, number)) {
            self.refusal = Some(refusal);
        }
    }
}

impl<'f, const SIDE: usize> Consumer<&'f [u8]> for WordConsumer<'_, SIDE> {
    /// A name such as `disk_create` is divided into its words.
    fn take(&mut self, word: &'f [u8]) {
        let mut start = 0;
        for (number, end) in memchr_iter(b'_', word).chain(once(word.len())).enumerate() {
            beat_every(STRIDE, number + 1, self.heartbeat);
            if start < end {
                self.take_word(&word[start..end]);
            }
            start = end + 1;
        }
    }

    fn take_all(&mut self, words: impl ExactSizeIterator<Item = &'f [u8]>) {
        self.heartbeat.beat();
        words.for_each(|word| self.take(word));
    }

    fn pause(&mut self) {
        self.heartbeat.beat();
    }
}

/// Whether a word is a character of a script that is written without blanks. Such a word is a single
/// character, or, in the scripts of South-East Asia, one with marks.
fn is_character(word: &[u8]) -> bool {
    const FIRST: char = '\u{e00}';
    // Shorter sequences of bytes are of scripts with blanks, in which most texts are.
    if word.first().is_none_or(|&byte| byte < 0xe0) {
        return false;
    }
    let mut characters = std::str::from_utf8(word).unwrap_or_default().chars();
    let is_unspaced = |c: char| matches!(c, FIRST..='\u{109f}' | '\u{1780}'..='\u{17ff}');
    match (characters.next(), characters.next()) {
        (Some(first), None) => first >= FIRST,
        (Some(first), Some(_)) => is_unspaced(first),
        (None, _) => false,
    }
}

/// The hash of an ordered pair of hashes.
fn pair(first: u64, second: u64) -> u64 {
    mix(mix(first.wrapping_add(GOLDEN_RATIO)).wrapping_add(second))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::sketch) fn words(text: &str, heartbeat: &mut dyn Heartbeat) -> Vec<WordNumber> {
        let mut vocabulary = Vocabulary::new(text.len(), heartbeat).unwrap();
        vocabulary.read::<0>(text, Scheme::DOC2, &mut Shingler::default(), heartbeat).unwrap()
    }

    #[test]
    fn equal_words_have_equal_numbers() {
        assert_eq!(words("The page, the file; THE page", &mut || ()), [0, 1, 0, 2, 0, 1]);
    }

    #[test]
    fn adjacent_characters_are_words_of_scripts_without_blanks() {
        let count = |text| words(text, &mut || ()).len();
        assert_eq!(count("删除磁盘"), 3);
        assert_eq!(count("ลบดิสก์"), 4);
        assert_eq!(count("ページを削除"), 3);
        assert_eq!(count("the 页 page"), 2);
        assert_eq!(count("de la côte, 12"), 4);
        assert_eq!(count("gcloud_disks__create _ _a_ __"), 4);
        assert_eq!(count("삭제 디스크"), 2);
    }
}

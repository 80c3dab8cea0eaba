//! A pass of the search of codes of several words: in which order words are searched, and which candidates
//! they find.
//!
//! A word is abandoned when it turns out to cost much more than scattered codes do, if others can be searched
//! farther for less. Its candidates are dropped before their codes are asked for. To search an abandoned word
//! again counts twice what it has cost. So a search costs at most a small multiple of what the best division
//! would have cost.
//!
//! What becomes of a word's candidates is decided once for all of them. Few candidates are looked up when the
//! word has been searched to its end. Many wait until all words have been searched, so that a candidate of
//! several words is looked up once. Where they are more than memory has room for, they are looked up as they
//! are found, also the last of them: such a word is searched to its end before any other, and neither waits
//! nor is abandoned.

use crate::division::{Division, SearchCosts, SearchedWord, allowed_cost};
use crate::key::{IndexKey, RowId};
use crate::store::Store;
use crate::tree::{Index, TreePart, Walk};
use crate::word_search::{WordBall, WordSearch};
use base::{Collector, OutOfMemory, extend};
use std::mem::take;

/// Rows whose codes are asked for together, where all of them are.
const ROWS_AT_A_TIME: usize = 100_000;
/// More candidates of a word than these wait for those of the other words.
const FEW_CANDIDATES: usize = 1000;
/// Where memory has room for few candidates, more of a word than this part of them wait.
const FEW_OF_LIMIT: usize = 4;

/// A pass through the index that finds all rows within a radius.
pub(crate) struct WordsPass {
    pub(crate) radius: u32,
    way: WordsPassWay,
    /// How far words have been searched.
    pub(crate) searched: Vec<SearchedWord>,
    /// With which reach words have been reported: all their candidates have been looked up.
    reported: Vec<u32>,
    /// Candidates of words that have many, and these words.
    waiting: Vec<RowId>,
    waiting_words: Vec<usize>,
    pub(crate) is_done: bool,
}

/// How a pass finds rows.
enum WordsPassWay {
    /// By their words.
    Words { division: Division, attempts: Vec<Option<WordAttempt>> },
    /// By going through all of them, from the key on.
    All(IndexKey),
}

/// A word that is being searched.
struct WordAttempt {
    reach: u32,
    search: WordSearch,
    /// Candidates that are kept.
    found: Vec<RowId>,
    /// Candidates that were passed on before the end of the word, because there was no room for them. Then
    /// all are.
    passed_on: usize,
    /// The cost that was expected.
    expected: f64,
    /// The cost at which the division is thought over again.
    limit: f64,
}

impl WordAttempt {
    fn cost(&self) -> f64 {
        (self.search.leaves_read() + self.passed_on + self.found.len()) as f64
    }

    fn passes_on(&self) -> bool {
        self.passed_on > 0
    }

    /// The candidates that are kept, which are passed on.
    fn pass_on(&mut self) -> Vec<RowId> {
        self.passed_on += self.found.len();
        take(&mut self.found)
    }
}

impl WordsPass {
    pub(crate) fn of_words(radius: u32, division: Division, searched: Vec<SearchedWord>) -> Self {
        let attempts = searched.iter().map(|_| None).collect();
        let reported = vec![0; searched.len()]; // Bounded: the words of a code.
        let way = WordsPassWay::Words { division, attempts };
        Self { searched, reported, ..Self::by(radius, way) }
    }

    pub(crate) fn of_all(radius: u32) -> Self {
        Self::by(radius, WordsPassWay::All(IndexKey::FIRST))
    }

    fn by(radius: u32, way: WordsPassWay) -> Self {
        Self {
            radius,
            way,
            searched: Vec::new(),
            reported: Vec::new(),
            waiting: Vec::new(),
            waiting_words: Vec::new(),
            is_done: false,
        }
    }

    /// Whether it finds rows by their words.
    pub(crate) fn is_by_words(&self) -> bool {
        matches!(self.way, WordsPassWay::Words { .. })
    }

    /// Notes the words whose candidates have been reported.
    pub(crate) fn note_reported(&mut self, words: &[usize]) {
        for &word in words {
            self.reported[word] = self.searched[word].reach;
        }
    }

    /// Where it goes on, if it goes through all rows.
    pub(crate) fn from(&self) -> IndexKey {
        match self.way {
            WordsPassWay::All(from) => from,
            WordsPassWay::Words { .. } => IndexKey::FIRST,
        }
    }

    /// Says where it goes on through all rows.
    pub(crate) fn go_on_from(&mut self, key: IndexKey) {
        self.way = WordsPassWay::All(key);
    }

    /// Whether it has begun with words, and turned to all rows.
    pub(crate) fn has_given_up(&self) -> bool {
        matches!(self.way, WordsPassWay::All(_)) && !self.searched.is_empty()
    }

    /// Reads some more leaves, around a center with these words. Puts candidates into `found`, and returns
    /// the words whose last candidates these are.
    pub(crate) fn step<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        costs: &SearchCosts,
        center: &[u64],
        max_candidates: usize,
        found: &mut Vec<RowId>,
    ) -> Result<Vec<usize>, OutOfMemory> {
        let WordsPassWay::Words { division, attempts } = &mut self.way else {
            self.some_of_all(index, costs.all_rows(), found)?;
            return Ok(Vec::new());
        };
        let Some((word, reach, expected)) = division.next_word(costs, &self.searched) else {
            *found = take(&mut self.waiting);
            self.is_done = true;
            return Ok(take(&mut self.waiting_words));
        };
        let attempt = attempts[word].get_or_insert_with(|| {
            let ball = WordBall { center: center[word], radius: reach - 1 };
            let search = WordSearch::new(costs, word, ball, Vec::new());
            let limit = allowed_cost(expected);
            WordAttempt { reach, search, found: Vec::new(), passed_on: 0, expected, limit }
        });
        let mut candidates = Collector::new(&mut attempt.found);
        attempt.search.step(index, u64::BITS, &mut |_, row| candidates.add(row));
        candidates.finish()?;
        let cost = attempt.cost();
        if attempt.passes_on() || attempt.found.len() > max_candidates {
            *found = attempt.pass_on();
        }
        if attempt.search.is_done() {
            let extra_cost = (cost - attempt.expected).max(0.0);
            self.searched[word] = SearchedWord { reach, extra_cost };
            let ended = attempts[word].take();
            return ended.map_or(Ok(Vec::new()), |attempt| self.finish(word, attempt, max_candidates, found));
        }
        if cost > attempt.limit && !attempt.passes_on() {
            attempt.limit = 2.0 * cost;
            self.searched[word].extra_cost = 2.0 * cost;
            self.divide_again(costs);
        }
        Ok(Vec::new())
    }

    /// Decides about the candidates of a word that has been searched to its end: they are looked up, with
    /// those that wait if there are too many of these, or wait.
    fn finish(
        &mut self,
        word: usize,
        mut attempt: WordAttempt,
        max_candidates: usize,
        found: &mut Vec<RowId>,
    ) -> Result<Vec<usize>, OutOfMemory> {
        if attempt.passes_on() {
            return Ok(vec![word]);
        }
        if attempt.found.len() <= FEW_CANDIDATES.min(max_candidates / FEW_OF_LIMIT) {
            *found = attempt.pass_on();
            return Ok(vec![word]);
        }
        extend(&mut self.waiting, &attempt.found)?;
        self.waiting_words.push(word);
        if self.waiting.len() <= max_candidates {
            return Ok(Vec::new());
        }
        *found = take(&mut self.waiting);
        Ok(take(&mut self.waiting_words))
    }

    /// Thinks the division over after a word has cost more than was expected.
    fn divide_again(&mut self, costs: &SearchCosts) {
        let WordsPassWay::Words { division, attempts } = &mut self.way else { return };
        match costs.divide(self.radius, &self.searched) {
            None => self.way = WordsPassWay::All(IndexKey::FIRST),
            Some(other) => {
                for (attempt, &reach) in attempts.iter_mut().zip(&other.reaches) {
                    attempt.take_if(|attempt| attempt.reach != reach);
                }
                *division = other;
            }
        }
    }

    /// Appends some more of all rows, which this part has: many, if there are.
    fn some_of_all<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        part: TreePart,
        found: &mut Vec<RowId>,
    ) -> Result<(), OutOfMemory> {
        let WordsPassWay::All(from) = &mut self.way else { return Ok(()) };
        while found.len() < ROWS_AT_A_TIME && !self.is_done {
            index.store.check_for_interrupts();
            let mut rows = Collector::new(found);
            match index.entries(part, *from, &mut |entry, _, _| rows.add(entry.row)) {
                Walk::From(key) => *from = key,
                Walk::Done => self.is_done = true,
            }
            rows.finish()?;
        }
        Ok(())
    }

    /// Whether a row with these words has been reported.
    pub(crate) fn has_reported(&self, words: impl Iterator<Item = u64>, center: &[u64]) -> bool {
        let differing = words.zip(center).map(|(a, b)| (a ^ b).count_ones());
        self.reported.iter().zip(differing).any(|(&reach, differing)| differing < reach)
    }
}

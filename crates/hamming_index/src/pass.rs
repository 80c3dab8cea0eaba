//! A pass of a search for codes of several words: decides in which order words are searched, and when their
//! candidates are looked up.
//!
//! A word is abandoned if it turns out to cost much more than scattered codes would, and if others can be
//! searched farther for less. Its candidates are dropped before their codes are looked up. Searching an
//! abandoned word again is assumed to cost twice what it has cost. So a search costs at most a small multiple
//! of the best division.
//!
//! All candidates of a word are treated alike. A few are looked up at the end of the word. Many wait until
//! all words have been searched, so that a candidate of several words is looked up once. If there are more
//! than memory has room for, all of them are looked up as they are found: such a word is searched to its end
//! before any other, and neither waits nor is abandoned.

use crate::key::{IndexKey, RowId};
use crate::radius_division::{RadiusDivision, SearchCosts, SearchedWord, allowed_cost};
use crate::store::Store;
use crate::tree::{Index, TreePart};
use crate::walk::Walk;
use crate::word_search::{WordBall, WordSearch};
use base::{Collector, OutOfMemory, extend};
use std::mem::take;

/// The number of rows that are looked up together, in a pass through all rows.
const ROWS_AT_A_TIME: usize = 100_000;
/// If a word has more candidates than this, they wait until all words have been searched.
const FEW_CANDIDATES: usize = 1000;
/// A word's candidates also wait if they are more than one in so many of those that memory has room for.
const FEW_OF_LIMIT: usize = 4;

/// A pass that finds all rows within a radius.
pub(crate) struct WordPass {
    pub(crate) radius: u32,
    strategy: PassStrategy,
    /// How far each word has been searched.
    pub(crate) searched: Vec<SearchedWord>,
    /// For each word, the reach whose candidates have all been looked up.
    reported: Vec<u32>,
    /// The candidates that wait, and the words that found them.
    waiting: Vec<RowId>,
    waiting_words: Vec<usize>,
    pub(crate) is_done: bool,
}

/// How a pass finds rows.
enum PassStrategy {
    /// Searches one word after the other.
    Words { division: RadiusDivision, attempts: Vec<Option<WordAttempt>> },
    /// Goes through all rows, from the key on.
    All(IndexKey),
}

/// A word that is being searched.
struct WordAttempt {
    reach: u32,
    search: WordSearch,
    /// The candidates that have not been passed on.
    found: Vec<RowId>,
    /// How many candidates were passed on before the end of the word, for lack of room. If any, all will be.
    passed_on: usize,
    /// The expected cost.
    expected: f64,
    /// The cost at which the radius is divided again.
    limit: f64,
}

impl WordAttempt {
    fn cost(&self) -> f64 {
        (self.search.leaves_read + self.passed_on + self.found.len()) as f64
    }

    fn passes_on(&self) -> bool {
        self.passed_on > 0
    }

    /// Takes the candidates, and counts them as passed on.
    fn pass_on(&mut self) -> Vec<RowId> {
        self.passed_on += self.found.len();
        take(&mut self.found)
    }
}

impl WordPass {
    pub(crate) fn of_words(radius: u32, division: RadiusDivision, searched: Vec<SearchedWord>) -> Self {
        let attempts = searched.iter().map(|_| None).collect();
        let reported = vec![0; searched.len()]; // Bounded: the words of a code.
        let strategy = PassStrategy::Words { division, attempts };
        Self { searched, reported, ..Self::by(radius, strategy) }
    }

    pub(crate) fn of_all(radius: u32) -> Self {
        Self::by(radius, PassStrategy::All(IndexKey::FIRST))
    }

    fn by(radius: u32, strategy: PassStrategy) -> Self {
        Self {
            radius,
            strategy,
            searched: Vec::new(),
            reported: Vec::new(),
            waiting: Vec::new(),
            waiting_words: Vec::new(),
            is_done: false,
        }
    }

    /// Whether the pass searches words.
    pub(crate) fn is_by_words(&self) -> bool {
        matches!(self.strategy, PassStrategy::Words { .. })
    }

    /// Notes the words whose candidates have been reported.
    pub(crate) fn note_reported(&mut self, words: &[usize]) {
        for &word in words {
            self.reported[word] = self.searched[word].reach;
        }
    }

    /// The key at which a pass through all rows goes on.
    pub(crate) fn from(&self) -> IndexKey {
        match self.strategy {
            PassStrategy::All(from) => from,
            PassStrategy::Words { .. } => IndexKey::FIRST,
        }
    }

    /// Sets the key at which a pass through all rows goes on.
    pub(crate) fn go_on_from(&mut self, key: IndexKey) {
        self.strategy = PassStrategy::All(key);
    }

    /// Whether the pass began with words, but now goes through all rows.
    pub(crate) fn has_given_up(&self) -> bool {
        matches!(self.strategy, PassStrategy::All(_)) && !self.searched.is_empty()
    }

    /// Reads some more leaves, for the words of a center. Puts the candidates to be looked up into `found`,
    /// and returns the words that have no other candidates left.
    pub(crate) fn step<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        costs: &SearchCosts,
        center: &[u64],
        max_candidates: usize,
        found: &mut Vec<RowId>,
    ) -> Result<Vec<usize>, OutOfMemory> {
        let PassStrategy::Words { division, attempts } = &mut self.strategy else {
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

    /// Decides about the candidates of a word that has been searched to its end. They are looked up or wait;
    /// if there is no room for all that wait, all are looked up.
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

    /// Divides the radius again, after a word has cost more than was allowed.
    fn divide_again(&mut self, costs: &SearchCosts) {
        let PassStrategy::Words { division, attempts } = &mut self.strategy else { return };
        match costs.divide(self.radius, &self.searched) {
            None => self.strategy = PassStrategy::All(IndexKey::FIRST),
            Some(other) => {
                for (attempt, &reach) in attempts.iter_mut().zip(&other.reaches) {
                    attempt.take_if(|attempt| attempt.reach != reach);
                }
                *division = other;
            }
        }
    }

    /// Appends the next rows of a part of a tree that has all rows: many, if so many are left.
    fn some_of_all<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        part: TreePart,
        found: &mut Vec<RowId>,
    ) -> Result<(), OutOfMemory> {
        let PassStrategy::All(from) = &mut self.strategy else { return Ok(()) };
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

    /// Whether one of the words has reported a row whose code has these words.
    pub(crate) fn has_reported(&self, words: impl Iterator<Item = u64>, center: &[u64]) -> bool {
        let differing = words.zip(center).map(|(a, b)| (a ^ b).count_ones());
        self.reported.iter().zip(differing).any(|(&reach, differing)| differing < reach)
    }
}

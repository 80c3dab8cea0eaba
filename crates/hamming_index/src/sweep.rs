//! A pass of the search of codes: which words are searched, and which candidates they find.
//!
//! See [`crate::codes`], which looks the candidates up.

use crate::key::{Key, RowId};
use crate::plan::{Costs, Division, Searched, patience};
use crate::range::{Ball, Range};
use crate::store::Store;
use crate::tree::{Index, Walk};
use limits::{Collector, OutOfMemory, extend};
use std::mem::take;

/// Rows whose codes are asked for together, where all of them are.
const ROWS_AT_A_TIME: usize = 100_000;
/// More candidates of a word than these wait for those of the other words.
pub(crate) const FEW_CANDIDATES: usize = 1000;

/// A pass through the index that finds all rows within a radius.
pub(crate) struct Sweep {
    pub(crate) radius: u32,
    pub(crate) way: Way,
    /// How far words have been searched.
    pub(crate) searched: Vec<Searched>,
    /// With which reach the candidates of words have been reported.
    pub(crate) reported: Vec<u32>,
    /// Candidates of words that have many, and these words.
    waiting: Vec<RowId>,
    waiting_words: Vec<usize>,
    /// Whether the present word has passed on candidates before its end, so that the division stays.
    is_settled: bool,
    pub(crate) is_done: bool,
}

/// How a pass finds rows.
pub(crate) enum Way {
    /// By their words.
    Words { division: Division, attempts: Vec<Option<Attempt>> },
    /// By going through all of them, from the key on.
    All(Key),
}

/// A word that is being searched.
pub(crate) struct Attempt {
    reach: u32,
    range: Range,
    found: Vec<RowId>,
    /// The cost that was expected.
    expected: f64,
    /// The cost at which the division is thought over again.
    limit: f64,
}

impl Attempt {
    fn cost(&self) -> f64 {
        (self.range.leaves_read() + self.found.len()) as f64
    }
}

impl Sweep {
    pub(crate) fn of_words(radius: u32, division: Division, searched: Vec<Searched>) -> Self {
        let attempts = searched.iter().map(|_| None).collect();
        // Bounded: the words of a code.
        let reported = vec![0; searched.len()];
        let way = Way::Words { division, attempts };
        Self { searched, reported, ..Self::by(radius, way) }
    }

    pub(crate) fn of_all(radius: u32) -> Self {
        Self::by(radius, Way::All(Key::FIRST))
    }

    fn by(radius: u32, way: Way) -> Self {
        Self {
            radius,
            way,
            searched: Vec::new(),
            reported: Vec::new(),
            waiting: Vec::new(),
            waiting_words: Vec::new(),
            is_settled: false,
            is_done: false,
        }
    }

    /// Whether it has begun with words, and turned to all rows.
    pub(crate) fn has_given_up(&self) -> bool {
        matches!(self.way, Way::All(_)) && !self.searched.is_empty()
    }

    /// Reads some more leaves. Finds candidates of a word that has been searched to its end; or, where they are too many
    /// or after the last word, all that wait; and returns these words. Or finds some candidates of a word that has more
    /// than there is room for, which is then searched to its end before any other; or some of all rows.
    pub(crate) fn step<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        costs: &Costs,
        center: &[u64],
        max_candidates: usize,
        found: &mut Vec<RowId>,
    ) -> Result<Vec<usize>, OutOfMemory> {
        let Way::Words { division, attempts } = &mut self.way else {
            self.some_of_all(index, found)?;
            return Ok(Vec::new());
        };
        let Some((word, reach, expected)) = division.next_word(costs, &self.searched) else {
            *found = take(&mut self.waiting);
            self.is_done = true;
            return Ok(take(&mut self.waiting_words));
        };
        let attempt = attempts[word].get_or_insert_with(|| {
            let ball = Ball { center: center[word], radius: reach - 1 };
            let range = Range::of_word(costs.layout(), word, ball, costs.leaves());
            Attempt { reach, range, found: Vec::new(), expected, limit: patience(expected) }
        });
        let mut candidates = Collector::new(&mut attempt.found);
        attempt.range.step(index, u64::BITS, &mut |_, row| candidates.add(row));
        candidates.finish()?;
        let cost = attempt.cost();
        if attempt.range.is_done() {
            let surcharge = (cost - attempt.expected).max(0.0);
            self.searched[word] = Searched { reach, surcharge };
            let candidates = take(&mut attempt.found);
            attempts[word] = None;
            self.is_settled = false;
            return self.finish(word, candidates, max_candidates, found);
        }
        if attempt.found.len() > max_candidates {
            self.is_settled = true;
            *found = take(&mut attempt.found);
            return Ok(Vec::new());
        }
        if cost > attempt.limit && !self.is_settled {
            attempt.limit = 2.0 * cost;
            self.searched[word].surcharge = 2.0 * cost;
            self.divide_again(costs);
        }
        Ok(Vec::new())
    }

    /// Finds the candidates of a word that has been searched to its end, or lets them wait.
    fn finish(
        &mut self,
        word: usize,
        candidates: Vec<RowId>,
        max_candidates: usize,
        found: &mut Vec<RowId>,
    ) -> Result<Vec<usize>, OutOfMemory> {
        if candidates.len() <= FEW_CANDIDATES || candidates.len() > max_candidates {
            *found = candidates;
            return Ok(vec![word]);
        }
        extend(&mut self.waiting, &candidates)?;
        self.waiting_words.push(word);
        if self.waiting.len() <= max_candidates {
            return Ok(Vec::new());
        }
        *found = take(&mut self.waiting);
        Ok(take(&mut self.waiting_words))
    }

    /// Thinks the division over after a word has cost more than was expected.
    fn divide_again(&mut self, costs: &Costs) {
        let Way::Words { division, attempts } = &mut self.way else { return };
        match costs.divide(self.radius, &self.searched) {
            None => self.way = Way::All(Key::FIRST),
            Some(other) => {
                for (attempt, &reach) in attempts.iter_mut().zip(&other.reaches) {
                    attempt.take_if(|attempt| attempt.reach != reach);
                }
                *division = other;
            }
        }
    }

    /// Appends some more of all rows.
    fn some_of_all<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        found: &mut Vec<RowId>,
    ) -> Result<(), OutOfMemory> {
        let Way::All(from) = &mut self.way else { return Ok(()) };
        while found.len() < ROWS_AT_A_TIME && !self.is_done {
            index.store.check_for_interrupts();
            let mut rows = Collector::new(found);
            match index.entries(index.layout.first_tree(), *from, &mut |entry| rows.add(entry.row)) {
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

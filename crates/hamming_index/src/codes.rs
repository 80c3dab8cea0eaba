//! The search of codes of any width.
//!
//! A code is searched by its words, each like a fingerprint with a part of the radius: see [`crate::plan`]. An
//! index has the words of a code in different places, so a search cannot tell how far a code is that it has
//! found by one word. It finds **candidates**: every row within the radius is among them, and whoever asks
//! has to compare their codes. Words that are near by chance are rare, so few candidates are in vain.
//!
//! A word is abandoned when it turns out to cost much more than scattered codes do, if others can be searched
//! farther for less. What it has found until then is dropped. An abandoned word bears a surcharge of twice
//! what it has cost, so a search costs at most a small multiple of what the best division would have cost.
//!
//! Guarantee: every row within the radius is reported. A row is reported once if that is asked for.

use crate::key::{Key, RowId};
use crate::plan::{Costs, Division, Searched};
use crate::range::{Ball, Range};
use crate::store::Store;
use crate::tree::{Index, Walk};
use std::collections::HashSet;

/// A word may cost this multiple of what was expected before it is abandoned.
const PATIENCE: f64 = 4.0;
/// What a word may cost in any case, in leaves: less than it takes to search others.
const GRACE: f64 = 64.0;

/// What a search of codes asks for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The words of the code from which distances are counted; without it, every row is a candidate.
    pub center: Option<Vec<u64>>,
    /// Codes that are farther away are not wanted.
    pub radius: u32,
    /// Whether near rows come first: see [`Candidate::at_least`].
    pub is_ordered: bool,
    /// Whether rows with a code are wanted.
    pub values: bool,
    /// Whether rows whose code is NULL are wanted. They come last.
    pub nulls: bool,
    /// Whether a row must not be reported twice.
    pub once: bool,
}

/// A row that may be within the radius.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Where the row is in the table.
    pub row: RowId,
    /// The row's code is at least that far away. Later candidates are at least as far. `None` if the code is
    /// NULL.
    pub at_least: Option<u32>,
}

/// A search under way. It holds no locks and no pages between two batches.
pub struct CodeSearch {
    costs: Costs,
    request: Request,
    stage: Stage,
    /// Rows that have been reported, if none may be twice.
    reported: HashSet<RowId>,
    /// The most rows that are remembered.
    max_rows: usize,
}

enum Stage {
    /// Words are searched.
    Words(Words),
    /// All rows are candidates, from the key on. They are at least this far away.
    All(Key, u32),
    /// Rows whose code is NULL, from the key on.
    Nulls(Key),
    Done,
}

/// A search by words.
struct Words {
    /// The radius of this pass. An ordered search has several, each with a larger one.
    radius: u32,
    /// All codes that are nearer have been reported by earlier passes.
    at_least: u32,
    searched: Vec<Searched>,
    division: Division,
    attempts: Vec<Option<Attempt>>,
}

/// A word that is being searched.
struct Attempt {
    reach: u32,
    range: Range,
    found: Vec<RowId>,
    /// The cost at which the division is thought over again.
    limit: f64,
}

impl Attempt {
    fn cost(&self) -> f64 {
        (self.range.leaves_read() + self.found.len()) as f64
    }
}

impl Words {
    /// The word to be searched next, the cheapest first, and its reach.
    fn next(&self, costs: &Costs) -> Option<(usize, u32, f64)> {
        let unfinished = self.division.reaches.iter().zip(&self.searched).enumerate();
        let unfinished = unfinished.filter(|(_, (reach, searched))| **reach > searched.reach);
        let words =
            unfinished.map(|(word, (&reach, &searched))| (word, reach, costs.of_word(word, reach, searched)));
        words.min_by(|a, b| a.2.total_cmp(&b.2))
    }

    /// Thinks the division over after a word has cost this much. Returns false if fetching all rows is
    /// cheaper.
    fn divide_again(&mut self, costs: &Costs, word: usize, cost: f64) -> bool {
        self.searched[word].surcharge = 2.0 * cost;
        let Some(division) = costs.divide(self.radius, &self.searched) else { return false };
        for (attempt, &reach) in self.attempts.iter_mut().zip(&division.reaches) {
            attempt.take_if(|attempt| attempt.reach != reach);
        }
        self.division = division;
        true
    }
}

impl CodeSearch {
    /// Begins a search. It remembers about `max_rows` rows at most; if there are more, all rows of the table
    /// become candidates.
    pub fn new(costs: &Costs, request: Request, max_rows: usize) -> Self {
        let mut search =
            Self { costs: costs.clone(), request, stage: Stage::Done, reported: HashSet::new(), max_rows };
        search.stage = search.first_stage();
        search
    }

    /// A row may be reported twice from now on.
    pub fn allow_repeats(&mut self) {
        self.request.once = false;
    }

    fn first_stage(&self) -> Stage {
        let Request { radius, is_ordered, values, .. } = self.request;
        if !values {
            return self.last_stage();
        }
        if self.request.center.is_none() {
            return Stage::All(Key::FIRST, 0);
        }
        let searched = self.costs.unsearched();
        let radius = if is_ordered { radius.min(self.costs.first_radius()) } else { radius };
        self.pass(radius, 0, searched)
    }

    /// The stage after all rows with a code.
    fn last_stage(&self) -> Stage {
        if self.request.nulls { Stage::Nulls(Key::FIRST) } else { Stage::Done }
    }

    /// Searches farther than before.
    fn pass(&self, radius: u32, at_least: u32, searched: Vec<Searched>) -> Stage {
        match self.costs.divide(radius, &searched) {
            None => Stage::All(Key::FIRST, at_least),
            Some(division) => {
                let attempts = searched.iter().map(|_| None).collect();
                Stage::Words(Words { radius, at_least, searched, division, attempts })
            }
        }
    }

    /// Appends further candidates. Returns false when there are no more.
    pub fn next_batch<S: Store>(&mut self, index: &Index<'_, S>, candidates: &mut Vec<Candidate>) -> bool {
        index.store.check_for_interrupts();
        let next = match &mut self.stage {
            Stage::Done => return false,
            Stage::Nulls(from) => {
                let nulls = self.costs.layout().nulls();
                let walk = index.entries(nulls, *from, &mut |entry| {
                    candidates.push(Candidate { row: entry.row, at_least: None });
                });
                match walk {
                    Walk::From(key) => Stage::Nulls(key),
                    Walk::Done => Stage::Done,
                }
            }
            Stage::All(from, at_least) => {
                let at_least = *at_least;
                let walk = index.entries(0, *from, &mut |entry| {
                    if !self.reported.contains(&entry.row) {
                        candidates.push(Candidate { row: entry.row, at_least: Some(at_least) });
                    }
                });
                match walk {
                    Walk::From(key) => Stage::All(key, at_least),
                    Walk::Done => self.last_stage(),
                }
            }
            Stage::Words(words) => match words.next(&self.costs) {
                Some((word, reach, cost)) => {
                    if self.search_word(index, word, reach, cost, candidates) {
                        return true;
                    }
                    Stage::All(Key::FIRST, self.at_least())
                }
                None => self.next_pass(),
            },
        };
        self.stage = next;
        true
    }

    /// Reads some more leaves of a word's trees. Returns false if all rows have to be fetched instead.
    fn search_word<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        word: usize,
        reach: u32,
        cost: f64,
        candidates: &mut Vec<Candidate>,
    ) -> bool {
        let Stage::Words(words) = &mut self.stage else { return false };
        let attempt = words.attempts[word].get_or_insert_with(|| {
            let center = self.request.center.as_ref().map_or(0, |center| center[word]);
            let (ball, width) = (Ball { center, radius: reach - 1 }, self.costs.layout().width(word));
            let range = Range::of_word(word, width, ball, self.costs.leaves());
            Attempt { reach, range, found: Vec::new(), limit: GRACE.max(PATIENCE * cost) }
        });
        attempt.range.step(index, u64::BITS, &mut |_, row| attempt.found.push(row));
        if self.reported.len() + attempt.found.len() > self.max_rows {
            return false;
        }
        let cost_so_far = attempt.cost();
        if !attempt.range.is_done() {
            if cost_so_far <= attempt.limit {
                return true;
            }
            attempt.limit = 2.0 * cost_so_far;
            return words.divide_again(&self.costs, word, cost_so_far);
        }
        let found = std::mem::take(&mut attempt.found);
        words.searched[word] = Searched { reach, surcharge: (cost_so_far - cost).max(0.0) };
        words.attempts[word] = None;
        let at_least = Some(words.at_least);
        let found = found.into_iter().filter(|&row| !self.request.once || self.reported.insert(row));
        candidates.extend(found.map(|row| Candidate { row, at_least }));
        true
    }

    /// What follows when all words have been searched that the division says.
    fn next_pass(&mut self) -> Stage {
        let Stage::Words(words) = &mut self.stage else { return self.last_stage() };
        let (radius, searched) = (words.radius, std::mem::take(&mut words.searched));
        if radius >= self.request.radius {
            return self.last_stage();
        }
        match self.costs.next_radius(radius) {
            None => Stage::All(Key::FIRST, radius + 1),
            Some(next) => self.pass(next.min(self.request.radius), radius + 1, searched),
        }
    }

    /// No code that has not been reported is nearer.
    fn at_least(&self) -> u32 {
        match &self.stage {
            Stage::Words(words) => words.at_least,
            _ => 0,
        }
    }
}

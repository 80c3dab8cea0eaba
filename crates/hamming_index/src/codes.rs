//! The search of codes of any width.
//!
//! A code is searched by its words, each like a fingerprint with a part of the radius: see [`crate::plan`].
//! The index has the words of a code in different places. So a row that was found by one word is only a
//! **candidate** until its whole code is known, which the table has ([`Codes`]). Words that are near by chance
//! are rare, so few candidates are in vain.
//!
//! A word is abandoned when it turns out to cost much more than scattered codes do, if others can be searched
//! farther for less. Its candidates are dropped before their codes are asked for. An abandoned word bears a
//! surcharge of twice what it has cost. So a search costs at most a small multiple of what the best division
//! would have cost.
//!
//! A row may be a candidate of several words. It is reported by the first of them alone, which its code tells,
//! so no list of reported rows is kept. Where a word has many candidates, they wait until all words have been
//! searched, so that a candidate of several words is looked up once. Where they are more than memory has room for, they
//! are looked up at once. A word that has passed on candidates before its end is not abandoned any more.
//!
//! Guarantee: every row within the radius is reported exactly once; in the order of distances if that is asked
//! for.

use crate::key::{Key, RowId};
use crate::plan::{Costs, Division, Searched, patience};
use crate::range::{Ball, Range};
use crate::sorted::Sorted;
use crate::store::Store;
use crate::tree::{Index, Walk};
use hamming::codes::distance;
use limits::{Collector, OutOfMemory, extend, grow, push};
use std::mem::take;

/// Rows whose codes are asked for together, where all of them are.
const ROWS_AT_A_TIME: usize = 100_000;
/// More candidates of a word than these wait for those of the other words.
const FEW_CANDIDATES: usize = 1000;

/// What a search of codes asks for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The code from which distances are counted; without it, every row is found.
    pub center: Option<Vec<u8>>,
    /// Codes that are farther away are not wanted.
    pub radius: u32,
    /// The code from which distances order the rows; equal distances are in the order of rows. Without it,
    /// rows are in no order.
    pub nearest_to: Option<Vec<u8>>,
    /// Whether rows with a code are wanted.
    pub values: bool,
    /// Whether rows whose code is NULL are wanted. They come last.
    pub nulls: bool,
}

/// Where the codes of rows are known.
pub trait Codes {
    /// A row's code, filled up with zeros to whole bytes; `None` if the row is not wanted after all.
    fn code_of(&mut self, row: RowId) -> Option<&[u8]>;
}

impl Request {
    /// Whether rows are found in passes of growing radius.
    fn grows(&self) -> bool {
        self.nearest_to.is_some() && self.nearest_to == self.center
    }
}

/// A row that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeHit {
    /// Where the row is in the table.
    pub row: RowId,
    /// The distance by which it is ordered, if rows are ordered and its code is not NULL.
    pub distance: Option<u32>,
}

/// A search under way. It holds no locks and no pages between two batches.
pub struct CodeSearch {
    costs: Costs,
    request: Request,
    /// The words of the center.
    center: Vec<u64>,
    stage: Stage,
    /// Results of an ordered search.
    sorted: Sorted<(u32, RowId)>,
    /// No more candidates than these, but for those of a few leaves, are kept.
    max_candidates: usize,
}

enum Stage {
    Sweep(Sweep),
    /// Rows whose code is NULL, from the key on.
    Nulls(Key),
    Done,
}

impl CodeSearch {
    /// Begins a search that keeps about `max_rows` rows in memory. Ordered results are found in pieces that grow to about
    /// this number, each by a search of its own.
    pub fn new(costs: &Costs, request: Request, max_rows: usize) -> Self {
        let radius = match request.grows() {
            true => request.radius.min(costs.first_radius()),
            false => request.radius,
        };
        let center = request.center.iter().flat_map(|center| costs.layout().words_of(center)).collect();
        let (costs, sorted) = (costs.clone(), Sorted::new(max_rows));
        let max_candidates = max_rows.max(FEW_CANDIDATES);
        let mut search = Self { costs, request, center, stage: Stage::Done, sorted, max_candidates };
        search.stage = if search.request.values { search.sweep(Some(radius)) } else { search.last_stage() };
        search
    }

    /// Begins a pass with this radius; without one, it finds all rows.
    fn sweep(&self, radius: Option<u32>) -> Stage {
        let radius = radius.filter(|_| self.request.center.is_some());
        let mut searched = self.costs.unsearched();
        if let Stage::Sweep(last) = &self.stage {
            searched.iter_mut().zip(&last.searched).for_each(|(word, last)| word.surcharge = last.surcharge);
        }
        let division = radius.and_then(|radius| self.costs.divide(radius, &searched));
        Stage::Sweep(match (radius, division) {
            (Some(radius), Some(division)) => Sweep::of_words(radius, division, searched),
            _ => Sweep::of_all(self.request.radius),
        })
    }

    /// The stage after all rows with a code.
    fn last_stage(&self) -> Stage {
        if self.request.nulls { Stage::Nulls(Key::FIRST) } else { Stage::Done }
    }

    /// Appends a further part of the answer, in order. Returns false when there is no more.
    ///
    /// Without `codes`, rows are candidates, in no order, and may come several times.
    pub fn next_batch<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        codes: Option<&mut impl Codes>,
        hits: &mut Vec<CodeHit>,
    ) -> Result<bool, OutOfMemory> {
        index.store.check_for_interrupts();
        match &mut self.stage {
            Stage::Done => return Ok(false),
            Stage::Nulls(from) => {
                let nulls = self.costs.layout().nulls();
                let mut hits = Collector::new(hits);
                let mut report = |entry: Key| hits.add(CodeHit { row: entry.row, distance: None });
                match index.entries(nulls, *from, &mut report) {
                    Walk::From(key) => *from = key,
                    Walk::Done => self.stage = Stage::Done,
                }
                hits.finish()?;
            }
            Stage::Sweep(sweep) => {
                let mut found = Vec::new();
                let passed_on =
                    sweep.step(index, &self.costs, &self.center, self.max_candidates, &mut found)?;
                if self.request.grows() && sweep.has_given_up() {
                    // From the beginning, for farther rows than this pass has looked for can be had as well.
                    self.sorted.forget();
                    self.stage = Stage::Sweep(Sweep::of_all(self.request.radius));
                    return Ok(true);
                }
                match (codes, &self.request.center) {
                    (Some(codes), Some(_)) => self.check(found, codes, hits)?,
                    _ => {
                        grow(hits, found.len())?;
                        hits.extend(found.into_iter().map(|row| CodeHit { row, distance: None }));
                    }
                }
                self.go_on(&passed_on, hits)?;
            }
        }
        Ok(true)
    }

    /// Keeps the candidates that are within the radius and were not found before.
    ///
    /// Codes are compared as they are: where many are in vain, cutting them into words would take half of the
    /// time.
    fn check(
        &mut self,
        mut found: Vec<RowId>,
        codes: &mut impl Codes,
        hits: &mut Vec<CodeHit>,
    ) -> Result<(), OutOfMemory> {
        let (Stage::Sweep(sweep), Some(center)) = (&self.stage, &self.request.center) else { return Ok(()) };
        // In the order of the table, so that a page of it is looked at once.
        found.sort_unstable();
        found.dedup();
        for row in found {
            let Some(code) = codes.code_of(row) else { continue };
            if distance(code, center) > sweep.radius
                || sweep.has_reported(self.costs.layout().words_of(code), &self.center)
            {
                continue;
            }
            match &self.request.nearest_to {
                Some(nearest_to) => self.sorted.add((distance(code, nearest_to), row), Ord::cmp)?,
                None => push(hits, CodeHit { row, distance: None })?,
            }
        }
        Ok(())
    }

    /// Notes the words whose candidates have been reported, and passes to the next stage if the present one is at its end.
    fn go_on(&mut self, passed_on: &[usize], hits: &mut Vec<CodeHit>) -> Result<(), OutOfMemory> {
        let Stage::Sweep(sweep) = &mut self.stage else { return Ok(()) };
        for &word in passed_on {
            sweep.reported[word] = sweep.searched[word].reach;
        }
        if !sweep.is_done {
            return Ok(());
        }
        let (radius, by_words) = (sweep.radius, matches!(sweep.way, Way::Words { .. }));
        let mut is_last = true;
        if self.request.nearest_to.is_some() {
            let hit = |(distance, row)| CodeHit { row, distance: Some(distance) };
            let is_cut = self.sorted.take(Ord::cmp, hit, hits)?;
            is_last = !is_cut && radius >= self.request.radius;
            if is_cut {
                self.stage = self.sweep(by_words.then_some(radius));
            } else if !is_last {
                let next = self.costs.next_radius(radius, self.request.radius);
                self.stage = self.sweep(next);
            }
        }
        if is_last {
            self.stage = self.last_stage();
        }
        Ok(())
    }
}

/// A pass through the index that finds all rows within a radius.
struct Sweep {
    radius: u32,
    way: Way,
    /// How far words have been searched.
    searched: Vec<Searched>,
    /// With which reach the candidates of words have been reported.
    reported: Vec<u32>,
    /// Candidates of words that have many, and these words.
    waiting: Vec<RowId>,
    waiting_words: Vec<usize>,
    /// Whether the present word has passed on candidates before its end, so that the division stays.
    is_settled: bool,
    is_done: bool,
}

/// How a pass finds rows.
enum Way {
    /// By their words.
    Words { division: Division, attempts: Vec<Option<Attempt>> },
    /// By going through all of them, from the key on.
    All(Key),
}

/// A word that is being searched.
struct Attempt {
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
    fn of_words(radius: u32, division: Division, searched: Vec<Searched>) -> Self {
        let attempts = searched.iter().map(|_| None).collect();
        let reported = vec![0; searched.len()];
        let way = Way::Words { division, attempts };
        Self { searched, reported, ..Self::by(radius, way) }
    }

    fn of_all(radius: u32) -> Self {
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
    fn has_given_up(&self) -> bool {
        matches!(self.way, Way::All(_)) && !self.searched.is_empty()
    }

    /// Reads some more leaves. Finds candidates of a word that has been searched to its end; or, where they are too many
    /// or after the last word, all that wait; and returns these words. Or finds some candidates of a word that has more
    /// than there is room for, which is then searched to its end before any other; or some of all rows.
    fn step<S: Store>(
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
            return Ok(take(&mut self.waiting_words));
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
    fn has_reported(&self, words: impl Iterator<Item = u64>, center: &[u64]) -> bool {
        let differing = words.zip(center).map(|(a, b)| (a ^ b).count_ones());
        self.reported.iter().zip(differing).any(|(&reach, differing)| differing < reach)
    }
}

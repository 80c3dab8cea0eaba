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
use crate::plan::Costs;
use crate::sorted::Sorted;
use crate::store::Store;
use crate::sweep::{FEW_CANDIDATES, Sweep, Way};
use crate::tree::{Index, Walk};
use hamming::codes::distance;
use limits::{Collector, OutOfMemory, grow, push};

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

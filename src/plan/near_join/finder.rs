//! Finds the near pairs of a batch.
//!
//! The first condition on a distance finds pairs, and the others are tested for each of them. A join on
//! sketches has one condition. If each outer row needs only one partner, pairs of codes are not stored: the
//! first pair that satisfies all conditions decides.

use super::batch::JoinBatch;
use super::explain::JoinWork;
use super::inputs::JoinInputs;
use super::memory;
use super::output::JoinOutput;
use super::sketches::find_sketch_pairs;
use crate::pg::code::list::CodeList;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use base::{OutOfMemory, push};
use hamming::code::CodeSlice;
use hamming::near_pairs::{PairDivision, PairSink, near_pairs_between, retain_within};
use std::ops::Range;

/// Codes are searched for in such numbers that their pairs are expected to fill this fraction of the room.
const EXPECTED_FILL: f64 = 0.75;

/// Finds pairs.
#[derive(Default)]
pub(super) struct JoinFinder {
    /// The codes or sketches of the batch that were not searched for yet.
    rest: Range<usize>,
    /// The average number of pairs per code in the last search, which is expected in the next search too.
    pairs_per_code: f64,
    pairs: Vec<(u32, u32)>,
    next_pair: usize,
    comparisons: u64,
    /// Pairs that satisfy all conditions on distances.
    matches: u64,
    /// Pairs that satisfy the first condition on a distance, but not the others.
    dismissed: u64,
    /// The most memory that rows, pairs and files took at the same time.
    bytes: usize,
}

impl JoinFinder {
    pub(super) fn begin(&mut self, batch: &JoinBatch) {
        self.rest = 0..batch.outer.count;
    }

    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        (self.next_pair, self.rest) = (0, 0..0);
    }

    /// Frees all memory.
    pub(super) fn end(&mut self) {
        self.clear();
        self.pairs = Vec::new();
    }

    pub(super) fn add_work(&self, work: &mut JoinWork) {
        work.comparisons = self.comparisons;
        work.matches = self.matches;
        work.dismissed = self.dismissed;
        work.bytes = self.bytes as u64;
    }

    /// The next pair that was found.
    pub(super) fn next_pair(&mut self) -> Option<(u32, u32)> {
        let pair = self.pairs.get(self.next_pair).copied();
        self.next_pair += 1;
        pair
    }

    /// Finds the pairs of the next codes or sketches of the batch; of fewer of them if they have too many
    /// pairs. Returns whether there were any left.
    pub(super) fn find(
        &mut self,
        inputs: &JoinInputs,
        batch: &mut JoinBatch,
        output: &mut JoinOutput,
    ) -> Result<bool, SqlError> {
        self.pairs.clear();
        self.next_pair = 0;
        if self.rest.is_empty() {
            return Ok(false);
        }
        let limits = inputs.limits();
        let sketches = (&mut batch.outer.sketches, &mut batch.inner.sketches);
        if let (Some(wanted), (Some(outer), Some(inner))) = (limits.wanted, sketches) {
            self.comparisons +=
                find_sketch_pairs([outer, inner], wanted, &mut self.rest, &mut self.pairs, memory::pairs())
                    .map_err(report::problem)?;
        } else {
            let conditions = conditions(batch, &limits.radii);
            let Some((searched, others)) = conditions.split_first() else { return Ok(false) };
            let search = CodeSearch { searched, others, pass: inputs.pass() };
            if output.kind().needs_one_partner() {
                self.find_partners(&search, batch, output).map_err(report::problem)?;
            } else {
                self.find_code_pairs(&search).map_err(report::problem)?;
            }
        }
        self.matches += self.pairs.len() as u64;
        let bytes = batch.bytes() + size_of_val(&self.pairs[..]) + inputs.bytes_of_files();
        self.bytes = self.bytes.max(bytes);
        Ok(true)
    }

    fn find_code_pairs(&mut self, search: &CodeSearch) -> Result<(), OutOfMemory> {
        let room = memory::pairs();
        let mut step = ((room as f64 * EXPECTED_FILL / self.pairs_per_code) as usize).max(1);
        loop {
            self.pairs.clear();
            let codes = self.rest.start..self.rest.end.min(self.rest.start.saturating_add(step));
            let mut finder = BatchPairs {
                pairs: &mut self.pairs,
                first: codes.start,
                room: if codes.len() > 1 { room } else { usize::MAX },
                others: search.others,
                comparisons: 0,
                dismissed: 0,
            };
            let found = search.run(codes.clone(), &mut finder);
            self.comparisons += finder.comparisons;
            let dismissed = finder.dismissed;
            match found {
                Ok(()) => self.rest.start = codes.end,
                Err(SearchStop::Full) => {
                    step = codes.len().div_ceil(2);
                    continue;
                }
                Err(SearchStop::OutOfMemory(refusal)) => return Err(refusal),
            }
            self.pairs_per_code = self.pairs.len() as f64 / codes.len() as f64;
            self.dismissed += dismissed;
            return Ok(());
        }
    }

    /// Finds the outer rows of the batch that have a partner.
    fn find_partners(
        &mut self,
        search: &CodeSearch,
        batch: &JoinBatch,
        output: &mut JoinOutput,
    ) -> Result<(), OutOfMemory> {
        let codes = std::mem::take(&mut self.rest);
        let mut finder =
            OuterPartners { batch, output, others: search.others, comparisons: 0, dismissed: 0, matches: 0 };
        let found = search.run(codes, &mut finder);
        self.comparisons += finder.comparisons;
        self.dismissed += finder.dismissed;
        self.matches += finder.matches;
        found
    }
}

/// A condition on a distance: the outer codes and the inner codes of the batch, and the radius.
struct CodeCondition<'a> {
    codes: [CodeSlice<'a>; 2],
    radius: u32,
}

/// The conditions on distances, for this batch.
fn conditions<'a>(batch: &'a JoinBatch, radii: &[u32]) -> Vec<CodeCondition<'a>> {
    let [outer, inner] = [&batch.outer, &batch.inner].map(|side| side.codes.iter().map(CodeList::codes));
    // Bounded: as many as the query has conditions.
    outer
        .zip(inner)
        .zip(radii)
        .map(|((outer, inner), &radius)| CodeCondition { codes: [outer, inner], radius })
        .collect()
}

impl CodeCondition<'_> {
    /// Keeps the pairs within the radius. Outer codes are counted from `first`. Returns how many pairs were
    /// removed.
    fn retain(&self, pairs: &mut Vec<(u32, u32)>, first: usize) -> u64 {
        let before = pairs.len();
        let [outer, inner] = self.codes;
        retain_within(pairs, [outer.range(first..outer.len()), inner], self.radius);
        (before - pairs.len()) as u64
    }
}

/// A search for pairs.
struct CodeSearch<'a> {
    searched: &'a CodeCondition<'a>,
    others: &'a [CodeCondition<'a>],
    /// If the rows are a part of a division: the division, and the number of the pass.
    pass: Option<(&'a PairDivision, usize)>,
}

impl CodeSearch<'_> {
    fn run<F: PairSink>(&self, codes: Range<usize>, finder: &mut F) -> Result<(), F::Stop> {
        let CodeCondition { codes: [outer, inner], radius } = *self.searched;
        let (outer, heartbeat) = (outer.range(codes), &mut check_for_interrupts);
        match self.pass {
            Some((plan, pass)) => plan.near_pairs(pass, [outer, inner], heartbeat, finder),
            None => near_pairs_between(outer, inner, radius, memory::widest_segment(), heartbeat, finder),
        }
    }
}

/// Why a search for pairs ends early.
enum SearchStop {
    Full,
    OutOfMemory(OutOfMemory),
}

impl From<OutOfMemory> for SearchStop {
    fn from(refusal: OutOfMemory) -> Self {
        Self::OutOfMemory(refusal)
    }
}

/// Collects the pairs of some codes of a batch.
struct BatchPairs<'a> {
    pairs: &'a mut Vec<(u32, u32)>,
    /// The place in the batch of the first of these codes.
    first: usize,
    room: usize,
    others: &'a [CodeCondition<'a>],
    comparisons: u64,
    dismissed: u64,
}

impl PairSink for BatchPairs<'_> {
    type Stop = SearchStop;

    fn found(&mut self, a: u32, b: u32) -> Result<(), SearchStop> {
        if self.pairs.len() == self.room {
            return Err(SearchStop::Full);
        }
        Ok(push(self.pairs, (self.first as u32 + a, b))?)
    }

    fn retain(&mut self, pairs: &mut Vec<(u32, u32)>) {
        for other in self.others {
            self.dismissed += other.retain(pairs, self.first);
        }
    }

    fn compared(&mut self, comparisons: u64) {
        self.comparisons += comparisons;
    }
}

/// Reports the first partner of each outer row, and asks for no further pairs of that row.
struct OuterPartners<'a> {
    batch: &'a JoinBatch,
    output: &'a mut JoinOutput,
    others: &'a [CodeCondition<'a>],
    comparisons: u64,
    dismissed: u64,
    matches: u64,
}

impl OuterPartners<'_> {
    #[inline]
    fn is_open(&self, code: u32) -> bool {
        self.output.is_open(self.batch, self.batch.outer.row(code))
    }
}

impl PairSink for OuterPartners<'_> {
    const AT_A_TIME: usize = 64;
    type Stop = OutOfMemory;

    fn found(&mut self, code: u32, other: u32) -> Result<(), OutOfMemory> {
        if self.is_open(code) {
            self.matches += 1;
            let (outer, inner) = (self.batch.outer.row(code), self.batch.inner.row(other));
            self.output.take_partner(self.batch, outer, inner)?;
        }
        Ok(())
    }

    fn wants(&mut self, these: &[u32], _those: &[u32]) -> bool {
        these.iter().any(|&code| self.is_open(code))
    }

    fn retain(&mut self, pairs: &mut Vec<(u32, u32)>) {
        pairs.retain(|&(code, _)| self.is_open(code));
        for other in self.others {
            self.dismissed += other.retain(pairs, 0);
        }
    }

    fn compared(&mut self, comparisons: u64) {
        self.comparisons += comparisons;
    }
}

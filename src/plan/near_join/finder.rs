//! Finds the near pairs of a batch.
//!
//! The first condition on a distance finds pairs, and the others are tested for each of them. If each outer
//! row needs only one partner, pairs are not stored: the first pair that satisfies all conditions decides.

use super::batch::JoinBatch;
use super::explain::JoinWork;
use super::inputs::JoinInputs;
use super::memory;
use super::output::JoinOutput;
use crate::pg::code::list::CodeList;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use base::{Heartbeat, OutOfMemory, push};
use hamming::code::CodeSlice;
use hamming::near_pairs::{PairSearch, PairSink, retain_within};

/// Finds pairs.
#[derive(Default)]
pub(super) struct JoinFinder {
    /// Whether the batch may have pairs that were not found yet.
    are_left: bool,
    /// The search, if it has found as many pairs as there is room for.
    search: Option<PairSearch>,
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
        self.are_left = batch.outer.count > 0;
    }

    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        (self.next_pair, self.are_left, self.search) = (0, false, None);
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

    /// Finds pairs of the batch, as many as there is room for. Returns whether any were left.
    pub(super) fn find(
        &mut self,
        inputs: &JoinInputs,
        batch: &JoinBatch,
        output: &mut JoinOutput,
    ) -> Result<bool, SqlError> {
        self.pairs.clear();
        self.next_pair = 0;
        if !self.are_left {
            return Ok(false);
        }
        let conditions = conditions(batch, inputs.radii());
        let Some((searched, others)) = conditions.split_first() else { return Ok(false) };
        let search = match (self.search.take(), inputs.pass()) {
            (Some(search), _) => Ok(search),
            (None, Some((division, pass))) => division.search(pass),
            (None, None) => PairSearch::between(searched.codes, searched.radius, memory::widest_segment()),
        };
        self.find_pairs(search?, searched.codes, others, batch, output)?;
        self.matches += self.pairs.len() as u64;
        let bytes = batch.bytes() + size_of_val(&self.pairs[..]) + inputs.bytes_of_files();
        self.bytes = self.bytes.max(bytes);
        Ok(true)
    }

    /// Finds pairs; or the outer rows that have a partner, if each needs only one.
    fn find_pairs(
        &mut self,
        mut search: PairSearch,
        codes: [CodeSlice; 2],
        others: &[CodeCondition],
        batch: &JoinBatch,
        output: &mut JoinOutput,
    ) -> Result<(), OutOfMemory> {
        let heartbeat = &mut check_for_interrupts;
        if output.kind().needs_one_partner() {
            self.are_left = false;
            let mut sink = OuterPartners { batch, output, finder: self, others };
            return search.all(codes, heartbeat, &mut sink);
        }
        let more = search.portion(codes, memory::pairs(), heartbeat, &mut BatchPairs(self))?;
        self.are_left = more;
        self.search = more.then_some(search);
        self.dismissed += others.iter().map(|other| other.retain(&mut self.pairs)).sum::<u64>();
        Ok(())
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
    /// Keeps the pairs within the radius. Returns how many pairs were removed.
    fn retain(&self, pairs: &mut Vec<(u32, u32)>) -> u64 {
        let before = pairs.len();
        retain_within(pairs, self.codes, self.radius, &mut check_for_interrupts);
        (before - pairs.len()) as u64
    }
}

/// Collects pairs of a batch.
struct BatchPairs<'a>(&'a mut JoinFinder);

impl PairSink for BatchPairs<'_> {
    type Stop = OutOfMemory;

    fn found(&mut self, a: u32, b: u32) -> Result<(), OutOfMemory> {
        push(&mut self.0.pairs, (a, b))
    }

    fn compared(&mut self, comparisons: u64) {
        self.0.comparisons += comparisons;
    }
}

/// Reports the first partner of each outer row, and asks for no further pairs of that row.
struct OuterPartners<'a> {
    batch: &'a JoinBatch,
    output: &'a mut JoinOutput,
    finder: &'a mut JoinFinder,
    others: &'a [CodeCondition<'a>],
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
            self.finder.matches += 1;
            let (outer, inner) = (self.batch.outer.row(code), self.batch.inner.row(other));
            self.output.take_partner(self.batch, outer, inner)?;
        }
        Ok(())
    }

    fn wants(&mut self, these: &[u32], _those: &[u32]) -> bool {
        these.iter().any(|&code| self.is_open(code))
    }

    fn retain(&mut self, pairs: &mut Vec<(u32, u32)>, _heartbeat: &mut dyn Heartbeat) {
        pairs.retain(|&(code, _)| self.is_open(code));
        self.finder.dismissed += self.others.iter().map(|other| other.retain(pairs)).sum::<u64>();
    }

    fn compared(&mut self, comparisons: u64) {
        self.finder.comparisons += comparisons;
    }
}

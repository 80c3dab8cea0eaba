//! Finds the near pairs of a batch.
//!
//! Rows with several conditions on distances are searched by all of their codes at once: they are divided by
//! the code that separates them. If an outer row needs only one match, pairs are not stored: the first pair
//! that satisfies all conditions decides.

use super::batch::JoinBatch;
use super::output::{JoinOutput, RowTest};
use super::work::{Count, JoinWork};
use crate::exec::rows::CodePlace;
use crate::pg::interrupts::check_for_interrupts;
use crate::plan::near_join::{BySide, Side, memory};
use base::{Heartbeat, OutOfMemory, beat_every, push};
use hamming::near_pairs::{JoinSides, PairDivision, PairSearch, PairSink};

/// Of how many pairs the rows are read at a time, before they are shown. The rows of a pair can be anywhere
/// in memory, and processors can wait for some ten reads at the same time.
const AHEAD: usize = 16;

/// Of how many rows it is asked between two heartbeats whether they are matched.
const STRIDE: usize = 1 << 16;

/// Finds pairs.
#[derive(Default)]
pub(super) struct PairFinder {
    /// The search, unless it has found all pairs of the batch.
    search: Option<PairSearch>,
    /// Pairs that were found, as places of codes, and the next one to return.
    pairs: Vec<(u32, u32)>,
    next: usize,
}

impl PairFinder {
    /// Prepares to search a batch, whose rows may have been divided.
    pub(super) fn begin(
        &mut self,
        batch: &JoinBatch,
        radii: &[u32],
        divided: Option<(&PairDivision, usize)>,
    ) -> Result<(), OutOfMemory> {
        if batch[Side::Outer].count == 0 {
            return Ok(());
        }
        self.search = Some(batch.search(radii, divided)?);
        Ok(())
    }

    /// The number of the condition by whose codes pairs are found.
    pub(super) fn leading(&self) -> usize {
        self.search.as_ref().map_or(0, PairSearch::leading)
    }

    /// Bytes of memory that the pairs take.
    pub(super) fn bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<(u32, u32)>()
    }

    /// The next pair that was found.
    #[inline]
    pub(super) fn next_pair(&mut self, batch: &JoinBatch) -> Option<BySide<CodePlace>> {
        let &(outer, inner) = self.pairs.get(self.next)?;
        if self.next.is_multiple_of(AHEAD) {
            let end = self.pairs.len().min(self.next + AHEAD);
            let pairs = &self.pairs[self.next..end];
            batch.touch(Side::Outer, pairs.iter().map(|pair| CodePlace(pair.0)));
            batch.touch(Side::Inner, pairs.iter().map(|pair| CodePlace(pair.1)));
        }
        self.next += 1;
        Some(BySide([outer, inner].map(CodePlace)))
    }

    /// Finds some pairs; or matches the outer rows of the batch, if they need only one match. Returns whether
    /// there was anything left to search.
    pub(super) fn find(&mut self, output: &mut JoinOutput, test: RowTest<'_>) -> Result<bool, OutOfMemory> {
        let Some(mut search) = self.search.take() else { return Ok(false) };
        self.pairs.clear();
        self.next = 0;
        let codes = test.batch.codes();
        let heartbeat = &mut check_for_interrupts;
        if output.kind().needs_one_match() {
            let mut sink = FirstMatches { output, test };
            search.all(JoinSides::between(codes), heartbeat, &mut sink)?;
        } else {
            let mut sink = FoundPairs { pairs: &mut self.pairs, work: &mut *test.work };
            let are_left = search.portion(codes, memory::pairs(), heartbeat, &mut sink)?;
            debug_assert!(are_distinct(&self.pairs), "a pair is found once");
            self.search = are_left.then_some(search);
            test.work[Count::NearPairs] += self.pairs.len() as u64;
        }
        Ok(true)
    }
}

fn are_distinct(pairs: &[(u32, u32)]) -> bool {
    let mut sorted = pairs.to_vec(); // Bounded: a portion of pairs, and only for an assertion.
    sorted.sort_unstable();
    sorted.windows(2).all(|two| two[0] != two[1])
}

/// Collects pairs of a batch.
struct FoundPairs<'a> {
    pairs: &'a mut Vec<(u32, u32)>,
    work: &'a mut JoinWork,
}

impl PairSink for FoundPairs<'_> {
    type Stop = OutOfMemory;

    fn found(&mut self, a: u32, b: u32) -> Result<(), OutOfMemory> {
        push(self.pairs, (a, b))
    }

    fn compared(&mut self, comparisons: u64) {
        self.work[Count::Comparisons] += comparisons;
    }
}

/// Passes on the near pairs of each outer row until the row is noted as matched, and requests no further
/// pairs of that row.
struct FirstMatches<'a> {
    output: &'a mut JoinOutput,
    test: RowTest<'a>,
}

impl FirstMatches<'_> {
    #[inline]
    fn is_open(&self, code: u32) -> bool {
        let outer = &self.test.batch[Side::Outer];
        !outer.is_matched(outer.row(CodePlace(code)))
    }
}

impl PairSink for FirstMatches<'_> {
    const AT_A_TIME: usize = 64;
    type Stop = OutOfMemory;

    fn found(&mut self, a: u32, b: u32) -> Result<(), OutOfMemory> {
        if self.is_open(a) {
            self.test.work[Count::NearPairs] += 1;
            let codes = BySide([a, b].map(CodePlace));
            self.output.first_match(codes, &mut self.test)?;
        }
        Ok(())
    }

    fn wants(&mut self, these: &[u32], _those: &[u32], heartbeat: &mut dyn Heartbeat) -> bool {
        these.iter().enumerate().any(|(number, &code)| {
            beat_every(STRIDE, number, heartbeat);
            self.is_open(code)
        })
    }

    fn retain(&mut self, pairs: &mut Vec<(u32, u32)>, _heartbeat: &mut dyn Heartbeat) {
        pairs.retain(|&(code, _)| self.is_open(code));
    }

    fn compared(&mut self, comparisons: u64) {
        self.test.work[Count::Comparisons] += comparisons;
    }
}

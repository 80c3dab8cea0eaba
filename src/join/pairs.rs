//! Finds the near pairs of a batch and a chunk.

use super::division::JoinDivision;
use super::look::{Look, looks};
use super::partners::OuterPartners;
use super::rows::RowStore;
use super::run::{NearJoin, Stage};
use crate::pg::report::{self, SqlError};
use hamming::near_pairs::{MAX_SEGMENT_BITS, PairFinder};
use limits::{OutOfMemory, push};
use pgrx::pg_sys;

/// The least number of pairs for which there is room.
const MIN_PAIRS: usize = 1 << 12;

/// The part of the memory in which both sides may note where their buckets begin.
const PART_FOR_BUCKETS: usize = 16;

/// How much of the room for pairs is expected to be used, so that it is rarely too small.
const EXPECTED_FILL: f64 = 0.75;

impl NearJoin {
    /// Memory that the join may take.
    pub(super) fn memory() -> usize {
        // SAFETY: settings.
        (unsafe { pg_sys::get_hash_memory_limit() }).min(RowStore::MAX_BYTES)
    }

    /// The bits of the widest segment by which codes are sorted into buckets.
    pub(super) fn widest_segment() -> u32 {
        let buckets = Self::memory() / PART_FOR_BUCKETS / 2 / size_of::<u32>();
        buckets.max(2).ilog2().min(MAX_SEGMENT_BITS)
    }

    /// Finds the pairs of the next codes of the batch: fewer codes if there are too many pairs.
    pub(super) fn find_pairs(&mut self) -> Result<(), SqlError> {
        self.next_pair = 0;
        let memory = Self::memory() / 4 - Self::memory() / PART_FOR_BUCKETS;
        let room = (memory / size_of::<(u32, u32)>()).max(MIN_PAIRS);
        if self.wanted.is_some() {
            return self.find_sketch_pairs(room);
        }
        if self.parts.kind.needs_one_partner() {
            return self.find_partners();
        }
        let looks = looks([&self.outer, &self.inner], &self.radii);
        let [searched, looks @ ..] = &looks[..] else { return Ok(()) };
        let mut step = ((room as f64 * EXPECTED_FILL / self.pairs_per_code) as usize).max(1);
        loop {
            self.pairs.clear();
            let codes = self.rest.start..self.rest.end.min(self.rest.start.saturating_add(step));
            let mut finder = BatchPairs {
                pairs: &mut self.pairs,
                first: codes.start,
                room: if codes.len() > 1 { room } else { usize::MAX },
                looks,
                comparisons: 0,
                dismissed: 0,
            };
            let found = searched.search(self.division.as_ref(), codes.clone(), &mut finder);
            self.work.comparisons += finder.comparisons;
            let dismissed = finder.dismissed as u64;
            match found {
                Ok(()) => self.rest.start = codes.end,
                Err(SearchStop::Full) => {
                    step = codes.len().div_ceil(2);
                    continue;
                }
                Err(SearchStop::OutOfMemory(refusal)) => return Err(report::problem(refusal)),
            }
            self.pairs_per_code = self.pairs.len() as f64 / codes.len() as f64;
            self.work.dismissed += dismissed;
            self.note_pairs();
            return Ok(());
        }
    }

    /// Finds out which outer rows of the batch have a partner: the first one that passes the further
    /// conditions decides, so pairs need no memory.
    fn find_partners(&mut self) -> Result<(), SqlError> {
        let looks = looks([&self.outer, &self.inner], &self.radii);
        let [searched, looks @ ..] = &looks[..] else { return Ok(()) };
        let mut finder = OuterPartners {
            parts: &self.parts,
            sides: [&self.outer, &self.inner],
            partners: &mut self.outer_partners,
            looks,
            work: &mut self.work,
        };
        let codes = std::mem::replace(&mut self.rest, 0..0);
        searched.search(self.division.as_ref(), codes, &mut finder).map_err(report::problem)?;
        self.note_pairs();
        self.stage = match self.parts.kind.returns_pairs() {
            true => Stage::WithPartner(0),
            false => Stage::LoneOuter(0),
        };
        Ok(())
    }

    /// Notes what was found, for EXPLAIN.
    pub(super) fn note_pairs(&mut self) {
        self.work.matches += self.pairs.len() as u64;
        let files = self.division.as_ref().map_or(0, JoinDivision::bytes);
        let bytes = self.outer.bytes() + self.inner.bytes() + size_of_val(&self.pairs[..]) + files;
        self.work.bytes = self.work.bytes.max(bytes);
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

/// The pairs of some codes of a batch.
struct BatchPairs<'a> {
    pairs: &'a mut Vec<(u32, u32)>,
    /// The place in the batch of the first of these codes.
    first: usize,
    room: usize,
    looks: &'a [Look<'a>],
    comparisons: u64,
    dismissed: usize,
}

impl PairFinder for BatchPairs<'_> {
    type Stop = SearchStop;

    fn found(&mut self, a: u32, b: u32) -> Result<(), SearchStop> {
        if self.pairs.len() == self.room {
            return Err(SearchStop::Full);
        }
        Ok(push(self.pairs, (self.first as u32 + a, b))?)
    }

    fn retain(&mut self, pairs: &mut Vec<(u32, u32)>) {
        for look in self.looks {
            self.dismissed += look.retain(pairs, self.first);
        }
    }

    fn compared(&mut self, comparisons: u64) {
        self.comparisons += comparisons;
    }
}

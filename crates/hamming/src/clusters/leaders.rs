//! Computes the keepers of the leader linkage. [`super`] has the definition, the guarantee and the cost.
//!
//! A pass finds near pairs and keeps them, and then decides for each row in order whether it is a keeper. If
//! there are too many pairs, the first half of the rows is decided separately. Then later rows near its
//! keepers get these keepers, and only the remaining rows are decided in the same way. So few pairs of rows
//! that are not keepers are compared.

use crate::code::CodeSlice;
use crate::near_pairs::{CodeRadii, MAX_SEGMENT_BITS, PairSearch, PairStop, near_pairs};
use base::{Heartbeat, OutOfMemory, beat_every, collect, reserve, sort};
use std::ops::Range;

/// How many rows are decided between two heartbeats.
const STRIDE: usize = 1 << 14;

/// How many pairs are sampled to estimate the middle of all pairs.
const SAMPLE: usize = 1 << 10;

/// The part of the remaining work that a pass takes. Sorting, deciding and further passes take the rest.
const PASS: f64 = 0.9;

/// Used instead of a row if no row is known, or there is none.
const NONE: u32 = u32::MAX;

/// The limits of memory and time of a search for keepers.
#[derive(Clone, Copy)]
pub(super) struct LeaderLimits {
    /// The most pairs that are kept at the same time.
    pub(super) kept: usize,
    /// The most pairs that a pass may find, as a multiple of the number of its rows.
    pub(super) met: usize,
}

impl LeaderLimits {
    /// Four pairs for each row, which are 32 bytes; 2 MB for few rows, and 256 MB for many. Clusters of up to
    /// a hundred rows are decided in one step.
    pub(super) fn of(rows: usize) -> Self {
        Self { kept: rows.saturating_mul(4).clamp(1 << 18, 1 << 25), met: 64 }
    }
}

/// A search for keepers.
struct Leaders<'a> {
    codes: CodeSlice<'a>,
    radii: &'a CodeRadii,
    limits: LeaderLimits,
    /// For each row its keeper. A keeper has itself. A row that is not decided yet has the earliest known
    /// keeper near it, or [`NONE`].
    keepers: Vec<u32>,
    /// The fraction of the work that was done, from 0 to 1.
    done: f64,
    heartbeat: &'a mut dyn Heartbeat,
}

/// For each code, the place of its keeper by the leader linkage. The codes must be distinct.
pub(super) fn leaders(
    codes: CodeSlice<'_>,
    radii: &CodeRadii,
    limits: LeaderLimits,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<u32>, OutOfMemory> {
    let keepers = collect(std::iter::repeat_n(NONE, codes.len()), codes.len())?;
    let mut leaders = Leaders { codes, radii, limits, keepers, done: 0.0, heartbeat };
    leaders.settle(collect(0..codes.len() as u32, codes.len())?, 1.0)?;
    Ok(leaders.keepers)
}

impl Leaders<'_> {
    /// Decides rows. No earlier keeper may be near one of them.
    ///
    /// First tries to decide all rows by their near pairs. If there are too many pairs, decides the first
    /// half separately, gives its keepers to later rows near them, and decides the remaining rows. `end` is
    /// the fraction of the whole work that is done afterwards.
    fn settle(&mut self, mut rows: Vec<u32>, end: f64) -> Result<(), OutOfMemory> {
        let start = self.done;
        match self.settle_by_pairs(&rows, end) {
            Ok(()) => return Ok(()),
            Err(PairStop::OfSink(error)) => return Err(error),
            Err(PairStop::Full) => {}
        }
        // Each of the three steps takes as long per row, and so did the pass that ended early.
        self.done = self.done.max(start + (end - start) / 3.0);
        let left = end - self.done;
        let middle = rows.len() / 2;
        let mut later = collect(rows[middle..].iter().copied(), rows.len() - middle)?;
        rows.truncate(middle);
        self.settle(collect(rows.iter().copied(), middle)?, end - 0.4 * left)?;
        rows.retain(|&row| self.keepers[row as usize] == row);
        self.join_keepers(&rows, &later, end - 0.1 * left)?;
        drop(rows);
        later.retain(|&row| self.keepers[row as usize] == NONE);
        self.settle(later, end)
    }

    /// Gives each row near a keeper the earliest such keeper.
    fn join_keepers(&mut self, keepers: &[u32], rows: &[u32], end: f64) -> Result<(), OutOfMemory> {
        let (of_keepers, of_rows) = (self.words_of(keepers)?, self.words_of(rows)?);
        let codes = [&of_keepers, &of_rows].map(|words| CodeSlice::new(words, self.codes.width()));
        PairSearch::between(codes, self.radii.clone(), MAX_SEGMENT_BITS)?.all(
            codes,
            &mut PassHeartbeat::new(self.heartbeat, &mut self.done, end),
            &mut |a, b| {
                let (keeper, row) = (keepers[a as usize], rows[b as usize]);
                let nearest = &mut self.keepers[row as usize];
                *nearest = (*nearest).min(keeper);
                Ok::<(), OutOfMemory>(())
            },
        )
    }

    fn words_of(&self, rows: &[u32]) -> Result<Vec<u64>, OutOfMemory> {
        self.codes.gather(rows.iter().copied(), rows.len())
    }

    /// Decides rows by their near pairs, in one or more passes. Whether a row is a keeper depends on earlier
    /// rows, but pairs are found in any order. So a pass keeps the pairs, and then decides row by row.
    ///
    /// If there are more pairs than may be kept, a pass keeps those of the first rows. For each later row it
    /// keeps only the earliest near row. The later row can be decided if that row is a keeper, or if there is
    /// no near row. So nearly all rows are decided, unless near rows form long chains. The next pass compares
    /// the undecided rows and the keepers that this pass has found.
    fn settle_by_pairs(&mut self, all: &[u32], end: f64) -> Result<(), PairStop> {
        let max_met = self.limits.met.saturating_mul(all.len());
        // The rows of a pass, in order: undecided rows, and keepers that the last pass has found.
        let mut rows = collect(all.iter().copied(), all.len())?;
        loop {
            let pairs = self.pairs(&rows, self.done + PASS * (end - self.done), max_met)?;
            if self.decide(&mut rows, pairs)? == 0 {
                self.done = end;
                return Ok(());
            }
        }
    }

    /// Finds the near pairs of undecided rows. A row near a known keeper gets the earliest such keeper.
    fn pairs(&mut self, rows: &[u32], end: f64, max_met: usize) -> Result<KeptPairs, PairStop> {
        let of_rows = self.words_of(rows)?;
        let mut pairs = KeptPairs::new(self.limits.kept, max_met, rows.len())?;
        near_pairs(
            CodeSlice::new(&of_rows, self.codes.width()),
            self.radii.clone(),
            &mut PassHeartbeat::new(self.heartbeat, &mut self.done, end),
            &mut |a, b| {
                let (row, other) = (rows[b as usize], rows[a as usize]);
                if self.keepers[other as usize] == other {
                    let nearest = &mut self.keepers[row as usize];
                    *nearest = (*nearest).min(other);
                    return Ok(());
                }
                pairs.add(a, b)
            },
        )?;
        sort(&mut pairs.pairs, self.heartbeat, |&pair| pair);
        Ok(pairs)
    }

    /// Decides the rows whose pairs are complete, in order. Leaves the rows of the next pass in `rows`, and
    /// returns how many of them are undecided.
    fn decide(&mut self, rows: &mut Vec<u32>, mut pairs: KeptPairs) -> Result<usize, OutOfMemory> {
        let keepers = &mut self.keepers;
        let mut undecided = 0;
        let mut next = Vec::new();
        reserve(&mut next, rows.len())?;
        for (b, &row) in rows.iter().enumerate() {
            beat_every(STRIDE, b, self.heartbeat);
            let near_keeper = keepers[row as usize];
            if near_keeper == row {
                continue;
            }
            let is_keeper = |&a: &u32| keepers[rows[a as usize] as usize] == rows[a as usize];
            let row_of = |a: u32| if a == NONE { NONE } else { rows[a as usize] };
            let near_keeper = if b < pairs.complete {
                Some(near_keeper.min(row_of(pairs.of(b as u32).find(is_keeper).unwrap_or(NONE))))
            } else {
                let earliest = pairs.earliest[b];
                let decides = earliest == NONE || near_keeper < row_of(earliest) || is_keeper(&earliest);
                decides.then(|| near_keeper.min(row_of(earliest)))
            };
            match near_keeper {
                Some(NONE) => {
                    keepers[row as usize] = row;
                    next.push(row);
                }
                Some(keeper) => keepers[row as usize] = keeper,
                None => {
                    undecided += 1;
                    next.push(row);
                }
            }
        }
        *rows = next;
        Ok(undecided)
    }
}

/// Reports the progress of one pass as a part of the whole work.
struct PassHeartbeat<'a> {
    heartbeat: &'a mut dyn Heartbeat,
    done: &'a mut f64,
    parts: Range<f64>,
}

impl<'a> PassHeartbeat<'a> {
    fn new(heartbeat: &'a mut dyn Heartbeat, done: &'a mut f64, end: f64) -> Self {
        Self { heartbeat, parts: *done..end, done }
    }
}

impl Heartbeat for PassHeartbeat<'_> {
    fn beat(&mut self) {
        self.heartbeat.beat();
    }

    fn progress(&mut self, fraction: f64) {
        let Range { start, end } = self.parts;
        *self.done = start + fraction * (end - start);
        self.heartbeat.progress(*self.done);
    }
}

/// The near pairs of undecided rows: all pairs of the first rows, as many as there is room for, and for every
/// row the earliest row near it.
struct KeptPairs {
    /// Pairs, with the later row first, so that they can be sorted by it.
    pairs: Vec<(u32, u32)>,
    max_pairs: usize,
    /// How many more pairs may be found.
    left: usize,
    /// The rows before this one have all their pairs here.
    complete: usize,
    /// For each row, the earliest row near it, or [`NONE`].
    earliest: Vec<u32>,
    /// The pairs before this index were returned.
    asked: usize,
}

impl KeptPairs {
    fn new(max_pairs: usize, max_met: usize, rows: usize) -> Result<Self, OutOfMemory> {
        let earliest = collect(std::iter::repeat_n(NONE, rows), rows)?;
        Ok(Self { pairs: Vec::new(), max_pairs, left: max_met, complete: rows, earliest, asked: 0 })
    }

    fn add(&mut self, a: u32, b: u32) -> Result<(), PairStop> {
        self.left = self.left.checked_sub(1).ok_or(PairStop::Full)?;
        let earliest = &mut self.earliest[b as usize];
        *earliest = (*earliest).min(a);
        if (b as usize) < self.complete && self.pairs.len() >= self.max_pairs {
            self.halve();
        }
        if (b as usize) < self.complete {
            if self.pairs.len() == self.pairs.capacity() {
                let more = self.pairs.len().clamp(1, 1 << 20);
                reserve(&mut self.pairs, more)?;
            }
            self.pairs.push((b, a));
        }
        Ok(())
    }

    /// Drops the pairs of the later rows, about half of all pairs. The exact middle would take long to find.
    fn halve(&mut self) {
        let step = self.pairs.len().div_ceil(SAMPLE);
        let mut sample: Vec<u32> = self.pairs.iter().step_by(step).map(|&(row, _)| row).collect();
        let middle = sample.len() / 2;
        self.complete = *sample.select_nth_unstable(middle).1 as usize;
        self.pairs.retain(|pair| (pair.0 as usize) < self.complete);
    }

    /// The earlier rows near this row, in order. The pairs must be sorted, and rows must be asked for in
    /// order.
    fn of(&mut self, b: u32) -> impl Iterator<Item = u32> + use<'_> {
        let first = self.asked + self.pairs[self.asked..].iter().take_while(|pair| pair.0 < b).count();
        self.asked = first + self.pairs[first..].iter().take_while(|pair| pair.0 == b).count();
        self.pairs[first..self.asked].iter().map(|pair| pair.1)
    }
}

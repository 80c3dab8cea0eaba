//! Computes the keepers of the leader linkage. [`super`] has the definition, the guarantee and the cost.
//!
//! A pass finds near pairs and keeps them, and then decides for each row in order whether it is a keeper. If
//! there are too many pairs, the first half of the rows is decided separately. Then later rows near its
//! keepers get these keepers, and only the remaining rows are decided in the same way. So few pairs of rows
//! that are not keepers are compared.

use crate::code::CodeSlice;
use crate::near_pairs::{CodeRadii, JoinSides, MAX_SEGMENT_BITS, PairSearch, PairStop, near_pairs};
use base::{Heartbeat, OutOfMemory, beat_every, collect, push, sort};
use std::ops::Range;

/// How many rows are processed between two heartbeats.
const STRIDE: usize = 1 << 16;

/// Used instead of a place if there is none.
const NONE: u32 = u32::MAX;

/// The most pairs that are kept for this number of rows: four for each row, which are 32 bytes; 2 MB for few
/// rows, and 256 MB for many.
pub(super) fn most_pairs(rows: usize) -> usize {
    rows.saturating_mul(4).clamp(1 << 18, 1 << 25)
}

/// A search for keepers.
struct Leaders<'a> {
    codes: CodeSlice<'a>,
    radii: &'a CodeRadii,
    most_pairs: usize,
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
    most_pairs: usize,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<u32>, OutOfMemory> {
    let keepers = collect(std::iter::repeat_n(NONE, codes.len()), codes.len())?;
    let mut leaders = Leaders { codes, radii, most_pairs, keepers, done: 0.0, heartbeat };
    leaders.settle(&collect(0..codes.len() as u32, codes.len())?, 1.0)?;
    Ok(leaders.keepers)
}

impl Leaders<'_> {
    /// Decides rows. No earlier keeper may be near one of them.
    ///
    /// First tries to decide all rows by their near pairs. If there are too many pairs, decides the first
    /// half separately, gives its keepers to later rows near them, and decides the remaining rows. `end` is
    /// the fraction of the whole work that is done afterwards.
    fn settle(&mut self, rows: &[u32], end: f64) -> Result<(), OutOfMemory> {
        let start = self.done;
        match self.settle_by_pairs(rows, end) {
            Ok(()) => return Ok(()),
            Err(PairStop::OfSink(error)) => return Err(error),
            Err(PairStop::Full) => {}
        }
        // Each of the three steps takes as long per row, and so did the pass that ended early.
        self.done = self.done.max(start + (end - start) / 3.0);
        let left = end - self.done;
        let (first, later) = rows.split_at(rows.len() / 2);
        self.settle(first, end - 0.4 * left)?;
        let is_keeper = |row: &u32| self.keepers[*row as usize] == *row;
        let keepers = collect(first.iter().copied().filter(is_keeper), first.len())?;
        self.join_keepers(&keepers, later, end - 0.1 * left)?;
        drop(keepers);
        let is_open = |row: &u32| self.keepers[*row as usize] == NONE;
        let open = collect(later.iter().copied().filter(is_open), later.len())?;
        self.settle(&open, end)
    }

    /// Gives each row near a keeper the earliest such keeper.
    fn join_keepers(&mut self, keepers: &[u32], rows: &[u32], end: f64) -> Result<(), OutOfMemory> {
        let of_keepers = self.words_of(keepers)?;
        let of_rows = self.words_of(rows)?;
        let codes = [&of_keepers, &of_rows].map(|words| CodeSlice::new(words, self.codes.width()));
        let heartbeat = &mut PassHeartbeat::new(self.heartbeat, &mut self.done, end);
        let near = first_near(codes, self.radii.clone(), MAX_SEGMENT_BITS, heartbeat)?;
        for (&row, &keeper) in rows.iter().zip(&near).filter(|(_, keeper)| **keeper != NONE) {
            self.keepers[row as usize] = keepers[keeper as usize];
        }
        Ok(())
    }

    fn words_of(&mut self, rows: &[u32]) -> Result<Vec<u64>, OutOfMemory> {
        self.codes.gather(rows.iter().copied(), rows.len(), self.heartbeat)
    }

    /// Decides rows by their near pairs, if there are not too many. Whether a row is a keeper depends on
    /// earlier rows, but pairs are found in any order. So the pairs are kept, and then decide row by row.
    fn settle_by_pairs(&mut self, rows: &[u32], end: f64) -> Result<(), PairStop> {
        let of_rows = self.words_of(rows)?;
        let mut pairs = Vec::new();
        near_pairs(
            CodeSlice::new(&of_rows, self.codes.width()),
            self.radii.clone(),
            &mut PassHeartbeat::new(self.heartbeat, &mut self.done, end),
            // The later row comes first, so that pairs are sorted by it.
            &mut |a, b| match pairs.len() < self.most_pairs {
                true => Ok(push(&mut pairs, (rows[b as usize], rows[a as usize]))?),
                false => Err(PairStop::Full),
            },
        )?;
        for (place, &row) in rows.iter().enumerate() {
            beat_every(STRIDE, place, self.heartbeat);
            self.keepers[row as usize] = row;
        }
        decide(&mut self.keepers, &mut pairs, self.heartbeat);
        debug_assert!(rows.iter().all(|&row| self.keepers[row as usize] <= row), "each row is decided");
        self.done = end;
        Ok(())
    }
}

/// For each code of the second side, the place of the first code of the first side that is near it, or
/// `u32::MAX`.
pub fn first_near(
    codes: [CodeSlice<'_>; 2],
    radii: CodeRadii,
    widest: u32,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<u32>, OutOfMemory> {
    let mut firsts = collect(std::iter::repeat_n(NONE, codes[1].len()), codes[1].len())?;
    let search = PairSearch::between(codes, radii, widest)?;
    search.all(JoinSides::between(codes), heartbeat, &mut |a: u32, b: u32| {
        firsts[b as usize] = a.min(firsts[b as usize]);
        Ok::<(), OutOfMemory>(())
    })?;
    Ok(firsts)
}

/// Gives each row the earliest keeper near it, by the pairs of a later row and an earlier one. Before, each
/// row is its own keeper.
pub(super) fn decide(keepers: &mut [u32], pairs: &mut [(u32, u32)], heartbeat: &mut dyn Heartbeat) {
    sort(pairs, heartbeat, |&pair| pair);
    for (place, &(row, earlier)) in pairs.iter().enumerate() {
        beat_every(STRIDE, place, heartbeat);
        debug_assert!(earlier <= row, "a pair has the later row first");
        // The earlier row is decided.
        if keepers[row as usize] == row && keepers[earlier as usize] == earlier {
            keepers[row as usize] = earlier;
        }
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

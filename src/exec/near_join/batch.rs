//! The rows of both sides that are in memory and joined with each other.

use crate::exec::rows::{CodePlace, JoinSide};
use crate::pg::code::list::CodeReader;
use crate::pg::exec_node::{CurrentRow, ReturnedRow, RowEvaluation};
use crate::pg::report::SqlError;
use crate::pg::row_store::{BatchRow, RowStore};
use crate::plan::near_join::{BySide, Side, StoredJoin, memory};
use base::OutOfMemory;
use hamming::code::CodeSlice;
use hamming::near_pairs::{PairDivision, PairSearch};
use std::ops::{Index, IndexMut};

/// Outer rows, and the inner rows with which they are joined.
pub(super) struct JoinBatch {
    sides: BySide<JoinSide>,
}

impl Index<Side> for JoinBatch {
    type Output = JoinSide;

    #[inline]
    fn index(&self, side: Side) -> &JoinSide {
        &self.sides[side]
    }
}

impl IndexMut<Side> for JoinBatch {
    #[inline]
    fn index_mut(&mut self, side: Side) -> &mut JoinSide {
        &mut self.sides[side]
    }
}

impl JoinBatch {
    pub(super) fn new(stored: &StoredJoin, rows: BySide<RowStore>) -> Self {
        let mut rows = rows.0.into_iter();
        Self::of_sides(BySide::of(|side| {
            // Bounded: as many as the query has conditions.
            let readers = stored.near.iter().map(|&(_, codes)| CodeReader::of_first_bits(codes)).collect();
            let rows = rows.next().unwrap_or_else(RowStore::of_nothing);
            JoinSide::new(rows, stored.kind.notes_matches(side), readers)
        }))
    }

    pub(super) fn of_sides(sides: BySide<JoinSide>) -> Self {
        Self { sides }
    }

    /// The outer and the inner side.
    pub(super) fn sides(&self) -> &[JoinSide; 2] {
        &self.sides.0
    }

    pub(super) fn sides_mut(&mut self) -> &mut [JoinSide; 2] {
        &mut self.sides.0
    }

    /// Removes all rows.
    pub(super) fn clear(&mut self) {
        self.sides_mut().iter_mut().for_each(JoinSide::clear);
    }

    /// Raises the error of `hamming` if the codes of the two sides have different lengths.
    pub(super) fn check(&mut self) -> Result<(), SqlError> {
        let [outer, inner] = self.sides_mut();
        outer.check(inner)
    }

    /// The codes to search, of the outer and the inner side.
    pub(super) fn codes(&self) -> [CodeSlice<'_>; 2] {
        Side::BOTH.map(|side| self[side].codes())
    }

    /// The search for the near pairs. If the rows were divided, the plan of that and the number of the pass
    /// say which pairs belong to the partition of the batch.
    pub(super) fn search(
        &self,
        radii: &[u32],
        divided: Option<(&PairDivision, usize)>,
    ) -> Result<PairSearch, OutOfMemory> {
        match divided {
            Some((division, pass)) => division.search(pass),
            None => {
                let radii = self[Side::Outer].radii(radii);
                PairSearch::between(self.codes(), radii, memory::widest_segment())
            }
        }
    }

    /// Reads the rows of some codes that are shown soon after.
    #[inline]
    pub(super) fn touch(&self, side: Side, codes: impl Iterator<Item = CodePlace>) {
        let side = &self[side];
        side.rows.touch(codes.map(|code| side.row(code)));
    }

    /// Makes an outer row and an inner row the current row. One of them may be missing.
    #[inline]
    pub(super) fn show<'a>(
        &'a self,
        rows: BySide<Option<BatchRow>>,
        evaluation: &'a mut RowEvaluation,
    ) -> CurrentRow<'a> {
        evaluation.show(Side::BOTH.map(|side| (&self[side].rows, rows[side])))
    }

    /// The row that the node returns for the current row.
    #[inline]
    pub(super) fn returned<'a>(&'a self, evaluation: &'a mut RowEvaluation) -> ReturnedRow<'a> {
        evaluation.returned(Side::BOTH.map(|side| &self[side].rows))
    }
}

/// Rows of the first batch. With so few, LIMIT 1 or EXISTS is answered at once.
const FIRST_BATCH: usize = 64;

/// If the join may end early, each batch is this many times larger than the last one. There are few batches,
/// since the inner side is sorted for each. Otherwise the second batch has all that memory has room for.
const GROWTH: usize = 256;

/// In a parallel plan, a process that has taken its portion of the outer side goes on with this fraction of a
/// portion at a time. It takes only a few such batches, since the inner side is sorted for each.
const PARTS_OF_PORTION: usize = 4;

/// The most rows of a side that are read at a time. Rows without columns and codes take no memory that a
/// limit could count, only a bit each that says whether the row is matched.
pub(super) const MOST_ROWS: usize = 1 << 26;

/// How many outer rows a batch may have, if the outer side is not in files.
pub(super) struct BatchSize {
    may_end_early: bool,
    portion: usize,
    taken: usize,
    pub(super) rows: usize,
}

impl BatchSize {
    pub(super) fn new(stored: &StoredJoin) -> Self {
        Self { may_end_early: stored.may_end_early, portion: stored.portion, taken: 0, rows: FIRST_BATCH }
    }

    pub(super) fn restart(&mut self) {
        (self.taken, self.rows) = (0, FIRST_BATCH);
    }

    /// Grows, when so many further outer rows have been taken.
    ///
    /// In a parallel plan, processes take rows from one scan, and one that filled its memory would leave no
    /// rows to the others. So each takes its portion first, and then fractions of a portion while rows are
    /// left. Smaller batches would be shared more evenly, but the inner side is sorted for each batch.
    pub(super) fn grow(&mut self, rows: usize) {
        self.taken += rows;
        let Self { portion, taken, .. } = *self;
        self.rows = if self.may_end_early { (self.rows * GROWTH).min(MOST_ROWS) } else { MOST_ROWS };
        if portion > 0 {
            let share = portion.saturating_sub(taken).max(portion.max(taken) / PARTS_OF_PORTION);
            self.rows = self.rows.min(share.max(FIRST_BATCH));
        }
    }
}

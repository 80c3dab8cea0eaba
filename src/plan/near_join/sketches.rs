//! Sketches of a side, and how the pairs of a batch and a chunk that share values are found.

use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use crate::pg::sketch::{shareable, without_nulls};
use base::{OutOfMemory, push};
use pgrx::pg_sys::Datum;
use pgrx::{Array, FromDatum};
use std::ops::Range;
use text::sketch::join::{SketchIndex, SketchList, SketchMatch};

/// The sketches of a side.
pub(super) struct SideSketches {
    /// Whether shares of values are compared. Then no sketch may contain NULL.
    pub(super) have_shares: bool,
    list: SketchList,
    /// Of the inner side, once pairs are looked for.
    index: Option<SketchIndex>,
}

impl SideSketches {
    pub(super) fn new(have_shares: bool) -> Self {
        Self { have_shares, list: SketchList::default(), index: None }
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.index = None;
    }

    pub(super) fn bytes(&self) -> usize {
        self.list.bytes()
    }

    /// Adds a sketch. What it is unpacked to is left in the current memory.
    ///
    /// # Safety
    /// The datum must be a bigint[], which is not NULL.
    pub(super) unsafe fn push(&mut self, sketch: Datum) -> Result<(), SqlError> {
        // SAFETY: such a datum, as the caller promises.
        let Some(array) = (unsafe { Array::<i64>::from_datum(sketch, false) }) else { return Ok(()) };
        let list = &mut self.list;
        let pushed = match self.have_shares {
            true => list.push(shareable(&array)?, &mut check_for_interrupts),
            false => without_nulls(&array).and_then(|values| list.push(&values, &mut check_for_interrupts)),
        };
        pushed.map_err(report::problem)
    }
}

/// Finds the pairs of the next sketches of the batch, up to a number of pairs. Returns how many comparisons
/// were made.
pub(super) fn find_sketch_pairs(
    [outer, inner]: [&mut SideSketches; 2],
    wanted: SketchMatch,
    rest: &mut Range<usize>,
    pairs: &mut Vec<(u32, u32)>,
    room: usize,
) -> Result<u64, OutOfMemory> {
    let index = match &mut inner.index {
        Some(index) => index,
        none => none.insert(SketchIndex::of(&inner.list, &mut check_for_interrupts)?),
    };
    let before = index.comparisons();
    while rest.start < rest.end && pairs.len() < room {
        let place = rest.start;
        for &other in index.search(outer.list.get(place), wanted, &mut check_for_interrupts)? {
            push(pairs, (place as u32, other))?;
        }
        rest.start += 1;
    }
    Ok(index.comparisons() - before)
}

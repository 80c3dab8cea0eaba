//! The sketches of a side, and the search for pairs of sketches that share values.

use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use crate::pg::sketch::{shareable, without_nulls};
use base::{OutOfMemory, push};
use pgrx::pg_sys::Datum;
use pgrx::{Array, FromDatum};
use std::ops::Range;
use text::sketch::join::{SketchIndex, SketchList, SketchMatch};

/// The sketches of one side that are in memory.
pub(super) struct SideSketches {
    /// Whether the condition compares shares. Then a sketch must not contain NULL.
    pub(super) have_shares: bool,
    list: SketchList,
    /// An index of the values, made for the inner side by the first search.
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

    /// Adds a sketch. Unpacking it leaves memory in the current context.
    ///
    /// # Safety
    /// The datum must be a `bigint[]`, and must not be NULL.
    pub(super) unsafe fn push(&mut self, sketch: Datum) -> Result<(), SqlError> {
        // SAFETY: it is such a datum, as the caller promises.
        let Some(array) = (unsafe { Array::<i64>::from_datum(sketch, false) }) else { return Ok(()) };
        let list = &mut self.list;
        let pushed = match self.have_shares {
            true => list.push(shareable(&array)?, &mut check_for_interrupts),
            false => without_nulls(&array).and_then(|values| list.push(&values, &mut check_for_interrupts)),
        };
        pushed.map_err(report::problem)
    }
}

/// Finds pairs of the next sketches of the batch, up to `room` pairs. Returns the number of comparisons.
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

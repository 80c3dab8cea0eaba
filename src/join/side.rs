//! One side of a join in memory: rows, the codes of those that have one, and which of them have a partner.

use super::measure::NearMeasure;
use super::rows::{KeptColumns, RowStore};
use super::sketches::SideSketches;
use crate::pg::code::list::CodeList;
use crate::pg::report::{self, SqlError};
use limits::{OutOfMemory, collect, grow, push};
use pgrx::pg_sys::Datum;

/// Bytes that a row takes while it is sorted into buckets.
const BYTES_IN_BUCKETS: usize = 12;

/// Rows of a side.
pub(super) struct JoinSide {
    pub(super) rows: RowStore,
    /// For each condition on a distance, the codes of the rows that have one for all of them.
    pub(super) codes: Vec<CodeList>,
    /// Sketches, for a condition on them; then there are no codes.
    pub(super) sketches: Option<SideSketches>,
    /// The number of codes for a condition, or of sketches.
    pub(super) count: usize,
    /// For each code, its row; empty as long as every row has codes.
    places: Vec<u32>,
    /// Why a code could not be added. It is an error only if there is a code on the other side.
    problem: Option<SqlError>,
}

impl JoinSide {
    pub(super) fn new(columns: KeptColumns, measures: impl Iterator<Item = NearMeasure>) -> Self {
        let (mut codes, mut sketches) = (Vec::new(), None);
        for measure in measures {
            match measure {
                // Bounded: as many as the query has conditions.
                NearMeasure::Distance(type_) => codes.push(CodeList::new(type_, 0)),
                NearMeasure::AnyShared => sketches = Some(SideSketches::new(false)),
                NearMeasure::Share(_) => sketches = Some(SideSketches::new(true)),
            }
        }
        Self { rows: RowStore::new(columns), codes, sketches, count: 0, places: Vec::new(), problem: None }
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.codes.iter_mut().for_each(CodeList::clear);
        self.sketches.iter_mut().for_each(SideSketches::clear);
        self.places.clear();
        self.count = 0;
    }

    /// Gives back the memory, and forgets the length of the codes.
    pub(super) fn reset(&mut self) {
        let columns = std::mem::take(&mut self.rows).into_columns();
        let codes = std::mem::take(&mut self.codes);
        let sketches = self.sketches.take().map(|sketches| SideSketches::new(sketches.have_shares));
        let measures = codes.iter().map(|codes| NearMeasure::Distance(codes.type_));
        *self = Self { sketches, ..Self::new(columns, measures) };
    }

    pub(super) fn bytes(&self) -> usize {
        let codes = self.codes.iter().map(CodeList::bytes);
        let codes: usize = codes.chain(self.sketches.iter().map(SideSketches::bytes)).sum();
        self.rows.bytes() + codes + size_of_val(&self.places[..]) + self.count * BYTES_IN_BUCKETS
    }

    /// Adds a row, and its codes if it has any.
    ///
    /// # Safety
    /// The values must be of the types of the columns, and the codes of their own.
    pub(super) unsafe fn push(
        &mut self,
        (values, nulls): (&[Datum], &[bool]),
        codes: &[Datum],
    ) -> Result<(), SqlError> {
        let pushed = match (&mut self.sketches, codes) {
            // SAFETY: a sketch, as the caller promises.
            (Some(list), &[sketch]) => unsafe { list.push(sketch) },
            _ => self.codes.iter_mut().zip(codes).try_for_each(|(list, &code)| {
                // SAFETY: a code of this type, as the caller promises.
                unsafe { list.push(code) }
            }),
        };
        match pushed {
            Ok(()) if codes.is_empty() => {}
            Ok(()) => self.place_code().map_err(report::problem)?,
            Err(problem) => self.problem = Some(problem),
        }
        // SAFETY: values of the types of the columns, as the caller promises.
        unsafe { self.rows.push(values, nulls) }.map_err(report::problem)
    }

    /// Notes that the next row has the next code.
    fn place_code(&mut self) -> Result<(), OutOfMemory> {
        if self.count != self.rows.len() {
            if self.places.is_empty() {
                self.places = collect(0..self.count as u32, self.count)?;
            }
            push(&mut self.places, self.rows.len() as u32)?;
        }
        self.count += 1;
        Ok(())
    }

    /// The row of a code.
    #[inline]
    pub(super) fn row(&self, place: u32) -> u32 {
        self.places.get(place as usize).copied().unwrap_or(place)
    }

    /// Whether a code of the other side can have a partner here, or raise an error.
    pub(super) fn has_codes(&self) -> bool {
        self.count > 0 || self.problem.is_some()
    }

    /// Raises the error of `hamming` if codes of the two sides have different lengths.
    pub(super) fn check(&mut self, others: &mut Self) -> Result<(), SqlError> {
        if self.has_codes() && others.has_codes() {
            if let Some(problem) = self.problem.take().or_else(|| others.problem.take()) {
                return Err(problem);
            }
            self.codes
                .iter()
                .zip(&others.codes)
                .try_for_each(|(codes, others)| codes.check_length(others))?;
        }
        Ok(())
    }
}

/// A set of rows.
#[derive(Default)]
pub(super) struct RowSet(Vec<u64>);

impl RowSet {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    #[inline]
    pub(super) fn contains(&self, row: u64) -> bool {
        self.0.get((row / 64) as usize).is_some_and(|word| word >> (row % 64) & 1 != 0)
    }

    pub(super) fn insert(&mut self, row: u64) -> Result<(), OutOfMemory> {
        let word = (row / 64) as usize;
        if word >= self.0.len() {
            let more = word + 1 - self.0.len();
            grow(&mut self.0, more)?;
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (row % 64);
        Ok(())
    }
}

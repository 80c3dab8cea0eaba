//! One side of a join in memory: rows, the codes of those that have one, and which of them have a partner.

use super::rows::RowStore;
use crate::pg::code::CodeType;
use crate::pg::code::list::CodeList;
use crate::pg::datum::Passing;
use crate::pg::report::{self, SqlError};
use limits::{OutOfMemory, grow, push};
use pgrx::pg_sys::Datum;

/// Bytes that a row takes while it is sorted into buckets.
const BYTES_IN_BUCKETS: usize = 12;

/// Rows of a side.
pub(super) struct JoinSide {
    pub(super) rows: RowStore,
    pub(super) codes: CodeList,
    /// For each code, its row.
    places: Vec<u32>,
    /// Why a code could not be added. It is an error only if there is a code on the other side.
    problem: Option<SqlError>,
}

impl JoinSide {
    pub(super) fn new(columns: Vec<Passing>, codes: CodeType) -> Self {
        Self {
            rows: RowStore::new(columns),
            codes: CodeList::new(codes, 0),
            places: Vec::new(),
            problem: None,
        }
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.codes.clear();
        self.places.clear();
    }

    /// Gives back the memory, and forgets the length of the codes.
    pub(super) fn reset(&mut self) {
        let columns = std::mem::take(&mut self.rows).into_columns();
        *self = Self::new(columns, self.codes.type_);
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.bytes() + self.codes.bytes() + self.places.len() * (size_of::<u32>() + BYTES_IN_BUCKETS)
    }

    /// Adds a row, and its code if that is not NULL.
    ///
    /// # Safety
    /// The values must be of the types of the columns, and the code of its own.
    pub(super) unsafe fn push(
        &mut self,
        (values, nulls): (&[Datum], &[bool]),
        code: Option<Datum>,
    ) -> Result<(), SqlError> {
        if let Some(code) = code {
            // SAFETY: a code, as the caller promises.
            match unsafe { self.codes.push(code) } {
                Ok(()) => push(&mut self.places, self.rows.len() as u32).map_err(report::problem)?,
                Err(problem) => self.problem = Some(problem),
            }
        }
        // SAFETY: values of the types of the columns, as the caller promises.
        unsafe { self.rows.push(values, nulls) }.map_err(report::problem)
    }

    /// The row of a code.
    pub(super) fn row(&self, place: u32) -> u32 {
        self.places[place as usize]
    }

    /// Whether a code of the other side can have a partner here, or raise an error.
    pub(super) fn has_codes(&self) -> bool {
        !self.codes.is_empty() || self.problem.is_some()
    }

    /// Raises the error of `hamming` if codes of the two sides have different lengths.
    pub(super) fn check(&mut self, others: &mut Self) -> Result<(), SqlError> {
        if self.has_codes() && others.has_codes() {
            if let Some(problem) = self.problem.take().or_else(|| others.problem.take()) {
                return Err(problem);
            }
            self.codes.check_length(&others.codes)?;
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

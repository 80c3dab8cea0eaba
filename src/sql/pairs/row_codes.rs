//! The codes of a window's rows.

use super::error;
use crate::pg::code::CodeType;
use crate::pg::code::list::CodeList;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::progress::Reporter;
use crate::pg::report::SqlError;
use base::{Limit, OutOfMemory, collect, reserve};
use hamming::clusters::{self, Linkage};
use hamming::code::CodeSlice;
use hamming::near_pairs::CodeRadii;
use pgrx::pg_sys;

/// The codes that are not NULL, and the numbers of their rows.
pub(super) struct CodesOfRows {
    codes: CodeList,
    rows: Vec<u32>,
}

impl CodesOfRows {
    /// Reserves memory for this number of rows.
    pub(super) fn new(type_: CodeType, rows: usize) -> Result<Self, SqlError> {
        let mut new = Self { codes: CodeList::new(type_, rows), rows: Vec::new() };
        reserve(&mut new.rows, rows)?;
        Ok(new)
    }

    /// Adds the code of a row.
    ///
    /// # Safety
    /// The datum must be of the type of these codes, and must not be NULL.
    pub(super) unsafe fn push(&mut self, row: usize, code: pg_sys::Datum) -> Result<(), SqlError> {
        self.rows.push(row as u32);
        // SAFETY: the value is of this type, as the caller promises.
        unsafe { self.codes.push(code) }
    }

    /// Checks a radius, which is at most the number of bits of a code.
    fn check_radius(&self, name: &'static str, radius: i32) -> Result<u32, SqlError> {
        let most = self.codes.bits().map_or(i32::MAX.into(), i64::from);
        Ok(Limit::new(name, 0, most).of(radius)?)
    }

    /// Removes from both lists the rows that the other list does not have.
    pub(super) fn meet(&mut self, others: &mut Self) -> Result<(), OutOfMemory> {
        if self.rows == others.rows {
            return Ok(());
        }
        let places = |these: &[u32], those: &[u32]| {
            let common =
                (0..these.len() as u32).filter(|&place| those.binary_search(&these[place as usize]).is_ok());
            collect(common, these.len())
        };
        let (these, those) = (places(&self.rows, &others.rows)?, places(&others.rows, &self.rows)?);
        for (codes, places) in [(self, these), (others, those)] {
            codes.codes.choose(places.iter().copied())?;
            codes.rows = collect(places.iter().map(|&place| codes.rows[place as usize]), places.len())?;
        }
        Ok(())
    }

    /// For each of the window's `rows` rows, the row of its keeper. A row without a code is its own keeper.
    /// The second codes must belong to the same rows.
    pub(super) fn keepers(
        &self,
        rows: usize,
        radius: i32,
        second: Option<(&Self, i32)>,
        linkage: Linkage,
    ) -> Result<Vec<u32>, SqlError> {
        let mut codes = self.codes.codes();
        let mut radii = CodeRadii::from(self.check_radius("radius", radius)?);
        let joined;
        if let Some((other, radius)) = second {
            let radius = other.check_radius("second_radius", radius).map_err(error::for_second_code)?;
            radii = radii.and(codes.width(), radius);
            joined =
                CodeSlice::joined(&[codes, other.codes.codes()], codes.len(), &mut check_for_interrupts)?;
            codes = CodeSlice::new(&joined, codes.width() + other.codes.codes().width());
        }
        let mut reporter = Reporter::of("near_cluster", format!("{} codes", codes.len()));
        let found = clusters::keepers(codes, radii, linkage, &mut reporter)?;
        reporter.end();
        let mut keepers = collect(0..rows as u32, rows)?;
        for (&row, &keeper) in self.rows.iter().zip(&found) {
            keepers[row as usize] = self.rows[keeper as usize];
        }
        Ok(keepers)
    }
}

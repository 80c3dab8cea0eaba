//! Codes of rows, as the functions on pairs and clusters get them: from arrays, or from the rows of a window.

use super::error;
use crate::pg::call::Call;
use crate::pg::code::CodeType;
use crate::pg::code::list::CodeList;
use crate::pg::elements::{ArrayElements, Order, SortedKey};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::progress::Reporter;
use crate::pg::report::{self, SqlError};
use hamming::clusters::{self, Linkage, SecondLook};
use limits::{Limit, OutOfMemory, collect, reserve, sort};
use pgrx::pg_sys;

/// Codes that are not NULL, and the rows that they belong to.
pub(super) struct CodesOfRows {
    pub(super) codes: CodeList,
    pub(super) rows: Vec<u32>,
}

impl CodesOfRows {
    /// Has room for this number of rows.
    pub(super) fn new(type_: CodeType, rows: usize) -> Result<Self, SqlError> {
        if u32::try_from(rows).is_err() {
            return Err(error::too_many_codes(rows));
        }
        let mut new = Self { codes: CodeList::new(type_, rows), rows: Vec::new() };
        reserve(&mut new.rows, rows).map_err(report::problem)?;
        Ok(new)
    }

    /// The codes of an array of bigint or of bit.
    fn of(elements: &ArrayElements<'_>) -> Result<Self, SqlError> {
        let is_bigint = elements.type_ == pg_sys::INT8OID;
        let type_ = if is_bigint { CodeType::Bigint } else { CodeType::Bits };
        let mut new = Self::new(type_, elements.values.len())?;
        for (row, (&value, &is_null)) in elements.values.iter().zip(elements.nulls).enumerate() {
            check_for_interrupts();
            if !is_null {
                // SAFETY: the array knows the type of its elements.
                unsafe { new.push(row, value) }?;
            }
        }
        Ok(new)
    }

    /// Adds the code of a row.
    ///
    /// # Safety
    /// The datum must be a value of the type of these codes, which is not NULL.
    pub(super) unsafe fn push(&mut self, row: usize, code: pg_sys::Datum) -> Result<(), SqlError> {
        self.rows.push(row as u32);
        // SAFETY: a value of the type, as the caller promises.
        unsafe { self.codes.push(code) }
    }

    /// A radius is at most the number of bits of a code.
    pub(super) fn check_radius(&self, radius: i32) -> Result<u32, SqlError> {
        let most = self.codes.bits().map_or(i32::MAX.into(), i64::from);
        Limit::new("radius", 0, most).of(radius).map_err(report::problem)
    }

    /// Puts the codes in the order of their rows' keys; rows with the same key stay in their order.
    pub(super) fn sort_by(&mut self, keys: &[pg_sys::Datum], order: &Order) -> Result<(), OutOfMemory> {
        let count = self.rows.len();
        let mut places = collect(0..count as u32, count)?;
        // SAFETY: keys are values of the type of the order.
        let key = |place: u32| unsafe { SortedKey::new(order, keys[self.rows[place as usize] as usize]) };
        sort(&mut places, &mut check_for_interrupts, |&place| (key(place), place));
        self.codes.choose(places.iter().copied())?;
        self.rows = collect(places.iter().map(|&place| self.rows[place as usize]), count)?;
        Ok(())
    }

    /// Leaves the rows that the others have as well, in both.
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

    /// For each row of the input, of which there are `rows`, the row of its keeper. A row without a code is
    /// its own. Second codes, with their radius, are of the same rows.
    pub(super) fn keepers(
        &self,
        function: &'static str,
        rows: usize,
        radius: i32,
        look: Option<(&Self, i32)>,
        linkage: Linkage,
    ) -> Result<Vec<u32>, SqlError> {
        let (codes, radius) = (self.codes.codes(), self.check_radius(radius)?);
        let mut reporter = Reporter::of_codes(function, codes.len());
        let look = look.map(|(looks, radius)| {
            let most = looks.codes.bits().map_or(i32::MAX.into(), i64::from);
            let radius = Limit::new("look_radius", 0, most).of(radius).map_err(report::problem)?;
            Ok::<_, SqlError>(SecondLook { codes: looks.codes.codes(), radius })
        });
        let found = clusters::keepers(codes, radius, look.transpose()?, linkage, &mut reporter)
            .map_err(report::problem)?;
        let mut keepers = collect(0..rows as u32, rows).map_err(report::problem)?;
        for (&row, &keeper) in self.rows.iter().zip(&found) {
            keepers[row as usize] = self.rows[keeper as usize];
        }
        Ok(keepers)
    }
}

/// The first two arguments of a call: as many keys as codes, and the order of the keys.
///
/// # Safety
/// The function must be declared with an array of any type in front, then one of bigint or bit, which are not
/// NULL.
pub(super) unsafe fn keys_and_codes<'a>(
    call: Call,
) -> Result<(&'a [pg_sys::Datum], Order, CodesOfRows), SqlError> {
    // SAFETY: declared so, as the caller promises.
    let (keys, codes) = unsafe { (ArrayElements::of(call.datum(0)), ArrayElements::of(call.datum(1))) };
    // SAFETY: the information is that of the call in progress.
    let order = unsafe { Order::of(keys.type_, call.info()) }?;
    let values = not_null(&keys)?;
    if values.len() != codes.values.len() {
        return Err(error::keys_differ_in_number(values.len(), codes.values.len()));
    }
    Ok((values, order, CodesOfRows::of(&codes)?))
}

/// The keys of an array, none of which may be NULL.
pub(super) fn not_null<'a>(keys: &ArrayElements<'a>) -> Result<&'a [pg_sys::Datum], SqlError> {
    if keys.nulls.contains(&true) { Err(error::null_key()) } else { Ok(keys.values) }
}

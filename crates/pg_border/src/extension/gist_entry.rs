//! Entries of a GiST index whose keys are bounding boxes of fingerprints.
//!
//! Another operator class may name our functions for another type, whose values they would read as
//! fingerprints. So a key is only read after the index has been checked.

use crate::call::{Argument, Call, Returned, allocate};
use crate::catalog::ours::is_read_by;
use crate::encoding::quoted;
use crate::error;
use crate::extension::code::CodeType;
use crate::extension::code::ball::HammingBall;
use crate::extension::code::constant::is_ball;
use crate::open_index::OpenIndex;
use crate::report::{SqlError, UnwrapOrReport, report};
use base::collect;
use hamming_index::BoundingBox;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::{self, Datum, GISTENTRY, Oid};
use std::ffi::CStr;

/// The functions of the operator class that are checked, with their numbers in `sql/gist.sql`.
#[derive(Clone, Copy)]
pub enum Procedure {
    /// Whether a subtree may have matches.
    Consistent = 1,
    /// The key of a value.
    Compress = 3,
    /// How much worse a key becomes.
    Penalty = 5,
    /// How a page is split.
    Picksplit = 6,
    /// How near the rows of a subtree may be.
    Distance = 8,
}

/// The operand of a search.
pub enum Operand {
    /// Codes within a ball.
    Ball(HammingBall),
    /// A code.
    Code(u64),
}

/// The entry with which a function was called, whose index has been checked.
pub struct CheckedEntry<'a>(&'a GISTENTRY);

/// The entry of a call, which is its first argument.
fn entry<'a>(call: Call) -> &'a GISTENTRY {
    // SAFETY: the first argument of each of these functions is an entry.
    unsafe { &*call.pointer(0) }
}

impl CheckedEntry<'_> {
    /// The entry of a function that has no operand.
    pub fn of(call: Call, procedure: Procedure) -> Self {
        check(call, entry(call), procedure, || true);
        Self(entry(call))
    }

    /// The entry of a consistent or distance function, and its operand, which has to be a ball or a code.
    pub fn searched(call: Call, procedure: Procedure, is_ball_wanted: bool) -> (Self, Operand) {
        // InvalidOid, in a check of an exclusion constraint, means the type of the column.
        let type_ = Oid::from(call.integer(3) as u32);
        let may_be_column = matches!(procedure, Procedure::Consistent);
        check(call, entry(call), procedure, || match is_ball_wanted {
            true => is_ball(type_, CodeType::Bigint),
            false => type_ == pg_sys::INT8OID || may_be_column && type_ == pg_sys::InvalidOid,
        });
        let operand = match is_ball_wanted {
            // SAFETY: the operand was checked to be a ball.
            true => Operand::Ball(unsafe { HammingBall::read(call, 1) }),
            false => Operand::Code(call.datum(1).value() as u64),
        };
        (Self(entry(call)), operand)
    }

    /// Whether the entry has a value of the column, not a key.
    pub fn is_value(&self) -> bool {
        self.0.leafkey
    }

    /// The value of the column.
    pub fn value(&self) -> u64 {
        self.0.key.value() as u64
    }

    /// The key.
    pub fn key(&self) -> BoundingBox {
        // SAFETY: an entry in the index has a key of the operator class's storage type, which was checked.
        unsafe { *self.0.key.cast_mut_ptr() }
    }

    /// A copy of the entry with another key.
    pub fn with_key(&self, key: BoundingBox) -> Datum {
        allocate(GISTENTRY { key: allocate(key), leafkey: false, ..*self.0 })
    }

    /// How much worse the key becomes if that of a second entry, which is the second argument, is added.
    pub fn penalty(&self, call: Call) -> f32 {
        // SAFETY: the second argument is another entry of the same index.
        let other = unsafe { *(*call.pointer::<GISTENTRY>(1)).key.cast_mut_ptr::<BoundingBox>() };
        BoundingBox::penalty(self.key(), other)
    }
}

/// The entries of a union, or of a page that is split.
pub struct EntryVector(*const pg_sys::GistEntryVector);

impl Argument for EntryVector {
    unsafe fn read(call: Call, place: usize) -> Self {
        Self(call.pointer(place))
    }
}

impl EntryVector {
    /// The keys of a page that is split, whose index is checked before. The first entry of the vector has no
    /// meaning.
    pub fn keys_of_page(&self, call: Call) -> Vec<BoundingBox> {
        // SAFETY: the vector to split has at least two entries. The first of them is at place 1.
        let first = unsafe { &(*self.0).vector.as_slice(2)[1] };
        check(call, first, Procedure::Picksplit, || true);
        self.keys(1)
    }

    /// All keys.
    pub fn all_keys(&self) -> Vec<BoundingBox> {
        self.keys(0)
    }

    /// The keys from the entry `first` on.
    fn keys(&self, first: usize) -> Vec<BoundingBox> {
        // SAFETY: GiST passes a vector of `n` entries, each with a key of the storage type.
        unsafe {
            let vector = &*self.0;
            let entries = vector.vector.as_slice(vector.n as usize);
            let keys = entries[first..].iter().map(|entry| *entry.key.cast_mut_ptr::<BoundingBox>());
            collect(keys, entries.len() - first).unwrap_or_report()
        }
    }
}

/// A sort of keys that is being prepared.
pub struct KeySort(pg_sys::SortSupport);

impl Argument for KeySort {
    unsafe fn read(call: Call, place: usize) -> Self {
        Self(call.pointer(place))
    }
}

impl Returned for KeySort {
    fn datum(self, _: Call) -> Datum {
        // SAFETY: the access method passes the sort that is being prepared.
        unsafe { (*self.0).comparator = Some(compare_keys) };
        Datum::null()
    }
}

/// Raises no errors, so its many calls need no guard.
unsafe extern "C-unwind" fn compare_keys(a: Datum, b: Datum, _: pg_sys::SortSupport) -> i32 {
    // SAFETY: the sort compares keys of the storage type.
    let (a, b): (BoundingBox, BoundingBox) = unsafe { (*a.cast_mut_ptr(), *b.cast_mut_ptr()) };
    a.build_order(b) as i32
}

/// Raises an error if an index column that uses the function is not of type bigint, or if the operand is of
/// the wrong type.
///
/// Each condition of a search, and each statement that writes, has its own FmgrInfo for a function. A check
/// is noted there, and not repeated.
fn check(call: Call, entry: &GISTENTRY, procedure: Procedure, is_operand_right: impl FnOnce() -> bool) {
    // SAFETY: GiST passes an FmgrInfo, and the entry names the index. Nobody else writes to `fn_extra`, and
    // nobody follows or frees the pointer in it.
    unsafe {
        let function = &mut *(*call.info()).flinfo;
        if entry.rel.is_null() || !function.fn_extra.is_null() {
            return;
        }
        let index = OpenIndex::new(entry.rel);
        if !serves(index, function.fn_oid, procedure) || !is_operand_right() {
            Err(gist_column(index.name())).unwrap_or_report()
        }
        static CHECKED: u8 = 0;
        function.fn_extra = (&raw const CHECKED).cast_mut().cast();
    }
}

/// Whether every column that uses the function is of type bigint and has our type of keys.
fn serves(index: OpenIndex<'_>, function: Oid, procedure: Procedure) -> bool {
    let has_key = |column| is_read_by(index.column_type(column).type_, c"gist_hamming_key_in");
    (0..index.columns())
        .filter(|&column| index.support(column, procedure as usize) == function)
        .all(|column| index.class_type(column) == pg_sys::INT8OID && has_key(column))
}

fn gist_column(index: &CStr) -> SqlError {
    let message = format!("operator class of a column of index \"{}\" is not supported", quoted(index));
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message)
        .set_detail(error::FOREIGN_CLASS)
        .set_hint("Use gist_hamming_ops for columns of type bigint.")
}

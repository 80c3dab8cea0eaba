//! Balls, which stand for all codes within a radius of a center.

use super::bits::Bits;
use crate::pg::call::{allocate, sql_value};
use crate::pg::report::SqlError;
use crate::pg::varlena::{content, new_value};
use hamming::within;
use pgrx::pg_sys;

/// A value of type `hamming_ball`, as it is stored.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct HammingBall {
    pub(crate) center: i64,
    pub(crate) radius: i32,
    /// Zero.
    padding: i32,
}

/// As declared in `sql/code.sql`.
const _: () = assert!(size_of::<HammingBall>() == 16 && align_of::<HammingBall>() == 8);

impl HammingBall {
    pub(crate) fn new(center: i64, radius: i32) -> Self {
        Self { center, radius, padding: 0 }
    }

    pub(crate) fn contains(self, fingerprint: i64) -> bool {
        within(self.center as u64, fingerprint as u64, self.radius)
    }

    /// Whether each contains the other's center.
    pub(crate) fn is_near(self, other: Self) -> bool {
        within(self.center as u64, other.center as u64, self.radius.min(other.radius))
    }
}

sql_value!(
    HammingBall,
    read: |ball| ball.cast_mut_ptr::<Self>().read(),
    write: |ball| allocate(ball)
);

/// A value of type `hamming_bit_ball`. Its content is the radius and that of a value of type bit.
#[derive(Clone, Copy)]
pub(crate) struct BitBall<'a> {
    pub(crate) center: Bits<'a>,
    pub(crate) radius: i32,
}

impl BitBall<'_> {
    /// # Safety
    /// The datum must be a value of this type, which lives as long as the ball.
    pub(crate) unsafe fn of(datum: pg_sys::Datum) -> Self {
        // SAFETY: a value of variable length.
        let (&radius, center) = unsafe { content(datum) }.split_first_chunk().unwrap_or((&[0; 4], &[]));
        Self { center: Bits::in_value(center), radius: i32::from_ne_bytes(radius) }
    }

    /// As a datum in the memory of the current call.
    pub(crate) fn datum(self) -> pg_sys::Datum {
        new_value(&[&self.radius.to_ne_bytes(), self.center.value()])
    }

    pub(crate) fn contains(self, code: Bits<'_>) -> Result<bool, SqlError> {
        self.center.is_within(code, self.radius)
    }
}

sql_value!(BitBall<'_>, read: |ball| Self::of(ball), write: |ball| ball.datum());

//! Balls. A ball contains all codes within a radius of its center.

use super::bits::Bits;
use crate::pg::call::{allocate, sql_value};
use crate::pg::report::SqlError;
use crate::pg::varlena::{content, new_value};
use hamming::within;
use pgrx::pg_sys;

/// A stored value of type `hamming_ball`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct HammingBall {
    pub(crate) center: i64,
    pub(crate) radius: i32,
    /// Zero.
    padding: i32,
}

/// The length and the alignment that `sql/code.sql` declares.
const _: () = assert!(size_of::<HammingBall>() == 16 && align_of::<HammingBall>() == 8);

impl HammingBall {
    pub(crate) fn new(center: i64, radius: i32) -> Self {
        Self { center, radius, padding: 0 }
    }

    pub(crate) fn contains(self, fingerprint: i64) -> bool {
        within(self.center as u64, fingerprint as u64, self.radius)
    }

    /// Whether each ball contains the center of the other.
    pub(crate) fn is_near(self, other: Self) -> bool {
        within(self.center as u64, other.center as u64, self.radius.min(other.radius))
    }
}

sql_value!(
    HammingBall,
    read: |ball| ball.cast_mut_ptr::<Self>().read(),
    write: |ball| allocate(ball)
);

/// A value of type `hamming_bit_ball`. It consists of the radius and the contents of a value of type bit.
#[derive(Clone, Copy)]
pub(crate) struct BitBall<'a> {
    pub(crate) center: Bits<'a>,
    pub(crate) radius: i32,
}

impl BitBall<'_> {
    /// # Safety
    /// The datum must be a value of this type, and live as long as the ball.
    pub(crate) unsafe fn of(datum: pg_sys::Datum) -> Self {
        // SAFETY: the type has variable length.
        let (&radius, center) = unsafe { content(datum) }.split_first_chunk().unwrap_or((&[0; 4], &[]));
        Self { center: Bits::in_value(center), radius: i32::from_ne_bytes(radius) }
    }

    /// A new datum in the current memory context.
    pub(crate) fn datum(self) -> pg_sys::Datum {
        new_value(&[&self.radius.to_ne_bytes(), self.center.value()])
    }

    pub(crate) fn contains(self, code: Bits<'_>) -> Result<bool, SqlError> {
        self.center.is_within(code, self.radius)
    }
}

sql_value!(BitBall<'_>, read: |ball| Self::of(ball), write: |ball| ball.datum());

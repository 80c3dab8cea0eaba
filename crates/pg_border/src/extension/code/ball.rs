//! Balls. A ball contains all codes within a radius of its center.

use super::bits::Bits;
use crate::call::{allocate, sql_value};
use crate::report::SqlError;
use crate::varlena::{content, new_value};
use hamming::within;
use pgrx::pg_sys;

/// A stored value of type `hamming_ball`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HammingBall {
    /// The code in the middle.
    pub center: i64,
    /// The largest distance from the center; nothing is in a ball with a negative radius.
    pub radius: i32,
    /// Zero.
    padding: i32,
}

/// The length and the alignment that `sql/code.sql` declares.
const _: () = assert!(size_of::<HammingBall>() == 16 && align_of::<HammingBall>() == 8);

impl HammingBall {
    /// A ball around a fingerprint.
    pub fn new(center: i64, radius: i32) -> Self {
        Self { center, radius, padding: 0 }
    }

    /// Whether a fingerprint is in the ball.
    pub fn contains(self, fingerprint: i64) -> bool {
        within(self.center as u64, fingerprint as u64, self.radius)
    }

    /// Whether each ball contains the center of the other.
    pub fn is_near(self, other: Self) -> bool {
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
pub struct BitBall<'a> {
    /// The code in the middle.
    pub center: Bits<'a>,
    /// The largest distance from the center.
    pub radius: i32,
}

impl BitBall<'_> {
    /// # Safety
    /// The datum must be a value of this type, and live as long as the ball.
    pub unsafe fn of(datum: pg_sys::Datum) -> Self {
        // SAFETY: the type has variable length.
        let (&radius, center) = unsafe { content(datum) }.split_first_chunk().unwrap_or((&[0; 4], &[]));
        Self { center: Bits::in_value(center), radius: i32::from_ne_bytes(radius) }
    }

    /// A new datum in the current memory context.
    pub fn datum(self) -> pg_sys::Datum {
        new_value(&[&self.radius.to_ne_bytes(), self.center.value()])
    }

    /// Whether a code is in the ball. A code of another length is an error.
    pub fn contains(self, code: Bits<'_>) -> Result<bool, SqlError> {
        self.center.is_within(code, self.radius)
    }
}

sql_value!(BitBall<'_>, read: |ball| Self::of(ball), write: |ball| ball.datum());

//! Values of SQL as balls and bit strings.

use super::CodeType;
use super::ball::{BitBall, HammingBall};
use super::bits::Bits;
use super::constant::is_ball;
use crate::value::Value;
use crate::varlena::unpacked;
use pgrx::pg_sys;

impl<'a> Value<'a> {
    /// The value, if it is a ball of fingerprints.
    pub fn as_fingerprint_ball(self) -> Option<HammingBall> {
        // SAFETY: the value was checked to be a ball.
        is_ball(self.type_(), CodeType::Bigint)
            .then(|| unsafe { self.datum().cast_mut_ptr::<HammingBall>().read() })
    }

    /// The value, if it is a ball of bit strings.
    pub fn as_bit_ball(self) -> Option<BitBall<'a>> {
        // SAFETY: the value was checked to be a ball. What is unpacked lives in the current memory context,
        // which is that of the call or of the row.
        is_ball(self.type_(), CodeType::Bits).then(|| unsafe { BitBall::of(self.datum()) })
    }

    /// Reads the bit string, if the type is bit or bit varying. What has to be unpacked is freed at once,
    /// since there may be such a value for each row of a table.
    pub fn with_bits<R>(self, read: impl FnOnce(Bits<'_>) -> R) -> Option<R> {
        if CodeType::of(self.type_()) != Some(CodeType::Bits) {
            return None;
        }
        // SAFETY: the type was checked. The copy is freed when nobody uses it any more.
        unsafe {
            let plain = unpacked(self.datum());
            let result = read(Bits::of(plain));
            if plain.value() != self.datum().value() {
                pg_sys::pfree(plain.cast_mut_ptr());
            }
            Some(result)
        }
    }
}

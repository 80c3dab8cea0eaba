//! Codes: values of type bigint or bit, which have distances.

pub mod ball;
pub mod bits;
pub mod centers;
pub mod constant;
mod gist_key;
pub mod list;
mod values;

use crate::call::allocate;
use crate::value::Value;
use ball::{BitBall, HammingBall};
use bits::Bits;
use hamming::code;
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::CStr;

/// The type of a code: a line of [`KINDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeType {
    /// A fingerprint of 64 bits.
    Bigint,
    /// `bit`, or `bit varying`, which PostgreSQL converts to `bit` without a function.
    Bits,
}

/// What the extension needs to know of a type of codes. A new type is a line here, and the functions,
/// operators and operator classes that SQL declares for it.
pub struct CodeKind {
    /// The types of columns. Our functions are declared with the first one.
    types: &'static [Oid],
    /// The number of bits of each value, if values are integers. Otherwise they are bit strings.
    pub bits: Option<u32>,
    /// The type of `pg_catalog` to which a column is cast when it is read by a query.
    pub cast: &'static [u8],
    /// The operators of the operator class, `<@`, `=` and the distance, as messages call them.
    pub operators: [&'static str; 3],
    /// The name of the operator for the distance.
    pub distance_operator: &'static CStr,
    /// PostgreSQL's functions for `=`, also with other types on the right.
    pub equal: &'static [u32],
    /// The C symbols of the distance, of `code <@ ball`, of `hamming_ball(code, radius)`, and of the input
    /// function of balls.
    pub distance: &'static CStr,
    /// See `distance`.
    pub within_ball: &'static CStr,
    /// See `distance`.
    pub ball: &'static CStr,
    /// See `distance`.
    pub ball_input: &'static CStr,
}

static KINDS: [CodeKind; CodeType::ALL.len()] = [
    CodeKind {
        types: &[pg_sys::INT8OID],
        bits: Some(hamming::BITS),
        cast: b"int8",
        operators: ["<@ of bigint and hamming_ball", "= of two bigint", "<~> of two bigint"],
        distance_operator: c"<~>",
        equal: &[pg_sys::F_INT8EQ, pg_sys::F_INT84EQ, pg_sys::F_INT82EQ],
        distance: c"hamming",
        within_ball: c"hamming_ball_contained",
        ball: c"hamming_ball",
        ball_input: c"hamming_ball_in",
    },
    CodeKind {
        types: &[pg_sys::BITOID, pg_sys::VARBITOID],
        bits: None,
        cast: b"varbit",
        operators: ["<@ of bit and hamming_bit_ball", "= of two bit", "<^> of two bit"],
        distance_operator: c"<^>",
        equal: &[pg_sys::F_BITEQ],
        distance: c"hamming_bits",
        within_ball: c"hamming_bit_ball_contained",
        ball: c"hamming_bit_ball",
        ball_input: c"hamming_bit_ball_in",
    },
];

impl CodeType {
    /// All types of codes, in the order of their numbers.
    pub const ALL: [Self; 2] = [Self::Bigint, Self::Bits];

    /// What the extension needs to know of the type.
    pub fn kind(self) -> &'static CodeKind {
        &KINDS[self as usize]
    }

    /// The type of codes with this OID, if there is one.
    #[inline]
    pub fn of(type_: Oid) -> Option<Self> {
        Self::ALL.into_iter().find(|codes| codes.kind().types.contains(&type_))
    }

    /// The type of codes of a column with this type, and the number of bits of its values, if all have the
    /// same.
    pub fn of_column(type_: Oid, modifier: i32) -> Option<(Self, Option<u32>)> {
        let codes = Self::of(type_)?;
        let declared = u32::try_from(modifier).ok().filter(|_| type_ == codes.oid());
        Some((codes, codes.kind().bits.or(declared)))
    }

    /// The OID of the type that our functions are declared with.
    pub fn oid(self) -> Oid {
        self.kind().types[0]
    }

    /// Whether values are integers, not bit strings.
    pub fn is_integer(self) -> bool {
        self.kind().bits.is_some()
    }

    /// A code of this type.
    ///
    /// # Safety
    /// The datum must be of this type, and live as long as the code.
    pub unsafe fn read<'a>(self, datum: Datum) -> Code<'a> {
        match self.kind().bits {
            Some(bits) => Code::Integer(datum.value() as u64 & u64::MAX >> (u64::BITS - bits), bits),
            // SAFETY: the value is a bit string, as the caller promises.
            None => Code::Bits(unsafe { Bits::of(datum) }),
        }
    }

    /// A ball of codes of this type, in the current memory context.
    ///
    /// # Safety
    /// The center must be a code of this type.
    pub unsafe fn write_ball(self, center: Datum, radius: i32) -> Datum {
        if self.is_integer() {
            allocate(HammingBall::new(center.value() as i64, radius))
        } else {
            // SAFETY: the center is a bit string, as the caller promises.
            BitBall { center: unsafe { Bits::of(center) }, radius }.datum()
        }
    }

    /// The center of a ball of codes of this type, as a value of the type, and the radius.
    ///
    /// # Safety
    /// The datum must be such a ball.
    pub unsafe fn read_ball(self, ball: Datum) -> (Datum, i32) {
        // SAFETY: the ball is of the struct for the type, as the caller promises.
        unsafe {
            if self.is_integer() {
                let HammingBall { center, radius, .. } = ball.cast_mut_ptr::<HammingBall>().read();
                (center.into(), radius)
            } else {
                let BitBall { center, radius } = BitBall::of(ball);
                (center.datum(), radius)
            }
        }
    }
}

/// A value that is a code.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct CodeValue<'a>(Value<'a>);

impl<'a> CodeValue<'a> {
    /// The values as codes, if all of them are.
    #[inline]
    pub fn all<'b>(values: &'b [Value<'a>]) -> Option<&'b [Self]> {
        let are_codes = values.iter().all(|value| CodeType::of(value.type_()).is_some());
        // SAFETY: the struct has the layout of a value, and the types were checked.
        are_codes.then(|| unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) })
    }

    /// The type of the code.
    #[inline]
    pub fn codes(self) -> CodeType {
        match CodeType::of(self.0.type_()) {
            Some(codes) => codes,
            None => unreachable!("the type of a code has been checked"),
        }
    }

    /// The code.
    #[inline]
    pub fn read(self) -> Code<'a> {
        // SAFETY: the value is of this type.
        unsafe { self.codes().read(self.0.datum()) }
    }
}

impl<'a> Value<'a> {
    /// The value as a code, if it is one.
    pub fn as_code(self) -> Option<CodeValue<'a>> {
        CodeType::of(self.type_()).map(|_| CodeValue(self))
    }
}

/// A code of any type.
#[derive(Clone, Copy)]
pub enum Code<'a> {
    /// An integer with this number of bits.
    Integer(u64, u32),
    /// A bit string.
    Bits(Bits<'a>),
}

impl Code<'_> {
    /// `None` if this type has no distances.
    ///
    /// # Safety
    /// The datum must be of this type, and live as long as the code.
    pub unsafe fn of(datum: Datum, type_: Oid) -> Option<Self> {
        // SAFETY: as the caller promises.
        CodeType::of(type_).map(|codes| unsafe { codes.read(datum) })
    }

    /// The number of bits of the code.
    pub fn bits(self) -> u32 {
        match self {
            Self::Integer(_, bits) => bits,
            Self::Bits(bits) => bits.length(),
        }
    }

    /// None if the two have different lengths.
    pub fn distance(self, other: Self) -> Option<u32> {
        match (self, other) {
            (Self::Integer(a, of_a), Self::Integer(b, of_b)) if of_a == of_b => Some(hamming::distance(a, b)),
            (Self::Bits(a), Self::Bits(b)) if a.length() == b.length() => {
                Some(code::distance_of_bytes(a.bytes(), b.bytes()))
            }
            _ => None,
        }
    }
}

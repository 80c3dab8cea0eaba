//! Codes: values of type bigint or bit, which have distances.

pub(crate) mod ball;
pub(crate) mod bits;
mod error;
pub(crate) mod list;

use bits::Bits;
use hamming::code;
use pgrx::pg_sys::{self, Datum, Oid};

/// The type of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeType {
    Bigint,
    /// `bit`, or `bit varying`, which PostgreSQL converts to `bit` without a function.
    Bits,
}

impl CodeType {
    pub(crate) const ALL: [Self; 2] = [Self::Bigint, Self::Bits];

    /// The type of codes with this OID, if there is one.
    pub(crate) fn of(type_: Oid) -> Option<Self> {
        match type_ {
            pg_sys::INT8OID => Some(Self::Bigint),
            pg_sys::BITOID | pg_sys::VARBITOID => Some(Self::Bits),
            _ => None,
        }
    }

    /// The OID of the type that our functions are declared with.
    pub(crate) fn oid(self) -> Oid {
        match self {
            Self::Bigint => pg_sys::INT8OID,
            Self::Bits => pg_sys::BITOID,
        }
    }
}

/// A code of either type.
#[derive(Clone, Copy)]
pub(crate) enum Code<'a> {
    Fingerprint(u64),
    Bits(Bits<'a>),
}

impl Code<'_> {
    /// `None` if this type has no distances.
    ///
    /// # Safety
    /// The datum must be of this type, and live as long as the code.
    pub(crate) unsafe fn of(datum: Datum, type_: Oid) -> Option<Self> {
        Some(match CodeType::of(type_)? {
            CodeType::Bigint => Self::Fingerprint(datum.value() as u64),
            // SAFETY: the value is of type bit, as the caller promises.
            CodeType::Bits => Self::Bits(unsafe { Bits::of(datum) }),
        })
    }

    /// The number of bits of the code.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Fingerprint(_) => hamming::BITS,
            Self::Bits(bits) => bits.length(),
        }
    }

    /// None if the two have different lengths.
    pub(crate) fn distance(self, other: Self) -> Option<u32> {
        match (self, other) {
            (Self::Fingerprint(a), Self::Fingerprint(b)) => Some(hamming::distance(a, b)),
            (Self::Bits(a), Self::Bits(b)) if a.length() == b.length() => {
                Some(code::distance_of_bytes(a.bytes(), b.bytes()))
            }
            _ => None,
        }
    }
}

//! Values that have distances, whatever their type: fingerprints, and strings of bits.

use crate::pg::bits::Bits;
use crate::pg::nodes::{cast, constant};
use hamming::codes;
use pgrx::pg_sys::{self, Datum, Node, NodeTag, Oid};

/// A value that has a distance from others.
#[derive(Clone, Copy)]
pub(crate) enum Code<'a> {
    Fingerprint(u64),
    Bits(Bits<'a>),
}

impl Code<'_> {
    /// None if the type has no distances.
    ///
    /// # Safety
    /// The datum must be a value of the type, which lives as long as the code.
    pub(crate) unsafe fn of(datum: Datum, type_: Oid) -> Option<Self> {
        match type_ {
            pg_sys::INT8OID => Some(Self::Fingerprint(datum.value() as u64)),
            // SAFETY: promised by the caller.
            pg_sys::BITOID | pg_sys::VARBITOID => Some(Self::Bits(unsafe { Bits::of(datum) })),
            _ => None,
        }
    }

    /// The number of its bits.
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
                Some(codes::distance(a.bytes(), b.bytes()))
            }
            _ => None,
        }
    }
}

/// The number of bits that all values of an expression have, if it is known: that of a constant, or n of `bit(n)`.
pub(crate) unsafe fn bits_of(mut node: *mut Node) -> Option<u32> {
    // SAFETY: an expression; the datum is of its type.
    unsafe {
        if let Some(datum) = constant(node) {
            return Code::of(datum, pg_sys::exprType(node)).map(Code::bits);
        }
        // A value of type bit varying, or of a domain, stands below it.
        while let Some(relabeled) = cast::<pg_sys::RelabelType>(node, NodeTag::T_RelabelType) {
            node = relabeled.arg.cast();
        }
        let mut modifier = pg_sys::exprTypmod(node);
        match pg_sys::getBaseTypeAndTypmod(pg_sys::exprType(node), &raw mut modifier) {
            pg_sys::INT8OID => Some(hamming::BITS),
            pg_sys::BITOID if modifier > 0 => Some(modifier as u32),
            _ => None,
        }
    }
}

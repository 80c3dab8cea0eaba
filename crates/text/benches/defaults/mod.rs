//! What functions of SQL take where a call leaves their parameters out.

use text::sketch::manber::{ManberHash, ManberParameters, ManberUnit};

/// The defaults of `manber_sketch`.
pub(crate) const MANBER: ManberParameters = ManberParameters {
    length: 50,
    sample_bits: 8,
    divisor: 1,
    prime: 1_425_089_352_415_399_837,
    modulus: (1 << 61) - 1,
    unit: ManberUnit::Byte,
    hash: ManberHash::Polynomial,
};

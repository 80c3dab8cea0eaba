//! `sql/minhash.sql`: MinHash signatures.

use crate::pg::call::{Utf8, pg_functions};
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use pgrx::Array;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use std::cell::RefCell;
use text::features::Scheme;
use text::sketch::minhash::{self, MinHasher};
use text::sketch::rarity::FeatureWeights;

thread_local! {
    /// Kept from row to row, to reuse its memory.
    static HASHER: RefCell<MinHasher> = RefCell::default();
}

pg_functions!(minhash_of, minhash_similarity, minhash_bits_of_text, minhash_bits_of_weighted_text);

fn minhash_of(doc: Utf8<'_>, bins: i32, scheme: Scheme) -> Result<Option<Vec<i32>>, SqlError> {
    let bins = minhash::BINS.of(bins)?;
    Ok(HASHER.with_borrow_mut(|hasher| hasher.bins(&doc, bins, scheme, &mut check_for_interrupts))?)
}

fn minhash_similarity(a: Array<'_, i32>, b: Array<'_, i32>) -> Result<Option<f64>, SqlError> {
    let a = values(&a)?;
    let b = values(&b)?;
    if a.len() != b.len() {
        return Err(signatures_differ_in_length(a.len(), b.len()));
    }
    Ok(minhash::similarity(a, b))
}

fn minhash_bits_of_text(doc: Utf8<'_>, bits: i32, scheme: Scheme) -> Result<Option<Vec<u8>>, SqlError> {
    let bits: i32 = minhash::BITS.of(bits)?;
    minhash_of(doc, bits, scheme)?.as_deref().map(bit_varying).transpose()
}

fn minhash_bits_of_weighted_text(
    doc: Utf8<'_>,
    bits: i32,
    weights: &[u8],
) -> Result<Option<Vec<u8>>, SqlError> {
    let bits = minhash::BITS.of(bits)?;
    let weights = FeatureWeights::read(weights)?;
    let signature = HASHER
        .with_borrow_mut(|hasher| hasher.weighted_bins(&doc, bits, &weights, &mut check_for_interrupts))?;
    signature.as_deref().map(bit_varying).transpose()
}

/// The contents of a `bit varying` after its length word: the number of bits, then the bits.
fn bit_varying(signature: &[i32]) -> Result<Vec<u8>, SqlError> {
    let bits = minhash::bits(signature, &mut check_for_interrupts)?;
    let mut result = (signature.len() as i32).to_ne_bytes().to_vec(); // Bounded: four bytes.
    result.extend(bits);
    Ok(result)
}

fn values<'a>(signature: &'a Array<'_, i32>) -> Result<&'a [i32], SqlError> {
    signature.as_slice().map_err(|_| error::null_in_sketch())
}

fn signatures_differ_in_length(a: usize, b: usize) -> SqlError {
    let message = format!("cannot compare signatures of different lengths: {a} and {b}");
    report::report(Code::ERRCODE_ARRAY_ELEMENT_ERROR, message)
        .set_hint("Compute both with the same number of bins.")
}

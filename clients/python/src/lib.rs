//! The functions of `sql/simhash.sql`, `minhash.sql`, `sketch.sql` and `code.sql` that need no database, for
//! Python.
//!
//! Each function unpacks its arguments, calls a crate while other Python threads run, and packs the result.
//! `python/simhash_pg/_native.pyi` has their types and says what they do.

mod arguments;
mod kept;
mod signals;

use arguments::{Fingerprint, Text};
use base::{Problem, ProblemKind};
use kept::with_kept;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use signals::with_signals;
use std::cell::Cell;
use text::features::Scheme;
use text::fingerprint::SimHasher;
use text::sketch::minhash::{BINS, MinHasher};
use text::sketch::winnow::{LENGTH, SPAN, WinnowParameters};

thread_local! {
    /// Kept from text to text, for its buffers.
    static SIMHASHER: Cell<SimHasher> = Cell::default();
    static MINHASHER: Cell<MinHasher> = Cell::default();
}

/// The SQL function `simhash`.
#[pyfunction]
#[pyo3(signature = (text, scheme = "doc2"))]
fn simhash(py: Python<'_>, text: Text<'_>, scheme: &str) -> PyResult<Option<i64>> {
    let scheme = parse_scheme(scheme)?;
    let fingerprint =
        with_signals(py, |beat| with_kept(&SIMHASHER, |hasher| hasher.fingerprint(text.0, scheme, beat)))?
            .map_err(|refusal| exception(refusal.into()))?;
    Ok(fingerprint.map(|fingerprint| fingerprint as i64))
}

/// The SQL function `minhash`.
#[pyfunction]
#[pyo3(signature = (text, bins = 128, scheme = "word:3"))]
fn minhash(py: Python<'_>, text: Text<'_>, bins: i64, scheme: &str) -> PyResult<Option<Vec<i32>>> {
    let bins = BINS.of(bins).map_err(exception)?;
    let scheme = parse_scheme(scheme)?;
    with_signals(py, |beat| with_kept(&MINHASHER, |hasher| hasher.bins(text.0, bins, scheme, beat)))?
        .map_err(exception)
}

/// The SQL function `winnow_sketch`.
#[pyfunction]
#[pyo3(signature = (text, length = 50, span = 100))]
fn winnow_sketch(py: Python<'_>, text: Text<'_>, length: i64, span: i64) -> PyResult<Vec<i64>> {
    let parameters = || WinnowParameters::new(LENGTH.of(length)?, SPAN.of(span)?);
    let parameters = parameters().map_err(exception)?;
    with_signals(py, |beat| parameters.sketch(text.0.as_bytes(), beat))?.map_err(exception)
}

/// The SQL function `hamming`.
#[pyfunction(name = "hamming")]
fn distance(a: Fingerprint, b: Fingerprint) -> u32 {
    hamming::distance(a.0, b.0)
}

/// The SQL function `hamming_similarity`.
#[pyfunction(name = "hamming_similarity")]
fn similarity(a: Fingerprint, b: Fingerprint) -> f64 {
    hamming::code::similarity(hamming::distance(a.0, b.0), hamming::BITS)
}

fn parse_scheme(name: &str) -> PyResult<Scheme> {
    name.parse().map_err(exception)
}

/// A problem as an exception, with its detail and its hint on lines of their own.
fn exception(problem: Problem) -> PyErr {
    let message = [Some(problem.message), problem.detail, problem.hint];
    let message = message.into_iter().flatten().collect::<Vec<_>>().join("\n");
    match problem.kind {
        ProblemKind::OutOfMemory => PyMemoryError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// The module `simhash_pg._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(simhash, module)?)?;
    module.add_function(wrap_pyfunction!(minhash, module)?)?;
    module.add_function(wrap_pyfunction!(winnow_sketch, module)?)?;
    module.add_function(wrap_pyfunction!(distance, module)?)?;
    module.add_function(wrap_pyfunction!(similarity, module)?)
}

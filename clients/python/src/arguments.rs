//! Converts Python objects to arguments that PostgreSQL would accept.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeDecodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt};
use pyo3::{Borrowed, FromPyObject};

/// The size of the largest text in PostgreSQL, in bytes: 1 GB without the length word before the text.
const MAX_TEXT: usize = (1 << 30) - 1 - 4;

/// A text that PostgreSQL can store: `bytes` in UTF-8, or the UTF-8 that Python keeps within a `str`. Both
/// are immutable, so nothing is copied.
pub(crate) struct Text<'a>(pub(crate) &'a str);

impl<'a> FromPyObject<'a, '_> for Text<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, '_, PyAny>) -> PyResult<Self> {
        let text = utf8(object)?;
        if text.len() > MAX_TEXT {
            let length = text.len();
            return Err(PyValueError::new_err(format!(
                "text of {length} bytes is too large\nPostgreSQL holds texts of up to {MAX_TEXT} bytes."
            )));
        }
        // A fold without an early exit, so that one instruction tests many bytes.
        let has_nul = |bytes: &[u8]| bytes.iter().fold(false, |found, &byte| found | (byte == 0));
        if text.as_bytes().chunks(1024).any(has_nul) {
            let at = text.find('\0').unwrap_or_default();
            return Err(PyValueError::new_err(format!(
                "text has a NUL character at byte {at}\nPostgreSQL holds no NUL characters in a text."
            )));
        }
        Ok(Self(text))
    }
}

/// The UTF-8 of a `str` or of `bytes`. Python's own errors for invalid UTF-8, and for lone surrogates, are
/// ValueErrors that name the position.
fn utf8<'a>(object: Borrowed<'a, '_, PyAny>) -> PyResult<&'a str> {
    if !object.is_instance_of::<PyBytes>() {
        return object.extract();
    }
    let bytes = object.extract()?;
    // The faster check does not name the position.
    simdutf8::basic::from_utf8(bytes)
        .or_else(|_| str::from_utf8(bytes))
        .map_err(|error| PyUnicodeDecodeError::new_err_from_utf8(object.py(), bytes, error))
}

/// A fingerprint, which is a signed number as in PostgreSQL's type `bigint`.
pub(crate) struct Fingerprint(pub(crate) u64);

impl<'py> FromPyObject<'_, 'py> for Fingerprint {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // In Python, True is an int.
        if !object.is_instance_of::<PyInt>() || object.is_instance_of::<PyBool>() {
            return Err(PyTypeError::new_err(format!("a fingerprint is an int, not {}", object.get_type())));
        }
        match object.extract::<i64>() {
            Ok(signed) => Ok(Self(signed as u64)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                Err(PyValueError::new_err(format!(
                    "fingerprint {} is not a bigint\nsimhash_pg.signed() converts unsigned numbers.",
                    object.str()?
                )))
            }
            Err(error) => Err(error),
        }
    }
}

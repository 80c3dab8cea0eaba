//! Arguments that PostgreSQL would take, read from Python's objects.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeDecodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt};
use pyo3::{Borrowed, FromPyObject};

/// The largest text that PostgreSQL holds, in bytes: 1 GB less the length that stands before it.
const MAX_TEXT: usize = (1 << 30) - 1 - 4;

/// A text that PostgreSQL can hold: `bytes` in UTF-8, or the UTF-8 that Python keeps within a `str`. Neither
/// changes, so nothing is copied.
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
        // Looks at many bytes with one instruction.
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

/// Python's own errors for bytes that are no UTF-8, and for lone surrogates, are ValueErrors and name the
/// place.
fn utf8<'a>(object: Borrowed<'a, '_, PyAny>) -> PyResult<&'a str> {
    if !object.is_instance_of::<PyBytes>() {
        return object.extract();
    }
    let bytes = object.extract()?;
    // The faster check does not name the place.
    simdutf8::basic::from_utf8(bytes)
        .or_else(|_| str::from_utf8(bytes))
        .map_err(|error| PyUnicodeDecodeError::new_err_from_utf8(object.py(), bytes, error))
}

/// A fingerprint, which is a signed number as in PostgreSQL's type `bigint`.
pub(crate) struct Fingerprint(pub(crate) u64);

impl<'py> FromPyObject<'_, 'py> for Fingerprint {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // Python takes True for 1.
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

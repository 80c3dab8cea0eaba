//! Values of any type, and copies that outlive the values.
#![allow(non_snake_case, reason = "names of PostgreSQL's own")]

use super::value::Value;
use base::{OutOfMemory, push};
use pgrx::{PgMemoryContexts, pg_sys, varlena};
use std::ffi::CStr;

/// Declared in datum.h, which pgrx leaves out.
mod header {
    use pgrx::{pg_guard, pg_sys};
    use std::ffi::c_int;

    #[pg_guard]
    unsafe extern "C-unwind" {
        fn datumCopy(value: pg_sys::Datum, by_value: bool, length: c_int) -> pg_sys::Datum;
        fn datumGetSize(value: pg_sys::Datum, by_value: bool, length: c_int) -> usize;
    }
}
use header::{datumCopy, datumGetSize};

/// How values of a type are stored and passed: their length, and whether by value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DatumLayout {
    length: i16,
    /// Whether a datum is the value itself, and not a pointer to it.
    pub by_value: bool,
}

impl DatumLayout {
    /// The layout of the values of a type.
    pub fn of(type_: pg_sys::Oid) -> Self {
        let mut layout = Self { length: 0, by_value: false };
        // SAFETY: the function looks a type up.
        unsafe { pg_sys::get_typlenbyval(type_, &raw mut layout.length, &raw mut layout.by_value) };
        layout
    }

    /// Whether the values have different lengths, as those of text.
    pub(crate) fn is_variable(self) -> bool {
        self.length == -1
    }

    /// Copies a value to the current memory context.
    ///
    /// # Safety
    /// The value must be of this type.
    pub unsafe fn copy(self, value: pg_sys::Datum) -> pg_sys::Datum {
        // SAFETY: the value is of this type, as the caller promises.
        unsafe { datumCopy(value, self.by_value, self.length.into()) }
    }

    /// Whether a value that begins with these words, and is passed by reference, also ends within them.
    pub(crate) fn is_within(self, words: &[u64]) -> bool {
        let room = size_of_val(words);
        let place: *const u64 = words.as_ptr();
        match self.length {
            // SAFETY: there is a word at least, which has the length of the value.
            -1 => room > 0 && unsafe { varlena::varsize_any(place.cast()) } <= room,
            // SAFETY: words are bytes.
            -2 => unsafe { std::slice::from_raw_parts(place.cast::<u8>(), room) }.contains(&0),
            length => length as usize <= room,
        }
    }

    /// The bytes of a value that is passed by reference. For a TOAST pointer, they are the pointer's. An
    /// expanded value is copied to the current memory context.
    ///
    /// # Safety
    /// The value must be of this type, and live as long as the lifetime says.
    pub unsafe fn bytes<'a>(self, value: pg_sys::Datum) -> &'a [u8] {
        // SAFETY: the value is of this type, as the caller promises.
        unsafe {
            match self.length {
                -1 => {
                    let is_elsewhere = varlena::varatt_is_1b_e(value.cast_mut_ptr());
                    let value = if is_elsewhere { self.copy(value) } else { value };
                    let bytes = varlena::varsize_any(value.cast_mut_ptr());
                    std::slice::from_raw_parts(value.cast_mut_ptr(), bytes)
                }
                -2 => CStr::from_ptr(value.cast_mut_ptr()).to_bytes_with_nul(),
                length => std::slice::from_raw_parts(value.cast_mut_ptr(), length as usize),
            }
        }
    }
}

/// A list of values of one type. They live in the memory context in which the list was created.
pub struct KeptValues {
    type_: pg_sys::Oid,
    layout: DatumLayout,
    memory: pg_sys::MemoryContext,
    values: Vec<pg_sys::Datum>,
}

impl KeptValues {
    /// An empty list of values of a type.
    pub fn new(type_: pg_sys::Oid) -> Self {
        // SAFETY: there is a current memory context.
        let memory = unsafe { pg_sys::CurrentMemoryContext };
        Self { type_, layout: DatumLayout::of(type_), memory, values: Vec::new() }
    }

    /// Adds a copy of a value, which must be of the type. Returns the number of bytes of the copy.
    pub fn push(&mut self, value: Value<'_>) -> Result<usize, OutOfMemory> {
        assert_eq!(value.type_(), self.type_, "a list has values of one type");
        let value = value.datum();
        let DatumLayout { length, by_value } = self.layout;
        // SAFETY: the value is of the type, and the memory context that of the list. A toasted value is
        // copied detoasted.
        let (copy, size) = unsafe {
            PgMemoryContexts::For(self.memory).switch_to(|_| {
                let copy = if length == -1 {
                    pg_sys::Datum::from(pg_sys::pg_detoast_datum_copy(value.cast_mut_ptr()))
                } else {
                    self.layout.copy(value)
                };
                (copy, if by_value { 0 } else { datumGetSize(copy, by_value, length.into()) })
            })
        };
        push(&mut self.values, copy)?;
        Ok(size + size_of::<pg_sys::Datum>())
    }

    /// A value, by its number in the order in which the values were added.
    pub fn get(&self, number: usize) -> pg_sys::Datum {
        self.values[number]
    }
}

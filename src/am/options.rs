//! Storage parameters, and what one can ask about an index.

use crate::pg::code::CodeType;
use crate::pg::compat::integer_option;
use hamming_index::page::LEAF_CAPACITY;
use pgrx::{pg_guard, pg_sys};
use std::cell::Cell;

/// How full a new page is when the index is built, in percent. What is left takes the first inserts without
/// splitting; with this, an entry takes 59 bytes.
const DEFAULT_FILLFACTOR: i32 = 95;
const _: () = assert!(LEAF_CAPACITY * DEFAULT_FILLFACTOR as usize / 100 > 1);

/// As Postgres keeps it with the index.
#[repr(C)]
struct IndexOptions {
    length: i32,
    fillfactor: i32,
}

thread_local! {
    static KIND: Cell<pg_sys::relopt_kind::Type> = const { Cell::new(0) };
}

/// Makes the parameters known. Called once, when the library is loaded.
pub(crate) fn register() {
    // SAFETY: the strings are constants; the lock is the one that is taken to change the parameter.
    unsafe {
        KIND.set(pg_sys::add_reloption_kind());
        pg_sys::add_int_reloption(
            KIND.get(),
            c"fillfactor".as_ptr(),
            c"How full pages are when the index is built, in percent".as_ptr(),
            DEFAULT_FILLFACTOR,
            50,
            100,
            pg_sys::ShareUpdateExclusiveLock as i32,
        );
    }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amoptions(
    options: pg_sys::Datum,
    validate: bool,
) -> *mut pg_sys::bytea {
    let element = integer_option(c"fillfactor", std::mem::offset_of!(IndexOptions, fillfactor));
    // SAFETY: the element describes the struct, whose size is passed.
    unsafe {
        pg_sys::build_reloptions(
            options,
            validate,
            KIND.get(),
            size_of::<IndexOptions>(),
            &raw const element,
            1,
        )
        .cast()
    }
}

/// For `pg_index_column_has_property`: what only the access method knows.
#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amproperty(
    index: pg_sys::Oid,
    column: i32,
    property: pg_sys::IndexAMProperty::Type,
    _name: *const std::ffi::c_char,
    result: *mut bool,
    _is_null: *mut bool,
) -> bool {
    let is_known = column > 0 && property == pg_sys::IndexAMProperty::AMPROP_DISTANCE_ORDERABLE;
    if is_known {
        // SAFETY: Postgres passes an index of ours with this column, and a place for the answer.
        unsafe {
            let type_ = pg_sys::get_opclass_input_type(pg_sys::get_index_column_opclass(index, 1));
            *result = column == 1 && CodeType::of(type_).is_some();
        }
    }
    is_known
}

/// The parameter of an index.
///
/// # Safety
/// The index must be open and of our type.
pub(super) unsafe fn fillfactor(index: pg_sys::Relation) -> usize {
    // SAFETY: the index is open and of our type, as the caller promises, so we made its options.
    let options = unsafe { (*index).rd_options.cast::<IndexOptions>().as_ref() };
    options.map_or(DEFAULT_FILLFACTOR, |options| options.fillfactor) as usize
}

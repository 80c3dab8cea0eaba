//! The storage parameters of an index, and its properties.

use crate::pg::code::CodeType;
use crate::pg::compat::index_option;
use crate::pg::error;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::UnwrapOrReport;
use hamming_index::CodeTrees;
use hamming_index::page::LEAF_CAPACITY;
use pgrx::{pg_guard, pg_sys};
use std::cell::Cell;
use std::ffi::CStr;

/// How full a new page is when the index is built, in percent. The rest is for inserts before the first
/// split. With this, an entry takes 59 bytes.
const DEFAULT_FILLFACTOR: i32 = 95;
const _: () = assert!(LEAF_CAPACITY * DEFAULT_FILLFACTOR as usize / 100 > 1);

/// From this number of bits on, an index only has the tree of whole codes by default. Codes that long are
/// usually embeddings, and near embeddings are near in no single word. For a search for near copies, `both`
/// kinds of trees may be chosen, which take more space.
const WHOLE_BY_DEFAULT: u32 = 512;

/// The struct that PostgreSQL stores with the index.
#[repr(C)]
struct IndexOptions {
    length: i32,
    fillfactor: i32,
    trees: i32,
}

/// The values of the parameter `trees`, by number. With `auto`, the number of bits decides.
const TREES: [(&CStr, Option<CodeTrees>); 4] = [
    (c"auto", None),
    (c"words", Some(CodeTrees::Words)),
    (c"both", Some(CodeTrees::Both)),
    (c"whole", Some(CodeTrees::Whole)),
];

thread_local! {
    static KIND: Cell<pg_sys::relopt_kind::Type> = const { Cell::new(0) };
}

/// Registers the parameters. Called once, when the library is loaded.
pub(crate) fn register() {
    let mut trees: Vec<_> = (0..)
        .zip(TREES)
        .map(|(number, (name, _))| pg_sys::relopt_enum_elt_def {
            string_val: name.as_ptr(),
            symbol_val: number,
        })
        .collect();
    // Bounded: one more element, which ends the list.
    trees.push(pg_sys::relopt_enum_elt_def { string_val: std::ptr::null(), symbol_val: 0 });
    // PostgreSQL keeps a pointer to the list.
    let trees = trees.leak();
    // SAFETY: the strings are constants; the lock is the one that changing the parameter takes.
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
        pg_sys::add_enum_reloption(
            KIND.get(),
            c"trees".as_ptr(),
            c"Which trees there are of codes of more than 64 bits, from the next REINDEX on".as_ptr(),
            trees.as_mut_ptr(),
            0,
            c"Valid values are \"auto\", \"words\", \"both\" and \"whole\".".as_ptr(),
            pg_sys::ShareUpdateExclusiveLock as i32,
        );
    }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amoptions(
    options: pg_sys::Datum,
    validate: bool,
) -> *mut pg_sys::bytea {
    use pg_sys::relopt_type::{RELOPT_TYPE_ENUM, RELOPT_TYPE_INT};
    let elements = [
        index_option(c"fillfactor", RELOPT_TYPE_INT, std::mem::offset_of!(IndexOptions, fillfactor)),
        index_option(c"trees", RELOPT_TYPE_ENUM, std::mem::offset_of!(IndexOptions, trees)),
    ];
    // SAFETY: the elements describe the fields of the struct, whose size is passed.
    unsafe {
        pg_sys::build_reloptions(
            options,
            validate,
            KIND.get(),
            size_of::<IndexOptions>(),
            elements.as_ptr(),
            elements.len() as i32,
        )
        .cast()
    }
}

/// Answers `pg_index_column_has_property` where only the access method can.
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
        // SAFETY: PostgreSQL passes an index of this access method, and a pointer for the result.
        unsafe {
            let type_ = pg_sys::get_opclass_input_type(pg_sys::get_index_column_opclass(index, 1));
            *result = column == 1 && CodeType::of(type_).is_some();
        }
    }
    is_known
}

/// The parameters of an index, if any are set.
fn options(index: OpenIndex<'_>) -> Option<&IndexOptions> {
    // SAFETY: `amoptions` stores them as this struct.
    unsafe { index.options() }
}

/// How full a new page is, in percent.
pub(super) fn fillfactor(index: OpenIndex<'_>) -> usize {
    options(index).map_or(DEFAULT_FILLFACTOR, |options| options.fillfactor) as usize
}

/// The trees for an index on codes of several words, with this number of bits.
///
/// If codes are computed by an expression, the index has whole codes only. With trees of words, a search
/// would have to compute the codes of the rows that it finds, and so run code of the table's owner: see
/// [`crate::pg::table_rows`].
pub(super) fn code_trees(index: OpenIndex<'_>, bits: u32) -> CodeTrees {
    let chosen = options(index).and_then(|options| TREES[options.trees as usize].1);
    if index.column_number().is_none() {
        if chosen.is_some_and(|trees| trees != CodeTrees::Whole) {
            Err(error::words_of_expression(index.name(), bits)).unwrap_or_report()
        }
        return CodeTrees::Whole;
    }
    chosen.unwrap_or(if bits < WHOLE_BY_DEFAULT { CodeTrees::Both } else { CodeTrees::Whole })
}

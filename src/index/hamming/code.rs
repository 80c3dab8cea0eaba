//! The codes of an index: their layout, and how a value of the column becomes the words of its trees.

use super::options::code_trees;
use crate::pg::code::ball::HammingBall;
use crate::pg::code::bits::Bits;
use crate::pg::code::{Code, CodeType};
use crate::pg::error;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::{SqlError, UnwrapOrReport};
use crate::pg::storage::pages::Pages;
use hamming::code::check_width;
use hamming_index::Layout;
use hamming_index::store::Store;
use pgrx::pg_sys;

/// Whether the index is on strings of bits, not fingerprints.
fn has_bits(index: OpenIndex<'_>) -> bool {
    CodeType::of(index.class_type(0)).is_some_and(|codes| !codes.is_integer())
}

/// For a column of strings of bits: whether its type is `bit`, not `bit varying`, and the number of bits in
/// its type.
fn bits_column(index: OpenIndex<'_>) -> (bool, Option<u32>) {
    let column = index.column_type(0).base();
    (column.type_ == pg_sys::BITOID, u32::try_from(column.modifier).ok())
}

/// The layout of an index, from its pages.
pub(super) fn layout_of(index: OpenIndex<'_>, pages: &Pages) -> Layout {
    if !has_bits(index) {
        return with_columns(index, Layout::FINGERPRINTS);
    }
    let layout = Layout::read(pages);
    // The length of a column of type varbit can change without a rebuild of the index. The index keeps the
    // length of its values.
    if matches!(bits_column(index), (true, Some(bits)) if bits != layout.bits()) {
        pages.corrupted(0, "it has not as many bits as the column");
    }
    // A search would look for the codes of rows in a column that does not exist.
    if !layout.is_one_word() && layout.has_word_trees() && index.column_number().is_none() {
        pages.corrupted(0, "it has trees of words, although its codes are computed by an expression");
    }
    layout
}

/// The layout of an index that is about to be searched or changed. It is an error if the column has [lost its
/// length](has_lost_length).
pub(super) fn layout_in_use(index: OpenIndex<'_>, pages: &Pages) -> Layout {
    let layout = layout_of(index, pages);
    if has_lost_length(index) {
        let type_ = if bits_column(index).0 { "bit" } else { "bit varying" };
        let type_ = format!("{type_}({})", layout.bits());
        Err(error::lost_length(index.name(), &type_, index.indexed_column())).unwrap_or_report()
    }
    layout
}

/// Whether the type of the column no longer has a number of bits. Then REINDEX, or a restore from a dump,
/// could not build the index.
pub(super) fn has_lost_length(index: OpenIndex<'_>) -> bool {
    has_bits(index) && bits_column(index).1.is_none()
}

/// The layout for codes, with a filter if the index has further columns.
fn with_columns(index: OpenIndex<'_>, layout: Layout) -> Layout {
    if index.columns() > 1 { layout.with_filter() } else { layout }
}

/// The layout of a new index on codes of this length, with the trees that its parameters ask for. It is an
/// error if they have no bits or too many.
fn of_codes(index: OpenIndex<'_>, bits: u32) -> Layout {
    if bits == 0 {
        Err(error::cannot_index_empty()).unwrap_or_report()
    }
    check_width(bits).unwrap_or_report();
    let layout = with_columns(index, Layout::of_codes(bits));
    if layout.is_one_word() { layout } else { layout.with_trees(code_trees(index, bits)) }
}

/// The layout of a new index if it is empty. It is an error if the column's type has no number of bits.
pub(super) fn new_layout(index: OpenIndex<'_>) -> Layout {
    if !has_bits(index) {
        return with_columns(index, Layout::FINGERPRINTS);
    }
    match bits_column(index).1 {
        Some(bits) => of_codes(index, bits),
        None => Err(error::unknown_length(index.name(), index.indexed_column())).unwrap_or_report(),
    }
}

/// The layout of a new index with this first value. Values of a column of type varbit(n) may have fewer bits
/// than n, if the column had another n when its index was first built.
///
/// # Safety
/// The layout must be that of the index if it is empty, and the value must be from its column.
pub(super) unsafe fn layout_of_first(index: OpenIndex<'_>, if_empty: Layout, value: pg_sys::Datum) -> Layout {
    if !has_bits(index) || bits_column(index).0 {
        return if_empty;
    }
    // SAFETY: the value is a string of bits, as the caller promises.
    of_codes(index, unsafe { Bits::of(value) }.length())
}

/// Whether an index-only scan can return codes. It can if the column is a bit(n), and its codes fit into one
/// word or are in a tree of whole codes. Since 16, the planner calls this for a partitioned index, too,
/// which it never scans.
pub(super) fn has_codes(index: OpenIndex<'_>, pages: &Pages) -> bool {
    match bits_column(index) {
        (true, Some(1..=u64::BITS)) => true,
        // A new index has no pages yet.
        (true, Some(_)) => {
            !index.is_partitioned() && pages.pages() > 0 && Layout::read(pages).has_code_tree()
        }
        // For type varbit, only the pages have the number of bits.
        _ => false,
    }
}

/// Reads the bits of a value of the column. It is an error if it has another length than the index's values.
///
/// # Safety
/// The value must be a string of bits, and the layout must be that of the index.
pub(super) unsafe fn read_bits(
    layout: Layout,
    value: pg_sys::Datum,
    read: impl FnOnce(&[u8]),
) -> Result<(), SqlError> {
    // SAFETY: the value is a string of bits, as the caller promises. A detoasted copy is freed at once, since
    // there may be one for each row of a table.
    unsafe {
        let stored: *mut pg_sys::varlena = value.cast_mut_ptr();
        let plain = pg_sys::pg_detoast_datum_packed(stored);
        let code = Bits::of(plain.into());
        let length = code.length();
        if length == layout.bits() {
            read(code.bytes());
        }
        if plain != stored {
            pg_sys::pfree(plain.cast());
        }
        if length == layout.bits() { Ok(()) } else { Err(error::other_length(length, layout.bits())) }
    }
}

/// The words of a row's code, in a list that is reused for each row; `None` if the code is NULL. It is an
/// error if the code has another length than the index's codes.
///
/// # Safety
/// The pointers must be to a value of the index's column and to its NULL flag. The layout must be that of the
/// index.
pub(super) unsafe fn words_of_row<'w>(
    index: OpenIndex<'_>,
    layout: Layout,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
    words: &'w mut Vec<u64>,
) -> Option<&'w [u64]> {
    words.clear();
    // SAFETY: there is a value of the index's column, as the caller promises. It is a string of bits if the
    // layout has a description; otherwise a ball, whose center is indexed, or a fingerprint.
    unsafe {
        if *is_null {
            return None;
        }
        if layout.is_described() {
            read_bits(layout, *values, |code| words.extend(layout.words_of(code))).unwrap_or_report();
        } else {
            words.push(match Code::of(*values, index.class_type(0)) {
                Some(Code::Integer(word, _)) => word,
                _ => (*values).cast_mut_ptr::<HammingBall>().read().center as u64,
            });
        }
    }
    Some(words)
}

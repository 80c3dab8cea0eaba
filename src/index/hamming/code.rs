//! What an index has codes of, and how the values of its column become the words of its trees.

use super::options::code_trees;
use crate::pg::code::CodeType;
use crate::pg::code::ball::HammingBall;
use crate::pg::code::bits::Bits;
use crate::pg::error;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::SqlError;
use crate::pg::storage::pages::Pages;
use hamming_index::Layout;
use hamming_index::layout::MAX_BITS;
use hamming_index::store::Store;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;

/// Whether an index has strings of bits, and not fingerprints.
fn has_bits(index: OpenIndex<'_>) -> bool {
    CodeType::of(index.class_type(0)) == Some(CodeType::Bits)
}

/// Of the column of strings of bits: whether it is `bit` and not `bit varying`, and the number of bits that
/// its type says.
fn bits_column(index: OpenIndex<'_>) -> (bool, Option<u32>) {
    let column = index.column_type(0).base();
    (column.type_ == pg_sys::BITOID, u32::try_from(column.modifier).ok())
}

/// The layout of an index that has been built, whose pages these are.
pub(super) fn layout_of(index: OpenIndex<'_>, pages: &Pages) -> Layout {
    if !has_bits(index) {
        return with_columns(index, Layout::FINGERPRINTS);
    }
    let layout = Layout::read(pages);
    // A column of type varbit can be given another length without a new index. The index goes on with the
    // length that its values have.
    if matches!(bits_column(index), (true, Some(bits)) if bits != layout.bits()) {
        pages.corrupted(0, "it has not as many bits as the column");
    }
    layout
}

/// The layout of an index that is about to be searched or written: an error if its column has
/// [lost its length](has_lost_length).
pub(super) fn layout_in_use(index: OpenIndex<'_>, pages: &Pages) -> Layout {
    let layout = layout_of(index, pages);
    if has_lost_length(index) {
        let type_ = if bits_column(index).0 { "bit" } else { "bit varying" };
        let type_ = format!("{type_}({})", layout.bits());
        Err(error::lost_length(index.name(), &type_, index.indexed_column())).unwrap_or_report()
    }
    layout
}

/// Whether the type of the column does not say any more how many bits a value has. Then the index could not
/// be made again, by REINDEX or from a dump.
pub(super) fn has_lost_length(index: OpenIndex<'_>) -> bool {
    has_bits(index) && bits_column(index).1.is_none()
}

/// The layout of an index of these codes, with the columns that it has.
fn with_columns(index: OpenIndex<'_>, layout: Layout) -> Layout {
    if index.columns() > 1 { layout.with_filter() } else { layout }
}

/// The layout of an index of codes with this number of bits that is to be built, with the columns and the
/// trees that it is to have.
fn of_codes(index: OpenIndex<'_>, bits: u32) -> Layout {
    with_columns(index, Layout::of_codes(bits)).with_trees(code_trees(index, bits))
}

/// The layout of an index that is to be built, if it is empty: an error if its column does not say how many
/// bits a value has.
pub(super) fn new_layout(index: OpenIndex<'_>) -> Layout {
    if !has_bits(index) {
        return with_columns(index, Layout::FINGERPRINTS);
    }
    let layout = match bits_column(index).1 {
        Some(bits @ 1..=MAX_BITS) => Ok(of_codes(index, bits)),
        Some(bits) => Err(error::too_many_bits(bits, MAX_BITS)),
        None => Err(error::unknown_length(index.name(), index.indexed_column())),
    };
    layout.unwrap_or_report()
}

/// The layout of an index that is to be built, whose first value is this. Values of a column of type
/// varbit(n) may have fewer bits than n: such a column had another n before, when an index of it was built
/// first.
///
/// # Safety
/// The layout must be the one that the index has when it is empty, and the value one of its column.
pub(super) unsafe fn layout_of_first(index: OpenIndex<'_>, if_empty: Layout, value: pg_sys::Datum) -> Layout {
    if !has_bits(index) || bits_column(index).0 {
        return if_empty;
    }
    // SAFETY: a string of bits, as the caller promises.
    match unsafe { Bits::of(value) }.length() {
        bits @ 1..=MAX_BITS => of_codes(index, bits),
        _ => if_empty,
    }
}

/// Whether an index-only scan gives codes back: those of one word, and whole ones, if the column says how
/// many bits they have.
pub(super) fn has_codes(index: OpenIndex<'_>, pages: &Pages) -> bool {
    match bits_column(index) {
        (true, Some(1..=u64::BITS)) => true,
        // An index that is being built has no pages yet.
        (true, Some(_)) => pages.pages() > 0 && Layout::read(pages).has_code_tree(),
        // Of type varbit, the pages alone say how many bits a value has.
        _ => false,
    }
}

/// Reads the bits of a value of the column: an error if they are not as many as those of the others.
///
/// # Safety
/// The value must be a string of bits, and the layout that of the index.
pub(super) unsafe fn read_bits(
    layout: Layout,
    value: pg_sys::Datum,
    read: impl FnOnce(&[u8]),
) -> Result<(), SqlError> {
    // SAFETY: a string of bits, as the caller promises. A copy that had to be made is given back at once, for
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

/// The words of a row's code, in a list that is used again for each row; `None` if the code is NULL. An error
/// if it has not as many bits as the others.
///
/// # Safety
/// There must be one value, of the index's column, and one flag that says whether it is NULL. The layout must
/// be that of the index.
pub(super) unsafe fn words_of_row<'w>(
    index: OpenIndex<'_>,
    layout: Layout,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
    words: &'w mut Vec<u64>,
) -> Option<&'w [u64]> {
    words.clear();
    // SAFETY: there is a flag, and a value of the index's column, as the caller promises: a string of bits if
    // the index has a description; else a ball, of which the trees have the center, or a fingerprint.
    unsafe {
        if *is_null {
            return None;
        }
        if layout.is_described() {
            read_bits(layout, *values, |code| words.extend(layout.words_of(code))).unwrap_or_report();
        } else if CodeType::of(index.class_type(0)).is_none() {
            words.push((*values).cast_mut_ptr::<HammingBall>().read().center as u64);
        } else {
            words.push((*values).value() as u64);
        }
    }
    Some(words)
}

//! The codes of an index: their layout, and how a value of the column becomes the words of its trees.

use super::options::code_trees;
use crate::pg::access_method::IndexRow;
use crate::pg::code::{Code, CodeType, CodeValue};
use crate::pg::error;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::{SqlError, UnwrapOrReport};
use crate::pg::storage::pages::Pages;
use crate::pg::value::Value;
use hamming::code::check_width;
use hamming_index::Layout;
use hamming_index::store::Store;
use pgrx::pg_sys;

/// What is wrong with an operator class for a first column that has no codes.
pub(super) const NO_CODES: &str = "the first column must have type bigint or bit";

/// Whether the index is on bit strings, not fingerprints.
fn has_bits(index: OpenIndex<'_>) -> bool {
    CodeType::of(index.class_type(0)).is_some_and(|codes| !codes.is_integer())
}

/// For a column of bit strings: whether its type is `bit`, not `bit varying`, and the number of bits in
/// its type.
fn bits_column(index: OpenIndex<'_>) -> (bool, Option<u32>) {
    let column = index.column_type(0).base();
    (column.type_ == pg_sys::BITOID, u32::try_from(column.modifier).ok())
}

/// The layout of an index, from its pages.
pub(super) fn layout_of(index: OpenIndex<'_>, pages: &Pages<'_>) -> Layout {
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
pub(super) fn layout_in_use(index: OpenIndex<'_>, pages: &Pages<'_>) -> Layout {
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
pub(super) fn layout_of_first(index: OpenIndex<'_>, if_empty: Layout, value: Value<'_>) -> Layout {
    if !has_bits(index) || bits_column(index).0 {
        return if_empty;
    }
    value.with_bits(|code| code.length()).map_or(if_empty, |bits| of_codes(index, bits))
}

/// Whether an index-only scan can return codes. It can if the column is a bit(n), and its codes fit into one
/// word or are in a tree of whole codes. Since 16, the planner calls this for a partitioned index, too,
/// which it never scans.
pub(super) fn has_codes(index: OpenIndex<'_>, pages: &Pages<'_>) -> bool {
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

/// Reads the bits of a value of the column, a bit string. It is an error if it has another length than
/// the index's values.
pub(super) fn read_bits(layout: Layout, value: Value<'_>, read: impl FnOnce(&[u8])) -> Result<(), SqlError> {
    let length = value.with_bits(|code| {
        if code.length() == layout.bits() {
            read(code.bytes());
        }
        code.length()
    });
    let length = length.unwrap_or_default();
    if length == layout.bits() { Ok(()) } else { Err(error::other_length(length, layout.bits())) }
}

/// The words of a row's code, in a list that is reused for each row; `None` if the code is NULL. It is an
/// error if the code has another length than the index's codes.
pub(super) fn words_of_row<'w>(
    layout: Layout,
    row: IndexRow<'_>,
    words: &'w mut Vec<u64>,
) -> Option<&'w [u64]> {
    words.clear();
    let value = row.value(0)?;
    if layout.is_described() {
        read_bits(layout, value, |code| words.extend(layout.words_of(code))).unwrap_or_report();
    } else {
        words.push(word_of(row.index(), value).unwrap_or_report());
    }
    Some(words)
}

/// The word of a fingerprint, or of the center of a ball, which is indexed in place of the ball.
fn word_of(index: OpenIndex<'_>, value: Value<'_>) -> Result<u64, SqlError> {
    if let Some(Code::Integer(word, _)) = value.as_code().map(CodeValue::read) {
        return Ok(word);
    }
    match value.as_fingerprint_ball() {
        Some(ball) => Ok(ball.center as u64),
        None => Err(error::operator_class(index.name(), value.type_(), NO_CODES)),
    }
}

//! What an index has codes of, and how the values of its column become the words of its trees.

use super::options::code_trees;
use crate::pg::code::CodeType;
use crate::pg::code::ball::HammingBall;
use crate::pg::code::bits::Bits;
use crate::pg::encoding::for_message;
use crate::pg::error;
use crate::pg::report::SqlError;
use crate::pg::storage::pages::Pages;
use hamming_index::Layout;
use hamming_index::layout::MAX_BITS;
use hamming_index::store::Store;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;
use std::ffi::CStr;

/// Whether an index has balls, of which the trees have the centers.
///
/// # Safety
/// The index must be open.
unsafe fn has_balls(index: pg_sys::Relation) -> bool {
    // SAFETY: the index is open, as the caller promises. Of other types there are no indexes: see
    // `check_class`.
    CodeType::of(unsafe { *(*index).rd_opcintype }).is_none()
}

/// Whether an index has strings of bits, and not fingerprints.
///
/// # Safety
/// The index must be open.
unsafe fn has_bits(index: pg_sys::Relation) -> bool {
    // SAFETY: the index is open, as the caller promises; it has at least one column.
    CodeType::of(unsafe { *(*index).rd_opcintype }) == Some(CodeType::Bits)
}

/// The layout of an index that has been built.
///
/// # Safety
/// The index must be open, and these its pages.
pub(super) unsafe fn layout_of(index: pg_sys::Relation, pages: &Pages) -> Layout {
    // SAFETY: the index is open, as the caller promises.
    let (type_, bits) = unsafe {
        if !has_bits(index) {
            return with_columns(index, Layout::FINGERPRINTS);
        }
        column_of(index)
    };
    let layout = Layout::read(pages);
    // A column of type varbit can be given another length without a new index. The index goes on with the
    // length that its values have.
    if type_ == pg_sys::BITOID && u32::try_from(bits).is_ok_and(|bits| bits != layout.bits()) {
        pages.corrupted(0, "it has not as many bits as the column");
    }
    layout
}

/// The layout of an index that is about to be searched or written: an error if its column has
/// [lost its length](has_lost_length).
///
/// # Safety
/// The index must be open, and these its pages.
pub(super) unsafe fn layout_in_use(index: pg_sys::Relation, pages: &Pages) -> Layout {
    // SAFETY: as the caller promises.
    unsafe {
        let layout = layout_of(index, pages);
        if has_lost_length(index) {
            let type_ = if column_of(index).0 == pg_sys::BITOID { "bit" } else { "bit varying" };
            let type_ = format!("{type_}({})", layout.bits());
            Err(error::lost_length(name_of(index), &type_, indexed_column(index))).unwrap_or_report()
        }
        layout
    }
}

/// Whether the type of the column does not say any more how many bits a value has. Then the index could not
/// be made again, by REINDEX or from a dump.
///
/// # Safety
/// The index must be open.
pub(super) unsafe fn has_lost_length(index: pg_sys::Relation) -> bool {
    // SAFETY: the index is open, as the caller promises.
    unsafe { has_bits(index) && column_of(index).1 < 0 }
}

/// The table and the column of an index, as SQL writes them; `None` if it is one of an expression.
///
/// # Safety
/// The index must be open.
unsafe fn indexed_column(index: pg_sys::Relation) -> Option<(String, String)> {
    // SAFETY: the index is open, as the caller promises, with a column at least; names are looked up, and
    // copied.
    unsafe {
        let entry = &*(*index).rd_index;
        let column = *entry.indkey.values.as_ptr();
        if column == 0 {
            return None;
        }
        let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(entry.indrelid));
        let table = pg_sys::quote_qualified_identifier(schema, pg_sys::get_rel_name(entry.indrelid));
        let column = pg_sys::quote_identifier(pg_sys::get_attname(entry.indrelid, column, false));
        Some((for_message(CStr::from_ptr(table)), for_message(CStr::from_ptr(column))))
    }
}

/// Whether an index has further columns.
///
/// # Safety
/// The index must be open.
pub(super) unsafe fn has_filter(index: pg_sys::Relation) -> bool {
    // SAFETY: the index is open, as the caller promises.
    unsafe { (*(*index).rd_index).indnkeyatts > 1 }
}

/// The layout of an index of these codes, with the columns that it has.
///
/// # Safety
/// The index must be open.
unsafe fn with_columns(index: pg_sys::Relation, layout: Layout) -> Layout {
    // SAFETY: the index is open, as the caller promises.
    if unsafe { has_filter(index) } { layout.with_filter() } else { layout }
}

/// The layout of an index of codes with this number of bits that is to be built, with the columns and the
/// trees that it is to have.
///
/// # Safety
/// The index must be open.
unsafe fn of_codes(index: pg_sys::Relation, bits: u32) -> Layout {
    // SAFETY: the index is open.
    unsafe { with_columns(index, Layout::of_codes(bits)).with_trees(code_trees(index, bits)) }
}

/// The layout of an index that is to be built, if it is empty: an error if its column does not say how many
/// bits a value has.
///
/// # Safety
/// The index must be open.
pub(super) unsafe fn new_layout(index: pg_sys::Relation) -> Layout {
    // SAFETY: the index is open, as the caller promises.
    let length = unsafe {
        if !has_bits(index) {
            return with_columns(index, Layout::FINGERPRINTS);
        }
        u32::try_from(column_of(index).1)
            .map_err(|_| error::unknown_length(name_of(index), indexed_column(index)))
    };
    let layout = length.and_then(|bits| match bits {
        // SAFETY: the index is open, as the caller promises.
        1..=MAX_BITS => Ok(unsafe { of_codes(index, bits) }),
        _ => Err(error::too_many_bits(bits, MAX_BITS)),
    });
    layout.unwrap_or_report()
}

/// The layout of an index that is to be built, whose first value is this. Values of a column of type
/// varbit(n) may have fewer bits than n: such a column had another n before, when an index of it was built
/// first.
///
/// # Safety
/// The index must be open, the layout the one it has when it is empty, and the value one of its column.
pub(super) unsafe fn layout_of_first(
    index: pg_sys::Relation,
    if_empty: Layout,
    value: pg_sys::Datum,
) -> Layout {
    // SAFETY: the index is open, and the value one of its column, as the caller promises.
    unsafe {
        if !has_bits(index) || column_of(index).0 == pg_sys::BITOID {
            return if_empty;
        }
        match Bits::of(value).length() {
            bits @ 1..=MAX_BITS => of_codes(index, bits),
            _ => if_empty,
        }
    }
}

/// The type of the column of an index, and how many bits it has; -1 if that is not known.
///
/// # Safety
/// The index must be open, and one of strings of bits.
pub(super) unsafe fn column_of(index: pg_sys::Relation) -> (pg_sys::Oid, i32) {
    let (mut type_, mut modifier, mut collation) = (pg_sys::InvalidOid, -1, pg_sys::InvalidOid);
    // SAFETY: the index is open, as the caller promises; what is known of the column is looked up.
    unsafe {
        pg_sys::get_atttypetypmodcoll(
            (*index).rd_id,
            1,
            &raw mut type_,
            &raw mut modifier,
            &raw mut collation,
        );
        // The modifier of both types is the number of bits. A domain has the one of its base type.
        (pg_sys::getBaseTypeAndTypmod(type_, &raw mut modifier), modifier)
    }
}

/// The name of an index.
///
/// # Safety
/// The index must be open.
pub(super) unsafe fn name_of<'a>(index: pg_sys::Relation) -> &'a CStr {
    // SAFETY: the index is open, as the caller promises; names end with a zero byte.
    unsafe { CStr::from_ptr((*(*index).rd_rel).relname.data.as_ptr()) }
}

/// Appends the words of a value of the column: an error if it has not as many bits as the others.
///
/// # Safety
/// The index must be open, the value one of its column, and the layout its own.
unsafe fn append_words(
    index: pg_sys::Relation,
    layout: Layout,
    value: pg_sys::Datum,
    words: &mut Vec<u64>,
) -> Result<(), SqlError> {
    if !layout.is_described() {
        // SAFETY: the index is open, and the value one of its column, as the caller promises.
        words.push(unsafe {
            match has_balls(index) {
                true => value.cast_mut_ptr::<HammingBall>().read().center as u64,
                false => value.value() as u64,
            }
        });
        return Ok(());
    }
    // SAFETY: the index has a description, so the value is a string of bits, as the caller promises.
    unsafe { read_bits(layout, value, |code| words.extend(layout.words_of(code))) }
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

/// The words of a row's code, in a list that is used again for each row; `None` if the code is NULL.
///
/// # Safety
/// The index must be open. There must be one value, of its column, and one flag that says whether it is NULL.
/// The layout must be that of the index.
pub(super) unsafe fn words_of_row(
    index: pg_sys::Relation,
    layout: Layout,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
    words: &mut Vec<u64>,
) -> Option<&[u64]> {
    words.clear();
    // SAFETY: there is a flag, and a value of the index's column, as the caller promises.
    unsafe {
        if *is_null {
            return None;
        }
        append_words(index, layout, *values, words).unwrap_or_report();
    }
    Some(words)
}

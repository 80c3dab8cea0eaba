//! Index-only scans, which return the code of a row without reading the table.
//!
//! The index has the whole code if it has up to 64 bits, or if there is a tree of whole codes. It cannot
//! return further columns, of which it only has a hash.
//!
//! PostgreSQL returns such a row without reading the table if the visibility map says that the row's block
//! is all-visible. The search reads the map while it holds a lock on the leaf with the row, because the
//! scan holds no pin afterwards: `crates/hamming_index/README.md` ("Scans between pages") explains why that
//! is necessary and sufficient. If the block is not all-visible then, the row is read from the table.

use super::code::has_codes;
use crate::pg::code::bits::Bits;
use crate::pg::code::{Code, CodeType};
use crate::pg::open_index::OpenIndex;
use crate::pg::storage::pages::{Pages, PagesState};
use hamming_index::Layout;

/// Whether the index can return codes.
pub(super) fn can_return(index: OpenIndex<'_>) -> bool {
    CodeType::of(index.class_type(0)).is_some_and(|codes| {
        codes.is_integer() || has_codes(index, &Pages::of(index, &PagesState::of(index)))
    })
}

/// Calls `use_` with the code that has these words.
pub(super) fn with_code<R>(layout: Layout, words: &[u64], use_: impl FnOnce(Code<'_>) -> R) -> R {
    if !layout.is_described() {
        return use_(Code::Integer(words[0], layout.bits()));
    }
    // Bounded: a length, and a code.
    let value = [&layout.bits().to_ne_bytes()[..], &layout.code_of(words)].concat();
    use_(Code::Bits(Bits::in_value(&value)))
}

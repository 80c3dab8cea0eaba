//! The storage parameters of an index.

use crate::pg::access_method::{IndexOption, IndexOptions, OptionValues};
use crate::pg::error;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::UnwrapOrReport;
use hamming_index::CodeTrees;
use hamming_index::page::LEAF_CAPACITY;
use std::ffi::CStr;

/// How full a new page is when the index is built, in percent. The rest is for inserts before the first
/// split. With this, an entry takes 59 bytes.
const DEFAULT_FILLFACTOR: i32 = 95;
const _: () = assert!(LEAF_CAPACITY * DEFAULT_FILLFACTOR as usize / 100 > 1);

/// From this number of bits on, an index only has the tree of whole codes by default. Codes that long are
/// usually embeddings, and near embeddings are near in no single word. For a search for near copies, `both`
/// kinds of trees may be chosen, which take more space.
const WHOLE_BY_DEFAULT: u32 = 512;

/// The values of the parameter `trees`, by number. With `auto`, the number of bits decides.
const TREES: [Option<CodeTrees>; NAMES.len()] =
    [None, Some(CodeTrees::Words), Some(CodeTrees::Both), Some(CodeTrees::Whole)];

/// The names of these values.
const NAMES: &[&CStr] = &[c"auto", c"words", c"both", c"whole"];

/// The places of the parameters in [`OPTIONS`].
const FILLFACTOR: usize = 0;
const TREES_PLACE: usize = 1;

/// The storage parameters.
pub(super) static OPTIONS: IndexOptions = IndexOptions::new(&[
    IndexOption {
        name: c"fillfactor",
        description: c"How full pages are when the index is built, in percent",
        values: OptionValues::Integer { default: DEFAULT_FILLFACTOR, allowed: 50..=100 },
    },
    IndexOption {
        name: c"trees",
        description: c"Which trees there are of codes of more than 64 bits, from the next REINDEX on",
        values: OptionValues::Name {
            names: NAMES,
            detail: c"Valid values are \"auto\", \"words\", \"both\" and \"whole\".",
        },
    },
]);

/// Registers the parameters. Called once, when the library is loaded.
pub(crate) fn register() {
    OPTIONS.register();
}

/// How full a new page is, in percent.
pub(super) fn fillfactor(index: OpenIndex<'_>) -> usize {
    index.option(FILLFACTOR).unwrap_or(DEFAULT_FILLFACTOR) as usize
}

/// The trees for an index on codes of several words, with this number of bits.
///
/// If codes are computed by an expression, the index has whole codes only. With trees of words, a search
/// would have to compute the codes of the rows that it finds, and so run code of the table's owner: see
/// [`crate::pg::table_rows`].
pub(super) fn code_trees(index: OpenIndex<'_>, bits: u32) -> CodeTrees {
    let chosen = index.option(TREES_PLACE).and_then(|number| TREES[number as usize]);
    if index.column_number().is_none() {
        if chosen.is_some_and(|trees| trees != CodeTrees::Whole) {
            Err(error::words_of_expression(index.name(), bits)).unwrap_or_report()
        }
        return CodeTrees::Whole;
    }
    chosen.unwrap_or(if bits < WHOLE_BY_DEFAULT { CodeTrees::Both } else { CodeTrees::Whole })
}

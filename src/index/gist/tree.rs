//! How a GiST index grows: where entries are inserted, how pages split, and in which order an index is built.

use crate::pg::call::{Call, pg_functions};
use crate::pg::gist_entry::{CheckedEntry, EntryVector, KeySort, Procedure};
use crate::pg::operator_class::{Out, PageSplit};
use hamming_index::{BoundingBox, split};

/// The bounding box of all keys.
fn around(keys: impl IntoIterator<Item = BoundingBox>) -> BoundingBox {
    // GiST never passes an empty vector.
    keys.into_iter().reduce(BoundingBox::union).unwrap_or(BoundingBox { all: u64::MAX, any: 0 })
}

pg_functions!(
    gist_hamming_union,
    gist_hamming_penalty,
    gist_hamming_same,
    gist_hamming_picksplit,
    gist_hamming_sortsupport
);

fn gist_hamming_union(entries: EntryVector, size: Out<i32>) -> BoundingBox {
    size.set(size_of::<BoundingBox>() as i32);
    around(entries.all_keys())
}

fn gist_hamming_penalty(call: Call, _added: Call, penalty: Out<f32>) -> Out<f32> {
    penalty.set(CheckedEntry::of(call, Procedure::Penalty).penalty(call));
    penalty
}

fn gist_hamming_same(a: BoundingBox, b: BoundingBox, is_same: Out<bool>) -> Out<bool> {
    is_same.set(a == b);
    is_same
}

fn gist_hamming_picksplit(entries: EntryVector, result: PageSplit, call: Call) -> PageSplit {
    let keys = entries.keys_of_page(call);
    let second = split(&keys);
    result.set([false, true].map(|wanted| {
        let chosen = || (0..keys.len()).filter(|&index| second[index] == wanted);
        // Bounded: the entries of a page.
        (chosen().map(|index| index as u16 + 1).collect(), around(chosen().map(|index| keys[index])))
    }));
    result
}

fn gist_hamming_sortsupport(sort: KeySort) -> KeySort {
    sort
}

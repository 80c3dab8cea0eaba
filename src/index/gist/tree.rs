//! How a GiST index grows: where entries are inserted, how pages split, and in which order an index is built.

use super::check::{Procedure, check};
use super::key::entry;
use crate::pg::call::{Call, allocate, allocate_all, pg_functions};
use crate::pg::report::UnwrapOrReport;
use base::collect;
use hamming_index::{BoundingBox, split};
use pgrx::pg_sys::{self, Datum};

/// The keys of a vector of entries, from the entry `first` on.
fn keys(call: Call, first: usize) -> Vec<BoundingBox> {
    // SAFETY: GiST passes a vector of `n` entries, each with a key of the storage type.
    unsafe {
        let vector = &*call.pointer::<pg_sys::GistEntryVector>(0);
        let entries = vector.vector.as_slice(vector.n as usize);
        let keys = entries[first..].iter().map(|entry| *entry.key.cast_mut_ptr::<BoundingBox>());
        collect(keys, entries.len() - first).unwrap_or_report()
    }
}

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

fn gist_hamming_union(call: Call) -> BoundingBox {
    // SAFETY: the second argument is GiST's pointer for the size of the key.
    unsafe { call.pointer::<i32>(1).write(size_of::<BoundingBox>() as i32) };
    around(keys(call, 0))
}

fn gist_hamming_penalty(call: Call) -> Datum {
    check(call, entry(call), Procedure::Penalty, || true);
    // SAFETY: the arguments are two entries with keys of the storage type, and a pointer for the penalty.
    unsafe {
        let key = |index| *(*call.pointer::<pg_sys::GISTENTRY>(index)).key.cast_mut_ptr::<BoundingBox>();
        call.pointer::<f32>(2).write(BoundingBox::penalty(key(0), key(1)));
    }
    call.datum(2)
}

fn gist_hamming_same(a: BoundingBox, b: BoundingBox, is_same: Datum) -> Datum {
    // SAFETY: the third argument is GiST's pointer for the result.
    unsafe { is_same.cast_mut_ptr::<bool>().write(a == b) };
    is_same
}

fn gist_hamming_picksplit(call: Call) -> Datum {
    // SAFETY: the vector to split has at least two entries. The first of them is at place 1.
    let first = unsafe { &(*call.pointer::<pg_sys::GistEntryVector>(0)).vector.as_slice(2)[1] };
    check(call, first, Procedure::Picksplit, || true);
    let keys = keys(call, 1);
    let second = split(&keys);
    let side = |wanted: bool| {
        let chosen = || (0..keys.len()).filter(|&index| second[index] == wanted);
        let offsets: Vec<pg_sys::OffsetNumber> = chosen().map(|index| index as u16 + 1).collect();
        (allocate_all(offsets.into_iter()), around(chosen().map(|index| keys[index])))
    };
    let ((left, left_key), (right, right_key)) = (side(false), side(true));
    // SAFETY: the second argument is GiST's struct for the result. Lists and keys come from palloc.
    unsafe {
        let result = &mut *call.pointer::<pg_sys::GIST_SPLITVEC>(1);
        result.spl_left = left.as_mut_ptr();
        result.spl_nleft = left.len() as i32;
        result.spl_ldatum = allocate(left_key);
        result.spl_right = right.as_mut_ptr();
        result.spl_nright = right.len() as i32;
        result.spl_rdatum = allocate(right_key);
    }
    call.datum(1)
}

fn gist_hamming_sortsupport(call: Call) -> Datum {
    // SAFETY: the argument is the sort that is being prepared.
    unsafe { (*call.pointer::<pg_sys::SortSupportData>(0)).comparator = Some(compare_keys) };
    Datum::null()
}

/// Raises no errors, so its many calls need no guard.
unsafe extern "C-unwind" fn compare_keys(a: Datum, b: Datum, _: pg_sys::SortSupport) -> i32 {
    // SAFETY: the sort compares keys of the storage type.
    let (a, b): (BoundingBox, BoundingBox) = unsafe { (*a.cast_mut_ptr(), *b.cast_mut_ptr()) };
    a.build_order(b) as i32
}

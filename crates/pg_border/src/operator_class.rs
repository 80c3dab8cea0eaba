//! Support functions of operator classes: what GiST and GIN pass to them, and the places of their results.

use super::call::{Argument, Call, Returned, allocate, allocate_all};
use pgrx::PgMemoryContexts;
use pgrx::pg_sys::{self, Datum, GinTernaryValue};
use std::any::TypeId;

/// The place of a result, which is an argument of type internal.
pub struct Out<T>(*mut T);

impl<T> Argument for Out<T> {
    unsafe fn read(call: Call, place: usize) -> Self {
        Self(call.pointer(place))
    }
}

impl<T> Out<T> {
    /// Sets the result.
    pub fn set(&self, result: T) {
        // SAFETY: the access method has passed the place of a result of this type.
        unsafe { self.0.write(result) };
    }
}

impl<T> Returned for Out<T> {
    fn datum(self, _: Call) -> Datum {
        Datum::from(self.0)
    }
}

/// Keys for GIN, whose number it gets in this place.
pub fn gin_keys(count: &Out<i32>, keys: impl ExactSizeIterator<Item = i64>) -> Datum {
    count.set(keys.len() as i32);
    allocate_all(keys.map(Datum::from)).as_mut_ptr().into()
}

/// Tells GIN which keys are NULL.
pub fn set_null_keys(nulls: &Out<*mut bool>, are_null: impl ExactSizeIterator<Item = bool>) {
    nulls.set(allocate_all(are_null).as_mut_ptr());
}

/// What a search of GIN keeps for its consistent function, after its type.
#[repr(C)]
struct KeptForSearch<T> {
    type_: TypeId,
    kept: T,
}

/// Keeps something for the consistent function of a search with this number of keys, as long as the keys.
pub fn keep_for_search<T: 'static>(data: &Out<*mut Datum>, keys: usize, kept: T) {
    let kept = KeptForSearch { type_: TypeId::of::<T>(), kept };
    let kept = Datum::from(PgMemoryContexts::CurrentMemoryContext.leak_and_drop_on_delete(kept));
    // GIN compares all keys to find duplicates, but only keys without such data.
    data.set(allocate_all(std::iter::repeat_n(kept, keys)).as_mut_ptr());
}

/// The keys of a search that a row has, for a consistent function of GIN: its first, fourth and fifth
/// argument.
pub struct FoundKeys {
    found: *const GinTernaryValue,
    count: usize,
    data: *const *const TypeId,
}

impl Argument for FoundKeys {
    unsafe fn read(call: Call, _: usize) -> Self {
        Self { found: call.pointer(0), count: call.integer(3).max(0) as usize, data: call.pointer(4) }
    }
}

impl FoundKeys {
    /// For each key: whether the row has it, does not have it, or may have it.
    pub fn found(&self) -> &[GinTernaryValue] {
        // SAFETY: GIN passes an array with a value for each key, and its length.
        unsafe { std::slice::from_raw_parts(self.found, self.count) }
    }

    /// What was kept for the search. A search without keys has kept nothing.
    pub fn kept<T: 'static>(&self) -> &T {
        assert!(self.count > 0, "a search without keys keeps nothing");
        // SAFETY: GIN passes what `keep_for_search` has set for each key. It begins with its type, and lives
        // as long as the keys of the search.
        unsafe {
            let kept = *self.data;
            assert_eq!(*kept, TypeId::of::<T>(), "a search keeps one type");
            &(*kept.cast::<KeptForSearch<T>>()).kept
        }
    }
}

/// How a page of GiST is split: the numbers of the entries that go to each side, and the keys of both.
pub struct PageSplit(*mut pg_sys::GIST_SPLITVEC);

impl Argument for PageSplit {
    unsafe fn read(call: Call, place: usize) -> Self {
        Self(call.pointer(place))
    }
}

impl Returned for PageSplit {
    fn datum(self, _: Call) -> Datum {
        Datum::from(self.0)
    }
}

impl PageSplit {
    /// Sets the sides. Entries are numbered from 1.
    pub fn set<K: Copy>(&self, sides: [(Vec<pg_sys::OffsetNumber>, K); 2]) {
        let [(left, left_key), (right, right_key)] = sides;
        let [left, right] = [left, right].map(|side| allocate_all(side.into_iter()));
        // SAFETY: GiST passes its struct for the result. Lists and keys come from palloc.
        unsafe {
            let result = &mut *self.0;
            result.spl_left = left.as_mut_ptr();
            result.spl_nleft = left.len() as i32;
            result.spl_ldatum = allocate(left_key);
            result.spl_right = right.as_mut_ptr();
            result.spl_nright = right.len() as i32;
            result.spl_rdatum = allocate(right_key);
        }
    }
}

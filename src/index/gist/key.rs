//! Keys: the type `gist_hamming_key`, and how a value becomes a key and a key a value.

use super::check::{Procedure, check};
use crate::pg::call::{Call, allocate, pg_function};
use crate::pg::error;
use hamming_index::BoundingBox;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;

/// As declared in `sql/gist.sql`.
const _: () = assert!(size_of::<BoundingBox>() == 16 && align_of::<BoundingBox>() == 8);

/// The entry that a function is called with.
pub(super) fn entry<'a>(call: Call) -> &'a pg_sys::GISTENTRY {
    // SAFETY: GiST passes an entry as the first argument of each of these functions.
    unsafe { &*call.pointer(0) }
}

/// The key of the entry.
pub(super) fn key(call: Call) -> BoundingBox {
    // SAFETY: the key of an entry that is in the index has the storage type of the operator class.
    unsafe { *entry(call).key.cast_mut_ptr() }
}

pg_function!(
    pg_finfo_gist_hamming_key_in,
    fn gist_hamming_key_in(_call) {
        Err(error::no_input("gist_hamming_key")).unwrap_or_report()
    }
);

pg_function!(
    pg_finfo_gist_hamming_key_out,
    fn gist_hamming_key_out(call) {
        // SAFETY: declared with one gist_hamming_key.
        let bounds: BoundingBox = unsafe { call.value(0) };
        let text = format!("{:064b},{:064b}\0", bounds.all, bounds.any);
        // SAFETY: pstrdup copies the string, which ends with a zero byte, into the memory of the call.
        unsafe { pg_sys::pstrdup(text.as_ptr().cast()) }.into()
    }
);

pg_function!(
    pg_finfo_gist_hamming_compress,
    fn gist_hamming_compress(call) {
        let entry = entry(call);
        check(call, entry, Procedure::Compress, || true);
        // What has a key already stays as it is.
        if !entry.leafkey {
            return call.datum(0);
        }
        let key = allocate(BoundingBox::of(entry.key.value() as u64));
        allocate(pg_sys::GISTENTRY { key, leafkey: false, ..*entry })
    }
);

pg_function!(
    pg_finfo_gist_hamming_fetch,
    fn gist_hamming_fetch(call) {
        check(call, entry(call), Procedure::Fetch, || true);
        allocate(pg_sys::GISTENTRY { key: pg_sys::Datum::from(key(call).all as i64), ..*entry(call) })
    }
);

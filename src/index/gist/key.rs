//! Keys: the type `gist_hamming_key`, and conversions between values and keys.

use super::check::{Procedure, check};
use crate::pg::call::{Call, allocate, pg_functions};
use crate::pg::error;
use crate::pg::report::SqlError;
use crate::pg::varlena::c_string;
use hamming_index::BoundingBox;
use pgrx::pg_sys::{self, Datum};

/// The GiST entry that a function was called with.
pub(super) fn entry<'a>(call: Call) -> &'a pg_sys::GISTENTRY {
    // SAFETY: the first argument of each of these functions is an entry.
    unsafe { &*call.pointer(0) }
}

/// The key of the entry.
pub(super) fn key(call: Call) -> BoundingBox {
    // SAFETY: an entry in the index has a key of the operator class's storage type.
    unsafe { *entry(call).key.cast_mut_ptr() }
}

pg_functions!(gist_hamming_key_in, gist_hamming_key_out, gist_hamming_compress);

fn gist_hamming_key_in(_: Call) -> Result<BoundingBox, SqlError> {
    Err(error::no_input("gist_hamming_key"))
}

fn gist_hamming_key_out(bounds: BoundingBox) -> Datum {
    c_string(&[format!("{:064b},{:064b}", bounds.all, bounds.any).as_bytes()])
}

fn gist_hamming_compress(call: Call) -> Datum {
    let entry = entry(call);
    check(call, entry, Procedure::Compress, || true);
    // The entry already has a key.
    if !entry.leafkey {
        return call.datum(0);
    }
    let key = allocate(BoundingBox::of(entry.key.value() as u64));
    allocate(pg_sys::GISTENTRY { key, leafkey: false, ..*entry })
}

//! Keys: the type `gist_hamming_key`, and conversions between values and keys.

use crate::pg::call::{Call, pg_functions};
use crate::pg::error;
use crate::pg::gist_entry::{CheckedEntry, Procedure};
use crate::pg::report::SqlError;
use crate::pg::varlena::c_string;
use hamming_index::BoundingBox;
use pgrx::pg_sys::Datum;

pg_functions!(gist_hamming_key_in, gist_hamming_key_out, gist_hamming_compress);

fn gist_hamming_key_in(_: Call) -> Result<BoundingBox, SqlError> {
    Err(error::no_input("gist_hamming_key"))
}

fn gist_hamming_key_out(bounds: BoundingBox) -> Datum {
    c_string(&[format!("{:064b},{:064b}", bounds.all, bounds.any).as_bytes()])
}

fn gist_hamming_compress(call: Call) -> Datum {
    let entry = CheckedEntry::of(call, Procedure::Compress);
    // The entry may already have a key.
    if entry.is_value() { entry.with_key(BoundingBox::of(entry.value())) } else { call.datum(0) }
}

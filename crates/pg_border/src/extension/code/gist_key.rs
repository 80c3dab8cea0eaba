//! The type `gist_hamming_key`, a key of the GiST operator classes.

use crate::call::{allocate, sql_value};
use hamming_index::BoundingBox;

/// The length and the alignment that `sql/gist.sql` declares.
const _: () = assert!(size_of::<BoundingBox>() == 16 && align_of::<BoundingBox>() == 8);

sql_value!(
    BoundingBox,
    read: |bounds| bounds.cast_mut_ptr::<Self>().read(),
    write: |bounds| allocate(bounds)
);

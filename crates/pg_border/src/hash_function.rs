//! PostgreSQL's hash functions of types, by which it also divides rows among partitions.

use super::memory::OwnedMemory;
use super::value::Value;
use pgrx::pg_sys::{self, Datum, Oid, TypeCacheEntry};

/// The hash function of a type.
#[derive(Clone, Copy)]
pub struct HashFunction {
    type_: Oid,
    /// Valid as long as the session.
    function: *mut pg_sys::FmgrInfo,
}

/// The entry of a type in the type cache, with its hash function.
fn entry_of<'a>(type_: Oid) -> &'a TypeCacheEntry {
    // SAFETY: the type cache never removes an entry. The function raises an error if there is no such type.
    unsafe { &*pg_sys::lookup_type_cache(type_, pg_sys::TYPECACHE_HASH_EXTENDED_PROC_FINFO as i32) }
}

/// The operator family to which the hash function of a type belongs; `None` if the type has none.
pub fn hash_family_of(type_: Oid) -> Option<Oid> {
    HashFunction::of(type_).map(|_| entry_of(type_).hash_opf)
}

impl HashFunction {
    /// The hash function of a type, if it has one.
    pub fn of(type_: Oid) -> Option<Self> {
        let entry = entry_of(type_);
        let has_function = entry.hash_extended_proc_finfo.fn_oid != pg_sys::InvalidOid;
        let function = (&raw const entry.hash_extended_proc_finfo).cast_mut();
        has_function.then_some(Self { type_, function })
    }

    /// The hash of a value with a seed. The function uses this memory for the time of the call.
    pub fn hash(self, value: Value<'_>, collation: Oid, seed: u64, memory: &OwnedMemory) -> u64 {
        assert_eq!(value.type_(), self.type_, "a value is hashed by the function of its type");
        // SAFETY: the pointer stays valid, and the value is of the function's type.
        memory.run(|| unsafe {
            pg_sys::FunctionCall2Coll(self.function, collation, value.datum(), Datum::from(seed)).value()
                as u64
        })
    }
}

//! The further columns of an index, such as a tenant. Their values are hashed together into a filter, by
//! which one of the trees is ordered.
//!
//! Values are hashed as PostgreSQL hashes them for partitions. Different values can have the same hash, so
//! conditions on further columns are tested again on the rows that are found.

use crate::pg::catalog::families::{function_of, is_in, operator_in};
use crate::pg::catalog::strategy::EQUAL;
use crate::pg::error;
use crate::pg::memory::small_context;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::UnwrapOrReport;
use hamming::hash::scattered;
use hamming_index::key::Filter;
use pgrx::PgMemoryContexts;
use pgrx::pg_sys::{self, Datum, Oid};
use std::ptr::null_mut;

/// PostgreSQL's hash function for a type. The pointer is valid as long as the session.
#[derive(Clone, Copy)]
struct HashFunction(*mut pg_sys::FmgrInfo);

impl HashFunction {
    /// The hash function of a type, if it has one.
    fn of(type_: Oid) -> Option<Self> {
        // SAFETY: the type cache never removes an entry.
        unsafe {
            let entry = pg_sys::lookup_type_cache(type_, pg_sys::TYPECACHE_HASH_EXTENDED_PROC_FINFO as i32);
            let is_there = (*entry).hash_extended_proc_finfo.fn_oid != pg_sys::InvalidOid;
            is_there.then_some(Self(&raw mut (*entry).hash_extended_proc_finfo))
        }
    }

    /// The hash of a value with a seed.
    ///
    /// # Safety
    /// The value must be of the function's type.
    unsafe fn hash(self, value: Datum, collation: Oid, seed: u64) -> u64 {
        // SAFETY: the pointer stays valid, and the value is of the function's type, as the caller promises.
        unsafe { pg_sys::FunctionCall2Coll(self.0, collation, value, Datum::from(seed)).value() as u64 }
    }
}

/// A column of the index after the first.
#[derive(Clone, Copy)]
struct FilterColumn {
    class_type: Oid,
    collation: Oid,
    hash: HashFunction,
}

/// The further columns of an open index. The list is empty if it has one column.
pub(super) struct FilterColumns {
    columns: Vec<FilterColumn>,
    /// For memory that hash functions leave behind; null if there are no further columns.
    memory: pg_sys::MemoryContext,
}

impl FilterColumns {
    /// The further columns of an index. It is an error if a type cannot be hashed. Memory is allocated in the
    /// current memory context.
    pub(super) fn of(index: OpenIndex<'_>) -> Self {
        if index.columns() == 1 {
            return Self { columns: Vec::new(), memory: null_mut() };
        }
        let column = |place| {
            let class_type = index.class_type(place);
            let hash = HashFunction::of(index.column_type(place).type_);
            let hash = hash.ok_or_else(|| error::no_hash(index.name(), class_type)).unwrap_or_report();
            FilterColumn { class_type, collation: index.collation(place), hash }
        };
        Self {
            columns: (1..index.columns()).map(column).collect(),
            memory: small_context(c"hashes of columns"),
        }
    }

    /// The filter of a row; `None` if there are no further columns.
    ///
    /// # Safety
    /// There must be a value and a NULL flag for each column of the index.
    pub(super) unsafe fn of_row(&self, values: *mut Datum, is_null: *mut bool) -> Option<Filter> {
        // SAFETY: there is a value for each column, as the caller promises.
        let value = |place: usize| unsafe { (!*is_null.add(place)).then(|| *values.add(place)) };
        let hashed = self.columns.iter().enumerate();
        // SAFETY: each value is of the type of its column.
        unsafe {
            self.filter(hashed.map(|(place, column)| (column.hash, column.collation, value(place + 1))))
        }
    }

    /// The filter of the rows that a scan looks for; `None` if its keys do not fix all further columns.
    ///
    /// # Safety
    /// The arguments of keys must be of the types that the operator classes declare.
    pub(super) unsafe fn of_keys(&self, keys: &[pg_sys::ScanKeyData]) -> Option<Filter> {
        let mut wanted = Vec::new();
        for (place, column) in (2..).zip(&self.columns) {
            let mut of_column = keys.iter().filter(|key| key.sk_attno == place);
            wanted.push(of_column.find_map(|key| column.wanted(key))?);
        }
        // SAFETY: the arguments are of these types, as the caller promises.
        unsafe { self.filter(wanted.into_iter()) }
    }

    /// The filter for values, each with its hash function and collation; `None` without further columns.
    ///
    /// # Safety
    /// Each value must be of the type of its hash function.
    unsafe fn filter(
        &self,
        values: impl Iterator<Item = (HashFunction, Oid, Option<Datum>)>,
    ) -> Option<Filter> {
        if self.columns.is_empty() {
            return None;
        }
        // SAFETY: the memory context is ours, and nothing in it is used any more.
        unsafe {
            pg_sys::MemoryContextReset(self.memory);
            PgMemoryContexts::For(self.memory).switch_to(|_| {
                let hash = values.fold(0, |seed, (hash, collation, value)| match value {
                    Some(value) => hash.hash(value, collation, seed),
                    None => scattered(seed),
                });
                Some(Filter::of_hash(hash as u32))
            })
        }
    }
}

impl FilterColumn {
    /// The value or NULL that a key fixes, with its hash function; `None` if the key fixes none.
    fn wanted(&self, key: &pg_sys::ScanKeyData) -> Option<(HashFunction, Oid, Option<Datum>)> {
        let flags = key.sk_flags as u32;
        if flags & pg_sys::SK_SEARCHNULL != 0 {
            return Some((self.hash, self.collation, None));
        }
        if flags & pg_sys::SK_SEARCHNOTNULL != 0 || key.sk_strategy as i16 != EQUAL {
            return None;
        }
        let is_of_column = key.sk_subtype == pg_sys::InvalidOid || key.sk_subtype == self.class_type;
        let hash = if is_of_column { Some(self.hash) } else { HashFunction::of(key.sk_subtype) };
        Some((hash?, self.collation, Some(key.sk_argument)))
    }
}

/// Whether values of a type can be hashed.
pub(super) fn can_be_hashed(type_: Oid) -> bool {
    HashFunction::of(type_).is_some()
}

/// Whether an operator is an equality that belongs to the hash function of the type: equal values have equal
/// hashes, also if the right argument has another type.
pub(super) fn is_hashed_equality(operator: Oid, type_: Oid) -> bool {
    // SAFETY: the function looks the type up.
    let entry =
        unsafe { &*pg_sys::lookup_type_cache(type_, pg_sys::TYPECACHE_HASH_EXTENDED_PROC_FINFO as i32) };
    can_be_hashed(type_) && is_in(operator, entry.hash_opf)
}

/// Whether the index can serve a key on a further column.
pub(super) fn is_known(index: OpenIndex<'_>, key: &pg_sys::ScanKeyData) -> bool {
    if key.sk_func.fn_oid == pg_sys::InvalidOid || key.sk_strategy as i16 != EQUAL {
        return true;
    }
    let place = key.sk_attno as usize - 1;
    let (family, type_) = (index.family(place), index.class_type(place));
    // The check of an exclusion constraint passes no type; the argument has the type of the column.
    let argument = if key.sk_subtype == pg_sys::InvalidOid { type_ } else { key.sk_subtype };
    operator_in(family, type_, argument, EQUAL).is_some_and(|operator| {
        function_of(operator) == key.sk_func.fn_oid && is_hashed_equality(operator, type_)
    })
}

//! The further columns of an index, such as a tenant. Their values are hashed together into a filter, by
//! which one of the trees is ordered.
//!
//! Values are hashed as PostgreSQL hashes them for partitions. Different values can have the same hash, so
//! conditions on further columns are tested again on the rows that are found.

use crate::pg::access_method::{IndexRow, ScanKey};
use crate::pg::catalog::families::{function_of, is_in, operator_in};
use crate::pg::catalog::strategy::EQUAL;
use crate::pg::error;
use crate::pg::hash_function::{HashFunction, hash_family_of};
use crate::pg::memory::OwnedMemory;
use crate::pg::open_index::{ColumnTypes, OpenIndex};
use crate::pg::report::UnwrapOrReport;
use crate::pg::value::Value;
use hamming::hash::scattered;
use hamming_index::key::Filter;
use pgrx::pg_sys::Oid;

/// A column of the index after the first.
#[derive(Clone, Copy)]
struct FilterColumn {
    /// The number of the column, counted from 0.
    column: usize,
    collation: Oid,
    hash: HashFunction,
}

/// A value of a further column, or NULL, with its hash function and collation.
struct HashedValue<'a> {
    value: Option<Value<'a>>,
    hash: HashFunction,
    collation: Oid,
}

/// The further columns of an index.
struct FurtherColumns {
    columns: Vec<FilterColumn>,
    types: ColumnTypes,
    /// For memory that hash functions leave behind.
    memory: OwnedMemory,
}

/// The further columns of an index; `None` if it has one column.
pub(super) struct FilterColumns(Option<FurtherColumns>);

impl FilterColumns {
    /// The further columns of an index. It is an error if a type cannot be hashed.
    pub(super) fn of(index: OpenIndex<'_>) -> Self {
        if index.columns() == 1 {
            return Self(None);
        }
        let types = ColumnTypes::of(index);
        let filter_column = |column| {
            let hash = HashFunction::of(types.of_column(index, column));
            let no_hash = || error::no_hash(index.name(), index.class_type(column));
            let hash = hash.ok_or_else(no_hash).unwrap_or_report();
            FilterColumn { column, collation: index.collation(column), hash }
        };
        let columns = (1..index.columns()).map(filter_column).collect();
        Self(Some(FurtherColumns { columns, types, memory: OwnedMemory::new(c"hashes of columns") }))
    }

    /// The filter of a row; `None` if there are no further columns.
    pub(super) fn of_row(&self, row: IndexRow<'_>) -> Option<Filter> {
        let further = self.0.as_ref()?;
        let hashed = |column: &FilterColumn| HashedValue {
            value: row.value_of(&further.types, column.column),
            hash: column.hash,
            collation: column.collation,
        };
        Some(further.filter(further.columns.iter().map(hashed)))
    }

    /// The filter of the rows that a scan looks for; `None` if its keys do not fix all further columns.
    pub(super) fn of_keys<'k>(&self, keys: impl Iterator<Item = ScanKey<'k>> + Clone) -> Option<Filter> {
        let further = self.0.as_ref()?;
        let mut wanted = Vec::new();
        for column in &further.columns {
            let mut of_column = keys.clone().filter(|key| key.column() == column.column);
            // Bounded: the columns of an index.
            wanted.push(of_column.find_map(|key| column.wanted(key, &further.types))?);
        }
        Some(further.filter(wanted.into_iter()))
    }
}

impl FurtherColumns {
    /// The filter for values.
    fn filter<'a>(&self, values: impl Iterator<Item = HashedValue<'a>>) -> Filter {
        let hash = values.fold(0, |seed, HashedValue { value, hash, collation }| match value {
            Some(value) => hash.hash(value, collation, seed, &self.memory),
            None => scattered(seed),
        });
        Filter::of_hash(hash as u32)
    }
}

impl FilterColumn {
    /// The value or NULL that a key fixes; `None` if the key fixes none.
    fn wanted<'k>(&self, key: ScanKey<'k>, types: &ColumnTypes) -> Option<HashedValue<'k>> {
        if key.is_null_test() {
            return Some(HashedValue { value: None, hash: self.hash, collation: self.collation });
        }
        if key.is_not_null_test() || key.strategy() != EQUAL {
            return None;
        }
        let value = key.operand_like_column(types)?;
        let is_of_column = value.type_() == types.type_of(self.column);
        let hash = if is_of_column { self.hash } else { HashFunction::of(value.type_())? };
        Some(HashedValue { value: Some(value), hash, collation: self.collation })
    }
}

/// Whether values of a type can be hashed.
pub(super) fn can_be_hashed(type_: Oid) -> bool {
    HashFunction::of(type_).is_some()
}

/// Whether an operator is an equality that belongs to the hash function of the type: equal values have equal
/// hashes, also if the right argument has another type.
pub(super) fn is_hashed_equality(operator: Oid, type_: Oid) -> bool {
    hash_family_of(type_).is_some_and(|family| is_in(operator, family))
}

/// Whether the index can serve a key on a further column.
pub(super) fn is_known(index: OpenIndex<'_>, key: ScanKey<'_>) -> bool {
    if key.function() == Oid::INVALID || key.strategy() != EQUAL {
        return true;
    }
    let family = index.family(key.column());
    let type_ = index.class_type(key.column());
    operator_in(family, type_, key.operand_type(), EQUAL).is_some_and(|operator| {
        function_of(operator) == key.function() && is_hashed_equality(operator, type_)
    })
}

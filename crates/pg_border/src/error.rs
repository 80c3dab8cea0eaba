//! Errors that only the PostgreSQL side can meet. Each has one constructor, with code, values and advice.
//!
//! Errors of algorithms are worded in `crates/`, as a [`Problem`](base::Problem); see
//! [`report`](super::report).

use super::encoding::{quoted, type_name};
use super::report::{SqlError, quote, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::{self, Oid};
use std::ffi::CStr;

/// The DETAIL of errors of operator classes that are not the extension's.
pub const FOREIGN_CLASS: &str = "The operator class or family differs from that of simhash_pg.";

/// A temporary file has not the bytes that were written to it.
pub fn temporary_file() -> SqlError {
    report(Code::ERRCODE_IO_ERROR, "could not read from temporary file")
        .set_detail("The file is shorter than what was written to it, or damaged.")
}

/// A temporary file is used although the statement that has written it has failed.
pub fn temporary_file_is_closed() -> SqlError {
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, "could not read from temporary file")
        .set_detail("The file was closed because its transaction or subtransaction has failed.")
}

/// The input function of a type whose values are only made by functions.
pub fn no_input(type_name: &str) -> SqlError {
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, format!("cannot accept a value of type {type_name}"))
}

/// An operator class has an operator of a strategy that the access method lacks.
pub fn unknown_strategy(strategy: i16) -> SqlError {
    let message = format!("unrecognized strategy number: {strategy}");
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message).set_detail(FOREIGN_CLASS)
}

/// An operator class that a hamming index cannot use for a column of this type.
pub fn operator_class(index: &CStr, type_: Oid, fault: &str) -> SqlError {
    let message = format!("operator class of index \"{}\" is not supported", quoted(index));
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message)
        .set_detail(format!("Access method hamming: {fault}."))
        .set_hint(match type_ {
            pg_sys::NUMERICOID => {
                "To index unsigned numbers of 64 bits, convert them: USING hamming (simhash_decode(number))."
            }
            pg_sys::BYTEAOID => {
                "To index the bits of a bytea, convert them and specify their number: USING hamming \
                 ((code_decode(encode(code, 'hex'))::bit(256)))."
            }
            pg_sys::UUIDOID => {
                "To index the bits of a uuid, convert them: USING hamming \
                 ((code_decode(replace(code::text, '-', ''))::bit(128)))."
            }
            _ => {
                "Put codes in the first column. To index a text, use its fingerprint: USING hamming \
                 (simhash(body))."
            }
        })
}

/// A further column of a hamming index has a type without a hash function.
pub fn no_hash(index: &CStr, type_: Oid) -> SqlError {
    let name = quoted(index);
    let type_ = type_name(type_);
    let message = format!("cannot filter by a column of type {type_} in index \"{name}\"");
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message)
        .set_detail("Columns after the first are stored as hashes, and the type has no hash function.")
        .set_hint(
            "Index an expression whose type has a default operator class for hash, such as column::text.",
        )
}

/// The DETAIL of errors about the length of an index's values.
const ONE_LENGTH: &str = "All values in a hamming index have the same length, which is that of their type.";

/// `column` is a column and its table, or `None` if the index is on an expression.
pub fn unknown_length(index: &CStr, column: Option<(String, String)>) -> SqlError {
    let message = format!("could not determine the bit length of index \"{}\"", quoted(index));
    let hint = column.map_or_else(
        || "Index an expression that has a length, such as (code::bit(256)).".to_owned(),
        |(table, column)| {
            format!(
                "Give the column a length, as in ALTER TABLE {table} ALTER COLUMN {column} TYPE bit(256), or \
                 index an expression, ({column}::bit(256)). SELECT length({column}) FROM {table} returns it."
            )
        },
    );
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message).set_detail(ONE_LENGTH).set_hint(hint)
}

/// An index on an expression was requested with trees of words.
pub fn words_of_expression(index: &CStr, bits: u32) -> SqlError {
    let message = format!("index \"{}\" on an expression cannot have trees of words", quoted(index));
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message)
        .set_detail(
            "A search of words would have to compute the expression for rows of the table, with the privileges of \
             whoever searches.",
        )
        .set_hint(format!(
            "Use trees = whole, or store the codes in a column, such as code bit({bits}) GENERATED ALWAYS AS (...) \
             STORED, and index the column."
        ))
}

/// `type_` is the type that the column had before.
pub fn lost_length(index: &CStr, type_: &str, column: Option<(String, String)>) -> SqlError {
    let message = format!("column of index \"{}\" no longer has type {type_}", quoted(index));
    let error = report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message).set_detail(ONE_LENGTH);
    match column {
        Some((table, column)) => {
            error.set_hint(format!("ALTER TABLE {table} ALTER COLUMN {column} TYPE {type_};"))
        }
        // PostgreSQL rebuilds an index on an expression when a type changes.
        None => error,
    }
}

/// A bit string of length zero was to be indexed.
pub fn cannot_index_empty() -> SqlError {
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, "cannot index an empty bit string")
}

/// A bit string has another length than those of an index.
pub fn other_length(bits: u32, others: u32) -> SqlError {
    let message = format!("bit string length {bits} does not match index of type bit({others})");
    report(Code::ERRCODE_STRING_DATA_LENGTH_MISMATCH, message)
        .set_detail("A distance is defined only between bit strings of the same length.")
        .set_hint(format!(
            "To change the length, drop the index, store codes of {bits} bits in all rows, and recreate it."
        ))
}

/// Two bit strings of different lengths were compared.
pub fn bits_differ_in_length(a: u32, b: u32) -> SqlError {
    report(Code::ERRCODE_STRING_DATA_LENGTH_MISMATCH, "cannot compare bit strings of different sizes")
        .set_detail(format!("The sizes are {a} and {b} bits."))
        .set_hint("A column of type bit(n) accepts only bit strings of length n.")
}

/// A relation was dropped, or never existed.
pub fn no_such_relation(relation: Oid) -> SqlError {
    report(Code::ERRCODE_UNDEFINED_TABLE, format!("relation with OID {} does not exist", relation.to_u32()))
}

/// A function was called with a relation that is no hamming index.
pub fn not_a_hamming_index(name: &CStr) -> SqlError {
    report(Code::ERRCODE_WRONG_OBJECT_TYPE, format!("\"{}\" is not a hamming index", quoted(name)))
        .set_hint("Use CREATE INDEX ... USING hamming to create such an index.")
}

/// A function was called with an index that has no pages of its own.
pub fn partitioned_index(name: &CStr) -> SqlError {
    let message = format!("cannot inspect index \"{}\"", quoted(name));
    report(Code::ERRCODE_WRONG_OBJECT_TYPE, message)
        .set_detail("This operation is not supported for partitioned indexes.")
        .set_hint("Use the indexes of its partitions: SELECT relid FROM pg_partition_tree(...) WHERE isleaf.")
}

/// A function was called with an index whose build has failed.
pub fn invalid_index(name: &CStr) -> SqlError {
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, format!("index \"{}\" is not valid", quoted(name)))
        .set_detail("The index build was not completed.")
        .set_hint("Use REINDEX to build it again.")
}

/// PostgreSQL's own message for queries is "cannot access temporary or unlogged relations during recovery".
pub fn unlogged_in_recovery(name: &CStr) -> SqlError {
    let message = format!("cannot access unlogged index \"{}\" during recovery", quoted(name));
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, message)
        .set_detail("The contents of unlogged relations are not replicated to standby servers.")
        .set_hint("Inspect the index on the primary server.")
}

/// An index is newer than the snapshot with which it was to be verified.
pub fn index_too_new() -> SqlError {
    let message = "index cannot be verified using this transaction snapshot";
    report(Code::ERRCODE_T_R_SERIALIZATION_FAILURE, message)
        .set_hint("Verify it in a READ COMMITTED transaction.")
}

/// A function was called with another session's temporary index.
pub fn other_session(name: &CStr) -> SqlError {
    let message = format!("cannot access temporary index \"{}\" of another session", quoted(name));
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, message)
}

/// A sketch contains NULL.
pub fn null_in_sketch() -> SqlError {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, "sketch must not contain nulls")
        .set_hint("Use array_remove(sketch, NULL).")
}

/// A column that has another type than it has to have.
pub fn column_type(column: &str, type_name: &str, expected: &str) -> SqlError {
    let message = format!("column \"{}\" has type {}, not {expected}", quote(column), quote(type_name));
    report(Code::ERRCODE_DATATYPE_MISMATCH, message)
}

/// A table has no column of this name.
pub fn no_such_column(column: &str, table: &str) -> SqlError {
    let message = format!("column \"{}\" of relation \"{}\" does not exist", quote(column), quote(table));
    report(Code::ERRCODE_UNDEFINED_COLUMN, message)
}

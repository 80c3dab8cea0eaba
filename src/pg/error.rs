//! Errors that only the Postgres side can meet: one constructor each, with code, values and advice.
//!
//! What an algorithm has to say it words itself, as a [`Problem`](limits::Problem); see [`report`](super::report).

use super::encoding::for_message;
use super::report::{SqlError, quote, report};
use pgrx::pg_sys;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use std::ffi::CStr;
use text::sketch::MAX_VALUES;

const FOREIGN_CLASS: &str = "Its operator class or family is not as simhash_pg has made it.";

pub(crate) fn no_json() -> SqlError {
    report(Code::ERRCODE_INTERNAL_ERROR, "explanation cannot be written as JSON")
}

pub(crate) fn no_order(type_name: &str) -> SqlError {
    report(Code::ERRCODE_UNDEFINED_FUNCTION, format!("keys of type {} have no order", quote(type_name)))
        .set_detail("The smaller key of a pair comes first, by the order of ORDER BY.")
        .set_hint("Cast the keys to a type with an order, such as text.")
}

pub(crate) fn no_such_table(table: pg_sys::Oid) -> SqlError {
    report(Code::ERRCODE_UNDEFINED_TABLE, format!("relation with OID {} does not exist", table.to_u32()))
}

pub(crate) fn no_such_column(column: &str, table: &str) -> SqlError {
    report(
        Code::ERRCODE_UNDEFINED_COLUMN,
        format!("column \"{}\" of relation \"{}\" does not exist", quote(column), quote(table)),
    )
}

pub(crate) fn not_a_code(column: &str, type_name: &str) -> SqlError {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("column \"{}\" has type {}, not bigint or bit", quote(column), quote(type_name)),
    )
    .set_hint("Name the column that has the fingerprints.")
}

pub(crate) fn not_a_text(column: &str, type_name: &str) -> SqlError {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("column \"{}\" has type {}, not text", quote(column), quote(type_name)),
    )
    .set_hint("Name the column that has the texts, or make a view with a column of type text.")
}

pub(crate) fn not_a_bigint(column: &str, type_name: &str) -> SqlError {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("column \"{}\" has type {}, not bigint", quote(column), quote(type_name)),
    )
    .set_hint("Name the column that has the fingerprints.")
}

pub(crate) fn set_not_accepted() -> SqlError {
    report(
        Code::ERRCODE_FEATURE_NOT_SUPPORTED,
        "set-valued function called in context that cannot accept a set",
    )
    .set_hint("Call it in FROM.")
}

pub(crate) fn weights_differ_in_number(features: usize, weights: usize) -> SqlError {
    let message = format!("{features} features have {weights} weights");
    report(Code::ERRCODE_ARRAY_ELEMENT_ERROR, message).set_detail("Each feature needs one weight.")
}

pub(crate) fn signatures_differ_in_length(a: usize, b: usize, purpose: &str) -> SqlError {
    report(Code::ERRCODE_ARRAY_ELEMENT_ERROR, format!("signatures of {a} and {b} values cannot be {purpose}"))
        .set_hint("Make both with the same number of hashes, or of bins.")
}

pub(crate) fn damaged_state() -> SqlError {
    report(Code::ERRCODE_INVALID_BINARY_REPRESENTATION, "state of simhash_agg is damaged")
}

pub(crate) fn ball_syntax(text: &str) -> SqlError {
    let message = format!("invalid input syntax for type hamming_ball: \"{}\"", quote(text));
    report(Code::ERRCODE_INVALID_TEXT_REPRESENTATION, message)
        .set_detail("A ball is written <center,radius>, with a bigint and an integer.")
        .set_hint("For example: '<42,6>'::hamming_ball, or hamming_ball(42, 6).")
}

pub(crate) fn bit_ball_syntax(text: &str) -> SqlError {
    let message = format!("invalid input syntax for type hamming_bit_ball: \"{}\"", quote(text));
    report(Code::ERRCODE_INVALID_TEXT_REPRESENTATION, message)
        .set_detail("A ball is written <center,radius>, with a string of bits and an integer.")
        .set_hint("For example: '<1010,1>'::hamming_bit_ball, or hamming_ball(B'1010', 1).")
}

pub(crate) fn no_input(type_name: &str) -> SqlError {
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, format!("cannot accept a value of type {type_name}"))
}

pub(crate) fn unknown_strategy(strategy: i16) -> SqlError {
    let message = format!("cannot search by an operator with strategy number {strategy}");
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message).set_detail(FOREIGN_CLASS)
}

pub(crate) fn operator_class(index: &CStr, fault: &str) -> SqlError {
    let name = for_message(index);
    let message = format!("cannot serve the operator class of index \"{}\"", quote(&name));
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message)
        .set_detail(format!("Access method hamming: {fault}."))
        .set_hint("Use hamming_ops for bigint, and hamming_bit_ops for bit.")
}

pub(crate) fn unknown_length(index: &CStr) -> SqlError {
    let name = for_message(index);
    let message = format!("cannot tell how many bits the values of index \"{}\" have", quote(&name));
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message)
        .set_detail(
            "All values of an index of type hamming have the same number of bits, which their type says.",
        )
        .set_hint("Declare the column as bit(256), or index an expression: (code::bit(256)).")
}

pub(crate) fn too_many_bits(bits: u32, most: u32) -> SqlError {
    let message = format!("cannot index strings of {bits} bits");
    report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message)
        .set_detail(format!("An index of type hamming takes strings of 1 to {most} bits."))
}

pub(crate) fn other_length(bits: u32, others: u32) -> SqlError {
    let message = format!("cannot add a string of {bits} bits to an index of strings of {others} bits");
    report(Code::ERRCODE_STRING_DATA_LENGTH_MISMATCH, message)
        .set_detail("A distance is defined between strings of the same length only.")
        .set_hint(format!(
            "To change the length, drop the index, give all rows codes of {bits} bits, and create it again."
        ))
}

pub(crate) fn gist_column(index: &CStr) -> SqlError {
    let name = for_message(index);
    let message = format!("cannot serve the operator class of a column of index \"{}\"", quote(&name));
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message)
        .set_detail(FOREIGN_CLASS)
        .set_hint("Use gist_hamming_ops for bigint, and gist_hamming_ball_ops for hamming_ball.")
}

pub(crate) fn corrupted_index(name: &CStr, block: u32, what: &str) -> SqlError {
    let name = for_message(name);
    report(
        Code::ERRCODE_INDEX_CORRUPTED,
        format!("index \"{}\" is damaged in block {block}: {what}", quote(&name)),
    )
    .set_hint("hamming_index_check lists all damage; REINDEX rebuilds the index.")
}

pub(crate) fn not_a_hamming_index(name: &CStr) -> SqlError {
    let name = for_message(name);
    report(Code::ERRCODE_WRONG_OBJECT_TYPE, format!("\"{}\" is not an index of type hamming", quote(&name)))
        .set_hint("Such an index is made by CREATE INDEX ... USING hamming.")
}

pub(crate) fn invalid_index(name: &CStr) -> SqlError {
    let name = for_message(name);
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, format!("index \"{}\" is not valid", quote(&name)))
        .set_detail("Building it was not completed.")
        .set_hint("REINDEX completes it.")
}

pub(crate) fn index_too_new() -> SqlError {
    report(
        Code::ERRCODE_T_R_SERIALIZATION_FAILURE,
        "rows cannot be looked up in an index that may be younger than the snapshot",
    )
    .set_hint("Check it in a transaction of isolation level READ COMMITTED.")
}

pub(crate) fn other_session(name: &CStr) -> SqlError {
    let name = for_message(name);
    let message = format!("cannot access temporary index \"{}\" of another session", quote(&name));
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, message)
}

pub(crate) fn temporary_file() -> SqlError {
    report(Code::ERRCODE_INTERNAL_ERROR, "a temporary file ended before its time")
        .set_detail("The build of the index wrote more to it than it could read back.")
}

pub(crate) fn null_in_sketch() -> SqlError {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, "sketch must not contain NULL")
        .set_hint("Use array_remove(sketch, NULL).")
}

pub(crate) fn not_a_sketch() -> SqlError {
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, "sketch is not an array of bigint")
        .set_detail(FOREIGN_CLASS)
}

pub(crate) fn sketch_too_large(values: usize) -> SqlError {
    let message = format!("sketch of {values} values is too large to compare");
    report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message)
        .set_detail(format!("Sketches have at most {} values.", MAX_VALUES))
}

/// Errors of queries that return the documents of a corpus.
pub(crate) mod corpus {
    use super::*;

    const EXAMPLE: &str = "For example: repeated_passages('SELECT id, body FROM document ORDER BY id').";

    pub(crate) fn not_a_query() -> SqlError {
        report(Code::ERRCODE_SYNTAX_ERROR, "the query of a corpus must be one SELECT").set_hint(EXAMPLE)
    }

    pub(crate) fn writes() -> SqlError {
        report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, "the query of a corpus must not write or lock rows")
            .set_hint(EXAMPLE)
    }

    pub(crate) fn columns(count: i32) -> SqlError {
        let message = format!("the query of a corpus must return 2 columns, not {count}");
        report(Code::ERRCODE_DATATYPE_MISMATCH, message)
            .set_detail("The first is the key of a document, the second its text.")
            .set_hint(EXAMPLE)
    }

    pub(crate) fn key_type(type_name: &str, expected: &str) -> SqlError {
        let (type_name, expected) = (quote(type_name), quote(expected));
        report(
            Code::ERRCODE_DATATYPE_MISMATCH,
            format!("keys of documents have type {type_name}, not {expected}"),
        )
        .set_hint(format!("Name the type: repeated_passages(query, 100, NULL::{type_name})."))
    }

    pub(crate) fn text_type(type_name: &str) -> SqlError {
        let message = format!("the second column of a corpus has type {}, not text", quote(type_name));
        report(Code::ERRCODE_DATATYPE_MISMATCH, message).set_hint("Cast it to text.")
    }

    pub(crate) fn null_key() -> SqlError {
        report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, "the key of a document must not be NULL")
            .set_hint("Leave these rows out of the query.")
    }
}

/// Errors of `simhash_trigger`. The row is not written.
pub(crate) mod trigger {
    use super::*;

    const EXAMPLE: &str = "CREATE TRIGGER fingerprint BEFORE INSERT OR UPDATE ON document \
        FOR EACH ROW EXECUTE FUNCTION simhash_trigger('si', 'title', 'body');";

    pub(crate) fn not_a_trigger_call() -> SqlError {
        misfired("simhash_trigger must be called by a trigger")
    }

    pub(crate) fn not_for_each_row() -> SqlError {
        misfired("simhash_trigger must be fired FOR EACH ROW")
    }

    pub(crate) fn not_before() -> SqlError {
        misfired("simhash_trigger must be fired BEFORE the row is written")
    }

    pub(crate) fn not_insert_or_update() -> SqlError {
        misfired("simhash_trigger must be fired by INSERT or UPDATE")
    }

    pub(crate) fn too_few_arguments(given: usize) -> SqlError {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("simhash_trigger needs a target column and at least one text column, got {given} names"),
        )
        .set_hint(EXAMPLE)
    }

    pub(crate) fn second_scheme(argument: &str) -> SqlError {
        report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("simhash_trigger has a second scheme: \"{}\"", quote(argument)),
        )
        .set_hint("Give one scheme, or none for the default.")
    }

    pub(crate) fn no_such_column(column: &str, table: &str) -> SqlError {
        super::no_such_column(column, table)
            .set_detail("simhash_trigger was told to use it.")
            .set_hint("Names are taken as written in the trigger's arguments, with upper and lower case.")
    }

    pub(crate) fn target_type(column: &str, type_name: &str) -> SqlError {
        not_a_bigint(column, type_name)
            .set_detail(
                "The first argument of simhash_trigger names the column that receives the fingerprint.",
            )
            .set_hint(EXAMPLE)
    }

    pub(crate) fn source_type(column: &str, type_name: &str) -> SqlError {
        report(
            Code::ERRCODE_DATATYPE_MISMATCH,
            format!("column \"{}\" has type {}, not text", quote(column), quote(type_name)),
        )
        .set_hint(
            "For a column of another type use a generated column with simhash(column::text), \
            if that cast is immutable.",
        )
    }

    pub(crate) fn generated_target(column: &str) -> SqlError {
        report(
            Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
            format!("simhash_trigger cannot set generated column \"{}\"", quote(column)),
        )
        .set_hint("Name a plain bigint column, or drop the trigger if the column is generated from simhash.")
    }

    pub(crate) fn generated_column(column: &str) -> SqlError {
        report(
            Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
            format!("simhash_trigger cannot use generated column \"{}\"", quote(column)),
        )
        .set_detail("Generated columns are computed after BEFORE triggers have run.")
        .set_hint("Name the columns that it is generated from.")
    }

    fn misfired(message: &'static str) -> SqlError {
        report(Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, message).set_hint(EXAMPLE)
    }
}

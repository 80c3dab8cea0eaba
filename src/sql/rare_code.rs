//! `sql/rare_code.sql`: makes a function that returns the code of a text, with the weights of a table's
//! texts.
//!
//! The weights are a constant in the body of the function. So the function is IMMUTABLE, generated columns
//! and indexes can use it, and dumps and subscribers have the same weights. All statements run with the
//! rights of the caller. They call nothing that the owner of the table could have written, apart from what a
//! SELECT of the texts runs as well.
//!
//! The function is written in PL/pgSQL, because each plan and each EXPLAIN would contain the weights if it
//! were inlined. A function in SQL that PostgreSQL cannot inline starts its executor for each text, and
//! parses its weights for each statement; PL/pgSQL evaluates the expression directly, and parses it once in
//! a session. Such a body names our function, on which the created one would not depend. So the latter
//! returns a domain of the extension, on which it does depend. The domain also tells the planner the number
//! of bits, since the result of a function has no type modifier of its own.

use super::rarity::no_texts;
use crate::pg::call::{Call, pg_functions};
use crate::pg::encoding::for_message;
use crate::pg::query::code_column::{literal, quoted, table_and_text};
use crate::pg::query::{prevent_if_read_only, run};
use crate::pg::report::{SqlError, quote, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::{Datum, Oid};
use std::ffi::CStr;

pg_functions!(create_rare_code);

/// The schema of new functions, if the caller may not create a function there; empty if there is none.
const MAY_NOT_CREATE: &[u8] = b"SELECT pg_catalog.concat(schema) FROM pg_catalog.current_schema() AS schema
    WHERE pg_catalog.has_schema_privilege(schema, 'CREATE') IS NOT TRUE";

/// A row if the caller may not create functions in the language; an error if there is no such language.
const MAY_NOT_USE_LANGUAGE: &[u8] =
    b"SELECT 1 WHERE pg_catalog.has_language_privilege('plpgsql'::pg_catalog.text, 'USAGE'::pg_catalog.text) IS NOT TRUE";

/// Makes the function, and returns it.
fn create_rare_code(name: &CStr, relation: Oid, column: &CStr, call: Call) -> Result<Datum, SqlError> {
    let schema = quoted(call.schema());
    let (table, body) = table_and_text(relation, column)?;
    let signature = [
        b"pg_catalog.format('%I.%I(pg_catalog.text)', pg_catalog.current_schema(), ",
        literal(name).to_bytes(),
        b"::pg_catalog.text)",
    ]
    .concat(); // Bounded: a name.
    // Otherwise the errors would quote the statement with its weights.
    prevent_if_read_only(c"create_rare_code()");
    check_rights()?;
    let find: [&[u8]; 3] = [b"SELECT pg_catalog.to_regprocedure(", &signature, b")::pg_catalog.oid"];
    if run(&find)?.is_some() {
        return Err(already_exists(name));
    }
    if !has_features(&schema, &table, &body)? {
        return Err(no_texts());
    }
    let statements = run(&[
        b"SELECT pg_catalog.format('CREATE FUNCTION %1$s RETURNS %2$s.rare_code
            LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 5000 AS %3$L; COMMENT ON FUNCTION %1$s IS %4$L', ",
        &signature,
        b", ",
        literal(&schema).to_bytes(),
        b", pg_catalog.format('BEGIN RETURN %s.rare_code($1, pg_catalog.decode(%L, ''base64'')); END', ",
        literal(&schema).to_bytes(),
        b", pg_catalog.encode(weights, 'base64')), pg_catalog.format('code of rare pairs of words, with the weights of %s texts of %s, %s',
            texts, ",
        literal(&table).to_bytes(),
        b", pg_catalog.to_char(pg_catalog.now(), 'YYYY-MM-DD'))) FROM (SELECT ",
        schema.to_bytes(),
        b".feature_weights(body, 'word:2'::pg_catalog.text) AS weights, pg_catalog.count(body) AS texts
            FROM (SELECT ",
        body.to_bytes(),
        b"::pg_catalog.text AS body FROM ",
        table.to_bytes(),
        b" WHERE pg_catalog.random() OPERATOR(pg_catalog.*) (SELECT pg_catalog.count(*) FROM ",
        table.to_bytes(),
        b")::pg_catalog.float8 OPERATOR(pg_catalog.<) 20000) AS sample) AS learned",
    ])?;
    run(&[statements.unwrap_or_default().to_bytes()])?;
    let function = run(&find)?.and_then(|oid| oid.to_str().ok()?.parse::<u32>().ok());
    Ok(Oid::from(function.unwrap_or_default()).into())
}

/// Raises an error if the caller may not create the function.
fn check_rights() -> Result<(), SqlError> {
    if let Some(schema) = run(&[MAY_NOT_CREATE])? {
        return Err(may_not_create(&schema));
    }
    match run(&[MAY_NOT_USE_LANGUAGE])? {
        Some(_) => Err(may_not_use_language()),
        None => Ok(()),
    }
}

/// Whether a text has features. If none has, `feature_weights` raises an error, which would quote the
/// statement that calls it.
fn has_features(schema: &CStr, table: &CStr, body: &CStr) -> Result<bool, SqlError> {
    let query: [&[u8]; 7] = [
        b"SELECT 1 FROM ",
        table.to_bytes(),
        b" WHERE ",
        schema.to_bytes(),
        b".simhash(",
        body.to_bytes(),
        b"::pg_catalog.text, 'word:2'::pg_catalog.text) IS NOT NULL LIMIT 1",
    ];
    Ok(run(&query)?.is_some())
}

fn already_exists(name: &CStr) -> SqlError {
    let name = quote(&for_message(name));
    let message = format!("function \"{name}\" already exists with same argument types");
    report(Code::ERRCODE_DUPLICATE_FUNCTION, message)
        .set_detail(
            "Stored codes have the weights of this function. Codes of other weights cannot be compared.",
        )
        .set_hint("Use another name, and store the new codes in a second column.")
}

fn may_not_create(schema: &CStr) -> SqlError {
    if schema.is_empty() {
        return report(Code::ERRCODE_INVALID_SCHEMA_NAME, "no schema has been selected to create in");
    }
    let message = format!("permission denied for schema {}", quote(&for_message(schema)));
    report(Code::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
        .set_detail("The function is created in the first schema of the search path.")
}

fn may_not_use_language() -> SqlError {
    report(Code::ERRCODE_INSUFFICIENT_PRIVILEGE, "permission denied for language plpgsql")
        .set_detail("The function is created in this language.")
}

//! Errors of living clusters.

use super::definition::Definition;
use crate::pg::report::{SqlError, quote, report};
use hamming::clusters::Linkage;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;

const EXAMPLE: &str = "SELECT near_clusters_create('story', key => 'id', code => 'si', radius => 6);";

pub(super) fn not_owner(table: &str) -> SqlError {
    report(Code::ERRCODE_INSUFFICIENT_PRIVILEGE, format!("must be owner of table {}", quote(table)))
}

pub(super) fn no_clusters(table: &str) -> SqlError {
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("table \"{}\" has no living clusters", quote(table)),
    )
    .set_hint(EXAMPLE)
}

pub(super) fn has_clusters(table: &str, clusters: &str) -> SqlError {
    report(
        Code::ERRCODE_DUPLICATE_OBJECT,
        format!("table \"{}\" has living clusters in \"{}\"", quote(table), quote(clusters)),
    )
    .set_hint(format!("To set them up differently: DROP TABLE {};", quote(clusters)))
}

pub(super) fn table_is_gone(table: &str, clusters: &str) -> SqlError {
    report(
        Code::ERRCODE_UNDEFINED_TABLE,
        format!(
            "table \"{}\" has its clusters in \"{}\", which does not exist",
            quote(table),
            quote(clusters)
        ),
    )
    .set_detail("The tables of clusters and changes are in the schema of the table, and keep their names.")
    .set_hint(format!(
        "To have no clusters any more: DROP TRIGGER near_clusters_rows ON {0}; \
        DROP TRIGGER near_clusters_truncate ON {0};",
        quote(table)
    ))
}

pub(super) fn part_is_gone(table: &str, clusters: &str, part: &str) -> SqlError {
    report(
        Code::ERRCODE_UNDEFINED_TABLE,
        format!("table \"{}\" has living clusters, but \"{}\" does not exist", quote(table), quote(part)),
    )
    .set_detail(format!("It was made together with \"{}\".", quote(clusters)))
    .set_hint(format!("To set them up again: DROP TABLE {};", quote(clusters)))
}

pub(super) fn key_is_gone(table: &str, clusters: &str, key: &str) -> SqlError {
    report(
        Code::ERRCODE_UNDEFINED_COLUMN,
        format!("table \"{}\" has no column \"{}\", the key of its clusters", quote(table), quote(key)),
    )
    .set_detail("Changes are noted by the name of the key.")
    .set_hint(format!(
        "Give the column its name back, or remove the clusters: DROP TABLE {};",
        quote(clusters)
    ))
}

pub(super) fn old_snapshot() -> SqlError {
    report(
        Code::ERRCODE_ACTIVE_SQL_TRANSACTION,
        "near_clusters_refresh must run at isolation level READ COMMITTED",
    )
    .set_detail(
        "At a higher level, it would not see what another refresh has done since the transaction began.",
    )
    .set_hint("BEGIN ISOLATION LEVEL READ COMMITTED;")
}

pub(super) fn other_persistence(table: &str, tables: &[String], logged: bool) -> SqlError {
    let (is, set) = if logged { ("logged", "LOGGED") } else { ("unlogged", "UNLOGGED") };
    let alter = |name: &String| format!("ALTER TABLE {} SET {set};", quote(name));
    report(
        Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("table \"{}\" is {is}, but its clusters are not", quote(table)),
    )
    .set_detail("A crash empties unlogged tables alone, so that clusters would be those of other rows.")
    .set_hint(format!(
        "{} SELECT near_clusters_refresh('{}', everything => true);",
        tables.iter().map(alter).collect::<Vec<_>>().join(" "),
        quote(table)
    ))
}

pub(super) fn not_a_table(table: &str) -> SqlError {
    report(
        Code::ERRCODE_WRONG_OBJECT_TYPE,
        format!("\"{}\" is not an ordinary table", quote(table)),
    )
    .set_detail("Clusters live next to an ordinary table, which is not partitioned, not temporary and not foreign.")
    .set_hint("Of a partitioned table, set them up for each partition.")
}

pub(super) fn key_not_unique(column: &str) -> SqlError {
    report(
        Code::ERRCODE_INVALID_COLUMN_REFERENCE,
        format!("key \"{}\" is not known to be unique and not NULL", quote(column)),
    )
    .set_hint("Name the primary key, or a column that is NOT NULL and has a unique index.")
}

pub(super) fn array_key(column: &str, type_: &str) -> SqlError {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("key \"{}\" has type {}, an array", quote(column), quote(type_)),
    )
    .set_hint("Name a column of another type, which is NOT NULL and has a unique index.")
}

pub(super) fn reserved_key(column: &str) -> SqlError {
    report(Code::ERRCODE_DUPLICATE_COLUMN, format!("a key cannot be called \"{}\" here", quote(column)))
        .set_detail("The table of clusters, or a refresh, has a column of that name.")
        .set_hint("Rename the column, or name another unique one.")
}

pub(super) fn null_argument(name: &str) -> SqlError {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, format!("{name} must not be NULL")).set_hint(EXAMPLE)
}

pub(super) fn half_a_look() -> SqlError {
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, "look and look_radius must be given together")
        .set_hint("For example: look => 'look', look_radius => 70.")
}

pub(super) fn unknown_argument(argument: &str) -> SqlError {
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("near_clusters_trigger does not know the argument \"{}\"", quote(argument)),
    )
    .set_hint("near_clusters_create makes the triggers.")
}

pub(super) fn missing_arguments() -> SqlError {
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        "near_clusters_trigger needs the arguments table, key, radius and linkage",
    )
    .set_hint("near_clusters_create makes the triggers.")
}

pub(super) fn misfired() -> SqlError {
    report(
        Code::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        "near_clusters_trigger must be fired AFTER each row, or AFTER TRUNCATE",
    )
    .set_hint("near_clusters_create makes the triggers.")
}

pub(super) fn no_changes(table: &str, changes: &str) -> SqlError {
    report(
        Code::ERRCODE_UNDEFINED_TABLE,
        format!("changes of table \"{}\" cannot be noted in \"{}\"", quote(table), quote(changes)),
    )
    .set_detail(
        "It must have the owner of the table, and one column, the key, as near_clusters_create has made it.",
    )
    .set_hint(format!(
        "To have no clusters any more: DROP TRIGGER near_clusters_rows ON {0}; \
        DROP TRIGGER near_clusters_truncate ON {0};",
        quote(table)
    ))
}

pub(super) fn other_key_type(given: &str, key: &str) -> SqlError {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("clusters have keys of type {}, not {}", quote(key), quote(given)),
    )
    .set_hint(format!("Name the type: near_cluster_of('story', $1, key => NULL::{}).", quote(key)))
}

pub(super) fn other_code_type(given: &str, code: &str) -> SqlError {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("clusters have codes of type {}, not {}", quote(code), quote(given)),
    )
    .set_hint("Cast the code to the type of the column.")
}

pub(super) fn other_tenants(given: usize, columns: usize) -> SqlError {
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("within has {given} values, but clusters are within {columns} columns"),
    )
    .set_hint("For example: near_cluster_of('story', $1, within => ARRAY['7']).")
}

pub(super) fn large_cluster(keeper: &str, members: i64, rows: i64, definition: &Definition) -> SqlError {
    let radius = definition.radius;
    report(Code::ERRCODE_WARNING, format!("the cluster of {keeper} holds {members} of {rows} rows"))
        .set_detail(match definition.linkage {
            Linkage::Leader => format!("All of them are within {radius} bits of it."),
            Linkage::Connected => format!("Chains of rows within {radius} bits of each other lead to it."),
        })
        .set_hint(
            "Choose a smaller radius: hamming_histogram advises one. Or compare a second code: look => ….",
        )
}

pub(super) fn look_is_bigint(column: &str) -> SqlError {
    report(
        Code::ERRCODE_DATATYPE_MISMATCH,
        format!("second code \"{}\" has type bigint, not bit", quote(column)),
    )
    .set_hint("Name a column of type bit(n), such as one GENERATED ALWAYS AS (si::bit(64)) STORED.")
}

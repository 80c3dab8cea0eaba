//! `sql/passage.sql`: passages that occur more than once.

use crate::pg::call::{Call, Utf8, pg_functions};
use crate::pg::datum::KeptValues;
use crate::pg::encoding;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::progress::Reporter;
use crate::pg::query::corpus::{each_keyed_text, null_key};
use crate::pg::report::SqlError;
use crate::pg::result_set::ResultSet;
use crate::pg::settings::setting;
use base::{Problem, ProblemKind};
use pgrx::{IntoDatum, pg_sys};
use text::passage::headline::{self, HeadlineOptions};
use text::passage::recursive::{self, RecursiveShingler};
use text::passage::repeats::{self, Corpus, Repeat};
use text::passage::{self, MIN_LENGTH};

pg_functions!(
    shared_passages,
    passage_headline,
    repeated_passages,
    repeated_passages_of_keys,
    recursive_shingles,
    passage_sketch
);

/// Returns a row for each passage: its positions in both texts, its length, and its text.
fn shared_passages(a: Utf8<'_>, b: Utf8<'_>, min_length: i32, mut rows: ResultSet) -> Result<(), SqlError> {
    let min_length = MIN_LENGTH.of(min_length)?;
    for passage in passage::shared_passages(&a, &b, min_length, &mut check_for_interrupts)? {
        check_for_interrupts();
        let values = [
            sql_position(passage.a_position).into_datum(),
            sql_position(passage.b_position).into_datum(),
            (passage.length as i32).into_datum(),
            None,
        ];
        // Passages that overlap may be longer than both texts.
        rows.put_with_value(values, &encoding::to_database(encoding::copy(passage.text)?)?);
    }
    Ok(())
}

fn passage_headline(
    doc: Utf8<'_>,
    other: Utf8<'_>,
    min_length: i32,
    options: Utf8<'_>,
) -> Result<String, SqlError> {
    let min_length = MIN_LENGTH.of(min_length)?;
    let options = HeadlineOptions::parse(&options)?;
    Ok(headline::headline(&doc, &other, min_length, &options, &mut check_for_interrupts)?)
}

fn repeated_passages(query: &[u8], min_length: i32, rows: ResultSet) -> Result<(), SqlError> {
    put_repeats(rows, query, min_length, pg_sys::INT8OID)
}

/// The argument of [`repeated_passages_of_keys`] that has the type of the keys.
const KEY: usize = 2;

fn repeated_passages_of_keys(
    query: Option<&[u8]>,
    min_length: Option<i32>,
    call: Call,
    rows: ResultSet,
) -> Result<(), SqlError> {
    let key_type = call.argument_type(KEY);
    match (query, min_length) {
        (Some(query), Some(min_length)) => put_repeats(rows, query, min_length, key_type),
        _ => Ok(()),
    }
}

fn put_repeats(
    mut rows: ResultSet,
    query: &[u8],
    min_length: i32,
    key_type: pg_sys::Oid,
) -> Result<(), SqlError> {
    let (corpus, keys) = read_corpus(query, min_length, key_type)?;
    let mut reporter = Reporter::of("repeated_passages", format!("{} MB", corpus.bytes() >> 20));
    let mut put = |row: Repeat| {
        check_for_interrupts();
        rows.put([
            Some(keys.get(row.document)),
            sql_position(row.position).into_datum(),
            (row.length as i32).into_datum(),
            Some(keys.get(row.first_document)),
            sql_position(row.first_position).into_datum(),
        ]);
    };
    corpus.repeats(&mut reporter, &mut put).map_err(corpus_problem)?;
    reporter.end();
    Ok(())
}

/// Runs the query. Returns its texts as a corpus, and their keys.
fn read_corpus(
    query: &[u8],
    min_length: i32,
    key_type: pg_sys::Oid,
) -> Result<(Corpus, KeptValues), SqlError> {
    let min_length = repeats::MIN_LENGTH.of(min_length)?;
    let max_memory = setting!(maintenance_work_mem) as usize * 1024;
    let mut corpus = Corpus::new(min_length, max_memory).map_err(corpus_problem)?;
    let mut keys = KeptValues::new(key_type);
    let mut reporter = Reporter::of("repeated_passages", String::new());
    each_keyed_text(query, key_type, |key, text| {
        check_for_interrupts();
        let key = key.ok_or_else(null_key)?;
        let Some(text) = text else { return Ok(()) };
        let beside = keys.push(key)?;
        corpus.push(&encoding::to_utf8(text)?, beside).map_err(corpus_problem)?;
        reporter.tell(|_| format!("{} MB read", corpus.bytes() >> 20));
        Ok(())
    })?;
    Ok((corpus, keys))
}

/// The error for a problem with a corpus. If it is the limit of memory, the hint says how to raise it.
fn corpus_problem(problem: Problem) -> SqlError {
    let is_limit = problem.kind == ProblemKind::TooLarge;
    let error = SqlError::from(problem);
    if !is_limit {
        return error;
    }
    error.set_hint(
        "Increase maintenance_work_mem, or process fewer texts at a time. With min_length 100, two or three bytes are \
        needed for each byte of text; a smaller min_length needs more.",
    )
}

/// Returns a row for each shingle: its level, hash, position and length.
fn recursive_shingles(
    doc: Utf8<'_>,
    min_level: i32,
    max_level: i32,
    mut rows: ResultSet,
) -> Result<(), SqlError> {
    let levels = recursive::levels(min_level, max_level)?;
    let mut shingler = RecursiveShingler::new(levels, doc.chars().count(), &mut check_for_interrupts)?;
    shingler.add(doc.chars().map(u64::from), &mut |shingle| {
        check_for_interrupts();
        rows.put([
            (shingle.level as i32).into_datum(),
            (shingle.hash as i64).into_datum(),
            sql_position(shingle.position).into_datum(),
            (shingle.length as i32).into_datum(),
        ]);
    });
    Ok(())
}

fn passage_sketch(doc: Utf8<'_>, min_length: i32) -> Result<Vec<i64>, SqlError> {
    let level = usize::try_from(min_length).ok().and_then(recursive::level_for);
    let level = level.ok_or_else(|| recursive::no_level(min_length))?;
    Ok(passage::passage_sketch(&doc, level, &mut check_for_interrupts)?)
}

/// A position as `substr` counts it, from 1. It fits, since a text has less than 2^30 characters.
fn sql_position(position: usize) -> i32 {
    position as i32 + 1
}

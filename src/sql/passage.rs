//! `sql/passage.sql`: passages that occur more than once.

use crate::pg::array::Numbers;
use crate::pg::datum::KeptValues;
use crate::pg::encoding;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::progress::Reporter;
use crate::pg::query::corpus::{KeyedText, each_keyed_text, null_key};
use crate::pg::report::{self, SqlError};
use crate::pg::result_set::ResultSet;
use crate::pg::settings::setting;
use base::{Problem, ProblemKind, collect, grow_queue};
use pgrx::iter::TableIterator;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{AnyElement, IntoDatum, pg_extern, pg_sys};
use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};
use text::passage::headline::{self, HeadlineOptions};
use text::passage::recursive::{self, RecursiveShingler, Shingle};
use text::passage::repeats::{self, Corpus, Repeat};
use text::passage::{self, MIN_LENGTH};

/// The number of characters that are added to the shingler at once.
const CHUNK: usize = 1 << 10;

/// Returns a row for each passage: its positions in both texts, its length, and its text.
#[pg_extern(sql = false)]
#[expect(clippy::type_complexity, reason = "a row")]
fn shared_passages(
    a: &[u8],
    b: &[u8],
    min_length: i32,
) -> Result<TableIterator<'static, (i32, i32, i32, Vec<u8>)>, SqlError> {
    let (a, b) = (encoding::to_utf8(a)?, encoding::to_utf8(b)?);
    let min_length = MIN_LENGTH.of(min_length).map_err(report::problem)?;
    let found = passage::shared_passages(&a, &b, min_length, &mut check_for_interrupts);
    let found = found.map_err(report::problem)?;
    let count = found.len();
    let rows = found.into_iter().map(|passage| {
        let bytes = passage.byte..passage.byte + passage.text.len();
        (passage.a_position, passage.b_position, passage.length, bytes)
    });
    let found: Vec<(usize, usize, usize, Range<usize>)> = collect(rows, count).map_err(report::problem)?;
    // A passage is copied when its row is requested.
    let b = encoding::copy(&b)?;
    Ok(TableIterator::new(found.into_iter().map(move |(in_a, in_b, length, bytes)| {
        let passage = encoding::copy(&b[bytes]).and_then(encoding::to_database).unwrap_or_report();
        (sql_position(in_a), sql_position(in_b), length as i32, passage)
    })))
}

#[pg_extern(sql = false)]
fn passage_headline(doc: &[u8], other: &[u8], min_length: i32, options: &[u8]) -> Result<Vec<u8>, SqlError> {
    let (doc, other, options) =
        (encoding::to_utf8(doc)?, encoding::to_utf8(other)?, encoding::to_utf8(options)?);
    let min_length = MIN_LENGTH.of(min_length).map_err(report::problem)?;
    let options = HeadlineOptions::parse(&options).map_err(report::problem)?;
    let headline = headline::headline(&doc, &other, min_length, &options, &mut check_for_interrupts);
    encoding::to_database(headline.map_err(report::problem)?)
}

#[pg_extern(sql = false)]
fn repeated_passages(query: &[u8], min_length: i32, call: pg_sys::FunctionCallInfo) -> Result<(), SqlError> {
    // SAFETY: `sql/passage.sql` declares that the function returns such rows.
    let rows = unsafe { ResultSet::of(call) }?;
    put_repeats(rows, query, min_length, pg_sys::INT8OID)
}

#[pg_extern(sql = false)]
fn repeated_passages_of_keys(
    query: Option<&[u8]>,
    min_length: Option<i32>,
    _key: Option<AnyElement>,
    call: pg_sys::FunctionCallInfo,
) -> Result<(), SqlError> {
    // SAFETY: `sql/passage.sql` declares such rows as the result, and the key as the third argument.
    let (rows, key_type) = unsafe { (ResultSet::of(call)?, pg_sys::get_fn_expr_argtype((*call).flinfo, 2)) };
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
    let min_length = repeats::MIN_LENGTH.of(min_length).map_err(report::problem)?;
    let max_memory = setting!(maintenance_work_mem) as usize * 1024;
    let mut corpus = Corpus::new(min_length, max_memory).map_err(corpus_problem)?;
    let mut keys = KeptValues::new(key_type);
    let mut reporter = Reporter::of("repeated_passages", String::new());
    each_keyed_text(query, key_type, |KeyedText { key, text }| {
        check_for_interrupts();
        let key = key.ok_or_else(null_key)?;
        let Some(text) = text else { return Ok(()) };
        // SAFETY: the first column of the query was checked to be of this type.
        let beside = unsafe { keys.push(key) }.map_err(report::problem)?;
        corpus.push(&encoding::to_utf8(text)?, beside).map_err(corpus_problem)?;
        reporter.tell(|_| format!("{} MB read", corpus.bytes() >> 20));
        Ok(())
    })?;
    Ok((corpus, keys))
}

/// The error for a problem with a corpus. If it is the limit of memory, the hint says how to raise it.
fn corpus_problem(problem: Problem) -> SqlError {
    let is_limit = problem.kind == ProblemKind::TooLarge;
    let error = report::problem(problem);
    if !is_limit {
        return error;
    }
    error.set_hint(
        "Raise maintenance_work_mem, which is the limit: at min_length 100, two or three bytes are needed for each byte \
        of text, and more at a smaller one. Or take a part of the texts.",
    )
}

/// Returns a row for each shingle: its level, hash, position and length.
#[pg_extern(sql = false)]
fn recursive_shingles(
    doc: &[u8],
    min_level: i32,
    max_level: i32,
) -> Result<TableIterator<'static, (i32, i64, i32, i32)>, SqlError> {
    let doc = encoding::to_utf8(doc)?;
    let rows = Shingles {
        shingler: shingler(&doc, recursive::levels(min_level, max_level))?,
        rest: encoding::copy(&doc)?,
        read: 0,
        ready: VecDeque::new(),
    };
    Ok(TableIterator::new(rows.map(|shingle| {
        let position = sql_position(shingle.position);
        (shingle.level as i32, shingle.hash as i64, position, shingle.length as i32)
    })))
}

#[pg_extern(sql = false)]
fn passage_sketch(doc: &[u8], min_length: i32) -> Result<Numbers<i64>, SqlError> {
    let level = usize::try_from(min_length).ok().and_then(recursive::level_for);
    let level = level.ok_or_else(|| report::problem(recursive::no_level(min_length)))?;
    let doc = encoding::to_utf8(doc)?;
    passage::passage_sketch(&doc, level, &mut check_for_interrupts).map(Numbers).map_err(report::problem)
}

fn shingler(doc: &str, levels: Result<RangeInclusive<u32>, Problem>) -> Result<RecursiveShingler, SqlError> {
    levels
        .and_then(|levels| RecursiveShingler::new(levels, doc.chars().count(), &mut check_for_interrupts))
        .map_err(report::problem)
}

/// A position as `substr` counts it, from 1. It fits, since a text has less than 2^30 characters.
fn sql_position(position: usize) -> i32 {
    position as i32 + 1
}

/// An iterator that shingles a text while its rows are requested.
struct Shingles {
    shingler: RecursiveShingler,
    rest: String,
    /// The number of bytes of `rest` that were shingled.
    read: usize,
    ready: VecDeque<Shingle>,
}

impl Iterator for Shingles {
    type Item = Shingle;

    fn next(&mut self) -> Option<Shingle> {
        while self.ready.is_empty() && self.read < self.rest.len() {
            check_for_interrupts();
            let rest = &self.rest[self.read..];
            let chunk = &rest[..rest.floor_char_boundary(CHUNK)];
            // A character ends three shingles of all levels on average, and four in some places.
            grow_queue(&mut self.ready, 5 * CHUNK).map_err(report::problem).unwrap_or_report();
            let ready = &mut self.ready;
            self.shingler.add(chunk.chars().map(u64::from), &mut |shingle| ready.push_back(shingle));
            self.read += chunk.len();
        }
        self.ready.pop_front()
    }
}

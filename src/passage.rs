//! `sql/passage.sql`: text that comes twice.

use crate::pg::array::Numbers;
use crate::pg::encoding;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use limits::Problem;
use pgrx::iter::TableIterator;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{name, pg_extern};
use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};
use text::passage::recursive::{self, RecursiveShingler, Shingle};
use text::passage::{self, MIN_LENGTH};

/// Characters that are cut into shingles in one go.
const CHUNK: usize = 1 << 10;

#[pg_extern(sql = false)]
#[expect(clippy::type_complexity, reason = "a row")]
fn shared_passages(
    a: &[u8],
    b: &[u8],
    min_length: i32,
) -> Result<
    TableIterator<'static, (name!(a_pos, i32), name!(b_pos, i32), name!(len, i32), name!(passage, Vec<u8>))>,
    SqlError,
> {
    let (a, b) = (encoding::to_utf8(a)?, encoding::to_utf8(b)?);
    let min_length = MIN_LENGTH.of(min_length).map_err(report::problem)?;
    let found = passage::shared_passages(&a, &b, min_length, &mut check_for_interrupts);
    let found: Vec<(usize, usize, usize, Range<usize>)> = found
        .map_err(report::problem)?
        .into_iter()
        .map(|passage| {
            let bytes = passage.byte..passage.byte + passage.text.len();
            (passage.a_position, passage.b_position, passage.length, bytes)
        })
        .collect();
    // Passages are copied when their rows are asked for.
    let b = encoding::copy(&b)?;
    Ok(TableIterator::new(found.into_iter().map(move |(in_a, in_b, length, bytes)| {
        let passage = encoding::copy(&b[bytes]).and_then(encoding::to_database).unwrap_or_report();
        (sql_position(in_a), sql_position(in_b), length as i32, passage)
    })))
}

#[pg_extern(sql = false)]
fn recursive_shingles(
    doc: &[u8],
    min_level: i32,
    max_level: i32,
) -> Result<
    TableIterator<'static, (name!(level, i32), name!(hash, i64), name!(pos, i32), name!(len, i32))>,
    SqlError,
> {
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
    levels.and_then(|levels| RecursiveShingler::new(levels, doc.chars().count())).map_err(report::problem)
}

/// Positions as `substr` counts them, from 1. A text has less than 2^30 characters.
fn sql_position(position: usize) -> i32 {
    position as i32 + 1
}

/// Shingles a text as rows are asked for.
struct Shingles {
    shingler: RecursiveShingler,
    rest: String,
    /// Bytes of it that have been shingled.
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
            let ready = &mut self.ready;
            self.shingler.add(chunk.chars().map(u64::from), &mut |shingle| ready.push_back(shingle));
            self.read += chunk.len();
        }
        self.ready.pop_front()
    }
}

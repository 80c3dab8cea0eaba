//! `sql/passage.sql`: text that comes twice.

use crate::pg::error::{self, SqlError};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::text;
use pgrx::iter::TableIterator;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{name, pg_extern};
use simhash_core::passages;
use simhash_core::recursive::{self, RecursiveShingler, Shingle};
use simhash_core::sample::Sample;
use std::collections::VecDeque;
use std::ops::Range;

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
    let (a, b) = (text::to_utf8(a)?, text::to_utf8(b)?);
    let found = passages::shared_passages(&a, &b, min_length.into(), &mut check_for_interrupts);
    let found: Vec<(usize, usize, usize, Range<usize>)> = found
        .map_err(error::passages)?
        .into_iter()
        .map(|passage| {
            let bytes = passage.byte..passage.byte + passage.text.len();
            (passage.a_position, passage.b_position, passage.length, bytes)
        })
        .collect();
    // Passages are copied when their rows are asked for.
    let b = text::copy(&b)?;
    Ok(TableIterator::new(found.into_iter().map(move |(in_a, in_b, length, bytes)| {
        let passage = text::copy(&b[bytes]).and_then(text::to_database).unwrap_or_report();
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
    let rows = Rows {
        shingler: shingler(&text::to_utf8(doc)?, min_level, max_level)?,
        rest: text::copy(&text::to_utf8(doc)?)?,
        read: 0,
        ready: VecDeque::new(),
    };
    Ok(TableIterator::new(rows.map(|shingle| {
        let position = sql_position(shingle.position);
        (shingle.level as i32, shingle.hash as i64, position, shingle.length as i32)
    })))
}

#[pg_extern(sql = false)]
fn passage_sketch(doc: &[u8], min_length: i32) -> Result<Vec<i64>, SqlError> {
    let length = usize::try_from(min_length).unwrap_or(0);
    let level = recursive::level_for(length).ok_or_else(|| error::length_without_guarantee(min_length))?;
    let doc = text::to_utf8(doc)?;
    let mut shingler = shingler(&doc, level as i32, level as i32)?;
    let mut sample = Sample::default();
    let mut characters = doc.chars().map(u64::from).peekable();
    while characters.peek().is_some() && !sample.has_failed() {
        check_for_interrupts();
        let chunk = characters.by_ref().take(CHUNK);
        shingler.add(chunk, &mut |shingle| sample.push(shingle.hash as i64));
    }
    sample.into_values().map_err(error::sample)
}

fn shingler(doc: &str, min_level: i32, max_level: i32) -> Result<RecursiveShingler, SqlError> {
    RecursiveShingler::new(min_level.into(), max_level.into(), doc.chars().count())
        .map_err(error::out_of_range)
}

/// Positions as `substr` counts them, from 1. A text has less than 2^30 characters.
fn sql_position(position: usize) -> i32 {
    position as i32 + 1
}

/// Shingles a text as rows are asked for.
struct Rows {
    shingler: RecursiveShingler,
    rest: String,
    /// Bytes of it that have been shingled.
    read: usize,
    ready: VecDeque<Shingle>,
}

impl Iterator for Rows {
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

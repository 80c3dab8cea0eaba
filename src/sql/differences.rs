//! `sql/differences.sql`: which words differ between near texts.

use crate::pg::call::{Utf8, pg_functions};
use crate::pg::code::list::CodeList;
use crate::pg::encoding::{to_database_or_escaped, to_utf8};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::query::code_column::{CodeColumn, CodeRow};
use crate::pg::report::SqlError;
use crate::pg::result_set::{ResultSet, rounded};
use base::{Limit, collect, push};
use hamming::queries::{CodeQueries, place_in_sample};
use pgrx::{IntoDatum, pg_sys};
use std::ffi::CStr;
use text::features::Scheme;
use text::fingerprint::differences::{DifferenceCounter, differences};

/// The scheme whose features are compared: words.
const FEATURES: &str = "word:1";
/// The number of rows for which a near row is chosen.
const SAMPLE: Limit = Limit::new("sample", 1, 10_000);

pg_functions!(differences_of_texts, differences_of_table);

fn differences_of_texts(a: Utf8, b: Utf8, scheme: Scheme, mut rows: ResultSet) -> Result<(), SqlError> {
    for difference in differences(&a, &b, scheme, &mut check_for_interrupts)? {
        check_for_interrupts();
        let side = if difference.is_of_first { "a" } else { "b" };
        rows.put([to_database_or_escaped(difference.feature)?.into_datum(), side.into_datum()]);
    }
    Ok(())
}

fn differences_of_table(
    relation: pg_sys::Oid,
    code: &CStr,
    body: &CStr,
    radius: i32,
    key: &CStr,
    sample: i32,
    mut rows: ResultSet,
) -> Result<(), SqlError> {
    let sample = SAMPLE.of(sample)?;
    let radius = Limit::new("radius", 0, i64::from(i32::MAX)).of(radius)?;
    let column = CodeColumn::of(relation, code, Some(body))?.with_key(relation, key)?;
    let pairs = near_pairs(&column, radius, sample)?;
    let scheme = FEATURES.parse()?;
    let mut counter = DifferenceCounter::default();
    for (a, b) in &pairs {
        let one = to_utf8(&a.text)?;
        let other = to_utf8(&b.text)?;
        counter.add(differences(&one, &other, scheme, &mut check_for_interrupts)?)?;
    }
    let count = counter.pairs() as f64;
    for difference in counter.most_frequent(&mut check_for_interrupts)? {
        check_for_interrupts();
        let (a, b) = &pairs[difference.first];
        rows.put([
            to_database_or_escaped(difference.feature)?.into_datum(),
            (difference.pairs as i64).into_datum(),
            rounded(difference.pairs as f64 / count),
            rounded(difference.of_all),
            a.key.as_slice().into_datum(),
            b.key.as_slice().into_datum(),
        ]);
    }
    Ok(())
}

/// A row's key and text, in the encoding of the database.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct KeyedRow {
    key: Vec<u8>,
    text: Vec<u8>,
}

impl KeyedRow {
    fn of(row: CodeRow) -> Result<Self, SqlError> {
        let copy = |bytes: &[u8]| collect(bytes.iter().copied(), bytes.len());
        Ok(Self { key: copy(row.key())?, text: copy(row.text())? })
    }
}

/// A row of the sample, and a random one of the rows near it whose text differs.
struct SampledRow {
    row: KeyedRow,
    near: Option<KeyedRow>,
    /// How many rows near it were found so far.
    count: u64,
}

/// A pair for each row of the sample that has a near row. Two rows that have chosen each other are one pair.
fn near_pairs(column: &CodeColumn, radius: u32, sample: i32) -> Result<Vec<(KeyedRow, KeyedRow)>, SqlError> {
    let mut codes = CodeList::new(column.codes, sample as usize);
    let mut rows = Vec::new();
    column.read(Some(sample), &mut |row| {
        check_for_interrupts();
        row.push_code(&mut codes)?;
        Ok(push(&mut rows, SampledRow { row: KeyedRow::of(row)?, near: None, count: 0 })?)
    })?;
    let queries = CodeQueries::new(codes.codes())?;
    let mut chance = 0;
    column.read(None, &mut |row| {
        check_for_interrupts();
        codes.clear();
        row.push_code(&mut codes)?;
        let mut text = None;
        queries.near(codes.codes().get(0), radius, |query, distance| {
            let sampled = &mut rows[query];
            if distance > 0 || *text.get_or_insert_with(|| row.text()) != sampled.row.text {
                sampled.count += 1;
                if place_in_sample(&mut chance, sampled.count, 1).is_some() {
                    sampled.near = Some(KeyedRow::of(row)?);
                }
            }
            Ok::<_, SqlError>(())
        })
    })?;
    let count = rows.len();
    let pairs = rows.into_iter().filter_map(|SampledRow { row, near, .. }| {
        let near = near?;
        Some(if row < near { (row, near) } else { (near, row) })
    });
    let mut pairs = collect(pairs, count)?;
    pairs.sort_unstable();
    pairs.dedup();
    Ok(pairs)
}

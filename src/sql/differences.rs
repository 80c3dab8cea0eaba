//! `sql/differences.sql`: in what near texts differ.

use crate::pg::code::list::CodeList;
use crate::pg::encoding::{self, to_utf8};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::query::code_column::{CodeColumn, StoredText};
use crate::pg::report::{self, SqlError};
use crate::sql::simhash::parse_scheme;
use base::{Limit, collect, push};
use hamming::histogram::{CodeQueries, draw};
use pgrx::iter::TableIterator;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{name, pg_extern, pg_sys};
use std::ffi::CStr;
use text::fingerprint::differences::{DifferenceCounter, differences};

/// What is a feature: a word.
const FEATURES: &str = "word:1";
/// Rows for each of which a near one is chosen.
const SAMPLE: Limit = Limit::new("sample", 1, 10_000);

#[pg_extern(sql = false)]
fn differences_of_texts(
    a: &[u8],
    b: &[u8],
    scheme: &[u8],
) -> Result<TableIterator<'static, (name!(feature, Vec<u8>), name!(side, &'static str))>, SqlError> {
    let scheme = parse_scheme(&to_utf8(scheme)?)?;
    let found = differences(&to_utf8(a)?, &to_utf8(b)?, scheme, &mut check_for_interrupts);
    Ok(TableIterator::new(found.map_err(report::problem)?.into_iter().map(|difference| {
        (for_database(difference.feature), if difference.is_of_first { "a" } else { "b" })
    })))
}

#[pg_extern(sql = false)]
#[expect(clippy::type_complexity, reason = "a row")]
fn differences_of_table(
    relation: pg_sys::Oid,
    code: &CStr,
    body: &CStr,
    radius: i32,
    key: &CStr,
    sample: i32,
) -> Result<
    TableIterator<
        'static,
        (
            name!(feature, Vec<u8>),
            name!(pairs, i64),
            name!(share, f64),
            name!(of_all, f64),
            name!(a, Vec<u8>),
            name!(b, Vec<u8>),
        ),
    >,
    SqlError,
> {
    let sample = SAMPLE.of(sample).map_err(report::problem)?;
    let radius = Limit::new("radius", 0, i64::from(i32::MAX)).of(radius).map_err(report::problem)?;
    let column = CodeColumn::of(relation, code, Some(body))?.with_key(relation, key)?;
    let pairs = near_pairs(&column, radius, sample)?;
    let scheme = parse_scheme(FEATURES)?;
    let mut counter = DifferenceCounter::default();
    for (a, b) in &pairs {
        let found = differences(&to_utf8(&a.text)?, &to_utf8(&b.text)?, scheme, &mut check_for_interrupts);
        counter.add(found.map_err(report::problem)?).map_err(report::problem)?;
    }
    let count = counter.pairs() as f64;
    let found = counter.most_frequent(&mut check_for_interrupts).map_err(report::problem)?;
    Ok(TableIterator::new(found.into_iter().map(move |difference| {
        let (a, b) = &pairs[difference.first];
        let share = difference.pairs as f64 / count;
        let feature = for_database(difference.feature);
        // Bounded: a key is shown for each row of the result.
        (feature, difference.pairs as i64, share, difference.of_all, a.key.clone(), b.key.clone())
    })))
}

/// A text with its key, in the encoding of the database.
struct KeyedRow {
    key: Vec<u8>,
    text: Vec<u8>,
}

impl KeyedRow {
    fn of(key: StoredText, text: StoredText) -> Result<Self, SqlError> {
        // SAFETY: the row is the current one of a cursor.
        let [key, text] = unsafe { [key.bytes(), text.bytes()] }
            .map(|bytes| collect(bytes.iter().copied(), bytes.len()).map_err(report::problem));
        Ok(Self { key: key?, text: text? })
    }
}

/// A row of the sample, and one of those near it whose text differs, each with the same chance.
struct SampledRow {
    row: KeyedRow,
    near: Option<KeyedRow>,
    /// How many have been near so far.
    count: u64,
}

fn near_pairs(column: &CodeColumn, radius: u32, sample: i32) -> Result<Vec<(KeyedRow, KeyedRow)>, SqlError> {
    let (mut codes, mut rows) = (CodeList::new(column.codes, sample as usize), Vec::new());
    column.read_with_key(Some(sample), &mut |value, text, key| {
        check_for_interrupts();
        // SAFETY: the column has values of this type.
        unsafe { codes.push(value) }?;
        push(&mut rows, SampledRow { row: KeyedRow::of(key, text)?, near: None, count: 0 })
            .map_err(report::problem)
    })?;
    let queries = CodeQueries::new(codes.codes()).map_err(report::problem)?;
    let mut chance = 0;
    column.read_with_key(None, &mut |value, text, key| {
        check_for_interrupts();
        codes.clear();
        // SAFETY: as above.
        unsafe { codes.push(value) }?;
        let mut result = Ok(());
        queries.near(codes.codes().get(0), radius, &mut |query, distance| {
            if result.is_ok() {
                result = rows[query].offer(distance, text, key, &mut chance);
            }
        });
        result
    })?;
    let count = rows.len();
    let pairs = rows.into_iter().filter_map(|SampledRow { row, near, .. }| Some((row, near?)));
    let mut found = Vec::new();
    base::reserve(&mut found, count).map_err(report::problem)?;
    found.extend(pairs);
    Ok(found)
}

impl SampledRow {
    /// Takes a near row with a chance of one in as many as were near.
    fn offer(
        &mut self,
        distance: u32,
        text: StoredText,
        key: StoredText,
        chance: &mut u64,
    ) -> Result<(), SqlError> {
        // SAFETY: the row is the current one of a cursor.
        if distance == 0 && unsafe { text.bytes() } == self.row.text {
            return Ok(());
        }
        self.count += 1;
        if draw(chance, self.count) == 0 {
            self.near = Some(KeyedRow::of(key, text)?);
        }
        Ok(())
    }
}

fn for_database(feature: String) -> Vec<u8> {
    encoding::to_database(encoding::or_escaped(feature)).unwrap_or_report()
}

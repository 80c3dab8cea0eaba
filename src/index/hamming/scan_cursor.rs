//! Translates the scan keys into a query of the index, and runs the search.

use super::code::read_bits;
use super::filter::FilterColumns;
use super::row::tid_of;
use crate::pg::catalog::strategy::{EQUAL, NEAR, WITHIN_BALL};
use crate::pg::code::ball::BitBall;
use crate::pg::code::ball::HammingBall;
use crate::pg::code::bits::Bits;
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::UnwrapOrReport;
use crate::pg::scan_memory::ScanStretches;
use crate::pg::settings::setting;
use crate::pg::storage::pages::Pages;
use crate::pg::table_rows::TableRows;
use hamming_index::key::RowId;
use hamming_index::radius_division::SearchCosts;
use hamming_index::{CodeBall, CodeLookup, Index, IndexSearch, Layout, SearchCenter};
use hamming_index::{SearchHit, SearchQuery};
use pgrx::pg_sys;

/// The most memory that a row of a sorted result takes. Up to twice the wanted number of rows is found before
/// the rest is cut off. Their buffer may have doubled, and rows are copied into the batch.
const BYTES_PER_SORTED: usize = 5 * size_of::<SearchHit>();

/// The most rows that an ordered search collects at a time, if it keeps `words` words of each code.
pub(super) fn max_sorted(words: usize) -> usize {
    setting!(work_mem) as usize * 1024 / (BYTES_PER_SORTED + 4 * size_of::<u64>() * words)
}

/// The search of a scan, with the rows of its last batch.
pub(super) struct ScanCursor {
    search: IndexSearch<ScanStretches>,
    pub(super) hits: Vec<SearchHit>,
    /// The codes from which rows are ordered by distance; `None` where distances are not known, or NULL.
    centers: Vec<Option<SearchCenter>>,
    /// Whether all rows found match, apart from conditions on further columns. Otherwise they are all rows
    /// that may match.
    pub(super) is_exact: bool,
    /// Whether there are conditions on further columns. The index does not check them for each row.
    is_filtered: bool,
}

impl ScanCursor {
    /// Begins the search for the scan keys; `None` if no row can match. `gives_codes` is for index-only
    /// scans.
    ///
    /// # Safety
    /// The keys' arguments must have the types that the operator class names; pages, costs, filters and keys
    /// must belong to the same index.
    pub(super) unsafe fn begin(
        pages: &Pages,
        costs: &SearchCosts,
        filters: &FilterColumns,
        keys: &[pg_sys::ScanKeyData],
        order_bys: &[pg_sys::ScanKeyData],
        gives_codes: bool,
        together: Option<ScanStretches>,
    ) -> Option<Self> {
        let layout = costs.layout();
        // SAFETY: keys and all else are as the caller promises.
        unsafe {
            let ScanQuery { mut query, centers, is_exact } = ScanQuery::of(layout, keys, order_bys)?;
            let of_filter = filters.of_keys(keys).map(|filter| {
                let leaves = Index::new(pages, layout).leaves_of(filter);
                costs.of_filter(filter, leaves)
            });
            query.codes |= gives_codes;
            let max_rows = max_sorted(if gives_codes { layout.words() } else { 0 });
            let search = IndexSearch::new(of_filter.as_ref().unwrap_or(costs), query, max_rows, together);
            let is_filtered = keys.iter().any(|key| key.sk_attno > 1);
            Some(Self { search, hits: Vec::new(), centers, is_exact, is_filtered })
        }
    }

    /// Replaces the batch by the next one. Returns false if there are no more rows.
    ///
    /// If `rows` is `None`, codes of several words are not compared: the batch has rows that may match, and a
    /// row may be in several batches.
    pub(super) fn next_batch(&mut self, pages: &Pages, layout: Layout, rows: Option<&TableRows>) -> bool {
        let index = Index::new(pages, layout);
        self.is_exact &= layout.is_one_word() || !layout.has_word_trees() || rows.is_some();
        self.hits.clear();
        let mut codes = rows.map(|rows| TableCodes { rows, layout, code: Vec::new() });
        let is_more = self.search.next_batch(&index, codes.as_mut(), &mut self.hits);
        is_more.unwrap_or_report()
    }

    /// The words of the code of a row of the last batch. `None` is NULL in an index-only scan, and if the
    /// index has whole codes but the query cannot be compared with them.
    pub(super) fn code(&self, number: usize) -> Option<&[u64]> {
        self.search.code_of(&self.hits[number])
    }

    /// Whether the executor has to check the conditions for the rows found.
    pub(super) fn needs_recheck(&self) -> bool {
        !self.is_exact || self.is_filtered
    }

    /// One of the distances by which a row of the last batch is ordered; `None` is NULL.
    pub(super) fn distance(&self, number: usize, place: usize) -> Option<u32> {
        // Codes of several words are ordered by one distance: see `src/plan/conditions/indexes.rs`.
        self.hits[number].distance_from(self.centers[place].as_ref()?)
    }
}

/// Reads the codes of rows from the table.
struct TableCodes<'a> {
    rows: &'a TableRows,
    layout: Layout,
    /// The code that was read last.
    code: Vec<u8>,
}

impl CodeLookup for TableCodes<'_> {
    fn code_of(&mut self, row: RowId) -> Option<&[u8]> {
        // Each row may have to be read from disk, and there may be many rows before the next leaf.
        check_for_interrupts();
        self.code.clear();
        // At most as long as a code of the index, a few kB.
        let keep = |code: &[u8]| self.code.extend_from_slice(code);
        // SAFETY: the value is one of the index's column.
        let read = self.rows.read(tid_of(row), |value| unsafe { read_bits(self.layout, value, keep) });
        read?.unwrap_or_report();
        Some(&self.code)
    }
}

fn is_null(key: &pg_sys::ScanKeyData) -> bool {
    key.sk_flags as u32 & pg_sys::SK_ISNULL != 0
}

/// The scan keys as a query of the index.
struct ScanQuery {
    query: SearchQuery,
    /// The codes from which rows are ordered by distance; `None` where distances are not known, or NULL.
    centers: Vec<Option<SearchCenter>>,
    /// Whether the query says everything that the scan keys say.
    is_exact: bool,
}

impl ScanQuery {
    /// `None` if no row can match.
    ///
    /// A bit string cannot be compared with rows of another length. If the scan keys have one of another
    /// length than the index, the query requests all rows, with their codes if the index has them, and the
    /// comparison raises the same error as without an index.
    ///
    /// # Safety
    /// The keys' arguments must have the types that the operator class names.
    unsafe fn of(
        layout: Layout,
        keys: &[pg_sys::ScanKeyData],
        order_bys: &[pg_sys::ScanKeyData],
    ) -> Option<Self> {
        let mut query = SearchQuery { values: true, nulls: true, ..SearchQuery::default() };
        let (mut is_comparable, mut is_exact) = (true, true);
        for key in keys {
            let flags = key.sk_flags as u32;
            let is_further = key.sk_attno > 1;
            let is_of_null = flags & (pg_sys::SK_SEARCHNULL | pg_sys::SK_SEARCHNOTNULL) != 0;
            if is_further && (is_of_null || !is_null(key)) {
                // The executor checks this condition.
            } else if flags & pg_sys::SK_SEARCHNULL != 0 {
                query.values = false;
            } else if flags & pg_sys::SK_SEARCHNOTNULL != 0 {
                query.nulls = false;
            } else if is_null(key) {
                return None;
            } else {
                query.nulls = false;
                // SAFETY: the argument is of its type, as the caller promises.
                match unsafe { ball_of_key(layout, key) } {
                    KeyBall::Nothing if is_comparable => return None,
                    KeyBall::Nothing => {}
                    KeyBall::Incomparable => is_comparable = false,
                    KeyBall::Codes(ball) => query.balls.push(ball),
                }
                // The condition also depends on the radius of the row's ball.
                is_exact &= key.sk_strategy as i16 != NEAR;
            }
        }
        // Bounded: the distances in the ORDER BY of a query.
        let mut centers = Vec::with_capacity(order_bys.len());
        for order_by in order_bys {
            // SAFETY: the argument is of its type, as the caller promises.
            let center = (!is_null(order_by)).then(|| unsafe { center_of(layout, order_by.sk_argument) });
            is_comparable &= center != Some(None);
            // The distance of all rows from NULL is NULL.
            centers.push(center.flatten());
        }
        if !is_comparable {
            let query = SearchQuery { balls: Vec::new(), codes: layout.has_code_tree(), ..query };
            centers.fill(None);
            return Some(Self { query, centers, is_exact: false });
        }
        query.nearest_to = centers.iter().flatten().cloned().collect();
        Some(Self { query, centers, is_exact })
    }
}

/// The codes that a key requests.
enum KeyBall {
    Nothing,
    /// Codes within a distance from a bit string of another length than the index has.
    Incomparable,
    Codes(CodeBall),
}

/// # Safety
/// The key's argument must have the type that the operator class names.
unsafe fn ball_of_key(layout: Layout, key: &pg_sys::ScanKeyData) -> KeyBall {
    let argument = key.sk_argument;
    // SAFETY: the argument is of its type, as the caller promises.
    let (center, radius) = unsafe {
        match key.sk_strategy as i16 {
            WITHIN_BALL if layout.is_described() => {
                let ball = BitBall::of(argument);
                (center_of_bits(layout, ball.center), ball.radius)
            }
            WITHIN_BALL | NEAR => {
                let ball: HammingBall = argument.cast_mut_ptr::<HammingBall>().read();
                (Some(SearchCenter::from(ball.center as u64)), ball.radius)
            }
            EQUAL if !layout.is_described() => (Some(SearchCenter::from(integer(key) as u64)), 0),
            EQUAL => match center_of(layout, argument) {
                None => return KeyBall::Nothing,
                center => (center, 0),
            },
            other => Err(error::unknown_strategy(other)).unwrap_or_report(),
        }
    };
    match (center, u32::try_from(radius)) {
        (None, _) => KeyBall::Incomparable,
        (Some(_), Err(_)) => KeyBall::Nothing,
        (Some(center), Ok(radius)) => KeyBall::Codes(CodeBall { center, radius }),
    }
}

/// The key's argument: a bigint, or an integer of fewer bytes.
fn integer(key: &pg_sys::ScanKeyData) -> i64 {
    let value = key.sk_argument.value();
    match key.sk_subtype {
        pg_sys::INT4OID => (value as i32).into(),
        pg_sys::INT2OID => (value as i16).into(),
        _ => value as i64,
    }
}

/// A code as the center of a search; `None` if it has another length than those in the index.
///
/// # Safety
/// The code must be of the type of the index's column, and not NULL.
unsafe fn center_of(layout: Layout, code: pg_sys::Datum) -> Option<SearchCenter> {
    if layout.is_described() {
        // SAFETY: the code is a bit string, as the caller promises.
        center_of_bits(layout, unsafe { Bits::of(code) })
    } else {
        Some(SearchCenter::from(code.value() as u64))
    }
}

/// A bit string as the center of a search; `None` if it has another length than those in the index.
fn center_of_bits(layout: Layout, string: Bits<'_>) -> Option<SearchCenter> {
    (string.length() == layout.bits()).then(|| SearchCenter::of_code(layout, string.bytes()))
}

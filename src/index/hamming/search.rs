//! What a scan asks, as the index understands it, and the search that answers.

use super::code::read_bits;
use super::filter::FilterColumns;
use super::row::tid_of;
use crate::pg::catalog::strategy::{EQUAL, NEAR, WITHIN_BALL};
use crate::pg::code::ball::BitBall;
use crate::pg::code::ball::HammingBall;
use crate::pg::code::bits::Bits;
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report;
use crate::pg::settings::setting;
use crate::pg::storage::pages::Pages;
use crate::pg::table_rows::TableRows;
use hamming_index::division::SearchCosts;
use hamming_index::key::RowId;
use hamming_index::{CodeBall, CodeLookup, Index, IndexSearch, Layout, SearchCenter};
use hamming_index::{SearchHit, SearchQuery, SharedStretches};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;

/// Memory that a row of a sorted result takes at most. Up to twice the wanted number of rows is found before
/// the rest is cut off, each row in a buffer that has doubled, and once more in the batch.
const BYTES_PER_SORTED: usize = 5 * size_of::<SearchHit>();

/// Rows that an ordered search collects at a time, at most, if it keeps so many words of each one's code.
pub(super) fn max_sorted(words: usize) -> usize {
    setting!(work_mem) as usize * 1024 / (BYTES_PER_SORTED + 4 * size_of::<u64>() * words)
}

/// The search of a scan, with what its last batch has found.
pub(super) struct ScanSearch {
    search: IndexSearch<'static>,
    hits: Vec<SearchHit>,
    /// The codes from which rows are ordered by distance; `None` where distances are not known, or NULL.
    centers: Vec<Option<SearchCenter>>,
    /// Whether all rows that are found match. Otherwise these are all that may match.
    is_exact: bool,
    /// Whether there are conditions on further columns, which the index does not check on each row.
    is_filtered: bool,
}

impl ScanSearch {
    /// Begins the search that these keys ask for; `None` if no row can match. Of an index-only scan it gives
    /// the codes, too.
    ///
    /// # Safety
    /// Arguments must be of the types that the operator classes say; pages, costs and columns must be those
    /// of their index.
    pub(super) unsafe fn begin(
        pages: &Pages,
        costs: &SearchCosts,
        filters: &FilterColumns,
        keys: &[pg_sys::ScanKeyData],
        order_bys: &[pg_sys::ScanKeyData],
        gives_codes: bool,
        together: Option<&'static SharedStretches>,
    ) -> Option<Self> {
        let layout = costs.layout();
        // SAFETY: keys and all else are as the caller promises.
        unsafe {
            let ScanQuestion { mut query, centers, is_exact } = ScanQuestion::of(layout, keys, order_bys)?;
            let of_filter = filters.of_keys(keys).map(|filter| {
                let leaves = Index::new(pages, layout).leaves_of(filter);
                costs.of_filter(filter, leaves)
            });
            query.codes = gives_codes;
            let max_rows = max_sorted(if gives_codes { layout.words() } else { 0 });
            let search = IndexSearch::new(of_filter.as_ref().unwrap_or(costs), query, max_rows, together);
            let is_filtered = keys.iter().any(|key| key.sk_attno > 1);
            Some(Self { search, hits: Vec::new(), centers, is_exact, is_filtered })
        }
    }

    /// Finds further rows in place of the last ones. Returns false when there are no more.
    ///
    /// Without the rows of the table, codes of several words are not compared: rows are those that may match,
    /// and may come several times.
    pub(super) fn next_batch(&mut self, pages: &Pages, layout: Layout, rows: Option<&TableRows>) -> bool {
        let index = Index::new(pages, layout);
        self.is_exact &= layout.has_whole_codes() || !layout.has_word_trees() || rows.is_some();
        self.hits.clear();
        let mut codes = rows.map(|rows| TableCodes { rows, layout, code: Vec::new() });
        let is_more = self.search.next_batch(&index, codes.as_mut(), &mut self.hits);
        is_more.map_err(report::problem).unwrap_or_report()
    }

    /// The number of rows of the last batch.
    pub(super) fn len(&self) -> usize {
        self.hits.len()
    }

    /// A row of the last batch.
    pub(super) fn row(&self, number: usize) -> RowId {
        self.hits[number].row
    }

    /// The words of the code of a row of the last batch, in an index-only scan; `None` is NULL.
    pub(super) fn code(&self, number: usize) -> Option<&[u64]> {
        self.search.code_of(&self.hits[number])
    }

    /// Whether everybody, or the scan itself, saw a row of the last batch when it was found, in an index-only
    /// scan.
    pub(super) fn is_seen_by_all(&self, number: usize) -> bool {
        self.hits[number].is_seen_by_all
    }

    /// Whether all rows that are found match, apart from further columns. Otherwise these are all that may
    /// match.
    pub(super) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Whether the conditions have to be checked on the rows that are found.
    pub(super) fn needs_recheck(&self) -> bool {
        !self.is_exact || self.is_filtered
    }

    /// A distance of a row of the last batch, of those by which rows are ordered; `None` is NULL.
    pub(super) fn distance(&self, number: usize, place: usize) -> Option<u32> {
        // Codes of several words are ordered by one distance: see `src/plan/conditions/indexes.rs`.
        self.hits[number].distance_from(self.centers[place].as_ref()?)
    }
}

/// The codes of a table's rows.
struct TableCodes<'a> {
    rows: &'a TableRows,
    layout: Layout,
    /// The last one that was asked for.
    code: Vec<u8>,
}

impl CodeLookup for TableCodes<'_> {
    fn code_of(&mut self, row: RowId) -> Option<&[u8]> {
        // Each row may have to be read from disk, and there may be many before the next leaf.
        check_for_interrupts();
        self.code.clear();
        // At most as long as a code of the index, a few kB.
        let keep = |code: &[u8]| self.code.extend_from_slice(code);
        // SAFETY: a value of the index's column.
        let read = self.rows.read(tid_of(row), |value| unsafe { read_bits(self.layout, value, keep) });
        read?.unwrap_or_report();
        Some(&self.code)
    }
}

fn is_null(key: &pg_sys::ScanKeyData) -> bool {
    key.sk_flags as u32 & pg_sys::SK_ISNULL != 0
}

/// What the keys of a scan ask of the index.
struct ScanQuestion {
    query: SearchQuery,
    /// The codes from which rows are ordered by distance; `None` where distances are not known, or NULL.
    centers: Vec<Option<SearchCenter>>,
    /// Whether the query says all that the keys ask.
    is_exact: bool,
}

impl ScanQuestion {
    /// `None` if no row can match.
    ///
    /// A string of bits that has another length than those in the index cannot be compared with its rows. A
    /// question with one asks for all rows, and comparing raises the error as it does without an index.
    ///
    /// # Safety
    /// Arguments must be of the types that the operator class says.
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
                // Is checked on the rows that are found.
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
                // The radius of the row's ball counts as well.
                is_exact &= key.sk_strategy as i16 != NEAR;
            }
        }
        // Bounded: the distances that a query is ordered by.
        let mut centers = Vec::with_capacity(order_bys.len());
        for order_by in order_bys {
            // SAFETY: the argument is of its type, as the caller promises.
            let center = (!is_null(order_by)).then(|| unsafe { center_of(layout, order_by.sk_argument) });
            is_comparable &= center != Some(None);
            // All rows are equally far from NULL.
            centers.push(center.flatten());
        }
        if !is_comparable {
            let query = SearchQuery { balls: Vec::new(), ..query };
            centers.fill(None);
            return Some(Self { query, centers, is_exact: false });
        }
        query.nearest_to = centers.iter().flatten().cloned().collect();
        Some(Self { query, centers, is_exact })
    }
}

/// The codes that a key asks for.
enum KeyBall {
    Nothing,
    /// Codes within a distance from a string of bits that has another length.
    Incomparable,
    Codes(CodeBall),
}

/// # Safety
/// The argument must be of the type that the operator class says.
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

/// The number that a key compares with: bigint, or one that takes fewer bytes.
fn integer(key: &pg_sys::ScanKeyData) -> i64 {
    let value = key.sk_argument.value();
    match key.sk_subtype {
        pg_sys::INT4OID => (value as i32).into(),
        pg_sys::INT2OID => (value as i16).into(),
        _ => value as i64,
    }
}

/// A code as the center of a search; `None` if it has another number of bits than those in the index.
///
/// # Safety
/// The code must be of the type of the index's column, and not NULL.
unsafe fn center_of(layout: Layout, code: pg_sys::Datum) -> Option<SearchCenter> {
    if layout.is_described() {
        // SAFETY: a string of bits, as the caller promises.
        center_of_bits(layout, unsafe { Bits::of(code) })
    } else {
        Some(SearchCenter::from(code.value() as u64))
    }
}

/// A string of bits as the center of a search; `None` if it has another length than those in the index.
fn center_of_bits(layout: Layout, string: Bits<'_>) -> Option<SearchCenter> {
    (string.length() == layout.bits()).then(|| SearchCenter::of_code(layout, string.bytes()))
}

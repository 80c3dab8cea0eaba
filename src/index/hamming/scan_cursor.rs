//! Translates the scan keys into a query of the index, and runs the search.

use super::code::read_bits;
use super::filter::FilterColumns;
use crate::pg::access_method::{ScanDescriptor, ScanKey, SharedOfScan};
use crate::pg::catalog::strategy::{EQUAL, NEAR, WITHIN_BALL};
use crate::pg::code::bits::Bits;
use crate::pg::code::{Code, CodeValue};
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::UnwrapOrReport;
use crate::pg::settings::setting;
use crate::pg::storage::pages::Pages;
use crate::pg::storage::row_address::tid_of;
use crate::pg::table_rows::TableRows;
use crate::pg::value::Value;
use hamming_index::key::RowId;
use hamming_index::radius_division::SearchCosts;
use hamming_index::{CodeBall, CodeLookup, Index, IndexSearch, Layout, SearchCenter};
use hamming_index::{SearchHit, SearchQuery, SharedStretches};

/// The most memory that a row of a sorted result takes. Up to twice the wanted number of rows is found before
/// the rest is cut off. Their buffer may have doubled, and rows are copied into the batch.
const BYTES_PER_SORTED: usize = 5 * size_of::<SearchHit>();

/// The most rows that an ordered search collects at a time, if it keeps `words` words of each code.
pub(super) fn max_sorted(words: usize) -> usize {
    setting!(work_mem) as usize * 1024 / (BYTES_PER_SORTED + 4 * size_of::<u64>() * words)
}

/// The search of a scan, with the rows of its last batch.
pub(super) struct ScanCursor {
    search: IndexSearch<SharedOfScan<SharedStretches>>,
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
    /// Begins the search for the keys of a scan; `None` if no row can match. Pages, costs and filters must be
    /// those of its index.
    pub(super) fn begin(
        pages: &Pages<'_>,
        costs: &SearchCosts,
        filters: &FilterColumns,
        scan: &ScanDescriptor<'_, SharedStretches>,
    ) -> Option<Self> {
        let layout = costs.layout();
        let ScanQuery { mut query, centers, is_exact } =
            ScanQuery::of(layout, scan.keys(), scan.order_bys())?;
        let of_filter = filters.of_keys(scan.keys()).map(|filter| {
            let leaves = Index::new(pages, layout).leaves_of(filter);
            costs.of_filter(filter, leaves)
        });
        // An index-only scan returns codes.
        let gives_codes = scan.wants_values();
        query.codes |= gives_codes;
        let max_rows = max_sorted(if gives_codes { layout.words() } else { 0 });
        let costs = of_filter.as_ref().unwrap_or(costs);
        let search = IndexSearch::new(costs, query, max_rows, scan.shared());
        let is_filtered = scan.keys().any(|key| key.column() > 0);
        Some(Self { search, hits: Vec::new(), centers, is_exact, is_filtered })
    }

    /// Replaces the batch by the next one. Returns false if there are no more rows.
    ///
    /// If `rows` is `None`, codes of several words are not compared: the batch has rows that may match, and a
    /// row may be in several batches.
    pub(super) fn next_batch(
        &mut self,
        pages: &Pages<'_>,
        layout: Layout,
        rows: Option<&TableRows<'_>>,
    ) -> bool {
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
    rows: &'a TableRows<'a>,
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
        let read = self.rows.read(tid_of(row), |value| read_bits(self.layout, value, keep));
        read?.unwrap_or_report();
        Some(&self.code)
    }
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
    fn of<'k>(
        layout: Layout,
        keys: impl Iterator<Item = ScanKey<'k>>,
        order_bys: impl Iterator<Item = ScanKey<'k>>,
    ) -> Option<Self> {
        let mut query = SearchQuery { values: true, nulls: true, ..SearchQuery::default() };
        let mut is_comparable = true;
        let mut is_exact = true;
        for key in keys {
            let is_of_null = key.is_null_test() || key.is_not_null_test();
            let operand = key.operand();
            if key.column() > 0 && (is_of_null || operand.is_some()) {
                // The executor checks this condition.
            } else if key.is_null_test() {
                query.values = false;
            } else if key.is_not_null_test() {
                query.nulls = false;
            } else {
                query.nulls = false;
                match ball_of_key(layout, key.strategy(), operand?) {
                    KeyBall::Nothing if is_comparable => return None,
                    KeyBall::Nothing => {}
                    KeyBall::Incomparable => is_comparable = false,
                    KeyBall::Codes(ball) => query.balls.push(ball),
                }
                // The condition also depends on the radius of the row's ball.
                is_exact &= key.strategy() != NEAR;
            }
        }
        // Bounded: the distances in the ORDER BY of a query.
        let mut centers = Vec::new();
        for order_by in order_bys {
            let center = order_by.operand().map(|operand| center_of(layout, operand));
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

/// The codes that a condition with this operand requests.
fn ball_of_key(layout: Layout, strategy: i16, operand: Value<'_>) -> KeyBall {
    let (center, radius) = match strategy {
        WITHIN_BALL if layout.is_described() => {
            let ball = ball_or_error(strategy, operand.as_bit_ball());
            (center_of_bits(layout, ball.center), ball.radius)
        }
        WITHIN_BALL | NEAR => {
            let ball = ball_or_error(strategy, operand.as_fingerprint_ball());
            (Some(SearchCenter::from(ball.center as u64)), ball.radius)
        }
        // The operand is a bigint, or an integer of fewer bytes.
        EQUAL if !layout.is_described() => {
            (operand.as_whole_number().map(|code| SearchCenter::from(code as u64)), 0)
        }
        EQUAL => match center_of(layout, operand) {
            None => return KeyBall::Nothing,
            center => (center, 0),
        },
        other => Err(error::unknown_strategy(other)).unwrap_or_report(),
    };
    match (center, u32::try_from(radius)) {
        (None, _) => KeyBall::Incomparable,
        (Some(_), Err(_)) => KeyBall::Nothing,
        (Some(center), Ok(radius)) => KeyBall::Codes(CodeBall { center, radius }),
    }
}

/// The operand, which has to be a ball. Otherwise, the operator is not ours.
fn ball_or_error<B>(strategy: i16, ball: Option<B>) -> B {
    ball.ok_or_else(|| error::unknown_strategy(strategy)).unwrap_or_report()
}

/// A code as the center of a search; `None` if it has another length than those in the index.
fn center_of(layout: Layout, code: Value<'_>) -> Option<SearchCenter> {
    match code.as_code().map(CodeValue::read)? {
        Code::Integer(word, _) => (!layout.is_described()).then(|| SearchCenter::from(word)),
        Code::Bits(bits) => center_of_bits(layout, bits),
    }
}

/// A bit string as the center of a search; `None` if it has another length than those in the index.
fn center_of_bits(layout: Layout, string: Bits<'_>) -> Option<SearchCenter> {
    (string.length() == layout.bits()).then(|| SearchCenter::of_code(layout, string.bytes()))
}

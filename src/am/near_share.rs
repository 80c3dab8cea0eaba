//! What share of the pairs of two columns is near, as searches of an index for a few codes show.
//!
//! ANALYZE keeps a hundred values of a column. If half of a million rows lie in clusters of fifty, hardly two
//! of these hundred are near, so they say nothing about a join. A few searches do, and take less than what
//! the join of many rows does.

use super::code::layout_of;
use super::cost::is_hamming;
use super::search::NearCounter;
use crate::estimate::condition::Within;
use crate::estimate::searches::{OpenIndex, SearchQuestion, average, has_many_rows, index_of};
use crate::estimate::statistics::{ColumnStatistics, ColumnValues, KnownValue};
use crate::pg::code::Code;
use crate::pg::compat::index_scan::begin_index_scan;
use crate::pg::nodes::constant;
use crate::pg::storage::pages::Pages;
use crate::pg::table_rows::TableRows;
use hamming_index::CodeSample;
use hamming_index::cost::leaves_in;
use hamming_index::division::SearchCosts;
use pgrx::pg_sys::{self, IndexOptInfo, Node};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Codes that are searched for, at most and at least.
const MOST_SEARCHES: usize = 16;
const LEAST_SEARCHES: usize = 4;

/// Leaves that are expected to be read for all of them, and rows to be fetched, at most.
const MOST_LEAVES: f64 = 4000.0;

/// Rows that a search finds or fetches, at most. The join of many rows with so many each takes much longer.
const MOST_FOUND: u64 = 20_000;

/// The share of the pairs of rows that the condition holds for, if one of its sides has an index of type
/// `hamming`, and the other one many rows. Of the relation 0, or of that with the index.
///
/// # Safety
/// The condition must be one of the query that is being planned.
pub(crate) unsafe fn near_share(
    root: *mut pg_sys::PlannerInfo,
    condition: &Within,
    relation: i32,
) -> Option<f64> {
    let Within { a, b, radius } = *condition;
    // SAFETY: the condition is one of the query, as the caller promises.
    unsafe {
        let radius = constant(pg_sys::estimate_expression_value(root, radius))?.value() as i32;
        let radius = u32::try_from(radius).ok()?;
        [(a, b), (b, a)].into_iter().find_map(|(column, other)| {
            let index =
                index_of(root, column, relation, is_hamming).filter(|_| has_many_rows(root, other))?;
            let indexed = ColumnStatistics::examine(root, column, 0).filter(ColumnStatistics::is_readable)?;
            let typical = [other, column].into_iter().find_map(|side| TypicalCodes::of(root, side))?;
            let question = SearchQuestion::new(index, (radius, typical.number()));
            let share =
                question.answer(|| counted_share(root, index, &indexed.values(), &typical, radius))?;
            Some(share * typical.not_null)
        })
    }
}

/// Codes that stand for those of a column.
struct TypicalCodes {
    values: ColumnValues,
    /// The share of the rows that have a code.
    not_null: f64,
}

impl TypicalCodes {
    /// # Safety
    /// The column must be an expression of the query.
    unsafe fn of(root: *mut pg_sys::PlannerInfo, column: *mut Node) -> Option<Self> {
        // SAFETY: an expression of the query.
        let statistics = unsafe { ColumnStatistics::examine(root, column, 0) }?;
        let typical = Self { values: statistics.values(), not_null: 1.0 - statistics.null_share() };
        let has_codes = typical.codes().next().is_some();
        has_codes.then_some(typical)
    }

    fn codes(&self) -> impl Iterator<Item = KnownValue<'_>> {
        self.values.spread(MOST_SEARCHES).take(MOST_SEARCHES)
    }

    /// A number that other codes hardly have.
    fn number(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for known in self.codes() {
            match known.code {
                Code::Fingerprint(code) => code.hash(&mut hasher),
                Code::Bits(bits) => bits.value().hash(&mut hasher),
            }
        }
        hasher.finish()
    }
}

/// The average share of the rows of an index that are near to typical codes.
///
/// # Safety
/// The index must be one of the query that is being planned, and these values of its column.
unsafe fn counted_share(
    root: *mut pg_sys::PlannerInfo,
    index: &IndexOptInfo,
    indexed: &ColumnValues,
    typical: &TypicalCodes,
    radius: u32,
) -> Option<f64> {
    // SAFETY: the planner has the index and its table locked.
    unsafe {
        if index.tuples < 1.0 || !pg_sys::ActiveSnapshotSet() {
            return None;
        }
        let OpenIndex { table, index: open } = OpenIndex::of(root, index);
        let pages = Pages::of(open);
        let layout = layout_of(open, &pages);
        let costs = SearchCosts::new(layout, leaves_in(index.pages, layout));
        let work = costs.expected(radius, &CodeSample::default());
        let searches = (MOST_LEAVES / (work.leaves + work.fetched).max(1.0)) as usize;
        let mut share = None;
        if searches >= LEAST_SEARCHES {
            let needs_rows = !layout.has_whole_codes();
            let scan = needs_rows.then(|| begin_index_scan(table, open, pg_sys::GetActiveSnapshot()));
            let rows = scan.map(|scan| TableRows::of(scan));
            let counter = NearCounter { pages: &pages, costs: &costs, rows: rows.as_ref(), most: MOST_FOUND };
            let codes = typical.codes().step_by(typical.codes().count().div_ceil(searches));
            share = average(codes.filter_map(|known| {
                let counted = counter.count(known.code, radius)? as f64 / index.tuples;
                // The search may have ended early.
                Some((known.share, counted.max(indexed.common_share_within(known.code, radius))))
            }));
            rows.into_iter().for_each(TableRows::release);
            scan.into_iter().for_each(|scan| pg_sys::index_endscan(scan));
        }
        OpenIndex { table, index: open }.close();
        share
    }
}

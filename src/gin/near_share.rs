//! What share of the pairs of two columns of sketches share values, as searches of a GIN index for a few
//! sketches show.
//!
//! What ANALYZE knows of arrays are the values that many rows have. Sketches of texts that share a passage
//! have some values in common that stand in these few rows alone. So a few rows are read, and searched for.

use super::cost::GIN;
use super::query::{SketchQuery, query_values};
use crate::estimate::searches::{OpenIndex, SearchQuestion, average, has_many_rows, index_of};
use crate::estimate::sketch::{SketchCondition, selectivity};
use crate::estimate::statistics::ColumnStatistics;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::catalog::ours::is_sketch_match;
use crate::pg::catalog::sketch_oids::OVERLAP_OPERATOR;
use crate::pg::catalog::strategy::MATCHES;
use crate::pg::compat::index_scan::begin_bitmap_scan;
use crate::pg::executor::read_all;
use crate::pg::nodes::{cast, constant};
use pgrx::pg_sys::{self, Datum, IndexOptInfo, NodeTag, Oid};
use pgrx::{Array, FromDatum};
use std::ptr::null_mut;
use text::sketch::threshold::{Measure, Threshold};

/// Sketches that are searched for, at most.
const MOST_SEARCHES: u32 = 16;

/// Values that are looked up for all of them, apart from those of the last one: some 2 µs each.
const MOST_VALUES: usize = 8000;

/// Rows that a sketch finds by what ANALYZE knows. If they are more, they are believed, for searches would
/// read as many rows of the index.
const MOST_FOUND: f64 = 10_000.0;

/// Places of a page that are tried for a row. Each search begins at the next one, since the rows of a pattern
/// may stand in the same places of all pages.
const PLACES: u32 = 4;

/// The share of the pairs of rows that the condition holds for, if one of its sides has a GIN index that
/// answers it, and the other one many rows. Of the relation 0, or of that with the index. The measures are
/// those where the first sketch is the stored one, and where the second one is; None is any common value.
///
/// # Safety
/// The condition must be one of the query that is being planned.
pub(crate) unsafe fn near_share(
    root: *mut pg_sys::PlannerInfo,
    condition: &SketchCondition,
    measures: [Option<Measure>; 2],
    relation: i32,
) -> Option<f64> {
    // SAFETY: the condition is one of the query, as the caller promises.
    unsafe {
        let least = match condition.least {
            Some(least) => Some(constant(pg_sys::estimate_expression_value(root, least))?),
            None => None,
        };
        let least = least.map_or(0.0, |least| f64::from_bits(least.value() as u64));
        let sides = [(condition.a, condition.b, measures[0]), (condition.b, condition.a, measures[1])];
        sides.into_iter().find_map(|(stored, query, measure)| {
            let threshold = measure.map(|measure| Threshold { measure, least });
            let index = index_of(root, stored, relation, |index| strategy(index, threshold).is_some())?;
            let readable =
                |side| ColumnStatistics::examine(root, side, 0).filter(ColumnStatistics::is_readable);
            let (_, of_query) = (readable(stored)?, readable(query)?);
            if !has_many_rows(root, query) {
                return None;
            }
            let column = cast::<pg_sys::Var>(query, NodeTag::T_Var)?;
            let table = table_of(root, column)?;
            let searched = (table, column.varattno, measure.map(|measure| measure as u8), least.to_bits());
            let share = SearchQuestion::new(index, searched).answer(|| {
                let known = selectivity(root, condition, relation) * index.tuples;
                if known > MOST_FOUND { None } else { counted_share(root, index, threshold, column) }
            })?;
            Some(share * (1.0 - of_query.null_share()))
        })
    }
}

/// The number of the operator by which the index finds such sketches, and no others.
fn strategy(index: &IndexOptInfo, threshold: Option<Threshold>) -> Option<u16> {
    // SAFETY: an index of the planner has a family for its first column; the catalog is read.
    unsafe {
        let family = *index.opfamily;
        // An index of a partitioned table has no pages, and so no estimate of its cost.
        if index.relam != GIN || index.amcostestimate.is_none() {
            return None;
        }
        if threshold.is_none() {
            return u16::try_from(pg_sys::get_op_opfamily_strategy(OVERLAP_OPERATOR, family))
                .ok()
                .filter(|&it| it > 0);
        }
        let query_type = ExtensionOids::known()?.sketches.query_type;
        let matches = pg_sys::get_opfamily_member(family, pg_sys::INT8ARRAYOID, query_type, MATCHES);
        let is_ours = matches != pg_sys::InvalidOid && is_sketch_match(pg_sys::get_opcode(matches));
        is_ours.then_some(MATCHES as u16)
    }
}

/// The table that a column is of, if it is one that has pages.
///
/// # Safety
/// The column must be one of the query.
unsafe fn table_of(root: *mut pg_sys::PlannerInfo, column: &pg_sys::Var) -> Option<Oid> {
    // SAFETY: the planner has an entry for each relation.
    unsafe {
        let is_known = (1..(*root).simple_rel_array_size).contains(&column.varno);
        if !is_known || column.varlevelsup != 0 || column.varattno <= 0 {
            return None;
        }
        let entry = &**(*root).simple_rte_array.add(column.varno as usize);
        let has_pages = [pg_sys::RELKIND_RELATION, pg_sys::RELKIND_MATVIEW].contains(&(entry.relkind as u8));
        (entry.rtekind == pg_sys::RTEKind::RTE_RELATION && has_pages).then_some(entry.relid)
    }
}

/// The average share of the rows of an index that a few sketches of a column find.
///
/// # Safety
/// The index and the column must be of the query that is being planned.
unsafe fn counted_share(
    root: *mut pg_sys::PlannerInfo,
    index: &IndexOptInfo,
    threshold: Option<Threshold>,
    column: &pg_sys::Var,
) -> Option<f64> {
    // SAFETY: the planner has both tables and the index locked.
    unsafe {
        if index.tuples < 1.0 || !pg_sys::ActiveSnapshotSet() {
            return None;
        }
        let (strategy, table) = (strategy(index, threshold)?, table_of(root, column)?);
        let open = OpenIndex::of(root, index);
        let table = pg_sys::table_open(table, pg_sys::NoLock as i32);
        let slot = pg_sys::table_slot_create(table, null_mut());
        let pages = pg_sys::RelationGetNumberOfBlocksInFork(table, pg_sys::ForkNumber::MAIN_FORKNUM);
        let mut values = 0;
        let searches = if pages > 0 { MOST_SEARCHES } else { 0 };
        let share = average((0..searches).filter_map(|search| {
            // In the middle of as many equal parts of the table.
            let page = u64::from(pages) * u64::from(2 * search + 1) / u64::from(2 * MOST_SEARCHES);
            let is_read = values < MOST_VALUES && read_row(table, page as u32, search, slot);
            let sketch = is_read.then(|| column_of(slot, column))??;
            let array = Array::<i64>::from_datum(sketch, false)?;
            values += array.len();
            let argument = match threshold {
                Some(threshold) => {
                    SketchQuery { threshold, values: query_values(&array).ok()? }.datum()
                }
                None => sketch,
            };
            Some((1.0, rows_found(open.index, strategy, argument) / index.tuples))
        }));
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        pg_sys::table_close(table, pg_sys::NoLock as i32);
        open.close();
        share
    }
}

/// Reads one of the first rows of a page that are seen, from this place on.
///
/// # Safety
/// The table must be open and locked, and the slot one for its rows.
unsafe fn read_row(
    table: pg_sys::Relation,
    page: u32,
    first: u32,
    slot: *mut pg_sys::TupleTableSlot,
) -> bool {
    // SAFETY: as the caller promises; planning has a snapshot.
    unsafe {
        let Some(fetch) = (*table).rd_tableam.as_ref().and_then(|methods| methods.tuple_fetch_row_version)
        else {
            return false;
        };
        (first..first + PLACES).any(|place| {
            let mut row = pg_sys::ItemPointerData::default();
            pgrx::itemptr::item_pointer_set_all(&mut row, page, (place % PLACES) as u16 + 1);
            let snapshot = pg_sys::GetActiveSnapshot();
            pg_sys::ffi::pg_guard_ffi_boundary(|| fetch(table, &raw mut row, snapshot, slot))
        })
    }
}

/// The value of a column in the row of a slot, if it is not NULL.
///
/// # Safety
/// The slot must have a row of the column's table.
unsafe fn column_of(slot: *mut pg_sys::TupleTableSlot, column: &pg_sys::Var) -> Option<Datum> {
    let place = column.varattno as usize - 1;
    // SAFETY: the slot has room for all columns of the table, of which this is one.
    unsafe {
        read_all(slot);
        (!*(*slot).tts_isnull.add(place)).then(|| *(*slot).tts_values.add(place))
    }
}

/// How many rows a GIN index has for a query, dead ones among them.
///
/// # Safety
/// The index must be open and locked, and its first column have an operator of this number for the argument.
unsafe fn rows_found(index: pg_sys::Relation, strategy: u16, argument: Datum) -> f64 {
    // SAFETY: as the caller promises. GIN looks at the number and the argument of a key.
    unsafe {
        let mut key = pg_sys::ScanKeyData {
            sk_attno: 1,
            sk_strategy: strategy,
            sk_collation: *(*index).rd_indcollation,
            sk_argument: argument,
            ..Default::default()
        };
        let scan = begin_bitmap_scan(index, pg_sys::GetActiveSnapshot());
        pg_sys::index_rescan(scan, &raw mut key, 1, null_mut(), 0);
        let bitmap = pg_sys::tbm_create((pg_sys::work_mem as usize * 1024) as _, null_mut());
        let rows = pg_sys::index_getbitmap(scan, bitmap);
        pg_sys::tbm_free(bitmap);
        pg_sys::index_endscan(scan);
        rows as f64
    }
}

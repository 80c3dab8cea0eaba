//! What share of the pairs of two columns is near, as searches of an index for a few codes show.
//!
//! ANALYZE keeps a hundred values of a column. If half of a million rows lie in clusters of fifty, hardly two
//! of these hundred are near, so they say nothing about a join. A few searches do, and take less than what
//! the join of many rows does.

use super::cost::is_hamming;
use super::search::count_within;
use crate::estimate::condition::Within;
use crate::estimate::statistics::ColumnStatistics;
use crate::pg::code::Code;
use crate::pg::nodes::{cast, constant, elements, is_same_column};
use crate::pg::storage::pages::Pages;
use hamming_index::Layout;
use hamming_index::cost::{leaves_in, leaves_read};
use hamming_index::division::SearchCosts;
use pgrx::pg_sys::{self, IndexOptInfo, Node, NodeTag, Oid};
use std::cell::Cell;

/// Codes that are searched for, at most and at least.
const MOST_SEARCHES: usize = 16;
const LEAST_SEARCHES: usize = 4;

/// Leaves that are read for all of them, at most.
const MOST_LEAVES: f64 = 2000.0;

/// For so few rows on the other side, a search for each of them is fast, and the estimate decides little.
const FEW_ROWS: f64 = 1000.0;

/// Shares that are remembered, since the planner asks for the same one several times.
const REMEMBERED: usize = 8;

/// What a share depends on: an index, its size, the radius, and the codes that were searched for.
type Question = (Oid, u32, u32, u64);

thread_local! {
    static SHARES: Cell<[Option<(Question, f64)>; REMEMBERED]> = const { Cell::new([None; REMEMBERED]) };
}

/// The share of the pairs of rows that the condition holds for, if one of its sides has an index of type
/// `hamming`, and the other one many rows. Both must be columns of type bigint. Of the relation 0, or of that
/// with the index.
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
            let index = index_of(root, column, relation).filter(|_| has_many_rows(root, other))?;
            ColumnStatistics::examine(root, column, 0).filter(ColumnStatistics::is_readable)?;
            let values = [other, column].into_iter().find_map(|side| typical_codes(root, side))?;
            Some(remembered_share(index, &values, radius)? * values.not_null)
        })
    }
}

/// An index of type `hamming` of this column, or of this expression.
///
/// # Safety
/// The column must be an expression of the query.
unsafe fn index_of<'a>(
    root: *mut pg_sys::PlannerInfo,
    column: *mut Node,
    relation: i32,
) -> Option<&'a IndexOptInfo> {
    // SAFETY: relations of the query, which have the indexes that the planner knows.
    unsafe {
        let mut place = -1;
        let is_one = pg_sys::bms_get_singleton_member(pg_sys::pull_varnos(root, column), &raw mut place);
        if !is_one || place >= (*root).simple_rel_array_size || relation != 0 && relation != place {
            return None;
        }
        let owner = (*(*root).simple_rel_array.add(place as usize)).as_ref()?;
        let indexes = elements(owner.indexlist).iter().map(|index| &*index.cast::<IndexOptInfo>());
        let mut fit = indexes.filter(|index| {
            let is_whole = index.indpred.is_null() && !index.hypothetical;
            is_whole && is_hamming(index) && *index.opcintype == pg_sys::INT8OID
        });
        fit.find(|index| {
            let first = elements(index.indextlist).first();
            first.is_some_and(|entry| is_same((*entry.cast::<pg_sys::TargetEntry>()).expr.cast(), column))
        })
    }
}

/// Whether two expressions are the same, apart from outer joins that a column may be NULL by.
///
/// # Safety
/// Both must be expressions of the query.
unsafe fn is_same(a: *mut Node, b: *mut Node) -> bool {
    // SAFETY: expressions.
    unsafe {
        let columns = [a, b].map(|node| cast::<pg_sys::Var>(node, NodeTag::T_Var));
        match columns {
            [Some(a), Some(b)] => is_same_column(a, b),
            _ => pg_sys::equal(a.cast(), b.cast()),
        }
    }
}

/// Whether an expression is of relations that have many rows.
///
/// # Safety
/// `node` must be an expression of the query.
unsafe fn has_many_rows(root: *mut pg_sys::PlannerInfo, node: *mut Node) -> bool {
    // SAFETY: relations of the query.
    unsafe {
        let (mut place, relations) = (-1, pg_sys::pull_varnos(root, node));
        let mut most = 0.0;
        loop {
            place = pg_sys::bms_next_member(relations, place);
            if place < 0 {
                return most >= FEW_ROWS;
            }
            if place < (*root).simple_rel_array_size {
                let of_place = (*(*root).simple_rel_array.add(place as usize)).as_ref();
                most = of_place.map_or(most, |relation| f64::max(most, relation.rows));
            }
        }
    }
}

/// Codes that stand for those of a column.
struct TypicalCodes {
    codes: [(u64, f64); MOST_SEARCHES],
    count: usize,
    /// The share of the rows that have a code.
    not_null: f64,
}

/// # Safety
/// The column must be an expression of the query.
unsafe fn typical_codes(root: *mut pg_sys::PlannerInfo, column: *mut Node) -> Option<TypicalCodes> {
    // SAFETY: an expression of the query.
    let statistics = unsafe { ColumnStatistics::examine(root, column, 0) }?;
    let values = statistics.values();
    let mut typical =
        TypicalCodes { codes: [(0, 0.0); MOST_SEARCHES], count: 0, not_null: 1.0 - statistics.null_share() };
    for known in values.spread(MOST_SEARCHES).take(MOST_SEARCHES) {
        let Code::Fingerprint(code) = known.code else { return None };
        typical.codes[typical.count] = (code, known.share);
        typical.count += 1;
    }
    (typical.count > 0).then_some(typical)
}

/// # Safety
/// The index must be one of the query that is being planned.
unsafe fn remembered_share(index: &IndexOptInfo, values: &TypicalCodes, radius: u32) -> Option<f64> {
    let codes = &values.codes[..values.count];
    let mixed = codes.iter().fold(0u64, |mixed, &(code, _)| mixed.rotate_left(7).wrapping_mul(3) ^ code);
    let question = (index.indexoid, index.pages, radius, mixed);
    let mut shares = SHARES.get();
    let known = shares.iter().flatten().find(|(asked, _)| *asked == question);
    if let Some(&(_, share)) = known {
        return Some(share);
    }
    // SAFETY: an index of the query, as the caller promises.
    let share = unsafe { counted_share(index, codes, radius) }?;
    shares.rotate_right(1);
    shares[0] = Some((question, share));
    SHARES.set(shares);
    Some(share)
}

/// The average share of the rows of an index that are near to these codes.
///
/// # Safety
/// The index must be one of the query that is being planned.
unsafe fn counted_share(index: &IndexOptInfo, codes: &[(u64, f64)], radius: u32) -> Option<f64> {
    let leaves = leaves_in(index.pages, Layout::FINGERPRINTS);
    let searches = (MOST_LEAVES / leaves_read(leaves, radius, hamming::BITS).max(1.0)) as usize;
    if searches < LEAST_SEARCHES || index.tuples < 1.0 {
        return None;
    }
    let costs = SearchCosts::new(Layout::FINGERPRINTS, leaves);
    // SAFETY: the planner has the index locked.
    unsafe {
        let no_lock = pg_sys::NoLock as i32;
        let open = pg_sys::index_open(index.indexoid, no_lock);
        let pages = Pages::of(open);
        let (mut near, mut all) = (0.0, 0.0);
        for &(code, share) in codes.iter().step_by(codes.len().div_ceil(searches)) {
            near += share * count_within(&pages, &costs, code, radius) as f64;
            all += share;
        }
        pg_sys::index_close(open, no_lock);
        (all > 0.0).then(|| (near / all / index.tuples).min(1.0))
    }
}

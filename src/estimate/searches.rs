//! What a few searches of an index show about a join, where ANALYZE's sample is too small to have two rows of
//! one cluster: when they are worth their time, and answers that are remembered.

use crate::pg::nodes::{cast, elements, is_same_column};
use pgrx::pg_sys::{self, IndexOptInfo, Node, NodeTag, Oid};
use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};

/// For so few rows on the other side, a search for each of them is fast, and the estimate decides little.
const FEW_ROWS: f64 = 1000.0;

/// Shares that are remembered, since the planner asks for the same one several times.
const REMEMBERED: usize = 8;

thread_local! {
    static SHARES: Cell<[Option<(SearchQuestion, f64)>; REMEMBERED]> = const { Cell::new([None; REMEMBERED]) };
}

/// What a share depends on: an index, its size, and a hash of what was searched for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct SearchQuestion {
    index: Oid,
    pages: u32,
    searched: u64,
}

impl SearchQuestion {
    pub(crate) fn new(index: &IndexOptInfo, searched: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        searched.hash(&mut hasher);
        Self { index: index.indexoid, pages: index.pages, searched: hasher.finish() }
    }

    /// The share that is remembered, or else the one that is found now.
    pub(crate) fn answer(self, find: impl FnOnce() -> Option<f64>) -> Option<f64> {
        let shares = SHARES.get();
        if let Some(&(_, share)) = shares.iter().flatten().find(|(asked, _)| *asked == self) {
            return Some(share);
        }
        let share = find()?;
        let mut shares = SHARES.get();
        shares.rotate_right(1);
        shares[0] = Some((self, share));
        SHARES.set(shares);
        Some(share)
    }
}

/// An index of the query and its table, opened by the planner's own locks.
pub(crate) struct OpenIndex {
    pub(crate) table: pg_sys::Relation,
    pub(crate) index: pg_sys::Relation,
}

impl OpenIndex {
    /// # Safety
    /// The index must be one of the query that is being planned.
    pub(crate) unsafe fn of(root: *mut pg_sys::PlannerInfo, index: &IndexOptInfo) -> Self {
        // SAFETY: the planner has an entry for each relation, and has the table and its indexes locked.
        unsafe {
            let no_lock = pg_sys::NoLock as i32;
            let table = (**(*root).simple_rte_array.add((*index.rel).relid as usize)).relid;
            let table = pg_sys::table_open(table, no_lock);
            Self { table, index: pg_sys::index_open(index.indexoid, no_lock) }
        }
    }

    pub(crate) fn close(self) {
        // SAFETY: both were opened by us. The planner keeps its locks.
        unsafe {
            pg_sys::index_close(self.index, pg_sys::NoLock as i32);
            pg_sys::table_close(self.table, pg_sys::NoLock as i32);
        }
    }
}

/// The average of numbers that have weights.
pub(crate) fn average(numbers: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (sum, weights) = numbers
        .fold((0.0, 0.0), |(sum, weights), (weight, number)| (sum + weight * number, weights + weight));
    (weights > 0.0).then(|| (sum / weights).min(1.0))
}

/// An index whose first column is this one, or this expression, and which is fit. Of the relation 0, or of
/// that with the column.
///
/// # Safety
/// The column must be an expression of the query.
pub(crate) unsafe fn index_of<'a>(
    root: *mut pg_sys::PlannerInfo,
    column: *mut Node,
    relation: i32,
    is_fit: impl Fn(&IndexOptInfo) -> bool,
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
        let mut fit = indexes.filter(|index| index.indpred.is_null() && !index.hypothetical && is_fit(index));
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

/// Whether an expression is of relations that have many rows, so that a few searches take less than the join.
///
/// # Safety
/// `node` must be an expression of the query.
pub(crate) unsafe fn has_many_rows(root: *mut pg_sys::PlannerInfo, node: *mut Node) -> bool {
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

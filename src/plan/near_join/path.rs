//! What a near join costs, as a path that the planner compares with others.

use super::condition::NearCondition;
use super::kind::JoinKind;
use super::plan::PATH_METHODS;
use crate::pg::compat;
use crate::pg::nodes::{elements, list_of, make};
use pgrx::pg_sys::{self, NodeTag, Path};
use std::ptr::null_mut;

/// Operators, and rows of a plan, in the time that it takes to read a row into memory with its code.
const OPERATORS_PER_ROW: f64 = 4.0;
const TUPLES_PER_ROW: f64 = 3.0;

/// Operators in the time that it takes to write a row to a file and to read it from there.
const OPERATORS_PER_FILED_ROW: f64 = 1.5;

/// Comparisons of words in the time of an operator: some 5 ns against a fifth of one.
const COMPARISONS_PER_OPERATOR: f64 = 20.0;

/// Comparisons of words in the time of a second look, which reads codes from two places in memory.
const COMPARISONS_PER_LOOK: f64 = 40.0;

/// Bytes that a row takes in memory in addition to its columns: its code, its places, and what sorting it
/// into buckets takes.
const BYTES_PER_ROW: f64 = 40.0;

/// Batches of a worker that takes a part of the outer rows. For each, it sorts all inner rows again.
const BATCHES_OF_SHARE: f64 = 3.0;

/// Bytes that a row takes in a file in addition to its columns and its code.
const BYTES_PER_FILED_ROW: f64 = 8.0;

/// The two relations, and the join between them.
pub(super) struct Sides {
    pub(super) root: *mut pg_sys::PlannerInfo,
    pub(super) join: *mut pg_sys::RelOptInfo,
    pub(super) outer: *mut pg_sys::RelOptInfo,
    pub(super) inner: *mut pg_sys::RelOptInfo,
    pub(super) kind: JoinKind,
    /// The conditions of the join that it does not serve.
    pub(super) others: *mut pg_sys::List,
    pub(super) special: *mut pg_sys::SpecialJoinInfo,
    /// The conditions that the near join serves. The first is searched for; the others are compared for the
    /// pairs that are found.
    pub(super) near: Vec<NearCondition>,
}

/// Proposes the near join of the cheapest paths of both sides.
///
/// # Safety
/// The sides must be those of PostgreSQL's hook.
pub(super) unsafe fn propose(sides: &Sides) {
    // SAFETY: relations and paths of the query.
    unsafe {
        let [outer, inner] = [sides.outer, sides.inner].map(|side| (*side).cheapest_total_path);
        let is_free = |path: *mut Path| !path.is_null() && (*path).param_info.is_null();
        if !is_free(outer) || !is_free(inner) {
            return;
        }
        pg_sys::add_path(sides.join, near_path(sides, [&*outer, &*inner], Workers::None));
        propose_parallel(sides);
        propose_shared(sides);
    }
}

/// Proposes that workers share the outer side. Each reads the whole inner side; so none of them knows whether
/// an inner row has a partner.
///
/// # Safety
/// The arguments must be those of [`propose`].
unsafe fn propose_parallel(sides: &Sides) {
    // SAFETY: relations and paths of the query.
    unsafe {
        let inner = pg_sys::get_cheapest_parallel_safe_total_inner((*sides.inner).pathlist);
        let is_safe = (*sides.join).consider_parallel && !inner.is_null();
        let Some(&outer) = elements((*sides.outer).partial_pathlist).first() else { return };
        let outer: *mut Path = outer.cast();
        if is_safe && !sides.kind.keeps_inner() && (*outer).param_info.is_null() {
            let workers = Workers::ShareOuter((*outer).parallel_workers);
            pg_sys::add_partial_path(sides.join, near_path(sides, [&*outer, &*inner], workers));
        }
    }
}

/// Proposes that workers read both sides together, and divide them. Sketches cannot be divided.
///
/// # Safety
/// The arguments must be those of [`propose`].
unsafe fn propose_shared(sides: &Sides) {
    // SAFETY: relations and paths of the query, and a setting.
    unsafe {
        let can_divide = sides.near.iter().all(|near| near.passes().is_some());
        let [outer, inner] =
            [sides.outer, sides.inner].map(|side| elements((*side).partial_pathlist).first().copied());
        let (Some(outer), Some(inner), true) = (outer, inner, can_divide && (*sides.join).consider_parallel)
        else {
            return;
        };
        let [outer, inner]: [*mut Path; 2] = [outer.cast(), inner.cast()];
        if pg_sys::enable_parallel_hash && (*outer).param_info.is_null() && (*inner).param_info.is_null() {
            let workers = Workers::ShareBoth((*outer).parallel_workers);
            pg_sys::add_partial_path(sides.join, near_path(sides, [&*outer, &*inner], workers));
        }
    }
}

/// So many workers that return a part of the rows each.
#[derive(Clone, Copy, PartialEq)]
enum Workers {
    None,
    /// Each joins a part of the outer rows with all inner rows.
    ShareOuter(i32),
    /// They read a part of both sides each, and join a part of the pairs.
    ShareBoth(i32),
}

/// A path for so many workers, or for none.
///
/// # Safety
/// The arguments must be those of [`propose`], and paths of the two sides.
unsafe fn near_path(sides: &Sides, [outer, inner]: [&Path; 2], workers: Workers) -> *mut Path {
    // SAFETY: nodes of the planner.
    unsafe {
        let join = &*sides.join;
        let path = make::<pg_sys::CustomPath>(NodeTag::T_CustomPath);
        path.path.pathtype = NodeTag::T_CustomScan;
        path.path.parent = sides.join;
        path.path.pathtarget = join.reltarget;
        let (share, count) = match workers {
            Workers::None => (0.0, 0),
            Workers::ShareOuter(count) => (outer_share(sides, count), count),
            Workers::ShareBoth(count) => (0.0, count),
        };
        path.path.parallel_workers = count;
        path.path.parallel_aware = matches!(workers, Workers::ShareBoth(_));
        path.path.rows = join.rows * (outer.rows / (*sides.outer).rows.max(outer.rows)).min(1.0);
        let cost = cost(sides, [outer, inner], path.path.rows, workers);
        path.path.startup_cost = cost.startup;
        path.path.total_cost = cost.total;
        path.path.parallel_safe = join.consider_parallel && outer.parallel_safe && inner.parallel_safe;
        path.flags = pg_sys::CUSTOMPATH_SUPPORT_PROJECTION;
        compat::add_disabled_nodes(&mut path.path, [outer, inner]);
        let children = [outer, inner].map(|path| std::ptr::from_ref(path).cast_mut().cast());
        path.custom_paths = list_of(&children);
        let mut numbers = pg_sys::lappend_int(null_mut(), sides.kind as i32);
        numbers = pg_sys::lappend_int(numbers, ((*sides.root).tuple_fraction > 0.0).into());
        numbers = pg_sys::lappend_int(numbers, share as i32);
        let mut clauses = null_mut();
        for near in &sides.near {
            numbers = pg_sys::lappend_int(numbers, near.outer as i32);
            numbers = pg_sys::lappend_int(numbers, near.measure.number());
            clauses = pg_sys::lappend(clauses, near.call.cast());
        }
        path.custom_private = list_of(&[numbers.cast(), clauses.cast(), sides.others.cast()]);
        path.methods = &raw const PATH_METHODS.0;
        std::ptr::from_mut(path).cast()
    }
}

/// Outer rows for each process of a parallel plan, as far as they are estimated.
///
/// # Safety
/// The arguments must be those of [`propose`].
unsafe fn outer_share(sides: &Sides, workers: i32) -> f64 {
    // SAFETY: a relation of the query, and a setting.
    unsafe {
        let processes = workers + i32::from(pg_sys::parallel_leader_participation);
        ((*sides.outer).rows / f64::from(processes)).max(1.0)
    }
}

#[derive(Default)]
struct Cost {
    startup: f64,
    total: f64,
}

/// The inner side is read whole before the first row, and both sides if they are shared; the rest grows with
/// the rows of the outer side.
///
/// # Safety
/// The arguments must be those of [`near_path`], and the rows that it returns.
unsafe fn cost(sides: &Sides, [outer, inner]: [&Path; 2], rows: f64, workers: Workers) -> Cost {
    // SAFETY: nodes of the planner, and settings.
    unsafe {
        let (operator, tuple) = (pg_sys::cpu_operator_cost, pg_sys::cpu_tuple_cost);
        let reading = OPERATORS_PER_ROW * operator + TUPLES_PER_ROW * tuple;
        let [searched, looks @ ..] = &sides.near[..] else { return Cost::default() };
        let is_shared = matches!(workers, Workers::ShareBoth(_));
        // Processes that share both sides do a part of what one would do.
        let (processes, inner_rows) = match is_shared {
            true => (((*sides.outer).rows / outer.rows).max(1.0), (*sides.inner).rows),
            false => (1.0, inner.rows),
        };
        let search = search(sides, searched, [outer, inner], [outer.rows * processes, inner_rows], workers);
        let mut near = outer.rows * inner_rows * selectivity(sides, searched);
        let mut comparisons = search.comparisons / processes;
        for look in looks {
            comparisons += near * COMPARISONS_PER_LOOK;
            near *= selectivity(sides, look);
        }
        let mut quals = pg_sys::QualCost::default();
        pg_sys::cost_qual_eval(&raw mut quals, sides.others, sides.root);
        let target = &*(*sides.join).reltarget;
        let of_outer = outer.total_cost - outer.startup_cost + outer.rows * reading;
        let startup = outer.startup_cost
            + inner.total_cost
            + quals.startup
            + target.cost.startup
            + inner.rows * reading
            + if is_shared { of_outer } else { 0.0 };
        let run = if is_shared { 0.0 } else { of_outer }
            + search.filed_rows / processes * operator * OPERATORS_PER_FILED_ROW
            + comparisons / COMPARISONS_PER_OPERATOR * operator
            + near * quals.per_tuple
            + rows * (tuple + target.cost.per_tuple)
            + search.pages / processes * pg_sys::seq_page_cost;
        Cost { startup, total: startup + run }
    }
}

/// What it takes to find near pairs.
struct NearSearch {
    comparisons: f64,
    /// Rows that are written to files or read from them.
    filed_rows: f64,
    /// Pages that are written or read.
    pages: f64,
}

/// What memory has no room for is written, then read and divided once in each pass. Sketches are not divided:
/// their outer side is read again for each part of the inner one.
///
/// # Safety
/// The arguments must be those of [`near_path`].
unsafe fn search(
    sides: &Sides,
    searched: &NearCondition,
    paths: [&Path; 2],
    rows: [f64; 2],
    workers: Workers,
) -> NearSearch {
    // SAFETY: a setting.
    let memory = unsafe { pg_sys::get_hash_memory_limit() } as f64;
    let both = rows.map(|rows| rows.max(1.0));
    let bytes_of_row = [0, 1].map(|side| {
        // SAFETY: a path of the planner.
        let width = f64::from(unsafe { (*paths[side].pathtarget).width });
        let near = sides.near.iter().map(|near| near.bytes()[side]).sum::<f64>();
        width + near
    });
    let bytes = |side: usize, further: f64| both[side] * (bytes_of_row[side] + further);
    let [outer, inner] = [0, 1].map(|side| bytes(side, BYTES_PER_ROW));
    let rounds = (inner / (memory / 2.0)).ceil().max(1.0);
    let least = if matches!(workers, Workers::ShareOuter(_)) { BATCHES_OF_SHARE } else { 1.0 };
    let batches = (outer / (memory / 4.0)).ceil().max(least);
    let pages = |bytes: f64| (bytes / f64::from(pg_sys::BLCKSZ)).ceil();
    match searched.passes() {
        _ if rounds == 1.0 && !matches!(workers, Workers::ShareBoth(_)) => NearSearch {
            comparisons: searched.comparisons(both, [batches, 1.0]),
            filed_rows: 0.0,
            pages: 0.0,
        },
        Some(passes) => NearSearch {
            comparisons: searched.comparisons(both, [1.0; 2]),
            filed_rows: (1.0 + 2.0 * passes) * (both[0] + both[1]),
            pages: (1.0 + 3.0 * passes)
                * pages(bytes(0, BYTES_PER_FILED_ROW) + bytes(1, BYTES_PER_FILED_ROW)),
        },
        None => NearSearch {
            comparisons: searched.comparisons(both, [batches, rounds]),
            filed_rows: rounds * both[0],
            pages: (1.0 + rounds) * pages(outer),
        },
    }
}

/// The share of pairs that are near.
///
/// # Safety
/// The arguments must be those of [`near_path`].
unsafe fn selectivity(sides: &Sides, condition: &NearCondition) -> f64 {
    // SAFETY: a condition of the join.
    unsafe {
        pg_sys::clause_selectivity(
            sides.root,
            condition.call.cast(),
            0,
            pg_sys::JoinType::JOIN_INNER,
            sides.special,
        )
    }
}

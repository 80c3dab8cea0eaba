//! The cost of a near join, and the paths that it proposes to the planner.

use super::condition::NearCondition;
use super::kind::{BySide, JoinKind, Side};
use super::memory;
use super::plan::PATH_METHODS;
use super::stored::{StoredJoin, StoredPath};
use crate::pg::compat;
use crate::pg::node::{Node, Nodes};
use crate::pg::planner::{Planner, Relation};
use crate::pg::settings::setting;
use pgrx::pg_sys::{self, NodeTag, Path};
use std::ptr::{from_mut, from_ref};

/// The time to read a row into memory, or to extract a word of a bit string, counted in operators. One takes
/// some 16 ns: a sequential scan takes 80 ns for a row, whose cost is that of five operators. A word takes up
/// to two operators. With six, the choice between a near join and searches of an index, which cost as much as
/// if its pages were not in memory, is right within a factor of two (`make bench ONLY=choice`).
const OPERATORS_PER_READ: f64 = 6.0;

/// The time to write or read a page of a temporary file with its rows, in reads of a page of a table. Such
/// files are mostly in the cache of the operating system: some 1 us against 6.4 us.
const PAGE_READS_PER_FILE_PAGE: f64 = 0.4;

/// How many words are compared in the time of an operator: some 16 ns against 0.8 ns, as many runs are short.
const COMPARISONS_PER_OPERATOR: f64 = 20.0;

/// Bytes that a row takes in memory in addition to its columns: its code, its places, and the memory in which
/// rows are sorted into buckets.
const BYTES_PER_ROW: f64 = 40.0;

/// What is known of the join that is proposed.
pub(super) struct Sides<'p> {
    pub(super) planner: Planner<'p>,
    pub(super) join: Relation<'p>,
    pub(super) outer: Relation<'p>,
    pub(super) inner: Relation<'p>,
    pub(super) kind: JoinKind,
    /// The conditions of the join that the near join does not serve.
    pub(super) others: Nodes<'p>,
    pub(super) special: *mut pg_sys::SpecialJoinInfo,
    /// The conditions that the near join serves. The first one needs the fewest comparisons if codes are
    /// scattered.
    pub(super) near: Vec<NearCondition<'p>>,
}

/// Proposes near joins of the cheapest paths of both sides.
pub(super) fn propose(sides: &Sides) {
    let [outer, inner] = [sides.outer, sides.inner].map(|side| side.cheapest(false));
    let (Some(outer), Some(inner)) = (outer, inner) else { return };
    add_path(sides, [outer, inner], Workers::None);
    if !sides.join.consider_parallel {
        return;
    }
    let [partial_outer, partial_inner] = [sides.outer, sides.inner].map(|side| side.cheapest(true));
    let Some(outer) = partial_outer else { return };
    // Each process reads the whole inner side, so none can tell which inner rows are unmatched.
    // SAFETY: the list has paths. PostgreSQL returns one without parameters, or null.
    let inner = unsafe { pg_sys::get_cheapest_parallel_safe_total_inner(sides.inner.pathlist).as_ref() };
    if let (Some(inner), false) = (inner, sides.kind.fills(Side::Inner)) {
        add_path(sides, [outer, inner], Workers::ShareOuter(outer.parallel_workers));
    }
    if let (Some(inner), true) = (partial_inner, setting!(enable_parallel_hash)) {
        add_path(sides, [outer, inner], Workers::ShareBoth(outer.parallel_workers));
    }
}

/// How many workers there are, and how the processes divide the work.
#[derive(Clone, Copy, PartialEq)]
enum Workers {
    None,
    /// Each process joins a part of the outer rows with all inner rows.
    ShareOuter(i32),
    /// Each process reads a part of both sides, and joins a part of the pairs.
    ShareBoth(i32),
}

/// Proposes the near join of one path of each side.
fn add_path(sides: &Sides, [outer, inner]: [&Path; 2], workers: Workers) {
    let join = sides.join;
    let path = sides.planner.make::<pg_sys::CustomPath>();
    path.path.pathtype = NodeTag::T_CustomScan;
    path.path.parent = join.pointer();
    path.path.pathtarget = join.reltarget;
    let processes = |workers| f64::from(workers + i32::from(setting!(parallel_leader_participation)));
    let (portion, count) = match workers {
        Workers::None => (0.0, 0),
        Workers::ShareOuter(count) => ((sides.outer.rows / processes(count)).max(1.0), count),
        Workers::ShareBoth(count) => (0.0, count),
    };
    path.path.parallel_workers = count;
    path.path.parallel_aware = matches!(workers, Workers::ShareBoth(_));
    path.path.rows = join.rows * (outer.rows / sides.outer.rows.max(outer.rows)).min(1.0);
    [path.path.startup_cost, path.path.total_cost] = cost(sides, [outer, inner], path.path.rows, workers);
    path.path.parallel_safe = join.consider_parallel && outer.parallel_safe && inner.parallel_safe;
    path.flags = pg_sys::CUSTOMPATH_SUPPORT_PROJECTION;
    compat::add_disabled_nodes(&mut path.path, [outer, inner]);
    // SAFETY: the lists have nodes of the planner, and the path belongs to the join.
    unsafe {
        let children = [outer, inner].map(|path| Node::new(from_ref(path).cast_mut()));
        path.custom_paths = Nodes::of(&children).pointer();
        let stored = StoredJoin {
            kind: sides.kind,
            may_end_early: sides.planner.info().tuple_fraction > 0.0,
            portion: portion as usize,
            // Bounded: as many as the query has conditions.
            near: sides.near.iter().map(|near| (near.first, near.codes)).collect(),
        };
        let calls = sides.near.iter().map(|near| Node::of(near.call)).collect();
        path.custom_private = StoredPath { join: stored.write(), calls, others: sides.others }.write();
        path.methods = &raw const PATH_METHODS.0;
        if compat::set_conditions(path, sides.others) {
            join.propose(from_mut(path).cast(), count > 0);
        }
    }
}

/// The cost before the first row, and the total cost. Before the first row, the whole inner side is read, and
/// the outer side too if the processes share both. The rest grows with the outer rows.
fn cost(sides: &Sides, [outer, inner]: [&Path; 2], rows: f64, workers: Workers) -> [f64; 2] {
    let (operator, tuple, page) =
        (setting!(cpu_operator_cost), setting!(cpu_tuple_cost), setting!(seq_page_cost));
    let cut: f64 = sides.near.iter().map(NearCondition::cut_words).sum();
    let reading = OPERATORS_PER_READ * (1.0 + cut) * operator;
    let Some(searched) = sides.near.first() else { return [0.0; 2] };
    let is_shared = matches!(workers, Workers::ShareBoth(_));
    // Each of the processes that share both sides does its part of the search.
    let (processes, inner_rows) = match is_shared {
        true => ((sides.outer.rows / outer.rows).max(1.0), sides.inner.rows),
        false => (1.0, inner.rows),
    };
    let read = BySide([outer.rows * processes, inner_rows]).map(|rows| rows.max(1.0));
    // Pairs that are near by the code that selects the fewest pairs are tested by the other conditions.
    let least =
        sides.near.iter().map(|near| near.selectivity(sides.planner, sides.special)).fold(1.0, f64::min);
    let near = outer.rows * inner_rows * least;
    let mut quals = pg_sys::QualCost::default();
    // SAFETY: the conditions and the target belong to the join.
    let target = unsafe {
        pg_sys::cost_qual_eval(&raw mut quals, sides.others.pointer(), sides.planner.pointer());
        (*sides.join.reltarget).cost
    };
    let of_outer = outer.total_cost - outer.startup_cost + outer.rows * reading;
    let startup = outer.startup_cost
        + inner.total_cost
        + quals.startup
        + target.startup
        + inner.rows * reading
        + if is_shared { of_outer } else { 0.0 };
    let run = if is_shared { 0.0 } else { of_outer }
        + searched.comparisons(read) / processes / COMPARISONS_PER_OPERATOR * operator
        + near * quals.per_tuple
        + rows * (tuple + target.per_tuple)
        + file_pages(searched, sides, BySide([outer, inner]), read, is_shared) / processes
            * page
            * PAGE_READS_PER_FILE_PAGE;
    [startup, startup + run]
}

/// How many pages of temporary files are written or read, if memory has no room for the rows. Each pass
/// divides them by its part of the bits, in rounds, and reads the outer rows of a partition again for each
/// load of inner ones.
fn file_pages(
    searched: &NearCondition,
    sides: &Sides,
    paths: BySide<&Path>,
    rows: BySide<f64>,
    is_shared: bool,
) -> f64 {
    let codes = sides.near.iter().map(NearCondition::bytes).sum::<f64>();
    let BySide([outer, inner]) = BySide::of(|side| {
        // SAFETY: a path of the planner has a target.
        rows[side] * (f64::from(unsafe { (*paths[side].pathtarget).width }) + codes)
    });
    if inner + rows[Side::Inner] * BYTES_PER_ROW <= memory::of_inner() as f64 && !is_shared {
        return 0.0;
    }
    let (most, bits) = (outer.max(inner), 8.0 * searched.bytes() / searched.passes());
    let partitions = (most / memory::of_planned_partition() as f64).clamp(1.0, bits.exp2());
    let rounds = (partitions.log2() / (memory::files() as f64).log2()).ceil().max(1.0);
    let loads = (most / partitions / memory::of_load() as f64).ceil();
    let pages = |reads| (1.0 + searched.passes() * (2.0 * rounds + reads)) / f64::from(pg_sys::BLCKSZ);
    (outer * pages(loads) + inner * pages(1.0)).ceil()
}

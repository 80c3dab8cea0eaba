//! The cost of a near join, and the paths that it proposes to the planner.

use super::condition::NearCondition;
use super::kind::{BySide, JoinKind, Side};
use super::memory;
use super::plan::NearJoinPath;
use super::stored::StoredJoin;
use crate::pg::custom_path::CustomPathParts;
use crate::pg::join_paths::PlannedJoin;
use crate::pg::node::Nodes;
use crate::pg::path::Path;
use crate::pg::settings::setting;
use pgrx::pg_sys;

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
pub(super) struct Sides<'a, 'p> {
    pub(super) planned: &'a PlannedJoin<'p>,
    pub(super) kind: JoinKind,
    /// The conditions of the join that the near join does not serve.
    pub(super) others: Nodes<'p>,
    /// The conditions that the near join serves. The first one needs the fewest comparisons if codes are
    /// scattered.
    pub(super) near: Vec<NearCondition<'p>>,
}

/// Proposes near joins of the cheapest paths of both sides.
pub(super) fn propose(sides: &Sides) {
    let Sides { planned, kind, .. } = sides;
    let sides_of_join = [planned.outer(), planned.inner()];
    if let [Some(outer), Some(inner)] = sides_of_join.map(|side| side.cheapest(false)) {
        add_path(sides, BySide([outer, inner]), Workers::None);
    } else {
        return;
    }
    if !planned.join().considers_parallel() {
        return;
    }
    let [partial_outer, partial_inner] = sides_of_join.map(|side| side.cheapest(true));
    let Some(outer) = partial_outer else { return };
    // Each process reads the whole inner side, so none can tell which inner rows are unmatched.
    if !kind.fills(Side::Inner)
        && let Some(inner) = planned.inner().cheapest_parallel_safe()
    {
        add_path(sides, BySide([outer, inner]), Workers::ShareOuter(outer.workers()));
    }
    if setting!(enable_parallel_hash)
        && let Some(inner) = partial_inner
    {
        add_path(sides, BySide([outer, inner]), Workers::ShareBoth(outer.workers()));
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
fn add_path<'p>(sides: &Sides<'_, 'p>, paths: BySide<Path<'p>>, workers: Workers) {
    let planned = sides.planned;
    let rows_of_outer = planned.outer().rows();
    let processes = |workers| f64::from(workers + i32::from(setting!(parallel_leader_participation)));
    let (portion, count) = match workers {
        Workers::None => (0.0, 0),
        Workers::ShareOuter(count) => ((rows_of_outer / processes(count)).max(1.0), count),
        Workers::ShareBoth(count) => (0.0, count),
    };
    let read = paths[Side::Outer].rows();
    let rows = planned.join().rows() * (read / rows_of_outer.max(read)).min(1.0);
    let cost = cost(sides, paths, rows, workers);
    let stored = StoredJoin {
        kind: sides.kind,
        may_end_early: planned.planner().may_end_early(),
        portion: portion as usize,
        // Bounded: as many as the query has conditions.
        near: sides.near.iter().map(|near| (near.first, near.codes)).collect(),
    };
    let calls: Nodes = sides.near.iter().map(|near| near.call.node()).collect();
    planned.propose_custom::<NearJoinPath>(CustomPathParts {
        children: &paths.0,
        rows,
        startup_cost: cost.startup,
        total_cost: cost.startup + cost.run,
        workers: count,
        shares_memory: matches!(workers, Workers::ShareBoth(_)),
        numbers: &stored.numbers(),
        conditions: &[calls, sides.others],
        tested: sides.others,
    });
}

/// The cost of a near join.
struct JoinCost {
    /// Before the first row.
    startup: f64,
    /// From then on.
    run: f64,
}

/// Before the first row, the whole inner side is read, and the outer side too if the processes share both.
/// The rest grows with the outer rows.
fn cost(sides: &Sides, paths: BySide<Path>, rows: f64, workers: Workers) -> JoinCost {
    let planned = sides.planned;
    let BySide([outer, inner]) = paths;
    let operator = setting!(cpu_operator_cost);
    let cut: f64 = sides.near.iter().map(NearCondition::cut_words).sum();
    let reading = OPERATORS_PER_READ * (1.0 + cut) * operator;
    let Some(searched) = sides.near.first() else { return JoinCost { startup: 0.0, run: 0.0 } };
    let is_shared = matches!(workers, Workers::ShareBoth(_));
    // Each of the processes that share both sides does its part of the search.
    let (processes, inner_rows) = match is_shared {
        true => ((planned.outer().rows() / outer.rows()).max(1.0), planned.inner().rows()),
        false => (1.0, inner.rows()),
    };
    let read = BySide([outer.rows() * processes, inner_rows]).map(|rows| rows.max(1.0));
    // Pairs that are near by the code that selects the fewest pairs are tested by the other conditions.
    let least = sides.near.iter().map(|near| planned.selectivity(near.call)).fold(1.0, f64::min);
    let near = outer.rows() * inner_rows * least;
    let quals = planned.cost_of_tests(sides.others);
    let target = planned.join().cost_of_columns();
    let of_outer = outer.total_cost() - outer.startup_cost() + outer.rows() * reading;
    let startup = outer.startup_cost()
        + inner.total_cost()
        + quals.startup
        + target.startup
        + inner.rows() * reading
        + if is_shared { of_outer } else { 0.0 };
    let run = if is_shared { 0.0 } else { of_outer }
        + searched.comparisons(read) / processes / COMPARISONS_PER_OPERATOR * operator
        + near * quals.per_tuple
        + rows * (setting!(cpu_tuple_cost) + target.per_tuple)
        + file_pages(searched, sides, paths, read, is_shared) / processes
            * setting!(seq_page_cost)
            * PAGE_READS_PER_FILE_PAGE;
    JoinCost { startup, run }
}

/// How many pages of temporary files are written or read, if memory has no room for the rows. Each pass
/// divides them by its part of the bits, in rounds, and reads the outer rows of a partition again for each
/// load of inner ones.
fn file_pages(
    searched: &NearCondition,
    sides: &Sides,
    paths: BySide<Path>,
    rows: BySide<f64>,
    is_shared: bool,
) -> f64 {
    let codes = sides.near.iter().map(NearCondition::bytes).sum::<f64>();
    let BySide([outer, inner]) = BySide::of(|side| rows[side] * (paths[side].width() + codes));
    if inner + rows[Side::Inner] * BYTES_PER_ROW <= memory::of_inner() as f64 && !is_shared {
        return 0.0;
    }
    let most = outer.max(inner);
    let bits = 8.0 * searched.bytes() / searched.passes();
    let partitions = (most / memory::of_planned_partition() as f64).clamp(1.0, bits.exp2());
    let rounds = (partitions.log2() / (memory::files() as f64).log2()).ceil().max(1.0);
    let loads = (most / partitions / memory::of_load() as f64).ceil();
    let pages = |reads| (1.0 + searched.passes() * (2.0 * rounds + reads)) / f64::from(pg_sys::BLCKSZ);
    (outer * pages(loads) + inner * pages(1.0)).ceil()
}

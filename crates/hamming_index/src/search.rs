//! The question that a scan of the index asks, and how the answer is put together, batch by batch.

use crate::cost::{first_radius, next_radius};
use crate::key::{Key, RowId, Tree};
use crate::layout::Layout;
use crate::range::{Ball, Range};
use crate::sorted::Sorted;
use crate::store::Store;
use crate::tree::{Index, Walk};
use limits::{Collector, OutOfMemory};
use std::cmp::Ordering;

/// The rows that a scan wants, and their order.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// A fingerprint has to lie in all of these balls.
    pub balls: Vec<Ball>,
    /// Whether rows with a fingerprint are wanted.
    pub values: bool,
    /// Whether rows without a fingerprint are wanted. They lie in no ball.
    pub nulls: bool,
    /// Rows are ordered by their distance from the first of these; where that is equal, by that from the
    /// next. Rows without a fingerprint come last. If the list is empty, rows come in any order.
    pub nearest_to: Vec<u64>,
}

/// A row that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Where the row is in the table.
    pub row: RowId,
    /// The row's fingerprint, if it has one and rows are ordered.
    pub fingerprint: Option<u64>,
}

/// A search under way. It holds no locks and no pages between two batches.
pub struct Search {
    tree_leaves: f64,
    stages: Vec<Stage>,
}

enum Stage {
    Range(Range),
    /// A whole tree, from the key on.
    Tree(Tree, Key),
    Nearest(Nearest),
}

impl Search {
    /// Begins a search. A tree has about `tree_leaves` leaves. Ordered results are found in pieces that
    /// grow to about `max_sorted`, each by a search of its own.
    pub fn new(query: Query, tree_leaves: f64, max_sorted: usize) -> Self {
        let Query { mut balls, values, nulls, nearest_to } = query;
        // The smallest ball, which finds the least, is searched. Its rows are checked against the others.
        balls.sort_by_key(|ball| ball.radius);
        let mut stages = Vec::new();
        if nulls && balls.is_empty() {
            stages.push(Stage::Tree(Layout::FINGERPRINTS.nulls(), Key::FIRST));
        }
        if values {
            stages.push(if let Some((&center, others)) = nearest_to.split_first() {
                // Bounded: the distances that a query is ordered by.
                Stage::Nearest(Nearest::new(center, others.to_vec(), balls, tree_leaves, max_sorted))
            } else if balls.is_empty() {
                Stage::Tree(0, Key::FIRST)
            } else {
                let ball = balls.remove(0);
                Stage::Range(Range::new(ball, balls, tree_leaves))
            });
        }
        Self { tree_leaves, stages }
    }

    /// Appends a further part of the answer, in order. Returns false when there is no more.
    pub fn next_batch<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        hits: &mut Vec<Hit>,
    ) -> Result<bool, OutOfMemory> {
        let Some(stage) = self.stages.last_mut() else { return Ok(false) };
        index.store.check_for_interrupts();
        let is_done = match stage {
            Stage::Range(range) => {
                let mut hits = Collector::new(hits);
                range.step(index, u64::BITS, &mut |_, row| hits.add(Hit { row, fingerprint: None }));
                hits.finish()?;
                range.is_done()
            }
            Stage::Tree(tree, from) => {
                let mut hits = Collector::new(hits);
                let walk = index.entries(*tree, *from, &mut |entry| {
                    hits.add(Hit { row: entry.row, fingerprint: None });
                });
                hits.finish()?;
                match walk {
                    Walk::From(key) => *from = key,
                    Walk::Done => {}
                }
                matches!(walk, Walk::Done)
            }
            Stage::Nearest(nearest) => nearest.pass(index, self.tree_leaves, hits)?,
        };
        if is_done {
            self.stages.pop();
        }
        Ok(true)
    }
}

/// Something found: its distance from the center, its fingerprint and its row.
type Found = (u32, u64, RowId);

/// Rows in the order of their distances; equal distances in the order of `others`, then of fingerprints and
/// rows. Ranges of growing radius are searched, each of which reports the rows beyond the one before.
struct Nearest {
    center: u64,
    /// Fingerprints whose distances decide between rows that are equally near the center.
    others: Vec<u64>,
    /// No wanted row is farther from the center.
    max_radius: u32,
    /// Balls that a row must lie in as well.
    also: Vec<Ball>,
    /// A ball around another fingerprint that is searched instead, because it is no larger than
    /// `max_radius`.
    instead: Option<Ball>,
    /// The radius of the next pass.
    radius: u32,
    /// The results of a pass.
    sorted: Sorted<Found>,
}

impl Nearest {
    fn new(center: u64, others: Vec<u64>, balls: Vec<Ball>, tree_leaves: f64, max_sorted: usize) -> Self {
        let (around, mut also): (Vec<Ball>, Vec<Ball>) =
            balls.into_iter().partition(|ball| ball.center == center);
        let max_radius = around.iter().map(|ball| ball.radius).min().unwrap_or(u64::BITS);
        let instead = (!also.is_empty() && also[0].radius <= max_radius).then(|| also.remove(0));
        let radius = if instead.is_some() { max_radius } else { first_radius(tree_leaves).min(max_radius) };
        Self { center, others, max_radius, also, instead, radius, sorted: Sorted::new(max_sorted) }
    }

    /// Appends the next results, in order. Returns whether these were the last.
    fn pass<S: Store>(
        &mut self,
        index: &Index<'_, S>,
        tree_leaves: f64,
        hits: &mut Vec<Hit>,
    ) -> Result<bool, OutOfMemory> {
        let (center, radius) = (self.center, self.radius);
        let ball = self.instead.unwrap_or(Ball { center, radius });
        let mut range = Range::new(ball, self.also.clone(), tree_leaves);
        let Self { others, sorted, .. } = self;
        let compare = |a: &Found, b: &Found| in_order(others, a, b);
        while !range.is_done() {
            index.store.check_for_interrupts();
            // A distance from the center, which need not be the center of the ball.
            let farthest = sorted.last().map_or(radius, |(distance, ..)| distance);
            let limit = if self.instead.is_some() { ball.radius } else { farthest };
            let mut refusal = None;
            range.step(index, limit, &mut |bits, row| {
                let distance = (bits ^ center).count_ones();
                if distance <= radius && refusal.is_none() {
                    refusal = sorted.add((distance, bits, row), compare).err();
                }
            });
            refusal.map_or(Ok(()), Err)?;
        }
        let hit = |(_, bits, row)| Hit { row, fingerprint: Some(bits) };
        let is_cut = sorted.take(compare, hit, hits)?;
        if !is_cut {
            self.radius = next_radius(tree_leaves, radius).min(self.max_radius);
        }
        Ok(!is_cut && radius == self.max_radius)
    }
}

/// Tells which of two results comes first: the nearer one; where that is equal, the one nearer to the others.
fn in_order(others: &[u64], a: &Found, b: &Found) -> Ordering {
    let nearer = |center: &u64| (a.1 ^ center).count_ones().cmp(&(b.1 ^ center).count_ones());
    let by_others = || others.iter().map(nearer).find(|order| order.is_ne());
    a.0.cmp(&b.0).then_with(|| by_others().unwrap_or_else(|| (a.1, a.2).cmp(&(b.1, b.2))))
}

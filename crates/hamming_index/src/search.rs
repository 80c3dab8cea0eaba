//! What a scan of the index asks, and how the answer is put together.

use crate::cost::{FIRST_SORTED, MORE_SORTED, first_radius, next_radius};
use crate::key::{Key, NULLS, RowId};
use crate::range::{Ball, Range};
use crate::store::Store;
use crate::tree::{Index, Walk};
use std::cmp::Ordering;

/// Which rows, and in which order.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Fingerprints have to be in all of these.
    pub balls: Vec<Ball>,
    /// Whether rows with a fingerprint are wanted.
    pub values: bool,
    /// Whether rows without one are wanted. There are none within balls.
    pub nulls: bool,
    /// Nearest to the first of these first, where that is equal nearest to the next, and rows without a
    /// fingerprint last. In any order if there are none.
    pub nearest_to: Vec<u64>,
}

/// A row that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The row.
    pub row: RowId,
    /// Its fingerprint, if it has one and rows are ordered.
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
    Tree(u8, Key),
    Nearest(Nearest),
}

impl Search {
    /// Begins a search. A tree has about `tree_leaves` leaves; ordered results are collected until there are
    /// `max_sorted` of them, and then searched for anew.
    pub fn new(query: Query, tree_leaves: f64, max_sorted: usize) -> Self {
        let Query { mut balls, values, nulls, nearest_to } = query;
        // The one that finds the least is searched for, the others are looked at.
        balls.sort_by_key(|ball| ball.radius);
        let mut stages = Vec::new();
        if nulls && balls.is_empty() {
            stages.push(Stage::Tree(NULLS, Key::FIRST));
        }
        if values {
            stages.push(if let Some((&center, others)) = nearest_to.split_first() {
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

    /// Appends some more of the answer, in order. Returns false when there is no more.
    pub fn next_batch<S: Store>(&mut self, index: &Index<'_, S>, hits: &mut Vec<Hit>) -> bool {
        let Some(stage) = self.stages.last_mut() else { return false };
        index.store.check_for_interrupts();
        let is_done = match stage {
            Stage::Range(range) => {
                let mut report = |_, row| hits.push(Hit { row, fingerprint: None });
                range.step(index, u64::BITS, &mut report);
                range.is_done()
            }
            Stage::Tree(tree, from) => {
                let walk = index.entries(*tree, *from, &mut |entry| {
                    hits.push(Hit { row: entry.row, fingerprint: None });
                });
                match walk {
                    Walk::From(key) => *from = key,
                    Walk::Done => {}
                }
                matches!(walk, Walk::Done)
            }
            Stage::Nearest(nearest) => nearest.pass(index, self.tree_leaves, hits),
        };
        if is_done {
            self.stages.pop();
        }
        true
    }
}

/// Something found: its distance from the center, its fingerprint and its row.
type Found = (u32, u64, RowId);

/// Up to where results go.
#[derive(Clone, Copy)]
enum Bound {
    /// All up to this distance.
    Distance(u32),
    /// Up to this one.
    Result(Found),
}

/// Rows in the order of their distances, and of their fingerprints and rows where these are equal: ranges of
/// growing radius, each of which reports what lies beyond the one before.
struct Nearest {
    center: u64,
    /// What decides among the equally near.
    others: Vec<u64>,
    /// Nothing is farther.
    max_radius: u32,
    /// What else has to hold.
    also: Vec<Ball>,
    /// If something else restricts more than the distance: what is searched instead.
    instead: Option<Ball>,
    radius: u32,
    /// What was reported so far.
    reported: Option<Bound>,
    sorted: usize,
    max_sorted: usize,
}

impl Nearest {
    fn new(center: u64, others: Vec<u64>, balls: Vec<Ball>, tree_leaves: f64, max_sorted: usize) -> Self {
        let (around, mut also): (Vec<Ball>, Vec<Ball>) =
            balls.into_iter().partition(|ball| ball.center == center);
        let max_radius = around.iter().map(|ball| ball.radius).min().unwrap_or(u64::BITS);
        let instead = (!also.is_empty() && also[0].radius <= max_radius).then(|| also.remove(0));
        let radius = if instead.is_some() { max_radius } else { first_radius(tree_leaves).min(max_radius) };
        let max_sorted = max_sorted.max(1);
        let sorted = FIRST_SORTED.min(max_sorted);
        Self { center, others, max_radius, also, instead, radius, reported: None, sorted, max_sorted }
    }

    /// Which of two comes first.
    fn compare(&self, a: &Found, b: &Found) -> Ordering {
        let nearer = |center: &u64| (a.1 ^ center).count_ones().cmp(&(b.1 ^ center).count_ones());
        let by_others = || self.others.iter().map(nearer).find(|order| order.is_ne());
        a.0.cmp(&b.0).then_with(|| by_others().unwrap_or_else(|| (a.1, a.2).cmp(&(b.1, b.2))))
    }

    fn is_beyond(&self, found: &Found, bound: Bound) -> bool {
        match bound {
            Bound::Distance(distance) => found.0 > distance,
            Bound::Result(last) => self.compare(found, &last).is_gt(),
        }
    }

    /// Appends the next results. Returns whether these were the last.
    fn pass<S: Store>(&mut self, index: &Index<'_, S>, tree_leaves: f64, hits: &mut Vec<Hit>) -> bool {
        let (center, radius) = (self.center, self.radius);
        let ball = self.instead.unwrap_or(Ball { center, radius });
        let mut range = Range::new(ball, self.also.clone(), tree_leaves);
        let mut found: Vec<Found> = Vec::new();
        // Nothing after this is wanted. What was dropped lies after it as well.
        let mut last = Bound::Distance(radius);
        let mut is_cut = false;
        while !range.is_done() {
            index.store.check_for_interrupts();
            let farthest = match last {
                Bound::Distance(distance) | Bound::Result((distance, ..)) => distance,
            };
            // The distance is one from our center, which need not be that of the ball.
            let limit = if self.instead.is_some() { ball.radius } else { farthest };
            range.step(index, limit, &mut |bits, row| {
                let result = ((bits ^ center).count_ones(), bits, row);
                let is_new = self.reported.is_none_or(|reported| self.is_beyond(&result, reported));
                if is_new && !self.is_beyond(&result, last) {
                    found.push(result);
                }
            });
            if found.len() > 2 * self.sorted {
                let nth = found.select_nth_unstable_by(self.sorted - 1, |a, b| self.compare(a, b)).1;
                last = Bound::Result(*nth);
                found.truncate(self.sorted);
                is_cut = true;
            }
        }
        found.sort_unstable_by(|a, b| self.compare(a, b));
        hits.extend(found.iter().map(|&(_, bits, row)| Hit { row, fingerprint: Some(bits) }));
        if is_cut {
            self.reported = found.last().map(|&last| Bound::Result(last));
            self.sorted = (self.sorted * MORE_SORTED).min(self.max_sorted);
        } else {
            self.reported = Some(Bound::Distance(radius));
            self.radius = next_radius(tree_leaves, radius).min(self.max_radius);
        }
        !is_cut && radius == self.max_radius
    }
}

//! What a scan of the index asks, and how the answer is put together.

use crate::cost::{entries_in, is_flat, leaves_read, radius_of};
use crate::key::{BANDS, Key, NULLS, Row};
use crate::range::{Ball, Range};
use crate::store::Store;
use crate::tree::{Index, Walk};

/// Which rows, and in which order.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Fingerprints have to be in all of these.
    pub balls: Vec<Ball>,
    /// Whether rows with a fingerprint are wanted.
    pub values: bool,
    /// Whether rows without one are wanted. There are none within balls.
    pub nulls: bool,
    /// Nearest to this first, and rows without a fingerprint last.
    pub nearest_to: Option<u64>,
}

/// A row that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The row.
    pub row: Row,
    /// How far it is from what it is ordered by, if it is ordered and has a fingerprint.
    pub distance: Option<u32>,
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
            stages.push(match nearest_to {
                Some(center) => Stage::Nearest(Nearest::new(center, balls, tree_leaves, max_sorted)),
                None if balls.is_empty() => Stage::Tree(0, Key::FIRST),
                None => {
                    let ball = balls.remove(0);
                    Stage::Range(Range::new(ball, balls, tree_leaves))
                }
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
                let mut report = |_, row| hits.push(Hit { row, distance: None });
                range.step(index, u64::BITS, &mut report);
                range.is_done()
            }
            Stage::Tree(tree, from) => {
                let walk = index.entries(*tree, *from, &mut |entry| {
                    hits.push(Hit { row: entry.row, distance: None });
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

/// Ordered results begin with so many, for most queries want a few.
const FIRST_SORTED: usize = 1000;
/// And become so many times more each time that those were not enough.
const MORE_SORTED: usize = 8;
/// Where fingerprints are scattered, the third radius is that within which so many are expected.
const FEW: f64 = 20.0;
/// From there on, the next radius is one that reads at least so many times as many leaves, so that all searches
/// together read at most about three times as many as the last.
const MORE_LEAVES: f64 = 1.5;

/// After all keys.
const LAST: Key = Key { bits: u64::MAX, row: Row::LAST };

/// Rows in the order of their distance, and of their keys where that is equal: ranges of growing radius, each
/// of which reports what lies beyond the one before.
struct Nearest {
    center: u64,
    /// Nothing is farther.
    max_radius: u32,
    /// What else has to hold.
    also: Vec<Ball>,
    /// If something else restricts more than the distance: what is searched instead.
    instead: Option<Ball>,
    radius: u32,
    /// What was reported so far: everything up to here.
    reported: Option<(u32, Key)>,
    sorted: usize,
    max_sorted: usize,
}

impl Nearest {
    fn new(center: u64, balls: Vec<Ball>, tree_leaves: f64, max_sorted: usize) -> Self {
        let (around, mut also): (Vec<Ball>, Vec<Ball>) =
            balls.into_iter().partition(|ball| ball.center == center);
        let max_radius = around.iter().map(|ball| ball.radius).min().unwrap_or(u64::BITS);
        let instead = (!also.is_empty() && also[0].radius <= max_radius).then(|| also.remove(0));
        // One leaf of each band.
        let first = if is_flat(tree_leaves, BANDS as u32 - 1) { u64::BITS } else { BANDS as u32 - 1 };
        let radius = if instead.is_some() { max_radius } else { first.min(max_radius) };
        let max_sorted = max_sorted.max(1);
        let sorted = FIRST_SORTED.min(max_sorted);
        Self { center, max_radius, also, instead, radius, reported: None, sorted, max_sorted }
    }

    /// Appends the next results. Returns whether these were the last.
    fn pass<S: Store>(&mut self, index: &Index<'_, S>, tree_leaves: f64, hits: &mut Vec<Hit>) -> bool {
        let (center, radius, reported) = (self.center, self.radius, self.reported);
        let ball = self.instead.unwrap_or(Ball { center, radius });
        let mut range = Range::new(ball, self.also.clone(), tree_leaves);
        let mut found: Vec<(u32, Key)> = Vec::new();
        // Nothing after this is wanted. What was dropped lies after it as well.
        let mut last = (radius, LAST);
        let mut is_cut = false;
        while !range.is_done() {
            index.store.check_for_interrupts();
            // The distance is one from our center, which need not be that of the ball.
            let limit = if self.instead.is_some() { ball.radius } else { last.0 };
            range.step(index, limit, &mut |bits, row| {
                let result = ((bits ^ center).count_ones(), Key { bits, row });
                if result <= last && Some(result) > reported {
                    found.push(result);
                }
            });
            if found.len() > 2 * self.sorted {
                last = *found.select_nth_unstable(self.sorted - 1).1;
                found.truncate(self.sorted);
                is_cut = true;
            }
        }
        found.sort_unstable();
        hits.extend(found.iter().map(|&(distance, Key { row, .. })| Hit { row, distance: Some(distance) }));
        if is_cut {
            self.reported = found.last().copied();
            self.sorted = (self.sorted * MORE_SORTED).min(self.max_sorted);
        } else {
            self.reported = Some((radius, LAST));
            self.radius = self.next_radius(tree_leaves);
        }
        !is_cut && radius == self.max_radius
    }

    /// Most queries have something near, or nothing nearer than what is scattered everywhere: so the radius grows
    /// from that of one leaf for each band to one more bit in each, to where the scattered ones begin, and then
    /// step by step. (With a million and with ten million rows this takes half as long where nothing is
    /// near as growing by [`MORE_LEAVES`] from the start.)
    fn next_radius(&self, tree_leaves: f64) -> u32 {
        let one_more_bit = 2 * BANDS as u32 - 1;
        let scattered = radius_of(FEW, entries_in(tree_leaves));
        let enough = MORE_LEAVES * leaves_read(tree_leaves, self.radius);
        let next = [one_more_bit, scattered].into_iter().find(|&radius| radius > self.radius).or_else(|| {
            (self.radius + 1..u64::BITS).find(|&radius| leaves_read(tree_leaves, radius) >= enough)
        });
        match next {
            Some(radius) if !is_flat(tree_leaves, radius) => radius.min(self.max_radius),
            _ => self.max_radius,
        }
    }
}

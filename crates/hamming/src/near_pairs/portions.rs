//! A search between two sides whose pairs are taken in portions, so that not all of them are in memory at the
//! same time.

use super::plan::{BitSegment, JoinPlan, JoinSides};
use super::{CodeRadii, CodeSlice, PairJoin, PairOrder, PairSink, PairStop, SortedSides};
use base::{Heartbeat, OutOfMemory, push};
use std::mem::take;

/// If rows have filled less than this part of the room, twice as many are compared at a time.
const FEW: usize = 4;

/// A search for the near pairs between two sides.
///
/// It goes through the rows on the left in the order of buckets, and looks for them in buckets on the right.
/// Between two portions, both sides stay sorted.
pub struct PairSearch {
    radii: CodeRadii,
    widest: u32,
    plan: JoinPlan,
    /// Segments whose pairs have been reported.
    earlier: Vec<BitSegment>,
    /// The number of the current segment, and whether the rows are sorted by it.
    segment: usize,
    is_sorted: bool,
    sorted: SortedSides,
    /// The next row on the left, in the order of buckets.
    next: usize,
    /// How many rows of a bucket are compared at a time.
    step: usize,
}

impl PairSearch {
    /// A search by the segments of a plan. Pairs that the earlier segments find are left out.
    pub(super) fn new(plan: JoinPlan, earlier: Vec<BitSegment>, radii: CodeRadii, widest: u32) -> Self {
        let sorted = SortedSides::default();
        let step = usize::MAX;
        Self { radii, widest, plan, earlier, segment: 0, is_sorted: false, sorted, next: 0, step }
    }

    /// Plans a search between codes with the same number of words.
    ///
    /// Buckets are chosen by at most `widest` bits, at least 1. The buckets of a side take `4 << widest`
    /// bytes.
    pub fn between(
        codes: [CodeSlice<'_>; 2],
        radii: impl Into<CodeRadii>,
        widest: u32,
    ) -> Result<Self, OutOfMemory> {
        let radii = radii.into();
        let plan = JoinSides::between(larger_first(codes)).plan(&radii, widest)?;
        Ok(Self::new(plan, Vec::new(), radii, widest))
    }

    /// The number of the code that leads: the pairs are found by its segments. Crowds may be joined by other
    /// codes.
    pub fn leading(&self) -> usize {
        self.plan.segments.first().map_or(0, |segment| self.radii.code_of(segment.word))
    }

    /// Finds all pairs at once, in no particular order: of a code on the left, at place `a`, and one on the
    /// right, at place `b`, or of two codes of the only side, where `a < b`.
    ///
    /// # Panics
    /// If there are more than `u32::MAX` codes on a side.
    pub fn all<F: PairSink>(
        self,
        sides: JoinSides<'_>,
        heartbeat: &mut dyn Heartbeat,
        sink: &mut F,
    ) -> Result<(), F::Stop> {
        let inputs = [sides.left.codes, sides.right.unwrap_or(sides.left).codes];
        let order = if sides.right.is_some() { PairOrder::Left } else { PairOrder::Smaller };
        let mut join = PairJoin::new(inputs, &self.radii, self.widest, order, heartbeat, sink);
        join.earlier = self.earlier;
        join.run(&self.plan, &sides)
    }

    /// Finds more pairs of the codes, which have to be the same in each call. Returns whether there may be
    /// further pairs.
    ///
    /// The sink takes at most `room` pairs, or the pairs of a single code if that code has more.
    ///
    /// # Panics
    /// If there are more than `u32::MAX` codes on a side.
    pub fn portion<F: PairSink>(
        &mut self,
        codes: [CodeSlice<'_>; 2],
        room: usize,
        heartbeat: &mut dyn Heartbeat,
        sink: &mut F,
    ) -> Result<bool, F::Stop> {
        let ordered = larger_first(codes);
        let sides = JoinSides::between(ordered);
        let mut portion = Portion { sink, limit: 0, taken: 0, pairs: Vec::new() };
        let radii = self.radii.clone();
        let order = if ordered[0].len() == codes[0].len() { PairOrder::Left } else { PairOrder::Right };
        let mut join = PairJoin::new(ordered, &radii, self.widest, order, heartbeat, &mut portion);
        join.earlier = take(&mut self.earlier);
        let mut sorted = take(&mut self.sorted);
        while let Some(segment) = self.plan.segments.get(self.segment).cloned() {
            if !self.is_sorted {
                sorted.fill(&sides, &segment, join.heartbeat)?;
                self.is_sorted = true;
                self.next = 0;
            }
            if self.rows_of(&segment, &sorted, room, &mut join)? {
                self.sorted = sorted;
                self.earlier = join.earlier;
                return Ok(true);
            }
            push(&mut join.earlier, segment)?;
            self.segment += 1;
            self.is_sorted = false;
        }
        Ok(false)
    }

    /// Goes on with the rows of a segment. Returns whether there is no room for more pairs.
    fn rows_of<F: PairSink>(
        &mut self,
        segment: &BitSegment,
        sorted: &SortedSides,
        room: usize,
        join: &mut PairJoin<'_, Portion<'_, F>>,
    ) -> Result<bool, F::Stop> {
        let tables = sorted.tables(segment, join.inputs);
        let reported = join.earlier.len();
        while let Some(&value) = tables.left.values.get(self.next) {
            let bucket = match segment.parities {
                None => segment.bits.of(value),
                Some(_) => tables.left.bucket_at(self.next),
            };
            let end = tables.left.range(bucket).end.min(self.next.saturating_add(self.step));
            let rows = self.next..end;
            let taken = join.sink.taken;
            let is_single = rows.len() == 1;
            join.sink.limit = if taken == 0 && is_single { usize::MAX } else { room.saturating_sub(taken) };
            match join.bucket(&tables, bucket, rows.clone(), &sorted.flips) {
                Ok(()) => {
                    if join.sink.pairs.len() <= join.sink.limit / FEW {
                        self.step = self.step.saturating_mul(2);
                    }
                    join.sink.pass_on()?;
                    self.next = rows.end;
                }
                Err(PairStop::OfSink(stop)) => return Err(stop),
                Err(PairStop::Full) => {
                    join.sink.pairs.clear();
                    join.crowds.clear();
                    join.earlier.truncate(reported);
                    if taken > 0 {
                        return Ok(true);
                    }
                    self.step = rows.len() / 2;
                }
            }
        }
        Ok(false)
    }
}

/// The two sides, the larger one first: the other is read in random order, and so best fits into the cache.
fn larger_first<'a>([codes, others]: [CodeSlice<'a>; 2]) -> [CodeSlice<'a>; 2] {
    if codes.len() < others.len() { [others, codes] } else { [codes, others] }
}

/// Keeps the pairs of some rows until all of them have been found.
struct Portion<'a, F> {
    sink: &'a mut F,
    /// The number of pairs that the sink has taken.
    taken: usize,
    limit: usize,
    pairs: Vec<(u32, u32)>,
}

impl<F: PairSink> Portion<'_, F> {
    /// Passes the pairs on to the sink.
    fn pass_on(&mut self) -> Result<(), F::Stop> {
        self.taken += self.pairs.len();
        self.pairs.drain(..).try_for_each(|(a, b)| self.sink.found(a, b))
    }
}

impl<F: PairSink> PairSink for Portion<'_, F> {
    const AT_A_TIME: usize = F::AT_A_TIME;
    type Stop = PairStop<F::Stop>;

    fn found(&mut self, a: u32, b: u32) -> Result<(), Self::Stop> {
        if self.pairs.len() == self.limit {
            return Err(PairStop::Full);
        }
        Ok(push(&mut self.pairs, (a, b))?)
    }

    fn wants(&mut self, these: &[u32], those: &[u32], heartbeat: &mut dyn Heartbeat) -> bool {
        self.sink.wants(these, those, heartbeat)
    }

    fn retain(&mut self, pairs: &mut Vec<(u32, u32)>, heartbeat: &mut dyn Heartbeat) {
        self.sink.retain(pairs, heartbeat);
    }

    fn compared(&mut self, comparisons: u64) {
        self.sink.compared(comparisons);
    }
}

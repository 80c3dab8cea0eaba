//! Set joins: which of many sketches share a value with another sketch, or a share of their values.
//!
//! Sketches are indexed by their values. For a query, an index counts how many values each sketch shares with
//! it. Whether that is enough is decided exactly from sizes and counts, as in a comparison of two sketches.
//!
//! If `n` values have to be shared, a match has one of any values that remain without `n - 1` of them. So the
//! most frequent `n - 1` values are only looked up for sketches that share one of the others: the prefix
//! filter of Chaudhuri, Ganti and Kaushik 2006, and of PPJoin (Xiao, Wang, Lin, Yu and Wang 2011). Sketches
//! that are too small or too large, or have too few values left, are dropped early.

use super::sort::{drop_repeated, sort_values};
use super::threshold::{LeastShared, Threshold};
use crate::hash::GOLDEN_RATIO;
use base::{Heartbeat, OutOfMemory, collect, extend, push, sort};
use std::iter::repeat_n;
use std::ops::Range;

/// How many values are counted or moved between two heartbeats.
const STRIDE: usize = 1 << 14;

/// How many values are counted in the time in which a sketch is looked up among those that have a value.
const COUNTS_PER_LOOK_UP: usize = 16;

/// The least average number of values per bucket of an index.
const OF_BUCKET: usize = 2;

/// Up to this number of entries, all are read instead of searched.
const FEW: usize = 16;

/// The condition for two sketches to match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SketchMatch {
    /// They have a common value.
    AnyShared,
    /// The indexed sketch and the other one, the query, have a share of common values.
    Share(Threshold),
}

/// Sketches as sets: sorted, without repeated values.
#[derive(Debug, Default)]
pub struct SketchList {
    values: Vec<i64>,
    ends: Vec<usize>,
}

impl SketchList {
    /// Bytes per value, including those that are needed to make an index.
    pub const BYTES_PER_VALUE: usize = size_of::<i64>() + SketchIndex::BYTES_PER_VALUE;

    /// Bytes per sketch in addition to its values, in the list and in an index.
    const BYTES_PER_SKETCH: usize = 2 * size_of::<usize>() + 2 * size_of::<u32>();

    /// Adds a sketch. Its values may be repeated and in any order.
    pub fn push(&mut self, sketch: &[i64], heartbeat: &mut dyn Heartbeat) -> Result<(), OutOfMemory> {
        let first = self.values.len();
        extend(&mut self.values, sketch)?;
        if !sketch.is_sorted_by(|a, b| a < b) {
            sort_values(&mut self.values[first..], heartbeat);
            drop_repeated(&mut self.values, first);
        }
        push(&mut self.ends, self.values.len())
    }

    /// The number of sketches.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no sketches.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all sketches.
    pub fn clear(&mut self) {
        self.values.clear();
        self.ends.clear();
    }

    /// Bytes of the sketches and of an index of them.
    pub fn bytes(&self) -> usize {
        self.values.len() * Self::BYTES_PER_VALUE + self.len() * Self::BYTES_PER_SKETCH
    }

    /// The values of a sketch.
    pub fn get(&self, sketch: usize) -> &[i64] {
        let start = if sketch == 0 { 0 } else { self.ends[sketch - 1] };
        &self.values[start..self.ends[sketch]]
    }
}

/// The bucket of a value. `buckets` must be a power of two. The upper bits of the product are evenly
/// distributed (Knuth, volume 3, 6.4). The values of sketches are not, since they are the least of many
/// hashes.
fn bucket_of(value: i64, buckets: usize) -> usize {
    ((value as u64).wrapping_mul(GOLDEN_RATIO) >> (u64::BITS - buckets.ilog2())) as usize
}

/// An index of sketches by their values.
pub struct SketchIndex {
    /// The end of each bucket's entries.
    ends: Vec<usize>,
    /// Each value with a sketch that has it, bucket by bucket, and sorted within a bucket.
    entries: Vec<(i64, u32)>,
    /// The number of values of each sketch.
    sizes: Vec<u32>,
    /// For each candidate, how many values it shares with the query, as far as they were counted. Zero for
    /// all other sketches.
    counts: Vec<u32>,
    candidates: Vec<u32>,
    /// For each value of the query, the range of its entries.
    lists: Vec<Range<usize>>,
    /// The number of values that were looked up or counted.
    comparisons: u64,
}

impl SketchIndex {
    const BYTES_PER_VALUE: usize = size_of::<(i64, u32)>() + size_of::<usize>() / OF_BUCKET;

    /// Indexes the sketches of a list.
    pub fn of(list: &SketchList, heartbeat: &mut dyn Heartbeat) -> Result<Self, OutOfMemory> {
        let (values, sketches) = (list.values.len(), list.len());
        // There are at least two buckets.
        let count = (values.next_power_of_two() / OF_BUCKET / 2).max(2);
        let mut ends = collect(repeat_n(0, count), count)?;
        for values in list.values.chunks(STRIDE) {
            heartbeat.beat();
            values.iter().for_each(|&value| ends[bucket_of(value, count)] += 1);
        }
        let mut sum = 0;
        for end in &mut ends {
            (*end, sum) = (sum, sum + *end);
        }
        let mut entries = collect(repeat_n((0, 0), values), values)?;
        for sketch in 0..sketches {
            for values in list.get(sketch).chunks(STRIDE) {
                heartbeat.beat();
                for &value in values {
                    // At first the beginning of each bucket; at the end, its end.
                    let place = &mut ends[bucket_of(value, count)];
                    entries[*place] = (value, sketch as u32);
                    *place += 1;
                }
            }
        }
        let mut start = 0;
        for ends in ends.chunks(STRIDE) {
            heartbeat.beat();
            for &end in ends {
                sort(&mut entries[start..end], heartbeat, |&entry| entry);
                start = end;
            }
        }
        let sizes = (0..sketches).map(|sketch| list.get(sketch).len() as u32);
        Ok(Self {
            ends,
            entries,
            sizes: collect(sizes, sketches)?,
            counts: collect(repeat_n(0, sketches), sketches)?,
            candidates: Vec::new(),
            lists: Vec::new(),
            comparisons: 0,
        })
    }

    /// The number of values that all searches have looked up or counted.
    pub fn comparisons(&self) -> u64 {
        self.comparisons
    }

    /// The sketches that match this query, in any order.
    pub fn search(
        &mut self,
        query: &[i64],
        wanted: SketchMatch,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<&[u32], OutOfMemory> {
        heartbeat.beat();
        self.candidates.iter().for_each(|&sketch| self.counts[sketch as usize] = 0);
        self.candidates.clear();
        let values = query.len();
        match wanted {
            SketchMatch::AnyShared => {
                self.find_lists(query)?;
                self.count(0..self.lists.len(), heartbeat)?;
            }
            SketchMatch::Share(threshold) => match threshold.least_shared(values) {
                LeastShared::Never => {}
                LeastShared::Unknown => self.find_all(threshold, values)?,
                LeastShared::Exactly(least) => self.find_sharing(query, threshold, least, heartbeat)?,
                LeastShared::BySize => {
                    if let Some((_, least)) = threshold.least_shared_by_size(values).next() {
                        self.find_sharing(query, threshold, least, heartbeat)?;
                    }
                }
            },
        }
        Ok(&self.candidates)
    }

    /// Finds the sketches that match without a common value, if none has to be shared.
    fn find_all(&mut self, threshold: Threshold, values: usize) -> Result<(), OutOfMemory> {
        for (sketch, &size) in self.sizes.iter().enumerate() {
            if threshold.is_enough(size as usize, values, 0) {
                push(&mut self.candidates, sketch as u32)?;
            }
        }
        self.comparisons += self.sizes.len() as u64;
        Ok(())
    }

    /// Finds the sketches that have the share. They must have at least `least` common values with the query.
    fn find_sharing(
        &mut self,
        query: &[i64],
        threshold: Threshold,
        least: usize,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), OutOfMemory> {
        self.find_lists(query)?;
        let lists = self.lists.len();
        if lists < least {
            return Ok(());
        }
        let rare = lists - (least - 1);
        if rare < lists {
            sort(&mut self.lists, heartbeat, Range::len);
        }
        self.count(0..rare, heartbeat)?;
        self.retain(threshold, query.len(), lists - rare);
        for list in rare..lists {
            let is_long = self.lists[list].len() / COUNTS_PER_LOOK_UP > self.candidates.len();
            if is_long {
                heartbeat.beat();
                self.retain(threshold, query.len(), lists - list);
                self.look_up(list);
            } else {
                self.count_candidates(list, heartbeat);
            }
        }
        self.retain(threshold, query.len(), 0);
        Ok(())
    }

    /// Finds the entries of each value of the query that has any.
    fn find_lists(&mut self, query: &[i64]) -> Result<(), OutOfMemory> {
        self.lists.clear();
        self.comparisons += query.len() as u64;
        for &value in query {
            let bucket = bucket_of(value, self.ends.len());
            let start = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
            let entries = &self.entries[start..self.ends[bucket]];
            let (below, count) = match entries.len() {
                // Without branches on the entries, the processor loads several buckets at the same time.
                ..=FEW => {
                    (count_of(entries, |other| other < value), count_of(entries, |other| other == value))
                }
                _ => {
                    let below = entries.partition_point(|&(other, _)| other < value);
                    (below, entries[below..].partition_point(|&(other, _)| other == value))
                }
            };
            if count > 0 {
                push(&mut self.lists, start + below..start + below + count)?;
            }
        }
        Ok(())
    }

    /// Counts the values of these lists for each sketch that has one. The sketch becomes a candidate.
    fn count(&mut self, lists: Range<usize>, heartbeat: &mut dyn Heartbeat) -> Result<(), OutOfMemory> {
        for list in &self.lists[lists] {
            self.comparisons += list.len() as u64;
            for entries in self.entries[list.clone()].chunks(STRIDE) {
                heartbeat.beat();
                for &(_, sketch) in entries {
                    let count = &mut self.counts[sketch as usize];
                    if *count == 0 {
                        push(&mut self.candidates, sketch)?;
                    }
                    *count += 1;
                }
            }
        }
        Ok(())
    }

    /// Counts the value of a list for each candidate that has it.
    fn count_candidates(&mut self, list: usize, heartbeat: &mut dyn Heartbeat) {
        let list = self.lists[list].clone();
        self.comparisons += list.len() as u64;
        for entries in self.entries[list].chunks(STRIDE) {
            heartbeat.beat();
            for &(_, sketch) in entries {
                let count = &mut self.counts[sketch as usize];
                *count += u32::from(*count > 0);
            }
        }
    }

    /// Looks each candidate up in a list, which must be much longer than the list of candidates.
    fn look_up(&mut self, list: usize) {
        let entries = &self.entries[self.lists[list].clone()];
        self.comparisons += self.candidates.len() as u64;
        for sketch in &self.candidates {
            if entries.binary_search_by_key(sketch, |&(_, sketch)| sketch).is_ok() {
                self.counts[*sketch as usize] += 1;
            }
        }
    }

    /// Keeps the candidates that can still have the share, if they have all values of `more` further lists.
    fn retain(&mut self, threshold: Threshold, values: usize, more: usize) {
        let Self { candidates, counts, sizes, .. } = self;
        candidates.retain(|&sketch| {
            let (size, count) = (sizes[sketch as usize] as usize, &mut counts[sketch as usize]);
            let is_kept = threshold.is_enough(size, values, (*count as usize + more).min(size));
            if !is_kept {
                *count = 0;
            }
            is_kept
        });
    }
}

/// How many entries have a value that satisfies the condition.
fn count_of(entries: &[(i64, u32)], is_such: impl Fn(i64) -> bool) -> usize {
    entries.iter().map(|&(value, _)| usize::from(is_such(value))).sum()
}

#[cfg(test)]
mod tests {
    use super::super::overlap::{Overlap, overlaps};
    use super::super::threshold::Measure;
    use super::*;
    use proptest::prelude::*;

    fn list(sketches: &[Vec<i64>]) -> SketchList {
        let mut list = SketchList::default();
        sketches.iter().for_each(|sketch| list.push(sketch, &mut || ()).unwrap());
        list
    }

    fn matches(query: &[i64], sketch: &[i64], wanted: SketchMatch) -> bool {
        match wanted {
            SketchMatch::AnyShared => overlaps(query, sketch, &mut || ()).unwrap(),
            SketchMatch::Share(threshold) => {
                threshold.is_met(Overlap::of(sketch, query, &mut || ()).unwrap()) == Some(true)
            }
        }
    }

    fn any_match() -> impl Strategy<Value = SketchMatch> {
        let odd = prop::sample::select(vec![f64::NAN, -1.0, -0.0, 0.0, f64::MIN_POSITIVE, 1.0, 1.5]);
        let share = (1..8u32, 1..8u32).prop_map(|(a, b)| f64::from(a) / f64::from(b));
        let measure = prop::sample::select(vec![Measure::Similarity, Measure::OfQuery, Measure::OfSketch]);
        let share = (measure, prop_oneof![odd, 0.0..1.0, share])
            .prop_map(|(measure, least)| SketchMatch::Share(Threshold { measure, least }));
        prop_oneof![Just(SketchMatch::AnyShared), share.clone(), share]
    }

    /// Few different values, one of which is very frequent, or any values.
    fn any_sketches(most: usize) -> impl Strategy<Value = Vec<Vec<i64>>> {
        let value = prop_oneof![Just(7), -20i64..20, 0i64..3, any::<i64>()];
        let spread = prop::collection::vec(prop::collection::vec(value, 0..20), 0..most);
        let few = prop::collection::vec(prop::collection::vec(0i64..9, 0..12), 0..most);
        prop_oneof![spread, few]
    }

    proptest! {
        #[test]
        fn a_join_finds_what_comparisons_find(
            sketches in any_sketches(80),
            queries in any_sketches(12),
            wanted in any_match(),
        ) {
            let mut index = SketchIndex::of(&list(&sketches), &mut || ()).unwrap();
            let queries_as_sets = list(&queries);
            // Each search is made twice: nothing may remain of an earlier search.
            for (place, query) in queries.iter().enumerate().chain(queries.iter().enumerate()) {
                let mut found = index.search(queries_as_sets.get(place), wanted, &mut || ()).unwrap().to_vec();
                found.sort_unstable();
                let naive: Vec<u32> = (0..sketches.len() as u32)
                    .filter(|&sketch| matches(query, &sketches[sketch as usize], wanted))
                    .collect();
                prop_assert_eq!(found, naive);
            }
        }
    }

    #[test]
    fn frequent_values_are_looked_up_for_candidates() {
        // All sketches share three values. Each has seven more, half of which another sketch has too.
        let own = |sketch: i64, from| (from..7).map(move |value| 1000 + 10 * sketch + value);
        let sketches: Vec<Vec<i64>> = (0..2000i64)
            .map(|sketch| (0..3).chain(own(sketch, 0)).collect())
            .chain((0..2000i64).map(|sketch| (0..3).chain(own(sketch, 3)).collect()))
            .collect();
        let list = list(&sketches);
        for (least, matches) in [(0.5, 2), (0.8, 1)] {
            let mut index = SketchIndex::of(&list, &mut || ()).unwrap();
            let wanted = SketchMatch::Share(Threshold { measure: Measure::Similarity, least });
            let found: usize =
                (0..2000).map(|query| index.search(list.get(query), wanted, &mut || ()).unwrap().len()).sum();
            assert_eq!(found, 2000 * matches);
            assert!(index.comparisons() < 2000 * 40, "{} comparisons", index.comparisons());
        }
    }

    #[test]
    fn joins_have_a_pulse() {
        let mut beats = 0;
        let same = vec![vec![1, 2, 3]; 100_000];
        let mut index = SketchIndex::of(&list(&same), &mut || beats += 1).unwrap();
        assert!(beats >= 3 * same.len() / STRIDE, "{beats} heartbeats");
        beats = 0;
        assert_eq!(index.search(&[3], SketchMatch::AnyShared, &mut || beats += 1).unwrap().len(), same.len());
        assert!(beats >= same.len() / STRIDE, "{beats} heartbeats");
    }
}

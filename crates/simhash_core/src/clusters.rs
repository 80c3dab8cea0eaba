//! Clusters of fingerprints: which rows are versions of one another, and which of them is to be kept.
//!
//! Rows come in an order, and the first row of a cluster is its keeper. There are two linkages:
//!
//! - **Leader**: a row that is within the radius of an earlier keeper belongs to the earliest such keeper; any other row is
//!   a keeper. So every row is within the radius of its keeper, two rows of a cluster differ in at most twice as many bits, and
//!   no two keepers are near each other. This is the lexicographically first maximal independent set of the graph of near
//!   pairs.
//! - **Connected**: rows that are within the radius of one another are in one cluster, and so are those to which chains of
//!   such rows lead. Chains have no bound: with a generous radius they join what has nothing in common.
//!
//! Guarantee: exactly what the definitions say, whatever the data; the result is a function of the values in their order. Cost:
//! one pass of [`near_pairs`] over the distinct values; for leaders more than one where near pairs are very many
//! (see [`leaders`]). Memory: some 50 bytes a row, and for leaders 8 bytes for each of at most 2^25 pairs.

use crate::buckets::{BitRun, Buckets};
use crate::error::{OutOfMemory, collect, reserve};
use crate::near_pairs::near_pairs;

/// What makes a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Every row is near its keeper.
    Leader,
    /// Every row is near some row of its cluster.
    Connected,
}

/// There is no such linkage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLinkage(pub String);

impl Linkage {
    /// What can be parsed.
    pub const VALID: &str = "leader and connected";
}

impl std::str::FromStr for Linkage {
    type Err = UnknownLinkage;

    fn from_str(name: &str) -> Result<Self, UnknownLinkage> {
        match name {
            "leader" => Ok(Self::Leader),
            "connected" => Ok(Self::Connected),
            _ => Err(UnknownLinkage(name.to_owned())),
        }
    }
}

/// How far the work has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Which pass over the pairs, from 1.
    pub pass: u32,
    /// The share of this pass that is done.
    pub share: f64,
}

/// Pairs that are kept at a time.
const MAX_PAIRS: usize = 1 << 25;

/// For each value the place of its keeper, which is the value's own place if it is one.
///
/// `heartbeat` is called every few milliseconds, in sorting less often; it may unwind to stop the work.
///
/// # Panics
/// If there are more than `u32::MAX` values.
pub fn keepers(
    values: &[u64],
    radius: u32,
    linkage: Linkage,
    heartbeat: &mut dyn FnMut(Progress),
) -> Result<Vec<u32>, OutOfMemory> {
    let mut keepers = first_equals(values, &mut || heartbeat(Progress { pass: 1, share: 0.0 }))?;
    let is_first = |place: &u32| keepers[*place as usize] == *place;
    let all = 0..values.len() as u32;
    let firsts: Vec<u32> = collect(all.clone().filter(is_first), all.filter(is_first).count())?;
    let distinct: Vec<u64> = collect(firsts.iter().map(|&place| values[place as usize]), firsts.len())?;
    let keepers_of_distinct = match linkage {
        Linkage::Leader => leaders(&distinct, radius, MAX_PAIRS, heartbeat),
        Linkage::Connected => connected(&distinct, radius, heartbeat),
    }?;
    drop(distinct);
    let mut of_distinct = keepers_of_distinct.iter().map(|&keeper| firsts[keeper as usize]);
    for place in 0..keepers.len() {
        let first = keepers[place] as usize;
        // Equal values share the keeper of the first of them, which has been settled.
        keepers[place] =
            if first == place { of_distinct.next().unwrap_or(place as u32) } else { keepers[first] };
    }
    Ok(keepers)
}

/// For each value the place of the first one that is equal.
fn first_equals(values: &[u64], heartbeat: &mut dyn FnMut()) -> Result<Vec<u32>, OutOfMemory> {
    let length = values.len().max(2).ilog2().min(20);
    let highest = BitRun { first: u64::BITS - length, length };
    let mut table = Buckets::default();
    table.fill(values, highest, heartbeat)?;
    let mut firsts = collect(std::iter::repeat_n(0, values.len()), values.len())?;
    let mut sorted: Vec<(u64, u32)> = Vec::new();
    reserve(&mut sorted, table.largest)?;
    for bucket in 0..highest.buckets() {
        if bucket % 1024 == 0 {
            heartbeat();
        }
        let rows = table.rows(bucket);
        sorted.clear();
        sorted.extend(table.values[rows.clone()].iter().copied().zip(table.places[rows].iter().copied()));
        sorted.sort_unstable();
        for equal in sorted.chunk_by(|a, b| a.0 == b.0) {
            for &(_, place) in equal {
                firsts[place as usize] = equal[0].1;
            }
        }
    }
    Ok(firsts)
}

/// The root of a tree has itself as parent. No parent comes after its child, so that roots are first of their trees.
fn connected(
    values: &[u64],
    radius: u32,
    heartbeat: &mut dyn FnMut(Progress),
) -> Result<Vec<u32>, OutOfMemory> {
    let mut parents: Vec<u32> = collect(0..values.len() as u32, values.len())?;
    near_pairs(values, radius, &mut |share| heartbeat(Progress { pass: 1, share }), &mut |a, b| {
        let (a, b) = (root(&mut parents, a), root(&mut parents, b));
        parents[a.max(b) as usize] = a.min(b);
    })?;
    for place in 0..parents.len() {
        parents[place] = parents[parents[place] as usize];
    }
    Ok(parents)
}

/// The root of the tree, halving the path to it.
fn root(parents: &mut [u32], mut place: u32) -> u32 {
    loop {
        let parent = parents[place as usize];
        if parent == place {
            return place;
        }
        parents[place as usize] = parents[parent as usize];
        place = parents[place as usize];
    }
}

/// Not known, or not there.
const NONE: u32 = u32::MAX;

/// Whether a row is a keeper depends on the rows before it, while pairs come in any order. So a pass keeps the pairs, and then
/// decides row by row.
///
/// If the pairs exceed `max_pairs`, it keeps those of the first rows alone. Of a later row it knows the earliest near one, which
/// decides it if that is a keeper, or if there is none: nearly all rows, unless what is near forms long chains. The next pass
/// looks at the rows that are left, and at the keepers that this one has found.
fn leaders(
    values: &[u64],
    radius: u32,
    max_pairs: usize,
    heartbeat: &mut dyn FnMut(Progress),
) -> Result<Vec<u32>, OutOfMemory> {
    // A keeper has itself; a row that is undecided has the earliest near keeper of earlier passes.
    let mut keepers = collect(std::iter::repeat_n(NONE, values.len()), values.len())?;
    // The rows of a pass, in order: those that are undecided, and keepers that the last pass has found.
    let mut rows: Vec<u32> = collect(0..values.len() as u32, values.len())?;
    for pass in 1.. {
        let of_rows: Vec<u64> = collect(rows.iter().map(|&row| values[row as usize]), rows.len())?;
        let mut pairs = Pairs::new(max_pairs, rows.len())?;
        let mut added = Ok(());
        near_pairs(&of_rows, radius, &mut |share| heartbeat(Progress { pass, share }), &mut |a, b| {
            let (row, other) = (rows[b as usize] as usize, rows[a as usize]);
            if keepers[other as usize] == other {
                keepers[row] = keepers[row].min(other);
            } else if added.is_ok() {
                added = pairs.add(a, b);
            }
        })?;
        added?;
        drop(of_rows);
        pairs.sort();
        let mut undecided = 0;
        let mut next = Vec::new();
        reserve(&mut next, rows.len())?;
        for (b, &row) in rows.iter().enumerate() {
            let near_keeper = keepers[row as usize];
            if near_keeper == row {
                continue;
            }
            let is_keeper = |&a: &u32| keepers[rows[a as usize] as usize] == rows[a as usize];
            let row_of = |a: u32| if a == NONE { NONE } else { rows[a as usize] };
            let near_keeper = if b < pairs.complete {
                Some(near_keeper.min(row_of(pairs.of(b as u32).find(is_keeper).unwrap_or(NONE))))
            } else {
                let earliest = pairs.earliest[b];
                let decides = earliest == NONE || near_keeper < row_of(earliest) || is_keeper(&earliest);
                decides.then(|| near_keeper.min(row_of(earliest)))
            };
            match near_keeper {
                Some(NONE) => {
                    keepers[row as usize] = row;
                    next.push(row);
                }
                Some(keeper) => keepers[row as usize] = keeper,
                None => {
                    undecided += 1;
                    next.push(row);
                }
            }
        }
        if undecided == 0 {
            break;
        }
        rows = next;
    }
    Ok(keepers)
}

/// Near pairs of undecided rows: all of the first rows, as many as there is room for, and of each row the earliest.
struct Pairs {
    /// The later row of a pair comes first, so that they sort by it.
    pairs: Vec<(u32, u32)>,
    max_pairs: usize,
    /// The rows before this one have all their pairs here.
    complete: usize,
    earliest: Vec<u32>,
    /// Those before have been asked for.
    asked: usize,
}

impl Pairs {
    fn new(max_pairs: usize, rows: usize) -> Result<Self, OutOfMemory> {
        let earliest = collect(std::iter::repeat_n(NONE, rows), rows)?;
        Ok(Self { pairs: Vec::new(), max_pairs, complete: rows, earliest, asked: 0 })
    }

    fn add(&mut self, a: u32, b: u32) -> Result<(), OutOfMemory> {
        let earliest = &mut self.earliest[b as usize];
        *earliest = (*earliest).min(a);
        if (b as usize) < self.complete && self.pairs.len() >= self.max_pairs {
            self.halve();
        }
        if (b as usize) < self.complete {
            if self.pairs.len() == self.pairs.capacity() {
                let more = self.pairs.len().clamp(1, 1 << 20);
                reserve(&mut self.pairs, more)?;
            }
            self.pairs.push((b, a));
        }
        Ok(())
    }

    /// Gives up the pairs of the later rows.
    fn halve(&mut self) {
        let middle = self.pairs.len() / 2;
        self.complete = self.pairs.select_nth_unstable(middle).1.0 as usize;
        self.pairs.retain(|pair| (pair.0 as usize) < self.complete);
    }

    fn sort(&mut self) {
        self.pairs.sort_unstable();
    }

    /// The earlier rows, in order, that are near this one. Rows are asked for in order, when pairs have been sorted.
    fn of(&mut self, b: u32) -> impl Iterator<Item = u32> + use<'_> {
        let first = self.asked + self.pairs[self.asked..].iter().take_while(|pair| pair.0 < b).count();
        self.asked = first + self.pairs[first..].iter().take_while(|pair| pair.0 == b).count();
        self.pairs[first..self.asked].iter().map(|pair| pair.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(values: &[u64], a: usize, b: usize, radius: u32) -> bool {
        (values[a] ^ values[b]).count_ones() <= radius
    }

    /// The definitions, row by row.
    fn naive(values: &[u64], radius: u32, linkage: Linkage) -> Vec<u32> {
        let mut keepers: Vec<usize> = Vec::new();
        for row in 0..values.len() {
            match linkage {
                Linkage::Leader => {
                    let keeper =
                        (0..row).find(|&other| keepers[other] == other && near(values, other, row, radius));
                    keepers.push(keeper.unwrap_or(row));
                }
                Linkage::Connected => {
                    keepers.push(row);
                    for other in (0..row).filter(|&other| near(values, other, row, radius)) {
                        let (a, b) = (keepers[other], keepers[row]);
                        keepers
                            .iter_mut()
                            .filter(|keeper| **keeper == a.max(b))
                            .for_each(|keeper| *keeper = a.min(b));
                    }
                }
            }
        }
        keepers.into_iter().map(|keeper| keeper as u32).collect()
    }

    /// A chain whose links are near each other and whose ends are not; the order in which they come decides.
    #[test]
    fn a_chain() {
        let chain = [0b000_000, 0b000_111, 0b111_111];
        assert_eq!(keepers(&chain, 3, Linkage::Connected, &mut |_| ()).unwrap(), [0, 0, 0]);
        assert_eq!(keepers(&chain, 3, Linkage::Leader, &mut |_| ()).unwrap(), [0, 0, 2]);
        let middle_first = [chain[1], chain[0], chain[2]];
        assert_eq!(keepers(&middle_first, 3, Linkage::Leader, &mut |_| ()).unwrap(), [0, 0, 0]);
        assert_eq!(keepers(&[], 3, Linkage::Leader, &mut |_| ()).unwrap(), [0; 0]);
    }

    #[test]
    fn names() {
        assert_eq!("leader".parse(), Ok(Linkage::Leader));
        assert_eq!("connected".parse(), Ok(Linkage::Connected));
        assert_eq!("Leader".parse::<Linkage>(), Err(UnknownLinkage("Leader".into())));
    }

    /// Values with so few free bits that clusters are large, touch, and repeat.
    fn crowded() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec((0u64..1 << 12, any::<bool>()), 0..300).prop_map(|values| {
            values
                .into_iter()
                .map(|(bits, far)| bits.wrapping_mul(0x0011_0101_0100_1001) ^ if far { u64::MAX } else { 0 })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn clusters_are_those_of_the_definition(values in crowded(), radius in 0u32..40) {
            for linkage in [Linkage::Leader, Linkage::Connected] {
                prop_assert_eq!(keepers(&values, radius, linkage, &mut |_| ()).unwrap(), naive(&values, radius, linkage));
            }
        }

        /// However few pairs are kept, the clusters are the same.
        #[test]
        fn leaders_do_not_depend_on_memory(values in crowded(), radius in 0u32..40, max_pairs in 1usize..200) {
            let mut passes = 0;
            let found = leaders(&values, radius, max_pairs, &mut |progress| passes = progress.pass).unwrap();
            prop_assert_eq!(found, naive(&values, radius, Linkage::Leader));
            prop_assert!(passes as usize <= values.len().max(1));
        }
    }
}

//! Near pairs and clusters of any codes are those that a comparison of all with all finds, each once: in one
//! go, in portions, divided into parts, and with second codes.
#![no_main]

use arbitrary::Arbitrary;
use base::OutOfMemory;
use hamming::clusters::{Linkage, keepers, keepers_of_pairs};
use hamming::code::{CodeSlice, distance_of_words};
use hamming::near_pairs::{CodeRadii, JoinSides, MAX_SEGMENT_BITS, PairBlocks, PairDivision, PairSearch, near_pairs};
use libfuzzer_sys::fuzz_target;

/// Rows near a center, in the order of the table.
#[derive(Arbitrary, Debug)]
struct Family {
    center: u64,
    /// Members count from this number, and the bits of the count are placed here.
    first: u8,
    bits: u64,
    count: u8,
    /// The word in which members differ; the other words are those of the center.
    word: u8,
}

/// The rows come last, because libFuzzer tries short inputs first, in which all that follows a `Vec` is 0.
#[derive(Arbitrary, Debug)]
struct Table {
    width: u8,
    radius: u8,
    second_radius: u8,
    /// Where the rows are cut into two sides.
    left: u16,
    room: u8,
    parts: u8,
    widest: u8,
    families: Vec<Family>,
    /// Some rows of any words.
    scattered: Vec<u64>,
}

type Pair = (u32, u32);

impl Table {
    fn words(&self) -> Vec<u64> {
        let width = self.width();
        let mut words = Vec::new();
        for family in self.families.iter().take(12) {
            let mut some = u64::from(family.first) & family.bits;
            for _ in 0..family.count {
                let word = usize::from(family.word) % width;
                words.extend((0..width).map(|place| family.center ^ if place == word { some } else { place as u64 }));
                some = some.wrapping_sub(family.bits) & family.bits;
            }
        }
        let rows = self.scattered.len().min(200) / width;
        words.extend(&self.scattered[..rows * width]);
        words
    }

    fn width(&self) -> usize {
        1 + usize::from(self.width % 4)
    }

    fn radius(&self) -> u32 {
        u32::from(self.radius) % (64 * self.width() as u32 + 2)
    }
}

/// All pairs of places for which this is true.
fn naive(places: u32, is_near: impl Fn(u32, u32) -> bool) -> Vec<Pair> {
    let pairs_of = |a| (a + 1..places).map(move |b| (a, b));
    (0..places).flat_map(pairs_of).filter(|&(a, b)| is_near(a, b)).collect()
}

/// The keepers by the definitions of the linkages.
fn naive_keepers(places: u32, linkage: Linkage, is_near: impl Fn(u32, u32) -> bool) -> Vec<u32> {
    let mut keepers: Vec<u32> = (0..places).collect();
    match linkage {
        Linkage::Leader => {
            for row in 0..places {
                let near = (0..row).find(|&other| keepers[other as usize] == other && is_near(other, row));
                keepers[row as usize] = near.unwrap_or(row);
            }
        }
        Linkage::Connected => {
            for (a, b) in naive(places, is_near) {
                let a = keepers[a as usize];
                let b = keepers[b as usize];
                // Joined at most as often as there are rows, since there may be many more pairs.
                if a != b {
                    keepers.iter_mut().filter(|keeper| **keeper == a.max(b)).for_each(|keeper| *keeper = a.min(b));
                }
            }
        }
    }
    keepers
}

fn sorted(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.sort_unstable();
    pairs
}

/// The pairs that a search reports, in portions or in one go.
fn pairs_of(mut search: PairSearch, sides: [CodeSlice<'_>; 2], room: Option<usize>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut add = |a, b| -> Result<(), OutOfMemory> {
        pairs.push((a, b));
        Ok(())
    };
    match room {
        None => search.all(JoinSides::between(sides), &mut || (), &mut add).unwrap(),
        Some(room) => while search.portion(sides, room, &mut || (), &mut add).unwrap() {},
    }
    pairs
}

fuzz_target!(|table: Table| {
    let words = table.words();
    let width = table.width();
    let radius = table.radius();
    let codes = CodeSlice::new(&words, width);
    let rows = codes.len() as u32;
    let is_near = |a: u32, b: u32| distance_of_words(codes.get(a), codes.get(b)) <= radius;
    let expected = naive(rows, is_near);

    // One table with itself.
    let mut pairs = Vec::new();
    let mut add = |a, b| -> Result<(), OutOfMemory> {
        pairs.push((a, b));
        Ok(())
    };
    near_pairs(codes, radius, &mut || (), &mut add).unwrap();
    assert_eq!(sorted(pairs), expected);

    // Each near pair has a block in common.
    let parts = 1 + u32::from(table.parts % 16);
    let blocks = PairBlocks::new(64 * width as u32, radius, parts);
    let blocks: Vec<Vec<u32>> = codes.iter().map(|code| blocks.blocks_of(code).unwrap()).collect();
    for &(a, b) in &expected {
        assert!(blocks[a as usize].iter().any(|block| blocks[b as usize].contains(block)));
    }

    // Two sides, in one go and in portions.
    let left = u32::from(table.left) % (rows + 1);
    let (of_left, of_right) = words.split_at(left as usize * width);
    let sides = [of_left, of_right].map(|words| CodeSlice::new(words, width));
    let across: Vec<Pair> = sorted(
        expected.iter().filter(|&&(a, b)| a < left && left <= b).map(|&(a, b)| (a, b - left)).collect(),
    );
    let room = usize::from(table.room);
    let widest = 1 + u32::from(table.widest) % MAX_SEGMENT_BITS;
    for room in [None, Some(room)] {
        let search = PairSearch::between(sides, radius, widest).unwrap();
        assert_eq!(sorted(pairs_of(search, sides, room)), across);
    }

    // Divided into parts, as if there were many rows.
    let first = codes.iter().next().unwrap_or_default();
    let varying: Vec<u64> =
        (0..first.len()).map(|word| codes.iter().fold(0, |bits, code| bits | code[word] ^ first[word])).collect();
    let limits = [u32::from(table.parts % 5), widest.min(8)];
    if !sides[0].is_empty()
        && !sides[1].is_empty()
        && let Some(division) = PairDivision::new(sides, &varying, [1 << 18; 2], radius, limits).unwrap()
    {
        let mut pairs = Vec::new();
        for pass in 0..division.passes() {
            for part in 0..division.parts(pass) {
                let places = sides.map(|codes| -> Vec<u32> {
                    let in_part = |place: &u32| division.part(pass, codes.get(*place)) == part;
                    (0..codes.len() as u32).filter(in_part).collect()
                });
                let of_part = [0, 1].map(|side| {
                    let places: &Vec<u32> = &places[side];
                    sides[side].gather(places.iter().copied(), places.len(), &mut || ()).unwrap()
                });
                let of_part = [&of_part[0], &of_part[1]].map(|words| CodeSlice::new(words, width));
                let room = (pass % 2 == 0).then_some(room);
                let found = pairs_of(division.search(pass).unwrap(), of_part, room);
                pairs.extend(found.iter().map(|&(a, b)| (places[0][a as usize], places[1][b as usize])));
            }
        }
        assert_eq!(sorted(pairs), across);
    }

    // Clusters, without and with second codes: the words of the rows in reverse order.
    let reversed: Vec<u64> = words.iter().rev().copied().collect();
    let second = CodeSlice::new(&reversed, width);
    let second_radius = u32::from(table.second_radius);
    let is_second_near = |a: u32, b: u32| distance_of_words(second.get(a), second.get(b)) <= second_radius;
    let both: Vec<u64> = codes.iter().zip(second.iter()).flat_map(|codes| [codes.0, codes.1].concat()).collect();
    let radii = CodeRadii::from(radius).and(width, second_radius);
    for linkage in [Linkage::Leader, Linkage::Connected] {
        let by_one = naive_keepers(rows, linkage, is_near);
        assert_eq!(keepers(codes, radius, linkage, &mut || ()).unwrap(), by_one);
        let mut pairs = expected.clone();
        pairs.reverse();
        assert_eq!(keepers_of_pairs(rows, &mut pairs, linkage, &mut || ()).unwrap(), by_one);
        let by_both = naive_keepers(rows, linkage, |a, b| is_near(a, b) && is_second_near(a, b));
        assert_eq!(keepers(CodeSlice::new(&both, 2 * width), radii.clone(), linkage, &mut || ()).unwrap(), by_both);
    }
});

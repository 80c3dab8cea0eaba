//! Compares searches of codes of any width with a list: no row is missed or found twice, the order is right,
//! and words that many rows share do not make a search slow.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod memory;

use hamming_index::key::RowId;
use hamming_index::radius_division::SearchCosts;
use hamming_index::store::Store;
use hamming_index::{CodeBall, CodeLookup, CodeTrees, IndexSearch, Layout, SearchCenter};
use hamming_index::{SearchHit, SearchQuery, SharedStretches};
use memory::{FEWER, Memory};
use proptest::prelude::*;
use std::collections::BTreeSet;

type Code = Vec<u8>;

fn row(number: usize) -> RowId {
    RowId::new(number as u32 / 100, (number % 100) as u16 + 1)
}

fn words_of(layout: Layout, code: &Code) -> Vec<u64> {
    layout.words_of(code).collect()
}

fn distance(a: &Code, b: &Code) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Pseudo-random numbers from a seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: u32) -> u32 {
        (self.next() % u64::from(limit.max(1))) as u32
    }

    fn code(&mut self, bits: u32) -> Code {
        let mut code: Code = (0..bits.div_ceil(8)).map(|_| self.next() as u8).collect();
        if let Some(last) = code.last_mut() {
            *last &= !(0xff_u32 >> ((bits - 1) % 8 + 1)) as u8;
        }
        code
    }

    fn flip(&mut self, code: &Code, bits: u32, flips: u32) -> Code {
        let mut code = code.clone();
        for _ in 0..flips {
            let place = self.below(bits) as usize;
            code[place / 8] ^= 0x80 >> (place % 8);
        }
        code
    }

    /// A code in which `density` of a thousand bits are set. Codes with few of them are near each other in
    /// every word.
    fn sparse(&mut self, bits: u32, density: u32) -> Code {
        let mut code = vec![0; bits.div_ceil(8) as usize];
        for place in (0..bits as usize).filter(|_| self.below(1000) < density) {
            code[place / 8] |= 0x80 >> (place % 8);
        }
        code
    }

    /// A scattered code, one near a center, one that shares a half with a center, or NULL.
    fn row(&mut self, bits: u32, centers: &[Code]) -> Option<Code> {
        let center = &centers[self.below(centers.len() as u32) as usize];
        match self.below(10) {
            0..3 => Some(self.code(bits)),
            3..6 => {
                let flips = self.below(bits / 6 + 2);
                Some(self.flip(center, bits, flips))
            }
            6..9 => {
                let mut code = self.code(bits);
                let half = center.len() / 2;
                code[..half].copy_from_slice(&center[..half]);
                Some(code)
            }
            _ => None,
        }
    }
}

/// The codes of all rows.
struct Known<'a> {
    rows: &'a [Option<Code>],
    asked: usize,
}

impl CodeLookup for Known<'_> {
    fn code_of(&mut self, row: RowId) -> Option<&[u8]> {
        self.asked += 1;
        self.rows[number_of(row)].as_deref()
    }
}

/// A query for codes.
#[derive(Clone, Debug, Default)]
struct Request {
    center: Option<Code>,
    radius: u32,
    /// A second ball.
    also: Option<(Code, u32)>,
    nearest_to: Option<Code>,
    values: bool,
    nulls: bool,
}

impl Request {
    fn query(&self, layout: Layout) -> SearchQuery {
        let center = |code: &Code| SearchCenter::of_code(layout, code);
        let balls = self.center.iter().map(|code| (code, self.radius));
        let balls = balls.chain(self.also.iter().map(|(code, radius)| (code, *radius)));
        SearchQuery {
            balls: balls.map(|(code, radius)| CodeBall { center: center(code), radius }).collect(),
            values: self.values,
            nulls: self.nulls,
            nearest_to: self.nearest_to.iter().map(center).collect(),
            codes: true,
        }
    }
}

fn within(center: &Code, radius: u32) -> Request {
    Request { center: Some(center.clone()), radius, values: true, ..Request::default() }
}

fn number_of(row: RowId) -> usize {
    row.page() as usize * 100 + usize::from(row.offset()) - 1
}

/// An index of codes, and the list with which it has to agree.
struct Both {
    layout: Layout,
    rows: Vec<Option<Code>>,
    memory: Memory,
}

impl Both {
    fn new(bits: u32, rows: Vec<Option<Code>>, fill: usize) -> Self {
        Self::of(Layout::of_codes(bits), rows, fill, 500_000)
    }

    fn of(layout: Layout, rows: Vec<Option<Code>>, fill: usize, at_a_time: usize) -> Self {
        let words: Vec<_> =
            rows.iter().map(|code| code.as_ref().map(|code| words_of(layout, code))).collect();
        let numbered = words.iter().enumerate().map(|(number, words)| (words.as_deref(), None, row(number)));
        let memory = Memory::built_of(layout, 16_000 / FEWER.min(64), numbered, fill, at_a_time);
        Self { layout, rows, memory }
    }

    fn insert(&mut self, code: Option<Code>) {
        let words = code.as_ref().map(|code| words_of(self.layout, code));
        self.memory.index().insert(words.as_deref(), None, row(self.rows.len()));
        self.rows.push(code);
    }

    fn costs(&self) -> SearchCosts {
        let leaves = hamming_index::search_cost::leaves_in(self.memory.pages_in_use() as u32, self.layout);
        SearchCosts::new(self.layout, leaves)
    }

    /// Compares a search with the list. Returns how many codes were looked up in the table.
    fn check(&self, costs: &SearchCosts, center: &Code, request: Request, max_sorted: usize) -> usize {
        let mut codes = Known { rows: &self.rows, asked: 0 };
        let query = request.query(self.layout);
        // If only the table has whole codes, a search of all rows does not know the codes.
        let knows = self.layout.is_one_word() || self.layout.has_code_tree();
        let hits =
            self.memory.search_with_codes(costs, query, max_sorted, Some(&mut codes), &mut |hit, code| {
                let known = self.rows[number_of(hit.row)].as_ref().map(|code| words_of(self.layout, code));
                assert!(code == known.as_deref() || code.is_none() && !knows, "another code: {request:?}");
            });
        let rank = |hit: &SearchHit| hit.distance.unwrap_or(u32::MAX);
        assert!(request.nearest_to.is_none() || hits.is_sorted_by_key(rank), "not in order: {request:?}");
        let rank_of = |code: &Option<Code>| Some(distance(code.as_ref()?, request.nearest_to.as_ref()?));
        let distance_of = |code: &Option<Code>| code.as_ref().map(|code| distance(code, center));
        let wanted = self.rows.iter().map(distance_of).enumerate().filter(|(_, distance)| match distance {
            Some(distance) => request.values && *distance <= request.radius,
            None => request.nulls && request.center.is_none(),
        });
        let is_in_other = |number: usize| match (&request.also, &self.rows[number]) {
            (Some((center, radius)), Some(code)) => distance(code, center) <= *radius,
            (also, _) => also.is_none(),
        };
        let wanted = wanted.filter(|&(number, _)| is_in_other(number));
        let expected: Vec<_> = wanted.map(|(number, _)| (row(number), rank_of(&self.rows[number]))).collect();
        let mut hits: Vec<_> = hits.iter().map(|hit| (hit.row, hit.distance)).collect();
        hits.sort_unstable_by_key(|&(row, _)| row);
        let differing = hits.iter().zip(&expected).find(|(hit, expected)| hit != expected);
        assert_eq!((hits.len(), differing), (expected.len(), None), "{request:?}");
        let candidates =
            self.memory.search_codes(costs, request.query(self.layout), max_sorted, None::<&mut Known<'_>>);
        let candidates: BTreeSet<RowId> = candidates.iter().map(|hit| hit.row).collect();
        assert!(hits.iter().all(|(row, _)| candidates.contains(row)), "a candidate is missing: {request:?}");
        codes.asked
    }
}

/// How many searches of a kind a property makes.
const TIMES: usize = if cfg!(miri) { 1 } else { 3 };

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn candidates_are_all_that_is_near(
        bits in prop_oneof![1u32..600 / FEWER.min(3) as u32, Just(64), Just(256), Just(8192 / FEWER.min(64) as u32)],
        rows in 0usize..1000 / FEWER.min(100),
        inserted in 0usize..100_usize.div_ceil(FEWER),
        seed: u64,
        fill in 1usize..100,
        max_sorted in prop_oneof![1usize..2000, Just(1_000_000)],
        leaves in prop_oneof![Just(None), (1.0..1e5).prop_map(Some)],
        (trees, at_a_time) in (code_trees(), prop_oneof![Just(500_000), 10usize..10_000]),
    ) {
        let rows = if bits == 8192 { rows.min(100) } else { rows };
        let mut chance = Chance(seed);
        let centers: Vec<Code> = (0..3).map(|_| chance.code(bits)).collect();
        let rows = (0..rows).map(|_| chance.row(bits, &centers)).collect();
        let mut both = Both::of(Layout::of_codes(bits).with_trees(trees), rows, fill, at_a_time);
        (0..inserted).for_each(|_| both.insert(chance.row(bits, &centers)));
        prop_assert_eq!(both.memory.problems(), Vec::<String>::new());
        let costs = leaves.map_or_else(|| both.costs(), |leaves| SearchCosts::new(both.layout, leaves));
        for center in &centers[..TIMES] {
            let flips = chance.below(bits / 8 + 2);
            let center = chance.flip(center, bits, flips);
            for _ in 0..TIMES {
                let few = chance.below(bits.min(40));
                let any = chance.below(bits + 2);
                for radius in [few, any] {
                    let request = within(&center, radius);
                    let nearest_to = [request.center.clone(), Some(centers[0].clone())];
                    let ordered = nearest_to.map(|nearest_to| Request { nearest_to, nulls: true, ..request.clone() });
                    let all = Request { center: None, radius: bits, ..ordered[0].clone() };
                    for request in ordered.into_iter().chain([request, all]) {
                        both.check(&costs, &center, request, max_sorted);
                    }
                }
            }
        }
        both.check(&costs, &centers[0], Request { nulls: true, ..Request::default() }, max_sorted);
    }
}

fn code_trees() -> impl Strategy<Value = CodeTrees> {
    prop_oneof![Just(CodeTrees::Words), Just(CodeTrees::Both), Just(CodeTrees::Whole)]
}

/// A limit for the kept candidates, from 1 on; small limits are as frequent as large ones.
fn limit_of_candidates() -> impl Strategy<Value = usize> {
    (0.0..10.5).prop_map(|power: f64| power.exp2() as usize)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, max_shrink_iters: 20, ..ProptestConfig::default() })]

    /// If codes are near each other in several words, a row is a candidate of each of these. The number of
    /// candidates that can be kept decides which words wait for others, and which report at once.
    #[test]
    fn every_row_is_reported_once(
        bits in prop_oneof![Just(65u32), Just(100), Just(128), Just(192), Just(256), Just(512), 65u32..700],
        rows in 300 / FEWER.min(200)..1500 / FEWER.min(200),
        seed: u64,
        limits in prop::collection::vec(limit_of_candidates(), TIMES),
        leaves in prop_oneof![2 => Just(None), 1 => (1.0..1e4).prop_map(Some)],
        trees in code_trees(),
    ) {
        let mut chance = Chance(seed);
        let code = |chance: &mut Chance, number: usize| {
            (!number.is_multiple_of(50)).then(|| chance.sparse(bits, 20 + 20 * (number as u32 % 20)))
        };
        let rows = (0..rows).map(|number| code(&mut chance, number)).collect();
        let both = Both::of(Layout::of_codes(bits).with_trees(trees), rows, 95, 500_000);
        let costs = leaves.map_or_else(|| both.costs(), |leaves| SearchCosts::new(both.layout, leaves));
        let zeros = vec![0; bits.div_ceil(8) as usize];
        let other = chance.sparse(bits, 200);
        for max_candidates in limits {
            for part in (1..10).step_by(10 / TIMES / 3) {
                let radius = bits * part / 20 + chance.below(3);
                let request = within(&zeros, radius);
                let also = Some((other.clone(), bits / 4 + chance.below(bits / 4)));
                let nearest_to = Some(if part % 2 == 0 { other.clone() } else { zeros.clone() });
                for request in [
                    Request { also: also.clone(), ..request.clone() },
                    Request { also, nearest_to: Some(zeros.clone()), ..request.clone() },
                    Request { nearest_to, nulls: true, ..request.clone() },
                    request,
                ] {
                    both.check(&costs, &zeros, request, max_candidates);
                }
            }
            let all = Request { nearest_to: Some(zeros.clone()), radius: bits, values: true, ..Request::default() };
            both.check(&costs, &zeros, all, max_candidates);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn scattered_codes_have_few_candidates() {
    let mut chance = Chance(1);
    let both = Both::new(256, (0..100_000).map(|_| Some(chance.code(256))).collect(), 95);
    let costs = both.costs();
    for number in 0..20 {
        let stored = both.rows[number * 97].clone().unwrap();
        let center = chance.flip(&stored, 256, 31);
        let asked = both.check(&costs, &center, within(&center, 31), 100_000);
        assert!((1..5).contains(&asked), "{asked} candidates");
        // Candidates that memory has no room for are looked up before it is known that the word costs too
        // much.
        both.check(&costs, &center, within(&center, 31), 1000);
    }
}

/// A center to which nothing is near is compared with whole codes, and no row of the table is looked up.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn whole_codes_need_no_table() {
    let mut chance = Chance(11);
    for trees in [CodeTrees::Both, CodeTrees::Whole] {
        let rows = (0..30_000).map(|number| (number % 10 > 0).then(|| chance.code(256))).collect();
        let both = Both::of(Layout::of_codes(256).with_trees(trees), rows, 95, 500_000);
        let center = chance.code(256);
        let nearest_to = Some(center.clone());
        let nearest = Request { nearest_to, center: None, ..within(&center, 256) };
        for request in [within(&center, 256), within(&center, 100), nearest] {
            let (pages, asked) = work_of(&both, &request, 100_000);
            assert!(asked == 0 && (100..1500).contains(&pages), "{trees:?}: {pages} pages, {asked} rows");
            both.check(&both.costs(), &center, request, 100_000);
        }
    }
}

/// NULLs of many leaves are read in portions.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn many_nulls_are_found() {
    let both = Both::new(256, vec![None; 40_000], 95);
    both.check(&both.costs(), &vec![0; 32], Request { nulls: true, ..Request::default() }, 1000);
}

/// The tree of whole codes is compared with the trees of words, and these with it.
#[test]
fn whole_codes_that_differ_are_reported() {
    let mut chance = Chance(12);
    let layout = Layout::of_codes(200).with_trees(CodeTrees::Both);
    let rows: Vec<_> = (0..500 / FEWER.min(10)).map(|_| Some(chance.code(200))).collect();
    let mut both = Both::of(layout, rows, 95 / FEWER.min(9), 500_000);
    assert_eq!(both.memory.problems(), Vec::<String>::new());
    let root = layout.root(layout.code_tree());
    let leaf = both.memory.read(root).child(1);
    // Damages a bit of the last of the four words of the first code.
    let last = both.memory.read(leaf).bytes()[24 + 31];
    both.memory.damage(leaf as usize, 24 + 31, &[last ^ 1]);
    assert_eq!(both.memory.problems(), [format!("{root}: its codes are other ones than those of the words")]);
}

/// The number of pages that a search reads, and the number of codes that it looks up.
fn work_of(both: &Both, request: &Request, max_sorted: usize) -> (usize, usize) {
    let mut codes = Known { rows: &both.rows, asked: 0 };
    let search = || {
        drop(both.memory.search_codes(
            &both.costs(),
            request.query(both.layout),
            max_sorted,
            Some(&mut codes),
        ))
    };
    (both.memory.reads_of(search), codes.asked)
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn a_small_radius_reads_fewer_pages() {
    let mut chance = Chance(6);
    let both = Both::new(64, (0..30_000).map(|_| Some(chance.code(64))).collect(), 95);
    let center = chance.code(64);
    let (near, _) = work_of(&both, &within(&center, 5), 1000);
    let (far, asked) = work_of(&both, &within(&center, 64), 1000);
    assert!(near >= 4 && near < far && far < 30_000 / 50 && asked == 0, "{near}, {far}, {asked}");
    let ordered = Request { nearest_to: Some(center.clone()), center: None, ..within(&center, 64) };
    assert!(work_of(&both, &ordered, 1000).0 > far);
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn a_small_radius_asks_for_few_codes() {
    let mut chance = Chance(7);
    let rows: Vec<_> = (0..30_000).map(|number| (number % 10 > 0).then(|| chance.code(256))).collect();
    let both = Both::new(256, rows, 95);
    let center = chance.flip(both.rows[77].as_ref().unwrap(), 256, 9);
    let (near, asked) = work_of(&both, &within(&center, 11), 1000);
    assert!((1..1000).contains(&asked), "{asked}");
    let (far, asked) = work_of(&both, &within(&center, 256), 1000);
    assert!(asked == 27_000 && near < far, "{asked}, {near}, {far}");
}

/// Trees, of one word and of several, may differ in dead rows. Any other difference is reported.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn a_vacuum_that_was_stopped_is_finished_by_the_next() {
    let mut chance = Chance(3);
    let rows = (0..20_000).map(|_| Some(chance.code(200))).collect();
    let mut both = Both::new(200, rows, 95);
    let mut is_dead = |row: RowId| row.offset() % 3 == 1;
    for batches in [2, 20, 60] {
        assert!(both.memory.cancelled_after(batches, || both.memory.index().vacuum(&mut is_dead)));
        assert_eq!(both.memory.problems_but(&mut is_dead), Vec::<String>::new());
        assert!(!both.memory.problems().is_empty(), "it was stopped midway");
    }
    let (remaining, _) = both.memory.index().vacuum(&mut is_dead);
    assert_eq!(both.memory.problems(), Vec::<String>::new());
    for number in 0..both.rows.len() {
        if is_dead(row(number)) {
            both.rows[number] = None;
        }
    }
    assert_eq!(remaining, both.rows.iter().flatten().count() as u64);
    let center = chance.flip(both.rows[2].as_ref().unwrap(), 200, 20);
    both.check(&both.costs(), &center, within(&center, 30), 1000);
}

/// Some words of a row are missing, as if its insert had been interrupted.
#[test]
fn words_that_differ_in_rows_are_reported() {
    let mut chance = Chance(4);
    let mut both = Both::new(200, (0..500 / FEWER.min(10)).map(|_| Some(chance.code(200))).collect(), 95);
    let short: Vec<u64> = words_of(both.layout, &chance.code(200)).into_iter().take(2).collect();
    both.memory.index().insert(Some(&short), None, row(600));
    let expected = ["9: row (6,1) is in band 0, not in band 8", "13: row (6,1) is in band 0, not in band 12"];
    assert_eq!(both.memory.problems(), expected);
    assert_eq!(both.memory.problems_but(&mut |dead| dead == row(600)), Vec::<String>::new());
    both.rows.resize(601, None);
    let center = both.rows[7].clone().unwrap();
    both.check(&both.costs(), &center, within(&center, 50), 1000);
}

/// A quarter of the rows have the same first word. A search with this word does not use it.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn a_word_that_many_share_is_left_out() {
    let mut chance = Chance(2);
    let common = chance.code(256);
    let bit = |place: usize| 0x80_u8 >> (place % 8);
    let is_in_first_word = |place: usize| {
        let mut code = vec![0; 32];
        code[place / 8] = bit(place);
        Layout::of_codes(256).words_of(&code).next().unwrap() != 0
    };
    let first_word: Vec<usize> = (0..256).filter(|&place| is_in_first_word(place)).collect();
    assert_eq!(first_word.len(), 64);
    let rows = (0..100_000).map(|number| {
        let mut code = chance.code(256);
        for &place in first_word.iter().filter(|_| number % 4 == 0) {
            code[place / 8] = code[place / 8] & !bit(place) | common[place / 8] & bit(place);
        }
        Some(code)
    });
    let both = Both::new(256, rows.collect(), 95);
    let costs = both.costs();
    for number in 0..20 {
        let stored = both.rows[number * 400].clone().unwrap();
        let center = chance.flip(&stored, 256, 31);
        let asked = both.check(&costs, &center, within(&center, 31), 100_000);
        assert!((1..5).contains(&asked), "{asked} candidates");
        // Candidates that memory has no room for are looked up before it is known that the word costs too
        // much.
        both.check(&costs, &center, within(&center, 31), 1000);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Several searches that divide an index find each row once, each of them in order, whichever is faster,
    /// while further rows are added.
    #[test]
    fn searches_together_find_each_row_once(
        bits in prop_oneof![Just(64u32), Just(65), Just(256), Just(1024)],
        rows in 0usize..40_000 / FEWER / FEWER.min(8),
        searches in 1usize..5,
        seed: u64,
        max_sorted in prop_oneof![1usize..2000, Just(1_000_000)],
        trees in code_trees(),
        words in 1u32..4,
    ) {
        let mut chance = Chance(seed);
        // Few values of the first word, or many.
        let code = |chance: &mut Chance| match chance.below(words) {
            0 => chance.code(bits),
            _ => chance.sparse(bits, 10),
        };
        let rows = (0..rows).map(|number| (number % 100 > 0).then(|| code(&mut chance))).collect();
        let layout = Layout::of_codes(bits).with_trees(trees);
        let mut both = Both::of(layout, rows, 95, 500_000);
        let costs = both.costs();
        let count = both.rows.len();
        let center = code(&mut chance);
        let any = within(&center, chance.below(bits));
        let nearest_to = Some(center.clone());
        for request in [
            Request { nearest_to: nearest_to.clone(), center: None, radius: bits, nulls: true, ..any.clone() },
            Request { nearest_to, ..any.clone() },
            Request { center: None, radius: bits, nulls: true, ..any.clone() },
            Request { nulls: true, ..Request::default() },
            any,
        ] {
            let all = SharedStretches::default();
            let query = request.query(layout);
            let mut running: Vec<_> = (0..searches)
                .map(|_| (IndexSearch::new(&costs, query.clone(), max_sorted, Some(&all)), Vec::new()))
                .collect();
            let mut found: Vec<SearchHit> = Vec::new();
            while !running.is_empty() {
                let turn = chance.below(running.len() as u32) as usize;
                let mut codes = Known { rows: &both.rows, asked: 0 };
                let (search, hits) = &mut running[turn];
                if !search.next_batch(&both.memory.index(), Some(&mut codes), hits).unwrap() {
                    let hits = running.swap_remove(turn).1;
                    let rank = |hit: &SearchHit| hit.distance.unwrap_or(u32::MAX);
                    prop_assert!(request.nearest_to.is_none() || hits.is_sorted_by_key(rank));
                    found.extend(hits);
                } else if both.rows.len() < count + 2000 / FEWER {
                    (0..50_usize.div_ceil(FEWER)).for_each(|_| both.insert(Some(code(&mut chance))));
                }
            }
            let mut found: Vec<_> = found.iter().map(|hit| number_of(hit.row)).filter(|&row| row < count).collect();
            found.sort_unstable();
            let is_wanted = |row: &Option<Code>| match row {
                Some(code) => request.values && distance(code, &center) <= request.radius,
                None => request.nulls && request.center.is_none(),
            };
            let expected: Vec<_> = (0..count).filter(|&row| is_wanted(&both.rows[row])).collect();
            prop_assert_eq!(found, expected, "{:?}", request);
        }
    }
}

/// Every word finds all 3,000 near copies.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn a_row_that_all_words_find_is_looked_up_once() {
    let mut chance = Chance(5);
    let original = chance.code(256);
    let mut code = |number| match number % 10 {
        0 => chance.flip(&original, 256, 5),
        _ => chance.code(256),
    };
    let both = Both::new(256, (0..30_000).map(|number| Some(code(number))).collect(), 95);
    let asked = both.check(&both.costs(), &original, within(&original, 31), 100_000);
    assert!((3000..3100).contains(&asked), "{asked} candidates");
    // If they do not fit into memory, each word reports them separately.
    let asked = both.check(&both.costs(), &original, within(&original, 31), 1000);
    assert!((6000..13_000).contains(&asked), "{asked} candidates");
}

/// Words have few values, and many rows are at each distance, so words that have been reported are searched
/// again with a greater radius.
#[test]
fn popular_words_are_reported_once() {
    let mut chance = Chance(11);
    let mut word = || match chance.below(4) {
        0 => chance.next(),
        1 => {
            (0x9e37 + u64::from(chance.below(20))).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 1 << chance.below(64)
        }
        _ => {
            (0x9e37 + u64::from(chance.below(2))).wrapping_mul(0xd6e8_feb8_6659_fd93)
                ^ u64::from(chance.below(8))
        }
    };
    let mut code = |number: usize| {
        let a = word();
        let b = word();
        let b = if number.is_multiple_of(3) { a } else { b };
        [a.to_be_bytes().as_slice(), &b.to_be_bytes(), &[(number % 4) as u8 * 64]].concat()
    };
    let both = Both::new(130, (0..9000 / FEWER).map(|number| Some(code(number))).collect(), 95);
    for number in [0, 1, 2, 5, 8].into_iter().step_by(FEWER.min(5)) {
        let center = both.rows[number].clone().unwrap();
        for radius in (0..=130).step_by(7 * FEWER.min(10)) {
            for nearest_to in [None, Some(center.clone())] {
                let request = Request { nearest_to, ..within(&center, radius) };
                for (max_rows, leaves) in [
                    (1000, 4.0),
                    (1000, 1e4),
                    (4000, 300.0),
                    (100_000, 300.0),
                    (100_000, 4.0),
                    (100_000, 1e5),
                ] {
                    both.check(&SearchCosts::new(both.layout, leaves), &center, request.clone(), max_rows);
                }
            }
        }
    }
}

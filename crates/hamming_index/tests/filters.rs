//! Compares an index of several columns with a list: codes of one and of several words, tenants of very
//! different sizes, random histories.

mod memory;

use hamming::code::distance_of_bytes;
use hamming_index::build::Builder;
use hamming_index::key::{FILTER_TREE, Filter, RowId};
use hamming_index::radius_division::SearchCosts;
use hamming_index::search_cost::leaves_in;
use hamming_index::{CodeBall, CodeLookup, CodeTrees, Layout, SearchCenter, SearchHit, SearchQuery};
use memory::{FEWER, Lists, Memory, NoCodes, is_seen};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A row of the list. A dead row is removed by the next vacuum.
#[derive(Clone, Debug)]
struct Entry {
    code: Option<Vec<u8>>,
    tenant: u32,
    is_dead: bool,
}

/// An index, and the list with which it has to agree.
struct Both {
    layout: Layout,
    rows: Vec<Entry>,
    memory: Memory,
}

/// The codes of all rows.
struct Known<'a>(&'a [Entry]);

impl CodeLookup for Known<'_> {
    fn code_of(&mut self, row: RowId) -> Option<&[u8]> {
        self.0[number_of(row)].code.as_deref()
    }
}

fn row(number: usize) -> RowId {
    RowId::new((number / 100) as u32, (number % 100) as u16 + 1)
}

fn number_of(row: RowId) -> usize {
    row.page() as usize * 100 + usize::from(row.offset()) - 1
}

/// A number that looks random (the finalizer of SplitMix64).
fn scattered(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

fn filter(tenant: u32) -> Filter {
    Filter::of_hash(tenant.wrapping_mul(0x9e37_79b9))
}

fn words_of(layout: Layout, code: &[u8]) -> Vec<u64> {
    match code {
        &[a, b, c, d, e, f, g, h] if !layout.is_described() => {
            vec![u64::from_be_bytes([a, b, c, d, e, f, g, h])]
        }
        _ => layout.words_of(code).collect(),
    }
}

fn center(layout: Layout, code: &[u8]) -> SearchCenter {
    match layout.is_described() {
        true => SearchCenter::of_code(layout, code),
        false => words_of(layout, code)[0].into(),
    }
}

/// A scattered code, a code near one of three, or a code with few bits set. Two codes with few bits set are
/// near each other in every word.
fn code(layout: Layout, seed: u64) -> Vec<u8> {
    let is_sparse = layout.words() > 1 && scattered(seed ^ 11).is_multiple_of(3);
    let is_near = scattered(seed).is_multiple_of(2);
    let base = if is_near { scattered(seed ^ 9) % 3 } else { seed };
    let mut code: Vec<u8> =
        (0..layout.bits().div_ceil(8)).map(|n| scattered(base ^ u64::from(n) << 40) as u8).collect();
    if is_near {
        for flip in 0..scattered(seed ^ 5) % 6 {
            let bit = scattered(seed ^ flip << 20) as usize % layout.bits() as usize;
            code[bit / 8] ^= 0x80 >> (bit % 8);
        }
    }
    if is_sparse {
        let mask =
            |n: u64| (1..4).fold(u8::MAX, |mask, step| mask & scattered(seed ^ n << 40 ^ step << 56) as u8);
        code.iter_mut().zip(0..).for_each(|(byte, n)| *byte &= mask(n));
    }
    let rest = layout.bits() % 8;
    if rest > 0
        && let Some(last) = code.last_mut()
    {
        *last &= !(0xff >> rest);
    }
    code
}

/// A tenant: the first has two fifths of the rows, and later ones have fewer and fewer.
fn tenant(seed: u64) -> u32 {
    let share = (scattered(seed ^ 77) % 1000) as f64 / 1000.0;
    (50.0 * share.powi(5)) as u32
}

fn entry(layout: Layout, seed: u64) -> Entry {
    let code = (!scattered(seed ^ 3).is_multiple_of(10)).then(|| code(layout, seed));
    Entry { code, tenant: tenant(seed), is_dead: false }
}

impl Both {
    fn built(layout: Layout, rows: Vec<Entry>, fill: usize, at_a_time: usize) -> Self {
        let words: Vec<Option<Vec<u64>>> =
            rows.iter().map(|entry| Some(words_of(layout, entry.code.as_deref()?))).collect();
        let numbered = rows.iter().zip(&words).enumerate();
        let numbered = numbered
            .map(|(number, (entry, words))| (words.as_deref(), Some(filter(entry.tenant)), row(number)));
        let memory = Memory::built_of(layout, 40_000 / FEWER.min(200), numbered, fill, at_a_time);
        Self { layout, rows, memory }
    }

    fn insert(&mut self, entry: Entry) {
        let words = entry.code.as_ref().map(|code| words_of(self.layout, code));
        self.memory.index().insert(words.as_deref(), Some(filter(entry.tenant)), row(self.rows.len()));
        self.rows.push(entry);
    }

    /// Kills one in `one_in` rows, and vacuums.
    fn vacuum(&mut self, one_in: u64, seed: u64) {
        let before = self.rows.iter().filter(|entry| !entry.is_dead).count() as u64;
        for (number, entry) in self.rows.iter_mut().enumerate() {
            entry.is_dead |= scattered(seed ^ number as u64).is_multiple_of(one_in);
        }
        let dead: BTreeSet<RowId> =
            (0..).zip(&self.rows).filter(|(_, entry)| entry.is_dead).map(|(number, _)| row(number)).collect();
        let (remaining, removed) = self.memory.index().vacuum(&mut |row| dead.contains(&row));
        assert_eq!((remaining, remaining + removed), (self.rows.len() as u64 - dead.len() as u64, before));
    }

    /// Compares a search of a tenant's rows with the list.
    fn check(
        &self,
        costs: &SearchCosts,
        wanted: u32,
        query: &SearchQuery,
        codes: (&[u8], u32),
        max_sorted: usize,
    ) {
        let (center, radius) = codes;
        let knows = self.layout.is_one_word() || self.layout.has_code_tree();
        let mut table = Known(&self.rows);
        let query_of_codes = SearchQuery { codes: true, ..query.clone() };
        let mut check = |hit: &SearchHit, code: Option<&[u64]>| {
            let code = code.map(|words| self.layout.code_of(words));
            assert!(
                code == self.rows[number_of(hit.row)].code || code.is_none() && !knows,
                "another code: {query:?}"
            );
        };
        let hits =
            self.memory.search_with_codes(costs, query_of_codes, max_sorted, Some(&mut table), &mut check);
        let distance = |number: usize| Some(distance_of_bytes(self.rows[number].code.as_ref()?, center));
        if !query.nearest_to.is_empty() {
            let rank = |hit: &SearchHit| distance(number_of(hit.row)).unwrap_or(u32::MAX);
            assert!(hits.is_sorted_by_key(rank), "not in order: {query:?}");
        }
        let mut found: Vec<usize> = hits.iter().map(|hit| number_of(hit.row)).collect();
        if self.layout.is_one_word() {
            for hit in &hits {
                assert_eq!(hit.is_seen_by_all, is_seen(hit.row), "{query:?}");
            }
        }
        found.sort_unstable();
        assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "a row comes twice: {query:?}");
        found.retain(|&number| self.rows[number].tenant == wanted);
        let is_wanted = |&number: &usize| match distance(number) {
            _ if self.rows[number].is_dead || self.rows[number].tenant != wanted => false,
            Some(distance) => query.values && (query.balls.is_empty() || distance <= radius),
            None => query.nulls && query.balls.is_empty(),
        };
        let expected: Vec<usize> = (0..self.rows.len()).filter(is_wanted).collect();
        assert_eq!(found, expected, "tenant {wanted}: {query:?}");
    }

    /// Compares all kinds of searches of a tenant's rows.
    fn check_all(&self, wanted: u32, seed: u64, leaves: Option<f64>, max_sorted: usize) {
        let layout = self.layout;
        let index = self.memory.index();
        let costs = SearchCosts::new(layout, leaves_in(self.memory.pages_in_use() as u32, layout));
        let leaves = leaves.unwrap_or_else(|| index.leaves_of(filter(wanted)));
        let costs = costs.of_filter(filter(wanted), leaves);
        let code = code(layout, seed);
        let center = center(layout, &code);
        for radius in [0, 3, 7, layout.bits() / 4, layout.bits()] {
            let balls = vec![CodeBall { center: center.clone(), radius }];
            for (balls, nearest_to, nulls) in [
                (balls.clone(), vec![], false),
                (balls, vec![center.clone()], false),
                (vec![], vec![center.clone()], true),
                (vec![], vec![], true),
            ] {
                let query = SearchQuery { balls, values: true, nulls, nearest_to, codes: false };
                self.check(&costs, wanted, &query, (&code, radius), max_sorted);
            }
        }
        let nulls = SearchQuery { nulls: true, ..SearchQuery::default() };
        self.check(&costs, wanted, &nulls, (&code, 0), max_sorted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_tenant_gets_the_rows_of_the_list(
        bits in prop_oneof![Just(None), Just(Some(24)), Just(Some(64)), Just(Some(80)), Just(Some(256))],
        rows in 0u64..3000 / FEWER as u64,
        steps in prop::collection::vec((0u64..1500 / FEWER as u64, 1u64..9), 0..4),
        (fill, at_a_time) in (1usize..100, 50usize..50_000),
        seed: u64,
        leaves in prop_oneof![2 => Just(None), 1 => (1.0..2000.0).prop_map(Some)],
        max_sorted in 1usize..2000,
        trees in prop_oneof![Just(CodeTrees::Words), Just(CodeTrees::Both), Just(CodeTrees::Whole)],
    ) {
        let layout = bits.map_or(Layout::FINGERPRINTS, Layout::of_codes).with_filter().with_trees(trees);
        let first = (0..rows).map(|n| entry(layout, seed ^ n)).collect();
        let mut both = Both::built(layout, first, fill, at_a_time);
        for (step, (inserted, one_in)) in (1..).zip(steps) {
            (0..inserted).for_each(|n| both.insert(entry(layout, seed ^ step << 32 ^ n)));
            prop_assert_eq!(both.memory.problems(), Vec::<String>::new());
            both.vacuum(one_in, seed ^ step);
            prop_assert_eq!(both.memory.problems(), Vec::<String>::new());
        }
        // A tenant with many rows, one with some, and one without.
        for wanted in [0, 1, 7, 1000].into_iter().step_by(FEWER.min(3)) {
            both.check_all(wanted, scattered(seed ^ u64::from(wanted)), leaves, max_sorted);
        }
    }
}

/// Rows without a code come first, too many for the memory. Then the first code gives the length of codes.
#[test]
fn rows_before_the_first_code_keep_their_filters() {
    for trees in [CodeTrees::Words, CodeTrees::Both, CodeTrees::Whole] {
        for (before, after) in [(80, 256), (256, 80), (200, 200)].into_iter().step_by(FEWER.min(3)) {
            let layout = |bits| Layout::of_codes(bits).with_filter().with_trees(trees);
            let without = 500 / FEWER.min(10);
            let rows = 700 / FEWER.min(10);
            let mut builder = Builder::new(layout(before), 300 / FEWER.min(10));
            for number in 0..without {
                builder.add(&mut Lists, None, Some(filter(1)), row(number)).unwrap();
            }
            let small = 100 / FEWER.min(10);
            let layout = layout(after);
            builder.set_layout(layout, small);
            for number in without..rows {
                let words = words_of(layout, &code(layout, number as u64));
                builder.add(&mut Lists, Some(&words), Some(filter(1)), row(number)).unwrap();
            }
            assert_eq!(builder.rows(), rows as u64);
            let mut memory = Memory::of(layout, 1000 / FEWER.min(5));
            builder.write(Lists, &mut memory, 90, &mut || {});
            assert_eq!(memory.problems(), Vec::<String>::new(), "{trees:?}: {before}, {after}");
            assert_eq!(memory.index().rows(&mut |_| ()), rows as u64);
        }
    }
}

/// Rows for tenants with these numbers of rows, in the order of the list.
fn rows_of_tenants(sizes: &[usize]) -> Vec<Entry> {
    let layout = Layout::FINGERPRINTS;
    let tenants = (0..).zip(sizes).flat_map(|(tenant, &size)| std::iter::repeat_n(tenant, size));
    (0..).zip(tenants).map(|(seed, tenant)| Entry { tenant, ..entry(layout, seed) }).collect()
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn leaves_of_a_tenant_are_counted() {
    let sizes = [70_000, 9_000, 300, 20, 1, 40_000];
    // A leaf has 22 entries, and a node above has 18 children: the tree has four levels.
    let both = Both::built(Layout::FINGERPRINTS.with_filter(), rows_of_tenants(&sizes), 5, 1_000_000);
    for (tenant, size) in (0..).zip(sizes) {
        let counted = both.memory.index().leaves_of(filter(tenant));
        let leaves = size as f64 / 22.0;
        assert!((leaves * 0.6..=leaves * 1.6 + 2.0).contains(&counted), "{tenant}: {counted} of {leaves}");
    }
    assert!(both.memory.index().leaves_of(filter(1_000)) <= 2.0);
    let both = Both::built(Layout::FINGERPRINTS.with_filter(), rows_of_tenants(&sizes), 95, 1_000_000);
    for (tenant, size) in (0..).zip(sizes) {
        let counted = both.memory.index().leaves_of(filter(tenant));
        let leaves = size as f64 / 430.0;
        assert!((leaves * 0.8..=leaves * 1.2 + 2.0).contains(&counted), "{tenant}: {counted} of {leaves}");
    }
}

/// All rows of a small tenant are read; of a large one, bands find the near rows.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn a_tenant_reads_few_pages() {
    let sizes = [70_000, 9_000, 300, 20];
    let layout = Layout::FINGERPRINTS.with_filter();
    let both = Both::built(layout, rows_of_tenants(&sizes), 95, 1_000_000);
    let costs = SearchCosts::new(layout, leaves_in(both.memory.pages_in_use() as u32, layout));
    for (tenant, most) in [(0, 160), (1, 50), (2, 6), (3, 6), (1000, 6)] {
        let filter = filter(tenant);
        let costs = costs.of_filter(filter, both.memory.index().leaves_of(filter));
        for seed in 0..50 {
            let center = center(layout, &code(layout, seed));
            let balls = vec![CodeBall { center: center.clone(), radius: 6 }];
            let query = SearchQuery { balls, values: true, ..SearchQuery::default() };
            let search = || drop(both.memory.search_codes(&costs, query, 1000, None::<&mut NoCodes>));
            let pages = both.memory.reads_of(search);
            assert!(pages <= most, "{pages} pages within 6 of tenant {tenant}");
        }
    }
}

/// If many rows of other tenants have a code, it is not looked up in the table for each of them.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn few_rows_of_others_are_found() {
    let layout = Layout::FINGERPRINTS.with_filter();
    let mut rows = rows_of_tenants(&[60_000, 20_000]);
    rows.iter_mut().filter(|row| row.tenant == 0).for_each(|row| row.code = Some(vec![7; 8]));
    let both = Both::built(layout, rows, 95, 1_000_000);
    let costs = SearchCosts::new(layout, leaves_in(both.memory.pages_in_use() as u32, layout));
    let costs = costs.of_filter(filter(1), both.memory.index().leaves_of(filter(1)));
    for nearest_to in [vec![], vec![center(layout, &[7; 8])]] {
        let balls = vec![CodeBall { center: center(layout, &[7; 8]), radius: 6 }];
        let query = SearchQuery { balls, values: true, nulls: false, nearest_to, codes: false };
        let hits = both.memory.search_codes(&costs, query, 1000, Some(&mut Known(&both.rows)));
        assert!(hits.len() < 1300, "{} rows", hits.len());
    }
}

#[test]
fn a_row_that_a_tree_lacks_is_reported() {
    let layout = Layout::FINGERPRINTS.with_filter();
    let both = Both::built(layout, rows_of_tenants(&[2000 / FEWER.min(20), 30]), 90, 1_000_000);
    let root = layout.root(FILTER_TREE);
    assert_eq!(both.memory.problems(), Vec::<String>::new());
    let alone = Memory::of(layout, 20);
    alone.index().insert(Some(&[5]), Some(filter(1)), row(0));
    alone.index().insert(Some(&[6]), None, row(1));
    assert_eq!(alone.problems(), [format!("{root}: row (0,2) is missing among further columns")]);
    assert_eq!(alone.problems_but(&mut |other| other == row(1)), [""; 0]);
}

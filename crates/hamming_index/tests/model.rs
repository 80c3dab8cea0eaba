//! The index against a list: random histories, every radius, nearest with ties, one and several threads.

mod memory;

use hamming_index::key::Row;
use hamming_index::{Ball, Hit, Query};
use memory::Memory;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows by their number, each with its fingerprint.
type Model = BTreeMap<u32, Option<u64>>;

fn row(number: u32) -> Row {
    Row::new(number / 100, (number % 100) as u16 + 1)
}

/// Scattered, or near to one of a few, or one of a few, or NULL.
fn fingerprint() -> impl Strategy<Value = Option<u64>> {
    let center = (0u64..3).prop_map(|n| (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let near = (center.clone(), prop::collection::vec(0u32..64, 0..4))
        .prop_map(|(center, bits)| bits.iter().fold(center, |f, bit| f ^ 1 << bit));
    prop_oneof![
        2 => any::<u64>().prop_map(Some),
        4 => near.prop_map(Some),
        2 => center.prop_map(Some),
        1 => (0u64..8).prop_map(Some),
        1 => Just(None),
    ]
}

#[derive(Clone, Debug)]
enum Step {
    /// Rows that are added one by one.
    Insert(Vec<Option<u64>>),
    /// Of these parts of a thousand, rows are removed one by one.
    Remove(u32, u32),
    /// Of these parts of a thousand, rows are removed at once.
    Vacuum(u32, u32),
    Tidy,
    /// A new index of all rows.
    Rebuild {
        fill: usize,
        at_a_time: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec(fingerprint(), 1..2500).prop_map(Step::Insert),
        2 => (0u32..900, 0u32..400).prop_map(|(from, parts)| Step::Remove(from, from + parts)),
        2 => (0u32..900, 0u32..900).prop_map(|(from, parts)| Step::Vacuum(from, from + parts)),
        2 => Just(Step::Tidy),
        // Nearly empty pages make high trees of few rows.
        1 => (1usize..100, 50usize..5000).prop_map(|(fill, at_a_time)| Step::Rebuild { fill, at_a_time }),
    ]
}

/// Which part of a thousand the row is in.
fn part(number: &u32) -> u32 {
    number.wrapping_mul(2_654_435_761) % 1000
}

fn carry_out(step: &Step, model: &mut Model, memory: &mut Memory) {
    match step {
        Step::Insert(fingerprints) => {
            for &fingerprint in fingerprints {
                let number = model.last_key_value().map_or(0, |(last, _)| last + 1);
                model.insert(number, fingerprint);
                memory.index().insert(fingerprint, row(number));
            }
        }
        Step::Vacuum(from, to) => {
            let before = model.len();
            let dead: Vec<_> = model
                .extract_if(.., |number, _| (*from..*to).contains(&part(number)))
                .map(|(number, _)| row(number))
                .collect();
            let (remaining, removed) = memory.index().vacuum(&mut |row| dead.binary_search(&row).is_ok());
            assert_eq!((remaining, removed), (model.len() as u64, (before - model.len()) as u64));
        }
        Step::Remove(from, to) => {
            for (number, fingerprint) in
                model.extract_if(.., |number, _| (*from..*to).contains(&part(number)))
            {
                assert!(memory.index().remove(fingerprint, row(number)));
                assert!(!memory.index().remove(fingerprint, row(number)), "it was there twice");
            }
        }
        Step::Tidy => memory.index().tidy(),
        Step::Rebuild { fill, at_a_time } => {
            let rows: Vec<_> =
                model.iter().map(|(&number, &fingerprint)| (fingerprint, row(number))).collect();
            *memory = Memory::built(20_000, &rows, *fill, *at_a_time);
        }
    }
}

/// The answer from the list: distances, and rows in no order.
fn naive(model: &Model, query: &Query) -> Vec<Hit> {
    let wanted = |fingerprint: Option<u64>| match fingerprint {
        Some(f) => query.values && query.balls.iter().all(|b| (b.center ^ f).count_ones() <= b.radius),
        None => query.nulls && query.balls.is_empty(),
    };
    let distance = |f: Option<u64>| Some((f? ^ query.nearest_to?).count_ones());
    let rows = model.iter().filter(|&(_, &f)| wanted(f));
    rows.map(|(&number, &f)| Hit { row: row(number), distance: distance(f) }).collect()
}

fn compare(model: &Model, memory: &Memory, query: &Query, tree_leaves: f64, max_sorted: usize) {
    let mut hits = memory.search(query.clone(), tree_leaves, max_sorted);
    if query.nearest_to.is_some() {
        let key = |hit: &Hit| hit.distance.unwrap_or(u32::MAX);
        assert!(hits.is_sorted_by_key(key), "not in order: {query:?}");
    }
    let mut expected = naive(model, query);
    hits.sort_by_key(|hit| hit.row);
    expected.sort_by_key(|hit| hit.row);
    assert_eq!(hits, expected, "{query:?} with {tree_leaves} leaves and {max_sorted} sorted");
}

fn any_query() -> impl Strategy<Value = u64> {
    (fingerprint(), prop::collection::vec(0u32..64, 0..7))
        .prop_map(|(f, bits)| bits.iter().fold(f.unwrap_or(0), |f, bit| f ^ 1 << bit))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_those_of_a_list(
        steps in prop::collection::vec(step(), 1..10),
        queries in prop::collection::vec((any_query(), any_query()), 3),
        tree_leaves in prop_oneof![Just(1.0), 2.0..100.0, Just(1e6)],
        max_sorted in 1usize..3000,
    ) {
        let mut model = Model::new();
        let mut memory = Memory::new(20_000);
        for step in &steps {
            carry_out(step, &mut model, &mut memory);
            prop_assert_eq!(memory.problems(), Vec::<String>::new());
        }
        for (center, other) in queries {
            let values = Query { values: true, ..Query::default() };
            for radius in 0..=64 {
                let balls = vec![Ball { center, radius }];
                compare(&model, &memory, &Query { balls, ..values.clone() }, tree_leaves, max_sorted);
            }
            for radius in [0, 3, 9, 40] {
                let ball = Ball { center, radius };
                for balls in [vec![], vec![ball], vec![ball, Ball { center: other, radius: 33 }]] {
                    for nearest_to in [None, Some(center), Some(other)] {
                        let query = Query { balls: balls.clone(), values: true, nulls: true, nearest_to };
                        compare(&model, &memory, &query, tree_leaves, max_sorted);
                    }
                }
            }
            let nulls = Query { nulls: true, ..Query::default() };
            compare(&model, &memory, &nulls, tree_leaves, max_sorted);
        }
    }
}

#[test]
fn pages_are_given_back() {
    let mut model = Model::new();
    let mut memory = Memory::new(5_000);
    let rows: Vec<_> = (0..60_000u64).map(|n| Some(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    carry_out(&Step::Insert(rows.clone()), &mut model, &mut memory);
    let full = memory.pages_in_use();
    carry_out(&Step::Remove(0, 950), &mut model, &mut memory);
    memory.index().tidy();
    assert_eq!(memory.problems(), Vec::<String>::new());
    assert!(memory.pages_in_use() * 5 < full, "{} of {full}", memory.pages_in_use());
    carry_out(&Step::Insert(rows), &mut model, &mut memory);
    assert!(memory.pages_in_use() < full + full / 4);
}

/// Readers find every row that is always there while others are added and removed and pages are merged.
#[test]
fn nobody_misses_a_row_that_is_always_there() {
    let lasting: Vec<_> = (0..4000u64).map(|n| (n * n).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let passing: Vec<_> = (0..30_000u64).map(|n| (n * n + 7).wrapping_mul(0xd134_2543_de82_ef95)).collect();
    let rows: Vec<_> = (0..).zip(&lasting).map(|(n, &f)| (Some(f), row(n))).collect();
    let memory = Memory::built(50_000, &rows, 100, 1000);
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for reader in 0..2usize {
            let (memory, done, lasting) = (&memory, &done, &lasting);
            scope.spawn(move || {
                let mut turn = reader;
                while done.load(Ordering::Relaxed) < 2 {
                    turn += 1;
                    let place = turn * 7919 % lasting.len();
                    let center = lasting[place] ^ 1 << (turn % 64);
                    let nearest_to = (turn % 3 == 0).then_some(center);
                    let balls = vec![Ball { center, radius: [1, 6, 20, 64][turn % 4] }];
                    let query = Query { balls, values: true, nearest_to, ..Query::default() };
                    let hits = memory.search(query, [50.0, 1e6][turn % 2], 500);
                    let found = hits.iter().filter(|hit| hit.row == row(place as u32)).count();
                    assert_eq!(found, 1, "row {place}");
                }
            });
        }
        for writer in 0..2usize {
            let (memory, done, passing) = (&memory, &done, &passing);
            scope.spawn(move || {
                let mine = || (10_000u32..).zip(passing).skip(writer).step_by(2);
                for (number, &fingerprint) in mine() {
                    memory.index().insert(Some(fingerprint), row(number));
                }
                memory.index().tidy();
                for (number, &fingerprint) in mine().filter(|(number, _)| number % 64 > 1) {
                    assert!(memory.index().remove(Some(fingerprint), row(number)));
                }
                memory.index().tidy();
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(memory.problems(), Vec::<String>::new());
}

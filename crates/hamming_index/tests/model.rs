//! Compares an index with a list: random histories, every radius, nearest with ties, one and several threads.

mod memory;

use hamming_index::key::RowId;
use hamming_index::page::PAGE_SIZE;
use hamming_index::store::Store;
use memory::{Ball, FEWER, FingerprintSearch, Hit, Memory, Query};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The rows that the index should contain.
#[derive(Default)]
struct Model {
    /// Rows by their number, each with its fingerprint.
    rows: BTreeMap<u32, Option<u64>>,
    /// Dead rows that a vacuum may not have removed before it was stopped.
    dead: BTreeSet<RowId>,
}

fn row(number: u32) -> RowId {
    RowId::new(number / 100, (number % 100) as u16 + 1)
}

/// A scattered value, one near one of three centers, a center, a small number, or NULL.
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
    /// Inserts rows one by one.
    Insert(Vec<Option<u64>>),
    /// Removes the rows of these [`part`]s.
    Vacuum(u32, u32),
    /// As `Vacuum`, but stops after a number of batches of leaves.
    StoppedVacuum(u32, u32, usize),
    /// A vacuum without dead rows.
    Tidy,
    /// Builds a new index of all rows.
    Rebuild { fill: usize, at_a_time: usize },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec(fingerprint(), 1..2500 / FEWER).prop_map(Step::Insert),
        2 => (0u32..900, 0u32..900).prop_map(|(from, parts)| Step::Vacuum(from, from + parts)),
        2 => (0u32..900, 0u32..900, 0usize..12)
            .prop_map(|(from, parts, after)| Step::StoppedVacuum(from, from + parts, after)),
        2 => Just(Step::Tidy),
        // If pages are nearly empty, few rows make high trees.
        1 => (1usize..100, 50usize..5000).prop_map(|(fill, at_a_time)| Step::Rebuild { fill, at_a_time }),
    ]
}

/// The number of the part that contains the row, of a thousand parts.
fn part(number: &u32) -> u32 {
    number.wrapping_mul(2_654_435_761) % 1000
}

/// The rows of these parts become dead.
fn kill(model: &mut Model, from: u32, to: u32) {
    let killed = model.rows.extract_if(.., |number, _| (from..to).contains(&part(number)));
    model.dead.extend(killed.map(|(number, _)| row(number)));
}

fn carry_out(step: &Step, model: &mut Model, memory: &mut Memory) {
    match step {
        Step::Insert(fingerprints) => {
            let first = model.rows.last_key_value().map_or(0, |(last, _)| last + 1);
            // Row ids of dead rows are not used again.
            let first = model.dead.last().map_or(first, |dead| first.max(dead.page() * 100 + 100));
            for (number, &fingerprint) in (first..).zip(fingerprints) {
                model.rows.insert(number, fingerprint);
                memory.insert(fingerprint, row(number));
            }
        }
        Step::Vacuum(from, to) => {
            let unfinished = model.dead.len() as u64;
            kill(model, *from, *to);
            let (remaining, removed) = memory.index().vacuum(&mut |row| model.dead.contains(&row));
            assert_eq!(remaining, model.rows.len() as u64);
            let dead = model.dead.len() as u64;
            assert!((dead - unfinished..=dead).contains(&removed), "{removed} of {dead}");
            model.dead.clear();
        }
        Step::StoppedVacuum(from, to, after) => {
            kill(model, *from, *to);
            let vacuum = || memory.index().vacuum(&mut |row| model.dead.contains(&row));
            if !memory.cancelled_after(*after, vacuum) {
                model.dead.clear();
            }
        }
        Step::Tidy => drop(memory.index().vacuum(&mut |_| false)),
        Step::Rebuild { fill, at_a_time } => {
            let rows: Vec<_> =
                model.rows.iter().map(|(&number, &fingerprint)| (fingerprint, row(number))).collect();
            *memory = Memory::built(20_000 / FEWER, &rows, *fill, *at_a_time);
            model.dead.clear();
        }
    }
}

/// The answer from the list, ordered by row.
fn naive(model: &Model, query: &Query) -> Vec<Hit> {
    let wanted = |fingerprint: Option<u64>| match fingerprint {
        Some(f) => query.values && query.balls.iter().all(|b| (b.center ^ f).count_ones() <= b.radius),
        None => query.nulls && query.balls.is_empty(),
    };
    let rows = model.rows.iter().filter(|&(_, &f)| wanted(f));
    rows.map(|(&number, &f)| Hit { row: row(number), fingerprint: f }).collect()
}

fn compare(model: &Model, memory: &Memory, query: &Query, tree_leaves: f64, max_sorted: usize) {
    let mut hits = memory.search(query.clone(), tree_leaves, max_sorted);
    // PostgreSQL itself leaves out dead rows.
    hits.retain(|hit| !model.dead.contains(&hit.row));
    let distance = |hit: &Hit, center: u64| hit.fingerprint.map_or(u32::MAX, |f| (f ^ center).count_ones());
    let distances = |hit: &Hit| query.nearest_to.iter().map(|&c| distance(hit, c)).collect::<Vec<_>>();
    assert!(hits.is_sorted_by_key(distances), "not in order: {query:?}");
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
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_those_of_a_list(
        steps in prop::collection::vec(step(), 1..10 / FEWER.min(2)),
        queries in prop::collection::vec((any_query(), any_query()), 3 / FEWER.min(3)),
        tree_leaves in prop_oneof![Just(1.0), 2.0..100.0, Just(1e6)],
        max_sorted in 1usize..3000,
    ) {
        let mut model = Model::default();
        let mut memory = Memory::new(20_000 / FEWER);
        for step in &steps {
            carry_out(step, &mut model, &mut memory);
            prop_assert_eq!(memory.problems_but(&mut |row| model.dead.contains(&row)), Vec::<String>::new());
        }
        for (number, (center, other)) in queries.into_iter().enumerate() {
            let values = Query { values: true, ..Query::default() };
            // The three queries share the radii: each radius is used once.
            for radius in (number as u32..=64).step_by(3 * FEWER.min(5)) {
                let balls = vec![Ball { center, radius }];
                compare(&model, &memory, &Query { balls, ..values.clone() }, tree_leaves, max_sorted);
            }
            for radius in [0, 3, 9, 40].into_iter().step_by(FEWER.min(3)) {
                let ball = Ball { center, radius };
                for balls in [vec![], vec![ball], vec![ball, Ball { center: other, radius: 33 }]] {
                    for nearest_to in [&[][..], &[center], &[other], &[other, center], &[center, !0, other]] {
                        let nearest_to = nearest_to.to_vec();
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

/// Trees may differ in dead rows; any other difference is reported.
#[test]
fn a_stopped_vacuum_is_finished_by_the_next() {
    let rows: Vec<_> = (0..30_000 / FEWER as u32).map(|n| (Some(scattered(u64::from(n))), row(n))).collect();
    let memory = Memory::built(5_000 / FEWER.min(50), &rows, 90_usize.div_ceil(FEWER), 100_000);
    let mut is_dead = |row: RowId| row.offset().is_multiple_of(3);
    assert!(memory.cancelled_after(2, || memory.index().vacuum(&mut is_dead)));
    assert_eq!(memory.problems_but(&mut is_dead), Vec::<String>::new());
    assert!(!memory.problems().is_empty(), "it was stopped midway");
    assert!(!memory.problems_but(&mut |row| is_dead(row) && row.offset() != 3).is_empty());
    let dead = rows.iter().filter(|&&(_, row)| is_dead(row)).count() as u64;
    let (remaining, removed) = memory.index().vacuum(&mut is_dead);
    assert_eq!(remaining, rows.len() as u64 - dead);
    assert!(removed < dead, "some were removed before");
    assert_eq!(memory.problems(), Vec::<String>::new());
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn pages_are_given_back() {
    let mut model = Model::default();
    let mut memory = Memory::new(5_000 / FEWER.min(50));
    let rows: Vec<_> = (0..60_000u64).map(|n| Some(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    carry_out(&Step::Insert(rows.clone()), &mut model, &mut memory);
    let full = memory.pages_in_use();
    carry_out(&Step::Vacuum(0, 950), &mut model, &mut memory);
    assert_eq!(memory.problems(), Vec::<String>::new());
    assert!(memory.pages_in_use() * 5 < full, "{} of {full}", memory.pages_in_use());
    carry_out(&Step::Insert(rows), &mut model, &mut memory);
    assert!(memory.pages_in_use() < full + full / 4);
}

/// In a tree of three levels, a page above the leaves is split, and merged with its neighbour again.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn pages_above_the_leaves_are_split_and_merged() {
    let memory = Memory::new(20_000 / FEWER);
    // More leaves than an inner page has room for.
    let rows: u32 = 280_000;
    (0..rows).for_each(|number| memory.insert(Some(u64::from(number)), row(number)));
    let of_first_tree = || memory.index().totals(&|_| false, &mut |_| {})[0];
    assert_eq!((of_first_tree().height, of_first_tree().entries), (3, u64::from(rows)));
    assert_eq!(memory.problems(), Vec::<String>::new());
    for (share, height) in [(5, 2), (1000, 1)] {
        let is_dead = |r: RowId| !(r.page() * 100 + u32::from(r.offset()) - 1).is_multiple_of(share);
        memory.index().vacuum(&mut |row| is_dead(row));
        assert_eq!((of_first_tree().height, of_first_tree().entries), (height, u64::from(rows / share)));
        assert_eq!(memory.problems(), Vec::<String>::new());
        let ball = Ball { center: 0, radius: 64 };
        let query = Query { balls: vec![ball], values: true, nulls: false, nearest_to: vec![] };
        assert_eq!(memory.search(query, 1e6, 1000).len(), (rows / share) as usize);
    }
}

/// Rows with numbers from here on are inserted and removed; the others always exist.
const PASSING: u32 = 1_000_000;

fn scattered(number: u64) -> u64 {
    (number * number + 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number << 40
}

/// Asserts that every lasting row within the ball was found once.
fn assert_once(hits: &[Hit], lasting: &[u64], ball: Ball) {
    let mut found: Vec<RowId> = hits.iter().map(|hit| hit.row).filter(|hit| *hit < row(PASSING)).collect();
    found.sort_unstable();
    let within = |&(_, fingerprint): &(u32, &u64)| (ball.center ^ fingerprint).count_ones() <= ball.radius;
    let expected: Vec<RowId> = (0..).zip(lasting).filter(within).map(|(number, _)| row(number)).collect();
    assert_eq!(found, expected, "{ball:?}");
}

/// Between two batches of a search, pages are split and merged, so that it continues at other leaves.
#[test]
fn a_search_goes_on_in_a_changed_tree() {
    let lasting: Vec<u64> = (0..20_000 / FEWER as u64).map(scattered).collect();
    let rows: Vec<_> = (0..).zip(&lasting).map(|(n, &f)| (Some(f), row(n))).collect();
    let mut batches = 0;
    for (turn, radius) in [64, 30, 22, 12, 8, 64, 28].into_iter().enumerate().step_by(FEWER.min(5)) {
        // Begins with small leaves, so that many are merged.
        let memory = Memory::built(
            50_000 / FEWER,
            &rows,
            [100, 10, 40][turn % 3].min(100_usize.div_ceil(FEWER)),
            100_000,
        );
        let ball = Ball { center: scattered(turn as u64 * 91) ^ 5, radius };
        let nearest_to = (turn > 4).then_some(ball.center).into_iter().collect();
        let query = Query { balls: vec![ball], values: true, nulls: false, nearest_to };
        let mut search = FingerprintSearch::new(&query, [1e6, 40.0][turn % 2], 700);
        let mut hits = Vec::new();
        let mut next = 0;
        while search.next_batch(&memory, &mut hits) {
            match next % 3 {
                0 => (0..600 / FEWER as u32).for_each(|n| {
                    let number = next * 1000 + n;
                    memory.insert(Some(scattered(u64::from(number))), row(PASSING + number));
                }),
                1 => drop(memory.index().vacuum(&mut |_| false)),
                _ => drop(memory.index().vacuum(&mut |r| r >= row(PASSING))),
            }
            next += 1;
        }
        batches += next;
        assert_once(&hits, &lasting, ball);
        assert_eq!(memory.problems(), Vec::<String>::new());
    }
    assert!(batches > 20 / FEWER as u32, "searches have several batches");
}

/// Counts the finished threads, whether they succeeded or not.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Readers compare their results with the list while writers work.
fn while_others_write(memory: &Memory, lasting: &[u64], writers: &[&(dyn Fn() + Sync)]) {
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for write in writers {
            scope.spawn(|| {
                let _done = Done(&done);
                write();
            });
        }
        for reader in 0..2usize {
            let done = &done;
            scope.spawn(move || {
                let mut turn = reader;
                while done.load(Ordering::Relaxed) < writers.len() {
                    turn += 1;
                    let center = lasting[turn * 7919 % lasting.len()] ^ 1 << (turn % 64);
                    let ball = Ball { center, radius: [1, 6, 20, 64][turn % 4] };
                    let nearest_to = (turn % 3 == 0).then_some(center).into_iter().collect();
                    let query = Query { balls: vec![ball], values: true, nulls: false, nearest_to };
                    assert_once(&memory.search(query, [50.0, 1e6][turn % 2], 500), lasting, ball);
                }
            });
        }
    });
    assert_eq!(memory.problems(), Vec::<String>::new());
}

#[test]
fn nobody_misses_a_row_that_is_always_there() {
    let lasting: Vec<u64> = (0..4000 / FEWER as u64).map(scattered).collect();
    let rows: Vec<_> = (0..).zip(&lasting).map(|(n, &f)| (Some(f), row(n))).collect();
    let memory = Memory::built(50_000 / FEWER, &rows, 100, 1000);
    // The vacuum may only remove rows that have been inserted. One thread inserts the even rows, one the odd
    // rows; rows below the thread's number have been inserted.
    let inserted = [AtomicU32::new(0), AtomicU32::new(0)];
    let insert = |odd: u32| {
        for number in (0..if cfg!(miri) { 80 } else { 60_000 }).filter(|number| number % 2 == odd) {
            memory.insert(Some(scattered(u64::from(number) + 9_999)), row(PASSING + number));
            inserted[odd as usize].store(number + 1, Ordering::Release);
        }
    };
    let vacuum = || {
        for round in if cfg!(miri) { 8..10 } else { 0..12 } {
            let there = inserted.each_ref().map(|number| number.load(Ordering::Acquire));
            memory.index().vacuum(&mut |r| {
                let number = r.page() * 100 + u32::from(r.offset()) - 1;
                let is_there = |number: u32| number < there[number as usize % 2];
                number.checked_sub(PASSING).is_some_and(is_there) && (round > 8 || r.offset() % 4 > 0)
            });
        }
    };
    while_others_write(&memory, &lasting, &[&|| insert(0), &|| insert(1), &vacuum]);
}

/// Trees often grow or shrink by a level.
#[test]
fn trees_grow_and_shrink_under_everybody() {
    let lasting: Vec<u64> = (0..20).map(scattered).collect();
    let memory = Memory::new(5_000 / FEWER.min(50));
    (0..).zip(&lasting).for_each(|(n, &f)| memory.insert(Some(f), row(n)));
    // Under miri, trees have one leaf each.
    let rows = if cfg!(miri) { 40 } else { 500 };
    let breathe = |who: u32| {
        for _ in 0..60_usize.div_ceil(FEWER) {
            for number in (0..rows).map(|n| who * rows + n) {
                memory.insert(Some(scattered(u64::from(number))), row(PASSING + number));
            }
            let first = row(PASSING + who * rows);
            let last = row(PASSING + who * rows + rows - 1);
            assert_eq!(memory.index().vacuum(&mut |row| (first..=last).contains(&row)).1, u64::from(rows));
        }
    };
    let tidy = || {
        for _ in 0..3000 / FEWER {
            memory.index().vacuum(&mut |_| false);
        }
    };
    while_others_write(&memory, &lasting, &[&|| breathe(0), &|| breathe(1), &|| breathe(2), &tidy]);
}

/// Each kind of damage is found, and reported for the page that has it.
#[test]
fn damage_is_found() {
    let rows: Vec<_> = (0..3000 / FEWER.min(23) as u32)
        .map(|n| ((n % 10 > 0).then(|| scattered(u64::from(n))), row(n)))
        .collect();
    // Roots are pages 0 to 4. They have level 1, and leaves of about 20 rows. The first tree's leaves follow.
    let trailer = PAGE_SIZE - 8;
    let first_child = PAGE_SIZE - 8 - 4;
    let u16 = |number: u16| number.to_ne_bytes().to_vec();
    let u32 = |number: u32| number.to_ne_bytes().to_vec();
    let damages: [(usize, usize, Vec<u8>, &str); 16] = [
        (9, trailer, u32(7), "9: it is not a page of an index of type hamming"),
        (9, trailer + 4, vec![3], "9: it has another format"),
        (9, trailer + 5, vec![1], "9: it belongs to another tree, or to none"),
        (9, trailer + 6, vec![1], "9: its number of entries is impossible"),
        (0, trailer + 6, vec![9], "9: it is at another level of its tree"),
        (9, 12, u16(24 + 8), "9: its number of entries is impossible"),
        (9, 12, u16(8000), "9: its number of entries is impossible"),
        (9, 12, u16(23), "9: its number of entries is impossible"),
        (0, 12, u16(24), "0: its number of entries is impossible"),
        (0, 12, [u16(24), u16(8184)].concat(), "0: it is an inner page without children"),
        (9, 12, [u16(24 + 8 * 590), u16(8184 - 6 * 590)].concat(), "9: its entries overlap"),
        (9, 24, vec![0; 8], "9: it has keys that belong elsewhere"),
        (0, 24 + 16, vec![0; 8], "0: its keys are out of order"),
        (0, first_child, u32(6), "6: two pages lead to it"),
        (0, first_child, u32(4_000_000), "4000000: there is no such page, but another one leads to it"),
        (4, 24 + 8, vec![1; 8], "4: it has fingerprints among the rows that have none"),
    ];
    for (page_number, first, bytes, expected) in damages.into_iter().step_by(FEWER.min(16)) {
        let mut memory =
            Memory::built(5_000 / FEWER.min(50), &rows, if page_number == 4 { 100 } else { 4 }, 10_000);
        assert_eq!(memory.problems(), Vec::<String>::new());
        memory.damage(page_number, first, &bytes);
        let problems = memory.problems();
        assert!(problems.iter().any(|problem| problem == expected), "{expected}: {problems:?}");
        // If other processes may have changed a page, a page that does not fit its parent is not reported. A
        // search that reads the page still raises an error.
        let is_misfit = ["another tree", "another level", "elsewhere", "two pages"]
            .iter()
            .any(|part| expected.contains(part));
        let check = || memory.problems_of(&|_| true, &mut |_| true);
        let while_changed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).unwrap_or_default();
        assert_eq!(
            while_changed.iter().any(|problem| problem == expected),
            !is_misfit,
            "{expected}: {while_changed:?}"
        );
    }
    // The second entry is the first one.
    let mut memory = Memory::built(5_000 / FEWER.min(50), &rows, 4, 10_000);
    let key = memory.bytes(9, 24);
    let row_of_first = memory.read(9).bytes()[trailer - 6..trailer].to_vec();
    memory.damage(9, 24 + 8, &key);
    memory.damage(9, trailer - 12, &row_of_first);
    let problems = memory.problems();
    assert!(problems.iter().any(|problem| problem == "9: it has a row twice"), "{problems:?}");
    // A vacuum ends at an inner page without children, too.
    let mut memory = Memory::built(5_000 / FEWER.min(50), &rows, 4, 10_000);
    memory.damage(0, 12, &[u16(24), u16(8184)].concat());
    assert!(memory.cancelled_after(1000, || memory.index().vacuum(&mut |_| false)), "it says what is wrong");
    // An entry exists in one tree only.
    let mut memory = Memory::built(5_000 / FEWER.min(50), &rows, 4, 10_000);
    let entry = 24 + 8 * 3;
    let page = 9;
    let other = u64::from_ne_bytes(memory.bytes(9, entry)) ^ 1;
    memory.damage(page, entry, &other.to_ne_bytes());
    let problems = memory.problems();
    assert!(problems.iter().any(|problem| problem.contains("is in band 0, not in band 1")), "{problems:?}");
    assert!(problems.iter().any(|problem| problem.contains("is in band 1, not in band 0")), "{problems:?}");
}

/// Without this error, the vacuum would return to the same leaves for ever.
#[test]
#[cfg_attr(miri, ignore = "takes many rows; a stopped vacuum and damaged pages have tests of few")]
fn vacuum_ends_where_keys_are_out_of_order() {
    let rows: Vec<_> = (0..20_000u32).map(|n| (Some(scattered(u64::from(n))), row(n))).collect();
    // Leaves that are too full to be merged.
    let mut memory = Memory::built(5_000, &rows, 40, 10_000);
    // The key of the first child after those that are read together.
    memory.damage(0, 24 + 8 * 16, &[0; 8]);
    let mut asked = 0;
    let mut is_dead = |_| {
        asked += 1;
        false
    };
    assert!(memory.cancelled_after(1000, || memory.index().vacuum(&mut is_dead)), "it says what is wrong");
    assert!(asked < rows.len(), "asked {asked} times");
}

//! After any history of inserts, removals and vacuums, an index is sound and finds the same rows as a list.
#![no_main]

#[path = "../../tests/memory/mod.rs"]
mod memory;

use arbitrary::Arbitrary;
use hamming_index::key::RowId;
use libfuzzer_sys::fuzz_target;
use memory::{Ball, Memory, Query};
use std::collections::BTreeMap;

#[derive(Arbitrary, Debug)]
enum Step {
    Insert(u64),
    InsertNull,
    /// Inserts this number of fingerprints one by one. They differ from the first in these bits.
    InsertMany(u64, u64, u16),
    Remove(u16),
    /// Removes every row whose number has one of these bits.
    Vacuum(u8),
    /// A vacuum without dead rows.
    Tidy,
    Rebuild(u8),
}

#[derive(Arbitrary, Debug)]
struct History {
    steps: Vec<Step>,
    center: u64,
    other: u64,
    radius: u8,
    is_nearest: bool,
    tree_leaves: u16,
    max_sorted: u16,
}

fn row(number: u32) -> RowId {
    RowId::new(number / 200, (number % 200) as u16 + 1)
}

fuzz_target!(|history: History| {
    let mut memory = Memory::new(1500);
    let mut model: BTreeMap<u32, Option<u64>> = BTreeMap::new();
    let mut next = 0;
    let mut insert = |memory: &Memory, model: &mut BTreeMap<u32, Option<u64>>, fingerprint| {
        memory.insert(fingerprint, row(next));
        model.insert(next, fingerprint);
        next += 1;
    };
    for step in history.steps.iter().take(30) {
        match *step {
            Step::Insert(fingerprint) => insert(&memory, &mut model, Some(fingerprint)),
            Step::InsertNull => insert(&memory, &mut model, None),
            Step::InsertMany(start, bits, count) => {
                let mut some = 0u64;
                for _ in 0..count % 1500 {
                    insert(&memory, &mut model, Some(start ^ some));
                    some = some.wrapping_sub(bits) & bits;
                }
            }
            Step::Remove(number) => {
                let number = u32::from(number);
                if model.remove(&number).is_some() {
                    let (_, removed) = memory.index().vacuum(&mut |dead| dead == row(number));
                    assert_eq!(removed, 1);
                }
            }
            Step::Vacuum(bits) => {
                let dead = |number: &u32| number & u32::from(bits) != 0;
                model.retain(|number, _| !dead(number));
                memory.index().vacuum(&mut |r: RowId| dead(&(r.page() * 200 + u32::from(r.offset()) - 1)));
            }
            Step::Tidy => drop(memory.index().vacuum(&mut |_| false)),
            Step::Rebuild(fill) => {
                let rows: Vec<_> =
                    model.iter().map(|(&number, &fingerprint)| (fingerprint, row(number))).collect();
                memory = Memory::built(1500, &rows, Memory::fill_of(fill), 700);
            }
        }
    }
    assert_eq!(memory.problems(), Vec::<String>::new());
    let ball = |center| Ball { center, radius: u32::from(history.radius % 65) };
    let balls = vec![ball(history.center), ball(history.other)];
    let nearest_to = if history.is_nearest { vec![history.center, history.other] } else { vec![] };
    let query = Query { balls: balls.clone(), values: true, nulls: true, nearest_to: nearest_to.clone() };
    let found = memory.search(query, f64::from(history.tree_leaves), usize::from(history.max_sorted));
    let distances = |fingerprint: u64| -> Vec<u32> {
        nearest_to.iter().map(|center| (fingerprint ^ center).count_ones()).collect()
    };
    assert!(found.is_sorted_by_key(|hit| hit.fingerprint.map(distances)));
    let mut rows: Vec<RowId> = found.iter().map(|hit| hit.row).collect();
    rows.sort_unstable();
    let within = |fingerprint: u64| balls.iter().all(|b| (b.center ^ fingerprint).count_ones() <= b.radius);
    let expected = model.iter().filter(|(_, fingerprint)| fingerprint.is_some_and(within));
    assert_eq!(rows, expected.map(|(&number, _)| row(number)).collect::<Vec<_>>());
});

//! What a search does with pages: which it reads more than once, and what it loads from memory before.

mod memory;

use hamming_index::Layout;
use hamming_index::key::RowId;
use hamming_index::page::PageNumber;
use hamming_index::search_cost::leaves_in;
use hamming_index::store::Store;
use memory::{Ball, Memory, Query, Step};
use std::collections::{HashMap, HashSet};

/// A number that looks random (the finalizer of SplitMix64).
fn scattered(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// An index with trees of three levels. Its leaves have 233 entries each, which are more than a kilobyte.
fn three_levels() -> Memory {
    let row = |number: u64| RowId::new((number / 100) as u32, (number % 100) as u16 + 1);
    let rows: Vec<_> = (0..200_000).map(|number| (Some(scattered(number)), row(number))).collect();
    Memory::built(5_000, &rows, 40, 1_000_000).nearby()
}

/// The steps of a search in each walk, which begins at a root.
fn walks(memory: &Memory, center: u64, radius: u32) -> Vec<Vec<Step>> {
    let balls = vec![Ball { center, radius }];
    let query = Query { balls, values: true, ..Query::default() };
    let leaves = leaves_in(memory.pages_in_use() as u32, Layout::FINGERPRINTS);
    let steps = memory.steps_of(|| drop(memory.search(query, leaves, 1000)));
    let is_root = |step: &Step| matches!(step, Step::Read { level, .. } if *level >= 2);
    let mut walks: Vec<Vec<Step>> = Vec::new();
    for step in steps {
        if is_root(&step) {
            walks.push(Vec::new());
        }
        walks.last_mut().expect("a search begins at a root").push(step);
    }
    walks
}

#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn each_page_above_the_leaves_is_read_once_for_many_leaves() {
    let memory = three_levels();
    for number in 0..20 {
        let mut unfinished = 0;
        for walk in walks(&memory, scattered(1_000_000 + number), 11) {
            let mut pages = HashSet::new();
            let mut leaves = 0;
            for step in walk {
                if let Step::Read { page_number, level, .. } = step {
                    assert!(pages.insert(page_number), "page {page_number} is read twice");
                    leaves += usize::from(level == 0);
                }
            }
            assert!(leaves <= 32, "locks are released after 32 leaves, and not {leaves}");
            unfinished += usize::from(leaves < 32);
        }
        assert!(unfinished <= 4, "a walk ends after 32 leaves, or at the end of one of four trees");
    }
}

/// Without that, a search waits for memory at each leaf.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn each_leaf_is_loaded_before_it_is_read() {
    let memory = three_levels();
    for number in 0..20 {
        for walk in walks(&memory, scattered(1_000_000 + number), 11) {
            // For each page, where the bytes end that have been loaded, from its first key on.
            let mut loaded: HashMap<PageNumber, usize> = HashMap::new();
            let mut last: Option<usize> = None;
            for step in walk {
                match step {
                    Step::Load { page_number, bytes } => {
                        let until = loaded.entry(page_number).or_insert(24);
                        if bytes.start <= *until {
                            *until = bytes.end.max(*until);
                        }
                    }
                    Step::Read { page_number, level: 0, end } => {
                        // The page before it may have fewer keys, and the first leaf has none before it.
                        let expected = last.map_or(0, |last| last.min(end));
                        let until = loaded.get(&page_number).copied().unwrap_or_default();
                        assert!(until >= expected, "{until} of {expected} bytes of {page_number}");
                        last = Some(end);
                    }
                    Step::Read { .. } => {}
                }
            }
        }
    }
}

/// A walk continues at the key at which the next leaf begins. If damage puts that key before the leaves that
/// were visited, the walk would visit them again and again.
#[test]
#[cfg_attr(miri, ignore = "takes an index of many pages")]
fn a_key_out_of_order_ends_a_walk() {
    let mut memory = three_levels();
    let root = Layout::FINGERPRINTS.root(0);
    let parent = memory.read(root).child(0);
    // The leaf after those that are read at a time. To find a lower key, no search compares it with this one.
    let slot = 32;
    memory.damage(parent as usize, 24 + 8 * slot, &5u64.to_ne_bytes());
    let balls = vec![Ball { center: 0, radius: 64 }];
    let query = Query { balls, values: true, ..Query::default() };
    let reads = memory.reads_of(|| {
        assert!(
            memory.cancelled_after(1000, || memory.search(query, 1000.0, 1000)),
            "the damage is an error"
        );
    });
    assert!(reads < 100, "{reads} pages are read until the damage is noticed");
}

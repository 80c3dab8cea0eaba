//! The check of an index while others write: how much it reads, and what it finds.

mod memory;

use hamming_index::key::{Filter, RowId, Tree};
use hamming_index::store::Store;
use hamming_index::{CodeTrees, Layout};
use memory::{FEWER, Memory};

/// A number that looks random (the finalizer of SplitMix64).
fn scattered(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

fn layouts() -> [Layout; 7] {
    let codes = Layout::of_codes(256);
    [
        Layout::FINGERPRINTS,
        Layout::FINGERPRINTS.with_filter(),
        codes,
        codes.with_filter(),
        codes.with_trees(CodeTrees::Both),
        codes.with_trees(CodeTrees::Both).with_filter(),
        codes.with_trees(CodeTrees::Whole).with_filter(),
    ]
}

/// At most so many rows are in a bucket of the check.
const ROWS_OF_BUCKET: usize = 64;
/// The height of trees of some ten thousand rows.
const HEIGHT: usize = 2;

/// The number of a row that is not in an index that was built.
const NEW_ROW: usize = 1_000_001;

fn row(number: usize) -> RowId {
    RowId::new(number as u32 / 100, (number % 100) as u16 + 1)
}

/// The words of the code of a row; one row in fifty has none.
fn words_of(layout: Layout, number: usize) -> Option<Vec<u64>> {
    let words = 0..layout.words();
    let word = |word: usize| scattered((number * layout.words() + word) as u64);
    (!number.is_multiple_of(50)).then(|| words.map(word).collect())
}

fn filter_of(layout: Layout, number: usize) -> Option<Filter> {
    layout.has_filter().then(|| Filter::of_hash(number as u32 % 7))
}

fn insert(memory: &Memory, layout: Layout, number: usize) {
    memory.index().insert(words_of(layout, number).as_deref(), filter_of(layout, number), row(number));
}

/// An index of this many rows.
fn built(layout: Layout, rows: usize) -> Memory {
    let words: Vec<_> = (0..rows).map(|number| words_of(layout, number)).collect();
    let rows = words.iter().enumerate();
    let rows = rows.map(|(number, words)| (words.as_deref(), filter_of(layout, number), row(number)));
    Memory::built_of(layout, 8000 / FEWER.min(50), rows, 95, 1_000_000)
}

/// Flips a bit of the code of the first entry of a tree, in the last word that the tree has.
fn flip_a_bit(memory: &mut Memory, layout: Layout, tree: Tree) {
    let mut leaf = layout.root(tree);
    while memory.read(leaf).level() > 0 {
        let child = memory.read(leaf).child(0);
        leaf = child;
    }
    let has_whole_code = [layout.code_tree(), layout.filter_tree()].contains(&tree) && layout.has_code_tree();
    let last_word = if has_whole_code { layout.words() - 1 } else { 0 };
    let place = 24 + 8 * last_word;
    let word = u64::from_ne_bytes(memory.bytes(leaf, place));
    memory.damage(leaf as usize, place, &(word ^ 1).to_ne_bytes());
}

/// The problems of an index, how many pages the check reads, and how many rows others insert meanwhile.
struct Check {
    problems: Vec<String>,
    pages_read: usize,
    inserted: usize,
}

/// Checks an index while others insert some rows, one whenever the check has read this number of pages.
fn check_while_others_insert(memory: &Memory, layout: Layout, pages_between: usize) -> Check {
    let mut problems = Vec::new();
    let mut inserted = 0;
    let pages_read = memory.reads_of(|| {
        let others = move |memory: &Memory, number: usize| insert(memory, layout, NEW_ROW + 1 + number);
        inserted = memory.while_others_insert(20, pages_between, others, || problems = memory.problems());
    });
    Check { problems, pages_read, inserted }
}

/// Trees then differ in the rows that were inserted between a walk through one and a walk through another,
/// and no others are looked up.
#[test]
#[cfg_attr(miri, ignore = "counts work, which takes many rows")]
fn a_check_reads_few_pages_more_while_others_write() {
    for layout in layouts() {
        let memory = built(layout, 30_000 / layout.words());
        let mut problems = Vec::new();
        let at_rest = memory.reads_of(|| problems = memory.problems());
        assert_eq!(problems, [""; 0]);
        let check = check_while_others_insert(&memory, layout, at_rest / 5);
        assert_eq!(check.problems, [""; 0]);
        assert!(check.inserted >= 5, "{} rows were inserted", check.inserted);
        // For each row that differs in a word, the rows of its bucket are looked up, from each of four trees
        // in three others.
        let looked_up = check.inserted * layout.words() * ROWS_OF_BUCKET * 12 * HEIGHT;
        let most = 4 * at_rest + looked_up;
        assert!(check.pages_read <= most, "{layout:?}: {} pages, at rest {at_rest}", check.pages_read);
    }
}

/// The same faults are found, although each tree also differs from the others in rows that are inserted.
#[test]
fn the_same_faults_are_found_while_others_write() {
    for layout in layouts() {
        let mut faulty = Vec::new();
        if layout.words() > 1 && layout.has_word_trees() {
            // The insert of a row ended before its last words.
            let memory = built(layout, 2000 / FEWER.min(10));
            let words = words_of(layout, NEW_ROW).unwrap_or_default();
            memory.index().insert(Some(&words[..2]), filter_of(layout, NEW_ROW), row(NEW_ROW));
            faulty.push(memory);
        }
        if layout.has_filter() {
            // It ended before the tree of further columns.
            let memory = built(layout, 2000 / FEWER.min(10));
            memory.index().insert(words_of(layout, NEW_ROW).as_deref(), None, row(NEW_ROW));
            faulty.push(memory);
        }
        for tree in layout.trees().filter(|&tree| tree != layout.nulls()) {
            let mut memory = built(layout, 2000 / FEWER.min(10));
            flip_a_bit(&mut memory, layout, tree);
            faulty.push(memory);
        }
        for memory in faulty {
            let at_rest = memory.problems();
            assert!(!at_rest.is_empty(), "{layout:?}");
            let check = check_while_others_insert(&memory, layout, 20);
            assert_eq!(check.problems, at_rest, "{layout:?}");
            assert_ne!(check.inserted, 0);
        }
    }
}

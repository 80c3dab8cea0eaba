//! Checks formats 1 to 4 byte by byte.
//!
//! `golden/*.hex` have the pages of existing indexes; `docs/developers/index-format.md` explains them. If a test
//! here fails, the code no longer reads or writes existing indexes: undo the change, or add a format.
//! Integers have the byte order of the processor, and the files are little-endian.
#![cfg(target_endian = "little")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod memory;

use hamming_index::key::{FILTER_TREE, Filter, IndexKey, RowId, Tree, rotated_back};
use hamming_index::page::{Edit, PAGE_SIZE, Page, PageNumber, Patch};
use hamming_index::store::Store;
use hamming_index::{CodeTrees, Layout};
use memory::Memory;

const LEAF: &str = include_str!("golden/leaf.hex");
const NULL_LEAF: &str = include_str!("golden/null_leaf.hex");
const INNER: &str = include_str!("golden/inner.hex");
const CODE_DESCRIPTION: &str = include_str!("golden/code_description.hex");
const CODE_LEAF: &str = include_str!("golden/code_leaf.hex");
const FILTER_LEAF: &str = include_str!("golden/filter_leaf.hex");
const FILTER_INNER: &str = include_str!("golden/filter_inner.hex");
const WHOLE_DESCRIPTION: &str = include_str!("golden/whole_description.hex");
const WHOLE_LEAF: &str = include_str!("golden/whole_leaf.hex");
const FREE: &str = include_str!("golden/free.hex");

const NULLS: Tree = 4;
const TRAILER: usize = PAGE_SIZE - 8;

/// Reads a file of lines like `offset  bytes  comment`. Bytes that are not listed are zero.
fn page(hex: &str) -> Box<Page> {
    let mut page = Page::free();
    // The other bytes of a free page are zero.
    page.apply(&Edit::Patch([8, 16, TRAILER].map(|offset| Patch::new(offset, &[0; 8])).to_vec()));
    assert!(page.bytes() == &[0; PAGE_SIZE]);
    for line in hex.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split("  ");
        let offset = usize::from_str_radix(fields.next().unwrap(), 16).unwrap();
        let bytes = fields.next().unwrap().split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap());
        page.apply(&Edit::Patch(vec![Patch::new(offset, &bytes.collect::<Vec<_>>())]));
    }
    page
}

fn assert_same(written: &Page, hex: &str) {
    let golden = page(hex);
    if written.bytes() == golden.bytes() {
        return;
    }
    let differing = (0..PAGE_SIZE).filter(|&offset| written.bytes()[offset] != golden.bytes()[offset]);
    let differing: Vec<String> =
        differing.map(|offset| format!("{offset:04x}  {:02x}", written.bytes()[offset])).collect();
    assert_eq!(differing, [""; 0], "written otherwise");
}

/// Five rows, in the order of the second tree.
fn few_rows() -> [(Option<u64>, RowId); 5] {
    let row = |place| RowId::new(0, place);
    [
        (Some(0), row(5)),
        (Some(0x0123_4567_89ab_cdee), row(3)),
        (Some(0x0123_4567_89ab_cdef), row(1)),
        (Some(0xfedc_ba98_7654_3210), row(4)),
        (None, row(2)),
    ]
}

/// Rows as PostgreSQL stores them, 226 per page. Half-full leaves have 291 of them.
fn many_rows() -> Memory {
    let row = |number: u32| RowId::new((number - 1) / 226, ((number - 1) % 226) as u16 + 1);
    let rows = (1..=700).map(|number| (Some(u64::from(number) * 5_000_000_000_000_001), row(number)));
    Memory::built(40, &rows.collect::<Vec<_>>(), 50, 1000)
}

/// Rows of two tenants in turn, 185 per page. Half-full leaves of the tree of further columns have 226 of
/// them.
fn many_rows_of_tenants() -> Memory {
    let row = |number: u32| RowId::new((number - 1) / 185, ((number - 1) % 185) as u16 + 1);
    let words: Vec<u64> = (1..=700).map(|number| number * 5_000_000_000_000_001).collect();
    let rows = (1..).zip(&words);
    let rows = rows
        .map(|(number, word)| (Some(std::slice::from_ref(word)), Some(filter(1 + number % 2)), row(number)));
    Memory::built_of(Layout::FINGERPRINTS.with_filter(), 40, rows, 50, 1000)
}

fn keys_of(page: &Page) -> Vec<IndexKey> {
    page.keys().collect()
}

#[test]
fn a_leaf_is_read() {
    let leaf = page(LEAF);
    assert_eq!((leaf.damage(), leaf.is_new(), leaf.is_free()), (None, false, false));
    assert_eq!((leaf.tree(), leaf.level(), leaf.len()), (1, 0, 4));
    let bits = [0, 0x4567_89ab_cdee_0123, 0x4567_89ab_cdef_0123, 0xba98_7654_3210_fedc];
    let entries = bits.into_iter().zip(few_rows());
    for (key, (bits, (fingerprint, row))) in keys_of(&leaf).into_iter().zip(entries) {
        assert_eq!((key, rotated_back(key.bits, 1)), (IndexKey::new(bits, row), fingerprint.unwrap()));
    }

    let nulls = page(NULL_LEAF);
    assert_eq!((nulls.damage(), nulls.tree(), nulls.level()), (None, NULLS, 0));
    assert_eq!(keys_of(&nulls), [IndexKey::new(0, RowId::new(0, 2))]);
}

#[test]
fn a_leaf_is_written() {
    let built = Memory::built(8, &few_rows(), 100, 1000);
    let filled = Memory::new(8);
    for (fingerprint, row) in few_rows() {
        filled.insert(fingerprint, row);
    }
    for memory in [built, filled] {
        assert_same(&memory.read(Layout::FINGERPRINTS.root(1)), LEAF);
        assert_same(&memory.read(Layout::FINGERPRINTS.root(NULLS)), NULL_LEAF);
    }
    assert_same(&Page::leaf(1, &keys_of(&page(LEAF))), LEAF);
}

/// Three rows whose codes have 80 bits.
fn few_codes() -> Memory {
    few_codes_of(Layout::of_codes(80))
}

fn few_codes_of(layout: Layout) -> Memory {
    let codes: [[u8; 10]; 3] = [*b"0123456789", *b"ABCDEFGHIJ", *b"abcdefghij"];
    let memory = Memory::of(layout, 20);
    for (place, code) in (1..).zip(codes) {
        let words: Vec<u64> = layout.words_of(&code).collect();
        memory.index().insert(Some(&words), None, RowId::new(0, place));
    }
    memory
}

#[test]
fn pages_of_whole_codes_are_written_and_read() {
    let layout = Layout::of_codes(80).with_trees(CodeTrees::Whole);
    let memory = few_codes_of(layout);
    assert_same(&memory.read(0), WHOLE_DESCRIPTION);
    assert_eq!((Layout::read(&memory), layout.root(layout.code_tree())), (layout, 2));
    assert_same(&memory.read(2), WHOLE_LEAF);
    let leaf = page(WHOLE_LEAF);
    assert_eq!((leaf.damage(), leaf.tree(), leaf.level(), leaf.len()), (None, 4098, 0, 3));
    for (trees, has_filter) in [(CodeTrees::Both, false), (CodeTrees::Both, true), (CodeTrees::Whole, true)] {
        let layout = Layout::of_codes(80).with_trees(trees);
        let layout = if has_filter { layout.with_filter() } else { layout };
        assert_eq!(Layout::read(&Memory::of(layout, 20)), layout);
    }
}

#[test]
fn pages_of_codes_are_written_and_read() {
    let memory = few_codes();
    assert_same(&memory.read(0), CODE_DESCRIPTION);
    assert_eq!(Layout::read(&memory), Layout::of_codes(80));
    let first_of_second_word = Layout::of_codes(80).trees_of(1).start;
    assert_same(&memory.read(Layout::of_codes(80).root(first_of_second_word)), CODE_LEAF);
    let leaf = page(CODE_LEAF);
    assert_eq!((leaf.damage(), leaf.tree(), leaf.level(), leaf.len()), (None, 12, 0, 3));
}

/// The filter of a tenant: PostgreSQL's hash of the numbers 1 and 2.
fn filter(tenant: u32) -> Filter {
    Filter::of_hash([242_423_622, 1_134_484_726][tenant as usize - 1])
}

/// The five rows, in the order of their places, of tenants 1, 1, 1, 2, 2.
fn few_rows_of_tenants() -> Memory {
    let memory = Memory::of(Layout::FINGERPRINTS.with_filter(), 20);
    let mut rows = few_rows();
    rows.sort_by_key(|&(fingerprint, row)| (row.offset() / 4, fingerprint.is_none(), fingerprint));
    for (fingerprint, row) in rows {
        let filter = filter(1 + u32::from(row.offset() / 4));
        memory.index().insert(fingerprint.as_ref().map(std::slice::from_ref), Some(filter), row);
    }
    memory
}

#[test]
fn pages_of_several_columns_are_written_and_read() {
    let layout = Layout::FINGERPRINTS.with_filter();
    assert_eq!((layout.root(layout.first_tree()), layout.root(FILTER_TREE)), (0, 5));
    let leaf = page(FILTER_LEAF);
    assert_eq!((leaf.damage(), leaf.tree(), leaf.level(), leaf.len()), (None, FILTER_TREE, 0, 5));
    let mut keys = keys_of(&few_rows_of_tenants().read(5));
    keys.sort_unstable();
    assert_eq!(keys, keys_of(&leaf));
    assert_same(&Page::leaf(FILTER_TREE, &keys), FILTER_LEAF);
    let inner = page(FILTER_INNER);
    assert_eq!((inner.damage(), inner.tree(), inner.level(), inner.len()), (None, FILTER_TREE, 1, 4));
    assert_same(&Page::inner(FILTER_TREE, 1, &inner.children()), FILTER_INNER);
    assert_same(&many_rows_of_tenants().read(5), FILTER_INNER);
    // The other trees have format 3 as well. Their numbers are greater by 1024 than without further columns.
    let few = few_rows_of_tenants();
    for tree in layout.trees() {
        let root = few.read(layout.root(tree));
        assert_eq!((root.bytes()[TRAILER + 4], root.tree()), (3, tree));
    }
    assert_eq!(layout.first_tree(), 1024);
    let codes = Layout::of_codes(80).with_filter();
    assert_eq!((codes.first_tree(), Layout::read(&Memory::of(codes, 20))), (1032, codes));
}

#[test]
fn an_inner_page_is_read() {
    let inner = page(INNER);
    assert_eq!((inner.damage(), inner.is_new(), inner.is_free()), (None, false, false));
    assert_eq!((inner.tree(), inner.level(), inner.len()), (1, 1, 3));
    let children: Vec<(u64, RowId, PageNumber)> =
        inner.children().into_iter().map(|(low, child)| (low.bits, low.row, child)).collect();
    let expected = [
        (0, RowId::new(0, 0), 8),
        (0x6a88_527a_8235_2734, RowId::new(2, 113), 9),
        (0xd4bc_0473_0266_2a9a, RowId::new(2, 162), 10),
    ];
    assert_eq!(children, expected);
}

#[test]
fn an_inner_page_is_written() {
    assert_same(&many_rows().read(Layout::FINGERPRINTS.root(1)), INNER);
    assert_same(&Page::inner(1, 1, &page(INNER).children()), INNER);
}

#[test]
#[cfg_attr(miri, ignore = "takes many rows; model.rs frees and damages pages of few")]
fn a_free_page_is_read_and_written() {
    assert!(page(FREE).is_free());
    let memory = many_rows();
    memory.index().vacuum(&mut |_| true);
    let freed: Vec<PageNumber> =
        (0..memory.pages()).filter(|&page_number| memory.read(page_number).is_free()).collect();
    assert_eq!(freed.len(), 12);
    freed.into_iter().for_each(|page_number| assert_same(&memory.read(page_number), FREE));
}

#[test]
fn a_page_of_the_other_byte_order_is_refused() {
    for hex in [LEAF, INNER, FREE] {
        let mut other = page(hex);
        for numbers in [12..14, 14..16, 16..18, TRAILER..TRAILER + 4] {
            let swapped: Vec<u8> = other.bytes()[numbers.clone()].iter().rev().copied().collect();
            other.apply(&Edit::Patch(vec![Patch::new(numbers.start, &swapped)]));
        }
        assert_eq!(other.damage(), Some("it is not a page of an index of type hamming"));
    }
}

#[test]
fn a_damaged_page_is_refused() {
    let foreign = Some("it is not a page of an index of type hamming");
    let impossible = Some("its number of entries is impossible");
    let damages = [
        (TRAILER, foreign),
        (TRAILER + 3, foreign),
        (TRAILER + 4, Some("it has another format")),
        (TRAILER + 6, impossible), // A leaf's rows are not as long as an inner page's.
        (12, impossible),          // pd_lower
        (14, impossible),          // pd_upper
        (16, foreign),             // pd_special
    ];
    for hex in [LEAF, INNER] {
        for (offset, expected) in damages {
            let mut damaged = page(hex);
            let byte = damaged.bytes()[offset] ^ 1;
            damaged.apply(&Edit::Patch(vec![Patch::new(offset, &[byte])]));
            assert_eq!(damaged.damage(), expected, "byte {offset}");
        }
    }
    // The format of another kind of tree.
    for (hex, format) in [(LEAF, 2), (INNER, 2), (CODE_LEAF, 1), (CODE_DESCRIPTION, 1), (FILTER_LEAF, 2)] {
        let mut damaged = page(hex);
        damaged.apply(&Edit::Patch(vec![Patch::new(TRAILER + 4, &[format])]));
        assert_eq!(damaged.damage(), Some("it has another format"));
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes many rows; model.rs frees and damages pages of few")]
fn a_page_in_a_wrong_place_is_refused() {
    for (offset, bytes, problem) in [
        (TRAILER + 5, [2], "1: it belongs to another tree, or to none"),
        (TRAILER + 6, [2], "8: it is at another level of its tree"),
        (32 + 7, [0xff], "1: its keys are out of order"),
    ] {
        let mut memory = many_rows();
        memory.damage(1, offset, &bytes);
        let problems = memory.problems();
        assert!(problems.iter().any(|found| found == problem), "{problems:?}");
    }
}

//! The pages of an index, which are nodes of its trees.
//!
//! A page has PostgreSQL's page layout. Its header says where free space begins (`lower`) and ends (`upper`);
//! a full page image omits the free space. Keys are stored from the front, one after the other, so a leaf's
//! words are compared in one plain loop. The rest of each entry is stored from the back: its row, and in an
//! inner node its child. In a leaf, entries have no order, so an insert changes only some twenty bytes. In an
//! inner node, they are in the order of keys. The number of an entry, from 0, is its slot. In [`FILTER_TREE`]
//! the filter follows the row. In a leaf of whole codes, a key has all words of its code.
//!
//! ```text
//! | header 24 | key 0 | key 1 | ... -> lower ... free ... upper <- ... | rest 1 | rest 0 | trailer 8 |
//! ```

use crate::key::{FILTER_TREE, Filter, IndexKey, RowId, Tree, bytes_at};
use std::ops::Range;

mod edit;
mod search;

pub use edit::{Edit, Patch};
pub(crate) use search::likely_slot;

/// The size of a page in bytes: PostgreSQL's default, and the only size that is supported.
pub const PAGE_SIZE: usize = 8192;
/// The number of a page in the index, from 0: its block number.
pub type PageNumber = u32;

const HEADER: usize = 24;
const LOWER: usize = 12;
const UPPER: usize = 14;
const SPECIAL: usize = 16;
const SIZE_AND_LAYOUT: usize = 18;
/// The version of PostgreSQL's page header, the same since 8.3.
pub const HEADER_LAYOUT: u16 = 4;

const TRAILER: usize = PAGE_SIZE - 8;
const MAGIC: u32 = 0x5348_4d48;
/// The versions of this format, which `docs/developers/index-format.md` describes and `tests/golden.rs` pins.
/// A change of the format adds one. Trees of codes have format 2; all trees of an index with further columns
/// have format 3; trees of whole codes have format 4; other pages have format 1.
const FORMAT_1: u8 = 1;
const FORMAT_2: u8 = 2;
const FORMAT_3: u8 = 3;
const FORMAT_4: u8 = 4;
/// The format of numbers that are no tree; no page has it.
const NO_FORMAT: u8 = 0;
/// Used as the number of a tree: the page is free. Only the lower byte is stored.
const FREE: Tree = Tree::MAX;
const FREE_BYTE: u8 = FREE as u8;
/// Used as the number of a tree: the page describes the codes of the index.
const DESCRIPTION: Tree = 7;
/// The first tree of an index of codes.
pub(crate) const FIRST_OF_CODES: Tree = 8;
/// This number is added to the number of a tree if the index has further columns.
pub(crate) const SEVERAL_COLUMNS: Tree = 1024;
/// Used as the number of a tree: the page describes the codes of the index, which has whole codes. One is
/// added if words have no trees, and two if there are further columns.
pub(crate) const DESCRIPTION_OF_WHOLE: Tree = 4088;
/// The number of words of a code is added to this to get the number of a tree of whole codes.
pub(crate) const CODE_TREES: Tree = 4096;
/// The same for a tree of whole codes that is ordered by further columns first.
pub(crate) const FILTER_TREES: Tree = 6144;
/// The largest number of a tree, since codes have no more words.
const LAST_TREE: Tree = FILTER_TREES + 128;
const AFTER_LAST: Tree = LAST_TREE + 1;

const KEY: usize = 8;
const ROW: usize = 6;
const CHILD: usize = 4;
const FILTER: usize = 4;

/// The number of entries that a leaf has room for.
pub const LEAF_CAPACITY: usize = (TRAILER - HEADER) / (KEY + ROW);
/// The number of children that an inner node has room for.
pub const INNER_CAPACITY: usize = (TRAILER - HEADER) / (KEY + ROW + CHILD);

/// The number of entries that a leaf of the tree has room for, or of children for a node above the leaves.
pub fn capacity(tree: Tree, level: u8) -> usize {
    (TRAILER - HEADER) / (KEY * words_in(tree, level) + rest(tree, level))
}

/// The bytes of an entry without the words of its key.
fn rest(tree: Tree, level: u8) -> usize {
    let filter = if has_filters(tree) { FILTER } else { 0 };
    ROW + filter + if level == 0 { 0 } else { CHILD }
}

/// Whether the entries of the tree have filters.
fn has_filters(tree: Tree) -> bool {
    tree == FILTER_TREE || (FILTER_TREES..=LAST_TREE).contains(&tree)
}

/// The number of words of a key. In a leaf of whole codes, it is that of a code.
fn words_in(tree: Tree, level: u8) -> usize {
    let words = match tree {
        CODE_TREES..FILTER_TREES if level == 0 => tree - CODE_TREES,
        FILTER_TREES..=LAST_TREE if level == 0 => tree - FILTER_TREES,
        _ => 1,
    };
    usize::from(words.max(1))
}

/// A page as it is in memory and on disk.
#[repr(C, align(8))]
#[derive(Clone)]
pub struct Page([u8; PAGE_SIZE]);

/// The format of the pages of a tree.
const fn format_of(tree: Tree) -> u8 {
    match tree {
        FREE => FORMAT_1,
        DESCRIPTION_OF_WHOLE..=LAST_TREE => FORMAT_4,
        SEVERAL_COLUMNS..DESCRIPTION_OF_WHOLE => FORMAT_3,
        AFTER_LAST.. => NO_FORMAT,
        DESCRIPTION.. => FORMAT_2,
        _ => FORMAT_1,
    }
}

impl Page {
    /// A node without entries. The level of a leaf is 0.
    pub fn node(tree: Tree, level: u8) -> Box<Self> {
        let mut page = Box::new(Self([0; PAGE_SIZE]));
        page.write(LOWER, &(HEADER as u16).to_ne_bytes());
        page.write(UPPER, &(TRAILER as u16).to_ne_bytes());
        page.write(SPECIAL, &(TRAILER as u16).to_ne_bytes());
        page.write(SIZE_AND_LAYOUT, &(PAGE_SIZE as u16 | HEADER_LAYOUT).to_ne_bytes());
        page.write(TRAILER, &MAGIC.to_ne_bytes());
        let ([low, high], format) = (tree.to_le_bytes(), format_of(tree));
        page.write(TRAILER + 4, &[format, low, level, if format == FORMAT_1 { 0 } else { high }]);
        page
    }

    /// A leaf with these entries, which must fit. Words of a code after the first one are zeros.
    pub fn leaf(tree: Tree, entries: &[IndexKey]) -> Box<Self> {
        let mut page = Self::node(tree, 0);
        for &entry in entries {
            page.push(entry, &[], &[]);
        }
        page
    }

    /// A leaf with entries of other leaves, which must fit.
    pub(crate) fn leaf_of<'a>(tree: Tree, entries: impl Iterator<Item = (&'a Self, usize)>) -> Box<Self> {
        let mut page = Self::node(tree, 0);
        for (other, slot) in entries {
            let words: Vec<u64> = other.words(slot).collect();
            page.push(other.key(slot), &words[1..], &[]);
        }
        page
    }

    /// An inner node with these children in order, which must fit. Each child comes with the lowest key that
    /// it may contain.
    pub fn inner(tree: Tree, level: u8, children: &[(IndexKey, PageNumber)]) -> Box<Self> {
        debug_assert!(level > 0, "a leaf has no children");
        debug_assert!(children.is_sorted_by_key(|(low, _)| *low), "children are in the order of their keys");
        let mut page = Self::node(tree, level);
        for &(low, child) in children {
            page.push(low, &[], &child.to_ne_bytes());
        }
        page
    }

    /// A free page, which belongs to no tree.
    pub fn free() -> Box<Self> {
        Self::node(FREE, 0)
    }

    /// The number and the key of a page that describes the codes of an index; `None` for another or a damaged
    /// page. See [`crate::layout`].
    pub(crate) fn described(&self) -> Option<(Tree, IndexKey)> {
        const SEVERAL: Tree = SEVERAL_COLUMNS + DESCRIPTION;
        let is_description = matches!(self.tree(), DESCRIPTION | SEVERAL | DESCRIPTION_OF_WHOLE..CODE_TREES);
        if self.damage().is_some() || !is_description {
            return None;
        }
        Some((self.tree(), self.keys().next()?))
    }

    /// Adds an entry to a page that is not full. Only the page in memory is changed.
    pub(crate) fn push(&mut self, key: IndexKey, tail: &[u64], child: &[u8]) {
        debug_assert!(!self.is_full(), "a page has room for the entry");
        let lower = self.number(LOWER);
        let upper = self.number(UPPER) - self.rest();
        self.write(lower, &key.bits.to_ne_bytes());
        self.write(upper, &key.row.to_bytes());
        if self.has_filters() {
            self.write(upper + ROW, &key.filter.to_bytes());
        }
        let end = lower + self.key_size();
        for (place, word) in (lower + KEY..end).step_by(KEY).zip(tail) {
            self.write(place, &word.to_ne_bytes());
        }
        self.write(upper + self.rest() - child.len(), child);
        self.write(LOWER, &(end as u16).to_ne_bytes());
        self.write(UPPER, &(upper as u16).to_ne_bytes());
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.0[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    #[inline]
    fn read<const N: usize>(&self, offset: usize) -> [u8; N] {
        bytes_at(&self.0, offset)
    }

    #[inline]
    fn number(&self, offset: usize) -> usize {
        usize::from(u16::from_ne_bytes(self.read(offset)))
    }

    /// The bytes of the page on disk, as described in `docs/developers/index-format.md`.
    pub fn bytes(&self) -> &[u8; PAGE_SIZE] {
        &self.0
    }

    /// Applies an edit to the page in memory, without WAL.
    pub fn apply(&mut self, edit: &Edit) {
        match edit {
            Edit::Replace(page) => self.0 = page.0,
            Edit::Patch(patches) => {
                for patch in patches {
                    self.write(patch.offset.into(), patch.bytes());
                }
            }
        }
    }

    /// The damage of a page that was read from an index, as far as the page alone shows it; `None` if there
    /// is none.
    #[inline]
    pub fn damage(&self) -> Option<&'static str> {
        let lower = self.number(LOWER);
        let upper = self.number(UPPER);
        if self.number(SPECIAL) != TRAILER || self.0[TRAILER..TRAILER + 4] != MAGIC.to_ne_bytes() {
            Some("it is not a page of an index of type hamming")
        } else if self.format() != format_of(self.tree()) {
            Some("it has another format")
        } else if lower < HEADER
            || HEADER + self.len() * self.key_size() != lower
            || upper + self.len() * self.rest() != TRAILER
        {
            Some("its number of entries is impossible")
        } else if lower > upper {
            Some("its entries overlap")
        } else {
            None
        }
    }

    /// Whether the page has never been written.
    pub fn is_new(&self) -> bool {
        self.number(UPPER) == 0
    }

    /// Whether the page is free, as [`Page::free`] marks it.
    pub fn is_free(&self) -> bool {
        self.damage().is_none() && self.tree() == FREE
    }

    #[inline]
    fn format(&self) -> u8 {
        self.0[TRAILER + 4]
    }

    /// The tree that the page belongs to.
    #[inline]
    pub fn tree(&self) -> Tree {
        match (self.format(), self.0[TRAILER + 5], self.0[TRAILER + 7]) {
            (FORMAT_2 | FORMAT_3 | FORMAT_4, low, high) => Tree::from_le_bytes([low, high]),
            (_, FREE_BYTE, _) => FREE,
            (_, tree, _) => tree.into(),
        }
    }

    /// The level of the page in its tree; leaves have level 0.
    #[inline]
    pub fn level(&self) -> u8 {
        self.0[TRAILER + 6]
    }

    /// The number of entries of a leaf, or of children of an inner node.
    #[inline]
    pub fn len(&self) -> usize {
        let words = (self.number(LOWER) - HEADER) / KEY;
        // Most pages have keys of one word, and a division takes a while.
        match self.key_words() {
            1 => words,
            each => words / each,
        }
    }

    /// Whether the page has no entries or children.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of entries or children that the page has room for.
    pub fn capacity(&self) -> usize {
        capacity(self.tree(), self.level())
    }

    /// Whether the page has no room for another entry or child.
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// The bytes of an entry without the words of its key.
    #[inline]
    fn rest(&self) -> usize {
        rest(self.tree(), self.level())
    }

    /// Whether entries have filters.
    fn has_filters(&self) -> bool {
        has_filters(self.tree())
    }

    /// The number of words of a key.
    #[inline]
    fn key_words(&self) -> usize {
        words_in(self.tree(), self.level())
    }

    /// The bytes of a key's words.
    #[inline]
    fn key_size(&self) -> usize {
        KEY * self.key_words()
    }

    /// The words of the key in this slot.
    pub(crate) fn words(&self, slot: usize) -> impl Iterator<Item = u64> {
        let first = HEADER + slot * self.key_size();
        let words = self.0[first..first + self.key_size()].as_chunks().0;
        words.iter().map(|&word| u64::from_ne_bytes(word))
    }

    fn filter(&self, slot: usize) -> Filter {
        match self.has_filters() {
            true => Filter::from_bytes(self.read(self.rest_of(slot) + ROW)),
            false => Filter::NONE,
        }
    }

    /// The bits of all keys, slot by slot. In a leaf of whole codes, these are all words of each code.
    #[inline]
    pub fn bits(&self) -> &[[u8; 8]] {
        self.0[HEADER..self.number(LOWER)].as_chunks().0
    }

    /// The bytes of a page that contain these words of [`bits`](Self::bits).
    pub(crate) fn bytes_of_words(words: Range<usize>) -> Range<usize> {
        Self::place_of_word(words.start)..Self::place_of_word(words.end)
    }

    /// The byte of a page at which this word of [`bits`](Self::bits) begins.
    #[inline(always)]
    pub(crate) fn place_of_word(word: usize) -> usize {
        HEADER + word * KEY
    }

    /// The offset of the rest of an entry.
    fn rest_of(&self, slot: usize) -> usize {
        TRAILER - (slot + 1) * self.rest()
    }

    /// The row of the entry in this slot.
    #[inline]
    pub fn row(&self, slot: usize) -> RowId {
        RowId::from_bytes(self.read(self.rest_of(slot)))
    }

    /// The key in this slot. In an inner node, it is the lowest key that the child may contain.
    #[inline]
    pub fn key(&self, slot: usize) -> IndexKey {
        let bits = u64::from_ne_bytes(self.read(HEADER + slot * self.key_size()));
        IndexKey { filter: self.filter(slot), bits, row: self.row(slot) }
    }

    /// The [`key`](Self::key) of every slot.
    pub fn keys(&self) -> impl Iterator<Item = IndexKey> {
        (0..self.len()).map(|slot| self.key(slot))
    }

    /// The child in this slot of an inner node.
    #[inline]
    pub fn child(&self, slot: usize) -> PageNumber {
        PageNumber::from_ne_bytes(self.read(self.rest_of(slot) + self.rest() - CHILD))
    }

    /// All children of an inner node, each with the lowest key that it may contain.
    pub fn children(&self) -> Vec<(IndexKey, PageNumber)> {
        (0..self.len()).map(|slot| (self.key(slot), self.child(slot))).collect()
    }
}

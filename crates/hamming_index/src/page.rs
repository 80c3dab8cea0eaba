//! The pages of the index: nodes of its trees.
//!
//! A page has Postgres's layout. Its header says where free space begins (`lower`) and ends (`upper`), and
//! copies of a page leave the free space out. Keys lie one after the other from the front, so a leaf's
//! fingerprints are compared in one plain loop. The rest of each entry lies from the back: its row, and in
//! an inner node its child. A leaf has its entries in no order, so adding one changes some twenty bytes. An
//! inner node has them in the order of their keys. An entry's number, from 0, is its slot. In [`FILTER_TREE`]
//! the filter follows the row. In a leaf of whole codes a key has all words of its code.
//!
//! ```text
//! | header 24 | key 0 | key 1 | ... -> lower ... free ... upper <- ... | rest 1 | rest 0 | trailer 8 |
//! ```

use crate::key::{Filter, IndexKey, RowId, Tree};

mod edit;

pub use edit::{Edit, Patch};

/// Bytes of a page: Postgres's usual size, and the only one supported.
pub const PAGE_SIZE: usize = 8192;
/// The number of a page within the index, from 0.
pub type PageNumber = u32;

const HEADER: usize = 24;
const LOWER: usize = 12;
const UPPER: usize = 14;
const SPECIAL: usize = 16;
const SIZE_AND_LAYOUT: usize = 18;
/// Postgres's version of the header, the same since 8.3.
pub const HEADER_LAYOUT: u16 = 4;

const TRAILER: usize = PAGE_SIZE - 8;
const MAGIC: u32 = 0x5348_4d48;
/// The versions of this layout, which `docs/index-format.md` describes and `tests/golden.rs` pins. Whoever
/// changes the layout adds one. Trees of codes have format 2, and all trees of an index of several columns
/// have format 3, but for trees of whole codes, which have format 4; other pages have format 1.
const FORMAT_1: u8 = 1;
const FORMAT_2: u8 = 2;
const FORMAT_3: u8 = 3;
const FORMAT_4: u8 = 4;
/// No page has it.
const NO_FORMAT: u8 = 0;
/// In place of a tree: the page belongs to no tree, and is free. Its lower byte alone is written.
const FREE: Tree = Tree::MAX;
const FREE_BYTE: u8 = FREE as u8;
/// In place of a tree: the page says what the index has codes of.
const DESCRIPTION: Tree = 7;
/// The first tree of an index of codes.
pub(crate) const FIRST_OF_CODES: Tree = 8;
/// The number by which trees of an index of several columns come after those of an index of one.
pub(crate) const SEVERAL_COLUMNS: Tree = 1024;
/// The tree that is ordered by the further columns, then by the first word of the code, which is not rotated.
pub const FILTER_TREE: Tree = 2048;
/// In place of a tree: the page says what the index has codes of, and that it has whole codes. One is added
/// if it has no trees of words, and two if it has further columns.
pub(crate) const DESCRIPTION_OF_WHOLE: Tree = 4088;
/// The tree of whole codes of this number of words is that many further on.
pub(crate) const CODE_TREES: Tree = 4096;
/// So is the tree that has whole codes and is ordered by further columns first.
pub(crate) const FILTER_TREES: Tree = 6144;
/// The last tree of all: codes have no more words.
const LAST_TREE: Tree = FILTER_TREES + 128;
const AFTER_LAST: Tree = LAST_TREE + 1;

const KEY: usize = 8;
const ROW: usize = 6;
const CHILD: usize = 4;
const FILTER: usize = 4;

/// Entries that a leaf can hold.
pub const LEAF_CAPACITY: usize = (TRAILER - HEADER) / (KEY + ROW);
/// Children that an inner node can have.
pub const INNER_CAPACITY: usize = (TRAILER - HEADER) / (KEY + ROW + CHILD);

/// Entries that a leaf of the tree can hold, or children that a node above the leaves can have.
pub fn capacity(tree: Tree, level: u8) -> usize {
    (TRAILER - HEADER) / (KEY * words_in(tree, level) + rest(tree, level))
}

/// Bytes of an entry without its key's words.
fn rest(tree: Tree, level: u8) -> usize {
    let filter = if has_filters(tree) { FILTER } else { 0 };
    ROW + filter + if level == 0 { 0 } else { CHILD }
}

/// Whether the entries of the tree have filters.
fn has_filters(tree: Tree) -> bool {
    tree == FILTER_TREE || (FILTER_TREES..=LAST_TREE).contains(&tree)
}

/// The words of a key: in a leaf of whole codes those of a code.
fn words_in(tree: Tree, level: u8) -> usize {
    let words = match tree {
        CODE_TREES..FILTER_TREES if level == 0 => tree - CODE_TREES,
        FILTER_TREES..=LAST_TREE if level == 0 => tree - FILTER_TREES,
        _ => 1,
    };
    usize::from(words.max(1))
}

/// A page, as it is in memory and in files.
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
    /// A node without entries. Leaves have level 0.
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

    /// A leaf with these entries, which must fit. Codes have zeros after their first word.
    pub fn leaf(tree: Tree, entries: &[IndexKey]) -> Box<Self> {
        let mut page = Self::node(tree, 0);
        for &entry in entries {
            page.push(entry, &[], &[]);
        }
        page
    }

    /// A leaf with some entries of others, which must fit.
    pub(crate) fn leaf_of<'a>(tree: Tree, entries: impl Iterator<Item = (&'a Self, usize)>) -> Box<Self> {
        let mut page = Self::node(tree, 0);
        for (other, slot) in entries {
            let words: Vec<u64> = other.words(slot).collect();
            page.push(other.key(slot), &words[1..], &[]);
        }
        page
    }

    /// Adds an entry to a leaf that is not full, in memory alone.
    pub(crate) fn append(&mut self, entry: IndexKey, tail: &[u64]) {
        self.push(entry, tail, &[]);
    }

    /// An inner node with these children, in order, which must fit. Each comes with the lowest key that may
    /// lie under it.
    pub fn inner(tree: Tree, level: u8, children: &[(IndexKey, PageNumber)]) -> Box<Self> {
        let mut page = Self::node(tree, level);
        for &(low, child) in children {
            page.push(low, &[], &child.to_ne_bytes());
        }
        page
    }

    /// A page that belongs to no tree.
    pub fn free() -> Box<Self> {
        Self::node(FREE, 0)
    }

    /// The number and the key of a page that says what an index has codes of, if it is sound: see
    /// [`crate::layout`].
    pub(crate) fn described(&self) -> Option<(Tree, IndexKey)> {
        const SEVERAL: Tree = SEVERAL_COLUMNS + DESCRIPTION;
        let is_description = matches!(self.tree(), DESCRIPTION | SEVERAL | DESCRIPTION_OF_WHOLE..CODE_TREES);
        if self.damage().is_some() || !is_description {
            return None;
        }
        Some((self.tree(), self.keys().next()?))
    }

    fn push(&mut self, key: IndexKey, tail: &[u64], child: &[u8]) {
        let (lower, upper) = (self.number(LOWER), self.number(UPPER) - self.rest());
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
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[offset..offset + N]);
        bytes
    }

    #[inline]
    fn number(&self, offset: usize) -> usize {
        usize::from(u16::from_ne_bytes(self.read(offset)))
    }

    /// The page as it is in files. `docs/index-format.md` says what each byte means.
    pub fn bytes(&self) -> &[u8; PAGE_SIZE] {
        &self.0
    }

    /// Carries out an edit in memory alone, without a log.
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

    /// What is wrong with a page that was read from an index, as far as the page alone shows; `None` if it
    /// is sound.
    #[inline]
    pub fn damage(&self) -> Option<&'static str> {
        let (lower, upper) = (self.number(LOWER), self.number(UPPER));
        if self.number(SPECIAL) != TRAILER || self.0[TRAILER..TRAILER + 4] != MAGIC.to_ne_bytes() {
            Some("it is not a page of an index of type hamming")
        } else if self.format() != format_of(self.tree()) {
            Some("it has another format")
        } else if lower < HEADER
            || !(lower - HEADER).is_multiple_of(self.key_size())
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

    /// Whether the page belongs to no tree, as [`Page::free`] marks it.
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

    /// The height of the page above the leaves, which have level 0.
    #[inline]
    pub fn level(&self) -> u8 {
        self.0[TRAILER + 6]
    }

    /// The number of entries of a leaf, or of children of an inner node.
    #[inline]
    pub fn len(&self) -> usize {
        (self.number(LOWER) - HEADER) / self.key_size()
    }

    /// Whether the page has neither entries nor children.
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

    /// Bytes of an entry without its key's words.
    #[inline]
    fn rest(&self) -> usize {
        rest(self.tree(), self.level())
    }

    /// Whether entries have filters.
    fn has_filters(&self) -> bool {
        has_filters(self.tree())
    }

    /// Bytes of a key's words.
    #[inline]
    fn key_size(&self) -> usize {
        KEY * words_in(self.tree(), self.level())
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

    /// The bits of all keys, slot by slot; in a leaf of whole codes, all words of each.
    #[inline]
    pub fn bits(&self) -> &[[u8; 8]] {
        self.0[HEADER..self.number(LOWER)].as_chunks().0
    }

    /// Where the rest of an entry begins.
    fn rest_of(&self, slot: usize) -> usize {
        TRAILER - (slot + 1) * self.rest()
    }

    /// The row of the entry in this slot.
    #[inline]
    pub fn row(&self, slot: usize) -> RowId {
        RowId::from_bytes(self.read(self.rest_of(slot)))
    }

    /// The entry in this slot; in an inner node the lowest key that may lie under the child.
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

    /// All children of an inner node, each with the lowest key that may lie under it.
    pub fn children(&self) -> Vec<(IndexKey, PageNumber)> {
        (0..self.len()).map(|slot| (self.key(slot), self.child(slot))).collect()
    }

    /// The slot of the child under which the key lies, in an inner node.
    pub fn child_of(&self, key: IndexKey) -> usize {
        let (mut low, mut high) = (1, self.len().max(1));
        let has_filters = self.has_filters();
        while low < high {
            let middle = low.midpoint(high);
            // Rows lie in another part of the page, so they are read for equal bits alone.
            let bits = u64::from_ne_bytes(self.bits()[middle]);
            let is_after = match has_filters {
                true => self.key(middle) > key,
                false => bits > key.bits || bits == key.bits && self.row(middle) > key.row,
            };
            if is_after { high = middle } else { low = middle + 1 }
        }
        low - 1
    }

    /// The slot in which a leaf has the entry, if it has it.
    pub fn position(&self, entry: IndexKey) -> Option<usize> {
        let bits = entry.bits.to_ne_bytes();
        let words = words_in(self.tree(), self.level());
        let same = self.bits().iter().step_by(words).enumerate().filter(|(_, other)| **other == bits);
        same.map(|(slot, _)| slot).find(|&slot| self.key(slot) == entry)
    }
}

//! The pages of the index: nodes of its trees.
//!
//! A page is one of Postgres's: its header knows where free space begins (`lower`) and ends (`upper`), and
//! who copies a page leaves that out. Keys lie one after the other from the front, so that a leaf's
//! fingerprints are compared in one plain loop; what belongs to each key lies from the back. A leaf has
//! its keys in no order, so that adding one changes some twenty bytes; an inner node has them in order.
//!
//! ```text
//! | header 24 | key 0 | key 1 | ... -> lower ... free ... upper <- ... | rest 1 | rest 0 | trailer 8 |
//! ```

use crate::key::{Key, RowId};

/// Postgres's usual size of a page, the only one supported.
pub const PAGE_SIZE: usize = 8192;
/// The number of a page.
pub type Block = u32;

const HEADER: usize = 24;
const LOWER: usize = 12;
const UPPER: usize = 14;
const SPECIAL: usize = 16;
const SIZE_AND_LAYOUT: usize = 18;
/// Postgres's version of the header, the same since 8.3.
pub const HEADER_LAYOUT: u16 = 4;

const TRAILER: usize = PAGE_SIZE - 8;
const MAGIC: u32 = 0x5348_4d48;
/// Of what is said here. Raised by whoever changes it.
const FORMAT: u8 = 1;
/// In place of a tree's number: the page belongs to none.
const FREE: u8 = u8::MAX;

const KEY: usize = 8;
const ROW: usize = 6;
const CHILD: usize = 4;
/// Bytes that a patch takes in the log, beside its own.
const PATCH_HEADER: usize = 4;

/// Entries that a leaf can hold.
pub const LEAF_CAPACITY: usize = (TRAILER - HEADER) / (KEY + ROW);
/// Children that an inner node can have.
pub const INNER_CAPACITY: usize = (TRAILER - HEADER) / (KEY + ROW + CHILD);

/// A page, as it is in memory and in files.
#[repr(C, align(8))]
#[derive(Clone)]
pub struct Page([u8; PAGE_SIZE]);

/// A few bytes of a page that change.
#[derive(Clone, Copy, Debug)]
pub struct Patch {
    /// Where.
    pub offset: u16,
    bytes: [u8; 8],
    length: u8,
}

impl Patch {
    /// At most eight bytes.
    pub fn new(offset: usize, new: &[u8]) -> Self {
        let mut bytes = [0; 8];
        bytes[..new.len()].copy_from_slice(new);
        Self { offset: offset as u16, bytes, length: new.len() as u8 }
    }

    /// The new bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// What to do to a page.
pub enum Edit {
    /// All of it is replaced.
    Replace(Box<Page>),
    /// Some of it is.
    Patch(Vec<Patch>),
}

impl Page {
    /// A node without entries. Leaves have level 0.
    pub fn node(tree: u8, level: u8) -> Box<Self> {
        let mut page = Box::new(Self([0; PAGE_SIZE]));
        page.write(LOWER, &(HEADER as u16).to_ne_bytes());
        page.write(UPPER, &(TRAILER as u16).to_ne_bytes());
        page.write(SPECIAL, &(TRAILER as u16).to_ne_bytes());
        page.write(SIZE_AND_LAYOUT, &(PAGE_SIZE as u16 | HEADER_LAYOUT).to_ne_bytes());
        page.write(TRAILER, &MAGIC.to_ne_bytes());
        page.write(TRAILER + 4, &[FORMAT, tree, level]);
        page
    }

    /// A leaf with these entries, which must fit.
    pub fn leaf(tree: u8, entries: &[Key]) -> Box<Self> {
        let mut page = Self::node(tree, 0);
        for &entry in entries {
            page.push(entry, &[]);
        }
        page
    }

    /// An inner node with these children, in order, which must fit. Each comes with the lowest key that may
    /// lie under it.
    pub fn inner(tree: u8, level: u8, children: &[(Key, Block)]) -> Box<Self> {
        let mut page = Self::node(tree, level);
        for &(low, child) in children {
            page.push(low, &child.to_ne_bytes());
        }
        page
    }

    /// A page that belongs to no tree.
    pub fn free() -> Box<Self> {
        Self::node(FREE, 0)
    }

    fn push(&mut self, key: Key, child: &[u8]) {
        let (lower, upper) = (self.number(LOWER), self.number(UPPER) - ROW - child.len());
        self.write(lower, &key.bits.to_ne_bytes());
        self.write(upper, &key.row.to_bytes());
        self.write(upper + ROW, child);
        self.write(LOWER, &((lower + KEY) as u16).to_ne_bytes());
        self.write(UPPER, &(upper as u16).to_ne_bytes());
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.0[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    fn read<const N: usize>(&self, offset: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0[offset..offset + N]);
        bytes
    }

    fn number(&self, offset: usize) -> usize {
        usize::from(u16::from_ne_bytes(self.read(offset)))
    }

    /// Carries out an edit, where nobody else has to know of it.
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

    /// What is wrong with the page by itself, if it was read as a page of this index.
    pub fn damage(&self) -> Option<&'static str> {
        let (lower, upper) = (self.number(LOWER), self.number(UPPER));
        if self.number(SPECIAL) != TRAILER || self.0[TRAILER..TRAILER + 4] != MAGIC.to_ne_bytes() {
            Some("it is not a page of an index of type hamming")
        } else if self.0[TRAILER + 4] != FORMAT {
            Some("it has another format")
        } else if lower < HEADER
            || !(lower - HEADER).is_multiple_of(KEY)
            || upper + self.len() * self.rest() != TRAILER
        {
            Some("its number of entries is impossible")
        } else if lower > upper {
            Some("its entries overlap")
        } else {
            None
        }
    }

    /// Whether it has never been written.
    pub fn is_new(&self) -> bool {
        self.number(UPPER) == 0
    }

    /// Whether it is free, by the mark of [`Page::free`].
    pub fn is_free(&self) -> bool {
        self.damage().is_none() && self.tree() == FREE
    }

    /// The tree that the page belongs to.
    pub fn tree(&self) -> u8 {
        self.0[TRAILER + 5]
    }

    /// How far the page is above the leaves.
    pub fn level(&self) -> u8 {
        self.0[TRAILER + 6]
    }

    /// How many entries or children there are.
    pub fn len(&self) -> usize {
        (self.number(LOWER) - HEADER) / KEY
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many there can be.
    pub fn capacity(&self) -> usize {
        if self.level() == 0 { LEAF_CAPACITY } else { INNER_CAPACITY }
    }

    /// Whether there can be no more.
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// Bytes that belong to each key.
    fn rest(&self) -> usize {
        if self.level() == 0 { ROW } else { ROW + CHILD }
    }

    /// The bits of all keys.
    pub fn bits(&self) -> &[[u8; 8]] {
        self.0[HEADER..self.number(LOWER)].as_chunks().0
    }

    fn rest_of(&self, index: usize) -> usize {
        TRAILER - (index + 1) * self.rest()
    }

    /// An entry's row.
    pub fn row(&self, index: usize) -> RowId {
        RowId::from_bytes(self.read(self.rest_of(index)))
    }

    /// An entry, or the lowest key that may lie under a child.
    pub fn key(&self, index: usize) -> Key {
        Key { bits: u64::from_ne_bytes(self.bits()[index]), row: self.row(index) }
    }

    /// All of them.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        (0..self.len()).map(|index| self.key(index))
    }

    /// The child of an inner node.
    pub fn child(&self, index: usize) -> Block {
        Block::from_ne_bytes(self.read(self.rest_of(index) + ROW))
    }

    /// All children of an inner node.
    pub fn children(&self) -> Vec<(Key, Block)> {
        (0..self.len()).map(|index| (self.key(index), self.child(index))).collect()
    }

    /// The child under which the key lies, in an inner node.
    pub fn child_of(&self, key: Key) -> usize {
        let (mut low, mut high) = (1, self.len().max(1));
        while low < high {
            let middle = low.midpoint(high);
            if self.key(middle) <= key { low = middle + 1 } else { high = middle }
        }
        low - 1
    }

    /// Where a leaf has the entry.
    pub fn position(&self, entry: Key) -> Option<usize> {
        let bits = entry.bits.to_ne_bytes();
        let same = self.bits().iter().enumerate().filter(|(_, other)| **other == bits);
        same.map(|(index, _)| index).find(|&index| self.row(index) == entry.row)
    }

    /// Adds an entry to a leaf that is not full.
    pub fn adding(&self, entry: Key) -> Edit {
        let (lower, upper) = (self.number(LOWER), self.number(UPPER) - ROW);
        Edit::Patch(vec![
            Self::bounds(lower + KEY, upper),
            Patch::new(lower, &entry.bits.to_ne_bytes()),
            Patch::new(upper, &entry.row.to_bytes()),
        ])
    }

    /// Keeps those entries of a leaf that are said to stay. Gaps are filled with the last ones, or the page
    /// is written anew where that is shorter in the log.
    pub fn keeping(&self, stays: &[bool]) -> Edit {
        let kept = stays.iter().filter(|&&stays| stays).count();
        let gaps = (0..kept).filter(|&place| !stays[place]);
        let last = (kept..self.len()).filter(|&place| stays[place]);
        let moves: Vec<(usize, Key)> = gaps.zip(last.map(|place| self.key(place))).collect();
        if moves.len() * (KEY + ROW + 2 * PATCH_HEADER) > kept * (KEY + ROW) {
            let entries: Vec<Key> =
                self.keys().zip(stays).filter(|&(_, &stays)| stays).map(|(entry, _)| entry).collect();
            return Edit::Replace(Self::leaf(self.tree(), &entries));
        }
        let bounds = Self::bounds(HEADER + kept * KEY, TRAILER - kept * ROW);
        let entries = moves.into_iter().flat_map(|(gap, entry)| {
            let row = Patch::new(self.rest_of(gap), &entry.row.to_bytes());
            [Patch::new(HEADER + gap * KEY, &entry.bits.to_ne_bytes()), row]
        });
        Edit::Patch(std::iter::once(bounds).chain(entries).collect())
    }

    /// `lower` and `upper` are neighbours in the header.
    fn bounds(lower: usize, upper: usize) -> Patch {
        let mut bytes = [0; 4];
        bytes[..2].copy_from_slice(&(lower as u16).to_ne_bytes());
        bytes[2..].copy_from_slice(&(upper as u16).to_ne_bytes());
        Patch::new(LOWER, &bytes)
    }
}

//! Keys: what the trees of the index are ordered by.

use crate::page::FILTER_TREE;

/// Bands that a word of 64 bits is cut into, each with a tree of its own.
///
/// Four, because a change has to reach all trees at once and a record of Postgres's generic WAL reaches four
/// pages. By the formula of [`crate::cost::pages_read`], three bands would read more leaves at radius 6 up to
/// 100 million rows (239 instead of 222 there), and fewer from 150 million on.
pub const BANDS: usize = 4;
/// Bits of a band.
pub const BAND_BITS: u32 = u64::BITS / BANDS as u32;

/// The number of a tree. Word *i* of a code has the trees 4 *i* to 4 *i* + 3, one for each band.
pub type Tree = u16;

/// Where a row of the table is: the number of its page, and its offset there in the lowest 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(u64);

impl RowId {
    /// The least id; no other comes before it.
    pub const FIRST: Self = Self(0);
    /// The greatest id; no other comes after it.
    pub const LAST: Self = Self(u64::MAX);

    /// The row at this offset of a page of the table.
    pub fn new(page: u32, offset: u16) -> Self {
        Self(u64::from(page) << 16 | u64::from(offset))
    }

    /// The number of the row's page in the table.
    pub fn page(self) -> u32 {
        (self.0 >> 16) as u32
    }

    /// The row's offset on that page; Postgres counts from 1.
    pub fn offset(self) -> u16 {
        self.0 as u16
    }

    /// Page and offset as one number, of at most 48 bits for any row of a table.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The row that [`number`](Self::number) gave this number.
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }

    pub(crate) fn to_bytes(self) -> [u8; 6] {
        let [_, _, bytes @ ..] = self.0.to_be_bytes();
        bytes
    }

    pub(crate) fn from_bytes([a, b, c, d, e, f]: [u8; 6]) -> Self {
        Self(u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    }
}

/// A hash of a row's further columns, such as its tenant, in 31 bits. The highest bit says that the row's
/// code is NULL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Filter(u32);

impl Filter {
    /// In trees that are not ordered by further columns, and the least of all.
    pub const NONE: Self = Self(0);
    const NULL_CODE: u32 = 1 << 31;

    /// The filter of rows that have a code, and whose further columns have this hash.
    pub fn of_hash(hash: u32) -> Self {
        Self(hash & !Self::NULL_CODE)
    }

    /// The filter of rows with the same further columns whose code is NULL.
    #[must_use]
    pub fn of_null_code(self) -> Self {
        Self(self.0 | Self::NULL_CODE)
    }

    pub(crate) fn to_bytes(self) -> [u8; 4] {
        self.0.to_ne_bytes()
    }

    pub(crate) fn from_bytes(bytes: [u8; 4]) -> Self {
        Self(u32::from_ne_bytes(bytes))
    }

    /// The filter as a number of 32 bits.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The filter that [`number`](Self::number) gave this number.
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// An entry of a tree: a word, rotated so that the tree's band comes first, and its row. Rows make
/// keys distinct, so that a value of which there are millions is spread over pages like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexKey {
    /// In [`FILTER_TREE`], the row's further columns.
    pub filter: Filter,
    /// A word of the code, rotated; 0 in the tree of NULLs.
    pub bits: u64,
    /// The row that has the code.
    pub row: RowId,
}

impl IndexKey {
    /// The least of all keys.
    pub const FIRST: Self = Self { filter: Filter::NONE, bits: 0, row: RowId::FIRST };

    /// The key of a row in a tree that is ordered by bits alone.
    pub fn new(bits: u64, row: RowId) -> Self {
        Self { filter: Filter::NONE, bits, row }
    }

    /// The least key with these bits.
    pub fn before(bits: u64) -> Self {
        Self::new(bits, RowId::FIRST)
    }
}

/// The band that a tree begins with, of those of its word: the first one, if it is not a tree of a word.
pub fn band_of(tree: Tree) -> u32 {
    if tree < FILTER_TREE { u32::from(tree) % BANDS as u32 } else { 0 }
}

/// The word with the tree's band as its highest bits.
pub fn rotated(word: u64, tree: Tree) -> u64 {
    word.rotate_left(band_of(tree) * BAND_BITS)
}

/// The word of which these are the [`rotated`] bits.
pub fn rotated_back(bits: u64, tree: Tree) -> u64 {
    bits.rotate_right(band_of(tree) * BAND_BITS)
}

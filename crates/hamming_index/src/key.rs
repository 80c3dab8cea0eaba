//! The keys by which the trees of an index are ordered.

/// The number of bands of a word of 64 bits. Each band has a tree. `README.md` explains why there are four.
pub const BANDS: usize = 4;
/// The number of bits of a band.
pub const BAND_BITS: u32 = u64::BITS / BANDS as u32;

/// The number of a tree. Word *i* of a code has the trees 4 *i* to 4 *i* + 3, one for each band.
pub type Tree = u16;
/// The tree that is ordered by further columns and then by the first word of the code, which is not rotated.
pub const FILTER_TREE: Tree = 2048;

/// A row of the table: the number of its block, and in the lowest 16 bits its offset there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(u64);

impl RowId {
    /// The least id.
    pub const FIRST: Self = Self(0);
    /// The greatest id.
    pub const LAST: Self = Self(u64::MAX);

    /// The row at this offset in a block of the table.
    pub fn new(page: u32, offset: u16) -> Self {
        Self(u64::from(page) << 16 | u64::from(offset))
    }

    /// The number of the row's block in the table.
    pub fn page(self) -> u32 {
        (self.0 >> 16) as u32
    }

    /// The row's offset in the block, which PostgreSQL counts from 1.
    pub fn offset(self) -> u16 {
        self.0 as u16
    }

    /// Block and offset as one number, which has at most 48 bits for a row of a table.
    pub fn number(self) -> u64 {
        self.0
    }

    pub(crate) fn to_bytes(self) -> [u8; 6] {
        let [_, _, bytes @ ..] = self.0.to_be_bytes();
        bytes
    }

    pub(crate) fn from_bytes([a, b, c, d, e, f]: [u8; 6]) -> Self {
        Self(u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    }
}

/// A hash of a row's further columns, such as its tenant, in 31 bits. The highest bit is set if the row's
/// code is NULL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Filter(u32);

impl Filter {
    /// The filter of keys in trees that are not ordered by further columns; the least of all filters.
    pub const NONE: Self = Self(0);
    const NULL_CODE: u32 = 1 << 31;

    /// The filter of rows that have a code, and whose further columns have this hash.
    pub fn of_hash(hash: u32) -> Self {
        Self(hash & !Self::NULL_CODE)
    }

    /// The filter of rows with the same further columns and a code that is NULL.
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
}

/// The size of a key as bytes.
pub const KEY_BYTES: usize = 18;

/// An entry of a tree: a word, rotated so that the tree's band comes first, and the row. The row makes keys
/// distinct, so that even millions of equal values are spread over pages like other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexKey {
    /// The row's further columns, in [`FILTER_TREE`].
    pub filter: Filter,
    /// A word of the code, rotated; 0 in the tree of NULLs.
    pub bits: u64,
    /// The row that has the code.
    pub row: RowId,
}

impl IndexKey {
    /// The least of all keys.
    pub const FIRST: Self = Self { filter: Filter::NONE, bits: 0, row: RowId::FIRST };

    /// The key of a row in a tree that is not ordered by further columns.
    pub fn new(bits: u64, row: RowId) -> Self {
        Self { filter: Filter::NONE, bits, row }
    }

    /// The least key with these bits.
    pub fn before(bits: u64) -> Self {
        Self::new(bits, RowId::FIRST)
    }

    /// The key as bytes, for a file that only this machine reads.
    pub fn to_bytes(self) -> [u8; KEY_BYTES] {
        let mut bytes = [0; KEY_BYTES];
        bytes[..8].copy_from_slice(&self.bits.to_ne_bytes());
        bytes[8..14].copy_from_slice(&self.row.to_bytes());
        bytes[14..].copy_from_slice(&self.filter.to_bytes());
        bytes
    }

    /// Undoes [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: &[u8; KEY_BYTES]) -> Self {
        let bits = u64::from_ne_bytes(bytes_at(bytes, 0));
        let row = RowId::from_bytes(bytes_at(bytes, 8));
        Self { filter: Filter::from_bytes(bytes_at(bytes, 14)), bits, row }
    }
}

/// The bytes at this offset.
#[inline]
pub(crate) fn bytes_at<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    let mut found = [0; N];
    found.copy_from_slice(&bytes[offset..offset + N]);
    found
}

/// The band of its word by which a tree is ordered first; 0 for a tree that does not belong to a word.
pub fn band_of(tree: Tree) -> u32 {
    if tree < FILTER_TREE { u32::from(tree) % BANDS as u32 } else { 0 }
}

/// The word, rotated so that the tree's band becomes its highest bits.
pub fn rotated(word: u64, tree: Tree) -> u64 {
    word.rotate_left(band_of(tree) * BAND_BITS)
}

/// Undoes [`rotated`].
pub fn rotated_back(bits: u64, tree: Tree) -> u64 {
    bits.rotate_right(band_of(tree) * BAND_BITS)
}

//! What the trees are ordered by.

/// Bands that a fingerprint is cut into, each with a tree of its own.
///
/// Four, because a change has to reach all trees at once and a record of Postgres's generic WAL reaches four
/// pages. By the formula of [`crate::cost::pages_read`], three bands would read more leaves up to 100 million rows at
/// every radius (204 instead of 170 there at radius 6), and fewer from 200 million on.
pub const BANDS: usize = 4;
/// Bits of a band.
pub const BAND_BITS: u32 = u64::BITS / BANDS as u32;
/// Trees: one for each band, and one for rows whose fingerprint is NULL.
pub const TREES: usize = BANDS + 1;
/// The tree of rows whose fingerprint is NULL. They have keys without bits.
pub const NULLS: u8 = BANDS as u8;

/// A row of the table: the number of its page, and its place there in the lowest 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Row(u64);

impl Row {
    /// Before all rows.
    pub const FIRST: Self = Self(0);
    /// After all rows.
    pub const LAST: Self = Self(u64::MAX);

    /// The row at a place of a page.
    pub fn new(page: u32, place: u16) -> Self {
        Self(u64::from(page) << 16 | u64::from(place))
    }

    /// The number of its page.
    pub fn page(self) -> u32 {
        (self.0 >> 16) as u32
    }

    /// Its place there.
    pub fn place(self) -> u16 {
        self.0 as u16
    }

    /// Page and place as one number, of at most 48 bits for any row of a table.
    pub fn number(self) -> u64 {
        self.0
    }

    /// The row of a number.
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

/// An entry of a tree: a fingerprint, turned so that the tree's band comes first, and its row. Rows make keys
/// distinct, so that a value of which there are millions is spread over pages like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The fingerprint, turned.
    pub bits: u64,
    /// The row.
    pub row: Row,
}

impl Key {
    /// Before all others.
    pub const FIRST: Self = Self { bits: 0, row: Row::FIRST };

    /// The first of all keys with these bits.
    pub fn before(bits: u64) -> Self {
        Self { bits, row: Row::FIRST }
    }
}

/// The fingerprint with the tree's band as its highest bits.
pub fn turned(fingerprint: u64, tree: u8) -> u64 {
    fingerprint.rotate_left(u32::from(tree) * BAND_BITS)
}

/// The fingerprint that was turned.
pub fn turned_back(bits: u64, tree: u8) -> u64 {
    bits.rotate_right(u32::from(tree) * BAND_BITS)
}

/// The keys of a row, in the trees that have it.
pub fn places(fingerprint: Option<u64>, row: Row) -> impl Iterator<Item = (u8, Key)> + Clone {
    let trees = if fingerprint.is_some() { 0..NULLS } else { NULLS..NULLS + 1 };
    trees.map(move |tree| (tree, Key { bits: turned(fingerprint.unwrap_or(0), tree), row }))
}

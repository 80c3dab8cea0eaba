//! Anchors and segments, in 16 bytes each. Places are in bytes of the whole text.

/// The number of bits of a place.
const PLACE: u32 = 40;
/// The number of bits of a distance inside a window, or of a number of windows with one anchor.
const SHORT: u32 = 18;
/// The positions of the parts of a segment.
const WINDOW_AT: u32 = 2 * PLACE + FLAG;
const LENGTH_AT: u32 = PLACE + FLAG;
const FLAG: u32 = 8;

/// The most bytes that a text can have.
pub(super) const MAX_BYTES: usize = (1 << PLACE) - 1;

/// A gram of the text, and the windows whose anchor it is: those that begin at the bytes `windows`. Anchors
/// are ordered by their hashes, and then by their places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Anchor(u128);

impl Anchor {
    pub(super) fn new(hash: u64, gram: usize, windows: std::ops::Range<usize>) -> Self {
        let hash = u128::from(hash >> (PLACE + 2 * SHORT - u64::BITS));
        let before = gram - windows.start;
        let length = windows.len();
        debug_assert!(gram <= MAX_BYTES && before < 1 << SHORT && length < 1 << SHORT);
        Self(
            hash << (PLACE + 2 * SHORT)
                | (gram as u128) << (2 * SHORT)
                | (before as u128) << SHORT
                | length as u128,
        )
    }

    pub(super) fn hash(self) -> u64 {
        (self.0 >> (PLACE + 2 * SHORT)) as u64
    }

    pub(super) fn gram(self) -> usize {
        (self.0 >> (2 * SHORT)) as usize & MAX_BYTES
    }

    pub(super) fn windows(self) -> std::ops::Range<usize> {
        let mask = (1 << SHORT) - 1;
        let start = self.gram() - (self.0 as usize >> SHORT & mask);
        start..start + (self.0 as usize & mask)
    }
}

/// Windows that came before: those that begin at the bytes `windows`. The first of them came at `place`, and
/// the others at the following places. Segments are ordered by their windows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Segment(u128);

impl Segment {
    pub(super) fn new(windows: std::ops::Range<usize>, place: usize) -> Self {
        Self(
            (windows.start as u128) << WINDOW_AT
                | (windows.len() as u128) << LENGTH_AT
                | (place as u128) << FLAG,
        )
    }

    /// Windows of periodic text. Their place is one period before; it is not the earliest one.
    pub(super) fn periodic(windows: std::ops::Range<usize>, period: usize) -> Self {
        let place = windows.start - period;
        Self(Self::new(windows, place).0 | 1)
    }

    pub(super) fn windows(self) -> std::ops::Range<usize> {
        let start = (self.0 >> WINDOW_AT) as usize;
        start..start + ((self.0 >> LENGTH_AT) as usize & MAX_BYTES)
    }

    pub(super) fn place(self) -> usize {
        (self.0 >> FLAG) as usize & MAX_BYTES
    }

    /// The period, if the segment is of periodic text.
    pub(super) fn period(self) -> Option<usize> {
        (self.0 & 1 == 1).then(|| self.windows().start - self.place())
    }
}

//! The question that a scan asks of an index, and the rows that answer it.

use crate::key::RowId;
use crate::layout::Layout;
use hamming::code::{distance_of_bytes, distance_of_words};

/// A code from which distances are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchCenter {
    /// Its words, at least one.
    pub(crate) words: Vec<u64>,
    /// Its bytes, by which it is compared with the codes of the table if it has several words: where many
    /// candidates are in vain, cutting their codes into words would take half of the time.
    pub(crate) bytes: Vec<u8>,
}

impl SearchCenter {
    /// A code with the number of bits of the layout, as bytes filled up with zeros.
    pub fn of_code(layout: Layout, code: &[u8]) -> Self {
        let bytes = if layout.has_whole_codes() { Vec::new() } else { code.to_vec() }; // Bounded: a code.
        Self { words: layout.words_of(code).collect(), bytes }
    }

    pub(crate) fn first_word(&self) -> u64 {
        self.words.first().copied().unwrap_or_default()
    }
}

/// A fingerprint, which is a word.
impl From<u64> for SearchCenter {
    fn from(fingerprint: u64) -> Self {
        Self { words: vec![fingerprint], bytes: Vec::new() }
    }
}

/// All codes within a radius of a center.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBall {
    /// The code in the middle.
    pub center: SearchCenter,
    /// The largest distance from the center, in bits; the number of bits of a code takes in every code.
    pub radius: u32,
}

impl CodeBall {
    /// The ball around this center.
    pub fn new(center: impl Into<SearchCenter>, radius: u32) -> Self {
        Self { center: center.into(), radius }
    }

    pub(crate) fn contains_words(&self, words: &[u64]) -> bool {
        distance_of_words(words, &self.center.words) <= self.radius
    }

    pub(crate) fn contains(&self, code: &[u8]) -> bool {
        distance_of_bytes(code, &self.center.bytes) <= self.radius
    }
}

/// The rows that a scan wants, and their order.
#[derive(Clone, Debug, Default)]
pub struct SearchQuery {
    /// A code has to lie in all of these balls.
    pub balls: Vec<CodeBall>,
    /// Whether rows with a code are wanted.
    pub values: bool,
    /// Whether rows whose code is NULL are wanted. They lie in no ball.
    pub nulls: bool,
    /// Rows are ordered by their distance from the first of these. Where that is equal, codes of one word are
    /// ordered by their distance from the next; others by row. Rows whose code is NULL come last. If the list
    /// is empty, rows come in any order.
    pub nearest_to: Vec<SearchCenter>,
    /// Whether the codes of the rows are wanted: see [`IndexSearch::code_of`](crate::IndexSearch::code_of).
    pub codes: bool,
}

/// What the passes of a search look for.
pub(crate) struct SearchTarget {
    /// The code around which words are searched; without it, every row is found.
    pub(crate) center: Option<SearchCenter>,
    /// The radius of the last pass.
    pub(crate) farthest: u32,
    /// Whether passes begin with a small radius.
    pub(crate) grows: bool,
    /// Balls that a row must lie in as well.
    pub(crate) also: Vec<CodeBall>,
    pub(crate) nearest_to: Vec<SearchCenter>,
    pub(crate) nulls: bool,
}

impl SearchTarget {
    pub(crate) fn of(query: SearchQuery, bits: u32) -> Self {
        let SearchQuery { mut balls, nulls, nearest_to, .. } = query;
        let nulls = nulls && balls.is_empty();
        // The smallest ball, which finds the least, is searched. Its rows are checked against the others.
        balls.sort_by_key(|ball| ball.radius);
        let grows =
            nearest_to.first().is_some_and(|nearest| balls.first().is_none_or(|b| b.center == *nearest));
        let (center, farthest) = match (balls.is_empty(), nearest_to.first()) {
            (false, _) => {
                let ball = balls.remove(0);
                (Some(ball.center), ball.radius)
            }
            (true, nearest) => (nearest.cloned(), bits),
        };
        let farthest = farthest.min(bits);
        Self { center, farthest, grows, also: balls, nearest_to, nulls }
    }
}

/// A row that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// Where the row is in the table.
    pub row: RowId,
    /// The distance by which it is ordered, if rows are ordered and its code is not NULL.
    pub distance: Option<u32>,
    /// Its code, if that is one word and is not NULL.
    pub word: Option<u64>,
    /// Where its code begins in the list that the search keeps, if that has several words and is wanted.
    pub(crate) kept: Option<u32>,
    /// Whether everybody saw the row when it was found (see
    /// [`is_seen_by_all`](crate::store::Store::is_seen_by_all)), or [`CodeLookup`] did.
    pub is_seen_by_all: bool,
}

impl SearchHit {
    /// A row of which the table alone knows more.
    pub(crate) fn unordered(row: RowId) -> Self {
        Self { row, distance: None, word: None, kept: None, is_seen_by_all: false }
    }

    /// The distance from a center by which rows are ordered; from the first one if codes have several words.
    pub fn distance_from(&self, center: &SearchCenter) -> Option<u32> {
        self.word.map(|word| (word ^ center.first_word()).count_ones()).or(self.distance)
    }
}

/// Where the codes of rows are known.
pub trait CodeLookup {
    /// A row's code, filled up with zeros to whole bytes; `None` if the row is not wanted after all.
    fn code_of(&mut self, row: RowId) -> Option<&[u8]>;
}

//! What a scan requests from an index, and the rows that it returns.

use crate::key::RowId;
use crate::layout::Layout;
use hamming::code::{distance_of_bytes, distance_of_words};

/// A code from which distances are computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchCenter {
    /// The words of the code, at least one.
    pub(crate) words: Vec<u64>,
    /// The bytes of a code of several words, for comparing it with codes of the table: if most candidates do
    /// not match, cutting their codes into words would take half of the time.
    pub(crate) bytes: Vec<u8>,
}

impl SearchCenter {
    /// A code with the layout's number of bits, whose last byte is filled up with zeros.
    pub fn of_code(layout: Layout, code: &[u8]) -> Self {
        let bytes = if layout.is_one_word() { Vec::new() } else { code.to_vec() }; // Bounded: a code.
        Self { words: layout.words_of(code).collect(), bytes }
    }

    pub(crate) fn first_word(&self) -> u64 {
        self.words.first().copied().unwrap_or_default()
    }
}

/// A fingerprint, whose bits are one word.
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
    /// The largest distance from the center, in bits. The width of a code as the radius includes every code.
    pub radius: u32,
}

impl CodeBall {
    pub(crate) fn contains_words(&self, words: &[u64]) -> bool {
        distance_of_words(words, &self.center.words) <= self.radius
    }

    pub(crate) fn contains(&self, code: &[u8]) -> bool {
        distance_of_bytes(code, &self.center.bytes) <= self.radius
    }
}

/// The rows that a scan requests, and their order.
#[derive(Clone, Debug, Default)]
pub struct SearchQuery {
    /// A code has to lie in all of these balls.
    pub balls: Vec<CodeBall>,
    /// Whether rows with a code are wanted.
    pub values: bool,
    /// Whether rows whose code is NULL are wanted. They lie in no ball.
    pub nulls: bool,
    /// Rows are ordered by their distance from the first of these. Rows with equal distances are ordered by
    /// their distance from the next center if codes have one word, otherwise by row. Rows whose code is NULL
    /// come last. If the list is empty, the order is undefined.
    pub nearest_to: Vec<SearchCenter>,
    /// Whether the codes of the rows are wanted: see [`IndexSearch::code_of`](crate::IndexSearch::code_of).
    pub codes: bool,
}

/// The query of a search, brought into one form: rows lie in the smallest ball and in further balls.
pub(crate) struct NormalizedQuery {
    /// The code around which words are searched; if it is `None`, every row is found.
    pub(crate) center: Option<SearchCenter>,
    /// The radius of the last pass.
    pub(crate) farthest: u32,
    /// Whether passes begin with a small radius.
    pub(crate) grows: bool,
    /// Further balls that a row must lie in.
    pub(crate) also: Vec<CodeBall>,
    pub(crate) nearest_to: Vec<SearchCenter>,
    pub(crate) nulls: bool,
}

impl NormalizedQuery {
    pub(crate) fn of(query: SearchQuery, bits: u32) -> Self {
        let SearchQuery { mut balls, nulls, nearest_to, .. } = query;
        let nulls = nulls && balls.is_empty();
        // The smallest ball, with the fewest rows, is searched. Its rows are checked against the other balls.
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
    /// The distance by which the row is ordered, if rows are ordered and its code is not NULL.
    pub distance: Option<u32>,
    /// The row's code, if that is one word and not NULL.
    pub word: Option<u64>,
    /// Where the row's code begins in [`SearchResults`](crate::results::SearchResults), if it has several
    /// words and is wanted.
    pub(crate) kept: Option<u32>,
    /// Whether all transactions saw the row when it was found (see
    /// [`is_seen_by_all`](crate::store::Store::is_seen_by_all)), or [`CodeLookup`] has looked at it.
    pub is_seen_by_all: bool,
}

impl SearchHit {
    /// A row whose code and distance are not known.
    pub(crate) fn unordered(row: RowId) -> Self {
        Self { row, distance: None, word: None, kept: None, is_seen_by_all: false }
    }

    /// The distance from one of the centers by which rows are ordered: the first one, if codes have several
    /// words.
    pub fn distance_from(&self, center: &SearchCenter) -> Option<u32> {
        self.word.map(|word| (word ^ center.first_word()).count_ones()).or(self.distance)
    }
}

/// Looks up the codes of rows.
pub trait CodeLookup {
    /// A row's code, filled up with zeros to whole bytes; `None` if the row is not visible or its code is
    /// NULL.
    fn code_of(&mut self, row: RowId) -> Option<&[u8]>;
}

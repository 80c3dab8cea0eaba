//! Layouts: which trees an index has, where their roots are, and how a code is cut into words.
//!
//! An index of fingerprints has one word of 64 bits for each row. A code of another length is cut into words,
//! each of which has four trees, like a fingerprint. Codes that differ in few bits have a word that differs
//! in very few bits: see [`crate::index_search`].
//!
//! An index with further columns has one more tree, of all rows: see [`Layout::with_filter`].
//!
//! The distance of two codes does not follow from one word. So an index of codes of several words can have a
//! tree of whole codes, in addition to the words' trees or instead of them: see [`CodeTrees`].

use crate::key::{BAND_BITS, BANDS, FILTER_TREE, Filter, IndexKey, RowId, Tree, rotated};
use crate::page::{
    CODE_TREES, DESCRIPTION_OF_WHOLE, FILTER_TREES, FIRST_OF_CODES, LEAF_CAPACITY, Page, PageNumber,
    SEVERAL_COLUMNS, capacity,
};
use crate::store::Store;
use hamming::code::{CodeCutter, MAX_BITS};
use std::ops::Range;

/// Which trees an index has for codes of several words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeTrees {
    /// The trees of each word: near codes are found by words that are nearly equal.
    Words,
    /// The trees of each word, and a tree of whole codes, for searches that words do not help.
    Both,
    /// The tree of whole codes. It is used for embeddings, for example: near ones are near in no single word.
    Whole,
}

/// The trees of an index, and their roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// How a code is cut into words. In a word of the index, bands are not adjacent: see [`Self::words_of`].
    cutter: CodeCutter,
    /// The number of the first tree. Indexes of fingerprints and of codes use different numbers.
    first_tree: Tree,
    /// The number of pages before the roots.
    first_root: PageNumber,
    code_trees: CodeTrees,
}

impl Layout {
    /// The layout of an index of 64-bit fingerprints. Its first pages are the roots.
    pub const FINGERPRINTS: Self =
        Self { cutter: CodeCutter::FINGERPRINTS, first_tree: 0, first_root: 0, code_trees: CodeTrees::Words };

    /// The layout of an index of codes with this number of bits, from 1 to [`MAX_BITS`]. Its first page
    /// stores that number.
    pub fn of_codes(bits: u32) -> Self {
        let cutter = CodeCutter::new(bits.max(1));
        Self { cutter, first_tree: FIRST_OF_CODES, first_root: 1, code_trees: CodeTrees::Words }
    }

    /// This layout with other trees. An index of codes of one word does not change.
    #[must_use]
    pub fn with_trees(self, code_trees: CodeTrees) -> Self {
        if self.is_one_word() { self } else { Self { code_trees, ..self } }
    }

    /// Whether each word of a code has trees.
    pub fn has_word_trees(self) -> bool {
        self.code_trees != CodeTrees::Whole
    }

    /// Whether there is a tree of whole codes, which have several words. If so, the tree of further columns
    /// also has whole codes.
    pub fn has_code_tree(self) -> bool {
        self.code_trees != CodeTrees::Words
    }

    /// This layout with further columns. It has one more tree of all rows, ordered by a hash of the further
    /// columns and then by the first word of the code. So the rows of a tenant are next to each other there,
    /// and among these, rows whose codes begin alike.
    #[must_use]
    pub fn with_filter(self) -> Self {
        if self.has_filter() { self } else { Self { first_tree: self.first_tree + SEVERAL_COLUMNS, ..self } }
    }

    /// Whether the index has further columns.
    pub fn has_filter(self) -> bool {
        self.first_tree >= SEVERAL_COLUMNS
    }

    /// Reads the layout of an index of codes from its first page.
    pub fn read<S: Store>(store: &S) -> Self {
        let first = 0;
        let described = store.read(first).described().map(|(tree, key)| (tree, key.bits as u32));
        let Some((tree, bits @ 1..=MAX_BITS)) = described else {
            store.corrupted(first, "it does not say how many bits a code has")
        };
        let code_trees = match tree {
            ..DESCRIPTION_OF_WHOLE => CodeTrees::Words,
            _ if tree & 1 == 0 => CodeTrees::Both,
            _ => CodeTrees::Whole,
        };
        let layout = Self::of_codes(bits).with_trees(code_trees);
        let has_filter = match code_trees {
            CodeTrees::Words => tree >= SEVERAL_COLUMNS,
            _ => tree & 2 != 0,
        };
        if has_filter { layout.with_filter() } else { layout }
    }

    /// The first page of an index of codes.
    pub(crate) fn description(self) -> Option<Box<Page>> {
        let of_whole = DESCRIPTION_OF_WHOLE + if self.has_filter() { 2 } else { 0 };
        let tree = match self.code_trees {
            CodeTrees::Words => self.first_tree.checked_sub(1)?,
            CodeTrees::Both => of_whole,
            CodeTrees::Whole => of_whole + 1,
        };
        self.is_described().then(|| Page::leaf(tree, &[IndexKey::before(self.bits().into())]))
    }

    /// The number of bits of a code.
    #[inline]
    pub fn bits(self) -> u32 {
        self.cutter.bits()
    }

    /// The number of words of a code.
    #[inline]
    pub fn words(self) -> usize {
        self.cutter.width()
    }

    /// Whether a code is one word, so that each tree of a word has whole codes.
    pub fn is_one_word(self) -> bool {
        self.words() == 1
    }

    /// Whether the first page describes the codes. It does for all codes but fingerprints.
    pub fn is_described(self) -> bool {
        self.first_root > 0
    }

    /// The number of bands of all words together.
    #[inline]
    pub fn bands(self) -> usize {
        self.words() * BANDS
    }

    /// The trees of a word.
    pub fn trees_of(self, word: usize) -> Range<Tree> {
        let first = self.first_tree + (word * BANDS) as Tree;
        first..first + BANDS as Tree
    }

    /// The tree of rows whose code is NULL. Their keys have the bits 0.
    pub fn nulls(self) -> Tree {
        self.first_tree + self.bands() as Tree
    }

    /// The tree of further columns.
    pub fn filter_tree(self) -> Tree {
        if self.has_code_tree() { FILTER_TREES + self.words() as Tree } else { FILTER_TREE }
    }

    /// The tree of whole codes.
    pub fn code_tree(self) -> Tree {
        CODE_TREES + self.words() as Tree
    }

    /// The number of trees of all words together.
    pub fn word_trees(self) -> usize {
        if self.has_word_trees() { self.bands() } else { 0 }
    }

    /// All trees: the trees of each word, the tree of NULLs, the tree of further columns, and the tree of
    /// whole codes.
    pub fn trees(self) -> impl Iterator<Item = Tree> {
        let words = self.first_tree..self.first_tree + self.word_trees() as Tree;
        let filter = self.has_filter().then(|| self.filter_tree());
        words.chain([self.nulls()]).chain(filter).chain(self.has_code_tree().then(|| self.code_tree()))
    }

    /// A tree that has every row with a code.
    pub fn first_tree(self) -> Tree {
        if self.has_word_trees() { self.first_tree } else { self.code_tree() }
    }

    /// The tree that is read sequentially if that costs least. It has whole codes if any tree has them.
    pub(crate) fn tree_of_all(self) -> Tree {
        if self.has_code_tree() { self.code_tree() } else { self.first_tree }
    }

    /// The number of leaves of a tree for each leaf of a band's tree.
    pub fn leaves_per_band(self, tree: Tree) -> f64 {
        LEAF_CAPACITY as f64 / capacity(tree, 0) as f64
    }

    /// The place of a tree among the trees of the index, counted from 0.
    pub fn place(self, tree: Tree) -> usize {
        let words = self.word_trees();
        match tree {
            _ if tree == self.nulls() => words,
            _ if tree == self.filter_tree() => words + 1,
            _ if tree == self.code_tree() => words + 1 + usize::from(self.has_filter()),
            _ => usize::from(tree - self.first_tree),
        }
    }

    /// The page number of a tree's root.
    pub fn root(self, tree: Tree) -> PageNumber {
        self.first_root + self.place(tree) as PageNumber
    }

    /// The number of pages of an empty index. These pages never move.
    pub fn fixed_pages(self) -> PageNumber {
        self.first_root + self.trees().count() as PageNumber
    }

    /// The bits of a band, counted in the order of the words' bits. Bands are numbered through all words.
    ///
    /// Widths of bands differ by at most one bit, so that all bands divide the rows about equally well.
    fn band(self, band: usize) -> Range<usize> {
        let place = |band: usize| band * self.bits() as usize / self.bands();
        place(band)..place(band + 1)
    }

    /// The number of bits of each band.
    #[inline]
    fn widths(self) -> impl Iterator<Item = u32> {
        let bits = self.bits();
        let bands = self.bands() as u32;
        let mut rest = 0;
        (0..bands).map(move |_| {
            rest += bits % bands;
            let is_wider = rest >= bands;
            rest -= if is_wider { bands } else { 0 };
            bits / bands + u32::from(is_wider)
        })
    }

    /// The number of bits of the code in a word.
    pub(crate) fn width(self, word: usize) -> u32 {
        self.bits_of(word).len() as u32
    }

    /// The bits of a word, counted in the order of the words' bits.
    fn bits_of(self, word: usize) -> Range<usize> {
        let first = word * BANDS;
        self.band(first).start..self.band(first + BANDS - 1).end
    }

    /// Cuts a code, given as bytes, into words. Each band is in its highest places, with zeros below.
    #[inline]
    pub fn words_of(self, code: &[u8]) -> impl Iterator<Item = u64> {
        let mut reader = self.cutter.reader(code);
        let mut widths = self.widths();
        (0..self.words()).map(move |_| {
            let mut word = 0;
            for width in widths.by_ref().take(BANDS) {
                word = word << BAND_BITS | reader.next(width) << (BAND_BITS - width);
            }
            word
        })
    }

    /// The bytes of the code with these words, padded with zeros.
    pub fn code_of(self, words: &[u64]) -> Vec<u8> {
        let mut code = vec![0; self.bits().div_ceil(8) as usize]; // Bounded: a code.
        let mut places = self.cutter.places();
        for (band, width) in self.widths().enumerate() {
            let mut bits = words[band / BANDS] << (band % BANDS * BAND_BITS as usize);
            for place in places.by_ref().take(width as usize) {
                code[place / 8] |= ((bits >> 63) as u8) << (7 - place % 8);
                bits <<= 1;
            }
        }
        code
    }

    /// The name of a row in messages, with its fingerprint if it has one.
    pub fn name_of(self, row: RowId, word: Option<u64>) -> String {
        let name = format!("row ({},{})", row.page(), row.offset());
        match word {
            Some(word) if !self.is_described() => format!("{name} with fingerprint {}", word as i64),
            _ => name,
        }
    }

    /// The keys of a row's word, each with its tree.
    pub(crate) fn keys_of(
        self,
        word: usize,
        bits: u64,
        row: RowId,
    ) -> impl Iterator<Item = (Tree, IndexKey)> + Clone {
        self.trees_of(word).map(move |tree| (tree, IndexKey::new(rotated(bits, tree), row)))
    }

    /// The key of a row in the tree of further columns. If the code is NULL, the bits are 0.
    pub(crate) fn filter_key(words: Option<&[u64]>, filter: Filter, row: RowId) -> IndexKey {
        match words.and_then(|words| words.first()) {
            Some(&bits) => IndexKey { filter, bits, row },
            None => IndexKey { filter: filter.of_null_code(), bits: 0, row },
        }
    }

    /// The keys by which a check looks a row up, each with its tree: a key for each word in its first band,
    /// one for the whole code, or one in the tree of NULLs; and one in the tree of further columns, if there
    /// are any. One band per word is enough if [`Index::verify`](crate::Index::verify) has found no damage,
    /// since then all bands have the same rows.
    pub fn look_up_keys_of(
        self,
        words: Option<&[u64]>,
        filter: Option<Filter>,
        row: RowId,
    ) -> Vec<(Tree, IndexKey)> {
        let mut keys = match words {
            None => vec![(self.nulls(), IndexKey::new(0, row))],
            Some(words) => {
                let of_words = (0..).zip(words).take_while(|_| self.has_word_trees());
                let mut keys: Vec<_> =
                    of_words.filter_map(|(word, &bits)| self.keys_of(word, bits, row).next()).collect();
                // Bounded: one more key.
                keys.extend(self.has_code_tree().then(|| (self.code_tree(), IndexKey::new(words[0], row))));
                keys
            }
        };
        // Bounded: one more key.
        keys.extend(filter.map(|filter| (self.filter_tree(), Self::filter_key(words, filter, row))));
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_have_every_bit_once(bits in 1u32..=1200, place in 0usize..1200) {
            let layout = Layout::of_codes(bits);
            let place = place % bits as usize;
            let mut code = vec![0; bits.div_ceil(8) as usize];
            prop_assert!(layout.words_of(&code).all(|word| word == 0));
            code[place / 8] |= 0x80 >> (place % 8);
            let words: Vec<u64> = layout.words_of(&code).collect();
            prop_assert_eq!(words.len(), bits.div_ceil(64) as usize);
            prop_assert_eq!(words.iter().map(|word| word.count_ones()).sum::<u32>(), 1);
        }

        #[test]
        fn words_give_their_code_back(bits in 1u32..=1200, mut code in prop::collection::vec(any::<u8>(), 150)) {
            let layout = Layout::of_codes(bits);
            code.truncate(bits.div_ceil(8) as usize);
            *code.last_mut().unwrap() &= 0xff << (code.len() as u32 * 8 - bits);
            prop_assert_eq!(layout.code_of(&layout.words_of(&code).collect::<Vec<_>>()), code);
        }

        #[test]
        fn a_fingerprint_is_its_bytes(code: u64) {
            prop_assert_eq!(Layout::FINGERPRINTS.code_of(&[code]), code.to_be_bytes());
        }

        #[test]
        fn widths_add_up(bits in 1u32..=MAX_BITS) {
            let layout = Layout::of_codes(bits);
            let widths: Vec<u32> = (0..layout.words()).map(|word| layout.width(word)).collect();
            prop_assert_eq!(widths.iter().sum::<u32>(), bits);
            let bands = (0..layout.bands()).map(|band| layout.band(band).len() as u32);
            prop_assert!(layout.widths().eq(bands));
            prop_assert!(widths.iter().all(|width| width.abs_diff(widths[0]) <= BANDS as u32));
            let described = layout.description().unwrap().described();
            prop_assert_eq!(described, Some((FIRST_OF_CODES - 1, IndexKey::before(bits.into()))));
        }
    }

    #[test]
    fn roots_come_first() {
        assert_eq!(Layout::FINGERPRINTS.fixed_pages(), 5);
        assert_eq!(Layout::of_codes(256).fixed_pages(), 18);
        assert_eq!(Layout::FINGERPRINTS.with_filter().fixed_pages(), 6);
        assert_eq!(Layout::of_codes(256).with_filter().fixed_pages(), 19);
    }
}

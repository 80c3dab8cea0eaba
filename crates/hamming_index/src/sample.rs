//! What a sample of a table's codes says about a search.
//!
//! Codes are rarely scattered in every word: half of all drawings may have the same white margin. The values
//! that the database keeps of a column, for its planner, tell how much of the table each word of a query
//! finds.

use crate::layout::Layout;

/// Words that the planner looks at. Codes of more words are estimated by as many of them, spread over the
/// code.
pub const MOST_PLANNED: usize = 16;

/// How far the codes of a sample are from a query, word by word. An empty sample stands for scattered codes.
#[derive(Clone, Debug, Default)]
pub struct CodeSample {
    /// For each word and each reach, the fraction of the rows that the word finds.
    found: Vec<Vec<f64>>,
    /// For each row of the sample, the fraction of the table that it stands for, and how many bits differ in
    /// each word.
    rows: Vec<(f64, Vec<u32>)>,
}

impl CodeSample {
    /// Compares a query with codes, each of which stands for a part of the table.
    pub fn new<'a>(layout: Layout, query: &[u8], codes: impl IntoIterator<Item = (&'a [u8], f64)>) -> Self {
        // Of the words of wide codes some stand for all: see `PlannerCosts`.
        let words = layout.words().min(MOST_PLANNED);
        let place = |word: usize| word * layout.words() / words;
        let masks: Vec<Vec<u8>> = (0..words).map(|word| layout.mask(place(word))).collect();
        let differing = |code: &[u8]| masks.iter().map(|mask| differing_in(mask, query, code)).collect();
        let rows: Vec<(f64, Vec<u32>)> =
            codes.into_iter().map(|(code, fraction)| (fraction, differing(code))).collect();
        let found = (0..words).map(|word| {
            // Bounded: a number for each bit of a word.
            let mut fractions = vec![0.0; layout.width(place(word)) as usize + 2];
            for (fraction, differing) in &rows {
                fractions[differing[word] as usize + 1] += fraction;
            }
            let add = |sum: &mut f64, fraction| {
                *sum += fraction;
                Some(*sum)
            };
            fractions.into_iter().scan(0.0, add).collect()
        });
        Self { found: found.collect(), rows }
    }

    /// The fraction of the rows that this word finds.
    pub(crate) fn found_by(&self, word: usize, reach: u32) -> f64 {
        let fractions = self.found.get(word);
        // A word that is less wide than another has been found by then.
        let fraction = fractions.and_then(|fractions| fractions.get(reach as usize).or(fractions.last()));
        fraction.copied().unwrap_or_default()
    }

    /// The fraction of the rows that at least one word finds.
    pub(crate) fn found(&self, reaches: &[u32]) -> f64 {
        let is_found = |differing: &[u32]| differing.iter().zip(reaches).any(|(bits, reach)| bits < reach);
        self.rows.iter().filter(|(_, differing)| is_found(differing)).map(|(fraction, _)| fraction).sum()
    }
}

/// The number of bits in which two codes differ, of those that the mask has.
fn differing_in(mask: &[u8], a: &[u8], b: &[u8]) -> u32 {
    let ((masks, mask_rest), (a, a_rest), (b, b_rest)) =
        (mask.as_chunks::<8>(), a.as_chunks(), b.as_chunks());
    let number = |bytes: &[u8; 8]| u64::from_ne_bytes(*bytes);
    let words =
        masks.iter().zip(a).zip(b).map(|((m, a), b)| (number(m) & (number(a) ^ number(b))).count_ones());
    let rest = mask_rest.iter().zip(a_rest).zip(b_rest).map(|((m, a), b)| (m & (a ^ b)).count_ones());
    words.sum::<u32>() + rest.sum::<u32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_words_and_of_all() {
        let layout = Layout::of_codes(100);
        let (zeros, first_word) = (vec![0; 13], layout.mask(0));
        let sample = CodeSample::new(layout, &zeros, [(&zeros[..], 0.5), (&first_word[..], 0.25)]);
        assert_eq!(layout.words_of(&first_word).map(u64::count_ones).collect::<Vec<_>>(), [50, 0]);
        assert_eq!([0, 1, 50, 51].map(|reach| sample.found_by(0, reach)), [0.0, 0.5, 0.5, 0.75]);
        assert_eq!([0, 1, 50].map(|reach| sample.found_by(1, reach)), [0.0, 0.75, 0.75]);
        assert_eq!(
            [[1, 0], [0, 1], [51, 0], [0, 0]].map(|reaches| sample.found(&reaches)),
            [0.5, 0.75, 0.75, 0.0]
        );
        assert_eq!(CodeSample::default().found(&[51, 51]) + CodeSample::default().found_by(0, 51), 0.0);
    }
}

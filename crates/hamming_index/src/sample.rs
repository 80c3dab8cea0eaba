//! A sample of a table's codes, by which a search is estimated.
//!
//! Codes are rarely scattered in every word: half of all drawings may have the same white margin. The values
//! that the database keeps of a column for its planner show which fraction of the table each word of a query
//! finds.

use crate::layout::Layout;

/// The number of words that the planner looks at. A code of more words is represented by this number of its
/// words, spread over the code.
pub const MOST_PLANNED: usize = 16;

/// How far the codes of a sample are from a query, word by word. An empty sample means scattered codes.
#[derive(Clone, Debug, Default)]
pub struct CodeSample {
    /// For each word and each reach, the fraction of rows that the word finds.
    found: Vec<Vec<f64>>,
    /// For each row of the sample, the fraction of the table that it represents, and for each word the number
    /// of differing bits.
    rows: Vec<(f64, Vec<u32>)>,
}

impl CodeSample {
    /// Compares a query with codes. Each code comes with the fraction of the table that it represents.
    pub fn new<'a>(layout: Layout, query: &[u8], codes: impl IntoIterator<Item = (&'a [u8], f64)>) -> Self {
        // Some words of a wide code represent all of them: see `PlannerCosts`.
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

    /// The fraction of rows that this word finds with this reach.
    pub(crate) fn found_by(&self, word: usize, reach: u32) -> f64 {
        let fractions = self.found.get(word);
        // A word may have fewer bits than another; beyond its own bits it finds all rows.
        let fraction = fractions.and_then(|fractions| fractions.get(reach as usize).or(fractions.last()));
        fraction.copied().unwrap_or_default()
    }

    /// The fraction of rows that at least one word finds.
    pub(crate) fn found(&self, reaches: &[u32]) -> f64 {
        let is_found = |differing: &[u32]| differing.iter().zip(reaches).any(|(bits, reach)| bits < reach);
        self.rows.iter().filter(|(_, differing)| is_found(differing)).map(|(fraction, _)| fraction).sum()
    }
}

/// The number of differing bits among the bits of the mask.
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

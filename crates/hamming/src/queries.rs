//! Compares some codes with every row of a table, and takes random samples of the near pairs.

use crate::code::CodeSlice;
use crate::hash::scattered;
use crate::kernel::{GROUP, for_processors};
use base::{OutOfMemory, collect};

/// Codes in groups. All codes of a group are compared with a row at once.
#[derive(Clone, Debug)]
pub struct CodeQueries {
    /// For each group, the first word of each code, followed by the second word of each code, and so on.
    words: Vec<[u64; GROUP]>,
    width: usize,
    count: usize,
}

impl CodeQueries {
    /// Copies the codes into groups.
    pub fn new(codes: CodeSlice<'_>) -> Result<Self, OutOfMemory> {
        let count = codes.len();
        let width = codes.width();
        let size = count.div_ceil(GROUP) * width;
        let mut words = collect(std::iter::repeat_n([0; GROUP], size), size)?;
        for (query, code) in codes.iter().enumerate() {
            for (at, &word) in code.iter().enumerate() {
                words[query / GROUP * width + at][query % GROUP] = word;
            }
        }
        Ok(Self { words, width, count })
    }

    /// The number of codes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Calls `take` with the number of each code whose distance from the row is at most `radius`, and with
    /// this distance. Stops if `take` fails.
    pub fn near<E>(
        &self,
        row: &[u64],
        radius: u32,
        mut take: impl FnMut(usize, u32) -> Result<(), E>,
    ) -> Result<(), E> {
        let beyond = u64::from(radius) + 1;
        for (group, first) in self.words.chunks_exact(self.width).zip((0..).step_by(GROUP)) {
            let Some(distances) = distances_below(group, row, beyond) else { continue };
            for (query, distance) in (first..self.count).zip(distances) {
                if distance < beyond {
                    take(query, distance as u32)?;
                }
            }
        }
        Ok(())
    }
}

for_processors! {
    /// The distances of a row from a group of codes, if one of the distances is less than `beyond`.
    fn distances_below(queries: &[[u64; GROUP]], row: &[u64], beyond: u64) -> Option<[u64; GROUP]> {
        let distance = |query: u64, word: u64| u64::from((query ^ word).count_ones());
        if let ([queries], &[word]) = (queries, row) {
            let is_near = queries.iter().fold(false, |any, &query| any | (distance(query, word) < beyond));
            return is_near.then(|| queries.map(|query| distance(query, word)));
        }
        let mut distances = [0; GROUP];
        for (queries, &word) in queries.iter().zip(row) {
            distances.iter_mut().zip(queries).for_each(|(sum, &query)| *sum += distance(query, word));
        }
        distances.iter().fold(false, |any, &distance| any | (distance < beyond)).then_some(distances)
    }
}

/// The place of the n-th of some elements in a random sample, where it replaces another one; `None` if it is
/// not sampled. All elements have the same chance to remain (Vitter, "Random Sampling with a Reservoir",
/// 1985, algorithm R). If `chance` starts at 0, the result is always the same.
pub fn place_in_sample(chance: &mut u64, number: u64, size: usize) -> Option<usize> {
    *chance += 1;
    let place = if number <= size as u64 {
        number - 1
    } else {
        ((u128::from(scattered(*chance)) * u128::from(number)) >> 64) as u64
    };
    (place < size as u64).then_some(place as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::distance_of_words;
    use crate::near_pairs::tests::FEWER;
    use proptest::prelude::*;

    proptest! {
        /// Half of the bits of scattered codes differ.
        #[test]
        fn finds_what_a_plain_loop_finds(
            width in 1usize..4,
            words in prop::collection::vec(any::<u64>(), 3..120 / FEWER.min(10)),
            radius_of_word in prop_oneof![Just(0u32), 24u32..40, Just(64)],
        ) {
            let codes = CodeSlice::new(&words[..words.len() / width * width], width);
            let row = codes.get(0);
            let radius = radius_of_word * width as u32;
            let mut found = Vec::new();
            let mut take = |query, distance| -> Result<(), OutOfMemory> {
                found.push((query, distance));
                Ok(())
            };
            CodeQueries::new(codes).unwrap().near(row, radius, &mut take).unwrap();
            let plain = codes.iter().map(|code| distance_of_words(code, row)).enumerate();
            prop_assert_eq!(found, plain.filter(|&(_, distance)| distance <= radius).collect::<Vec<_>>());
        }
    }
}

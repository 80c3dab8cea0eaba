//! Some codes that are compared with every row of a table, and random samples of the pairs that are found.

use crate::code::CodeSlice;
use crate::hash::scattered;
use crate::kernel::{GROUP, for_processors};
use base::{OutOfMemory, collect};

/// Codes in groups, each of which is compared with a row at once.
#[derive(Clone, Debug)]
pub struct CodeQueries {
    /// The words of each group: the first word of each code, then the second of each, and so on.
    words: Vec<[u64; GROUP]>,
    width: usize,
    count: usize,
}

impl CodeQueries {
    /// Copies the codes.
    pub fn new(codes: CodeSlice<'_>) -> Result<Self, OutOfMemory> {
        let (count, width) = (codes.len(), codes.width());
        let size = count.div_ceil(GROUP) * width;
        let mut words = collect(std::iter::repeat_n([0; GROUP], size), size)?;
        for (query, code) in codes.iter().enumerate() {
            for (at, &word) in code.iter().enumerate() {
                words[query / GROUP * width + at][query % GROUP] = word;
            }
        }
        Ok(Self { words, width, count })
    }

    /// The number of the codes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Calls `take` with the number of each code whose distance from a row is at most `radius`, and the
    /// distance, until it fails.
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
    /// The distances of a row from a group of codes, if one of them is below `beyond`.
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

/// The place that the n-th of some elements takes in a random sample of them, if it takes one: so each has
/// the same chance to stay (Vitter, "Random Sampling with a Reservoir", 1985, algorithm R). Chance begins
/// with 0, and is the same in every call.
pub fn place_in_sample(chance: &mut u64, number: u64, size: usize) -> Option<usize> {
    *chance += 1;
    let place = if number <= size as u64 {
        number - 1
    } else {
        ((u128::from(scattered(*chance)) * u128::from(number)) >> 64) as u64
    };
    (place < size as u64).then_some(place as usize)
}

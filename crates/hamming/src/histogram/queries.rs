//! Some codes that are compared with every row of a table.

use crate::code::CodeSlice;
use crate::kernel::{GROUP, for_processors};
use base::{OutOfMemory, collect, reserve};

/// Codes in groups, each of which is compared with a row at once.
#[derive(Clone, Debug)]
pub struct CodeQueries {
    groups: Vec<QueryGroup>,
    count: usize,
}

impl CodeQueries {
    /// Copies the codes.
    pub fn new(codes: CodeSlice<'_>) -> Result<Self, OutOfMemory> {
        let count = codes.len();
        let mut groups = Vec::new();
        reserve(&mut groups, count.div_ceil(GROUP))?;
        for first in (0..count).step_by(GROUP) {
            let codes_of_group = (first..count.min(first + GROUP)).map(|place| codes.get(place as u32));
            groups.push(QueryGroup::of(codes_of_group, codes.width())?);
        }
        Ok(Self { groups, count })
    }

    /// The number of the codes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Calls `take` with the number of each code whose distance from a row is at most `radius`, and the
    /// distance.
    pub fn near(&self, row: &[u64], radius: u32, take: &mut dyn FnMut(usize, u32)) {
        let beyond = u64::from(radius) + 1;
        for (group, first) in self.groups.iter().zip((0..).step_by(GROUP)) {
            let Some(distances) = distances_below(&group.words, row, beyond) else { continue };
            for (query, &distance) in distances.iter().enumerate().take(group.count) {
                if distance < beyond {
                    take(first + query, distance as u32);
                }
            }
        }
    }
}

/// Codes that are compared with a row together.
#[derive(Clone, Debug)]
struct QueryGroup {
    count: usize,
    /// The first word of each code, then the second of each, and so on.
    words: Vec<[u64; GROUP]>,
}

impl QueryGroup {
    fn of<'a>(codes: impl ExactSizeIterator<Item = &'a [u64]>, width: usize) -> Result<Self, OutOfMemory> {
        let count = codes.len();
        let mut words = collect((0..width).map(|_| [0; GROUP]), width)?;
        for (query, code) in codes.enumerate() {
            words.iter_mut().zip(code).for_each(|(words, &word)| words[query] = word);
        }
        Ok(Self { count, words })
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

//! Sketches by which an index finds texts that share a passage: the hashes of all pieces of one level.
//!
//! Cost: linear time; memory for the values.

use super::{RecursiveShingler, Shingle};
use crate::sketch::SketchSample;
use base::{Heartbeat, Problem, pieces};

/// How many bytes of text are processed between two heartbeats.
const STRIDE: usize = 1 << 14;

/// The hashes of all pieces of a level, sorted and distinct.
pub fn passage_sketch(text: &str, level: u32, heartbeat: &mut dyn Heartbeat) -> Result<Vec<i64>, Problem> {
    let mut shingler = RecursiveShingler::new(level..=level, text.chars().count(), heartbeat)?;
    let mut sample = SketchSample::new(heartbeat);
    for piece in pieces(text, STRIDE) {
        if sample.has_failed() {
            break;
        }
        sample.beat();
        let mut consumer = |shingle: Shingle| sample.push(shingle.hash as i64);
        if piece.is_ascii() {
            shingler.add(piece.bytes().map(u64::from), &mut consumer);
        } else {
            shingler.add(piece.chars().map(u64::from), &mut consumer);
        }
    }
    sample.into_values()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn time_passes() {
        let mut beats = 0;
        passage_sketch(&"x".repeat(5 * STRIDE), 2, &mut || beats += 1).unwrap();
        assert!(beats >= 5, "{beats} heartbeats");
    }

    proptest! {
        // A third of the texts have fifteen thousand letters.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn sketches_have_the_hashes_of_all_pieces(
            text in prop_oneof!["[ab]{0,300}", "\\PC{0,300}", "[aé日]{15000,16000}"],
            level in 1u32..5,
        ) {
            let mut hashes = BTreeSet::new();
            let symbols: Vec<u64> = text.chars().map(u64::from).collect();
            let mut shingler = RecursiveShingler::new(level..=level, symbols.len(), &mut || ()).unwrap();
            shingler.add(symbols, &mut |shingle| _ = hashes.insert(shingle.hash as i64));
            let sketch = passage_sketch(&text, level, &mut || ()).unwrap();
            prop_assert_eq!(sketch, hashes.into_iter().collect::<Vec<_>>());
        }
    }
}

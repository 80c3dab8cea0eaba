//! Charikar's simhash of a text: the fingerprints of similar texts differ in few bits.
//!
//! Source: Charikar, "Similarity Estimation Techniques from Rounding Algorithms", 2002; see
//! [`super::bit_counts`]. Every distinct feature of the text counts once, however often it occurs. Memory is
//! bounded. Time is linear in the text, times the number of scans: one for up to some eight million distinct
//! features, and one more for each further eight million.

use super::bit_counts::BitCounts;
use super::distinct::{Distinct, SetPart, TooMany};
use super::doc2;
use crate::features::{Scheme, Shingler};
use base::{Heartbeat, OutOfMemory};

/// Computes fingerprints, and reuses its memory for the next text.
#[derive(Debug, Default)]
pub struct SimHasher {
    features: Distinct,
    shingler: Shingler,
}

impl SimHasher {
    /// The fingerprint of a text; `None` if it has no features.
    pub fn fingerprint(
        &mut self,
        text: &str,
        scheme: Scheme,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Option<u64>, OutOfMemory> {
        if scheme.is_permuted {
            return doc2::fingerprint(text, scheme, &mut self.shingler, heartbeat);
        }
        let mut counts = BitCounts::default();
        let mut part = Some(SetPart::WHOLE);
        while let Some(current) = part {
            let mut more = counts.clone();
            part = match self.count_features(text, scheme, current, &mut more, heartbeat)? {
                Ok(()) => {
                    counts = more;
                    current.next()
                }
                Err(TooMany) => Some(current.first_half()),
            };
        }
        self.features.release();
        Ok(counts.majority())
    }

    /// Counts the distinct features whose hash is in the part, unless there are too many.
    fn count_features(
        &mut self,
        text: &str,
        scheme: Scheme,
        part: SetPart,
        counts: &mut BitCounts,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Result<(), TooMany>, OutOfMemory> {
        let Self { features, shingler } = self;
        features.begin(part, scheme.rule().expected_features(text.len()), heartbeat)?;
        let mut result = Ok(());
        shingler.hash_features(text, scheme, &mut |hashes| {
            heartbeat.beat();
            if result.is_ok() {
                result = features.add(hashes, &mut |fresh| counts.add_all(fresh), heartbeat);
            }
        })?;
        features.hand_on(&mut |fresh| counts.add_all(fresh));
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::SCHEMES;

    /// Also where a text has no features, or all are equal.
    #[test]
    fn every_scheme_has_a_pulse() {
        let folded = ["folded:doc2", "folded:word:2"].map(|name| name.parse().unwrap());
        for scheme in SCHEMES.iter().map(|family| family.example()).chain(folded) {
            for piece in [" ", "a", "a ", "é ", "語", "ά\n", "\u{300}"] {
                let text = piece.repeat((1 << 21) / piece.len());
                let mut beats = 0;
                SimHasher::default().fingerprint(&text, scheme, &mut || beats += 1).unwrap();
                assert!(beats >= 2, "{beats} heartbeats for {piece:?} by {scheme}");
            }
        }
    }
}

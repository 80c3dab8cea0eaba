//! The features of `commoncrawl`: every four consecutive UTF-16 code units, as in the Similarity Index paper.
//!
//! ASCII is hashed in place. Other text is converted to UTF-16 in a small buffer, piece by piece, since in
//! languages with Latin letters most pieces are ASCII. The windows of the buffer are hashed in groups, since
//! a group without a unit above 0xFF needs only half of the lookups.

use super::{BATCH, Batch, Consumer};
use crate::hash::rabin::{UNITS, hash, hash_latin1};
use base::pieces;
use std::array::from_fn;

/// The most bytes of text that are converted together.
const PIECE: usize = 16;
/// The number of windows that are hashed together.
const GROUP: usize = 64;

/// Passes every feature to the consumer, in the order of the text. A text of fewer than four code units has
/// none.
pub(crate) fn shingles(text: &str, consumer: &mut impl Consumer<[u16; UNITS]>) {
    let mut window = [0; UNITS];
    for (seen, unit) in text.encode_utf16().enumerate() {
        window.rotate_left(1);
        window[UNITS - 1] = unit;
        if seen + 1 >= UNITS {
            consumer.take(window);
        }
    }
}

/// Passes the hash of every feature to the batch, in the order of the text.
pub(crate) fn hash_shingles(text: &str, batch: &mut Batch<'_>) {
    if text.is_ascii() {
        return hash_ascii_shingles(text.as_bytes(), batch);
    }
    let mut units = [0; BATCH];
    let mut len = 0;
    for piece in pieces(text, PIECE) {
        if piece.is_ascii() {
            for (unit, byte) in units[len..].iter_mut().zip(piece.bytes()) {
                *unit = byte.into();
            }
            len += piece.len();
        } else {
            for unit in piece.encode_utf16() {
                units[len] = unit;
                len += 1;
            }
        }
        // A piece has no more units than bytes.
        if len + PIECE > units.len() {
            hash_windows(&units[..len], batch);
            // The next windows begin in the last units of this buffer.
            units.copy_within(len + 1 - UNITS..len, 0);
            len = UNITS - 1;
        }
    }
    hash_windows(&units[..len], batch);
}

fn hash_ascii_shingles(text: &[u8], batch: &mut Batch<'_>) {
    let shingles = text.windows(UNITS).len();
    for start in (0..shingles).step_by(BATCH) {
        let piece = &text[start..(start + BATCH).min(shingles) + UNITS - 1];
        batch.extend(piece.windows(UNITS).map(|window| hash_latin1(&from_fn(|at| window[at]))));
    }
}

fn hash_windows(units: &[u16], batch: &mut Batch<'_>) {
    let windows = units.windows(UNITS).len();
    for start in (0..windows).step_by(GROUP) {
        let group = &units[start..(start + GROUP).min(windows) + UNITS - 1];
        let bits_of_all = group.iter().fold(0, |bits, unit| bits | unit);
        if bits_of_all <= 0xff {
            batch.extend(group.windows(UNITS).map(|window| hash_latin1(&from_fn(|at| window[at] as u8))));
        } else {
            batch.extend(group.windows(UNITS).map(|window| hash(from_fn(|at| window[at]))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::batch::tests::{any_text, hashes_of};
    use proptest::prelude::*;

    fn expected(text: &str) -> Vec<u64> {
        let units: Vec<u16> = text.encode_utf16().collect();
        units.windows(UNITS).map(|window| hash(from_fn(|at| window[at]))).collect()
    }

    #[test]
    fn any_character_anywhere_in_the_buffer() {
        for filler in ["a", "ж"] {
            for at in 0..BATCH + 2 * GROUP {
                for char in ["é", "’", "中", "😀"] {
                    let text = [&filler.repeat(at), char, &filler.repeat(BATCH + 2 * GROUP - at)].concat();
                    assert!(
                        hashes_of(|batch| hash_shingles(&text, batch)) == expected(&text),
                        "{char} at {at}"
                    );
                }
            }
        }
    }

    proptest! {
        #[test]
        fn all_windows_are_hashed(text in any_text()) {
            prop_assert_eq!(hashes_of(|batch| hash_shingles(&text, batch)), expected(&text));
            prop_assert_eq!(hashes_of(|batch| shingles(&text, batch)), expected(&text));
        }
    }
}

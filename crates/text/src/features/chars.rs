//! `char:k`: every k consecutive characters of a text.
//!
//! Characters are Unicode code points, without case folding or normalization. A text of fewer than k
//! characters is a single feature.
//!
//! Text is read in pieces. A piece's shingles begin in it and may end after it. If all of them are ASCII, a
//! character is a byte. For other pieces, a loop without branches first lists where characters begin.

use super::{BATCH, Consumer};
use std::ops::Range;

/// The number of bytes of the longest character.
const MAX_CHAR: usize = 4;
/// Room for the beginnings of characters in a piece and in the longest shingle after it; a power of two.
const STARTS: usize = 2 * BATCH;

/// Passes every shingle to the consumer, in the order of the text.
pub(crate) fn shingles(text: &str, k: usize, consumer: &mut impl for<'f> Consumer<&'f [u8]>) {
    shingles_of_bytes(text.as_bytes(), k, consumer);
}

/// Passes every shingle of a text, which is UTF-8, to the consumer.
#[inline]
pub(super) fn shingles_of_bytes(bytes: &[u8], k: usize, consumer: &mut impl for<'f> Consumer<&'f [u8]>) {
    // Most words are so.
    if (k..BATCH).contains(&bytes.len()) && bytes.is_ascii() {
        ascii_shingles(bytes, k, consumer);
    } else {
        shingles_of_pieces(bytes, k, consumer);
    }
}

fn shingles_of_pieces(bytes: &[u8], k: usize, consumer: &mut impl for<'f> Consumer<&'f [u8]>) {
    if bytes.iter().filter(|&&byte| is_start(byte)).take(k).count() < k {
        if !bytes.is_empty() {
            consumer.take(bytes);
        }
        return;
    }
    for start in (0..bytes.len()).step_by(BATCH) {
        let end = bytes.len().min(start + BATCH);
        let if_ascii = &bytes[start..bytes.len().min(end + k - 1)];
        if if_ascii.is_ascii() {
            ascii_shingles(if_ascii, k, consumer);
        } else {
            piece_shingles(bytes, start..end, k, consumer);
        }
    }
}

/// The places where characters begin, followed by the end of the text.
pub(crate) fn boundaries(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let starts = bytes.iter().enumerate().filter(|&(_, &byte)| is_start(byte));
    starts.map(|(at, _)| at).chain([bytes.len()])
}

/// Whether the byte is the first of a character.
pub(crate) fn is_start(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// The shingles that begin in a piece.
///
/// Every position is written to the list, but is overwritten by the next one unless a character begins there.
/// The remainder (`%`) has no effect, since there is enough room; it saves the bounds check.
fn piece_shingles(
    text: &[u8],
    piece: Range<usize>,
    k: usize,
    consumer: &mut impl for<'f> Consumer<&'f [u8]>,
) {
    let bytes = &text[piece.start..text.len().min(piece.end + MAX_CHAR * k)];
    let mut starts = [0u16; STARTS];
    let mut len = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        starts[len % STARTS] = at as u16;
        len += usize::from(is_start(byte));
    }
    // The end of the text can also be the end of a shingle.
    starts[len] = bytes.len() as u16;
    let in_piece = starts[..len].partition_point(|&start| usize::from(start) < piece.len());
    let ends = &starts[k.min(len + 1)..=len];
    let shingles = starts[..in_piece].iter().zip(ends);
    consumer.take_all(shingles.map(|(&start, &end)| &bytes[usize::from(start)..usize::from(end)]));
}

/// The most frequent lengths are compiled as constants: hashing then takes a few instructions without a
/// branch.
fn ascii_shingles(text: &[u8], k: usize, consumer: &mut impl for<'f> Consumer<&'f [u8]>) {
    fn known<const K: usize>(text: &[u8], consumer: &mut impl for<'f> Consumer<&'f [u8]>) {
        consumer.take_all(text.windows(K));
    }
    match k {
        4 => known::<4>(text, consumer),
        5 => known::<5>(text, consumer),
        6 => known::<6>(text, consumer),
        8 => known::<8>(text, consumer),
        _ => consumer.take_all(text.windows(k)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::MAX_SHINGLE;
    use crate::features::batch::tests::{any_text, hashes_of};
    use crate::hash::xxh3_64;
    use proptest::prelude::*;

    fn expected(text: &str, k: usize) -> Vec<u64> {
        let boundaries: Vec<usize> = boundaries(text.as_bytes()).collect();
        match boundaries.len() {
            1 => vec![],
            characters if characters <= k => vec![xxh3_64(text.as_bytes())],
            _ => boundaries.windows(k + 1).map(|at| xxh3_64(&text.as_bytes()[at[0]..at[k]])).collect(),
        }
    }

    #[test]
    fn a_character_at_every_border_of_pieces() {
        for k in [1, 2, 4, 5, 6, 31, MAX_SHINGLE] {
            for char in ["é", "’", "😀"] {
                for at in BATCH - 2 * MAX_SHINGLE..BATCH + 2 * MAX_SHINGLE {
                    for rest in [0, 1, k, BATCH - 1, BATCH, BATCH + k] {
                        let text = ["a".repeat(at).as_str(), char, &"b".repeat(rest)].concat();
                        let found = hashes_of(|batch| shingles(&text, k, batch));
                        assert!(found == expected(&text, k), "char:{k}, {char} at {at}, {rest} more");
                    }
                }
            }
        }
    }

    #[test]
    fn the_longest_characters_in_the_longest_shingles() {
        for characters in 0..3 * BATCH / MAX_CHAR {
            let text = "😀".repeat(characters);
            let found = hashes_of(|batch| shingles(&text, MAX_SHINGLE, batch));
            assert!(found == expected(&text, MAX_SHINGLE), "{characters}");
        }
    }

    proptest! {
        #[test]
        fn shingles_are_the_windows_over_all_characters(
            text in prop_oneof![any_text(), "\\PC{0,40}"],
            k in 1..=MAX_SHINGLE,
        ) {
            prop_assert_eq!(hashes_of(|batch| shingles(&text, k, batch)), expected(&text, k));
        }
    }
}

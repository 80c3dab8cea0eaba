//! Fingerprints as strings of binary digits, as in the Similarity Index paper.

use base::Heartbeat;

/// How many characters are compared between two heartbeats.
const STRIDE: usize = 1 << 16;

/// The number of positions in which two texts differ, the shorter one padded with blanks: the paper's
/// `HamDist`.
pub fn differing_characters(a: &str, b: &str, heartbeat: &mut dyn Heartbeat) -> usize {
    let (mut a, mut b) = (a.chars(), b.chars());
    let mut differing = 0;
    loop {
        heartbeat.beat();
        for _ in 0..STRIDE {
            match (a.next(), b.next()) {
                (None, None) => return differing,
                (x, y) => differing += usize::from(x.unwrap_or(' ') != y.unwrap_or(' ')),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn differing(a: &str, b: &str) -> usize {
        differing_characters(a, b, &mut || ())
    }

    #[test]
    fn the_papers_example() {
        assert_eq!(differing("00100", "11100"), 2);
    }

    #[test]
    fn the_shorter_text_is_padded_with_blanks() {
        assert_eq!(differing("abc", "abc   "), 0);
        assert_eq!(differing("abc", "abcd"), 1);
        assert_eq!(differing("", "été"), 3);
        assert_eq!(differing(&"a".repeat(STRIDE + 1), &"b".repeat(STRIDE)), STRIDE + 1);
    }

    proptest! {
        #[test]
        fn the_distance_of_binary_digits_is_the_bit_distance(a: u64, b: u64) {
            let digits = differing(&format!("{a:064b}"), &format!("{b:064b}"));
            prop_assert_eq!(digits, (a ^ b).count_ones() as usize);
        }
    }
}

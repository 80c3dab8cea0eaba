//! The features of `simhash-doc`: words of at least three characters.

use super::Consumer;
use super::chars::is_start;

/// The number of characters of the shortest word that is a feature.
const SHORTEST: usize = 3;

/// Takes words and passes the long ones on.
pub(super) struct LongWords<'a, S>(pub(super) &'a mut S);

impl<S: for<'f> Consumer<&'f [u8]>> Consumer<&[u8]> for LongWords<'_, S> {
    #[inline]
    fn take(&mut self, word: &[u8]) {
        if word.iter().filter(|&&byte| is_start(byte)).take(SHORTEST).count() == SHORTEST {
            self.0.take(word);
        }
    }

    fn pause(&mut self) {
        self.0.pause();
    }
}

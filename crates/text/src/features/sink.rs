//! A consumer of the features of a text, in the order of the text.

use crate::hash::rabin::UNITS;

/// A consumer of features. Each feature is UTF-8.
pub(crate) trait Sink {
    /// Takes a feature.
    fn take(&mut self, feature: &[u8]);

    /// Takes at most [`BATCH`](super::BATCH) features.
    fn take_all<'a>(&mut self, features: impl ExactSizeIterator<Item = &'a [u8]>) {
        features.for_each(|feature| self.take(feature));
    }

    /// Takes a feature of `commoncrawl`. Sinks for words are never called with one.
    fn take_units(&mut self, _units: [u16; UNITS]) {}

    /// Called while text without features is read, so that the heartbeat is called.
    fn pause(&mut self);
}

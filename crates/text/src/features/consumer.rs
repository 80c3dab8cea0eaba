//! A consumer of what a text is cut into, in the order of the text.

/// A consumer of features, each of which is UTF-8 (`&[u8]`) or code units of UTF-16 (`[u16; UNITS]`), of
/// hashes of features (`u64`), or of words where they stand ([`ReadableWord`](super::words::ReadableWord)).
pub(crate) trait Consumer<Item> {
    /// Takes an item.
    fn take(&mut self, item: Item);

    /// Takes at most [`BATCH`](super::BATCH) items.
    fn take_all(&mut self, items: impl ExactSizeIterator<Item = Item>) {
        items.for_each(|item| self.take(item));
    }

    /// Called while text without items is read, so that the heartbeat is called.
    fn pause(&mut self);
}

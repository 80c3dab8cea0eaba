//! `char:k`: every k consecutive characters of a text.
//!
//! Characters are Unicode code points, taken as they stand: no case folding, no normalization. A text
//! of fewer than k characters is one feature by itself.

use super::{BATCH, Sink};

/// Passes every shingle to the sink, in the order of the text.
pub(crate) fn shingles(text: &str, k: usize, sink: &mut impl Sink) {
    if text.is_empty() {
        return;
    }
    if text.is_ascii() {
        if text.len() < k {
            return sink.take(text.as_bytes());
        }
        return ascii_shingles(text.as_bytes(), k, sink);
    }
    let bytes = text.as_bytes();
    let mut ends = boundaries(bytes).skip(k).peekable();
    if ends.peek().is_none() {
        return sink.take(bytes);
    }
    for (start, end) in boundaries(bytes).zip(ends) {
        sink.take(&bytes[start..end]);
    }
}

/// Where characters begin, and the end of the text.
pub(crate) fn boundaries(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let starts = bytes.iter().enumerate().filter(|&(_, &byte)| byte & 0xc0 != 0x80);
    starts.map(|(at, _)| at).chain([bytes.len()])
}

/// The lengths that are used most are compiled with the length known: the hash is then a few
/// instructions without a branch.
fn ascii_shingles(text: &[u8], k: usize, sink: &mut impl Sink) {
    fn known<const K: usize>(text: &[u8], sink: &mut impl Sink) {
        pieces(text, K).for_each(|piece| sink.take_all(piece.array_windows::<K>().map(<[u8; K]>::as_slice)));
    }
    match k {
        4 => known::<4>(text, sink),
        5 => known::<5>(text, sink),
        6 => known::<6>(text, sink),
        8 => known::<8>(text, sink),
        _ => pieces(text, k).for_each(|piece| sink.take_all(piece.windows(k))),
    }
}

/// Cuts text of at least k bytes into pieces with a batch of windows of k bytes each.
fn pieces(text: &[u8], k: usize) -> impl Iterator<Item = &[u8]> {
    let windows = text.len() - k + 1;
    (0..windows).step_by(BATCH).map(move |at| &text[at..text.len().min(at + BATCH + k - 1)])
}

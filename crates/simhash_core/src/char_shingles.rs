//! `char:k`: every k consecutive characters of a text, hashed as their UTF-8 bytes.
//!
//! Characters are Unicode code points, taken as they stand: no case folding, no normalization. A text
//! of fewer than k characters is one feature by itself.

use crate::batch::Batch;
use crate::distinct::BATCH;
use xxhash_rust::xxh3::xxh3_64;

/// Passes the hash of every shingle to the batch, in the order of the text.
pub(crate) fn hash_shingles(text: &str, k: usize, batch: &mut Batch<'_>) {
    if text.is_empty() {
        return;
    }
    if text.is_ascii() {
        if text.len() < k {
            return batch.push(xxh3_64(text.as_bytes()));
        }
        return hash_ascii_shingles(text.as_bytes(), k, batch);
    }
    let bytes = text.as_bytes();
    let mut ends = boundaries(bytes).skip(k).peekable();
    if ends.peek().is_none() {
        return batch.push(xxh3_64(bytes));
    }
    for (start, end) in boundaries(bytes).zip(ends) {
        batch.push(xxh3_64(&bytes[start..end]));
    }
}

/// Where characters begin, and the end of the text.
fn boundaries(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let starts = bytes.iter().enumerate().filter(|&(_, &byte)| byte & 0xc0 != 0x80);
    starts.map(|(at, _)| at).chain([bytes.len()])
}

/// The lengths that are used most are compiled with the length known: the hash is then a few
/// instructions without a branch.
fn hash_ascii_shingles(text: &[u8], k: usize, batch: &mut Batch<'_>) {
    fn known<const K: usize>(text: &[u8], batch: &mut Batch<'_>) {
        for piece in pieces(text, K) {
            batch.extend(piece.array_windows::<K>().map(|shingle| xxh3_64(shingle)));
        }
    }
    match k {
        4 => known::<4>(text, batch),
        5 => known::<5>(text, batch),
        6 => known::<6>(text, batch),
        8 => known::<8>(text, batch),
        _ => pieces(text, k).for_each(|piece| batch.extend(piece.windows(k).map(xxh3_64))),
    }
}

/// Cuts text of at least k bytes into pieces with a batch of windows of k bytes each.
fn pieces(text: &[u8], k: usize) -> impl Iterator<Item = &[u8]> {
    let windows = text.len() - k + 1;
    (0..windows).step_by(BATCH).map(move |at| &text[at..text.len().min(at + BATCH + k - 1)])
}

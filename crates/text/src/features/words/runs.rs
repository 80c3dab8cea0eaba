//! Runs of text between ASCII white space, and pieces of several runs.

use super::ascii::{WINDOW, beyond_ascii};
use crate::features::addresses::UUID_LENGTH;

/// The largest number of bytes of a run.
pub(super) const MAX_RUN: usize = 16 * 1024;

/// A window that has more OTHER bytes than this after folding, as in Hebrew, is not cut by masks either: its
/// runs are faster in one piece. A piece of other text ends before a window that has no more bytes beyond
/// ASCII than this.
pub(super) const NOT_FOLDED: u32 = 14;

/// The most bytes of a piece of several runs, whose words fit into the processor's first cache.
pub(super) const PIECE: usize = 1024;

/// Whether the byte is a tab, line feed, vertical tab, form feed, carriage return or blank.
fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Whether a run has punctuation inside that every address has unless it is a UUID, or is long enough for
/// one.
pub(super) fn may_have_address(run: &str) -> bool {
    let before_end = &run.as_bytes()[..run.len() - 1];
    run.len() >= UUID_LENGTH || before_end.iter().any(|byte| b"/.@:".contains(byte))
}

/// The next run of the text, and the text after it.
pub(super) fn next_run(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let start = bytes.iter().position(|&byte| !is_space(byte))?;
    let most = bytes.len().min(start + MAX_RUN);
    let length = bytes[start..most].iter().position(|&byte| is_space(byte));
    let end = length.map_or_else(|| text.floor_char_boundary(most), |length| start + length);
    Some((&text[start..end], &text[end..]))
}

/// Cuts off a piece of whole runs with the blank after it, unless the first run is too long. After the first
/// window, the piece ends where the text is nearly all ASCII, since masks are faster there.
pub(super) fn split_piece(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let (windows, _) = bytes[..bytes.len().min(PIECE)].as_chunks::<WINDOW>();
    let is_foreign = |window: &&[u8; WINDOW]| beyond_ascii(window).count_ones() > NOT_FOLDED;
    let foreign = 1 + windows.iter().skip(1).take_while(is_foreign).count();
    let length = if foreign == windows.len() { PIECE } else { foreign * WINDOW };
    if bytes.len() <= length {
        return Some((text, ""));
    }
    let last_blank = bytes[..length].iter().rposition(|&byte| is_space(byte))?;
    Some(text.split_at(last_blank + 1))
}

//! Memory for words, which is reserved before the loops that write them; and the cutting of text into pieces.

use super::ascii::{WINDOW, beyond_ascii};
use super::machine::GROWTH;
use super::runs::{SPACE, class};
use super::{NOT_FOLDED, PIECE, Words};
use base::{OutOfMemory, grow, grow_text};

/// Bytes behind the words of a text that may be written temporarily.
const SLACK: usize = 256;

impl Words {
    /// Reserves memory for the words of a text of this length, including bytes that are written temporarily.
    #[inline(always)]
    pub(super) fn make_room(&mut self, length: usize) -> Result<(), OutOfMemory> {
        let bytes = GROWTH * length + SLACK;
        let is_enough = self.text.capacity() - self.text.len() >= bytes
            && self.starts.capacity() - self.starts.len() >= bytes / 8
            && self.normalized.capacity() >= bytes;
        if is_enough { Ok(()) } else { self.grow(length, bytes) }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, length: usize, bytes: usize) -> Result<(), OutOfMemory> {
        grow(&mut self.text, bytes)?;
        grow(&mut self.starts, bytes / 8)?;
        self.machine.make_room(length)?;
        self.normalized.clear();
        grow_text(&mut self.normalized, bytes)
    }
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
    let last_blank = bytes[..length].iter().rposition(|&byte| class(byte) == SPACE)?;
    Some(text.split_at(last_blank + 1))
}

//! Moves over the characters of a text in UTF-8.

use crate::features::chars::is_start;

#[cfg(test)]
thread_local! {
    /// The number of bytes in which characters were counted. Tests use it to measure work.
    pub(super) static COUNTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Whether a character begins at this byte, or the text ends there.
pub(super) fn is_boundary(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|&byte| is_start(byte))
}

/// The number of characters that begin in the text.
pub(super) fn count(text: &[u8]) -> usize {
    #[cfg(test)]
    COUNTED.set(COUNTED.get() + text.len());
    text.iter().filter(|&&byte| is_start(byte)).count()
}

/// The place after `characters` characters, or the end of the text. A character must begin at `at`.
///
/// As many bytes as characters are examined first. If some characters are long, these bytes have fewer
/// characters, and the rest is searched for.
pub(super) fn forward(text: &[u8], mut at: usize, mut characters: usize) -> usize {
    while characters > 0 && at < text.len() {
        let end = (at + characters).min(text.len());
        characters -= count(&text[at..end]);
        at = end;
    }
    while !is_boundary(text, at) {
        at += 1;
    }
    at
}

/// The place `characters` characters before, or the beginning of the text. A character must begin, or the
/// text must end, at `at`.
pub(super) fn back(text: &[u8], mut at: usize, mut characters: usize) -> usize {
    while characters > 0 && at > 0 {
        let start = at.saturating_sub(characters);
        characters -= count(&text[start..at]);
        at = start;
    }
    at
}

/// A place in characters and in bytes, which only moves forward.
#[derive(Clone, Copy)]
pub(super) struct CharacterCursor {
    characters: usize,
    byte: usize,
}

impl CharacterCursor {
    /// A cursor at the beginning of a document.
    pub(super) fn new(byte: usize) -> Self {
        Self { characters: 0, byte }
    }

    /// Moves to this character of the document, and returns the place of its byte.
    pub(super) fn advance(&mut self, text: &[u8], characters: usize) -> usize {
        self.byte = forward(text, self.byte, characters - self.characters);
        self.characters = characters;
        self.byte
    }
}

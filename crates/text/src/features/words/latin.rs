//! Handles characters beyond ASCII in a window that has few of them: accented letters, quotes, dashes.

use super::ascii::{DIGIT, JOINER, LETTER, MID_EITHER, NONE, OTHER, Window, WindowBytes, bits};
use super::table::{Entry, class, entry};
use super::utf8::{DecodedCharacter, decode, encode, next_letter};
use wide::u8x16;

/// The flags of characters that may be in words.
const FLAGS: u32 = Entry::ALPHANUMERIC | Entry::LETTER | Entry::WORD_CHARACTER;
/// The number of bytes of a single quote, ‘ or ’, which joins as an apostrophe does.
const QUOTE: usize = 3;

impl Window<'_> {
    /// This window in lower case, with the classes of the characters beyond ASCII before `end`.
    ///
    /// A character remains OTHER, so that its run is left to the caller, if its normal form has another
    /// length or may depend on its neighbours, or if windows have no mask for its class.
    #[inline(never)]
    pub(super) fn fold<'a>(&self, end: usize, folded: &'a mut WindowBytes) -> Window<'a> {
        *folded = *self.bytes;
        folded.make_ascii_lowercase();
        let mut letters = self.mask(LETTER);
        let mut others = 0;
        let mut quotes = 0;
        let mut rest = self.other() & bits(0..end);
        while rest != 0 {
            let at = rest.trailing_zeros() as usize;
            let (class, length) = fold_character(&mut folded[at..]);
            let place = bits(at..at + length);
            rest &= !place;
            match class {
                LETTER => letters |= place,
                MID_EITHER => quotes |= 1 << at,
                NONE => (),
                _ => others |= place,
            }
        }
        let between = |mask: u64| mask << 1 & mask >> QUOTE;
        let joins = quotes & (between(letters) | between(self.mask(DIGIT)));
        let mut masks = self.masks;
        masks[usize::from(LETTER)] = letters;
        masks[usize::from(JOINER)] |= joins | joins << 1 | joins << 2;
        masks[usize::from(OTHER)] = others;
        Window { bytes: folded, masks, to_lower_case: u8x16::ZERO }
    }
}

/// Replaces the first character by its normal form, if that has the same length. Returns its class and its
/// length.
#[inline(always)]
fn fold_character(text: &mut [u8]) -> (u8, usize) {
    if let Some((utf8, length)) = next_letter(text) {
        // A letter of three bytes is its own normal form.
        if length == 2 {
            text[..2].copy_from_slice(&utf8.to_le_bytes()[..2]);
        }
        return (LETTER, length);
    }
    fold_other(text)
}

/// The same for any character.
#[inline(never)]
fn fold_other(text: &mut [u8]) -> (u8, usize) {
    let Some(DecodedCharacter { code_point, utf8, length }) = decode(text).filter(|_| !text[0].is_ascii())
    else {
        return (OTHER, 1);
    };
    let entry = entry(code_point);
    let mut put_letters = |form: &[u8]| {
        if form.len() != length {
            return OTHER;
        }
        text[..length].copy_from_slice(form);
        LETTER
    };
    let class = match entry.class() {
        class::SPACE => NONE,
        // Control characters up to U+009F are invisible in prose.
        class::OTHER if !entry.has(FLAGS) && code_point > 0x9f => NONE,
        class::MID_EITHER if entry.is_plain() && length == QUOTE => MID_EITHER,
        class::LETTER if entry.low_half() & !Entry::CHANGED == Entry::PLAIN_LETTER => {
            let (utf8, length) =
                if entry.has(Entry::CHANGED) { encode(entry.value()) } else { (utf8, length) };
            put_letters(&utf8.to_le_bytes()[..length])
        }
        class::SEVERAL => match entry.normal_form().as_bytes() {
            b"..." => NONE,
            form if form.iter().all(u8::is_ascii_lowercase) => put_letters(form),
            _ => OTHER,
        },
        _ => OTHER,
    };
    (class, length)
}

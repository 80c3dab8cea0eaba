//! A table with everything that one pass over a text needs to know of a code point.
//!
//! `table/generate.rs` makes `table.bin` from the pinned Unicode crates; a test makes it again and compares.
//! It consists of the number of leaves (u16), an index from the code point divided by 64 to its leaf (u16
//! each), the leaves (64 entries of u32 each), and the normal forms of more than one character, each after
//! its length in bytes (u8). Numbers are little-endian.

#[cfg(test)]
mod generate;

/// Classes of characters: the values of Word_Break (UAX #29) that matter after normalization, and three other
/// classes. Line ends and white space separate words before the rules apply, and format characters behave
/// like marks.
pub(super) mod class {
    pub(crate) const OTHER: u8 = 0;
    /// ALetter: a letter of an alphabet.
    pub(crate) const LETTER: u8 = 1;
    /// Hebrew_Letter, which may have quotes inside of words.
    pub(crate) const HEBREW: u8 = 2;
    pub(crate) const NUMERIC: u8 = 3;
    pub(crate) const KATAKANA: u8 = 4;
    /// ExtendNumLet: underscores, which join whatever is on both sides.
    pub(crate) const JOINER: u8 = 5;
    /// MidLetter: joins two letters, such as a colon.
    pub(crate) const MID_LETTER: u8 = 6;
    /// MidNum: joins two digits, such as a comma.
    pub(crate) const MID_NUMBER: u8 = 7;
    /// MidNumLet: joins two letters or two digits, such as a full stop.
    pub(crate) const MID_EITHER: u8 = 8;
    /// Single_Quote: the apostrophe; as MidNumLet, and may end a Hebrew word.
    pub(crate) const SINGLE_QUOTE: u8 = 9;
    /// Double_Quote: joins two Hebrew letters.
    pub(crate) const DOUBLE_QUOTE: u8 = 10;
    /// Extend, Format and ZWJ: belongs to the character before.
    pub(crate) const MARK: u8 = 11;
    /// Regional_Indicator: two of them are a flag.
    pub(crate) const REGIONAL: u8 = 12;
    /// White space of any kind.
    pub(crate) const SPACE: u8 = 13;
    /// The normal form has several characters or none; see [`Entry::normal_form`](super::Entry::normal_form).
    pub(crate) const SEVERAL: u8 = 14;
    /// The normal form depends on the characters around.
    pub(crate) const DEPENDS: u8 = 15;
}

/// The properties of a code point.
///
/// Bits 0 to 3 are the class of the normal form, bits 4 to 7 flags, bits 8 to 15 the canonical combining
/// class. Bits 16 to 31 are the normal form if [`CHANGED`](Self::CHANGED), its place if it has several
/// characters, and otherwise 0, so that leaves are equal and stored once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry(pub(super) u32);

impl Entry {
    /// Alphabetic or numeric. A word needs one such character.
    pub(super) const ALPHANUMERIC: u32 = 1 << 4;
    /// General category L. A word of prose needs one such character.
    pub(super) const LETTER: u32 = 1 << 5;
    /// General category L, M or N. Words of prose consist of such characters.
    pub(super) const WORD_CHARACTER: u32 = 1 << 6;
    /// The normal form is another character; for a mark: it may compose with the character before it.
    pub(super) const CHANGED: u32 = 1 << 7;
    const COMBINING_CLASS: u32 = 0xff << 8;
    const FLAGS_OF_LETTERS: u32 = Self::ALPHANUMERIC | Self::LETTER | Self::WORD_CHARACTER;
    /// The low half of the entry of an alphabetic letter that is its own normal form.
    pub(super) const PLAIN_LETTER: u32 = class::LETTER as u32 | Self::FLAGS_OF_LETTERS;
    /// The low half of the entry of an ideograph: a letter that is a word by itself, and its own normal form.
    pub(super) const PLAIN_IDEOGRAPH: u32 = class::OTHER as u32 | Self::FLAGS_OF_LETTERS;

    pub(super) const fn class(self) -> u8 {
        (self.0 & 15) as u8
    }

    /// Whether it has one of the flags.
    pub(super) const fn has(self, flags: u32) -> bool {
        self.0 & flags != 0
    }

    /// The canonical combining class, shifted; such values can only be compared.
    pub(super) const fn combining_class(self) -> u32 {
        self.0 & Self::COMBINING_CLASS
    }

    /// Class, flags and combining class.
    pub(super) const fn low_half(self) -> u32 {
        self.0 & 0xffff
    }

    pub(super) const fn value(self) -> u32 {
        self.0 >> 16
    }

    /// Whether the character is always its own normal form, whatever its neighbours are.
    pub(super) const fn is_plain(self) -> bool {
        !self.has(Self::CHANGED | Self::COMBINING_CLASS) && self.class() < class::SEVERAL
    }

    /// The normal form of a character that has [`class::SEVERAL`].
    pub(super) fn normal_form(self) -> &'static str {
        let at = self.value() as usize;
        let length = usize::from(NORMAL_FORMS[at]);
        std::str::from_utf8(&NORMAL_FORMS[at + 1..at + 1 + length]).unwrap_or_default()
    }
}

const FILE: &[u8] = include_bytes!("../table.bin");
/// The number of code points in a leaf.
const LEAF: usize = 64;
const INDEXED: usize = 0x11_0000 / LEAF;
const LEAVES: usize = read_u16(0) as usize;
const LEAVES_AT: usize = 2 + 2 * INDEXED;
static NORMAL_FORMS: &[u8] = FILE.split_at(LEAVES_AT + 4 * LEAF * LEAVES).1;

static INDEX: [u16; INDEXED] = {
    let mut index = [0; INDEXED];
    let mut at = 0;
    while at < INDEXED {
        index[at] = read_u16(2 + 2 * at);
        at += 1;
    }
    index
};

static ENTRIES: [[Entry; LEAF]; LEAVES] = {
    let mut entries = [[Entry(0); LEAF]; LEAVES];
    let mut at = 0;
    while at < LEAF * LEAVES {
        let place = LEAVES_AT + 4 * at;
        entries[at / LEAF][at % LEAF] = Entry(read_u16(place) as u32 | (read_u16(place + 2) as u32) << 16);
        at += 1;
    }
    entries
};

const fn read_u16(at: usize) -> u16 {
    u16::from_le_bytes([FILE[at], FILE[at + 1]])
}

/// The entry of a code point.
#[inline(always)]
pub(super) const fn entry(code_point: u32) -> Entry {
    ENTRIES[INDEX[code_point as usize / LEAF] as usize][code_point as usize % LEAF]
}

/// The entries of the code points below U+0800, whose UTF-8 has at most two bytes. Their value is the UTF-8
/// of the normal form, if that also has two bytes, or one byte for an ASCII character. They do not have the
/// flag CHANGED, so that a text is folded without a branch.
pub(super) static SHORT: [Entry; 0x800] = {
    let mut short = [Entry(0); 0x800];
    let mut code_point = 0;
    while code_point < 0x800 {
        short[code_point as usize] = short_entry(code_point);
        code_point += 1;
    }
    short
};

const fn short_entry(code_point: u32) -> Entry {
    let entry = entry(code_point);
    if entry.class() >= class::SEVERAL {
        return entry;
    }
    let normal = if entry.has(Entry::CHANGED) { entry.value() } else { code_point };
    let utf8 = match (code_point, normal) {
        (0..0x80, 0..0x80) => normal,
        (0x80.., 0x80..0x800) => (0xc0 | normal >> 6) | (0x80 | normal & 0x3f) << 8,
        _ => return entry,
    };
    Entry((entry.low_half() & !Entry::CHANGED) | utf8 << 16)
}

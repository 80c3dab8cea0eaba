//! Codes in one contiguous array, for algorithms that compare many of them.

use super::{Code, CodeType, CodeValue};
use crate::error;
use crate::report::SqlError;
use base::{grow, reserve};
use hamming::code::{CodeCutter, CodeSlice, check_width};
use hamming::cut_table::CutTable;

/// Codes of one length: the length of the first code.
///
/// A list has either whole codes, and longer ones than [`check_width`] allows are an error, or the first bits
/// of such codes.
pub struct CodeList {
    /// The type of the codes.
    pub type_: CodeType,
    /// How many codes to reserve memory for.
    expected: usize,
    words: Vec<u64>,
    /// For bit strings: their number of bits, set by the first one.
    length: Option<u32>,
    cutter: CodeCutter,
    have_whole_codes: bool,
    /// Cuts bit strings faster, if there are enough of them.
    table: Option<CutTable>,
}

/// A table is made when the list has so many times the table's words.
const LISTS_PER_TABLE: usize = 4;

impl CodeList {
    /// An empty list of whole codes, with the number of codes to reserve memory for.
    pub fn new(type_: CodeType, expected: usize) -> Self {
        Self {
            type_,
            expected,
            words: Vec::new(),
            length: None,
            cutter: CodeCutter::FINGERPRINTS,
            have_whole_codes: true,
            table: None,
        }
    }

    /// Of codes that are too long, only the first bits are kept.
    pub fn of_first_bits(type_: CodeType) -> Self {
        Self { have_whole_codes: false, ..Self::new(type_, 0) }
    }

    /// Adds a value, which must have the type of the list, and the same length as the earlier values.
    #[inline]
    pub fn push(&mut self, value: CodeValue<'_>) -> Result<(), SqlError> {
        assert_eq!(value.codes(), self.type_, "a list has codes of one type");
        match value.read() {
            Code::Integer(word, _) => {
                if self.words.capacity() == 0 {
                    reserve(&mut self.words, self.expected)?;
                }
                self.make_room(1)?;
                self.words.push(word);
            }
            Code::Bits(bits) => {
                self.expect_length(bits.length())?;
                let cutter = self.cutter;
                self.make_room(cutter.width())?;
                self.make_table(cutter)?;
                match &self.table {
                    Some(table) => {
                        let before = self.words.len();
                        self.words.resize(before + cutter.width(), 0);
                        table.cut(bits.bytes(), &mut self.words[before..]);
                    }
                    None => self.words.extend(cutter.words_of(bits.bytes())),
                }
            }
        }
        Ok(())
    }

    /// Makes a table if there are enough codes and none was made yet.
    fn make_table(&mut self, cutter: CodeCutter) -> Result<(), SqlError> {
        if self.table.is_none()
            && let Some(size) = CutTable::size(cutter)
            && self.words.len() >= LISTS_PER_TABLE * size
        {
            self.table = Some(CutTable::new(cutter, size)?);
        }
        Ok(())
    }

    /// Adds a code from another list with codes of the same length.
    pub fn push_words(&mut self, code: &[u64]) -> Result<(), SqlError> {
        self.make_room(code.len())?;
        self.words.extend_from_slice(code);
        Ok(())
    }

    /// From now on, accepts only codes of this length.
    pub fn expect_length(&mut self, length: u32) -> Result<(), SqlError> {
        match self.length {
            _ if self.type_.is_integer() => {}
            Some(expected) if expected != length => {
                return Err(error::bits_differ_in_length(expected, length));
            }
            Some(_) => {}
            None => {
                if self.have_whole_codes {
                    check_width(length)?;
                }
                self.cutter = CodeCutter::new(length);
                reserve(&mut self.words, self.expected.saturating_mul(self.cutter.width()))?;
                self.length = Some(length);
            }
        }
        Ok(())
    }

    /// Reserves memory for words, also if there are more codes than expected.
    #[inline]
    fn make_room(&mut self, words: usize) -> Result<(), SqlError> {
        if self.words.capacity() - self.words.len() < words {
            grow(&mut self.words, words)?;
        }
        Ok(())
    }

    /// Raises the error of `hamming` if both lists have codes, and their lengths differ.
    pub fn check_length(&self, others: &Self) -> Result<(), SqlError> {
        match (self.bits(), others.bits()) {
            (Some(bits), Some(of_others)) if bits != of_others && !self.is_empty() && !others.is_empty() => {
                Err(error::bits_differ_in_length(bits, of_others))
            }
            _ => Ok(()),
        }
    }

    /// Whether there are no codes.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Bytes of memory that the codes take.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.words[..])
    }

    /// Removes all codes. Later codes must have the same length.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// All codes.
    pub fn codes(&self) -> CodeSlice<'_> {
        CodeSlice::new(&self.words, self.cutter.width())
    }

    /// The number of bits of each code, if it is known.
    pub fn bits(&self) -> Option<u32> {
        self.type_.kind().bits.or(self.length)
    }
}

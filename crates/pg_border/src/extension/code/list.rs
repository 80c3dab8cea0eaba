//! Codes in one contiguous array, for algorithms that compare many of them.

use super::{Code, CodeType, CodeValue};
use crate::error;
use crate::report::SqlError;
use base::{grow, reserve};
use hamming::code::{CodeCutter, CodeSlice, check_width};
use hamming::cut_table::CutTable;

/// Reads the words of codes of one length: the length of the first code.
///
/// A reader reads either whole codes, and longer ones than [`check_width`] allows are an error, or the first
/// bits of such codes.
pub struct CodeReader {
    /// The type of the codes.
    type_: CodeType,
    /// For bit strings: their number of bits, set by the first one.
    length: Option<u32>,
    cutter: CodeCutter,
    reads_whole_codes: bool,
    /// How many words of bit strings were read without a table.
    read: usize,
    /// Cuts bit strings faster, if there are enough of them.
    table: Option<CutTable>,
}

/// A table is made when so many times the table's words have been read.
const READ_PER_TABLE: usize = 4;

impl CodeReader {
    /// A reader of whole codes.
    pub fn new(type_: CodeType) -> Self {
        Self {
            type_,
            length: None,
            cutter: CodeCutter::FINGERPRINTS,
            reads_whole_codes: true,
            read: 0,
            table: None,
        }
    }

    /// Of codes that are too long, only the first bits are read.
    pub fn of_first_bits(type_: CodeType) -> Self {
        Self { reads_whole_codes: false, ..Self::new(type_) }
    }

    /// A reader of codes like these, of which it has not read any.
    pub fn of_same_codes(&self) -> Self {
        Self { reads_whole_codes: self.reads_whole_codes, ..Self::new(self.type_) }
    }

    /// Adds the words of a value, which must have the type of the reader, and the same length as the earlier
    /// values. An error adds nothing.
    #[inline]
    pub fn read(&mut self, value: CodeValue<'_>, words: &mut Vec<u64>) -> Result<(), SqlError> {
        assert_eq!(value.codes(), self.type_, "a reader reads codes of one type");
        match value.read() {
            Code::Integer(word, _) => {
                make_room(words, 1)?;
                words.push(word);
            }
            Code::Bits(bits) => {
                self.expect_length(bits.length())?;
                let width = self.cutter.width();
                make_room(words, width)?;
                self.make_table()?;
                match &self.table {
                    Some(table) => {
                        let before = words.len();
                        words.resize(before + width, 0);
                        table.cut(bits.bytes(), &mut words[before..]);
                    }
                    None => {
                        words.extend(self.cutter.words_of(bits.bytes()));
                        self.read += width;
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes a table if enough codes were read and none was made yet.
    fn make_table(&mut self) -> Result<(), SqlError> {
        if self.table.is_none()
            && let Some(size) = CutTable::size(self.cutter)
            && self.read >= READ_PER_TABLE * size
        {
            self.table = Some(CutTable::new(self.cutter, size)?);
        }
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
                if self.reads_whole_codes {
                    check_width(length)?;
                }
                self.cutter = CodeCutter::new(length);
                self.length = Some(length);
            }
        }
        Ok(())
    }

    /// Raises the error of `hamming` if the lengths of codes that both have read differ.
    pub fn check_length(&self, other: &Self) -> Result<(), SqlError> {
        match (self.bits(), other.bits()) {
            (Some(bits), Some(of_other)) if bits != of_other => {
                Err(error::bits_differ_in_length(bits, of_other))
            }
            _ => Ok(()),
        }
    }

    /// The number of bits of each code, if it is known.
    pub fn bits(&self) -> Option<u32> {
        self.type_.kind().bits.or(self.length)
    }

    /// The number of words of each code.
    pub fn width(&self) -> usize {
        self.cutter.width()
    }
}

/// Reserves memory for words, if there is no room for them.
#[inline]
fn make_room(words: &mut Vec<u64>, more: usize) -> Result<(), SqlError> {
    if words.capacity() - words.len() < more {
        grow(words, more)?;
    }
    Ok(())
}

/// Whole codes of one type and length.
pub struct CodeList {
    reader: CodeReader,
    /// How many codes to reserve memory for.
    expected: usize,
    words: Vec<u64>,
}

impl CodeList {
    /// An empty list, with the number of codes to reserve memory for.
    pub fn new(type_: CodeType, expected: usize) -> Self {
        Self { reader: CodeReader::new(type_), expected, words: Vec::new() }
    }

    /// Adds a value, which must have the type of the list, and the same length as the earlier values.
    pub fn push(&mut self, value: CodeValue<'_>) -> Result<(), SqlError> {
        let is_first = self.words.capacity() == 0;
        self.reader.read(value, &mut self.words)?;
        if is_first {
            let others = self.expected.saturating_sub(1);
            reserve(&mut self.words, others.saturating_mul(self.reader.width()))?;
        }
        Ok(())
    }

    /// Removes all codes. Later codes must have the same length.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// All codes.
    pub fn codes(&self) -> CodeSlice<'_> {
        CodeSlice::new(&self.words, self.reader.width())
    }

    /// The number of bits of each code, if it is known.
    pub fn bits(&self) -> Option<u32> {
        self.reader.bits()
    }
}

//! A summary of the rows of a side, by which the division of the side is planned.

use super::file::RowFile;
use super::record::{RecordFormat, RecordNumber};
use crate::pg::report::SqlError;
use base::{OutOfMemory, collect, extend};
use hamming::code::CodeCutter;

/// A summary of rows that were written to a file.
#[derive(Clone, Default)]
pub(crate) struct SideSummary {
    /// How many rows have codes.
    pub(crate) coded: u64,
    /// Bytes that the rows would take in memory.
    pub(crate) bytes: u64,
    /// The length of the codes of each condition in bits; 0 if there are no codes.
    pub(crate) lengths: Vec<u32>,
    /// The code of the first row.
    first: Vec<u64>,
    /// The bits in which codes differ from the first code.
    pub(crate) varying: Vec<u64>,
}

impl SideSummary {
    /// Notes the code of a row.
    pub(crate) fn note(&mut self, code: &[u64]) -> Result<(), OutOfMemory> {
        self.coded += 1;
        if self.first.is_empty() {
            self.first = collect(code.iter().copied(), code.len())?;
            self.varying = collect(code.iter().map(|_| 0), code.len())?;
        }
        for ((varying, first), word) in self.varying.iter_mut().zip(&self.first).zip(code) {
            *varying |= first ^ word;
        }
        Ok(())
    }

    /// Words of the codes of a row; 0 if there are no codes.
    pub(crate) fn words_of_codes(&self) -> usize {
        let widths = self.lengths.iter().map(|&length| CodeCutter::new(length).width());
        if self.coded == 0 { 0 } else { widths.sum() }
    }

    /// Writes the summary to a file that other processes can read.
    pub(crate) fn write(&self, mut file: RowFile) -> Result<(), SqlError> {
        let mut words = Vec::new();
        let lengths = self.lengths.iter().map(|&length| length.into());
        let lengths: Vec<u64> = collect(lengths, self.lengths.len())?;
        for part in
            [&[self.coded, self.bytes, lengths.len() as u64], &lengths[..], &self.first, &self.varying]
        {
            extend(&mut words, part)?;
        }
        file.write(&[RecordFormat::head(RecordNumber(0), false), words.len() as u64])?;
        file.write(&words)?;
        file.export()
    }

    /// Reads the summary that another process has written.
    pub(crate) fn read(mut file: RowFile) -> Result<Self, SqlError> {
        let (format, mut summary) =
            (RecordFormat { codes: 0, columns: None, numbered: true }, Self::default());
        file.read_from(0)?;
        while file.read_block(format, |record| {
            summary = Self::of_words(record.columns)?;
            Ok(())
        })? {}
        Ok(summary)
    }

    fn of_words(words: &[u64]) -> Result<Self, OutOfMemory> {
        let &[coded, bytes, lengths, ref rest @ ..] = words else { return Ok(Self::default()) };
        let (lengths, codes) = rest.split_at(lengths as usize);
        let lengths = collect(lengths.iter().map(|&length| length as u32), lengths.len())?;
        let (first, varying) = codes.split_at(codes.len() / 2);
        let copy = |words: &[u64]| collect(words.iter().copied(), words.len());
        Ok(Self { coded, bytes, lengths, first: copy(first)?, varying: copy(varying)? })
    }

    /// Adds the summary of other rows.
    pub(crate) fn add(&mut self, other: Self) {
        if self.first.len() != other.first.len() {
            let kept = if self.first.is_empty() { other } else { return };
            *self = Self { coded: self.coded + kept.coded, bytes: self.bytes + kept.bytes, ..kept };
            return;
        }
        self.coded += other.coded;
        self.bytes += other.bytes;
        self.varying = Self::varying_of([self, &other]);
    }

    /// The bits in which not all codes of the two sides are equal. All codes have the same length.
    pub(crate) fn varying_of([one, other]: [&Self; 2]) -> Vec<u64> {
        let varying = one.varying.iter().zip(&other.varying);
        let firsts = one.first.iter().zip(&other.first);
        // Bounded: a code.
        varying.zip(firsts).map(|((a, b), (first, other))| a | b | first ^ other).collect()
    }
}

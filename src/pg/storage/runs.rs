//! Sorted runs of keys in temporary files, for building an index that does not fit into memory.
//!
//! The files are gone at the end of the transaction and count towards `temp_file_limit`.

use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report;
use hamming_index::build::Runs;
use hamming_index::key::{Filter, IndexKey, RowId};
use limits::reserve;
use pgrx::pg_sys;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::ErrorReportable;

/// Bytes of a key in a file: its bits, its row, and its filter.
const KEY: usize = 18;
const ROW: std::ops::Range<usize> = 8..14;
/// Keys that are read or written together.
const AT_A_TIME: usize = 4096;
/// Keys that are read together where the buffers of all runs would be too large: what Postgres reads at once.
const LEAST_AT_A_TIME: usize = 512;

/// Makes temporary files, one for each run.
pub(crate) struct RunFiles {
    /// Bytes that the buffers of all runs may take together while runs are read.
    memory: usize,
    /// Runs that have been written.
    runs: usize,
}

/// A run in its file.
pub(crate) struct SortedRun {
    file: *mut pg_sys::BufFile,
    /// Keys that are still in the file.
    left: usize,
    /// Keys that have been read, the next one last.
    buffer: Vec<[u8; KEY]>,
}

impl RunFiles {
    /// `memory` is in bytes.
    pub(crate) fn new(memory: usize) -> Self {
        Self { memory, runs: 0 }
    }
}

impl Runs for RunFiles {
    type Run = SortedRun;

    fn write(&mut self, mut keys: &mut dyn Iterator<Item = IndexKey>) -> SortedRun {
        // SAFETY: a file of this transaction, written and rewound.
        unsafe {
            let file = pg_sys::BufFileCreateTemp(false);
            let mut left = 0;
            let mut buffer: Vec<[u8; KEY]> = Vec::new();
            reserve(&mut buffer, AT_A_TIME).map_err(report::problem).unwrap_or_report();
            loop {
                check_for_interrupts();
                buffer.clear();
                buffer.extend((&mut keys).take(AT_A_TIME).map(to_bytes));
                if buffer.is_empty() {
                    break;
                }
                left += buffer.len();
                pg_sys::BufFileWrite(file, buffer.as_mut_ptr().cast(), buffer.len() * KEY);
            }
            if pg_sys::BufFileSeek(file, 0, 0, SEEK_SET) != 0 {
                Err(temporary_file()).unwrap_or_report()
            }
            self.runs += 1;
            SortedRun { file, left, buffer: Vec::new() }
        }
    }

    fn read(&mut self, run: &mut SortedRun) -> Option<IndexKey> {
        if run.buffer.is_empty() {
            run.fill((self.memory / KEY / self.runs.max(1)).clamp(LEAST_AT_A_TIME, AT_A_TIME));
        }
        run.buffer.pop().map(from_bytes)
    }

    fn check_for_interrupts(&self) {
        check_for_interrupts();
    }
}

/// Of the C library: the same number on every platform.
const SEEK_SET: i32 = 0;

impl SortedRun {
    /// Reads the next keys into the empty buffer.
    fn fill(&mut self, at_a_time: usize) {
        let count = self.left.min(at_a_time);
        if count == 0 {
            return;
        }
        reserve(&mut self.buffer, count).map_err(report::problem).unwrap_or_report();
        self.buffer.resize(count, [0; KEY]);
        // SAFETY: the buffer has `count` keys.
        let read = unsafe { pg_sys::BufFileRead(self.file, self.buffer.as_mut_ptr().cast(), count * KEY) };
        if read != count * KEY {
            Err(temporary_file()).unwrap_or_report()
        }
        self.buffer.reverse();
        self.left -= count;
    }
}

impl Drop for SortedRun {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: made by us and closed nowhere else.
            unsafe { pg_sys::BufFileClose(self.file) };
        }
    }
}

fn to_bytes(key: IndexKey) -> [u8; KEY] {
    let mut bytes = [0; KEY];
    bytes[..ROW.start].copy_from_slice(&key.bits.to_le_bytes());
    bytes[ROW].copy_from_slice(&key.row.number().to_le_bytes()[..ROW.len()]);
    bytes[ROW.end..].copy_from_slice(&key.filter.number().to_le_bytes());
    bytes
}

fn from_bytes(bytes: [u8; KEY]) -> IndexKey {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    IndexKey {
        filter: Filter::from_number(number(&bytes[ROW.end..]) as u32),
        bits: number(&bytes[..ROW.start]),
        row: RowId::from_number(number(&bytes[ROW])),
    }
}

fn temporary_file() -> report::SqlError {
    report::report(Code::ERRCODE_INTERNAL_ERROR, "a temporary file ended before its time")
        .set_detail("The build of the index wrote more to it than it could read back.")
}

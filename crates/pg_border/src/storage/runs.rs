//! Sorted runs of keys in temporary files, for a build of an index that does not fit into memory.
//!
//! The files are removed at the end of the transaction, and count towards `temp_file_limit`.

use crate::error::temporary_file;
use crate::interrupts::check_for_interrupts;
use crate::report::UnwrapOrReport;
use base::reserve;
use hamming_index::build::{KeyWithTail, Runs};
use hamming_index::key::{IndexKey, KEY_BYTES};
use pgrx::pg_sys;

const WORD: usize = size_of::<u64>();
/// The approximate number of bytes that are read or written at once.
const AT_A_TIME: usize = 4096 * KEY_BYTES;
/// The number of bytes to read at once if larger buffers for all runs would need too much memory: the size in
/// which PostgreSQL reads.
const LEAST_AT_A_TIME: usize = 512 * KEY_BYTES;

/// Makes temporary files, one for each run.
pub struct RunFiles {
    /// Bytes that the buffers of all runs may use together during the merge.
    memory: usize,
    /// The number of runs that were written.
    runs: usize,
}

/// A run in its file.
pub struct SortedRun {
    file: *mut pg_sys::BufFile,
    /// The size of an entry in bytes: a key, and the words of its tail.
    entry: usize,
    /// The number of entries that have not been read from the file.
    left: usize,
    /// Entries that have been read. Those before `next` have been returned.
    buffer: Vec<u8>,
    next: usize,
}

impl RunFiles {
    /// `memory` is a number of bytes.
    pub fn new(memory: usize) -> Self {
        Self { memory, runs: 0 }
    }
}

impl Runs for RunFiles {
    type Run = SortedRun;

    fn write(&mut self, tail: usize, mut entries: &mut dyn Iterator<Item = KeyWithTail<'_>>) -> SortedRun {
        let entry = KEY_BYTES + tail * WORD;
        // SAFETY: the file belongs to this transaction, and is written and then rewound.
        unsafe {
            let file = pg_sys::BufFileCreateTemp(false);
            let mut left = 0;
            let mut buffer: Vec<u8> = Vec::new();
            let at_a_time = AT_A_TIME / entry;
            reserve(&mut buffer, at_a_time * entry).unwrap_or_report();
            loop {
                check_for_interrupts();
                buffer.clear();
                for (key, tail) in (&mut entries).take(at_a_time) {
                    buffer.extend_from_slice(&key.to_bytes());
                    tail.iter().for_each(|word| buffer.extend_from_slice(&word.to_le_bytes()));
                    left += 1;
                }
                if buffer.is_empty() {
                    break;
                }
                pg_sys::BufFileWrite(file, buffer.as_mut_ptr().cast(), buffer.len());
            }
            if pg_sys::BufFileSeek(file, 0, 0, SEEK_SET) != 0 {
                Err(temporary_file()).unwrap_or_report()
            }
            self.runs += 1;
            SortedRun { file, entry, left, buffer: Vec::new(), next: 0 }
        }
    }

    fn read(&mut self, run: &mut SortedRun, tail: &mut Vec<u64>) -> Option<IndexKey> {
        if run.next == run.buffer.len() {
            run.fill((self.memory / self.runs.max(1)).clamp(LEAST_AT_A_TIME, AT_A_TIME));
        }
        let entry = run.buffer.get(run.next..run.next + run.entry)?;
        run.next += run.entry;
        let (key, words) = entry.split_first_chunk()?;
        tail.clear();
        tail.extend(words.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word))); // Bounded: a code.
        Some(IndexKey::from_bytes(key))
    }

    fn check_for_interrupts(&self) {
        check_for_interrupts();
    }
}

/// From the C library; the number is the same on every platform.
const SEEK_SET: i32 = 0;

impl SortedRun {
    /// Replaces the buffer, whose entries have been returned, by the next entries: about `at_a_time` bytes.
    fn fill(&mut self, at_a_time: usize) {
        let count = self.left.min((at_a_time / self.entry).max(1));
        let bytes = count * self.entry;
        (self.next, self.left) = (0, self.left - count);
        self.buffer.clear();
        reserve(&mut self.buffer, bytes).unwrap_or_report();
        self.buffer.resize(bytes, 0);
        // SAFETY: the buffer has this many bytes.
        let read = unsafe { pg_sys::BufFileRead(self.file, self.buffer.as_mut_ptr().cast(), bytes) };
        if read != bytes {
            Err(temporary_file()).unwrap_or_report()
        }
    }
}

impl Drop for SortedRun {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: `write` has created the file, and only this function closes it.
            unsafe { pg_sys::BufFileClose(self.file) };
        }
    }
}

//! Sorted runs in temporary files, which are gone at the end of the transaction and count towards
//! `temp_file_limit`.

use super::error;
use super::interrupts::check_for_interrupts;
use hamming_index::build::Runs;
use hamming_index::key::{Key, Row};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;

/// Bytes of a key in a file.
const KEY: usize = 16;
/// Keys that are read or written together.
const AT_A_TIME: usize = 4096;

/// Makes temporary files.
pub(crate) struct Files;

/// A run in its file.
pub(crate) struct Run {
    file: *mut pg_sys::BufFile,
    /// Keys that are still in the file.
    left: usize,
    /// Keys that have been read, the next one last.
    buffer: Vec<[u8; KEY]>,
}

impl Files {
    pub(crate) fn new() -> Self {
        Self
    }
}

impl Runs for Files {
    type Run = Run;

    fn write(&mut self, mut keys: &mut dyn Iterator<Item = Key>) -> Run {
        // SAFETY: a file of this transaction, written and rewound.
        unsafe {
            let file = pg_sys::BufFileCreateTemp(false);
            let mut left = 0;
            let mut buffer: Vec<[u8; KEY]> = Vec::with_capacity(AT_A_TIME);
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
                Err(error::temporary_file()).unwrap_or_report()
            }
            Run { file, left, buffer: Vec::new() }
        }
    }

    fn read(&mut self, run: &mut Run) -> Option<Key> {
        if run.buffer.is_empty() {
            run.fill();
        }
        run.buffer.pop().map(from_bytes)
    }

    fn check_for_interrupts(&self) {
        check_for_interrupts();
    }
}

/// Of the C library, where it is the same everywhere.
const SEEK_SET: i32 = 0;

impl Run {
    fn fill(&mut self) {
        let count = self.left.min(AT_A_TIME);
        if count == 0 {
            return;
        }
        self.buffer.resize(count, [0; KEY]);
        // SAFETY: the buffer has as many bytes as are read.
        let read = unsafe { pg_sys::BufFileRead(self.file, self.buffer.as_mut_ptr().cast(), count * KEY) };
        if read != count * KEY {
            Err(error::temporary_file()).unwrap_or_report()
        }
        self.buffer.reverse();
        self.left -= count;
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: made by us and closed nowhere else.
            unsafe { pg_sys::BufFileClose(self.file) };
        }
    }
}

fn to_bytes(key: Key) -> [u8; KEY] {
    let row = u64::from(key.row.page()) << 16 | u64::from(key.row.place());
    let mut bytes = [0; KEY];
    bytes[..8].copy_from_slice(&key.bits.to_ne_bytes());
    bytes[8..].copy_from_slice(&row.to_ne_bytes());
    bytes
}

fn from_bytes(bytes: [u8; KEY]) -> Key {
    let (bits, row) = bytes.split_at(8);
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
    let row = number(row);
    Key { bits: number(bits), row: Row::new((row >> 16) as u32, row as u16) }
}

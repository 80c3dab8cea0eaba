//! The memory that the processes of a parallel plan share for a node, in dynamic shared memory.
//!
//! It has a barrier, a set of temporary files, counters, arrays of words, and numbers that each process
//! publishes. PostgreSQL removes the files when the last process has detached, also after an error.

use crate::compat::near_join_wait_event;
use crate::report::SqlError;
use crate::temp_file::{TempFile, forget_files_of};
use pgrx::pg_sys::{self, Barrier, EState, FileSet, SharedFileSet};
use std::cell::Cell;
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// How much a node shares.
#[derive(Clone, Copy)]
pub(super) struct SharedSize {
    pub(super) counters: usize,
    pub(super) arrays: usize,
    pub(super) published: usize,
}

impl SharedSize {
    /// Words of all that follows the struct.
    fn words(self, processes: usize) -> usize {
        self.counters + self.arrays + self.published * processes
    }

    /// Bytes for this number of processes.
    pub(super) fn bytes(self, processes: usize) -> usize {
        size_of::<SharedMemory>() + self.words(processes) * size_of::<AtomicU64>()
    }
}

/// The shared memory. It is followed by the counters, the places of the arrays, of which 0 is none, and the
/// numbers of each process.
#[repr(C)]
pub(super) struct SharedMemory {
    files: SharedFileSet,
    barrier: Barrier,
    segment: pg_sys::dsm_handle,
    processes: usize,
}

const _: () = assert!(size_of::<SharedMemory>().is_multiple_of(align_of::<AtomicU64>()));

impl SharedMemory {
    /// Initializes the memory for the processes of a parallel plan.
    ///
    /// # Safety
    /// The place must have the bytes that were asked for, in the shared memory of this context.
    pub(super) unsafe fn initialize(place: *mut Self, size: SharedSize, context: &pg_sys::ParallelContext) {
        // SAFETY: as the caller promises.
        unsafe {
            let processes = context.nworkers as usize + 1;
            place.cast::<u8>().write_bytes(0, size.bytes(processes));
            (*place).processes = processes;
            (*place).segment = pg_sys::dsm_segment_handle(context.seg);
            pg_sys::SharedFileSetInit(&raw mut (*place).files, context.seg);
            pg_sys::BarrierInit(&raw mut (*place).barrier, 0);
        }
    }

    /// Resets the memory for another execution of the node, except for what was published.
    ///
    /// # Safety
    /// No other process may use the memory.
    pub(super) unsafe fn initialize_again(place: *mut Self, size: SharedSize, area: *mut pg_sys::dsa_area) {
        // SAFETY: as the caller promises.
        unsafe {
            pg_sys::SharedFileSetDeleteAll(&raw mut (*place).files);
            pg_sys::BarrierInit(&raw mut (*place).barrier, 0);
            let words =
                std::slice::from_raw_parts(place.add(1).cast::<AtomicU64>(), size.words((*place).processes));
            let (counters, rest) = words.split_at(size.counters);
            counters.iter().for_each(|counter| counter.store(0, SeqCst));
            for array in &rest[..size.arrays] {
                let array = array.swap(0, SeqCst);
                if array != 0 {
                    pg_sys::dsa_free(area, array);
                }
            }
        }
    }

    fn files(place: *mut Self) -> *mut FileSet {
        // SAFETY: the offset of a field is within the memory.
        unsafe { &raw mut (*place).files.fs }
    }
}

/// A process's access to what a node shares.
#[derive(Clone)]
pub struct SharedNode {
    place: *mut SharedMemory,
    size: SharedSize,
    process: usize,
    estate: *mut EState,
    /// Whether the memory is attached. [`SharedAccess`] ends it.
    is_attached: Rc<Cell<bool>>,
}

/// The access of a node in this process. When it is dropped, nothing can be used any more.
pub(super) struct SharedAccess(SharedNode);

impl Drop for SharedAccess {
    fn drop(&mut self) {
        self.0.is_attached.set(false);
        forget_files_of(SharedMemory::files(self.0.place));
    }
}

impl SharedAccess {
    /// # Safety
    /// The memory must have been initialized for this size, and stay attached until the result is dropped.
    pub(super) unsafe fn new(place: *mut SharedMemory, size: SharedSize, estate: *mut EState) -> Self {
        // SAFETY: PostgreSQL sets this variable when a process starts; it is -1 in the leader.
        let process = unsafe { pg_sys::ParallelWorkerNumber + 1 } as usize;
        Self(SharedNode { place, size, process, estate, is_attached: Rc::new(Cell::new(true)) })
    }

    /// Attaches a worker to the set of files.
    pub(super) fn attach_to_files(&self) {
        // SAFETY: the shared memory is a segment that this process has mapped.
        unsafe {
            let segment = pg_sys::dsm_find_mapping((*self.0.place).segment);
            pg_sys::SharedFileSetAttach(&raw mut (*self.0.place).files, segment);
        }
    }

    pub(super) fn node(&self) -> SharedNode {
        self.0.clone()
    }
}

impl SharedNode {
    /// The memory, which must be attached.
    fn place(&self) -> *mut SharedMemory {
        assert!(self.is_attached.get(), "the memory is attached as long as the plan is executed");
        self.place
    }

    /// The counters, the places of the arrays, and the numbers of all processes.
    fn words(&self) -> &[AtomicU64] {
        let place = self.place();
        // SAFETY: the memory is attached, and has as many words behind the struct.
        unsafe { std::slice::from_raw_parts(place.add(1).cast(), self.size.words((*place).processes)) }
    }

    fn barrier(&self) -> *mut Barrier {
        let place = self.place();
        // SAFETY: the memory is attached.
        unsafe { &raw mut (*place).barrier }
    }

    fn area(&self) -> *mut pg_sys::dsa_area {
        // SAFETY: the parallel plan that is being executed has an area as long as it has shared memory.
        unsafe { (*self.estate).es_query_dsa }
    }

    /// The number of processes, and the number of this one.
    pub fn processes(&self) -> usize {
        let place = self.place();
        // SAFETY: the memory is attached.
        unsafe { (*place).processes }
    }

    /// The number of this process, which is 0 for the leader.
    pub fn process(&self) -> usize {
        self.process
    }

    /// The value of a counter.
    pub fn count(&self, counter: usize) -> u64 {
        assert!(counter < self.size.counters);
        self.words()[counter].load(SeqCst)
    }

    /// Adds to a counter. Returns the value that it had before.
    pub fn add(&self, counter: usize, number: u64) -> u64 {
        assert!(counter < self.size.counters);
        self.words()[counter].fetch_add(number, SeqCst)
    }

    /// Attaches to the barrier. Returns its phase.
    pub fn attach(&self) -> i32 {
        // SAFETY: the memory is attached.
        unsafe { pg_sys::BarrierAttach(self.barrier()) }
    }

    /// Waits for the others at the barrier. Returns true in exactly one of the processes.
    pub fn wait(&self) -> bool {
        // SAFETY: the memory is attached, and so is this process to the barrier.
        unsafe { pg_sys::BarrierArriveAndWait(self.barrier(), near_join_wait_event()) }
    }

    /// Detaches from the barrier: from now on nobody waits for this process.
    pub fn detach(&self) {
        // SAFETY: the memory is attached, and so is this process to the barrier.
        unsafe { pg_sys::BarrierDetach(self.barrier()) };
    }

    /// Creates a file of this process.
    pub fn create_file(&self, name: &CStr) -> Result<TempFile, SqlError> {
        // SAFETY: the memory is attached. The files are forgotten before it is detached.
        unsafe { TempFile::create_in(SharedMemory::files(self.place()), name) }
    }

    /// The file of this name, if a process has written one.
    pub fn open_file(&self, name: &CStr) -> Result<Option<TempFile>, SqlError> {
        // SAFETY: as for `create_file`.
        unsafe { TempFile::open_in(SharedMemory::files(self.place()), name) }
    }

    /// The place of an array.
    fn array(&self, array: usize) -> &AtomicU64 {
        assert!(array < self.size.arrays);
        &self.words()[self.size.counters + array]
    }

    /// Allocates an array of so many words, which are zero. Only one process may do so.
    pub fn allocate(&self, array: usize, words: usize) {
        assert_eq!(self.array(array).load(SeqCst), 0, "an array is allocated once");
        let flags = (pg_sys::DSA_ALLOC_HUGE | pg_sys::DSA_ALLOC_ZERO) as i32;
        let bytes = (words + 1) * size_of::<u64>();
        // SAFETY: the area is alive. The first word gets the number of the others.
        let place = unsafe {
            let place = pg_sys::dsa_allocate_extended(self.area(), bytes, flags);
            pg_sys::dsa_get_address(self.area(), place).cast::<u64>().write(words as u64);
            place
        };
        self.array(array).store(place, SeqCst);
    }

    /// An array, if it was allocated.
    pub fn words_of(&self, array: usize) -> Option<SharedWords> {
        let place = self.array(array).load(SeqCst);
        if place == 0 {
            return None;
        }
        // SAFETY: the array was allocated with the number of its words in front of them.
        let words = unsafe {
            let place = pg_sys::dsa_get_address(self.area(), place).cast::<u64>();
            std::ptr::slice_from_raw_parts(place.add(1).cast(), place.read() as usize)
        };
        Some(SharedWords { words, is_attached: self.is_attached.clone() })
    }

    /// The numbers that a process has published.
    pub fn published(&self, process: usize) -> &[AtomicU64] {
        let before = self.size.counters + self.size.arrays;
        &self.words()[before + process * self.size.published..][..self.size.published]
    }
}

/// An array of words that processes share.
pub struct SharedWords {
    words: *const [AtomicU64],
    is_attached: Rc<Cell<bool>>,
}

impl SharedWords {
    #[inline]
    fn word(&self, place: usize) -> &AtomicU64 {
        assert!(self.is_attached.get(), "the memory is attached as long as the plan is executed");
        // SAFETY: the memory is attached, and so the words are alive.
        unsafe { &(&*self.words)[place] }
    }

    /// A word.
    #[inline]
    pub fn load(&self, place: usize) -> u64 {
        self.word(place).load(Relaxed)
    }

    /// Sets bits of a word. Returns the bits that it had before.
    #[inline]
    pub fn set_bits(&self, place: usize, bits: u64) -> u64 {
        self.word(place).fetch_or(bits, Relaxed)
    }
}

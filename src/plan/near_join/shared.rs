//! What the processes of a parallel plan share, in dynamic shared memory.
//!
//! Each process reads some rows of both sides, and writes them to files of its own that all can read. When
//! all have done so, each takes one task after the other. Nobody waits after that: a process that has
//! returned rows must not wait for another one, which may wait for its rows to be taken. So the rows without
//! a partner are returned by the process that ends the last task.
//!
//! PostgreSQL removes the files when the last process has left, also after an error.

use super::explain::JoinWork;
use super::file::RowFile;
use super::partners::{Partners, RowSet};
use pgrx::pg_sys::{self, Barrier, MemoryContext, SharedFileSet};
use std::ffi::CString;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

/// The phases of the barrier: some processes read their rows; or all rows are in files, and one process makes
/// the sets of rows with a partner.
const READING: i32 = 0;
const PREPARING: i32 = 1;

/// The files that a process writes.
#[derive(Clone, Copy)]
pub(super) enum SharedFile {
    /// Rows of a side.
    Rows(usize),
    /// What is known of these rows.
    Summary(usize),
}

/// What is in shared memory. Behind it, each process has what it has done.
#[repr(C)]
pub(super) struct SharedJoin {
    files: SharedFileSet,
    barrier: Barrier,
    segment: pg_sys::dsm_handle,
    processes: usize,
    /// The rows of both sides.
    rows: [AtomicU64; 2],
    next_task: AtomicU64,
    ended_tasks: AtomicU64,
    /// Where the sets of rows with a partner are; 0 if there is none.
    partners: [AtomicU64; 2],
}

impl SharedJoin {
    /// Bytes for so many processes.
    pub(super) fn bytes(processes: usize) -> usize {
        size_of::<Self>() + processes * size_of::<[AtomicU64; JoinWork::COUNT]>()
    }

    /// Makes it, for the processes of a parallel plan.
    ///
    /// # Safety
    /// The place must be one of the context, with room for so many processes.
    pub(super) unsafe fn initialize(place: *mut Self, context: &pg_sys::ParallelContext) {
        // SAFETY: as the caller promises.
        unsafe {
            let processes = context.nworkers as usize + 1;
            place.cast::<u8>().write_bytes(0, Self::bytes(processes));
            (*place).processes = processes;
            (*place).segment = pg_sys::dsm_segment_handle(context.seg);
            pg_sys::SharedFileSetInit(&raw mut (*place).files, context.seg);
            pg_sys::BarrierInit(&raw mut (*place).barrier, 0);
        }
    }

    /// Makes it as it was in the beginning.
    ///
    /// # Safety
    /// Nobody else may use it.
    pub(super) unsafe fn initialize_again(place: *mut Self, area: *mut pg_sys::dsa_area) {
        // SAFETY: as the caller promises.
        unsafe {
            pg_sys::SharedFileSetDeleteAll(&raw mut (*place).files);
            pg_sys::BarrierInit(&raw mut (*place).barrier, 0);
            for partners in &(*place).partners {
                let place = partners.swap(0, SeqCst);
                if place != 0 {
                    pg_sys::dsa_free(area, place);
                }
            }
            let counts = [&(*place).next_task, &(*place).ended_tasks];
            counts.into_iter().chain(&(*place).rows).for_each(|count| count.store(0, SeqCst));
        }
    }
}

/// A process that takes part.
#[derive(Clone, Copy)]
pub(super) struct Sharing {
    state: *mut SharedJoin,
    process: usize,
    estate: *mut pg_sys::EState,
    memory: MemoryContext,
}

impl Sharing {
    /// # Safety
    /// The shared memory must be there as long as this is used, which is only in the execution of the
    /// statement.
    pub(super) unsafe fn new(state: *mut SharedJoin, estate: *mut pg_sys::EState) -> Self {
        // SAFETY: a variable of the process; the leader has -1.
        let process = unsafe { pg_sys::ParallelWorkerNumber + 1 } as usize;
        // SAFETY: the state of an execution.
        Self { state, process, estate, memory: unsafe { (*estate).es_query_cxt } }
    }

    /// Makes a worker one that uses the files.
    pub(super) fn attach_to_files(self) {
        // SAFETY: the shared memory is there; it is a segment that this process has mapped.
        unsafe {
            let segment = pg_sys::dsm_find_mapping((*self.state).segment);
            pg_sys::SharedFileSetAttach(&raw mut (*self.state).files, segment);
        }
    }

    fn state(&self) -> &SharedJoin {
        // SAFETY: the shared memory is there. What is not atomic is written before others look at it.
        unsafe { &*self.state }
    }

    /// Begins to take part. Returns whether rows are read; if not, others have read all.
    pub(super) fn begin(self) -> bool {
        // SAFETY: the shared memory is there.
        let phase = unsafe { pg_sys::BarrierAttach(&raw mut (*self.state).barrier) };
        if phase == PREPARING {
            self.wait();
        }
        if phase != READING {
            self.leave();
        }
        phase == READING
    }

    /// Waits until all have read their rows, and makes the sets for partners that are wanted.
    pub(super) fn end_reading(self, wanted: [bool; 2]) {
        if self.wait() {
            for side in [0, 1] {
                if wanted[side] {
                    let words = (self.state().rows[side].load(SeqCst) / 64 + 1) as usize;
                    let flags = (pg_sys::DSA_ALLOC_HUGE | pg_sys::DSA_ALLOC_ZERO) as i32;
                    // SAFETY: the area of a parallel plan that is executed.
                    let place = unsafe {
                        let area = (*self.estate).es_query_dsa;
                        pg_sys::dsa_allocate_extended(area, words * size_of::<u64>(), flags)
                    };
                    self.state().partners[side].store(place, SeqCst);
                }
            }
        }
        self.wait();
        self.leave();
    }

    /// Waits for the others. Returns true in one of the processes.
    fn wait(self) -> bool {
        // SAFETY: the shared memory is there, and this process is one that the others wait for.
        unsafe { pg_sys::BarrierArriveAndWait(&raw mut (*self.state).barrier, pg_sys::PG_WAIT_EXTENSION) }
    }

    /// From now on nobody waits.
    fn leave(self) {
        // SAFETY: as above.
        unsafe { pg_sys::BarrierDetach(&raw mut (*self.state).barrier) };
    }

    /// Gives numbers to so many rows of a side. Returns the first of them.
    pub(super) fn number_rows(self, side: usize, count: u64) -> u64 {
        self.state().rows[side].fetch_add(count, SeqCst)
    }

    /// The sets that all processes add to.
    pub(super) fn partners(self) -> Partners {
        let [outer, inner] = [0, 1].map(|side| {
            let place = self.state().partners[side].load(SeqCst);
            let words = self.state().rows[side].load(SeqCst) / 64 + 1;
            // SAFETY: the set was made with so many words, and lives as long as the shared memory.
            unsafe {
                match place {
                    0 => RowSet::default(),
                    _ => {
                        let set = pg_sys::dsa_get_address((*self.estate).es_query_dsa, place);
                        RowSet::shared(std::slice::from_raw_parts(set.cast(), words as usize))
                    }
                }
            }
        });
        Partners { outer, inner }
    }

    /// The next task, of so many.
    pub(super) fn next_task(self, count: usize) -> Option<usize> {
        let task = self.state().next_task.fetch_add(1, SeqCst) as usize;
        (task < count).then_some(task)
    }

    /// Ends a task. Returns how many have been ended.
    pub(super) fn end_task(self) -> usize {
        self.state().ended_tasks.fetch_add(1, SeqCst) as usize + 1
    }

    /// Begins a file of this process.
    pub(super) fn create_file(self, file: SharedFile) -> RowFile {
        // SAFETY: the files are there as long as the shared memory.
        unsafe {
            RowFile::create_shared(&raw mut (*self.state).files.fs, &name(file, self.process), self.memory)
        }
    }

    /// A file of each process that has written one.
    pub(super) fn files(self, file: SharedFile) -> impl Iterator<Item = RowFile> {
        (0..self.state().processes).filter_map(move |process| {
            // SAFETY: as above.
            unsafe {
                RowFile::open_shared(&raw mut (*self.state).files.fs, &name(file, process), self.memory)
            }
        })
    }

    fn work_of(&self, process: usize) -> &[AtomicU64; JoinWork::COUNT] {
        // SAFETY: there is room for each process behind the struct.
        unsafe { &*self.state.add(1).cast::<[AtomicU64; JoinWork::COUNT]>().add(process) }
    }

    /// Tells the leader what this process has done.
    pub(super) fn publish(self, work: &JoinWork) {
        for (place, count) in self.work_of(self.process).iter().zip(work.counts()) {
            place.store(count, SeqCst);
        }
    }

    /// What the other processes have done.
    pub(super) fn work_of_others(self) -> JoinWork {
        let mut work = JoinWork::default();
        for process in (0..self.state().processes).filter(|&process| process != self.process) {
            work.add(&JoinWork::of(self.work_of(process).each_ref().map(|count| count.load(SeqCst))));
        }
        work
    }
}

fn name(file: SharedFile, process: usize) -> CString {
    let name = match file {
        SharedFile::Rows(side) => format!("rows{side}.{process}"),
        SharedFile::Summary(side) => format!("summary{side}.{process}"),
    };
    CString::new(name).unwrap_or_default()
}

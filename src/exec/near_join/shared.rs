//! The state that the processes of a parallel plan share, in dynamic shared memory.
//!
//! [`run`](super::run) describes the phases of the barrier. PostgreSQL removes the files when the last
//! process has detached, also after an error.

use super::explain::{Count, JoinWork};
use super::file::RowFile;
use super::matched::MatchedSet;
use crate::pg::compat::near_join_wait_event;
use crate::pg::report::SqlError;
use crate::pg::temp_file::TempFile;
use crate::plan::near_join::{BySide, JoinKind, Side};
use pgrx::pg_sys::{self, Barrier, SharedFileSet};
use std::ffi::CString;
use std::ptr::slice_from_raw_parts;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

/// The phases of the barrier in which processes wait. In any later phase, none does.
const READING: i32 = 0;
const PREPARING: i32 = 1;

/// The files that a process writes for each side: rows, and their summary.
pub(super) const ROWS: &str = "rows";
pub(super) const SUMMARY: &str = "summary";

/// The work that a process has published.
type SharedWork = [AtomicU64; JoinWork::COUNTS];

/// The state in shared memory. It is followed by the work that each process has reported.
#[repr(C)]
pub(super) struct SharedJoin {
    files: SharedFileSet,
    barrier: Barrier,
    segment: pg_sys::dsm_handle,
    processes: usize,
    /// The number of rows of each side.
    rows: BySide<AtomicU64>,
    next_task: AtomicU64,
    ended_tasks: AtomicU64,
    /// The places of the sets of matched rows; 0 if there is no set.
    matched: BySide<AtomicU64>,
}

impl SharedJoin {
    /// Bytes for this number of processes.
    pub(super) fn bytes(processes: usize) -> usize {
        size_of::<Self>() + processes * size_of::<SharedWork>()
    }

    /// Initializes the state for the processes of a parallel plan.
    ///
    /// # Safety
    /// The place must have the bytes that were asked for, in the shared memory of this context.
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

    /// Resets the state for another execution of the node, except for the work that was done.
    ///
    /// # Safety
    /// No other process may use the state.
    pub(super) unsafe fn initialize_again(place: *mut Self, area: *mut pg_sys::dsa_area) {
        // SAFETY: as the caller promises.
        unsafe {
            pg_sys::SharedFileSetDeleteAll(&raw mut (*place).files);
            pg_sys::BarrierInit(&raw mut (*place).barrier, 0);
            for matched in &(*place).matched.0 {
                let place = matched.swap(0, SeqCst);
                if place != 0 {
                    pg_sys::dsa_free(area, place);
                }
            }
            let counts = [&(*place).next_task, &(*place).ended_tasks];
            counts.into_iter().chain(&(*place).rows.0).for_each(|count| count.store(0, SeqCst));
        }
    }
}

/// A process's access to the shared state.
#[derive(Clone, Copy)]
pub(super) struct Sharing {
    state: *mut SharedJoin,
    process: usize,
    estate: *mut pg_sys::EState,
}

impl Sharing {
    /// # Safety
    /// The shared memory must stay attached as long as this is used, which must be during the execution.
    pub(super) unsafe fn new(state: *mut SharedJoin, estate: *mut pg_sys::EState) -> Self {
        // SAFETY: PostgreSQL sets this variable when a process starts; it is -1 in the leader.
        let process = unsafe { pg_sys::ParallelWorkerNumber + 1 } as usize;
        Self { state, process, estate }
    }

    /// Attaches a worker to the set of files.
    pub(super) fn attach_to_files(self) {
        // SAFETY: the shared memory is a segment that this process has mapped.
        unsafe {
            let segment = pg_sys::dsm_find_mapping((*self.state).segment);
            pg_sys::SharedFileSetAttach(&raw mut (*self.state).files, segment);
        }
    }

    fn state(&self) -> &SharedJoin {
        // SAFETY: the shared memory is attached. Fields that are not atomic were written before others read.
        unsafe { &*self.state }
    }

    /// Attaches to the barrier. Returns whether to read rows; if not, the others have read all rows.
    pub(super) fn begin(self) -> bool {
        // SAFETY: the shared memory is attached.
        let phase = unsafe { pg_sys::BarrierAttach(&raw mut (*self.state).barrier) };
        if phase == PREPARING {
            self.wait();
        }
        if phase != READING {
            self.leave();
        }
        phase == READING
    }

    /// Waits until all have read their rows, and creates the sets of matched rows that the join needs.
    pub(super) fn end_reading(self, kind: JoinKind) {
        if self.wait() {
            for side in Side::BOTH {
                if kind.notes_matches(side) {
                    let words = (self.state().rows[side].load(SeqCst) / 64 + 1) as usize;
                    let flags = (pg_sys::DSA_ALLOC_HUGE | pg_sys::DSA_ALLOC_ZERO) as i32;
                    // SAFETY: the area belongs to the parallel plan that is being executed.
                    let place = unsafe {
                        let area = (*self.estate).es_query_dsa;
                        pg_sys::dsa_allocate_extended(area, words * size_of::<u64>(), flags)
                    };
                    self.state().matched[side].store(place, SeqCst);
                }
            }
        }
        self.wait();
        self.leave();
    }

    /// Waits for the others. Returns true in exactly one of the processes.
    fn wait(self) -> bool {
        // SAFETY: the shared memory is attached, and this process is attached to the barrier.
        unsafe { pg_sys::BarrierArriveAndWait(&raw mut (*self.state).barrier, near_join_wait_event()) }
    }

    /// Detaches from the barrier: from now on nobody waits for this process.
    fn leave(self) {
        // SAFETY: as for `wait`.
        unsafe { pg_sys::BarrierDetach(&raw mut (*self.state).barrier) };
    }

    /// Assigns numbers to rows of a side. Returns the first number.
    pub(super) fn number_rows(self, side: Side, count: u64) -> u64 {
        self.state().rows[side].fetch_add(count, SeqCst)
    }

    /// The set of the matched rows of a side, to which all processes add.
    pub(super) fn matched(self, side: Side) -> MatchedSet {
        let place = self.state().matched[side].load(SeqCst);
        let words = self.state().rows[side].load(SeqCst) / 64 + 1;
        if place == 0 {
            return MatchedSet::default();
        }
        // SAFETY: the set was allocated with this many words, and lives as long as the shared memory.
        unsafe {
            let set = pg_sys::dsa_get_address((*self.estate).es_query_dsa, place);
            MatchedSet::shared(slice_from_raw_parts(set.cast(), words as usize))
        }
    }

    /// The number of the next task, if it is less than `count`.
    pub(super) fn next_task(self, count: usize) -> Option<usize> {
        let task = self.state().next_task.fetch_add(1, SeqCst) as usize;
        (task < count).then_some(task)
    }

    /// Notes the end of a task. Returns how many tasks have ended.
    pub(super) fn end_task(self) -> usize {
        self.state().ended_tasks.fetch_add(1, SeqCst) as usize + 1
    }

    /// Creates a file of this process.
    pub(super) fn create_file(self, what: &str, side: Side) -> Result<RowFile, SqlError> {
        // SAFETY: the files live as long as the shared memory.
        let file =
            unsafe { TempFile::create_in(&raw mut (*self.state).files.fs, &name(what, side, self.process)) };
        Ok(RowFile::of(file?))
    }

    /// The files of this name, one from each process that has written one.
    pub(super) fn files(self, what: &str, side: Side) -> impl Iterator<Item = Result<RowFile, SqlError>> {
        (0..self.state().processes).filter_map(move |process| {
            // SAFETY: the files live as long as the shared memory.
            let file =
                unsafe { TempFile::open_in(&raw mut (*self.state).files.fs, &name(what, side, process)) };
            file.and_then(|file| file.map(RowFile::of_written).transpose()).transpose()
        })
    }

    fn work_of(&self, process: usize) -> &SharedWork {
        // SAFETY: the shared memory has room for the work of each process behind the struct.
        unsafe { &*self.state.add(1).cast::<SharedWork>().add(process) }
    }

    /// Adds this process's work to that of earlier executions, for the leader.
    pub(super) fn publish(self, work: &JoinWork) {
        let mut all = self.published(self.process);
        all.add(work);
        all[Count::Processes] = 1;
        for (place, count) in self.work_of(self.process).iter().zip(all.0) {
            place.store(count, SeqCst);
        }
    }

    fn published(&self, process: usize) -> JoinWork {
        JoinWork(self.work_of(process).each_ref().map(|count| count.load(SeqCst)))
    }

    /// The work that the other processes have published.
    pub(super) fn work_of_others(self) -> JoinWork {
        let mut all = JoinWork::default();
        for process in (0..self.state().processes).filter(|&process| process != self.process) {
            all.add(&self.published(process));
        }
        all
    }
}

fn name(what: &str, side: Side, process: usize) -> CString {
    CString::new(format!("{what}{}.{process}", side as u8)).unwrap_or_default()
}

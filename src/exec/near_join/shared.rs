//! The state that the processes of a parallel plan share, in dynamic shared memory.
//!
//! [`run`](super::run) describes the phases of the barrier.

use super::work::{Count, JoinWork};
use crate::exec::rows::{MatchedSet, RowFile};
use crate::pg::exec_node::SharedNode;
use crate::pg::report::SqlError;
use crate::plan::near_join::{JoinKind, Side};
use std::ffi::CString;
use std::sync::atomic::Ordering::SeqCst;

/// The phases of the barrier in which processes wait. In any later phase, none does.
const READING: i32 = 0;
const PREPARING: i32 = 1;

/// The files that a process writes for each side: rows, and their summary.
pub(super) const ROWS: &str = "rows";
pub(super) const SUMMARY: &str = "summary";

/// The counters: the number of rows of each side, the next task, and the number of tasks that have ended.
const NEXT_TASK: usize = Side::BOTH.len();
const ENDED_TASKS: usize = NEXT_TASK + 1;
pub(super) const COUNTERS: usize = ENDED_TASKS + 1;

/// The arrays: the set of the matched rows of each side.
pub(super) const ARRAYS: usize = Side::BOTH.len();

/// A process's access to the shared state.
#[derive(Clone)]
pub(super) struct Sharing(SharedNode);

impl Sharing {
    pub(super) fn new(shared: SharedNode) -> Self {
        Self(shared)
    }

    /// Attaches to the barrier. Returns whether to read rows; if not, the others have read all rows.
    pub(super) fn begin(&self) -> bool {
        let phase = self.0.attach();
        if phase == PREPARING {
            self.0.wait();
        }
        if phase != READING {
            self.0.detach();
        }
        phase == READING
    }

    /// Waits until all have read their rows, and creates the sets of matched rows that the join needs. From
    /// then on, nobody waits for this process.
    pub(super) fn end_reading(&self, kind: JoinKind) {
        if self.0.wait() {
            for side in Side::BOTH {
                if kind.notes_matches(side) {
                    self.0.allocate(side as usize, (self.0.count(side as usize) / 64 + 1) as usize);
                }
            }
        }
        self.0.wait();
        self.0.detach();
    }

    /// Assigns numbers to rows of a side. Returns the first number.
    pub(super) fn number_rows(&self, side: Side, count: u64) -> u64 {
        self.0.add(side as usize, count)
    }

    /// The set of the matched rows of a side, to which all processes add.
    pub(super) fn matched(&self, side: Side) -> MatchedSet {
        self.0.words_of(side as usize).map_or_else(MatchedSet::default, MatchedSet::Shared)
    }

    /// The number of the next task, if it is less than `count`.
    pub(super) fn next_task(&self, count: usize) -> Option<usize> {
        let task = self.0.add(NEXT_TASK, 1) as usize;
        (task < count).then_some(task)
    }

    /// Notes the end of a task. Returns how many tasks have ended.
    pub(super) fn end_task(&self) -> usize {
        self.0.add(ENDED_TASKS, 1) as usize + 1
    }

    /// Creates a file of this process.
    pub(super) fn create_file(&self, what: &str, side: Side) -> Result<RowFile, SqlError> {
        Ok(RowFile::of(self.0.create_file(&name(what, side, self.0.process()))?))
    }

    /// The files of this name, one from each process that has written one.
    pub(super) fn files(&self, what: &str, side: Side) -> impl Iterator<Item = Result<RowFile, SqlError>> {
        (0..self.0.processes()).filter_map(move |process| {
            let file = self.0.open_file(&name(what, side, process));
            file.and_then(|file| file.map(RowFile::of_written).transpose()).transpose()
        })
    }

    /// Adds this process's work to that of earlier executions, for the leader.
    pub(super) fn publish(&self, work: &JoinWork) {
        let mut all = self.published(self.0.process());
        all.add(work);
        all[Count::Processes] = 1;
        for (place, count) in self.0.published(self.0.process()).iter().zip(all.0) {
            place.store(count, SeqCst);
        }
    }

    fn published(&self, process: usize) -> JoinWork {
        let mut work = JoinWork::default();
        let counts = work.0.iter_mut().zip(self.0.published(process));
        counts.for_each(|(count, place)| *count = place.load(SeqCst));
        work
    }

    /// The work that the other processes have published.
    pub(super) fn work_of_others(&self) -> JoinWork {
        let mut all = JoinWork::default();
        for process in (0..self.0.processes()).filter(|&process| process != self.0.process()) {
            all.add(&self.published(process));
        }
        all
    }
}

fn name(what: &str, side: Side, process: usize) -> CString {
    CString::new(format!("{what}{}.{process}", side as u8)).unwrap_or_default()
}

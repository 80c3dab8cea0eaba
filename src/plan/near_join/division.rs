//! A join whose inner side does not fit into memory. Both sides are written to temporary files, and are
//! divided into parts by their codes, as [`PairDivision`] describes. Each part of the outer side is joined
//! with the same part of the inner side. At the end, rows without a partner are returned.
//!
//! A **task** is one or several parts of a pass. The rows of a single part are selected from all rows; the
//! rows of several parts are first divided into files. The processes of a parallel plan take tasks in turn.

use super::batch::JoinBatch;
use super::explain::JoinWork;
use super::file::{RowFile, SideFiles};
use super::kind::JoinKind;
use super::memory;
use super::partners::{Partners, RowSet};
use super::record::Record;
use super::shared::Sharing;
use super::side::JoinSide;
use super::summary::SideSummary;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use base::{OutOfMemory, push};
use hamming::near_pairs::PairDivision;
use pgrx::pg_sys::MemoryContext;
use std::collections::VecDeque;
use std::ops::Range;

/// At least this many tasks for each process, since some tasks take longer than others.
const TASKS_PER_PROCESS: usize = 2;

/// The rows of both sides, in files.
pub(super) struct FiledRows {
    pub(super) all: [SideFiles; 2],
    pub(super) summaries: [SideSummary; 2],
    /// Set if the processes of a parallel plan share the files.
    pub(super) sharing: Option<Sharing>,
}

/// Parts of a pass, which are joined one after the other.
struct JoinTask {
    pass: usize,
    parts: Range<usize>,
}

/// Which rows are joined now.
#[derive(Clone, Copy, PartialEq)]
enum JoinStep {
    Begin,
    /// The rows of one part of a task.
    Part {
        task: usize,
        part: usize,
    },
    /// Outer rows without a partner.
    LoneOuter,
    /// Inner rows without a partner.
    LoneInner,
    End,
}

/// The files of a join, and its progress.
pub(super) struct JoinDivision {
    kind: JoinKind,
    /// `None` if each row has to be compared with each row of the other side.
    plan: Option<PairDivision>,
    tasks: Vec<JoinTask>,
    /// How many tasks were begun, unless other processes take some.
    begun: usize,
    sharing: Option<Sharing>,
    /// All rows of the outer side, and all of the inner side.
    all: [SideFiles; 2],
    /// If the task has several parts: the rows of the current part and of the later ones.
    parts: [VecDeque<RowFile>; 2],
    /// The memory context of the open files.
    memory: MemoryContext,
    step: JoinStep,
    inner_ended: bool,
    outer_ended: bool,
    /// How many parts were joined.
    joined: u64,
    /// The largest number of words that the files have had.
    disk: u64,
}

impl JoinDivision {
    /// The files must have all rows. The batch is used to read some of them for planning.
    ///
    /// # Safety
    /// The memory must live as long as the execution, and the division must only be used during it.
    pub(super) unsafe fn new(
        kind: JoinKind,
        radius: u32,
        FiledRows { all, summaries, sharing }: FiledRows,
        batch: &mut JoinBatch,
        memory: MemoryContext,
    ) -> Result<Self, SqlError> {
        let mut division = Self {
            kind,
            plan: None,
            tasks: Vec::new(),
            begun: 0,
            sharing,
            disk: all.iter().map(SideFiles::words).sum(),
            all,
            parts: Default::default(),
            memory,
            step: JoinStep::Begin,
            inner_ended: true,
            outer_ended: true,
            joined: 0,
        };
        let [has_outer, has_inner] = summaries.each_ref().map(|side| side.coded > 0);
        batch.outer.expect_lengths(&summaries[0].lengths);
        batch.inner.expect_lengths(&summaries[1].lengths);
        batch.outer.check_all(has_inner)?;
        batch.inner.check_all(has_outer)?;
        if has_outer && has_inner {
            for side in [0, 1] {
                division.load(side, batch, memory::of_sample(), None)?;
                division.all[side].rewind();
            }
            batch.outer.check(&mut batch.inner)?;
            division.plan(radius, summaries.each_ref(), batch)?;
        }
        division.add_tasks(has_outer && has_inner)?;
        batch.outer.clear();
        batch.inner.clear();
        Ok(division)
    }

    /// Plans the passes and the tasks. The batch has a sample of the rows.
    fn plan(&mut self, radius: u32, summaries: [&SideSummary; 2], batch: &JoinBatch) -> Result<(), SqlError> {
        let (Some(outer), Some(inner)) = (batch.outer.codes.first(), batch.inner.codes.first()) else {
            return Ok(());
        };
        let most = summaries.map(|side| side.bytes as usize).into_iter().fold(0, usize::max);
        let needed = most.div_ceil(memory::of_planned_part());
        let parts = needed.min(memory::files(RowFile::BYTES)).max(self.tasks_of_pass(radius as usize + 1));
        let bits = parts.next_power_of_two().ilog2();
        let samples = [outer.codes(), inner.codes()];
        let rows = summaries.map(|side| side.coded as usize);
        let varying = SideSummary::varying_of(summaries);
        let bits = [bits, memory::widest_segment()];
        self.plan = PairDivision::new(samples, &varying, rows, radius, bits)?;
        Ok(())
    }

    /// The least number of tasks of each pass.
    fn tasks_of_pass(&self, passes: usize) -> usize {
        let processes = if self.sharing.is_some() { self.all[0].len() } else { 0 };
        (TASKS_PER_PROCESS * processes).div_ceil(passes).max(1)
    }

    /// Adds the tasks of all passes. Without a plan, one task joins all rows, if both sides have codes.
    fn add_tasks(&mut self, have_codes: bool) -> Result<(), OutOfMemory> {
        let Some(plan) = &self.plan else {
            return push(&mut self.tasks, JoinTask { pass: 0, parts: 0..usize::from(have_codes) });
        };
        let passes = plan.passes();
        for pass in 0..passes {
            // The last pass has tasks for all processes, so that they end at about the same time.
            let of_passes = if pass + 1 == passes { 1 } else { passes };
            let wanted = self.tasks_of_pass(of_passes).next_power_of_two();
            let parts = plan.parts(pass);
            let of_task = (parts / wanted).max(1);
            for first in (0..parts).step_by(of_task) {
                push(&mut self.tasks, JoinTask { pass, parts: first..first + of_task })?;
            }
        }
        Ok(())
    }

    /// How the codes of the current part were divided, and in which pass; `None` if they were not divided.
    pub(super) fn pass(&self) -> Option<(&PairDivision, usize)> {
        match self.step {
            JoinStep::Part { task, .. } => Some((self.plan.as_ref()?, self.tasks[task].pass)),
            _ => None,
        }
    }

    /// Whether rows without a partner are returned now, for the outer side and for the inner side.
    pub(super) fn returns_lone(&self) -> [bool; 2] {
        [JoinStep::LoneOuter, JoinStep::LoneInner].map(|step| step == self.step)
    }

    /// Bytes of memory that the open files take.
    pub(super) fn bytes(&self) -> usize {
        let files = self.all.iter().map(SideFiles::len).chain(self.parts.iter().map(VecDeque::len));
        RowFile::BYTES * files.sum::<usize>()
    }

    pub(super) fn add_work(&self, work: &mut JoinWork) {
        (work.partitions, work.disk) = (self.joined, self.disk);
    }

    pub(super) fn close(mut self) {
        self.close_parts();
        self.all.into_iter().for_each(SideFiles::close);
    }

    fn close_parts(&mut self) {
        self.parts.iter_mut().flat_map(|parts| parts.drain(..)).for_each(RowFile::close);
    }

    /// Reads the next inner rows, and prepares to read the outer rows for them. Returns whether there are
    /// inner rows left to join.
    pub(super) fn next_round(
        &mut self,
        batch: &mut JoinBatch,
        partners: &Partners,
    ) -> Result<bool, SqlError> {
        loop {
            if self.inner_ended {
                self.next_step(batch, partners)?;
                if self.step == JoinStep::End {
                    return Ok(false);
                }
                self.rewind(1);
            }
            self.rewind(0);
            batch.inner.clear();
            (self.inner_ended, self.outer_ended) = match self.step {
                JoinStep::LoneOuter => (true, false),
                JoinStep::LoneInner => (self.load(1, batch, memory::of_part(), Some(&partners.inner))?, true),
                _ => (self.load(1, batch, memory::of_part(), None)?, false),
            };
            if batch.inner.rows.len() > 0 || self.step == JoinStep::LoneOuter {
                return Ok(true);
            }
        }
    }

    /// Reads the next outer rows to join with the inner rows of the round.
    pub(super) fn next_batch(&mut self, batch: &mut JoinBatch, partners: &Partners) -> Result<(), SqlError> {
        batch.outer.clear();
        if !self.outer_ended {
            self.outer_ended = self.load(0, batch, memory::of_part(), self.without(partners))?;
        }
        Ok(())
    }

    /// Outer rows that are skipped: those with a partner, if one partner is enough.
    fn without<'a>(&self, partners: &'a Partners) -> Option<&'a RowSet> {
        let needs_no_other = self.kind.needs_one_partner() || self.step == JoinStep::LoneOuter;
        needs_no_other.then_some(&partners.outer)
    }

    /// Goes on to the next part, or to the rows without a partner.
    fn next_step(&mut self, batch: &JoinBatch, partners: &Partners) -> Result<(), SqlError> {
        self.step = match self.step {
            JoinStep::Part { task, part } if part + 1 < self.tasks[task].parts.end => {
                self.parts.iter_mut().filter_map(VecDeque::pop_front).for_each(RowFile::close);
                JoinStep::Part { task, part: part + 1 }
            }
            JoinStep::Begin | JoinStep::Part { .. } => {
                let have_ended = self.step != JoinStep::Begin && self.end_task();
                match self.next_task() {
                    Some(task) => {
                        self.begin_task(task, batch, partners)?;
                        JoinStep::Part { task, part: self.tasks[task].parts.start }
                    }
                    None if have_ended && self.kind.keeps_outer() => JoinStep::LoneOuter,
                    None if have_ended && self.kind.keeps_inner() => JoinStep::LoneInner,
                    None => JoinStep::End,
                }
            }
            JoinStep::LoneOuter if self.kind.keeps_inner() => JoinStep::LoneInner,
            _ => JoinStep::End,
        };
        match self.step {
            JoinStep::Part { .. } => self.joined += u64::from(self.plan.is_some()),
            _ => self.close_parts(),
        }
        Ok(())
    }

    /// The next task for this process.
    fn next_task(&mut self) -> Option<usize> {
        self.begun += 1;
        match self.sharing {
            Some(sharing) => sharing.next_task(self.tasks.len()),
            None => Some(self.begun - 1).filter(|&task| task < self.tasks.len()),
        }
    }

    /// Ends a task. Returns whether all tasks have ended.
    fn end_task(&mut self) -> bool {
        self.sharing.map_or(self.begun, Sharing::end_task) == self.tasks.len()
    }

    /// Divides the rows of both sides for a task of several parts.
    fn begin_task(&mut self, task: usize, batch: &JoinBatch, partners: &Partners) -> Result<(), SqlError> {
        self.close_parts();
        if self.tasks[task].parts.len() > 1 {
            let without = self.kind.needs_one_partner().then_some(&partners.outer);
            self.divide(0, task, &batch.outer, without)?;
            self.divide(1, task, &batch.inner, None)?;
            let all: u64 = self.all.iter().map(SideFiles::words).sum();
            let parts: u64 = self.parts.iter().flatten().map(|file| file.words).sum();
            self.disk = self.disk.max(all + parts);
        }
        Ok(())
    }

    /// Divides the rows of one side.
    fn divide(
        &mut self,
        side: usize,
        task: usize,
        of_side: &JoinSide,
        without: Option<&RowSet>,
    ) -> Result<(), SqlError> {
        let (Some(plan), JoinTask { pass, parts }) = (&self.plan, &self.tasks[task]) else { return Ok(()) };
        let (mut files, all) = (Vec::new(), &mut self.all[side]);
        for _ in parts.clone() {
            // SAFETY: the division is used only during the execution, as the caller of `new` promises.
            push(&mut files, unsafe { RowFile::create(self.memory) })?;
        }
        let (format, width) = (of_side.format(), of_side.searched_words());
        all.rewind();
        let mut take = |record: Record| {
            if is_left_out(&record, true, without) {
                return Ok(());
            }
            let part = plan.part(*pass, &record.codes[..width]).wrapping_sub(parts.start);
            files.get_mut(part).map_or(Ok(()), |file| file.write(record.words))
        };
        while all.read_block(format, &mut take)? {
            check_for_interrupts();
        }
        files.iter_mut().for_each(RowFile::rewind);
        self.parts[side] = files.into();
        Ok(())
    }

    /// Reads the rows of a side again.
    fn rewind(&mut self, side: usize) {
        match self.parts[side].front_mut() {
            Some(part) => part.rewind(),
            None => self.all[side].rewind(),
        }
    }

    /// Reads rows for the current step up to a limit of bytes. Rows without codes are skipped, unless the
    /// step returns rows without a partner. Returns whether the end is reached.
    fn load(
        &mut self,
        side: usize,
        batch: &mut JoinBatch,
        limit: usize,
        without: Option<&RowSet>,
    ) -> Result<bool, SqlError> {
        let to = if side == 0 { &mut batch.outer } else { &mut batch.inner };
        let have_codes = !self.returns_lone()[side];
        let (format, width) = (to.format(), to.searched_words());
        let plan = match (self.step, &self.plan) {
            (JoinStep::Part { task, part }, Some(plan)) => Some((plan, self.tasks[task].pass, part)),
            _ => None,
        };
        if matches!(self.step, JoinStep::Part { task, .. } if self.tasks[task].parts.is_empty()) {
            return Ok(true);
        }
        let mut part = self.parts[side].front_mut();
        // If the part has no file, its rows are selected from all rows.
        let plan = plan.filter(|_| part.is_none());
        while to.bytes() < limit {
            check_for_interrupts();
            let take = |record: Record| {
                let is_elsewhere =
                    || plan.is_some_and(|(plan, pass, part)| plan.part(pass, &record.codes[..width]) != part);
                if is_left_out(&record, have_codes, without) || is_elsewhere() {
                    return Ok(());
                }
                to.push_record(record, have_codes)
            };
            let is_there = match &mut part {
                Some(part) => part.read_block(format, take)?,
                None => self.all[side].read_block(format, take)?,
            };
            if !is_there {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether to skip a row: it has no codes although codes are needed, or it is in the set.
#[inline(always)]
fn is_left_out(record: &Record, have_codes: bool, without: Option<&RowSet>) -> bool {
    have_codes && record.codes.is_empty() || without.is_some_and(|rows| rows.contains(record.number))
}

//! Both sides of a join in files, divided into partitions by their codes, as [`PairDivision`] describes. Each
//! partition of the outer side is joined with the same partition of the inner side. There are several passes,
//! each of which divides the sides in another way; a pair is found in one of them.
//!
//! A **task** is one or several partitions of a pass. The rows of a single partition are selected from all
//! rows; the rows of several partitions are first divided into files. If there are more partitions than files
//! that may be open, each file has the rows of several partitions and is divided again. The processes of a
//! parallel plan take tasks in turn.

use super::batch::JoinBatch;
use super::shared::Sharing;
use super::spill::SpilledRows;
use super::work::{Count, JoinWork};
use crate::exec::rows::{JoinSide, Record, RowFile, SideFiles, SideSummary};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::plan::near_join::{BySide, JoinKind, Side, memory};
use base::{OutOfMemory, push};
use hamming::near_pairs::PairDivision;
use std::ops::Range;

/// At least this many tasks for each process, since some tasks take longer than others.
const TASKS_PER_PROCESS: usize = 2;

/// Partitions of a pass, which are joined one after the other.
#[derive(Clone)]
struct JoinTask {
    pass: usize,
    partitions: Range<usize>,
}

/// The rows of some partitions.
struct PartitionRows {
    of: JoinTask,
    /// Without files, the rows are selected from all rows.
    files: BySide<SideFiles>,
}

/// The files of a join, and the partition that is being joined.
pub(super) struct JoinPartitions {
    kind: JoinKind,
    /// `None` if each row has to be compared with each row of the other side.
    plan: Option<PairDivision>,
    tasks: Vec<JoinTask>,
    /// How many tasks were begun, unless other processes take some.
    begun: usize,
    sharing: Option<Sharing>,
    /// All rows of each side.
    all: BySide<SideFiles>,
    /// The rows of the later partitions of the task, and the last of the current partition.
    divided: Vec<PartitionRows>,
    /// Files of earlier partitions, which are written again.
    spare: Vec<RowFile>,
    /// Whether this process has ended the last task of all, and so returns the unmatched rows.
    pub(super) has_ended_all: bool,
}

impl JoinPartitions {
    /// Plans the tasks. The batch is used to read some of the rows for that.
    pub(super) fn new(
        kind: JoinKind,
        radii: &[u32],
        SpilledRows { files: all, summaries }: SpilledRows,
        batch: &mut JoinBatch,
        sharing: Option<Sharing>,
    ) -> Result<Self, SqlError> {
        let mut partitions = Self {
            kind,
            plan: None,
            tasks: Vec::new(),
            begun: 0,
            sharing,
            all,
            divided: Vec::new(),
            spare: Vec::new(),
            has_ended_all: false,
        };
        let has_codes = |side| summaries[side].coded > 0;
        for (side, other) in [(Side::Outer, Side::Inner), (Side::Inner, Side::Outer)] {
            batch[side].expect_lengths(&summaries[side].lengths);
            batch[side].check_all(has_codes(other))?;
        }
        let both_have_codes = Side::BOTH.into_iter().all(has_codes);
        if both_have_codes {
            for side in Side::BOTH {
                partitions.read_from(side, 0)?;
                partitions.read(side, batch, memory::of_sample())?;
            }
            batch.check()?;
            partitions.plan(radii, &summaries, batch)?;
        }
        partitions.add_tasks(both_have_codes)?;
        batch.clear();
        Ok(partitions)
    }

    /// Plans the passes. The batch has a sample of the rows.
    fn plan(
        &mut self,
        radii: &[u32],
        summaries: &BySide<SideSummary>,
        batch: &JoinBatch,
    ) -> Result<(), SqlError> {
        let Some(&radius) = radii.first() else { return Ok(()) };
        let most = summaries.0.iter().map(|side| side.bytes as usize).fold(0, usize::max);
        let needed = most.div_ceil(memory::of_planned_partition());
        let partitions = needed.max(self.tasks_of_pass(radius as usize + 1));
        let bits = partitions.next_power_of_two().ilog2();
        let rows = summaries.0.each_ref().map(|side| side.coded as usize);
        let varying = SideSummary::varying_of(summaries.0.each_ref());
        let radii = batch[Side::Outer].radii(radii);
        let most_bits = [bits, memory::widest_segment()];
        self.plan = PairDivision::new(batch.codes(), &varying, rows, radii, most_bits)?;
        Ok(())
    }

    /// The least number of tasks of each pass.
    fn tasks_of_pass(&self, passes: usize) -> usize {
        let processes = if self.sharing.is_some() { self.all[Side::Outer].len() } else { 0 };
        (TASKS_PER_PROCESS * processes).div_ceil(passes).max(1)
    }

    /// Adds the tasks of all passes. Without a plan, one task joins all rows, if both sides have codes.
    fn add_tasks(&mut self, have_codes: bool) -> Result<(), OutOfMemory> {
        let Some(plan) = &self.plan else {
            return push(&mut self.tasks, JoinTask { pass: 0, partitions: 0..usize::from(have_codes) });
        };
        let passes = plan.passes();
        for pass in 0..passes {
            // The last pass has tasks for all processes, so that they end at about the same time.
            let of_passes = if pass + 1 == passes { 1 } else { passes };
            let wanted = self.tasks_of_pass(of_passes).next_power_of_two();
            let partitions = plan.parts(pass);
            let of_task = (partitions / wanted).max(1);
            for first in (0..partitions).step_by(of_task) {
                push(&mut self.tasks, JoinTask { pass, partitions: first..first + of_task })?;
            }
        }
        Ok(())
    }

    /// The file of all inner rows, if there is one.
    pub(super) fn into_inner_file(self) -> Option<RowFile> {
        let [_, inner] = self.all.0;
        inner.into_files().next()
    }

    /// How the codes of the current partition were divided, and in which pass; `None` if they were not.
    pub(super) fn pass(&self) -> Option<(&PairDivision, usize)> {
        Some((self.plan.as_ref()?, self.divided.last()?.of.pass))
    }

    fn files(&self) -> impl Iterator<Item = &SideFiles> {
        self.divided.iter().map(|rows| &rows.files).chain([&self.all]).flat_map(|files| &files.0)
    }

    /// Bytes of memory that the open files take.
    pub(super) fn bytes(&self) -> usize {
        memory::OF_FILE * (self.spare.len() + self.files().map(SideFiles::len).sum::<usize>())
    }

    /// The number of words that the files have room for on disk.
    fn size(&self) -> u64 {
        let spare: u64 = self.spare.iter().map(RowFile::size).sum();
        spare + self.files().map(SideFiles::size).sum::<u64>()
    }

    /// Keeps the files of a partition for the rows of others, unless the files that are kept would be larger
    /// than all rows: if most rows are in one partition of a pass, another file may be large in the next one.
    fn keep_files(&mut self, files: BySide<SideFiles>) -> Result<(), SqlError> {
        let room: u64 = self.all.0.iter().map(SideFiles::size).sum();
        let mut kept: u64 = self.spare.iter().map(RowFile::size).sum();
        for mut file in files.0.into_iter().flat_map(SideFiles::into_files) {
            if kept + file.size() <= room && self.spare.len() < 2 * memory::files() {
                kept += file.size();
                file.begin_again()?;
                push(&mut self.spare, file)?;
            }
        }
        Ok(())
    }

    /// Goes on to the next partition. Returns whether there is one for this process.
    pub(super) fn next(&mut self, batch: &JoinBatch, work: &mut JoinWork) -> Result<bool, SqlError> {
        if let Some(rows) = self.divided.pop() {
            self.keep_files(rows.files)?;
            self.has_ended_all = self.divided.is_empty() && self.end_task();
        }
        if self.divided.is_empty() {
            let Some(task) = self.next_task() else {
                for side in Side::BOTH {
                    self.read_from(side, 0)?;
                }
                return Ok(false);
            };
            let of = self.tasks[task].clone();
            push(&mut self.divided, PartitionRows { of, files: BySide::default() })?;
        }
        while let Some(rows) = self.divided.pop_if(|rows| rows.of.partitions.len() > 1) {
            self.divide(rows, batch, work)?;
        }
        work.peak(Count::Disk, self.size());
        self.read_from(Side::Inner, 0)?;
        work[Count::Partitions] += u64::from(self.plan.is_some());
        Ok(true)
    }

    /// The next task for this process.
    fn next_task(&mut self) -> Option<usize> {
        self.begun += 1;
        match &self.sharing {
            Some(sharing) => sharing.next_task(self.tasks.len()),
            None => Some(self.begun - 1).filter(|&task| task < self.tasks.len()),
        }
    }

    /// Ends a task. Returns whether all tasks have ended.
    fn end_task(&mut self) -> bool {
        self.sharing.as_ref().map_or(self.begun, Sharing::end_task) == self.tasks.len()
    }

    /// Divides the rows of several partitions into as many files as may be open.
    fn divide(
        &mut self,
        PartitionRows { of: JoinTask { pass, partitions }, files: mut from }: PartitionRows,
        batch: &JoinBatch,
        work: &mut JoinWork,
    ) -> Result<(), SqlError> {
        let Some(plan) = &self.plan else { return Ok(()) };
        let of_file = partitions.len().div_ceil(memory::files());
        let parts = partitions.clone().step_by(of_file);
        let (is_wanted, mut divided) = (self.wanted(), BySide::<Vec<RowFile>>::default());
        for side in Side::BOTH {
            if self.all[side].len() == 0 {
                continue;
            }
            let (format, files) = (batch[side].format(), &mut divided[side]);
            for _ in parts.clone() {
                push(files, self.spare.pop().map_or_else(RowFile::create, Ok)?)?;
            }
            let from = if from[side].len() > 0 { &mut from[side] } else { &mut self.all[side] };
            from.read_from(0)?;
            let mut take = |record: Record| {
                if !is_wanted(&record, &batch[side]) {
                    return Ok(());
                }
                let partition = plan.part(pass, record.codes).wrapping_sub(partitions.start);
                files.get_mut(partition / of_file).map_or(Ok(()), |file| file.write(record.words))
            };
            while from.read_block(format, &mut take)? {
                check_for_interrupts();
            }
        }
        let mut divided = divided.map(Vec::into_iter);
        for first in parts {
            let of = JoinTask { pass, partitions: first..first + of_file };
            let file = |side| divided[side].next().map(|file| (file, batch[side].format().codes));
            // Bounded: one file.
            let [outer, inner] = Side::BOTH.map(file).map(|file| SideFiles::new(file.into_iter().collect()));
            push(&mut self.divided, PartitionRows { of, files: BySide([outer?, inner?]) })?;
        }
        work.peak(Count::Disk, self.size() + from.0.iter().map(SideFiles::size).sum::<u64>());
        self.keep_files(from)
    }

    /// Which rows are wanted: those with codes, until all partitions have been joined, and then the unmatched
    /// ones. An outer row that needs no other match is left out, but not of the sample by which tasks are
    /// planned: all processes must have the same plan, and one may begin after others have matched rows.
    fn wanted(&self) -> impl Fn(&Record, &JoinSide) -> bool + use<> {
        let unmatched = self.has_ended_all;
        let skips_matched = unmatched || self.kind.needs_one_match() && !self.tasks.is_empty();
        move |record, side| {
            (unmatched || !record.codes.is_empty()) && !(skips_matched && side.has_match(record.number))
        }
    }

    /// The files with the rows of the current partition. If rows are joined with themselves, only the inner
    /// side has files.
    fn current<'a>(
        divided: &'a mut [PartitionRows],
        all: &'a mut BySide<SideFiles>,
        side: Side,
    ) -> &'a mut SideFiles {
        let side = if all[side].len() > 0 { side } else { Side::Inner };
        let files = divided.last_mut().map(|rows| &mut rows.files[side]);
        files.filter(|files| files.len() > 0).unwrap_or(&mut all[side])
    }

    /// Prepares to read the rows of a side from a place.
    pub(super) fn read_from(&mut self, side: Side, place: u64) -> Result<(), SqlError> {
        Self::current(&mut self.divided, &mut self.all, side).read_from(place)
    }

    /// The place of the next row of a side that is in one file.
    pub(super) fn place(&mut self, side: Side) -> u64 {
        Self::current(&mut self.divided, &mut self.all, side).place()
    }

    /// Reads the next rows of a side of the current partition. Returns whether there are any.
    pub(super) fn load(&mut self, side: Side, batch: &mut JoinBatch) -> Result<bool, SqlError> {
        batch[side].clear();
        if self.divided.last().is_some_and(|rows| !rows.of.partitions.is_empty()) {
            self.read(side, batch, memory::of_load())?;
        }
        Ok(!batch[side].rows.is_empty())
    }

    /// Reads the next unmatched rows of a side, when all partitions have been joined.
    pub(super) fn load_unmatched(&mut self, side: Side, batch: &mut JoinBatch) -> Result<bool, SqlError> {
        batch.clear();
        self.read(side, batch, memory::of_load())?;
        Ok(!batch[side].rows.is_empty())
    }

    /// Reads rows of a side up to a limit of bytes.
    fn read(&mut self, side: Side, batch: &mut JoinBatch, limit: usize) -> Result<(), SqlError> {
        let (to, is_wanted, have_codes) = (&mut batch[side], self.wanted(), !self.has_ended_all);
        let format = to.format();
        // If the partition has no file, its rows are selected from all rows.
        let is_selected = self.divided.last().is_some_and(|rows| rows.files[Side::Inner].len() == 0);
        let of = self.divided.last().filter(|_| is_selected).map(|rows| rows.of.clone());
        let selection = self.plan.as_ref().zip(of);
        let file = Self::current(&mut self.divided, &mut self.all, side);
        let mut is_there = true;
        while is_there && to.bytes() < limit {
            check_for_interrupts();
            is_there = file.read_block(format, |record| {
                let is_elsewhere = |(plan, of): &(&PairDivision, JoinTask)| {
                    plan.part(of.pass, record.codes) != of.partitions.start
                };
                if !is_wanted(&record, to) || selection.as_ref().is_some_and(is_elsewhere) {
                    return Ok(());
                }
                to.push_record(record, have_codes)
            })?;
        }
        Ok(())
    }
}

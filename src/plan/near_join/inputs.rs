//! The inputs of a join: its children, and the files to which their rows were written.

use super::batch::JoinBatch;
use super::division::{FiledRows, JoinDivision};
use super::explain::JoinWork;
use super::file::{RowFile, SideFiles};
use super::kind::JoinKind;
use super::memory;
use super::partners::Partners;
use super::reader::RowReader;
use super::shared::{SharedFile, Sharing};
use super::side::JoinSide;
use super::summary::SideSummary;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use base::push;
use hamming::near_pairs::PairDivision;
use pgrx::pg_sys::MemoryContext;

/// Rows of the first batch. With so few, LIMIT 1 or EXISTS is answered at once.
const FIRST_BATCH: usize = 64;

/// If the join may end early, each batch is this many times larger than the last one. There are few batches,
/// since the inner side is sorted for each. Otherwise the second batch has all that memory has room for.
const GROWTH: usize = 256;

/// In a parallel plan, a process that has taken its portion of the outer side goes on with this fraction of a
/// portion at a time. It takes only a few such batches, since the inner side is sorted for each.
const PARTS_OF_PORTION: usize = 4;

/// The parts that the inputs consist of.
pub(super) struct InputParts {
    pub(super) kind: JoinKind,
    pub(super) may_end_early: bool,
    /// Outer rows that the process is expected to get in a parallel plan; 0 in other plans.
    pub(super) portion: usize,
    pub(super) reader: RowReader,
    /// Memory that lives as long as the execution of the plan.
    pub(super) memory: MemoryContext,
}

/// The inputs of a join.
pub(super) struct JoinInputs {
    parts: InputParts,
    /// The radius of each condition; empty if no rows can be near.
    radii: Vec<u32>,
    is_begun: bool,
    /// Whether the whole inner side is in memory.
    inner_ended: bool,
    /// Whether the outer side has been read to its end. A scan that has ended must not be asked for another
    /// row: it would start again.
    outer_ended: bool,
    /// Set if memory has no room for the inner side.
    division: Option<JoinDivision>,
    /// Set if the processes of a parallel plan divide both sides for each other.
    sharing: Option<Sharing>,
    has_shared: bool,
    /// The largest number of rows for the next batch.
    batch: usize,
    /// How often inner rows were read, and how many batches of outer rows.
    rounds: u64,
    batches: u64,
    /// The work of divisions that were closed.
    divided: JoinWork,
}

impl JoinInputs {
    /// # Safety
    /// The memory must live as long as the execution of the node, and the inputs must only be used during it.
    pub(super) unsafe fn new(parts: InputParts) -> Self {
        Self {
            parts,
            radii: Vec::new(),
            is_begun: false,
            inner_ended: false,
            outer_ended: false,
            division: None,
            sharing: None,
            has_shared: false,
            batch: FIRST_BATCH,
            rounds: 0,
            batches: 0,
            divided: JoinWork::default(),
        }
    }

    /// From now on, processes share the files of the join; with `None`, they no longer do.
    pub(super) fn share(&mut self, sharing: Option<Sharing>) {
        self.sharing = sharing;
    }

    pub(super) fn radii(&self) -> &[u32] {
        &self.radii
    }

    /// Whether any rows can be near. If not, codes are not read.
    fn can_match(&self) -> bool {
        !self.radii.is_empty()
    }

    /// How the codes of the rows were divided, and the number of the pass; `None` if they were not divided.
    pub(super) fn pass(&self) -> Option<(&PairDivision, usize)> {
        self.division.as_ref()?.pass()
    }

    pub(super) fn bytes_of_files(&self) -> usize {
        self.division.as_ref().map_or(0, JoinDivision::bytes)
    }

    /// Whether outer rows, and inner rows, that have no partner by now have none at all.
    pub(super) fn returns_lone(&self) -> [bool; 2] {
        self.division.as_ref().map_or([true; 2], JoinDivision::returns_lone)
    }

    pub(super) fn add_work(&self, work: &mut JoinWork) {
        (work.rounds, work.batches) = (self.rounds, self.batches);
        work.processes = u64::from(self.has_shared);
        (work.partitions, work.disk) = (self.divided.partitions, self.divided.disk);
        if let Some(division) = &self.division {
            division.add_work(work);
        }
    }

    /// Whether the whole inner side is in memory, with its codes.
    pub(super) fn have_whole_inner(&self) -> bool {
        self.inner_ended && self.can_match()
    }

    /// Starts again; if `keeps_inner`, with the inner rows that are in memory.
    pub(super) fn restart(&mut self, keeps_inner: bool) {
        if let Some(division) = self.division.take() {
            division.add_work(&mut self.divided);
            division.close();
        }
        self.is_begun = false;
        self.inner_ended &= keeps_inner;
        (self.outer_ended, self.batch) = (false, FIRST_BATCH);
    }

    /// Reads the next inner rows into memory. Returns whether anything is left to join.
    pub(super) fn next_round(
        &mut self,
        batch: &mut JoinBatch,
        partners: &mut Partners,
    ) -> Result<bool, SqlError> {
        if !self.is_begun {
            self.is_begun = true;
            self.radii = self.parts.reader.radii()?;
            self.rounds = u64::from(self.inner_ended);
            if self.inner_ended {
                return Ok(true);
            }
        } else if self.inner_ended {
            return Ok(false);
        }
        if self.division.is_none() {
            batch.inner.clear();
            if let Some(sharing) = self.sharing {
                self.divide_for_all(sharing, batch)?;
                *partners = sharing.partners();
            } else {
                let can_match = self.can_match();
                self.inner_ended = self.parts.reader.read(1, batch, memory::of_inner(), can_match)?;
                if self.inner_ended {
                    self.rounds += u64::from(batch.inner.rows.len() > 0);
                    return Ok(true);
                }
                self.divide(batch)?;
            }
        }
        let Some(division) = &mut self.division else { return Ok(false) };
        let is_there = division.next_round(batch, partners)?;
        self.rounds += u64::from(is_there && batch.inner.rows.len() > 0);
        Ok(is_there)
    }

    /// Reads the next batch of outer rows. Returns whether there are any.
    pub(super) fn next_batch(
        &mut self,
        batch: &mut JoinBatch,
        partners: &Partners,
    ) -> Result<bool, SqlError> {
        if let Some(division) = &mut self.division {
            division.next_batch(batch, partners)?;
        } else {
            // A row whose code was refused may be left out; the other side shows whether that is an error.
            let is_empty = batch.inner.rows.len() == 0 && !batch.inner.has_codes();
            if is_empty && !self.parts.kind.keeps_outer() {
                return Ok(false);
            }
            self.read_outer(batch)?;
        }
        batch.outer.check(&mut batch.inner)?;
        if batch.outer.rows.len() == 0 {
            return Ok(false);
        }
        self.batch = self.rows_of_next(batch);
        self.batches += 1;
        Ok(true)
    }

    /// Reads rows of an outer side that is not divided.
    fn read_outer(&mut self, batch: &mut JoinBatch) -> Result<(), SqlError> {
        batch.outer.first += batch.outer.rows.len() as u64;
        batch.outer.clear();
        let have_codes = batch.inner.has_codes() && self.can_match();
        let limit = memory::of_batch();
        while !self.outer_ended && batch.outer.rows.len() < self.batch && batch.outer.bytes() < limit {
            check_for_interrupts();
            match self.parts.reader.next(0) {
                Some(row) => self.parts.reader.push(row, 0, batch, have_codes)?,
                None => self.outer_ended = true,
            }
        }
        Ok(())
    }

    /// The largest number of rows for the next batch.
    ///
    /// In a parallel plan, processes take rows from one scan, and one that filled its memory would leave no
    /// rows to the others. So each takes its portion first, and then fractions of a portion while rows are
    /// left. Smaller batches would be shared more evenly, but the inner side is sorted for each batch.
    fn rows_of_next(&self, batch: &JoinBatch) -> usize {
        let portion = self.parts.portion;
        let growing = match self.parts.may_end_early {
            true => self.batch.saturating_mul(GROWTH),
            false => usize::MAX,
        };
        if portion == 0 {
            return growing;
        }
        let taken = batch.outer.first as usize + batch.outer.rows.len();
        growing.min(portion.saturating_sub(taken).max(portion.max(taken) / PARTS_OF_PORTION).max(FIRST_BATCH))
    }

    /// Writes both sides to files and plans their division. The first rows of the inner side are in memory.
    fn divide(&mut self, batch: &mut JoinBatch) -> Result<(), SqlError> {
        let memory = self.parts.memory;
        let mut summaries = [SideSummary::default(), SideSummary::default()];
        // SAFETY: the memory lives as long as the execution, and the inputs are only used during it.
        let mut files = [0, 1].map(|_| unsafe { RowFile::create(memory) });
        for side in [1, 0] {
            self.write_side(side, batch, &mut files[side], &mut summaries[side])?;
        }
        let widths = [&batch.outer, &batch.inner].map(|side| side.format().codes);
        let [outer, inner] = files;
        let all = [(outer, widths[0]), (inner, widths[1])].map(|file| SideFiles::new(vec![file]));
        self.plan_division(FiledRows { all, summaries, sharing: None }, batch)
    }

    /// Writes the rows of this process to files that all processes read, waits until all processes have done
    /// so, and plans the division of all rows.
    fn divide_for_all(&mut self, sharing: Sharing, batch: &mut JoinBatch) -> Result<(), SqlError> {
        self.has_shared = true;
        if sharing.begin() {
            for side in [0, 1] {
                let mut summary = SideSummary::default();
                let mut file = sharing.create_file(SharedFile::Rows(side));
                self.write_side(side, batch, &mut file, &mut summary)?;
                file.export();
                summary.write(sharing.create_file(SharedFile::Summary(side)))?;
            }
            sharing.end_reading(self.parts.kind.notes_partners());
        }
        let mut summaries = [SideSummary::default(), SideSummary::default()];
        let mut all = [Vec::new(), Vec::new()];
        for side in [0, 1] {
            let of_side: &mut JoinSide = if side == 0 { &mut batch.outer } else { &mut batch.inner };
            let files = sharing.files(SharedFile::Rows(side)).zip(sharing.files(SharedFile::Summary(side)));
            for (rows, summary) in files {
                let summary = SideSummary::read(summary)?;
                of_side.expect_lengths(&summary.lengths);
                push(&mut all[side], (rows, summary.words_of_codes()))?;
                summaries[side].add(summary);
            }
        }
        let all = all.map(SideFiles::new);
        self.plan_division(FiledRows { all, summaries, sharing: Some(sharing) }, batch)
    }

    fn plan_division(&mut self, rows: FiledRows, batch: &mut JoinBatch) -> Result<(), SqlError> {
        let InputParts { kind, memory, .. } = self.parts;
        // If no rows can be near, no row in the files has a code, and the radius is not used.
        let radius = self.radii.first().copied().unwrap_or_default();
        // SAFETY: the memory lives as long as the execution, and the inputs are only used during it.
        let division = unsafe { JoinDivision::new(kind, radius, rows, batch, memory)? };
        self.division = Some(division);
        Ok(())
    }

    /// Writes the rows of a side to a file. The first of them may be in memory.
    fn write_side(
        &mut self,
        side: usize,
        batch: &mut JoinBatch,
        file: &mut RowFile,
        summary: &mut SideSummary,
    ) -> Result<(), SqlError> {
        let mut is_ended = false;
        loop {
            let of_side: &mut JoinSide = if side == 0 { &mut batch.outer } else { &mut batch.inner };
            if let Some(sharing) = self.sharing {
                of_side.first = sharing.number_rows(side, of_side.rows.len() as u64);
            }
            of_side.move_to(file, summary)?;
            if is_ended {
                break;
            }
            let can_match = self.can_match();
            is_ended = self.parts.reader.read(side, batch, memory::of_inner(), can_match)?;
        }
        Ok(())
    }
}

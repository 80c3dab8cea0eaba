//! A join whose inner side memory has no room for: both sides go to temporary files, and are divided into
//! parts by their codes, as [`PairDivision`] says. A part of the outer side is joined with the same part of
//! the inner side. In the end come the rows without a partner.

use super::file::RowFile;
use super::run::{NearJoin, Stage};
use super::side::{JoinSide, RowSet, Vary};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use hamming::near_pairs::PairDivision;
use limits::push;
use pgrx::pg_sys::MemoryContext;

/// The part of the memory for the files that are open.
const PART_FOR_FILES: usize = 8;

/// There are so many parts at least, if they are needed, however little memory there is; and at most.
const MIN_PARTS: usize = 4;
const MAX_PARTS: usize = 256;

/// Which rows are joined.
#[derive(Clone, Copy, PartialEq)]
enum JoinStep {
    /// The rows of a part.
    Part {
        pass: usize,
        part: usize,
    },
    /// Outer rows without a partner.
    LoneOuter,
    /// Inner rows without a partner.
    LoneInner,
    End,
}

/// The files of a join, and how far it has come.
pub(super) struct JoinDivision {
    /// None if each row has to be compared with each.
    plan: Option<PairDivision>,
    /// All rows, of the outer side and of the inner one.
    all: [RowFile; 2],
    /// The rows of each part.
    parts: [Vec<RowFile>; 2],
    step: JoinStep,
}

impl JoinDivision {
    /// How the codes of the current part are divided, and in which pass; None if they are not.
    pub(super) fn pass(&self) -> Option<(&PairDivision, usize)> {
        match self.step {
            JoinStep::Part { pass, .. } => Some((self.plan.as_ref()?, pass)),
            _ => None,
        }
    }

    /// Whether the rows without a partner are returned, of the outer side and of the inner one.
    pub(super) fn returns_lone(&self) -> [bool; 2] {
        [JoinStep::LoneOuter, JoinStep::LoneInner].map(|step| step == self.step)
    }

    /// Bytes that the open files take in memory.
    pub(super) fn bytes(&self) -> usize {
        RowFile::BYTES * (2 + self.parts[0].len() + self.parts[1].len())
    }

    /// The file of the current step for a side, if it has rows there.
    fn file(&mut self, side: usize) -> Option<&mut RowFile> {
        match self.step {
            JoinStep::Part { part, .. } if self.plan.is_some() => self.parts[side].get_mut(part),
            JoinStep::Part { .. } => Some(&mut self.all[side]),
            step => (step == [JoinStep::LoneOuter, JoinStep::LoneInner][side]).then_some(&mut self.all[side]),
        }
    }

    /// Reads the rows of a side again.
    pub(super) fn rewind(&mut self, side: usize) {
        if let Some(file) = self.file(side) {
            file.rewind();
        }
    }

    /// Reads rows of the current step up to a limit of bytes. Those whose number is in the set are left out,
    /// and those without codes, unless rows without a partner are read. Returns whether there are no more.
    pub(super) fn load(
        &mut self,
        side: usize,
        to: &mut JoinSide,
        limit: usize,
        without: Option<&RowSet>,
    ) -> Result<bool, SqlError> {
        let have_codes = !self.returns_lone()[side];
        let Some(file) = self.file(side) else { return Ok(true) };
        while to.bytes() < limit {
            check_for_interrupts();
            let is_there =
                to.read_from(file, have_codes, |number| !without.is_some_and(|rows| rows.contains(number)))?;
            if !is_there {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// # Safety
    /// The statement must be in execution.
    unsafe fn close_parts(&mut self) {
        for file in self.parts.iter_mut().flat_map(|parts| parts.drain(..)) {
            // SAFETY: as the caller promises.
            unsafe { file.close() };
        }
    }

    /// # Safety
    /// The statement must be in execution.
    pub(super) unsafe fn close(mut self) {
        // SAFETY: as the caller promises.
        unsafe {
            self.close_parts();
            for file in self.all {
                file.close();
            }
        }
    }

    /// Divides a side for a pass. Returns the words that were written.
    ///
    /// # Safety
    /// The statement must be in execution, and the memory live as long.
    unsafe fn divide(
        &mut self,
        side: usize,
        pass: usize,
        of_side: &JoinSide,
        without: Option<&RowSet>,
        memory: MemoryContext,
    ) -> Result<u64, SqlError> {
        let Some(plan) = &self.plan else { return Ok(0) };
        let files = &mut self.parts[side];
        for _ in 0..plan.parts(pass) {
            // SAFETY: as the caller promises.
            push(files, unsafe { RowFile::create(memory) }).map_err(report::problem)?;
        }
        let all = &mut self.all[side];
        all.rewind();
        while let Some(record) = of_side.read_record(all)? {
            check_for_interrupts();
            let is_left_out = without.is_some_and(|rows| rows.contains(record.number));
            if let Some(code) = of_side.code_of(&record)
                && !is_left_out
            {
                files[plan.part(pass, code)].write(record.words)?;
            }
        }
        files.iter_mut().for_each(RowFile::rewind);
        Ok(files.iter().map(|file| file.words).sum())
    }
}

impl NearJoin {
    /// Whether the join can be divided. Sketches have no codes.
    pub(super) fn can_divide(&self) -> bool {
        !self.radii.is_empty()
    }

    /// Writes both sides to files, of which the first rows of the inner one are in memory, and plans how they
    /// are divided.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn divide(&mut self) -> Result<(), SqlError> {
        let memory = self.parts.memory;
        // SAFETY: the node is in execution, as the caller promises.
        let mut all = [0, 1].map(|_| unsafe { RowFile::create(memory) });
        let (mut rows, mut bytes, mut varying) = ([0; 2], [0; 2], Vary::default());
        for side in [1, 0] {
            let mut is_ended = false;
            loop {
                let of_side = if side == 0 { &mut self.outer } else { &mut self.inner };
                rows[side] += of_side.count;
                bytes[side] += of_side.bytes() + size_of::<u64>() * of_side.rows.len();
                of_side.write_to(&mut all[side], &mut varying)?;
                of_side.first += of_side.rows.len() as u64;
                of_side.clear();
                if is_ended {
                    break;
                }
                // SAFETY: as above.
                is_ended = unsafe { self.read_side(side, Self::memory() / 2)? };
            }
        }
        all.iter_mut().for_each(RowFile::rewind);
        self.work.disk = all.iter().map(|file| file.words).sum();
        let step = JoinStep::Part { pass: 0, part: 0 };
        let division =
            self.division.insert(JoinDivision { plan: None, all, parts: [Vec::new(), Vec::new()], step });
        let limit = Self::memory() / 8;
        division.load(1, &mut self.inner, limit, None)?;
        division.load(0, &mut self.outer, limit, None)?;
        self.outer.check(&mut self.inner)?;
        self.plan_division(rows, bytes, &varying.bits)?;
        self.outer.clear();
        self.inner.clear();
        // SAFETY: as above.
        unsafe { self.begin_pass(0)? };
        Ok(())
    }

    /// Plans the division by the rows that are in memory, which are some of all.
    fn plan_division(
        &mut self,
        rows: [usize; 2],
        bytes: [usize; 2],
        varying: &[u64],
    ) -> Result<(), SqlError> {
        let memory = Self::memory();
        let most = (memory / PART_FOR_FILES / (2 * RowFile::BYTES)).clamp(MIN_PARTS, MAX_PARTS);
        let parts = bytes[0].max(bytes[1]).div_ceil(Self::memory_of_part()).next_power_of_two();
        let bits = parts.min(most).ilog2();
        let (Some(outer), Some(inner), Some(&radius)) =
            (self.outer.codes.first(), self.inner.codes.first(), self.radii.first())
        else {
            return Ok(());
        };
        let samples = [outer.codes(), inner.codes()];
        if rows.contains(&0) {
            return Ok(());
        }
        let plan = PairDivision::new(samples, varying, rows, radius, [bits, Self::widest_segment()]);
        if let Some(division) = &mut self.division {
            division.plan = plan.map_err(report::problem)?;
        }
        Ok(())
    }

    /// Bytes that a part of a side may take.
    pub(super) fn memory_of_part() -> usize {
        Self::memory() / 8 * 3
    }

    /// Divides both sides for a pass.
    ///
    /// # Safety
    /// The node must be in execution.
    unsafe fn begin_pass(&mut self, pass: usize) -> Result<(), SqlError> {
        let Some(division) = &mut self.division else { return Ok(()) };
        division.step = JoinStep::Part { pass, part: 0 };
        let without = self.parts.kind.needs_one_partner().then_some(&self.outer_partners);
        // SAFETY: the node is in execution, as the caller promises.
        let written = unsafe {
            division.close_parts();
            division.divide(0, pass, &self.outer, without, self.parts.memory)?
                + division.divide(1, pass, &self.inner, None, self.parts.memory)?
        };
        division.rewind(0);
        division.rewind(1);
        let all: u64 = division.all.iter().map(|file| file.words).sum();
        self.work.disk = self.work.disk.max(all + written);
        self.work.partitions += division.parts[0].len() as u64;
        self.stage = Stage::Chunk;
        Ok(())
    }

    /// Goes on to the next part, or to the rows without a partner.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn next_step(&mut self) -> Result<(), SqlError> {
        let kind = self.parts.kind;
        let Some(division) = &mut self.division else { return Ok(()) };
        division.step = match division.step {
            JoinStep::Part { pass, part } => match &division.plan {
                Some(plan) if part + 1 < plan.parts(pass) => JoinStep::Part { pass, part: part + 1 },
                // SAFETY: the node is in execution, as the caller promises.
                Some(plan) if pass + 1 < plan.passes() => return unsafe { self.begin_pass(pass + 1) },
                _ if kind.keeps_outer() => JoinStep::LoneOuter,
                _ if kind.keeps_inner() => JoinStep::LoneInner,
                _ => JoinStep::End,
            },
            JoinStep::LoneOuter if kind.keeps_inner() => JoinStep::LoneInner,
            _ => JoinStep::End,
        };
        self.stage = Stage::Chunk;
        match division.step {
            JoinStep::End => self.stage = Stage::End,
            JoinStep::LoneOuter => division.rewind(0),
            JoinStep::LoneInner => division.rewind(1),
            JoinStep::Part { .. } => {}
        }
        Ok(())
    }
}

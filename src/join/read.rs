//! Reads both sides of a join: chunks of the inner side, batches of the outer side.

use super::run::{FIRST_BATCH, NearJoin, Stage};
use crate::pg::executor::{next_row, read_all, reset, value, virtual_row};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use limits::push;
use pgrx::pg_sys::{self, Datum, TupleTableSlot};

/// How much larger each batch is than the last, if the join may end early: few batches, for each of which the
/// inner side is sorted. Otherwise the second one has all that memory has room for.
const GROWTH: usize = 256;

/// The part of its share of the outer side that a process of a parallel plan takes at a time once it has had
/// its share: a few batches, for each of which the inner side is sorted.
const PARTS_OF_SHARE: usize = 4;

/// Memory of the temporary file, in kB: little, for the two sides have what the join may take.
const FILE_MEMORY: i32 = 64;

impl NearJoin {
    /// Reads the next chunk of the inner side, with half of the memory, or less if it is divided.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn read_chunk(&mut self) -> Result<(), SqlError> {
        self.inner.clear();
        if let Some(division) = &mut self.division {
            let lone = division.returns_lone()[1].then_some(&self.inner_partners);
            self.inner_ended = division.load(1, &mut self.inner, Self::memory_of_part(), lone)?;
            division.rewind(0);
        } else {
            self.inner_partners.clear();
            // SAFETY: the node is in execution, as the caller promises.
            unsafe {
                self.inner_ended = self.read_side(1, Self::memory() / 2)?;
                if !self.inner_ended && self.can_divide() {
                    return self.divide();
                }
                if !self.file.is_null() {
                    pg_sys::tuplestore_rescan(self.file);
                } else if !self.inner_ended {
                    self.begin_file();
                }
            }
        }
        self.work.rounds += u64::from(self.inner.rows.len() > 0);
        self.outer.clear();
        (self.outer.first, self.outer_ended) = (0, false);
        let is_needed = self.inner.rows.len() > 0 || self.returns_lone_outer();
        self.stage = if is_needed { Stage::Batch } else { self.after_last_batch() };
        Ok(())
    }

    /// Reads rows of a child up to a limit of bytes. Returns whether there are no more.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn read_side(&mut self, side: usize, limit: usize) -> Result<bool, SqlError> {
        loop {
            let of_side = if side == 0 { &self.outer } else { &self.inner };
            if of_side.bytes() >= limit {
                return Ok(false);
            }
            check_for_interrupts();
            // SAFETY: the node is in execution, as the caller promises.
            unsafe {
                let Some(row) = next_row(self.parts.children[side]) else { return Ok(true) };
                self.push_row(row, side, self.can_match())?;
            }
        }
    }

    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn begin_file(&mut self) {
        // SAFETY: the file lives in memory of the execution, which ends it too if there is an error.
        unsafe {
            let before = pg_sys::CurrentMemoryContext;
            pg_sys::CurrentMemoryContext = self.parts.memory;
            self.file = pg_sys::tuplestore_begin_heap(false, false, FILE_MEMORY);
            pg_sys::tuplestore_set_eflags(self.file, pg_sys::EXEC_FLAG_REWIND as i32);
            pg_sys::CurrentMemoryContext = before;
        }
    }

    /// Adds a row to a side, with its codes if they are wanted and none of them is NULL.
    ///
    /// # Safety
    /// The row must be one of that child.
    unsafe fn push_row(
        &mut self,
        row: *mut TupleTableSlot,
        side: usize,
        is_wanted: bool,
    ) -> Result<(), SqlError> {
        self.row_codes.clear();
        // SAFETY: expressions refer to the columns of both sides; those of the other one are not read. After
        // an error PostgreSQL chooses the current memory itself.
        unsafe {
            let context = self.parts.context;
            reset(context);
            let (values, nulls) = columns(row);
            if is_wanted {
                let first = if side == 0 { 0 } else { self.outer.rows.width() };
                let (all_values, all_nulls) = virtual_row(self.parts.row);
                all_values[first..first + values.len()].copy_from_slice(values);
                all_nulls[first..first + values.len()].copy_from_slice(nulls);
                (*context).ecxt_scantuple = self.parts.row;
                for near in &self.parts.near {
                    let Some(code) = value(near.codes[side], context) else {
                        self.row_codes.clear();
                        break;
                    };
                    push(&mut self.row_codes, code).map_err(report::problem)?;
                }
                // Columns that are not kept are NULL from now on.
                all_nulls[first..first + values.len()].fill(true);
            }
            let of_side = if side == 0 { &mut self.outer } else { &mut self.inner };
            // A value that is stored elsewhere leaves a copy of its pointer there, and a sketch itself.
            let before = pg_sys::CurrentMemoryContext;
            pg_sys::CurrentMemoryContext = (*context).ecxt_per_tuple_memory;
            let pushed = of_side.push((values, nulls), &self.row_codes);
            pg_sys::CurrentMemoryContext = before;
            pushed
        }
    }

    /// The next row of the outer side, from its child or from the temporary file.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn next_outer(&mut self) -> Option<*mut TupleTableSlot> {
        // SAFETY: the node is in execution, as the caller promises.
        unsafe {
            if self.work.rounds > 1 {
                let stored = self.parts.stored;
                let is_there = pg_sys::tuplestore_gettupleslot(self.file, true, false, stored);
                return is_there.then(|| {
                    read_all(stored);
                    stored
                });
            }
            let row = next_row(self.parts.children[0])?;
            if !self.file.is_null() {
                pg_sys::tuplestore_puttupleslot(self.file, row);
            }
            Some(row)
        }
    }

    /// Reads a batch of the outer side, with at most a quarter of the memory, or more if it is divided.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn read_batch(&mut self) -> Result<(), SqlError> {
        self.outer.first += self.outer.rows.len() as u64;
        self.outer.clear();
        let kind = self.parts.kind;
        if let Some(division) = &mut self.division {
            let is_once = kind.needs_one_partner() || division.returns_lone()[0];
            let without = is_once.then_some(&self.outer_partners);
            if !self.outer_ended {
                self.outer_ended = division.load(0, &mut self.outer, Self::memory_of_part(), without)?;
            }
        } else {
            // SAFETY: the node is in execution, as the caller promises.
            unsafe { self.read_outer(Self::memory() / 4)? };
        }
        if self.outer.rows.len() == 0 {
            self.stage = self.after_last_batch();
            return Ok(());
        }
        self.outer.check(&mut self.inner)?;
        self.batch = self.next_batch();
        self.work.batches += 1;
        self.rest = 0..self.outer.count;
        self.stage = Stage::Pairs;
        Ok(())
    }

    /// Reads rows of an outer side that is not divided, up to a limit of bytes.
    ///
    /// # Safety
    /// The node must be in execution.
    unsafe fn read_outer(&mut self, limit: usize) -> Result<(), SqlError> {
        let is_once = self.parts.kind.needs_one_partner();
        // SAFETY: the node is in execution, as the caller promises.
        unsafe {
            while !self.outer_ended && self.outer.rows.len() < self.batch && self.outer.bytes() < limit {
                check_for_interrupts();
                let Some(row) = self.next_outer() else {
                    self.outer_ended = true;
                    break;
                };
                let number = self.outer.number(self.outer.rows.len() as u32);
                let is_open = !is_once || !self.outer_partners.contains(number);
                let is_wanted = is_open && self.inner.has_codes() && self.can_match();
                self.push_row(row, 0, is_wanted)?;
            }
        }
        Ok(())
    }

    /// The rows of the next batch, at most.
    ///
    /// The processes of a parallel plan take rows from one scan. One that takes all that memory has room for
    /// leaves nothing to the others. So each takes its share, and parts of it as long as there are more rows.
    /// Smaller batches would be shared more evenly, but the inner side is sorted for each of them.
    fn next_batch(&self) -> usize {
        let share = self.parts.share;
        let growing = match self.parts.may_end_early {
            true => self.batch.saturating_mul(GROWTH),
            false => usize::MAX,
        };
        if share == 0 || self.work.rounds > 1 {
            return growing;
        }
        let taken = self.outer.first as usize + self.outer.rows.len();
        growing.min(share.saturating_sub(taken).max(share.max(taken) / PARTS_OF_SHARE).max(FIRST_BATCH))
    }
}

/// The columns of a row that has been taken apart.
///
/// # Safety
/// The slot must have such a row.
unsafe fn columns<'a>(row: *mut TupleTableSlot) -> (&'a [Datum], &'a [bool]) {
    // SAFETY: a slot has room for all columns.
    unsafe {
        let columns = (*(*row).tts_tupleDescriptor).natts as usize;
        (
            std::slice::from_raw_parts((*row).tts_values, columns),
            std::slice::from_raw_parts((*row).tts_isnull, columns),
        )
    }
}

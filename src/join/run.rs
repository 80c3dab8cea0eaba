//! Joins chunks of the inner side with batches of the outer side.

use super::exec::{holds, next_row, projected, reset, value, virtual_row};
use super::plan::NodeNumbers;
use super::side::{JoinSide, RowSet};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use hamming::near_pairs::{PairFinder, near_pairs_between};
use limits::{OutOfMemory, push};
use pgrx::pg_sys::{self, Datum, ExprState, TupleTableSlot};
use std::ops::Range;
use std::ptr::null_mut;

/// Rows of the first batch: so many that the answer to LIMIT 1 or EXISTS comes at once.
const FIRST_BATCH: usize = 64;
/// How much larger each batch is than the last: few batches, for each of which the inner side is sorted.
const GROWTH: usize = 16;
/// The least number of pairs for which there is room.
const MIN_PAIRS: usize = 1 << 12;

/// What is made by the executor when a node begins.
pub(super) struct NodeParts {
    pub(super) numbers: NodeNumbers,
    /// The outer child and the inner one.
    pub(super) children: [*mut pg_sys::PlanState; 2],
    /// The code of an outer row, and that of an inner row.
    pub(super) codes: [*mut ExprState; 2],
    pub(super) radius: *mut ExprState,
    /// The further conditions of the join, and those that are tested after it.
    pub(super) conditions: *mut ExprState,
    pub(super) filter: *mut ExprState,
    pub(super) context: *mut pg_sys::ExprContext,
    pub(super) projection: *mut pg_sys::ProjectionInfo,
    /// The columns of both sides.
    pub(super) row: *mut TupleTableSlot,
    /// A row that comes back from the temporary file.
    pub(super) stored: *mut TupleTableSlot,
    /// Memory that lives as long as the execution of the plan.
    pub(super) memory: pg_sys::MemoryContext,
}

/// What EXPLAIN shows.
#[derive(Default)]
pub(super) struct Work {
    pub(super) rounds: u64,
    pub(super) batches: u64,
    pub(super) comparisons: u64,
    pub(super) matches: u64,
    /// Pairs that did not pass the further conditions of the join.
    pub(super) removed: u64,
    /// Rows that did not pass the conditions after the join.
    pub(super) filtered: u64,
    pub(super) bytes: usize,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// Nothing has been read.
    Begin,
    /// Another batch of the outer side.
    Batch,
    /// The pairs that were found, and further codes of the batch.
    Pairs,
    /// Outer rows of the batch that have no partner, from this one on.
    LoneOuter(u32),
    /// Inner rows of the chunk that have no partner, from this one on.
    LoneInner(u32),
    /// Another chunk of the inner side.
    Chunk,
    End,
}

/// A near join that is executed.
pub(super) struct NearJoin {
    pub(super) parts: NodeParts,
    pub(super) work: Work,
    stage: Stage,
    radius: Option<i32>,
    outer: JoinSide,
    inner: JoinSide,
    /// Whether the inner side has been read to its end.
    inner_ended: bool,
    /// Whether the outer side has been read to its end in this round. A scan that is asked again would begin
    /// again.
    outer_ended: bool,
    /// Outer rows that have a partner, by their number in the whole side, and inner rows of the chunk.
    outer_partners: RowSet,
    inner_partners: RowSet,
    /// Outer rows that were read before the batch.
    before: u64,
    /// The outer side, if it has to be read again.
    file: *mut pg_sys::Tuplestorestate,
    batch: usize,
    /// The codes of the batch whose pairs have not been found yet, and how many of them come next.
    rest: Range<usize>,
    step: usize,
    pairs: Vec<(u32, u32)>,
    next_pair: usize,
}

impl NearJoin {
    pub(super) fn new(parts: NodeParts, sides: [JoinSide; 2]) -> Self {
        let [outer, inner] = sides;
        Self {
            parts,
            work: Work::default(),
            stage: Stage::Begin,
            radius: None,
            outer,
            inner,
            inner_ended: false,
            outer_ended: false,
            outer_partners: RowSet::default(),
            inner_partners: RowSet::default(),
            before: 0,
            file: null_mut(),
            batch: FIRST_BATCH,
            rest: 0..0,
            step: 0,
            pairs: Vec::new(),
            next_pair: 0,
        }
    }

    /// Begins again. The inner side is kept if it has not changed.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn restart(&mut self, keeps_inner: bool) {
        // SAFETY: the node is in execution, as the caller promises.
        unsafe { self.end_file() };
        if !keeps_inner || !self.has_whole_inner() {
            self.inner.reset();
            self.inner_ended = false;
        }
        self.outer.reset();
        self.outer_partners.clear();
        self.inner_partners.clear();
        self.pairs.clear();
        (self.next_pair, self.rest, self.before, self.batch) = (0, 0..0, 0, FIRST_BATCH);
        self.outer_ended = false;
        self.stage = Stage::Begin;
    }

    /// Whether the whole inner side is in memory.
    pub(super) fn has_whole_inner(&self) -> bool {
        self.inner_ended && self.work.rounds == 1
    }

    /// Gives back all memory.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn end(&mut self) {
        // SAFETY: the node is in execution, as the caller promises.
        unsafe { self.restart(false) };
        self.pairs = Vec::new();
        self.outer_partners = RowSet::default();
        self.inner_partners = RowSet::default();
        self.stage = Stage::End;
    }

    unsafe fn end_file(&mut self) {
        if !self.file.is_null() {
            // SAFETY: the file was begun by this node, and is ended once.
            unsafe { pg_sys::tuplestore_end(std::mem::replace(&mut self.file, null_mut())) };
        }
    }

    /// The next row of the join; null at its end.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn next(&mut self) -> Result<*mut TupleTableSlot, SqlError> {
        let kind = self.parts.numbers.kind;
        loop {
            check_for_interrupts();
            // SAFETY: the node is in execution, as the caller promises.
            unsafe {
                let found = match self.stage {
                    Stage::Begin => {
                        self.begin()?;
                        None
                    }
                    Stage::Chunk => {
                        self.read_chunk()?;
                        None
                    }
                    Stage::Batch => {
                        self.read_batch()?;
                        None
                    }
                    Stage::Pairs => self.next_of_pairs()?,
                    Stage::LoneOuter(row) if kind.keeps_outer() && self.inner_ended => {
                        self.next_lone_outer(row)
                    }
                    Stage::LoneOuter(_) => {
                        self.stage = Stage::Batch;
                        None
                    }
                    Stage::LoneInner(row) => self.next_lone_inner(row),
                    Stage::End => return Ok(null_mut()),
                };
                if let Some(row) = found {
                    return Ok(row);
                }
            }
        }
    }

    /// # Safety
    /// The node must be in execution.
    unsafe fn begin(&mut self) -> Result<(), SqlError> {
        // SAFETY: the node is in execution, as the caller promises.
        unsafe {
            reset(self.parts.context);
            self.radius = value(self.parts.radius, self.parts.context).map(|datum| datum.value() as i32);
            if self.inner_ended {
                self.work.rounds = 1;
                self.stage = Stage::Batch;
                return Ok(());
            }
            self.work.rounds = 0;
            self.read_chunk()
        }
    }

    /// Memory that the join may take.
    fn memory() -> usize {
        // SAFETY: settings.
        (unsafe { pg_sys::get_hash_memory_limit() }).min(super::rows::RowStore::MAX_BYTES)
    }

    /// Reads the next chunk of the inner side, with half of the memory.
    ///
    /// # Safety
    /// The node must be in execution.
    unsafe fn read_chunk(&mut self) -> Result<(), SqlError> {
        let limit = Self::memory() / 2;
        self.inner.clear();
        self.inner_partners.clear();
        // SAFETY: the node is in execution, as the caller promises.
        unsafe {
            while self.inner.bytes() < limit {
                check_for_interrupts();
                let Some(row) = next_row(self.parts.children[1]) else {
                    self.inner_ended = true;
                    break;
                };
                let code = if self.radius.is_some() { self.code_of(row, 1) } else { None };
                self.inner.push(columns(row), code)?;
            }
            self.work.rounds += 1;
            self.outer.clear();
            (self.before, self.outer_ended) = (0, false);
            if !self.file.is_null() {
                pg_sys::tuplestore_rescan(self.file);
            } else if !self.inner_ended {
                self.begin_file();
            }
        }
        let is_needed =
            self.inner.rows.len() > 0 || self.parts.numbers.kind.keeps_outer() && self.inner_ended;
        self.stage = if is_needed { Stage::Batch } else { self.after_last_batch() };
        Ok(())
    }

    /// # Safety
    /// The node must be in execution.
    unsafe fn begin_file(&mut self) {
        // SAFETY: the file lives in memory of the execution, which ends it too if there is an error.
        unsafe {
            let before = pg_sys::CurrentMemoryContext;
            pg_sys::CurrentMemoryContext = self.parts.memory;
            self.file = pg_sys::tuplestore_begin_heap(false, false, pg_sys::work_mem);
            pg_sys::tuplestore_set_eflags(self.file, pg_sys::EXEC_FLAG_REWIND as i32);
            pg_sys::CurrentMemoryContext = before;
        }
    }

    fn after_last_batch(&self) -> Stage {
        match self.parts.numbers.kind.keeps_inner() {
            true => Stage::LoneInner(0),
            false => self.after_chunk(),
        }
    }

    fn after_chunk(&self) -> Stage {
        if self.inner_ended { Stage::End } else { Stage::Chunk }
    }

    /// The code of a row of a side.
    ///
    /// # Safety
    /// The row must be one of that child.
    unsafe fn code_of(&self, row: *mut TupleTableSlot, side: usize) -> Option<Datum> {
        // SAFETY: expressions refer to the columns of both sides; those of the other one are not read.
        unsafe {
            let (values, nulls) = columns(row);
            let first = if side == 0 { 0 } else { self.outer.rows.width() };
            let (all_values, all_nulls) = virtual_row(self.parts.row);
            all_values[first..first + values.len()].copy_from_slice(values);
            all_nulls[first..first + values.len()].copy_from_slice(nulls);
            let context = self.parts.context;
            reset(context);
            (*context).ecxt_scantuple = self.parts.row;
            value(self.parts.codes[side], context)
        }
    }

    /// The next row of the outer side, from its child or from the temporary file.
    ///
    /// # Safety
    /// The node must be in execution.
    unsafe fn next_outer(&mut self) -> Option<*mut TupleTableSlot> {
        // SAFETY: the node is in execution, as the caller promises.
        unsafe {
            if self.work.rounds > 1 {
                let stored = self.parts.stored;
                let is_there = pg_sys::tuplestore_gettupleslot(self.file, true, false, stored);
                return is_there.then(|| {
                    super::exec::read_all(stored);
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

    /// Reads a batch of the outer side, with at most a quarter of the memory.
    ///
    /// # Safety
    /// The node must be in execution.
    unsafe fn read_batch(&mut self) -> Result<(), SqlError> {
        let limit = Self::memory() / 4;
        self.before += self.outer.rows.len() as u64;
        self.outer.clear();
        let is_once = self.parts.numbers.kind.needs_one_partner();
        // SAFETY: the node is in execution, as the caller promises.
        unsafe {
            while !self.outer_ended && self.outer.rows.len() < self.batch && self.outer.bytes() < limit {
                check_for_interrupts();
                let Some(row) = self.next_outer() else {
                    self.outer_ended = true;
                    break;
                };
                let number = self.before + self.outer.rows.len() as u64;
                let is_open = !is_once || !self.outer_partners.contains(number);
                let is_wanted = is_open && self.inner.has_codes() && self.radius.is_some();
                let code = if is_wanted { self.code_of(row, 0) } else { None };
                self.outer.push(columns(row), code)?;
            }
        }
        if self.outer.rows.len() == 0 {
            self.stage = self.after_last_batch();
            return Ok(());
        }
        self.outer.check(&mut self.inner)?;
        self.batch = self.batch.saturating_mul(GROWTH);
        self.work.batches += 1;
        self.rest = 0..if self.radius >= Some(0) { self.outer.codes.codes().len() } else { 0 };
        self.step = self.rest.len();
        self.stage = Stage::Pairs;
        Ok(())
    }

    /// The next pair that the join returns.
    ///
    /// # Safety
    /// The node must be in execution.
    unsafe fn next_of_pairs(&mut self) -> Result<Option<*mut TupleTableSlot>, SqlError> {
        let kind = self.parts.numbers.kind;
        while self.next_pair < self.pairs.len() {
            check_for_interrupts();
            let (code, other) = self.pairs[self.next_pair];
            self.next_pair += 1;
            let (outer, inner) = (self.outer.row(code), self.inner.row(other));
            let number = self.before + u64::from(outer);
            if kind.needs_one_partner() && self.outer_partners.contains(number) {
                continue;
            }
            // SAFETY: the node is in execution, as the caller promises.
            unsafe {
                self.put(Some(outer), Some(inner));
                if !holds(self.parts.conditions, self.parts.context) {
                    self.work.removed += 1;
                    continue;
                }
            }
            if kind.keeps_outer() || kind.needs_one_partner() {
                self.outer_partners.insert(number).map_err(report::problem)?;
            }
            if kind.keeps_inner() {
                self.inner_partners.insert(inner.into()).map_err(report::problem)?;
            }
            if kind.returns_pairs() {
                // SAFETY: the node is in execution, and its row is that of the pair.
                let row = unsafe { self.filtered() };
                if row.is_some() {
                    return Ok(row);
                }
            }
        }
        match self.rest.is_empty() {
            true => self.stage = Stage::LoneOuter(0),
            false => self.find_pairs()?,
        }
        Ok(None)
    }

    /// Finds the pairs of the next codes of the batch: fewer codes if there are too many pairs.
    fn find_pairs(&mut self) -> Result<(), SqlError> {
        self.next_pair = 0;
        let room = (Self::memory() / 4 / size_of::<(u32, u32)>()).max(MIN_PAIRS);
        let (outer, inner) = (self.outer.codes.codes(), self.inner.codes.codes());
        loop {
            self.pairs.clear();
            let codes = self.rest.start..self.rest.end.min(self.rest.start + self.step);
            let mut finder = Pairs {
                pairs: &mut self.pairs,
                first: codes.start as u32,
                room: if codes.len() > 1 { room } else { usize::MAX },
                comparisons: 0,
            };
            let radius = self.radius.unwrap_or(0) as u32;
            let found = near_pairs_between(
                outer.range(codes.clone()),
                inner,
                radius,
                &mut check_for_interrupts,
                &mut finder,
            );
            self.work.comparisons += finder.comparisons;
            match found {
                Ok(()) => self.rest.start = codes.end,
                Err(Stop::Full) => {
                    self.step = codes.len().div_ceil(2);
                    continue;
                }
                Err(Stop::OutOfMemory(refusal)) => return Err(report::problem(refusal)),
            }
            if self.pairs.len() < room / 4 {
                self.step = self.step.saturating_mul(2);
            }
            self.work.matches += self.pairs.len() as u64;
            let bytes = self.outer.bytes() + self.inner.bytes() + size_of_val(&self.pairs[..]);
            self.work.bytes = self.work.bytes.max(bytes);
            return Ok(());
        }
    }

    /// The next outer row without a partner, filled up with NULLs.
    ///
    /// # Safety
    /// The node must be in execution.
    unsafe fn next_lone_outer(&mut self, first: u32) -> Option<*mut TupleTableSlot> {
        for row in first..self.outer.rows.len() as u32 {
            check_for_interrupts();
            if self.outer_partners.contains(self.before + u64::from(row)) {
                continue;
            }
            // SAFETY: the node is in execution, as the caller promises.
            unsafe {
                self.put(Some(row), None);
                if let Some(result) = self.filtered() {
                    self.stage = Stage::LoneOuter(row + 1);
                    return Some(result);
                }
            }
        }
        self.stage = Stage::Batch;
        None
    }

    /// The next inner row without a partner, filled up with NULLs.
    ///
    /// # Safety
    /// The node must be in execution.
    unsafe fn next_lone_inner(&mut self, first: u32) -> Option<*mut TupleTableSlot> {
        for row in first..self.inner.rows.len() as u32 {
            check_for_interrupts();
            if self.inner_partners.contains(row.into()) {
                continue;
            }
            // SAFETY: the node is in execution, as the caller promises.
            unsafe {
                self.put(None, Some(row));
                if let Some(result) = self.filtered() {
                    self.stage = Stage::LoneInner(row + 1);
                    return Some(result);
                }
            }
        }
        self.stage = self.after_chunk();
        None
    }

    /// Makes the current row of these two, of which one may be missing.
    ///
    /// # Safety
    /// The node must be in execution.
    unsafe fn put(&self, outer: Option<u32>, inner: Option<u32>) {
        // SAFETY: the node is in execution, as the caller promises.
        unsafe {
            let context = self.parts.context;
            reset(context);
            (*context).ecxt_scantuple = self.parts.row;
            let (values, nulls) = virtual_row(self.parts.row);
            let (values, inner_values) = values.split_at_mut(self.outer.rows.width());
            let (nulls, inner_nulls) = nulls.split_at_mut(self.outer.rows.width());
            match outer {
                Some(row) => self.outer.rows.put(row, values, nulls),
                None => nulls.fill(true),
            }
            match inner {
                Some(row) => self.inner.rows.put(row, inner_values, inner_nulls),
                None => inner_nulls.fill(true),
            }
        }
    }

    /// What the node returns of the current row; None if it does not pass the conditions after the join.
    ///
    /// # Safety
    /// The node must be in execution, and have a current row.
    unsafe fn filtered(&mut self) -> Option<*mut TupleTableSlot> {
        // SAFETY: as the caller promises.
        unsafe {
            if holds(self.parts.filter, self.parts.context) {
                return Some(projected(self.parts.projection, self.parts.row));
            }
            self.work.filtered += 1;
            None
        }
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

/// Why a search for pairs ends early.
enum Stop {
    Full,
    OutOfMemory(OutOfMemory),
}

impl From<OutOfMemory> for Stop {
    fn from(refusal: OutOfMemory) -> Self {
        Self::OutOfMemory(refusal)
    }
}

/// The pairs of some codes of a batch.
struct Pairs<'a> {
    pairs: &'a mut Vec<(u32, u32)>,
    /// The place in the batch of the first of these codes.
    first: u32,
    room: usize,
    comparisons: u64,
}

impl PairFinder for Pairs<'_> {
    type Stop = Stop;

    fn found(&mut self, a: u32, b: u32) -> Result<(), Stop> {
        if self.pairs.len() == self.room {
            return Err(Stop::Full);
        }
        Ok(push(self.pairs, (self.first + a, b))?)
    }

    fn compared(&mut self, comparisons: u64) {
        self.comparisons += comparisons;
    }
}

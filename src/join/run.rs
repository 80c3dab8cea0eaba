//! Joins chunks of the inner side with batches of the outer side, one stage after the other.

use super::division::JoinDivision;
use super::kind::JoinKind;
use super::measure::NearMeasure;
use super::side::{JoinSide, RowSet};
use crate::pg::executor::reset;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use pgrx::pg_sys::{self, Datum, ExprState, TupleTableSlot};
use std::ops::Range;
use std::ptr::null_mut;
use text::sketch::join::SketchMatch;

/// Rows of the first batch: so many that the answer to LIMIT 1 or EXISTS comes at once.
pub(super) const FIRST_BATCH: usize = 64;

/// What is made by the executor when a node begins.
pub(super) struct NodeParts {
    pub(super) kind: JoinKind,
    pub(super) may_end_early: bool,
    /// Outer rows that the process is expected to get in a parallel plan; 0 in others.
    pub(super) share: usize,
    /// The outer child and the inner one.
    pub(super) children: [*mut pg_sys::PlanState; 2],
    /// The conditions by which rows are near: that which is searched for, then those that are looked at.
    pub(super) near: Vec<NearParts>,
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

/// A condition by which rows are near.
pub(super) struct NearParts {
    pub(super) measure: NearMeasure,
    /// The code or the sketch of an outer row, and that of an inner row.
    pub(super) codes: [*mut ExprState; 2],
    /// The radius, or the least share.
    pub(super) limit: Option<*mut ExprState>,
}

/// What EXPLAIN shows.
#[derive(Default)]
pub(super) struct JoinWork {
    pub(super) rounds: u64,
    pub(super) batches: u64,
    /// Parts into which the sides were divided, in all passes; 0 if they were not.
    pub(super) partitions: u64,
    /// Words in temporary files at a time.
    pub(super) disk: u64,
    pub(super) comparisons: u64,
    pub(super) matches: u64,
    /// Pairs within the first radius, but not within the others.
    pub(super) dismissed: u64,
    /// Pairs that did not pass the further conditions of the join.
    pub(super) removed: u64,
    /// Rows that did not pass the conditions after the join.
    pub(super) filtered: u64,
    pub(super) bytes: usize,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Stage {
    /// Nothing has been read.
    Begin,
    /// Another batch of the outer side.
    Batch,
    /// The pairs that were found, and further codes of the batch.
    Pairs,
    /// Outer rows of the batch that have found a partner, by their codes from this one on.
    WithPartner(u32),
    /// Outer rows of the batch that have no partner, from this one on.
    LoneOuter(u32),
    /// Inner rows of the chunk that have no partner, from this one on.
    LoneInner(u32),
    /// Another chunk of the inner side.
    Chunk,
    /// Another part of a join that is divided.
    Part,
    End,
}

/// A near join that is executed.
pub(super) struct NearJoin {
    pub(super) parts: NodeParts,
    pub(super) work: JoinWork,
    pub(super) stage: Stage,
    /// The radius of each condition on a distance.
    pub(super) radii: Vec<u32>,
    /// What sketches have to share.
    pub(super) wanted: Option<SketchMatch>,
    pub(super) outer: JoinSide,
    pub(super) inner: JoinSide,
    /// Whether the inner side has been read to its end.
    pub(super) inner_ended: bool,
    /// Whether the outer side has been read to its end in this round. A scan that is asked again would begin
    /// again.
    pub(super) outer_ended: bool,
    /// Outer rows that have a partner, by their number in the whole side, and inner rows of the chunk, or of
    /// the whole side too if the join is divided.
    pub(super) outer_partners: RowSet,
    pub(super) inner_partners: RowSet,
    /// If memory has no room for the inner side.
    pub(super) division: Option<JoinDivision>,
    /// The outer side, if it has to be read again and is not divided.
    pub(super) file: *mut pg_sys::Tuplestorestate,
    pub(super) batch: usize,
    /// The codes of the batch whose pairs have not been found yet.
    pub(super) rest: Range<usize>,
    /// Pairs that the last codes had on average; as many are expected of the next.
    pub(super) pairs_per_code: f64,
    pub(super) pairs: Vec<(u32, u32)>,
    pub(super) next_pair: usize,
    /// The codes of a row that is read.
    pub(super) row_codes: Vec<Datum>,
}

impl NearJoin {
    pub(super) fn new(parts: NodeParts, sides: [JoinSide; 2]) -> Self {
        let [outer, inner] = sides;
        Self {
            parts,
            work: JoinWork::default(),
            stage: Stage::Begin,
            radii: Vec::new(),
            wanted: None,
            outer,
            inner,
            inner_ended: false,
            outer_ended: false,
            outer_partners: RowSet::default(),
            inner_partners: RowSet::default(),
            division: None,
            file: null_mut(),
            batch: FIRST_BATCH,
            rest: 0..0,
            pairs_per_code: 0.0,
            pairs: Vec::new(),
            next_pair: 0,
            row_codes: Vec::new(),
        }
    }

    /// Begins again. The inner side is kept if it has not changed.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn restart(&mut self, keeps_inner: bool) {
        if !keeps_inner || !self.has_whole_inner() {
            self.inner.reset();
            self.inner_ended = false;
        }
        // SAFETY: the node is in execution, as the caller promises.
        unsafe { self.end_files() };
        self.outer.reset();
        self.outer_partners.clear();
        self.inner_partners.clear();
        self.pairs.clear();
        (self.next_pair, self.rest, self.batch) = (0, 0..0, FIRST_BATCH);
        self.outer_ended = false;
        self.stage = Stage::Begin;
    }

    /// Whether the whole inner side is in memory, with its codes, which are not read for a limit of NULL.
    pub(super) fn has_whole_inner(&self) -> bool {
        self.inner_ended && self.work.rounds == 1 && self.division.is_none() && self.can_match()
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

    /// # Safety
    /// The node must be in execution.
    unsafe fn end_files(&mut self) {
        if let Some(division) = self.division.take() {
            // SAFETY: the node is in execution, as the caller promises.
            unsafe { division.close() };
        }
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
                    Stage::Part => {
                        self.next_step()?;
                        None
                    }
                    Stage::Pairs => self.next_of_pairs()?,
                    Stage::WithPartner(code) => self.next_with_partner(code),
                    Stage::LoneOuter(row) if self.returns_lone_outer() => self.next_lone_outer(row),
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
            self.read_limits()?;
            if self.inner_ended {
                self.work.rounds = 1;
                self.stage = Stage::Batch;
                return Ok(());
            }
            self.work.rounds = 0;
            self.read_chunk()
        }
    }

    /// Whether outer rows of the batch that have no partner by now have none at all, and are returned.
    pub(super) fn returns_lone_outer(&self) -> bool {
        let have_met_all = match &self.division {
            Some(division) => division.returns_lone()[0],
            None => self.inner_ended,
        };
        self.parts.kind.keeps_outer() && have_met_all
    }

    pub(super) fn after_last_batch(&self) -> Stage {
        let have_met_all = self.division.as_ref().is_none_or(|division| division.returns_lone()[1]);
        match self.parts.kind.keeps_inner() && have_met_all {
            true => Stage::LoneInner(0),
            false => self.after_chunk(),
        }
    }

    pub(super) fn after_chunk(&self) -> Stage {
        match self.inner_ended {
            false => Stage::Chunk,
            true if self.division.is_some() => Stage::Part,
            true => Stage::End,
        }
    }
}

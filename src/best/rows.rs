//! The rows of a node, pass by pass.

use super::plan::BestNumbers;
use crate::gin::query::{BestWanted, SketchQuery, query_values};
use crate::pg::executor::{next_row, projected, reset, value, virtual_row};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use limits::collect;
use pgrx::pg_sys::{self, BitmapIndexScanState, Datum, PlanState, TupleTableSlot};
use pgrx::{Array, FromDatum, PgMemoryContexts};
use std::ptr::null_mut;
use text::sketch::descent::{Descent, DescentOrder, Pass, Verdict};

/// The parts of a node that PostgreSQL has made.
pub(super) struct BestParts {
    pub(super) numbers: BestNumbers,
    /// The rows that a search finds, sorted.
    pub(super) found: *mut PlanState,
    /// All rows of the table.
    pub(super) rest: *mut PlanState,
    /// Below `found`: the scan of the table by the index, and that of the index.
    pub(super) scan: *mut PlanState,
    pub(super) index: *mut BitmapIndexScanState,
    pub(super) query: *mut pg_sys::ExprState,
    pub(super) context: *mut pg_sys::ExprContext,
    pub(super) projection: *mut pg_sys::ProjectionInfo,
    pub(super) row: *mut TupleTableSlot,
    /// The memory of the execution.
    pub(super) memory: pg_sys::MemoryContext,
}

/// What EXPLAIN shows.
#[derive(Default)]
pub(super) struct BestWork {
    pub(super) searches: i64,
    /// The least share that was searched for.
    pub(super) least: Option<f64>,
}

/// The rows of a node.
pub(super) struct BestRows {
    pub(super) parts: BestParts,
    pub(super) work: BestWork,
    /// The query, once its values are known.
    query: Option<(Descent, Vec<i64>)>,
    pass: Option<Pass>,
    /// What the index is searched for.
    searched: Datum,
}

impl BestRows {
    pub(super) fn new(parts: BestParts) -> Self {
        let (query, searched) = (None, Datum::null());
        Self { parts, work: BestWork::default(), query, pass: None, searched }
    }

    /// Forgets the query, which may be another one from now on.
    pub(super) fn restart(&mut self) {
        (self.query, self.pass) = (None, None);
    }

    /// The next row; null at the end.
    ///
    /// # Safety
    /// The node must be in execution.
    pub(super) unsafe fn next(&mut self) -> Result<*mut TupleTableSlot, SqlError> {
        // SAFETY: the node is in execution, as the caller promises; so are its children.
        unsafe {
            reset(self.parts.context);
            loop {
                check_for_interrupts();
                let pass = match self.pass {
                    Some(pass) => pass,
                    None => match self.begin_pass()? {
                        Some(pass) => *self.pass.insert(pass),
                        None => return Ok(null_mut()),
                    },
                };
                let child = if pass.reads_all() { self.parts.rest } else { self.parts.found };
                let found = next_row(child);
                // The Sort has read all that the search fetches.
                let bound = self.bound(pass);
                let pass = pass.bounded(bound);
                if let Pass::Search { least, .. } = pass {
                    self.work.least = Some(least);
                }
                match found.map_or(Verdict::End, |row| pass.verdict(self.share(row))) {
                    Verdict::Take => return Ok(found.map_or(null_mut(), |row| self.returned(row))),
                    Verdict::Skip => {}
                    Verdict::End => self.end_pass(bound),
                }
            }
        }
    }

    /// The bound of what a search has met; 0 of other passes.
    fn bound(&self, pass: Pass) -> f64 {
        match pass {
            // SAFETY: what such a pass searches for has the bound.
            Pass::Search { .. } => unsafe { SketchQuery::bound(self.searched).read_unaligned() },
            Pass::Empty | Pass::NoneShared | Pass::NoShare => 0.0,
        }
    }

    /// Ends a pass, whose search has met this bound.
    fn end_pass(&mut self, bound: f64) {
        if let (Some(Pass::Search { .. }), Some((descent, _))) = (self.pass.take(), &mut self.query) {
            descent.searched(bound);
        }
    }

    /// The share of a row of a child.
    ///
    /// # Safety
    /// The slot must have the row, with all of its columns.
    unsafe fn share(&self, row: *mut TupleTableSlot) -> Option<f64> {
        let place = self.parts.numbers.share;
        // SAFETY: the slot has all columns, as the caller promises, among them a double precision there.
        unsafe {
            let is_null = *(*row).tts_isnull.add(place);
            (!is_null).then(|| f64::from_bits((*(*row).tts_values.add(place)).value() as u64))
        }
    }

    /// What the node returns for a row of a child.
    ///
    /// # Safety
    /// As for [`Self::share`]; the node must be in execution.
    unsafe fn returned(&self, row: *mut TupleTableSlot) -> *mut TupleTableSlot {
        // SAFETY: as the caller promises; the slot of the node has the columns of its children.
        unsafe {
            let (values, nulls) = virtual_row(self.parts.row);
            values.copy_from_slice(std::slice::from_raw_parts((*row).tts_values, values.len()));
            nulls.copy_from_slice(std::slice::from_raw_parts((*row).tts_isnull, nulls.len()));
            (*self.parts.context).ecxt_scantuple = self.parts.row;
            projected(self.parts.projection, self.parts.row)
        }
    }

    /// Begins the next pass, if there is one.
    ///
    /// # Safety
    /// The node must be in execution.
    unsafe fn begin_pass(&mut self) -> Result<Option<Pass>, SqlError> {
        // SAFETY: the node is in execution, as the caller promises; so are its children.
        unsafe {
            let measure = self.parts.numbers.measure;
            if self.query.is_none() {
                self.query = Some(self.read_query()?);
            }
            let Some((descent, values)) = &mut self.query else { return Ok(None) };
            let Some(pass) = descent.next_pass() else { return Ok(None) };
            if pass.reads_all() {
                pg_sys::ExecReScan(self.parts.rest);
                return Ok(Some(pass));
            }
            let values = collect(values.iter().copied(), values.len()).map_err(report::problem)?;
            let best = match pass {
                Pass::Search { below, wanted, .. } => Some(BestWanted { below, count: wanted }),
                Pass::Empty | Pass::NoneShared | Pass::NoShare => None,
            };
            let query = SketchQuery { threshold: pass.threshold(measure), best, values };
            let searched = PgMemoryContexts::For(self.parts.memory).switch_to(|_| query.datum());
            self.search(searched);
            self.work.searches += 1;
            Ok(Some(pass))
        }
    }

    /// The query, with how it is searched for.
    ///
    /// # Safety
    /// The node must be in execution.
    unsafe fn read_query(&self) -> Result<(Descent, Vec<i64>), SqlError> {
        let &BestNumbers { measure, nulls_first, wanted, .. } = &self.parts.numbers;
        // SAFETY: the node is in execution, as the caller promises; the query is a bigint[].
        let sketch = unsafe {
            value(self.parts.query, self.parts.context).and_then(|datum| Array::from_datum(datum, false))
        };
        let values = sketch.map(|sketch| query_values(&sketch)).transpose()?;
        let order = DescentOrder { measure, values: values.as_ref().map(Vec::len), nulls_first };
        Ok((Descent::new(order, wanted), values.unwrap_or_default()))
    }

    /// Makes the scan of the index search for this, and the nodes above it begin again.
    ///
    /// # Safety
    /// The datum must be a sketch_query that lives until the next search.
    unsafe fn search(&mut self, searched: Datum) {
        // SAFETY: the scan has a key for the operator, whose argument is a constant of the plan or the one
        // that was written here before.
        unsafe {
            let index = &mut *self.parts.index;
            let keys = std::slice::from_raw_parts_mut(index.biss_ScanKeys, index.biss_NumScanKeys as usize);
            keys.iter_mut().for_each(|key| key.sk_argument = searched);
            // A Sort that has not sorted yet does not begin its child again.
            pg_sys::ExecReScan(self.parts.found);
            pg_sys::ExecReScan(self.parts.scan);
            if !self.searched.is_null() {
                pg_sys::pfree(self.searched.cast_mut_ptr());
            }
            self.searched = searched;
        }
    }
}

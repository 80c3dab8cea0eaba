//! The execution of a near join: the loop that calls its four parts.

use super::batch::JoinBatch;
use super::explain::JoinWork;
use super::finder::JoinFinder;
use super::inputs::JoinInputs;
use super::output::{JoinOutput, LateRows};
use super::shared::Sharing;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use pgrx::pg_sys::TupleTableSlot;
use std::ptr::null_mut;

/// The next step of the loop.
#[derive(Clone, Copy)]
enum Stage {
    /// Read other inner rows.
    Round,
    /// Read another batch of outer rows.
    Batch,
    /// Search for pairs of the batch.
    Search,
    /// Return the pairs that were found.
    Pairs,
    /// Return the rows that are not returned pair by pair.
    Late(LateRows),
    End,
}

/// The state of a near join during execution.
pub(super) struct NearJoin {
    inputs: JoinInputs,
    batch: JoinBatch,
    finder: JoinFinder,
    output: JoinOutput,
    stage: Stage,
    /// Set if other processes do a part of the work; and the work that they have reported.
    sharing: Option<Sharing>,
    others: JoinWork,
}

impl NearJoin {
    pub(super) fn new(inputs: JoinInputs, batch: JoinBatch, output: JoinOutput) -> Self {
        let (finder, others) = (JoinFinder::default(), JoinWork::default());
        Self { inputs, batch, finder, output, stage: Stage::Round, sharing: None, others }
    }

    /// From now on, other processes do a part of the work.
    pub(super) fn share(&mut self, sharing: Sharing) {
        self.sharing = Some(sharing);
        self.inputs.share(self.sharing);
    }

    /// Stops sharing, since the shared memory is about to be freed.
    pub(super) fn end_sharing(&mut self) {
        if let Some(sharing) = self.sharing.take() {
            self.others = sharing.work_of_others();
            sharing.publish(&self.work_of_this());
            self.end();
            self.inputs.share(None);
        }
    }

    /// The next row of the join; null after the last one.
    pub(super) fn next(&mut self) -> Result<*mut TupleTableSlot, SqlError> {
        let row = self.next_row()?;
        if let (true, Some(sharing)) = (row.is_null(), self.sharing) {
            sharing.publish(&self.work_of_this());
        }
        Ok(row)
    }

    fn next_row(&mut self) -> Result<*mut TupleTableSlot, SqlError> {
        let Self { inputs, batch, finder, output, stage, .. } = self;
        loop {
            check_for_interrupts();
            *stage = match *stage {
                Stage::Round if inputs.next_round(batch, output.partners_mut())? => Stage::Batch,
                Stage::Round => Stage::End,
                Stage::Batch if inputs.next_batch(batch, output.partners())? => {
                    finder.begin(batch);
                    output.begin_batch();
                    Stage::Search
                }
                Stage::Batch => Stage::Late(LateRows::LoneInner),
                Stage::Search if finder.find(inputs, batch, output)? => Stage::Pairs,
                Stage::Search => Stage::Late(LateRows::WithPartner),
                Stage::Pairs => match finder.next_pair() {
                    None => Stage::Search,
                    Some(pair) => match output.pair(batch, pair)? {
                        Some(row) => return Ok(row),
                        None => Stage::Pairs,
                    },
                },
                Stage::Late(rows) => match output.next_late(rows, inputs.returns_lone(), batch) {
                    Some(row) => return Ok(row),
                    None => match rows {
                        LateRows::WithPartner => Stage::Late(LateRows::LoneOuter),
                        LateRows::LoneOuter => Stage::Batch,
                        LateRows::LoneInner => Stage::Round,
                    },
                },
                Stage::End => return Ok(null_mut()),
            };
        }
    }

    /// Whether all inner rows are in memory, with their codes.
    pub(super) fn has_whole_inner(&self) -> bool {
        self.inputs.have_whole_inner()
    }

    /// Restarts the join. The inner side is kept if it has not changed.
    pub(super) fn restart(&mut self, keeps_inner: bool) {
        let keeps_inner = keeps_inner && self.has_whole_inner();
        if !keeps_inner {
            self.batch.inner.reset();
        }
        self.batch.outer.reset();
        self.inputs.restart(keeps_inner);
        self.finder.clear();
        self.output.restart();
        self.stage = Stage::Round;
    }

    /// Frees all memory and closes all files.
    pub(super) fn end(&mut self) {
        self.restart(false);
        self.finder.end();
        self.stage = Stage::End;
    }

    /// The work that EXPLAIN shows.
    pub(super) fn work(&self) -> JoinWork {
        let mut work = self.work_of_this();
        work.add(&self.others);
        work
    }

    fn work_of_this(&self) -> JoinWork {
        let mut work = JoinWork::default();
        self.inputs.add_work(&mut work);
        self.finder.add_work(&mut work);
        self.output.add_work(&mut work);
        work
    }
}

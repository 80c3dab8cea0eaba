//! The near join that is executed: the loop between its four parts.

use super::batch::JoinBatch;
use super::explain::JoinWork;
use super::finder::JoinFinder;
use super::inputs::JoinInputs;
use super::output::{JoinOutput, RowsAlone};
use super::shared::Sharing;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use pgrx::pg_sys::TupleTableSlot;
use std::ptr::null_mut;

/// What comes next.
#[derive(Clone, Copy)]
enum Stage {
    /// Other inner rows.
    Round,
    /// Another batch of outer rows.
    Batch,
    /// A search for pairs of the batch.
    Search,
    /// The pairs that were found.
    Pairs,
    /// Rows that are returned without a partner.
    Alone(RowsAlone),
    End,
}

/// A near join.
pub(super) struct NearJoin {
    inputs: JoinInputs,
    batch: JoinBatch,
    finder: JoinFinder,
    output: JoinOutput,
    stage: Stage,
    /// If other processes do a part of the work, and what they have done.
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

    /// Ends to share, since the shared memory is given back.
    pub(super) fn end_sharing(&mut self) {
        if let Some(sharing) = self.sharing.take() {
            self.others = sharing.work_of_others();
            sharing.publish(&self.work_of_this());
            self.end();
            self.inputs.share(None);
        }
    }

    /// The next row of the join; null at its end.
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
                Stage::Batch => Stage::Alone(RowsAlone::LoneInner),
                Stage::Search if finder.find(inputs, batch, output)? => Stage::Pairs,
                Stage::Search => Stage::Alone(RowsAlone::WithPartner),
                Stage::Pairs => match finder.next_pair() {
                    None => Stage::Search,
                    Some(pair) => match output.pair(batch, pair).map_err(report::problem)? {
                        Some(row) => return Ok(row),
                        None => Stage::Pairs,
                    },
                },
                Stage::Alone(rows) => match output.next_alone(rows, inputs.returns_lone(), batch) {
                    Some(row) => return Ok(row),
                    None => match rows {
                        RowsAlone::WithPartner => Stage::Alone(RowsAlone::LoneOuter),
                        RowsAlone::LoneOuter => Stage::Batch,
                        RowsAlone::LoneInner => Stage::Round,
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

    /// Begins again. The inner side is kept if it has not changed.
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

    /// Gives back all memory and all files.
    pub(super) fn end(&mut self) {
        self.restart(false);
        self.finder.end();
        self.stage = Stage::End;
    }

    /// What EXPLAIN shows.
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

//! The execution of a near join: the states of one process, and the phases of a join that processes share.
//!
//! A near join keeps the codes of the inner side in memory, and finds the near ones among them for many outer
//! rows at once. The outer rows and the inner rows that are in memory are the [batch](super::batch). If
//! memory has no room for the inner side, both sides are written to files and divided into partitions by
//! their codes. Each partition is joined as the whole sides would be; where memory has no room for its inner
//! rows either, its outer rows are read again for each load of inner rows.
//!
//! # The states
//!
//! ```text
//!                    in memory                  in files
//!
//!   ReadInner ──────────┬─────── no room ─────► NeedPartition ◄────────────┐
//!                       │                        │        │ no more        │ no more
//!                       │                        ▼        │ partitions     │ inner rows
//!                       │                       NeedInner ┼────────────────┘
//!                       ▼                        │   ▲    │
//!            ┌──────► NeedOuter ◄────────────────┘   │    │
//!            │         │   │ no more outer rows      │    ▼
//!            │         │   ├─────────────────────────┘   NeedUnmatched(side) ◄─┐
//!            │         │   └► Fill(Inner) ─► Done         │       │ no more     │
//!            │         ▼                                  ▼       │ rows        │
//!            │        FindPairs ◄─► ReturnPairs          Fill(side) ───────────┘
//!            │         │ no more pairs                            ▼
//!            │         ▼                                         the inner side, then Done
//!            │        ReturnMatches
//!            │         ▼
//!            └─────── Fill(Outer), unless in files
//! ```
//!
//! In memory, a batch has met all inner rows when its pairs have been found, so its unmatched outer rows are
//! returned at once, and the unmatched inner rows after the last batch. In files, a row may be matched in any
//! partition of any pass. So its match is noted in a [set](crate::exec::rows::MatchedSet), and unmatched rows
//! are read from the files again when the last partition has been joined. A semi join returns an outer row
//! after the search of the batch in which it found its first match.
//!
//! # The phases of a shared join
//!
//! The processes of a parallel-aware join use a barrier, whose phases are:
//!
//! ```text
//!   READING     Each process reads rows of both sides from the partial paths below, and writes them to
//!               files of its own. A counter in shared memory gives the numbers of its rows.
//!   PREPARING   All rows are in files. One process allocates the sets of matched rows; the others wait.
//!   joining     Each process opens all files, makes the same plan of partitions, and takes tasks from a
//!               shared counter. All add to the sets by atomic operations. No process waits for another.
//! ```
//!
//! A process that has returned a row must never wait, since the process that it waits for may itself wait
//! until its own rows are taken. So each process leaves the barrier before it returns its first row, and the
//! one that ends the last task returns the unmatched rows. A process that attaches late, while others
//! prepare, waits for them too; one that attaches later goes on to the tasks that are left.

use super::batch::{BatchSize, JoinBatch};
use super::finder::PairFinder;
use super::output::{JoinOutput, RowTest};
use super::partitions::JoinPartitions;
use super::reader::{ReadLimit, RowReader};
use super::shared::Sharing;
use super::spill::Spill;
use super::work::{Count, JoinWork};
use crate::exec::rows::JoinSide;
use crate::pg::exec_node::{ExecutingNode, ReturnedRow};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::plan::near_join::{Side, memory};

/// What a process does next.
#[derive(Clone, Copy)]
enum JoinState {
    /// Read the inner side into memory, or both sides into files.
    ReadInner,
    /// Go on to another partition.
    NeedPartition,
    /// Read inner rows of the partition.
    NeedInner,
    /// Read the next outer rows.
    NeedOuter,
    /// Find some pairs of the batch.
    FindPairs,
    ReturnPairs,
    /// Return outer rows that need only one match, and found it in this batch.
    ReturnMatches,
    /// Return the unmatched rows of a side that are in memory.
    Fill(Side),
    /// Read unmatched rows of a side from the files.
    NeedUnmatched(Side),
    Done,
}

/// The parts that a join consists of.
pub(super) struct JoinParts {
    pub(super) reader: RowReader,
    pub(super) batch: JoinBatch,
    pub(super) size: BatchSize,
    pub(super) output: JoinOutput,
}

/// The state of a near join during execution.
pub(super) struct NearJoin {
    parts: JoinParts,
    state: JoinState,
    /// The radius of each condition; empty if no rows can be near. Then no row has codes.
    radii: Vec<u32>,
    finder: PairFinder,
    /// Set if both sides are in files.
    partitions: Option<JoinPartitions>,
    /// Set if other processes do a part of the work.
    sharing: Option<Sharing>,
    work: JoinWork,
    /// The work that other processes have reported.
    others: JoinWork,
}

impl NearJoin {
    pub(super) fn new(parts: JoinParts) -> Self {
        Self {
            parts,
            state: JoinState::ReadInner,
            radii: Vec::new(),
            finder: PairFinder::default(),
            partitions: None,
            sharing: None,
            work: JoinWork::default(),
            others: JoinWork::default(),
        }
    }

    /// From now on, other processes do a part of the work.
    pub(super) fn begin_sharing(&mut self, sharing: Sharing) {
        self.sharing = Some(sharing);
    }

    /// Stops sharing, since the shared memory is about to be freed.
    pub(super) fn leave(&mut self) {
        if let Some(sharing) = self.sharing.take() {
            self.others.add(&sharing.work_of_others());
            sharing.publish(&self.work);
            self.close();
        }
    }

    /// The next row of the join; `None` after the last one.
    pub(super) fn next_row<'a>(
        &'a mut self,
        node: &'a mut ExecutingNode,
    ) -> Result<Option<ReturnedRow<'a>>, SqlError> {
        let mut has_row = false;
        while !has_row {
            check_for_interrupts();
            debug_assert!(self.has_what_the_state_requires(), "the diagram has this transition");
            let Self { parts: JoinParts { batch, output, .. }, finder, partitions, work, .. } = self;
            let mut test = RowTest { batch, evaluation: node.evaluation(), work };
            self.state = match self.state {
                JoinState::ReadInner => self.read_inner(node)?,
                JoinState::NeedPartition => self.next_partition()?,
                JoinState::NeedInner => self.load_inner()?,
                JoinState::NeedOuter => self.load_outer(node)?,
                JoinState::FindPairs => self.find_pairs(node)?,
                JoinState::ReturnPairs => match finder.next_pair(test.batch) {
                    Some(pair) => {
                        has_row = output.pair(pair, &mut test);
                        JoinState::ReturnPairs
                    }
                    None => JoinState::FindPairs,
                },
                JoinState::ReturnMatches => {
                    has_row = output.next_match(&mut test);
                    match (has_row, &partitions) {
                        (true, _) => JoinState::ReturnMatches,
                        (false, None) => JoinState::Fill(Side::Outer),
                        (false, Some(_)) => JoinState::NeedOuter,
                    }
                }
                JoinState::Fill(side) => {
                    has_row = output.next_unmatched(side, &mut test);
                    match (has_row, &partitions, side) {
                        (true, ..) => JoinState::Fill(side),
                        (false, Some(_), _) => JoinState::NeedUnmatched(side),
                        (false, None, Side::Outer) => JoinState::NeedOuter,
                        (false, None, Side::Inner) => JoinState::Done,
                    }
                }
                JoinState::NeedUnmatched(side) => self.load_unmatched(side)?,
                JoinState::Done => return Ok(None),
            };
        }
        Ok(Some(self.parts.batch.returned(node.evaluation())))
    }

    /// Whether both sides are in files in the states on the right of the diagram, and otherwise the whole
    /// inner side is in memory.
    fn has_what_the_state_requires(&self) -> bool {
        let has_files = self.partitions.is_some();
        match self.state {
            JoinState::ReadInner => !has_files,
            JoinState::NeedPartition | JoinState::NeedInner | JoinState::NeedUnmatched(_) => has_files,
            JoinState::NeedOuter
            | JoinState::FindPairs
            | JoinState::ReturnPairs
            | JoinState::ReturnMatches
            | JoinState::Fill(_) => has_files || self.parts.reader.ended[Side::Inner],
            JoinState::Done => true,
        }
    }

    fn read_inner(&mut self, node: &mut ExecutingNode) -> Result<JoinState, SqlError> {
        let JoinParts { reader, batch, output, .. } = &mut self.parts;
        self.radii = reader.radii(node.evaluation())?;
        reader.gives_codes = !self.radii.is_empty();
        if self.sharing.is_none() {
            reader.read(node, Side::Inner, batch, ReadLimit::of_inner())?;
            if reader.ended[Side::Inner] {
                return Ok(JoinState::NeedOuter);
            }
        }
        let kind = output.kind();
        let spill = Spill { node, reader, batch };
        let rows = match &self.sharing {
            Some(sharing) => spill.share(sharing, kind)?,
            None => spill.write()?,
        };
        self.partitions = Some(JoinPartitions::new(kind, &self.radii, rows, batch, self.sharing.clone())?);
        self.work[Count::Processes] = u64::from(self.sharing.is_some());
        Ok(JoinState::NeedPartition)
    }

    fn next_partition(&mut self) -> Result<JoinState, SqlError> {
        let Some(partitions) = &mut self.partitions else { return Ok(JoinState::Done) };
        Ok(match partitions.next(&self.parts.batch, &mut self.work)? {
            true => JoinState::NeedInner,
            false if partitions.has_ended_all => JoinState::NeedUnmatched(Side::Outer),
            false => JoinState::Done,
        })
    }

    fn load_inner(&mut self) -> Result<JoinState, SqlError> {
        let Some(partitions) = &mut self.partitions else { return Ok(JoinState::Done) };
        if partitions.load(Side::Inner, &mut self.parts.batch)? {
            partitions.read_from(Side::Outer, 0)?;
            return Ok(JoinState::NeedOuter);
        }
        Ok(JoinState::NeedPartition)
    }

    /// Reads the next outer rows and prepares to search them.
    fn load_outer(&mut self, node: &mut ExecutingNode) -> Result<JoinState, SqlError> {
        let JoinParts { reader, batch, size, output, .. } = &mut self.parts;
        let has_files = self.partitions.is_some();
        let end = if has_files { JoinState::NeedInner } else { JoinState::Fill(Side::Inner) };
        match &mut self.partitions {
            Some(partitions) => _ = partitions.load(Side::Outer, batch)?,
            None => {
                let [outer, inner] = batch.sides_mut();
                // A row whose code was refused may be left out; the other side shows whether that is an
                // error.
                reader.gives_codes &= inner.has_codes();
                if inner.rows.is_empty() && !inner.has_codes() && !output.kind().fills(Side::Outer) {
                    return Ok(end);
                }
                outer.clear();
                outer.matched.clear();
                let limit = ReadLimit { rows: size.rows, bytes: memory::of_load() };
                reader.read(node, Side::Outer, batch, limit)?;
            }
        }
        batch.check()?;
        let outer = &batch[Side::Outer];
        if outer.rows.is_empty() {
            return Ok(end);
        }
        size.grow(outer.rows.len());
        output.begin_batch();
        let pass = self.partitions.as_ref().and_then(JoinPartitions::pass);
        self.finder.begin(batch, &self.radii, pass)?;
        self.work[Count::Searches] += 1;
        self.work[Count::Leading] = self.finder.leading() as u64;
        Ok(JoinState::FindPairs)
    }

    fn find_pairs(&mut self, node: &mut ExecutingNode) -> Result<JoinState, SqlError> {
        let JoinParts { batch, output, .. } = &mut self.parts;
        let test = RowTest { batch, evaluation: node.evaluation(), work: &mut self.work };
        let is_found = self.finder.find(output, test)?;
        let of_files = self.partitions.as_ref().map_or(0, JoinPartitions::bytes);
        let rows: usize = batch.sides().iter().map(JoinSide::taken).sum();
        self.work.peak(Count::Memory, (rows + self.finder.bytes() + of_files) as u64);
        Ok(if is_found { JoinState::ReturnPairs } else { JoinState::ReturnMatches })
    }

    fn load_unmatched(&mut self, side: Side) -> Result<JoinState, SqlError> {
        let JoinParts { batch, output, .. } = &mut self.parts;
        if let Some(partitions) = &mut self.partitions
            && output.kind().fills(side)
            && partitions.load_unmatched(side, batch)?
        {
            return Ok(JoinState::Fill(side));
        }
        Ok(if side == Side::Outer { JoinState::NeedUnmatched(Side::Inner) } else { JoinState::Done })
    }

    /// Whether all inner rows are in memory, with their codes.
    pub(super) fn has_whole_inner(&self) -> bool {
        self.parts.reader.ended[Side::Inner] && self.partitions.is_none() && !self.radii.is_empty()
    }

    /// Restarts the join. The inner side is kept if it has not changed.
    pub(super) fn begin_again(&mut self, keeps_inner: bool) {
        let JoinParts { reader, batch, size, output, .. } = &mut self.parts;
        if keeps_inner {
            batch[Side::Inner].matched.clear();
        } else {
            batch[Side::Inner].reset();
            reader.ended[Side::Inner] = false;
        }
        batch[Side::Outer].reset();
        reader.ended[Side::Outer] = false;
        size.restart();
        output.begin_batch();
        self.partitions = None;
        self.finder = PairFinder::default();
        self.state = JoinState::ReadInner;
    }

    /// Frees all memory and closes all files.
    pub(super) fn close(&mut self) {
        self.begin_again(false);
        self.state = JoinState::Done;
    }

    /// The work that EXPLAIN shows.
    pub(super) fn work(&self) -> JoinWork {
        let mut work = self.work;
        work.add(&self.others);
        work
    }
}

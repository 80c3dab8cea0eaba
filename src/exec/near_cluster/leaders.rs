//! Finds the leaders among rows in files: each row's keeper is the first keeper that is near it.
//!
//! The rows are in one or more **parts**, such that no row is near a row of another part. Of a part, a
//! **block** of as many rows as memory has room for is decided at a time. Later rows that are near a keeper
//! of the block belong to the first such keeper, and the others remain open. No open row is near a keeper
//! that is known, so what is open is decided in the same way.
//!
//! ```text
//!   NeedPart ◄────────────────────────────────┐
//!     │    │ no more parts                    │
//!     │    └► Done                            │
//!     ▼                                       │
//!   DecideBlock ──── the whole part ──────────┤
//!     │  │   ▲                                │
//!     │  │   │ a file of the open rows        │
//!     │  ▼   │                                │
//!     │ CompareLater ─── no open rows ────────┤
//!     │                                       │
//!     └► Divide ───── a part for some of the components
//! ```
//!
//! Blocks alone would take time that grows with the square of the number of rows, if most of the rows are
//! keepers. If many blocks are left, a part is therefore divided by its connected
//! [components](super::components), which also finds the rows that are near no other row. That takes as long
//! as comparing the keepers of a few blocks. It is done at once if most rows of the first block are keepers,
//! and otherwise after a few blocks, because a few keepers may have most of the rows in their clusters. A
//! part with a single component is divided again after a few blocks, when the rows that connected it may have
//! been decided.
//!
//! Cost: each row is read and written a few times, unless a component with many keepers takes many blocks. Of
//! such a component with `n` rows, of which memory has room for `m`, `n * n / 2m` rows are read. Each
//! division also clears four bytes for every row of the window, however few rows the part has.

use super::components::divide;
use super::decisions::Decisions;
use super::form::ClusterForm;
use super::open_rows::OpenRows;
use crate::exec::rows::JoinSide;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::pg::row_store::BatchRow;
use crate::plan::near_join::memory;
use base::{Heartbeat, collect, push};
use hamming::clusters::first_near;
use hamming::code::CodeSlice;

/// If more blocks than this are left, a division takes less time than comparing their keepers.
const FEW_BLOCKS: u64 = 5;

/// Rows none of which is near a row of another part.
pub(super) struct LeaderPart {
    pub(super) rows: OpenRows,
    /// Whether some components of a larger part are in this one.
    pub(super) is_divided: bool,
    /// How many blocks of it were decided, since it was divided.
    pub(super) blocks: u64,
}

/// Rows that have been decided among themselves.
struct DecidedBlock {
    /// The places of the keepers.
    keepers: Vec<u32>,
    /// Where the rows behind the block begin in the file.
    end: u64,
}

/// What is done next.
enum LeaderState {
    /// Go on to another part.
    NeedPart,
    /// Read the first rows of a part, and decide them among themselves.
    DecideBlock(LeaderPart),
    /// Compare the keepers of the block in memory with the rows of the part that come later.
    CompareLater(LeaderPart, DecidedBlock),
    /// Divide a part by its connected components.
    Divide(LeaderPart),
    Done,
}

/// A search for the leaders of rows in files.
pub(super) struct LeaderSearch<'a> {
    form: &'a ClusterForm,
    /// The number of all rows of the window.
    count: usize,
    state: LeaderState,
    parts: Vec<LeaderPart>,
    block: JoinSide,
    later: JoinSide,
    decisions: Decisions,
    /// How many rows have been decided.
    decided: u64,
    /// The fraction of the work that was reported last.
    reported: f64,
    heartbeat: &'a mut dyn Heartbeat,
}

impl<'a> LeaderSearch<'a> {
    /// A search among the open rows of a window with `count` rows.
    pub(super) fn new(
        form: &'a ClusterForm,
        count: usize,
        open: OpenRows,
        decisions: Decisions,
        heartbeat: &'a mut dyn Heartbeat,
    ) -> Self {
        let block = form.open_rows(&open.summary.lengths);
        let later = form.open_rows(&open.summary.lengths);
        let decided = count as u64 - open.count();
        let whole = LeaderPart { rows: open, is_divided: false, blocks: 0 };
        let state = LeaderState::DecideBlock(whole);
        let parts = Vec::new();
        Self { form, count, state, parts, block, later, decisions, decided, reported: 0.0, heartbeat }
    }

    /// Decides all rows.
    pub(super) fn run(mut self) -> Result<Decisions, SqlError> {
        loop {
            check_for_interrupts();
            self.state = match std::mem::replace(&mut self.state, LeaderState::Done) {
                LeaderState::NeedPart => match self.parts.pop() {
                    Some(part) => LeaderState::DecideBlock(part),
                    None => LeaderState::Done,
                },
                LeaderState::DecideBlock(part) => self.decide_block(part)?,
                LeaderState::CompareLater(part, block) => self.compare_later(part, &block)?,
                LeaderState::Divide(part) => self.divide(part)?,
                LeaderState::Done => return Ok(self.decisions),
            };
        }
    }

    fn decide_block(&mut self, mut part: LeaderPart) -> Result<LeaderState, SqlError> {
        part.rows.file.read_from(0)?;
        part.rows.load(&mut self.block)?;
        let end = part.rows.file.place();
        let of_block = self.form.keepers(&self.block, &mut check_for_interrupts)?;
        let is_keeper = |&(row, &keeper): &(u32, &u32)| row == keeper;
        let places = (0..).zip(&of_block).filter(is_keeper).map(|(row, _)| row);
        let keepers: Vec<u32> = collect(places, of_block.len())?;
        let is_whole = self.block.count as u64 == part.rows.count();
        if !is_whole && self.is_worth_dividing(&part, keepers.len()) {
            return Ok(LeaderState::Divide(part));
        }
        for (row, &keeper) in (0..).map(BatchRow).zip(&of_block) {
            check_for_interrupts();
            if row.0 != keeper {
                self.decisions.add(self.block.number(row), self.block.number(BatchRow(keeper)))?;
            }
        }
        self.note_decided(self.block.count as u64);
        part.blocks += 1;
        Ok(match is_whole {
            true => LeaderState::NeedPart,
            false => LeaderState::CompareLater(part, DecidedBlock { keepers, end }),
        })
    }

    /// Whether a part, of whose first rows in memory so many are keepers, is divided before they are decided.
    fn is_worth_dividing(&self, part: &LeaderPart, keepers: usize) -> bool {
        let are_many_left = part.rows.count() > FEW_BLOCKS * self.block.count as u64;
        let are_apart = keepers > self.block.count / 2;
        are_many_left && (are_apart && !part.is_divided || part.blocks >= FEW_BLOCKS)
    }

    /// Decides the rows behind the block that are near one of its keepers. The others become the part.
    fn compare_later(&mut self, mut part: LeaderPart, block: &DecidedBlock) -> Result<LeaderState, SqlError> {
        let codes = self.block.codes();
        let of_keepers =
            codes.gather(block.keepers.iter().copied(), block.keepers.len(), &mut check_for_interrupts)?;
        let of_keepers = CodeSlice::new(&of_keepers, codes.width());
        let radii = self.form.radii(&self.block)?;
        let mut open = OpenRows::create()?;
        let format = self.block.format();
        part.rows.file.read_from(block.end)?;
        while part.rows.load(&mut self.later)? {
            let codes = [of_keepers, self.later.codes()];
            let near = first_near(codes, radii.clone(), memory::widest_segment(), &mut check_for_interrupts)?;
            let open_before = open.count();
            let later = &self.later;
            let rows_of_block = &self.block;
            let decisions = &mut self.decisions;
            later.each(|row, codes| {
                let number = later.number(row);
                match block.keepers.get(near[row.0 as usize] as usize) {
                    None => open.push(format, number, codes),
                    Some(&keeper) => decisions.add(number, rows_of_block.number(BatchRow(keeper))),
                }
            })?;
            let are_open = open.count() - open_before;
            self.note_decided(self.later.count as u64 - are_open);
        }
        open.summary.lengths = part.rows.summary.lengths;
        Ok(match open.count() {
            0 => LeaderState::NeedPart,
            _ => LeaderState::DecideBlock(LeaderPart { rows: open, ..part }),
        })
    }

    /// Replaces a part by parts that have some of its components each.
    fn divide(&mut self, part: LeaderPart) -> Result<LeaderState, SqlError> {
        let rows = part.rows.count();
        // A division needs the memory that these rows took.
        self.block = self.form.open_rows(&part.rows.summary.lengths);
        self.later = self.form.open_rows(&part.rows.summary.lengths);
        let mut progress = PartProgress {
            start: self.decided as f64 / self.count as f64,
            // The rows have to be decided afterwards.
            size: rows as f64 / self.count as f64 / 2.0,
            reported: &mut self.reported,
            heartbeat: self.heartbeat,
        };
        let parts = divide(self.form, self.count, part.rows, &mut progress)?;
        let near: u64 = parts.iter().map(OpenRows::count).sum();
        self.note_decided(rows - near);
        for rows in parts {
            push(&mut self.parts, LeaderPart { rows, is_divided: true, blocks: 0 })?;
        }
        Ok(LeaderState::NeedPart)
    }

    /// Notes that so many further rows have been decided.
    fn note_decided(&mut self, rows: u64) {
        self.decided += rows;
        debug_assert!(self.decided <= self.count as u64, "a row is decided once");
        self.reported = self.reported.max(self.decided as f64 / self.count as f64);
        self.heartbeat.progress(self.reported);
    }
}

/// Reports the progress of a division as a part of the whole work, which never decreases.
struct PartProgress<'a> {
    start: f64,
    size: f64,
    reported: &'a mut f64,
    heartbeat: &'a mut dyn Heartbeat,
}

impl Heartbeat for PartProgress<'_> {
    fn beat(&mut self) {
        self.heartbeat.beat();
    }

    fn progress(&mut self, done: f64) {
        *self.reported = self.reported.max(self.start + done * self.size);
        self.heartbeat.progress(*self.reported);
    }
}

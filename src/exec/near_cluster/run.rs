//! The execution of `near_cluster` for a partition of a window.
//!
//! # The states
//!
//! ```text
//!                in memory                         in files
//!
//!   push ──────► InMemory: rows, codes, keys ────► InFiles: open rows, decisions, keys
//!                  │                    no room      │ leader         │ connected
//!   end            │                                 ▼                ▼
//!                  │                               LeaderSearch     ConnectedRows
//!                  ▼                                 └───────┬────────┘
//!                the keeper of each code                     ▼
//!                  │                               the number of each row's keeper
//!                  │                                 │
//!                  │                                 ▼
//!                  │                               the keys of keepers, in the order of rows
//!                  ▼                                 ▼
//!   next_key ──► RowKeepers: the key of the keeper of one row after the other
//! ```
//!
//! After some rows have gone to files, further rows are collected in memory until they follow.
//!
//! Rows in files are known by their numbers. Codes and keys are in separate files, so that keys are written
//! and read as often as they have to be and no more, whatever is done with the codes. Of rows in memory that
//! have equal codes, only the first one goes to the open rows: it has the keeper of the others, which is
//! noted as a [decision](super::decisions).
//!
//! Memory: the rows that are in memory at a time, and 4 bytes for each row of the partition, for the number
//! of its keeper.

use super::components::ConnectedRows;
use super::decisions::Decisions;
use super::form::ClusterForm;
use super::keys::{KeyFile, RowKeepers};
use super::leaders::LeaderSearch;
use super::open_rows::OpenRows;
use crate::exec::rows::{CodePlace, JoinSide};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::progress::Reporter;
use crate::pg::report::SqlError;
use crate::pg::value::Value;
use crate::plan::near_join::memory;
use base::{Heartbeat, collect};
use hamming::clusters::{Forest, Linkage, first_equals};

/// The rows that are in files.
struct RowsInFiles {
    keys: KeyFile,
    open: OpenRows,
    decisions: Decisions,
}

/// Whether memory has had room for all rows.
#[expect(clippy::large_enum_variant, reason = "a window has one of them")]
enum CollectedRows {
    InMemory,
    InFiles(RowsInFiles),
}

/// Collects the rows of a window, and clusters them.
pub(crate) struct ClusterRows<'a> {
    form: &'a ClusterForm,
    /// The rows in memory: all of them, or those behind the rows in files.
    rows: JoinSide,
    earlier: CollectedRows,
}

impl<'a> ClusterRows<'a> {
    pub(crate) fn new(form: &'a ClusterForm) -> Self {
        Self { form, rows: form.keyed_rows(), earlier: CollectedRows::InMemory }
    }

    /// Adds a row with its key, and one or two codes. It has no cluster if one of its codes is NULL.
    pub(crate) fn push(
        &mut self,
        key: Option<Value<'_>>,
        codes: &[Option<Value<'_>>],
    ) -> Result<(), SqlError> {
        let code = |place: usize| codes.get(place).copied().flatten().and_then(Value::as_code);
        match (code(0), code(1)) {
            (Some(only), None) if codes.len() == 1 => self.rows.push(key, &[only]),
            (Some(first), Some(second)) => self.rows.push(key, &[first, second]),
            _ => self.rows.push(key, &[]),
        }?;
        self.rows.check_all(true)?;
        if self.rows.bytes() >= memory::of_load() {
            let files = match std::mem::replace(&mut self.earlier, CollectedRows::InMemory) {
                CollectedRows::InMemory => RowsInFiles {
                    keys: KeyFile::create(&self.rows.rows)?,
                    open: OpenRows::create()?,
                    decisions: Decisions::create()?,
                },
                CollectedRows::InFiles(files) => files,
            };
            self.earlier = CollectedRows::InFiles(files.with(&mut self.rows)?);
        }
        Ok(())
    }

    /// Computes the keepers of all rows, of which there are `count`.
    pub(crate) fn end(mut self, count: usize) -> Result<RowKeepers, SqlError> {
        let mut reporter = Reporter::of("near_cluster", format!("{count} codes"));
        let keepers = match self.earlier {
            CollectedRows::InMemory => in_memory(self.form, self.rows, &mut reporter),
            CollectedRows::InFiles(files) => {
                let files = files.with(&mut self.rows)?;
                self.form.radii(&self.rows)?;
                drop(self.rows);
                in_files(self.form, files, count, &mut reporter)
            }
        }?;
        reporter.end();
        Ok(keepers)
    }
}

/// The keepers of rows that are all in memory.
fn in_memory(
    form: &ClusterForm,
    rows: JoinSide,
    heartbeat: &mut dyn Heartbeat,
) -> Result<RowKeepers, SqlError> {
    let of_codes = form.keepers(&rows, heartbeat)?;
    let mut keepers = collect(0..rows.rows.len() as u32, rows.rows.len())?;
    for (code, &keeper) in (0..).map(CodePlace).zip(&of_codes) {
        keepers[rows.row(code).0 as usize] = rows.row(CodePlace(keeper)).0;
    }
    Ok(RowKeepers::in_memory(rows.rows, keepers))
}

/// The keepers of rows that are all in files.
fn in_files(
    form: &ClusterForm,
    files: RowsInFiles,
    count: usize,
    heartbeat: &mut dyn Heartbeat,
) -> Result<RowKeepers, SqlError> {
    let RowsInFiles { keys, open, decisions } = files;
    let keepers = match form.linkage {
        Linkage::Leader => {
            let decisions = LeaderSearch::new(form, count, open, decisions, heartbeat).run()?;
            decisions.keepers(Forest::new(count)?)?
        }
        Linkage::Connected => {
            let connected = ConnectedRows::of(form, count, open, heartbeat)?;
            decisions.keepers(connected.found.forest)?
        }
    };
    keys.of_keepers(keepers, form.keyed_rows().rows)
}

impl RowsInFiles {
    /// These rows and those in memory, which are written and removed.
    fn with(mut self, rows: &mut JoinSide) -> Result<Self, SqlError> {
        let firsts = first_equals(rows.codes(), &mut check_for_interrupts)?;
        let format = rows.format().without_columns();
        let mut place = 0;
        rows.each(|row, codes| {
            let number = rows.number(row);
            self.keys.push(rows.rows.words_of(row))?;
            if codes.is_empty() {
                return Ok(());
            }
            let first = firsts[place as usize];
            let is_first = first == place;
            place += 1;
            match is_first {
                true => self.open.push(format, number, codes),
                false => self.decisions.add(number, rows.number_of_code(CodePlace(first))),
            }
        })?;
        self.open.summary.lengths = collect(rows.lengths(), rows.readers.len())?;
        rows.remove_all();
        Ok(self)
    }
}

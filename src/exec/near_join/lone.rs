//! Finds the rows of a file that are near another row of it, as a semi join of the file with itself does.

use super::batch::JoinBatch;
use super::explain::JoinWork;
use super::file::{RowFile, SideFiles};
use super::matched::MatchedSet;
use super::partitions::JoinPartitions;
use super::record::RecordNumber;
use super::side::{CodePlace, JoinSide};
use super::spill::SpilledRows;
use super::summary::SideSummary;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::plan::near_join::{BySide, JoinKind, Side};
use base::{Heartbeat, OutOfMemory};
use hamming::near_pairs::PairSink;
use pgrx::pg_sys::MemoryContext;

/// The rows of two equal files that are near another row. `empty` makes sides for the rows of the files,
/// which have codes, numbers below `count`, and no columns.
///
/// # Safety
/// As for [`RowFile::create`].
pub(crate) unsafe fn rows_with_near_ones(
    files: [RowFile; 2],
    summaries: [SideSummary; 2],
    (empty, count): (impl Fn() -> JoinSide, usize),
    radii: &[u32],
    memory: MemoryContext,
) -> Result<MatchedSet, SqlError> {
    let mut batch = BySide([empty(), empty()]);
    let codes = batch[Side::Outer].format().codes;
    let files = BySide(files.map(|file| SideFiles::new(vec![(file, codes)])));
    let rows = SpilledRows { files, summaries: BySide(summaries) };
    batch.0.iter_mut().try_for_each(|side| side.matched.make_room(count as u64))?;
    // SAFETY: as the caller promises.
    let mut partitions =
        unsafe { JoinPartitions::new(JoinKind::Semi, radii, rows, (&mut batch, None), memory) }?;
    let mut work = JoinWork::default();
    while partitions.next(&batch, &mut work)? {
        while partitions.load(Side::Inner, &mut batch)? {
            partitions.rewind(Side::Outer);
            while partitions.load(Side::Outer, &mut batch)? {
                let joined = BySide([batch[Side::Outer].joined_codes()?, batch[Side::Inner].joined_codes()?]);
                let search = batch.search(&joined, radii, partitions.pass())?;
                search.all(batch.codes(&joined), &mut check_for_interrupts, &mut OtherRows(&batch))?;
            }
        }
    }
    partitions.close();
    Ok(std::mem::take(&mut batch[Side::Outer].matched))
}

/// Notes the rows that are near another row, and requests no further pairs of such a row.
struct OtherRows<'a>(&'a JoinBatch);

impl OtherRows<'_> {
    fn number(&self, side: Side, code: u32) -> RecordNumber {
        let rows = &self.0[side];
        rows.number(rows.row(CodePlace(code)))
    }

    fn is_open(&self, code: u32) -> bool {
        !self.0[Side::Outer].has_match(self.number(Side::Outer, code))
    }
}

impl PairSink for OtherRows<'_> {
    const AT_A_TIME: usize = 64;
    type Stop = OutOfMemory;

    fn found(&mut self, a: u32, b: u32) -> Result<(), OutOfMemory> {
        for number in [self.number(Side::Outer, a), self.number(Side::Inner, b)] {
            self.0[Side::Outer].matched.insert(number);
        }
        Ok(())
    }

    fn wants(&mut self, these: &[u32], _those: &[u32]) -> bool {
        these.iter().any(|&code| self.is_open(code))
    }

    fn retain(&mut self, pairs: &mut Vec<(u32, u32)>, _heartbeat: &mut dyn Heartbeat) {
        let are_two = |a, b| self.number(Side::Outer, a).0 != self.number(Side::Inner, b).0;
        pairs.retain(|&(a, b)| self.is_open(a) && are_two(a, b));
    }
}

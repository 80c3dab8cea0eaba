//! Finds the rows of a file that are near another row of it, as a semi join of the file with itself does.

use super::explain::JoinWork;
use super::file::{RowFile, SideFiles};
use super::finder::FirstMatches;
use super::matched::MatchedSet;
use super::partitions::JoinPartitions;
use super::side::{CodePlace, JoinSide};
use super::spill::SpilledRows;
use super::summary::SideSummary;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::plan::near_join::{BySide, JoinKind, Side};
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
                let take = |codes: BySide<CodePlace>, _: &mut JoinWork| {
                    let number = |side: Side| batch[side].number(batch[side].row(codes[side]));
                    let [row, other] = Side::BOTH.map(number);
                    if row.0 != other.0 {
                        batch[Side::Outer].matched.insert(row);
                        batch[Side::Outer].matched.insert(other);
                    }
                    Ok(())
                };
                let sink = &mut FirstMatches { batch: &batch, work: &mut work, take };
                search.all(batch.codes(&joined), &mut check_for_interrupts, sink)?;
            }
        }
    }
    partitions.close();
    Ok(std::mem::take(&mut batch[Side::Outer].matched))
}

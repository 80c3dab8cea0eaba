//! Writes both sides of a join to files, if memory has no room for the inner side or if the processes of a
//! parallel plan share the join.

use super::batch::JoinBatch;
use super::reader::{ReadLimit, RowReader};
use super::shared::{ROWS, SUMMARY, Sharing};
use crate::exec::rows::{RowFile, SideFiles, SideSummary};
use crate::pg::exec_node::ExecutingNode;
use crate::pg::report::SqlError;
use crate::plan::near_join::{BySide, JoinKind, Side};
use base::push;

/// The rows of both sides, in files.
pub(super) struct SpilledRows {
    pub(super) files: BySide<SideFiles>,
    pub(super) summaries: BySide<SideSummary>,
}

/// Writes rows of both sides.
pub(super) struct Spill<'a> {
    pub(super) node: &'a mut ExecutingNode,
    pub(super) reader: &'a mut RowReader,
    pub(super) batch: &'a mut JoinBatch,
}

impl Spill<'_> {
    /// Writes all rows. The first rows of the inner side are in memory.
    pub(super) fn write(mut self) -> Result<SpilledRows, SqlError> {
        let (mut files, mut summaries) = (BySide::<SideFiles>::default(), BySide::<SideSummary>::default());
        for side in [Side::Inner, Side::Outer] {
            let mut file = RowFile::create()?;
            summaries[side] = self.write_side(side, &mut file, None)?;
            files[side] = SideFiles::new(vec![(file, self.batch[side].format().codes)])?;
        }
        Ok(SpilledRows { files, summaries })
    }

    /// Writes the rows of this process, waits until all processes have done so, and opens all files.
    pub(super) fn share(mut self, sharing: &Sharing, kind: JoinKind) -> Result<SpilledRows, SqlError> {
        if sharing.begin() {
            for side in Side::BOTH {
                let mut file = sharing.create_file(ROWS, side)?;
                let summary = self.write_side(side, &mut file, Some(sharing))?;
                file.export()?;
                summary.write(sharing.create_file(SUMMARY, side)?)?;
            }
            sharing.end_reading(kind);
        }
        let (mut all, mut summaries) = (BySide::<SideFiles>::default(), BySide::<SideSummary>::default());
        for side in Side::BOTH {
            let mut files = Vec::new();
            let written = sharing.files(ROWS, side).zip(sharing.files(SUMMARY, side));
            for (rows, summary) in written {
                let summary = SideSummary::read(summary?)?;
                self.batch[side].expect_lengths(&summary.lengths);
                push(&mut files, (rows?, summary.words_of_codes()))?;
                summaries[side].add(summary);
            }
            all[side] = SideFiles::new(files)?;
            self.batch[side].matched = sharing.matched(side);
        }
        Ok(SpilledRows { files: all, summaries })
    }

    /// Writes the rows of a side. The first of them may be in memory.
    fn write_side(
        &mut self,
        side: Side,
        file: &mut RowFile,
        sharing: Option<&Sharing>,
    ) -> Result<SideSummary, SqlError> {
        let mut summary = SideSummary::default();
        loop {
            let rows = &mut self.batch[side];
            if let Some(sharing) = sharing {
                rows.first = sharing.number_rows(side, rows.rows.len() as u64);
            }
            rows.move_to(file, &mut summary)?;
            if self.reader.ended[side] {
                return Ok(summary);
            }
            self.reader.read(self.node, side, self.batch, ReadLimit::of_inner())?;
        }
    }
}

//! Finds the near pairs among the rows of a file, by a join of the file with itself.

use super::batch::JoinBatch;
use super::partitions::JoinPartitions;
use super::spill::SpilledRows;
use super::work::JoinWork;
use crate::exec::rows::{CodePlace, JoinSide, MatchedSet, RecordNumber, RowFile, SideFiles, SideSummary};
use crate::pg::error::temporary_file;
use crate::pg::report::SqlError;
use crate::plan::near_join::{BySide, JoinKind, Side};
use base::{Heartbeat, OutOfMemory};
use hamming::clusters::Forest;
use hamming::near_pairs::{JoinSides, PairSink};

/// What a join finds of rows, by their numbers.
pub(crate) struct NearRows {
    /// The rows that are near another row.
    pub(crate) near: MatchedSet,
    /// Which rows are connected.
    pub(crate) forest: Forest,
}

impl NearRows {
    pub(crate) fn new(rows: usize) -> Result<Self, OutOfMemory> {
        let mut near = MatchedSet::default();
        near.make_room(rows as u64)?;
        Ok(Self { near, forest: Forest::new(rows)? })
    }

    /// Adds a pair of near rows.
    fn add(&mut self, [a, b]: [RecordNumber; 2]) {
        if a.0 != b.0 && self.forest.connect(a.0 as u32, b.0 as u32) {
            self.near.insert(a);
            self.near.insert(b);
        }
    }
}

/// A join of the rows of a file with each other.
pub(crate) struct SelfJoin<'a> {
    /// No rows, for the rows of the file.
    pub(crate) sides: BySide<JoinSide>,
    pub(crate) radii: &'a [u32],
    pub(crate) found: &'a mut NearRows,
}

impl SelfJoin<'_> {
    /// Finds the near rows of a file. All of its rows have codes and no columns, and remain there.
    ///
    /// The rows that memory has room for are joined with each other and with the rows behind them.
    pub(crate) fn run(
        self,
        file: RowFile,
        summary: &SideSummary,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<RowFile, SqlError> {
        let Self { sides, radii, found } = self;
        let mut batch = JoinBatch::of_sides(sides);
        let codes = batch[Side::Inner].format().codes;
        let files = BySide([SideFiles::default(), SideFiles::new(vec![(file, codes)])?]);
        let rows = SpilledRows { files, summaries: BySide([summary.clone(), summary.clone()]) };
        let mut partitions = JoinPartitions::new(JoinKind::Inner, radii, rows, &mut batch, None)?;
        let mut work = JoinWork::default();
        let mut joined_rows = 0;
        while partitions.next(&batch, &mut work)? {
            let passes = partitions.pass().map_or(1, |(division, _)| division.passes() as u64);
            while partitions.load(Side::Inner, &mut batch)? {
                let next = partitions.place(Side::Inner);
                loop {
                    heartbeat.progress(joined_rows as f64 / (passes * summary.coded) as f64);
                    let search = batch.search(radii, partitions.pass())?;
                    let codes = batch.codes();
                    let [outer, inner] = batch.sides();
                    let (codes, outer) = match outer.count {
                        0 => (JoinSides::among(codes[1]), inner),
                        _ => (JoinSides::between(codes), outer),
                    };
                    let mut sink = SelfPairs { sides: [outer, inner], found };
                    search.all(codes, &mut || heartbeat.beat(), &mut sink)?;
                    if !partitions.load(Side::Outer, &mut batch)? {
                        break;
                    }
                }
                partitions.read_from(Side::Inner, next)?;
                joined_rows += batch[Side::Inner].count as u64;
            }
        }
        partitions.into_inner_file().ok_or_else(temporary_file)
    }
}

/// Receives pairs of rows in memory.
struct SelfPairs<'a> {
    sides: [&'a JoinSide; 2],
    found: &'a mut NearRows,
}

impl PairSink for SelfPairs<'_> {
    const AT_A_TIME: usize = 256;
    type Stop = OutOfMemory;

    fn found(&mut self, outer: u32, inner: u32) -> Result<(), OutOfMemory> {
        let [outer_side, inner_side] = self.sides;
        let outer = outer_side.number_of_code(CodePlace(outer));
        self.found.add([outer, inner_side.number_of_code(CodePlace(inner))]);
        Ok(())
    }

    fn wants(&mut self, outer: &[u32], inner: &[u32], heartbeat: &mut dyn Heartbeat) -> bool {
        let sides = self.sides.into_iter().zip([outer, inner]);
        let rows =
            sides.flat_map(|(side, codes)| codes.iter().map(|&code| side.number_of_code(CodePlace(code))));
        self.found.forest.are_apart(rows.map(|row| row.0 as u32), heartbeat)
    }
}

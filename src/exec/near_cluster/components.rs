//! The connected components of rows in a file: rows are connected if they are near each other, or by a chain
//! of such rows.
//!
//! A join of the rows with themselves finds the components, for which it uses 4 bytes and a bit of memory for
//! each row of the window.

use super::form::ClusterForm;
use super::open_rows::OpenRows;
use crate::exec::near_join::{NearRows, SelfJoin};
use crate::exec::rows::RecordNumber;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::plan::near_join::{BySide, Side, memory};
use base::{Heartbeat, collect, push};

/// The number of ranges into which the first rows of components are divided.
const RANGES: usize = 1 << 12;

/// Rows in a file, and which of them are near others.
pub(super) struct ConnectedRows {
    pub(super) rows: OpenRows,
    pub(super) found: NearRows,
}

impl ConnectedRows {
    /// Connects the rows of a file that are near each other. `count` is the number of rows of the window.
    pub(super) fn of(
        form: &ClusterForm,
        count: usize,
        rows: OpenRows,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Self, SqlError> {
        let OpenRows { file, mut summary } = rows;
        let mut found = NearRows::new(count)?;
        let sides = BySide::of(|_| form.open_rows(&summary.lengths));
        summary.bytes = summary.coded * sides[Side::Inner].bytes_of_coded_row() as u64;
        let radii = form.radii.iter().map(|radius| radius.bits as u32);
        let radii: Vec<u32> = collect(radii, form.radii.len())?;
        let join = SelfJoin { sides, radii: &radii, found: &mut found };
        let file = join.run(file, &summary, heartbeat)?;
        Ok(Self { rows: OpenRows { file, summary }, found })
    }
}

/// Divides the rows of a file that are near another one into files, such that each component is in one of
/// them. Rows that are near no other row are left out.
pub(super) fn divide(
    form: &ClusterForm,
    count: usize,
    open: OpenRows,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<OpenRows>, SqlError> {
    let ConnectedRows { rows: mut open, found } = ConnectedRows::of(form, count, open, heartbeat)?;
    let NearRows { near, forest } = found;
    let roots = forest.into_roots(&mut check_for_interrupts);
    let mut rows = form.open_rows(&open.summary.lengths);
    let range_of = |root: u32| (u64::from(root) * RANGES as u64 / count as u64) as usize;
    let mut sizes: Vec<u64> = collect(std::iter::repeat_n(0, RANGES), RANGES)?;
    for (row, &root) in (0..).map(RecordNumber).zip(&roots) {
        check_for_interrupts();
        sizes[range_of(root)] += u64::from(near.contains(row));
    }
    let places = places_of_ranges(&sizes, memory::of_load() / rows.bytes_of_coded_row())?;
    let mut parts = Vec::new();
    for _ in 0..places.last().map_or(0, |last| last + 1) {
        push(&mut parts, OpenRows::create()?)?;
    }
    open.file.read_from(0)?;
    while open.load(&mut rows)? {
        rows.each(|row, codes| {
            let number = rows.number(row);
            if !near.contains(number) {
                return Ok(());
            }
            let place = places[range_of(roots[number.0 as usize])];
            parts[place].push(rows.format(), number, codes)
        })?;
    }
    for part in &mut parts {
        part.summary.lengths = collect(open.summary.lengths.iter().copied(), open.summary.lengths.len())?;
    }
    parts.retain(|part| part.count() > 0);
    Ok(parts)
}

/// For each range of components, with the number of its rows, the place of its file. A file has at most
/// `room` rows, unless one range has more or there would be too many files.
fn places_of_ranges(sizes: &[u64], room: usize) -> Result<Vec<usize>, SqlError> {
    let all: u64 = sizes.iter().sum();
    let room = (room as u64).max(all.div_ceil(memory::files() as u64 / 2));
    let mut place = 0;
    let mut taken = 0;
    let places = sizes.iter().map(|&size| {
        if taken > 0 && taken + size > room {
            place += 1;
            taken = 0;
        }
        taken += size;
        place
    });
    Ok(collect(places, sizes.len())?)
}

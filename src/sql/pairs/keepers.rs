//! The keepers of a window's rows, in memory or in temporary files.
//!
//! Rows have the form of a near join's: the codes of a row, and its key as a column. If memory has no room
//! for them, they go to a file, and the leader linkage is computed in rounds. A round takes as many rows as
//! memory has room for. None of them is near a keeper of an earlier round, so their keepers are found among
//! themselves. Each row that is near one of these keepers gets the key of the first one. It is decided, loses
//! its codes and attracts no row; the others go on to the next round.
//!
//! If most rows of a round are keepers, and many rounds are left, a join of the remaining rows with
//! themselves finds those that are near no other row. They are their own keepers, and are left out.
//!
//! For the connected linkage, this join is the first step. It also finds the number of each row's keeper,
//! which takes 4 bytes of memory per row. These numbers are the codes of the rows in the rounds: the first
//! of the rows with equal codes is their keeper.
//!
//! Cost: each round compares its keepers with all rows that are not decided. For `n` such rows, of which
//! memory has room for `m`, there are at most `n / m` rounds, and `n * n / 2m` rows are compared.

use crate::exec::near_join::{CodePlace, JoinSide, NearRows, Record, RowFile, SideSummary, self_join};
use crate::pg::code::CodeType;
use crate::pg::code::list::CodeList;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::progress::Reporter;
use crate::pg::report::SqlError;
use crate::pg::row_store::{BatchRow, RowStore};
use crate::pg::value::Value;
use crate::plan::near_join::{BySide, Side, memory};
use base::{Heartbeat, Limit, Problem, collect};
use hamming::clusters::{Linkage, first_equals, first_near, keepers};
use hamming::code::CodeSlice;
use hamming::near_pairs::CodeRadii;
use pgrx::pg_sys::Oid;

/// If more rounds than this are left, a join of the rows with themselves pays.
const FEW_ROUNDS: usize = 8;

/// How rows are clustered.
pub(super) struct Clustering {
    pub(super) linkage: Linkage,
    /// The types of the codes, and a radius for each of them.
    pub(super) types: Vec<CodeType>,
    pub(super) radii: Vec<Radius>,
    /// The type of the keys.
    pub(super) key: Oid,
}

/// A radius, the name of its argument, and a hint for values that are out of range.
pub(super) struct Radius {
    pub(super) bits: i32,
    pub(super) name: &'static str,
    pub(super) hint: Option<&'static str>,
}

impl Clustering {
    /// No rows, for rows with keys or without, whose codes have these lengths.
    fn side(&self, has_key: bool, lengths: &[u32]) -> JoinSide {
        let keys = if has_key { RowStore::of_values(self.key) } else { RowStore::of_nothing() };
        // Bounded: as many codes as the function has.
        let mut side = JoinSide::new(keys, true, self.types.iter().copied());
        side.codes = self.types.iter().map(|&type_| CodeList::new(type_, 0)).collect();
        side.expect_lengths(lengths);
        side
    }

    /// The radii, each of which is at most the number of bits of a code.
    fn radii(&self, rows: &JoinSide) -> Result<CodeRadii, SqlError> {
        let radii = self.radii.iter().zip(&rows.codes).map(|(&Radius { bits, name, hint }, codes)| {
            let most = codes.bits().map_or(i32::MAX.into(), i64::from);
            let with_hint = |problem| Problem { hint: hint.map(str::to_owned), ..problem };
            Limit::new(name, 0, most).of(bits).map_err(with_hint)
        });
        Ok(rows.radii(&radii.collect::<Result<Vec<u32>, Problem>>()?))
    }

    /// For each row in memory, the row of its keeper. A row without a code is its own keeper.
    fn keepers(&self, rows: &JoinSide, heartbeat: &mut dyn Heartbeat) -> Result<Vec<u32>, SqlError> {
        let joined = rows.joined_codes()?;
        let found = keepers(rows.searched_codes(&joined), self.radii(rows)?, self.linkage, heartbeat)?;
        let mut keepers = collect(0..rows.rows.len() as u32, rows.rows.len())?;
        for (code, &keeper) in (0..).zip(&found) {
            keepers[rows.row(CodePlace(code)).0 as usize] = rows.row(CodePlace(keeper)).0;
        }
        Ok(keepers)
    }

    /// Decides the rows of a file. Returns a file with the same rows, each with the key of its keeper.
    fn decide(
        &self,
        mut rest: RowFile,
        (count, summary): (usize, &SideSummary),
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<RowFile, SqlError> {
        let (mut block, mut rows) = (self.side(true, &summary.lengths), self.side(true, &summary.lengths));
        let mut decided = RowFile::create()?;
        let (mut open, mut has_lone_rows) = (summary.coded as usize, self.linkage == Linkage::Leader);
        loop {
            rest.read_from(0)?;
            load(&mut rest, &mut block, true)?;
            let keepers = self.keepers(&block, &mut check_for_interrupts)?;
            let are_firsts = (0..).zip(&keepers).filter(|&(row, keeper)| row == *keeper);
            let firsts: Vec<u32> = collect(are_firsts.map(|(row, _)| row), keepers.len())?;
            let are_apart = firsts.len() > block.count / 2;
            if has_lone_rows && are_apart && open > FEW_ROUNDS * block.count {
                rest = self.without_lone_rows(rest, (count, summary), &mut check_for_interrupts)?;
                has_lone_rows = false;
                continue;
            }
            let mut left = RowFile::create()?;
            let to = [&mut decided, &mut left];
            let of_block = (&block, &keepers[..], &firsts[..]);
            open = self.round(of_block, (&mut rest, &mut rows), to, (count, heartbeat))?;
            rest = left;
            if keepers.is_empty() {
                break;
            }
        }
        decided.read_from(0)?;
        Ok(decided)
    }

    /// Writes the rows up to the last one in memory to one file, and those behind it to another, both with
    /// the keys of their keepers among the rows in memory. Returns how many rows are not decided.
    fn round(
        &self,
        (block, keepers, firsts): (&JoinSide, &[u32], &[u32]),
        (rest, rows): (&mut RowFile, &mut JoinSide),
        [decided, left]: [&mut RowFile; 2],
        (count, heartbeat): (usize, &mut dyn Heartbeat),
    ) -> Result<usize, SqlError> {
        let joined = block.joined_codes()?;
        let codes = block.searched_codes(&joined);
        let (of_firsts, width) = (codes.gather(firsts.iter().copied(), firsts.len())?, codes.width());
        let (radii, widest, format) = (self.radii(block)?, memory::widest_segment(), block.format());
        let (mut of_block, mut open) = (keepers.iter().copied().map(BatchRow), 0);
        // Without codes, all rows are decided.
        let last = block.last_number();
        rest.read_from(0)?;
        while load(rest, rows, false)? {
            let ends_later = last < rows.last_number();
            let joined = rows.joined_codes()?;
            let codes = [CodeSlice::new(&of_firsts, width), rows.searched_codes(&joined)];
            let near = || first_near(codes, radii.clone(), widest, &mut check_for_interrupts);
            let near = ends_later.then(near).transpose()?.into_iter().flatten();
            let mut near = near.map(|first| firsts.get(first as usize).copied().map(BatchRow));
            rows.each(|row, codes| {
                let number = rows.number(row);
                let is_decided = last.is_none_or(|last| number.0 <= last);
                let to = if is_decided { &mut *decided } else { &mut *left };
                let of_row = if codes.is_empty() { None } else { near.next().flatten() };
                let keeper = if is_decided && !codes.is_empty() { of_block.next() } else { of_row };
                match keeper {
                    None => {
                        open += usize::from(!codes.is_empty());
                        to.write_row(format, number, codes, rows.rows.words_of(row))
                    }
                    Some(keeper) => to.write_row(format, number, &[], block.rows.words_of(keeper)),
                }
            })?;
            let done = last.min(rows.last_number()).or(rows.last_number());
            heartbeat.progress(done.unwrap_or_default() as f64 / count as f64);
        }
        Ok(open)
    }

    /// Leaves out the rows that are not decided, and near no other such row. For the connected linkage, the
    /// codes of the others become the numbers of their keepers.
    fn without_lone_rows(
        &self,
        mut all: RowFile,
        (count, summary): (usize, &SideSummary),
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<RowFile, SqlError> {
        let mut sides = BySide::of(|_| self.side(false, &summary.lengths));
        let (format, mut rows) = (sides[Side::Inner].format(), self.side(true, &summary.lengths));
        let mut found = NearRows::new(count, self.linkage)?;
        let mut distinct = RowFile::create()?;
        all.read_from(0)?;
        while load(&mut all, &mut rows, true)? {
            let joined = rows.joined_codes()?;
            let firsts = first_equals(rows.searched_codes(&joined), &mut check_for_interrupts)?;
            rows.each(|row, codes| {
                let (first, number) = (BatchRow(firsts[row.0 as usize]), rows.number(row));
                if first.0 != row.0 {
                    // Of equal codes, one is compared with the others.
                    found.add([rows.number(first), number]);
                    return Ok(());
                }
                distinct.write_row(format, number, codes, &[])
            })?;
        }
        let radii = collect(self.radii.iter().map(|radius| radius.bits as u32), self.radii.len())?;
        self_join((distinct, summary), &mut sides, &radii, heartbeat, &mut found)?;
        let roots = found.forest.map(|forest| forest.into_roots(heartbeat)).unwrap_or_default();
        let mut left = RowFile::create()?;
        all.read_from(0)?;
        while load(&mut all, &mut rows, false)? {
            rows.each(|row, codes| {
                let (number, is_near) = (rows.number(row), found.near.contains(rows.number(row)));
                if !is_near && !codes.is_empty() {
                    return Ok(());
                }
                let root = roots.get(number.0 as usize).filter(|_| is_near).map(|&root| [root.into()]);
                let codes = root.as_ref().map_or(codes, |root| &root[..]);
                left.write_row(rows.format(), number, codes, rows.rows.words_of(row))
            })?;
        }
        Ok(left)
    }
}

/// Reads rows that memory has room for. Returns whether there are any.
fn load(file: &mut RowFile, rows: &mut JoinSide, only_coded: bool) -> Result<bool, SqlError> {
    rows.clear();
    let format = rows.format();
    while rows.bytes() < memory::of_load() {
        check_for_interrupts();
        let take = |record: Record| match !record.codes.is_empty() {
            false if only_coded => Ok(()),
            is_coded => rows.push_record(record, is_coded),
        };
        if !file.read_block(format, take)? {
            break;
        }
    }
    Ok(!rows.rows.is_empty())
}

/// Collects the rows of a window.
pub(super) struct ClusterRows<'a> {
    clustering: &'a Clustering,
    rows: JoinSide,
    file: Option<RowFile>,
    summary: SideSummary,
}

impl<'a> ClusterRows<'a> {
    pub(super) fn new(clustering: &'a Clustering) -> Self {
        Self { clustering, rows: clustering.side(true, &[]), file: None, summary: SideSummary::default() }
    }

    /// Adds a row with its key, and one or two codes. It has no cluster if one of its codes is NULL.
    pub(super) fn push(
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
            let mut file = self.file.take().map_or_else(RowFile::create, Ok)?;
            self.rows.move_to(&mut file, &mut self.summary)?;
            self.file = Some(file);
        }
        Ok(())
    }

    /// Computes the keepers of all rows, of which there are `count`.
    pub(super) fn end(mut self, count: usize) -> Result<RowKeepers, SqlError> {
        let mut reporter = Reporter::of("near_cluster", format!("{count} codes"));
        let Some(mut file) = self.file else {
            let keepers = self.clustering.keepers(&self.rows, &mut reporter)?;
            reporter.end();
            return Ok(RowKeepers { rows: self.rows, next: 0, number: 0, keepers, file: None });
        };
        self.rows.move_to(&mut file, &mut self.summary)?;
        let rows = self.clustering.side(true, &self.summary.lengths);
        self.clustering.radii(&rows)?;
        drop(self.rows);
        let file = match self.clustering {
            leader @ Clustering { linkage: Linkage::Leader, .. } => {
                leader.decide(file, (count, &self.summary), &mut reporter)?
            }
            connected => {
                let file = connected.without_lone_rows(file, (count, &self.summary), &mut reporter)?;
                // From now on, a row is near its keeper alone.
                let (types, radii) = (vec![CodeType::Bigint], vec![Radius { bits: 0, name: "", hint: None }]);
                let by_keepers = Clustering { types, radii, ..*connected };
                by_keepers.decide(file, (count, &SideSummary::default()), &mut check_for_interrupts)?
            }
        };
        reporter.end();
        Ok(RowKeepers { rows, next: 0, number: 0, keepers: Vec::new(), file: Some(file) })
    }
}

/// The keys of the keepers of a window's rows, in order.
pub(super) struct RowKeepers {
    /// Rows in memory, the next of them, and the number of the next of all rows.
    rows: JoinSide,
    next: u32,
    number: u64,
    /// For each row in memory, the row of its keeper; empty if rows have the keys of their keepers.
    keepers: Vec<u32>,
    /// The rows behind those in memory.
    file: Option<RowFile>,
}

impl RowKeepers {
    /// The key of the keeper of the next row, which stays valid until the next call; `None` if the row is
    /// known to be its own keeper.
    pub(super) fn next_key(&mut self) -> Result<Option<Option<Value<'_>>>, SqlError> {
        if self.next as usize == self.rows.rows.len()
            && let Some(file) = &mut self.file
        {
            if !load(file, &mut self.rows, false)? {
                self.file = None;
            }
            self.next = 0;
        }
        let (place, number) = (self.next, self.number);
        self.number += 1;
        if place as usize == self.rows.rows.len() || self.rows.number(BatchRow(place)).0 != number {
            return Ok(None);
        }
        self.next += 1;
        let keeper = self.keepers.get(place as usize).copied().unwrap_or(place);
        Ok(Some(self.rows.rows.value(BatchRow(keeper))))
    }
}

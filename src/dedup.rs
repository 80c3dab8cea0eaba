//! `sql/dedup.sql`: which rows of a table are near-duplicates of which.

use crate::pg::call::{Call, pg_function};
use crate::pg::codes::{CodeList, Kind};
use crate::pg::elements::Elements;
use crate::pg::encoding;
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::progress::Reporter;
use crate::pg::report::{self, SqlError};
use crate::pg::result_set::ResultSet;
use crate::pg::window::Partition;
use hamming::clusters::{self, Linkage};
use hamming::near_pairs::near_pairs;
use hamming::words::distance;
use limits::{Limit, OutOfMemory, collect, grow_map, reserve, sort};
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{Array, FromDatum, IntoDatum, pg_extern, pg_sys};
use std::collections::HashMap;
use std::iter;

/// Codes that are not NULL, and the rows that they belong to.
pub(crate) struct Given {
    pub(crate) codes: CodeList,
    pub(crate) rows: Vec<u32>,
}

impl Given {
    /// Has room for this number of rows.
    fn new(kind: Kind, rows: usize) -> Result<Self, SqlError> {
        if u32::try_from(rows).is_err() {
            return Err(error::too_many_codes(rows, kind));
        }
        let mut new = Self { codes: CodeList::new(kind, rows), rows: Vec::new() };
        reserve(&mut new.rows, rows).map_err(report::problem)?;
        Ok(new)
    }

    fn of_fingerprints(array: &Array<'_, i64>) -> Result<Self, SqlError> {
        let mut new = Self::new(Kind::Bigint, array.len())?;
        for (row, fingerprint) in array.iter().enumerate() {
            if let Some(fingerprint) = fingerprint.and_then(IntoDatum::into_datum) {
                // SAFETY: a bigint.
                unsafe { new.push(row, fingerprint) }?;
            }
        }
        Ok(new)
    }

    /// # Safety
    /// The elements must be of this kind of type.
    pub(crate) unsafe fn of_elements(elements: &Elements<'_>, kind: Kind) -> Result<Self, SqlError> {
        let mut new = Self::new(kind, elements.values.len())?;
        for (row, (&value, &is_null)) in elements.values.iter().zip(elements.nulls).enumerate() {
            check_for_interrupts();
            if !is_null {
                // SAFETY: promised by the caller.
                unsafe { new.push(row, value) }?;
            }
        }
        Ok(new)
    }

    /// # Safety
    /// The datum must be a value of the type of these codes.
    unsafe fn push(&mut self, row: usize, code: pg_sys::Datum) -> Result<(), SqlError> {
        self.rows.push(row as u32);
        // SAFETY: promised by the caller.
        unsafe { self.codes.push(code) }
    }

    /// A radius is at most the number of bits of a code.
    pub(crate) fn check_radius(&self, radius: i32) -> Result<u32, SqlError> {
        let most = self.codes.bits().map_or(i32::MAX.into(), i64::from);
        Limit::new("radius", 0, most).of(radius).map_err(report::problem)
    }

    /// Puts them in the order of their rows' ids; rows with the same id stay in their order.
    fn sort_by(&mut self, ids: &[i64]) -> Result<(), OutOfMemory> {
        let count = self.rows.len();
        let mut order = collect(0..count as u32, count)?;
        let id = |place: u32| ids[self.rows[place as usize] as usize];
        sort(&mut order, &mut check_for_interrupts, |&place| (id(place), place));
        self.codes.choose(order.iter().copied())?;
        self.rows = collect(order.iter().map(|&place| self.rows[place as usize]), count)?;
        Ok(())
    }

    /// For each row of the input, of which there are `rows`, the row of its keeper. A row without a code is its own.
    fn keepers(
        &self,
        function: &'static str,
        rows: usize,
        radius: i32,
        linkage: Linkage,
    ) -> Result<Vec<u32>, SqlError> {
        let (codes, radius) = (self.codes.codes(), self.check_radius(radius)?);
        let mut reporter = Reporter::new(function, self.codes.kind, codes.len());
        let found = clusters::keepers(codes, radius, linkage, &mut reporter).map_err(report::problem)?;
        let mut keepers = collect(0..rows as u32, rows).map_err(report::problem)?;
        for (&row, &keeper) in self.rows.iter().zip(&found) {
            keepers[row as usize] = self.rows[keeper as usize];
        }
        Ok(keepers)
    }
}

pub(crate) fn parse_linkage(name: &[u8]) -> Result<Linkage, SqlError> {
    encoding::to_utf8(name)?.parse().map_err(report::problem)
}

/// The ids of an array, of which there must be this number.
fn check_ids<'a>(ids: &'a Array<'_, i64>, codes: usize, kind: Kind) -> Result<&'a [i64], SqlError> {
    let ids = ids.as_slice().map_err(|_| error::null_id())?;
    if ids.len() != codes {
        return Err(error::ids_differ_in_number(ids.len(), codes, kind));
    }
    Ok(ids)
}

/// The first two arguments of a call.
///
/// # Safety
/// The function must be declared with arrays of bigint and of bit in front, which are not NULL.
unsafe fn ids_and_bits<'a>(call: Call) -> Result<(Array<'a, i64>, Given), SqlError> {
    // SAFETY: promised by the caller.
    unsafe {
        let ids = Array::from_datum(call.datum(0), false).ok_or_else(error::null_id)?;
        let codes = Elements::of(call.datum(1));
        check_ids(&ids, codes.values.len(), Kind::Bits)?;
        let given = Given::of_elements(&codes, Kind::Bits)?;
        Ok((ids, given))
    }
}

#[pg_extern(sql = false)]
fn simhash_clusters(
    ids: Array<'_, i64>,
    fingerprints: Array<'_, i64>,
    radius: i32,
    linkage: &[u8],
    call: pg_sys::FunctionCallInfo,
) -> Result<(), SqlError> {
    let ids = check_ids(&ids, fingerprints.len(), Kind::Bigint)?;
    let given = Given::of_fingerprints(&fingerprints)?;
    // SAFETY: declared so in `sql/dedup.sql`.
    let rows = unsafe { ResultSet::of(call) }?;
    put_clusters("simhash_clusters", ids, given, radius, linkage, rows)
}

pg_function!(
    pg_finfo_hamming_bit_clusters,
    fn hamming_bit_clusters(call) {
        // SAFETY: declared so in `sql/dedup.sql`, and returns a set of records.
        let (rows, (ids, given), linkage) =
            unsafe { (ResultSet::of(call.info()), ids_and_bits(call).unwrap_or_report(), call.text(3)) };
        let (ids, rows) = (ids.as_slice().unwrap_or_default(), rows.unwrap_or_report());
        put_clusters("hamming_bit_clusters", ids, given, call.integer(2), linkage, rows).unwrap_or_report();
        call.null()
    }
);

/// Each id with the smallest id of its cluster.
fn put_clusters(
    function: &'static str,
    ids: &[i64],
    mut given: Given,
    radius: i32,
    linkage: &[u8],
    mut rows: ResultSet,
) -> Result<(), SqlError> {
    let linkage = parse_linkage(linkage)?;
    // The smallest id of a cluster keeps.
    given.sort_by(ids).map_err(report::problem)?;
    let keepers = given.keepers(function, ids.len(), radius, linkage)?;
    drop(given);
    for (&id, &keeper) in ids.iter().zip(&keepers) {
        check_for_interrupts();
        rows.put([id.into_datum(), ids[keeper as usize].into_datum()]);
    }
    Ok(())
}

#[pg_extern(sql = false)]
fn hamming_pairs(
    ids: Array<'_, i64>,
    fingerprints: Array<'_, i64>,
    radius: i32,
    call: pg_sys::FunctionCallInfo,
) -> Result<(), SqlError> {
    let ids = check_ids(&ids, fingerprints.len(), Kind::Bigint)?;
    let given = Given::of_fingerprints(&fingerprints)?;
    // SAFETY: declared so in `sql/dedup.sql`.
    let rows = unsafe { ResultSet::of(call) }?;
    put_pairs("hamming_pairs", ids, &given, radius, rows)
}

pg_function!(
    pg_finfo_hamming_bit_pairs,
    fn hamming_bit_pairs(call) {
        // SAFETY: declared so in `sql/dedup.sql`, and returns a set of records.
        let (rows, (ids, given)) = unsafe { (ResultSet::of(call.info()), ids_and_bits(call).unwrap_or_report()) };
        let (ids, rows) = (ids.as_slice().unwrap_or_default(), rows.unwrap_or_report());
        put_pairs("hamming_bit_pairs", ids, &given, call.integer(2), rows).unwrap_or_report();
        call.null()
    }
);

/// The ids of each near pair, the smaller first, with its distance.
fn put_pairs(
    function: &'static str,
    ids: &[i64],
    given: &Given,
    radius: i32,
    mut rows: ResultSet,
) -> Result<(), SqlError> {
    let (codes, radius) = (given.codes.codes(), given.check_radius(radius)?);
    let mut reporter = Reporter::new(function, given.codes.kind, codes.len());
    near_pairs(codes, radius, &mut reporter, &mut |a, b| {
        check_for_interrupts();
        let distance = distance(codes.get(a), codes.get(b));
        let id = |place: u32| ids[given.rows[place as usize] as usize];
        let (a, b) = (id(a).min(id(b)), id(a).max(id(b)));
        rows.put([a.into_datum(), b.into_datum(), (distance as i32).into_datum()]);
        Ok::<(), OutOfMemory>(())
    })
    .map_err(report::problem)
}

/// The clusters of a partition, and the keys of the keepers of members that have been passed.
struct Clusters {
    keepers: Vec<u32>,
    has_members: Vec<bool>,
    keys: HashMap<u32, Option<pg_sys::Datum>>,
}

/// The arguments of `simhash_cluster` and `hamming_bit_cluster`.
const KEY: i32 = 0;
const CODE: i32 = 1;
const RADIUS: i32 = 2;
const LINKAGE: i32 = 3;

impl Clusters {
    /// Those of the partition that a window is at.
    fn state(partition: &mut Partition, kind: Kind) -> &mut Self {
        partition.state(|partition| Self::of(partition, kind).unwrap_or_report())
    }

    /// Reads the whole partition.
    fn of(partition: &Partition, kind: Kind) -> Result<Self, SqlError> {
        let radius = partition.argument(RADIUS).and_then(|radius| {
            // SAFETY: declared as integer; not NULL.
            unsafe { i32::from_datum(radius, false) }
        });
        let linkage = partition.argument(LINKAGE).and_then(|linkage| {
            // SAFETY: declared as text; not NULL.
            unsafe { <&[u8]>::from_datum(linkage, false) }
        });
        let radius = radius.ok_or_else(|| error::null_argument("radius"))?;
        let linkage = parse_linkage(linkage.ok_or_else(|| error::null_argument("linkage"))?)?;
        let rows = partition.rows();
        let rows = i32::try_from(rows).map_err(|_| error::too_many_codes(rows as usize, kind))?;
        let mut given = Given::new(kind, rows as usize)?;
        partition.each(CODE, rows, |row, code| {
            check_for_interrupts();
            // SAFETY: declared so in `sql/dedup.sql`.
            unsafe { given.push(row as usize, code) }
        })?;
        let function = if kind == Kind::Bigint { "simhash_cluster" } else { "hamming_bit_cluster" };
        let keepers = given.keepers(function, rows as usize, radius, linkage)?;
        let count = keepers.len();
        let mut has_members = collect(iter::repeat_n(false, count), count).map_err(report::problem)?;
        for (row, &keeper) in keepers.iter().enumerate() {
            has_members[keeper as usize] |= row as u32 != keeper;
        }
        Ok(Self { keepers, has_members, keys: HashMap::new() })
    }
}

pg_function!(pg_finfo_simhash_cluster,
/// A window calls this for each row of a partition, in order.
fn simhash_cluster(call) {
    // SAFETY: declared WINDOW in `sql/dedup.sql`.
    unsafe { keeper(call, Kind::Bigint) }
});

pg_function!(pg_finfo_hamming_bit_cluster,
/// The same for strings of bits.
fn hamming_bit_cluster(call) {
    // SAFETY: declared WINDOW in `sql/dedup.sql`.
    unsafe { keeper(call, Kind::Bits) }
});

/// The key of the keeper of the current row.
///
/// # Safety
/// The call must be that of a function declared WINDOW, whose codes are of this kind.
unsafe fn keeper(call: Call, kind: Kind) -> pg_sys::Datum {
    // SAFETY: promised by the caller.
    let mut partition = unsafe { Partition::of(call) };
    let row = partition.current_row() as usize;
    let key = partition.argument(KEY);
    let clusters = Clusters::state(&mut partition, kind);
    let keeper = clusters.keepers.get(row).copied().unwrap_or(row as u32);
    let key = if keeper as usize != row {
        // A keeper comes before its members.
        clusters.keys.get(&keeper).copied().flatten()
    } else if clusters.has_members[row] {
        let kept = key.map(|key| partition.keep(KEY, key));
        let keys = &mut Clusters::state(&mut partition, kind).keys;
        grow_map(keys, 1).map_err(report::problem).unwrap_or_report();
        keys.insert(keeper, kept);
        key
    } else {
        key
    };
    key.unwrap_or_else(|| call.null())
}

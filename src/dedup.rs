//! `sql/dedup.sql`: which rows of a table are near-duplicates of which.

use crate::pg::call::pg_function;
use crate::pg::encoding;
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::progress::Reporter;
use crate::pg::report::{self, SqlError};
use crate::pg::result_set::ResultSet;
use crate::pg::window::Partition;
use hamming::clusters::{self, Linkage};
use hamming::distance;
use hamming::near_pairs::near_pairs;
use limits::{OutOfMemory, collect, reserve, sort};
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{Array, FromDatum, IntoDatum, pg_extern, pg_sys};
use std::collections::HashMap;
use std::iter;

/// Fingerprints that are not NULL, and the rows that they belong to.
#[derive(Default)]
struct Fingerprints {
    values: Vec<u64>,
    rows: Vec<u32>,
}

impl Fingerprints {
    fn with_capacity(rows: usize) -> Result<Self, SqlError> {
        if u32::try_from(rows).is_err() {
            return Err(error::too_many_fingerprints(rows));
        }
        let mut new = Self::default();
        reserve(&mut new.values, rows).map_err(report::problem)?;
        reserve(&mut new.rows, rows).map_err(report::problem)?;
        Ok(new)
    }

    fn of(array: &Array<'_, i64>) -> Result<Self, SqlError> {
        let mut new = Self::with_capacity(array.len())?;
        for (row, fingerprint) in array.iter().enumerate() {
            if let Some(fingerprint) = fingerprint {
                new.push(row, fingerprint);
            }
        }
        Ok(new)
    }

    fn push(&mut self, row: usize, fingerprint: i64) {
        self.values.push(fingerprint as u64);
        self.rows.push(row as u32);
    }

    /// Puts them in the order of their rows' ids; rows with the same id stay in their order.
    fn sort_by(&mut self, ids: &[i64]) -> Result<(), OutOfMemory> {
        let count = self.rows.len();
        let mut order = collect(0..count as u32, count)?;
        let id = |place: u32| ids[self.rows[place as usize] as usize];
        sort(&mut order, &mut check_for_interrupts, |&place| (id(place), place));
        self.values = collect(order.iter().map(|&place| self.values[place as usize]), count)?;
        self.rows = collect(order.iter().map(|&place| self.rows[place as usize]), count)?;
        Ok(())
    }

    /// For each row of the input, of which there are `rows`, the row of its keeper. A row without a fingerprint is its
    /// own.
    fn keepers(
        &self,
        function: &'static str,
        rows: usize,
        radius: u32,
        linkage: Linkage,
    ) -> Result<Vec<u32>, SqlError> {
        let mut reporter = Reporter::new(function, self.values.len());
        let found =
            clusters::keepers(&self.values, radius, linkage, &mut reporter).map_err(report::problem)?;
        let mut keepers = collect(0..rows as u32, rows).map_err(report::problem)?;
        for (&row, &keeper) in self.rows.iter().zip(&found) {
            keepers[row as usize] = self.rows[keeper as usize];
        }
        Ok(keepers)
    }
}

fn check_radius(radius: i32) -> Result<u32, SqlError> {
    hamming::RADIUS.of(radius).map_err(report::problem)
}

fn parse_linkage(name: &[u8]) -> Result<Linkage, SqlError> {
    encoding::to_utf8(name)?.parse().map_err(report::problem)
}

/// The ids of an array, and as many fingerprints.
fn check_ids<'a>(ids: &'a Array<'_, i64>, fingerprints: &Array<'_, i64>) -> Result<&'a [i64], SqlError> {
    let ids = ids.as_slice().map_err(|_| error::null_id())?;
    if ids.len() != fingerprints.len() {
        return Err(error::ids_differ_in_number(ids.len(), fingerprints.len()));
    }
    Ok(ids)
}

#[pg_extern(sql = false)]
fn simhash_clusters(
    ids: Array<'_, i64>,
    fingerprints: Array<'_, i64>,
    radius: i32,
    linkage: &[u8],
    call: pg_sys::FunctionCallInfo,
) -> Result<(), SqlError> {
    let (radius, linkage) = (check_radius(radius)?, parse_linkage(linkage)?);
    let ids = check_ids(&ids, &fingerprints)?;
    let mut given = Fingerprints::of(&fingerprints)?;
    // The smallest id of a cluster keeps.
    given.sort_by(ids).map_err(report::problem)?;
    let keepers = given.keepers("simhash_clusters", ids.len(), radius, linkage)?;
    drop(given);
    // SAFETY: declared so in `sql/dedup.sql`.
    let mut rows = unsafe { ResultSet::of(call) }?;
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
    let radius = check_radius(radius)?;
    let ids = check_ids(&ids, &fingerprints)?;
    let given = Fingerprints::of(&fingerprints)?;
    // SAFETY: declared so in `sql/dedup.sql`.
    let mut rows = unsafe { ResultSet::of(call) }?;
    let mut reporter = Reporter::new("hamming_pairs", given.values.len());
    near_pairs(&given.values, radius, &mut reporter, &mut |a, b| {
        check_for_interrupts();
        let distance = distance(given.values[a as usize], given.values[b as usize]);
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

/// The arguments of `simhash_cluster`.
const KEY: i32 = 0;
const FINGERPRINT: i32 = 1;
const RADIUS: i32 = 2;
const LINKAGE: i32 = 3;

impl Clusters {
    /// Those of the partition that a window is at.
    fn state(partition: &mut Partition) -> &mut Self {
        partition.state(|partition| Self::of(partition).unwrap_or_report())
    }

    /// Reads the whole partition.
    fn of(partition: &Partition) -> Result<Self, SqlError> {
        let radius = partition.argument(RADIUS).and_then(|radius| {
            // SAFETY: declared as integer; not NULL.
            unsafe { i32::from_datum(radius, false) }
        });
        let linkage = partition.argument(LINKAGE).and_then(|linkage| {
            // SAFETY: declared as text; not NULL.
            unsafe { <&[u8]>::from_datum(linkage, false) }
        });
        let radius = check_radius(radius.ok_or_else(|| error::null_argument("radius"))?)?;
        let linkage = parse_linkage(linkage.ok_or_else(|| error::null_argument("linkage"))?)?;
        let rows = partition.rows();
        let rows = i32::try_from(rows).map_err(|_| error::too_many_fingerprints(rows as usize))?;
        let mut fingerprints = Fingerprints::with_capacity(rows as usize)?;
        partition.each(FINGERPRINT, rows, |row, fingerprint| {
            check_for_interrupts();
            fingerprints.push(row as usize, fingerprint.value() as i64);
        });
        let keepers = fingerprints.keepers("simhash_cluster", rows as usize, radius, linkage)?;
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
    let mut partition = unsafe { Partition::of(call) };
    let row = partition.current_row() as usize;
    let key = partition.argument(KEY);
    let clusters = Clusters::state(&mut partition);
    let keeper = clusters.keepers.get(row).copied().unwrap_or(row as u32);
    let key = if keeper as usize != row {
        // A keeper comes before its members.
        clusters.keys.get(&keeper).copied().flatten()
    } else if clusters.has_members[row] {
        let kept = key.map(|key| partition.keep(KEY, key));
        Clusters::state(&mut partition).keys.insert(keeper, kept);
        key
    } else {
        key
    };
    key.unwrap_or_else(|| call.null())
});

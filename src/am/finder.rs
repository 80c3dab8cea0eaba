//! What a scan asks, as the index understands it, and the search that answers.

use super::code::read_bits;
use super::row::tid_of;
use crate::code::ball::HammingBall;
use crate::code::bit_ball::BitBall;
use crate::pg::catalog::strategy::{EQUAL, WITHIN_BALL};
use crate::pg::code::bits::Bits;
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report;
use crate::pg::storage::pages::Pages;
use crate::pg::table_rows::TableRows;
use hamming_index::codes::{CodeHit, CodeSearch, Codes, Request};
use hamming_index::cost::leaves_in;
use hamming_index::key::RowId;
use hamming_index::plan::Costs;
use hamming_index::store::Store;
use hamming_index::{Ball, Hit, Index, Layout, Query, Search};
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;

/// Memory that a row of a sorted result takes at most. Up to twice the wanted number of rows is found before
/// the rest is cut off, each row in a buffer that has doubled, and once more as a hit.
pub(super) const BYTES_PER_SORTED: usize = 128;
/// What the index has codes of, and what searching it costs.
pub(super) enum Searched {
    /// Each tree has about this number of leaves.
    Fingerprints(f64),
    Bits(Costs),
}

impl Searched {
    pub(super) fn new(pages: &Pages, layout: Layout) -> Self {
        let leaves = leaves_in(pages.pages(), layout);
        match layout {
            Layout::FINGERPRINTS => Self::Fingerprints(leaves),
            _ => Self::Bits(Costs::new(layout, leaves)),
        }
    }

    pub(super) fn layout(&self) -> Layout {
        match self {
            Self::Fingerprints(_) => Layout::FINGERPRINTS,
            Self::Bits(costs) => costs.layout(),
        }
    }

    /// Begins the search that these keys ask for; `None` if no row can match.
    ///
    /// # Safety
    /// Arguments must be of the types that the operator class says.
    pub(super) unsafe fn begin(
        &self,
        keys: &[pg_sys::ScanKeyData],
        order_bys: &[pg_sys::ScanKeyData],
    ) -> Option<Finder> {
        // SAFETY: a setting; the rest is promised by the caller.
        unsafe {
            let memory = pg_sys::work_mem as usize * 1024;
            match self {
                Self::Fingerprints(leaves) => {
                    let centers: Vec<Option<u64>> = order_bys.iter().map(fingerprint).collect();
                    let search = Search::new(query(keys, &centers)?, *leaves, memory / BYTES_PER_SORTED);
                    Some(Finder::Fingerprints { search, hits: Vec::new(), centers })
                }
                Self::Bits(costs) => {
                    let (request, is_exact) = request(costs.layout(), keys, order_bys)?;
                    let search = CodeSearch::new(costs, request, memory / BYTES_PER_SORTED);
                    Some(Finder::Bits { search: Box::new(search), hits: Vec::new(), is_exact })
                }
            }
        }
    }
}

/// A search under way, with what its last batch has found.
pub(super) enum Finder {
    Fingerprints {
        search: Search,
        hits: Vec<Hit>,
        /// The fingerprints from which rows are ordered by distance; `None` where the query says NULL.
        centers: Vec<Option<u64>>,
    },
    Bits {
        search: Box<CodeSearch>,
        hits: Vec<CodeHit>,
        /// Whether all rows that are found match. Otherwise these are all that may match.
        is_exact: bool,
    },
}

impl Finder {
    /// Finds further rows in place of the last ones. Returns false when there are no more.
    ///
    /// Without the rows of the table, strings of bits are not compared: rows are those that may match, and may
    /// come several times.
    pub(super) fn next_batch(&mut self, pages: &Pages, layout: Layout, rows: Option<&TableRows>) -> bool {
        let index = Index::new(pages, layout);
        let is_more = match self {
            Self::Fingerprints { search, hits, .. } => {
                hits.clear();
                search.next_batch(&index, hits)
            }
            Self::Bits { search, hits, is_exact } => {
                hits.clear();
                *is_exact &= rows.is_some();
                let mut codes = rows.map(|rows| RowCodes { rows, layout, code: Vec::new() });
                search.next_batch(&index, codes.as_mut(), hits)
            }
        };
        is_more.map_err(report::problem).unwrap_or_report()
    }

    /// The number of rows of the last batch.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Fingerprints { hits, .. } => hits.len(),
            Self::Bits { hits, .. } => hits.len(),
        }
    }

    /// A row of the last batch.
    pub(super) fn row(&self, number: usize) -> RowId {
        match self {
            Self::Fingerprints { hits, .. } => hits[number].row,
            Self::Bits { hits, .. } => hits[number].row,
        }
    }

    /// Whether all rows that are found match. Otherwise these are all that may match.
    pub(super) fn is_exact(&self) -> bool {
        match self {
            Self::Fingerprints { .. } => true,
            Self::Bits { is_exact, .. } => *is_exact,
        }
    }

    /// A distance of a row of the last batch, of those by which rows are ordered; `None` is NULL.
    pub(super) fn distance(&self, number: usize, place: usize) -> Option<u32> {
        match self {
            Self::Fingerprints { hits, centers, .. } => {
                hits[number].fingerprint.zip(centers[place]).map(|(a, b)| (a ^ b).count_ones())
            }
            // There is one distance then: see `src/planner/indexes.rs`.
            Self::Bits { hits, .. } => hits[number].distance,
        }
    }
}

/// The codes of a table's rows.
struct RowCodes<'a> {
    rows: &'a TableRows,
    layout: Layout,
    /// The last one that was asked for.
    code: Vec<u8>,
}

impl Codes for RowCodes<'_> {
    fn code_of(&mut self, row: RowId) -> Option<&[u8]> {
        // Each row may have to be read from disk, and there may be many before the next leaf.
        check_for_interrupts();
        self.code.clear();
        // At most as long as a code of the index, a few kB.
        let keep = |code: &[u8]| self.code.extend_from_slice(code);
        // SAFETY: a value of the index's column.
        let read = self.rows.read(tid_of(row), |value| unsafe { read_bits(self.layout, value, keep) });
        read?.unwrap_or_report();
        Some(&self.code)
    }
}

fn is_null(key: &pg_sys::ScanKeyData) -> bool {
    key.sk_flags as u32 & pg_sys::SK_ISNULL != 0
}

/// What keys ask for beside distances.
struct Wanted<'a> {
    values: bool,
    nulls: bool,
    /// The keys that are about distances and equality.
    near: Vec<&'a pg_sys::ScanKeyData>,
}

impl<'a> Wanted<'a> {
    /// `None` if no row can match.
    fn of(keys: &'a [pg_sys::ScanKeyData]) -> Option<Self> {
        let mut wanted = Self { values: true, nulls: true, near: Vec::new() };
        for key in keys {
            let flags = key.sk_flags as u32;
            if flags & pg_sys::SK_SEARCHNULL != 0 {
                wanted.values = false;
            } else if flags & pg_sys::SK_SEARCHNOTNULL != 0 {
                wanted.nulls = false;
            } else if is_null(key) {
                return None;
            } else {
                wanted.near.push(key);
            }
        }
        wanted.nulls &= wanted.near.is_empty();
        Some(wanted)
    }
}

/// The query that the keys ask of an index of fingerprints, or `None` if no row can match.
///
/// # Safety
/// Arguments must be of the types that the operator class says.
unsafe fn query(keys: &[pg_sys::ScanKeyData], centers: &[Option<u64>]) -> Option<Query> {
    let Wanted { values, nulls, near } = Wanted::of(keys)?;
    // SAFETY: promised by the caller.
    let balls = near.into_iter().map(|key| unsafe { ball(key) }).collect::<Option<_>>()?;
    // All rows are equally far from NULL.
    let nearest_to = centers.iter().flatten().copied().collect();
    Some(Query { balls, values, nulls, nearest_to })
}

/// The fingerprint from which a distance is asked.
fn fingerprint(order_by: &pg_sys::ScanKeyData) -> Option<u64> {
    (!is_null(order_by)).then(|| order_by.sk_argument.value() as u64)
}

/// The ball of fingerprints that a key asks for, or `None` if it is empty.
///
/// # Safety
/// The argument must be of the type that the operator class says.
unsafe fn ball(key: &pg_sys::ScanKeyData) -> Option<Ball> {
    match key.sk_strategy as i16 {
        WITHIN_BALL => {
            // SAFETY: promised by the caller.
            let ball: HammingBall = unsafe { key.sk_argument.cast_mut_ptr::<HammingBall>().read() };
            let radius = u32::try_from(ball.radius).ok()?.min(u64::BITS);
            Some(Ball { center: ball.center as u64, radius })
        }
        EQUAL => Some(Ball { center: key.sk_argument.value() as u64, radius: 0 }),
        other => Err(error::unknown_strategy(other)).unwrap_or_report(),
    }
}

/// What the keys ask of an index of strings of bits, and whether the request says all of it; `None` if no row
/// can match.
///
/// Strings of another length than the index has cannot be compared with its rows. A query with one asks for
/// all rows, and comparing raises the error as it does without an index.
///
/// # Safety
/// Arguments must be of the types that the operator class says.
unsafe fn request(
    layout: Layout,
    keys: &[pg_sys::ScanKeyData],
    order_bys: &[pg_sys::ScanKeyData],
) -> Option<(Request, bool)> {
    let Wanted { values, nulls, near } = Wanted::of(keys)?;
    let all = Request { values, nulls, ..Request::default() };
    // The smallest ball. Others are compared when rows are checked again.
    let is_exact = near.len() <= 1;
    let mut ball: Option<(Vec<u8>, u32)> = None;
    for key in near {
        // SAFETY: promised by the caller.
        match unsafe { around(layout, key) } {
            Around::Nothing => return None,
            Around::Incomparable => return Some((all, false)),
            Around::Ball(_, radius) if ball.as_ref().is_some_and(|smallest| smallest.1 <= radius) => {}
            Around::Ball(center, radius) => ball = Some((center, radius)),
        }
    }
    let order_by = order_bys.first().filter(|key| !is_null(key));
    // SAFETY: promised by the caller.
    let nearest_to = order_by.map(|key| unsafe { code(layout, Bits::of(key.sk_argument)) });
    let nearest_to = match nearest_to {
        Some(None) => return Some((all, false)),
        Some(center) => center,
        None => None,
    };
    let (center, radius) = match ball {
        Some((center, radius)) => (Some(center), radius),
        None => (nearest_to.clone(), layout.bits()),
    };
    Some((Request { center, radius, nearest_to, ..all }, is_exact))
}

/// Where a key says that strings of bits have to lie.
enum Around {
    Nothing,
    /// At a distance from a string that has another length.
    Incomparable,
    Ball(Vec<u8>, u32),
}

/// # Safety
/// The argument must be of the type that the operator class says.
unsafe fn around(layout: Layout, key: &pg_sys::ScanKeyData) -> Around {
    // SAFETY: promised by the caller.
    unsafe {
        match key.sk_strategy as i16 {
            WITHIN_BALL => {
                let ball = BitBall::of(key.sk_argument);
                match (code(layout, ball.center), u32::try_from(ball.radius)) {
                    (None, _) => Around::Incomparable,
                    (Some(_), Err(_)) => Around::Nothing,
                    (Some(center), Ok(radius)) => Around::Ball(center, radius),
                }
            }
            EQUAL => match code(layout, Bits::of(key.sk_argument)) {
                None => Around::Nothing,
                Some(center) => Around::Ball(center, 0),
            },
            other => Err(error::unknown_strategy(other)).unwrap_or_report(),
        }
    }
}

/// The bits of a string, if it is as long as those in the index.
fn code(layout: Layout, string: Bits<'_>) -> Option<Vec<u8>> {
    // Bounded: a code of the index.
    (string.length() == layout.bits()).then(|| string.bytes().to_vec())
}

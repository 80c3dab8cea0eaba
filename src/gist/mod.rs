//! `sql/gist.sql`: operator classes for GiST.
//!
//! Keys are [`Bounds`]; what they prune is worked out in `crates/hamming_index`. Every answer is exact for
//! `gist_hamming_ops`. Keys of `gist_hamming_ball_ops` leave the radius out, so there a match has to be
//! looked at again in the table.

mod tree;

use crate::ball::Ball;
use crate::pg::call::{Call, allocate, pg_function};
use crate::pg::error;
use hamming_index::Bounds;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;

/// Strategies, as numbered in `sql/gist.sql`.
const WITHIN_BALL: i16 = 1;
const EQUAL: i16 = 2;

/// As declared in `sql/gist.sql`.
const _: () = assert!(size_of::<Bounds>() == 16 && align_of::<Bounds>() == 8);

/// The key of an entry, and whether it is that of a single row.
fn read_entry(call: Call, index: usize) -> (Bounds, bool) {
    // SAFETY: GiST passes an entry of the index there. Its key has the storage type of the operator class;
    // its page is the one that it stands on, or null for a row that is not stored yet.
    unsafe {
        let entry = &*call.pointer::<pg_sys::GISTENTRY>(index);
        (*entry.key.cast_mut_ptr::<Bounds>(), is_leaf(entry.page))
    }
}

/// Whether entries of the page are rows, as Postgres's own GIST_LEAF tells it.
///
/// # Safety
/// The page must be one of a GiST index.
unsafe fn is_leaf(page: pg_sys::Page) -> bool {
    // SAFETY: promised by the caller: the special space of such a page is its opaque data.
    unsafe {
        let header = page.cast::<pg_sys::PageHeaderData>();
        let opaque = page.add(usize::from((*header).pd_special)).cast::<pg_sys::GISTPageOpaqueData>();
        u32::from((*opaque).flags) & pg_sys::F_LEAF != 0
    }
}

fn set_recheck(call: Call, recheck: bool) {
    // SAFETY: consistent and distance functions get a pointer to a bool as their fifth argument.
    unsafe { call.pointer::<bool>(4).write(recheck) }
}

pg_function!(
    pg_finfo_gist_hamming_consistent,
    fn gist_hamming_consistent(call) {
        let (bounds, _) = read_entry(call, 0);
        set_recheck(call, false);
        match call.smallint(2) {
            WITHIN_BALL => {
                // SAFETY: the right side of the operator with this strategy is a hamming_ball.
                let ball: Ball = unsafe { call.value(1) };
                bounds.min_distance(ball.center as u64) as i32 <= ball.radius
            }
            EQUAL => bounds.may_contain(call.bigint(1) as u64),
            other => Err(error::unknown_strategy(other)).unwrap_or_report(),
        }
        .into()
    }
);

pg_function!(
    pg_finfo_gist_hamming_ball_consistent,
    fn gist_hamming_ball_consistent(call) {
        let (bounds, is_row) = read_entry(call, 0);
        // SAFETY: declared with a hamming_ball.
        let ball: Ball = unsafe { call.value(1) };
        set_recheck(call, is_row);
        (bounds.min_distance(ball.center as u64) as i32 <= ball.radius).into()
    }
);

pg_function!(
    pg_finfo_gist_hamming_distance,
    fn gist_hamming_distance(call) {
        let (bounds, _) = read_entry(call, 0);
        set_recheck(call, false);
        f64::from(bounds.min_distance(call.bigint(1) as u64)).to_bits().into()
    }
);

pg_function!(
    pg_finfo_gist_hamming_key_in,
    fn gist_hamming_key_in(_call) {
        Err(error::no_input("gist_hamming_key")).unwrap_or_report()
    }
);

pg_function!(
    pg_finfo_gist_hamming_key_out,
    fn gist_hamming_key_out(call) {
        // SAFETY: declared with one gist_hamming_key.
        let bounds: Bounds = unsafe { call.value(0) };
        // SAFETY: pstrdup copies the string, which ends with a zero byte, into the memory of the call.
        unsafe { pg_sys::pstrdup(format!("{:064b},{:064b}\0", bounds.all, bounds.any).as_ptr().cast()) }.into()
    }
);

/// A key for a value that has none yet; keys that are there already stay as they are.
fn compress(call: Call, key_of: impl FnOnce(pg_sys::Datum) -> Bounds) -> pg_sys::Datum {
    let entry = call.pointer::<pg_sys::GISTENTRY>(0);
    // SAFETY: GiST passes an entry.
    let entry = unsafe { &*entry };
    if !entry.leafkey {
        return call.datum(0);
    }
    allocate(pg_sys::GISTENTRY { key: allocate(key_of(entry.key)), leafkey: false, ..*entry })
}

pg_function!(
    pg_finfo_gist_hamming_compress,
    fn gist_hamming_compress(call) {
        compress(call, |fingerprint| Bounds::of(fingerprint.value() as u64))
    }
);

pg_function!(
    pg_finfo_gist_hamming_ball_compress,
    fn gist_hamming_ball_compress(call) {
        // SAFETY: the entry of a value of the indexed type, which is hamming_ball.
        compress(call, |ball| Bounds::of(unsafe { ball.cast_mut_ptr::<Ball>().read() }.center as u64))
    }
);

pg_function!(
    pg_finfo_gist_hamming_fetch,
    fn gist_hamming_fetch(call) {
        let (bounds, _) = read_entry(call, 0);
        // SAFETY: GiST passes an entry.
        let entry = unsafe { &*call.pointer::<pg_sys::GISTENTRY>(0) };
        allocate(pg_sys::GISTENTRY { key: pg_sys::Datum::from(bounds.all as i64), ..*entry })
    }
);

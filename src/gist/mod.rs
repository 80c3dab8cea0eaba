//! `sql/gist.sql`: operator classes for GiST.
//!
//! Keys are [`Bounds`]; what they prune is worked out in `crates/hamming_index`. Every answer is exact for
//! `gist_hamming_ops`. Keys of `gist_hamming_ball_ops` leave the radius out, so there a match has to be
//! looked at again in the table.

mod check;
mod cost;
mod tree;

use crate::ball::HammingBall;
use crate::pg::call::{Call, allocate, pg_function};
use crate::pg::catalog::ours::is_ball;
use crate::pg::catalog::strategy::{EQUAL, WITHIN_BALL};
use crate::pg::error;
use check::{Indexed, Procedure, check};
use hamming_index::Bounds;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;

pub(crate) use cost::install_cost;

/// As declared in `sql/gist.sql`.
const _: () = assert!(size_of::<Bounds>() == 16 && align_of::<Bounds>() == 8);

/// The entry that a function is called with.
fn entry<'a>(call: Call) -> &'a pg_sys::GISTENTRY {
    // SAFETY: GiST passes an entry as the first argument of each of these functions.
    unsafe { &*call.pointer(0) }
}

/// The key of the entry.
fn key(call: Call) -> Bounds {
    // SAFETY: the key of an entry that is in the index has the storage type of the operator class.
    unsafe { *entry(call).key.cast_mut_ptr() }
}

/// Whether the entry of a consistent function is that of a row, as Postgres's own GIST_LEAF tells it.
fn is_row(call: Call) -> bool {
    // SAFETY: an entry that is looked at in a search has the page that it stands on, whose special space is
    // GiST's opaque data. (Fetch functions get none.)
    unsafe {
        let page = entry(call).page;
        let header = page.cast::<pg_sys::PageHeaderData>();
        let opaque = page.add(usize::from((*header).pd_special)).cast::<pg_sys::GISTPageOpaqueData>();
        u32::from((*opaque).flags) & pg_sys::F_LEAF != 0
    }
}

/// The type of what is compared with. For an exclusion constraint it is not told, and that of the column.
fn operand_type(call: Call) -> pg_sys::Oid {
    pg_sys::Oid::from(call.integer(3) as u32)
}

fn set_recheck(call: Call, recheck: bool) {
    // SAFETY: consistent and distance functions get a pointer to a bool as their fifth argument.
    unsafe { call.pointer::<bool>(4).write(recheck) }
}

pg_function!(
    pg_finfo_gist_hamming_consistent,
    fn gist_hamming_consistent(call) {
        check(call, entry(call), Procedure::Consistent, Indexed::Fingerprint, || match call.smallint(2) {
            WITHIN_BALL => is_ball(operand_type(call)),
            _ => [pg_sys::INT8OID, pg_sys::InvalidOid].contains(&operand_type(call)),
        });
        let bounds = key(call);
        set_recheck(call, false);
        match call.smallint(2) {
            WITHIN_BALL => {
                // SAFETY: the right side of the operator with this strategy is a hamming_ball.
                let ball: HammingBall = unsafe { call.value(1) };
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
        check(call, entry(call), Procedure::Consistent, Indexed::Ball, || {
            operand_type(call) == pg_sys::InvalidOid || is_ball(operand_type(call))
        });
        // SAFETY: declared with a hamming_ball.
        let ball: HammingBall = unsafe { call.value(1) };
        set_recheck(call, is_row(call));
        (key(call).min_distance(ball.center as u64) as i32 <= ball.radius).into()
    }
);

pg_function!(
    pg_finfo_gist_hamming_distance,
    fn gist_hamming_distance(call) {
        check(call, entry(call), Procedure::Distance, Indexed::Fingerprint, || {
            operand_type(call) == pg_sys::INT8OID
        });
        let bounds = key(call);
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
fn compress(call: Call, indexed: Indexed, key_of: impl FnOnce(pg_sys::Datum) -> Bounds) -> pg_sys::Datum {
    let entry = entry(call);
    check(call, entry, Procedure::Compress, indexed, || true);
    if !entry.leafkey {
        return call.datum(0);
    }
    allocate(pg_sys::GISTENTRY { key: allocate(key_of(entry.key)), leafkey: false, ..*entry })
}

pg_function!(
    pg_finfo_gist_hamming_compress,
    fn gist_hamming_compress(call) {
        compress(call, Indexed::Fingerprint, |fingerprint| Bounds::of(fingerprint.value() as u64))
    }
);

pg_function!(
    pg_finfo_gist_hamming_ball_compress,
    fn gist_hamming_ball_compress(call) {
        // SAFETY: the entry of a value of the indexed type, which is hamming_ball.
        compress(call, Indexed::Ball, |ball| Bounds::of(unsafe { ball.cast_mut_ptr::<HammingBall>().read() }.center as u64))
    }
);

pg_function!(
    pg_finfo_gist_hamming_fetch,
    fn gist_hamming_fetch(call) {
        check(call, entry(call), Procedure::Fetch, Indexed::Fingerprint, || true);
        allocate(pg_sys::GISTENTRY { key: pg_sys::Datum::from(key(call).all as i64), ..*entry(call) })
    }
);

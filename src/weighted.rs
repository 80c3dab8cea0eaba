//! `sql/weighted.sql`: fingerprints of features that someone else has found.

use crate::pg::call::{Call, pg_function};
use crate::pg::encoding;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use pg_sys::Datum;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{Array, pg_extern, pg_sys};
use text::fingerprint::weighted::{self, Sums};

/// Features between two looks at interrupts.
const STRIDE: usize = 1 << 12;

#[pg_extern(sql = false)]
fn simhash_of_features(
    features: Option<Array<'_, &[u8]>>,
    weights: Option<Array<'_, f64>>,
) -> Result<Option<i64>, SqlError> {
    let Some(features) = features else { return Ok(None) };
    if let Some(weights) = &weights
        && weights.len() != features.len()
    {
        return Err(weights_differ_in_number(features.len(), weights.len()));
    }
    let mut sums = weighted::NOTHING;
    let mut weights = weights.as_ref().map(Array::iter);
    for (index, feature) in features.iter().enumerate() {
        if index % STRIDE == 0 {
            check_for_interrupts();
        }
        let weight = weights.as_mut().map_or(Some(1.0), |weights| weights.next().flatten());
        add(&mut sums, feature, weight)?;
    }
    Ok(weighted::majority(&sums).map(|fingerprint| fingerprint as i64))
}

/// What is NULL does not count.
fn add(sums: &mut Sums, feature: Option<&[u8]>, weight: Option<f64>) -> Result<(), SqlError> {
    let (Some(feature), Some(weight)) = (feature, weight) else { return Ok(()) };
    weighted::add(sums, encoding::to_utf8(feature)?.as_bytes(), weight).map_err(report::problem)
}

/// The state of simhash_agg is a bytea: this mark of its form, and the sums. Servers send it to one another
/// (Citus), so the form is a protocol; another form gets another mark.
const MARK: &[u8; 8] = b"simhash1";
/// Bytes of a state, with the header of a bytea.
const STATE_BYTES: usize = pg_sys::VARHDRSZ + MARK.len() + weighted::BYTES;

pg_function!(
    pg_finfo_simhash_agg_add_weighted_wrapper,
    fn simhash_agg_add_weighted_wrapper(call) {
        let weight = (!call.is_null(2)).then(|| call.double(2));
        add_to_state(call, weight).unwrap_or_report()
    }
);

fn add_to_state(call: Call, weight: Option<f64>) -> Result<Datum, SqlError> {
    let state = state_to_change(call)?;
    // SAFETY: declared with a text there.
    let feature = (!call.is_null(1)).then(|| unsafe { call.text(1) });
    // SAFETY: a state, as was checked, that nobody else looks at during this call.
    add(unsafe { &mut *sums_of(state) }, feature, weight)?;
    Ok(state.into())
}

pg_function!(
    pg_finfo_simhash_agg_combine_wrapper,
    fn simhash_agg_combine_wrapper(call) {
        combine(call).unwrap_or_report()
    }
);

fn combine(call: Call) -> Result<Datum, SqlError> {
    let state = state_to_change(call)?;
    if let Some(other) = state_at(call, 1)? {
        // SAFETY: two states, as was checked; the first is the aggregate's own, or a copy.
        unsafe { weighted::merge(&mut *sums_of(state), &*sums_of(other)) }
    }
    Ok(state.into())
}

pg_function!(
    pg_finfo_simhash_agg_final_wrapper,
    fn simhash_agg_final_wrapper(call) {
        let state = state_at(call, 0).unwrap_or_report();
        // SAFETY: a state, as was checked.
        let fingerprint = state.and_then(|state| weighted::majority(unsafe { &*sums_of(state) }));
        fingerprint.map_or_else(|| call.null(), |fingerprint| (fingerprint as i64).into())
    }
);

/// The sums of a state.
fn sums_of(state: *mut pg_sys::varlena) -> *mut Sums {
    state.cast::<u8>().wrapping_add(STATE_BYTES - weighted::BYTES).cast()
}

/// A state among the arguments, if it is not NULL.
fn state_at(call: Call, index: usize) -> Result<Option<*mut pg_sys::varlena>, SqlError> {
    if call.is_null(index) {
        return Ok(None);
    }
    let mut state: *mut pg_sys::varlena = call.pointer(index);
    // SAFETY: a bytea, of which no more is read than its mark unless it has the length and the mark of a
    // state.
    unsafe {
        if !is_plain(state) {
            state = pg_sys::pg_detoast_datum(state);
        }
        let is_state =
            is_plain(state) && *state.cast::<u8>().add(pg_sys::VARHDRSZ).cast::<[u8; 8]>() == *MARK;
        if is_state { Ok(Some(state)) } else { Err(damaged_state()) }
    }
}

/// Whether this has the header of a state that is neither compressed nor stored elsewhere.
///
/// # Safety
/// The pointer must be that of a value of variable length.
unsafe fn is_plain(state: *const pg_sys::varlena) -> bool {
    // SAFETY: the caller's pointer is to at least four bytes.
    unsafe { pgrx::varatt_is_4b_u(state) && pgrx::varsize_4b(state) == STATE_BYTES }
}

/// The state that comes first, to be changed in place: the aggregate's own, a new one, or a copy of what
/// somebody passes who is no aggregate.
fn state_to_change(call: Call) -> Result<*mut pg_sys::varlena, SqlError> {
    // SAFETY: the information is that of the call in progress; the context is not asked for.
    let in_aggregate = unsafe { pg_sys::AggCheckCallContext(call.info(), std::ptr::null_mut()) } != 0;
    match state_at(call, 0)? {
        Some(state) if in_aggregate => Ok(state),
        // SAFETY: a state, as was checked.
        Some(state) => Ok(unsafe { pg_sys::pg_detoast_datum_copy(state) }),
        None => Ok(new_state()),
    }
}

fn new_state() -> *mut pg_sys::varlena {
    // SAFETY: the memory has as many bytes as are written.
    unsafe {
        let state = pg_sys::palloc0(STATE_BYTES).cast();
        pgrx::set_varsize_4b(state, STATE_BYTES as i32);
        state.cast::<u8>().add(pg_sys::VARHDRSZ).cast::<[u8; 8]>().write(*MARK);
        state
    }
}

fn weights_differ_in_number(features: usize, weights: usize) -> SqlError {
    let message = format!("{features} features have {weights} weights");
    report::report(Code::ERRCODE_ARRAY_ELEMENT_ERROR, message).set_detail("Each feature needs one weight.")
}

fn damaged_state() -> SqlError {
    report::report(Code::ERRCODE_INVALID_BINARY_REPRESENTATION, "state of simhash_agg is damaged")
}

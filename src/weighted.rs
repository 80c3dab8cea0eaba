//! `sql/weighted.sql`: fingerprints of features that someone else has found.

use crate::pg::encoding;
use crate::pg::error;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use pgrx::{Array, Internal, PgMemoryContexts, pg_extern, pg_sys};
use text::fingerprint::weighted::WeightedCounts;

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
        return Err(error::weights_differ_in_number(features.len(), weights.len()));
    }
    let mut counts = WeightedCounts::default();
    let mut weights = weights.as_ref().map(Array::iter);
    for (index, feature) in features.iter().enumerate() {
        if index % STRIDE == 0 {
            check_for_interrupts();
        }
        let weight = weights.as_mut().map_or(Some(1.0), |weights| weights.next().flatten());
        add(&mut counts, feature, weight)?;
    }
    Ok(counts.majority().map(|fingerprint| fingerprint as i64))
}

/// What is NULL does not count.
fn add(counts: &mut WeightedCounts, feature: Option<&[u8]>, weight: Option<f64>) -> Result<(), SqlError> {
    let (Some(feature), Some(weight)) = (feature, weight) else { return Ok(()) };
    counts.add(encoding::to_utf8(feature)?.as_bytes(), weight).map_err(report::problem)
}

#[pg_extern(sql = false)]
fn simhash_agg_add(
    state: Internal,
    feature: Option<&[u8]>,
    call: pg_sys::FunctionCallInfo,
) -> Result<Internal, SqlError> {
    add_to_state(state, feature, Some(1.0), call)
}

#[pg_extern(sql = false)]
fn simhash_agg_add_weighted(
    state: Internal,
    feature: Option<&[u8]>,
    weight: Option<f64>,
    call: pg_sys::FunctionCallInfo,
) -> Result<Internal, SqlError> {
    add_to_state(state, feature, weight, call)
}

fn add_to_state(
    mut state: Internal,
    feature: Option<&[u8]>,
    weight: Option<f64>,
    call: pg_sys::FunctionCallInfo,
) -> Result<Internal, SqlError> {
    add(counts_of(&mut state, call)?, feature, weight)?;
    Ok(state)
}

#[pg_extern(sql = false)]
fn simhash_agg_combine(
    mut state: Internal,
    other: Internal,
    call: pg_sys::FunctionCallInfo,
) -> Result<Internal, SqlError> {
    let counts = counts_of(&mut state, call)?;
    if let Some(other) = counts_in(&other)? {
        counts.merge(other);
    }
    Ok(state)
}

/// What the aggregate keeps: its sums, after a mark by which they are told from what somebody else's aggregate keeps
/// that has our functions.
#[repr(C)]
struct State {
    mark: u64,
    counts: WeightedCounts,
}

const MARK: u64 = u64::from_be_bytes(*b"simhash1");

impl Default for State {
    fn default() -> Self {
        Self { mark: MARK, counts: WeightedCounts::default() }
    }
}

/// The sums of a state, if there is one.
fn counts_in(state: &Internal) -> Result<Option<&WeightedCounts>, SqlError> {
    // SAFETY: what is kept in memory begins with so many bytes; with our mark it was made by `counts_of` or by
    // `simhash_agg_deserialize`.
    unsafe {
        match state.get::<u64>() {
            Some(&MARK) => Ok(state.get::<State>().map(|state| &state.counts)),
            Some(_) => Err(error::damaged_state()),
            None => Ok(None),
        }
    }
}

/// The sums of a state, which is made when the first row comes, in memory that lives as long as the aggregate.
fn counts_of(state: &mut Internal, call: pg_sys::FunctionCallInfo) -> Result<&mut WeightedCounts, SqlError> {
    let mut context = std::ptr::null_mut();
    // SAFETY: the information is that of the call in progress; the function writes the context and returns whether there is
    // one.
    if unsafe { pg_sys::AggCheckCallContext(call, &raw mut context) } == 0 {
        return Err(error::not_an_aggregate("simhash_agg_add"));
    }
    counts_in(state)?;
    // SAFETY: a live context; what a state points to is of this type, as was checked.
    unsafe {
        PgMemoryContexts::For(context).switch_to(|_| Ok(&mut state.get_or_insert_default::<State>().counts))
    }
}

#[pg_extern(sql = false)]
fn simhash_agg_serialize(state: Internal) -> Result<Vec<u8>, SqlError> {
    counts_in(&state)?.map(WeightedCounts::to_bytes).ok_or_else(error::damaged_state)
}

#[pg_extern(sql = false)]
fn simhash_agg_deserialize(state: &[u8], _unused: Internal) -> Result<Internal, SqlError> {
    let counts = WeightedCounts::from_bytes(state).ok_or_else(error::damaged_state)?;
    Ok(Internal::new(State { mark: MARK, counts }))
}

#[pg_extern(sql = false)]
fn simhash_agg_final(state: Internal) -> Result<Option<i64>, SqlError> {
    let fingerprint = counts_in(&state)?.and_then(WeightedCounts::majority);
    Ok(fingerprint.map(|fingerprint| fingerprint as i64))
}

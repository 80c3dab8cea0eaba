//! `sql/weighted.sql`: fingerprints of features that other programs have extracted.

use crate::pg::call::{Call, pg_functions};
use crate::pg::encoding;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{self, SqlError};
use crate::pg::state::{State, StateForm};
use base::beat_every;
use pgrx::Array;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use text::fingerprint::weighted::{self, Sums};

/// How many features are added before the next check for interrupts.
const STRIDE: usize = 1 << 12;

pg_functions!(simhash_of_features, simhash_agg_add_weighted, simhash_agg_combine, simhash_agg_final);

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
        beat_every(STRIDE, index, &mut check_for_interrupts);
        let weight = weights.as_mut().map_or(Some(1.0), |weights| weights.next().flatten());
        add(&mut sums, feature, weight)?;
    }
    Ok(weighted::majority(&sums).map(|fingerprint| fingerprint as i64))
}

/// Adds a feature, unless the feature or its weight is NULL.
fn add(sums: &mut Sums, feature: Option<&[u8]>, weight: Option<f64>) -> Result<(), SqlError> {
    let Some(feature) = feature else { return Ok(()) };
    let Some(weight) = weight else { return Ok(()) };
    Ok(weighted::add(sums, encoding::to_utf8(feature)?.as_bytes(), weight)?)
}

const STATE: StateForm = StateForm { aggregate: "simhash_agg", mark: b"simhash1", bytes: weighted::BYTES };

fn simhash_agg_add_weighted(
    call: Call,
    feature: Option<&[u8]>,
    weight: Option<f64>,
) -> Result<State, SqlError> {
    let mut state = STATE.to_change(call)?;
    add(sums_in_mut(&mut state), feature, weight)?;
    Ok(state)
}

fn simhash_agg_combine(call: Call) -> Result<State, SqlError> {
    let mut state = STATE.to_change(call)?;
    if let Some(other) = STATE.other(call, &state)? {
        weighted::merge(sums_in_mut(&mut state), sums_in(&other));
    }
    Ok(state)
}

fn simhash_agg_final(call: Call) -> Result<Option<i64>, SqlError> {
    let majority = |state| weighted::majority(sums_in(&state));
    Ok(STATE.at(call, 0)?.and_then(majority).map(|fingerprint| fingerprint as i64))
}

/// The sums in a state.
fn sums_in(state: &State) -> &Sums {
    let (sums, _) = state.contents().as_chunks();
    sums.try_into().unwrap_or(&weighted::NOTHING)
}

/// The sums in a state, to be changed.
fn sums_in_mut(state: &mut State) -> &mut Sums {
    let (sums, _) = state.contents_mut().as_chunks_mut();
    // A state was checked to have this length.
    let Ok(sums) = sums.try_into() else { unreachable!("a state has all sums") };
    sums
}

fn weights_differ_in_number(features: usize, weights: usize) -> SqlError {
    let message = format!("{features} features have {weights} weights");
    report::report(Code::ERRCODE_ARRAY_ELEMENT_ERROR, message).set_detail("Each feature needs one weight.")
}

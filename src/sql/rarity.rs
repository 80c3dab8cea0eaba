//! `sql/rarity.sql`: weights of features, which are larger for features that are rarer in a corpus.

use crate::pg::call::{Call, Utf8, pg_functions};
use crate::pg::encoding;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::{SqlError, notice, report};
use crate::pg::state::{State, StateForm};
use base::Problem;
use pgrx::IntoDatum;
use pgrx::pg_sys::Datum;
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use std::cell::RefCell;
use text::features::Scheme;
use text::sketch::rarity::{self, FeatureCounter, FeatureWeights};
use text::sketch::versions::VersionScorer;

const STATE: StateForm =
    StateForm { aggregate: "feature_weights", mark: b"feature1", bytes: rarity::COUNTS_BYTES };

/// Weights of fewer texts are poor: even the rarest features weigh little.
const FEW: u64 = 1000;

thread_local! {
    /// Kept from row to row, to reuse its memory.
    static COUNTER: RefCell<FeatureCounter> = RefCell::default();
    static SCORER: RefCell<VersionScorer> = RefCell::default();
}

pg_functions!(
    feature_weights_add,
    feature_weights_combine,
    feature_weights_final,
    text_similarity,
    text_containment,
    text_containment_by_weights,
    version_score,
);

/// A row whose text or scheme is NULL is skipped.
fn feature_weights_add(call: Call, doc: Option<&[u8]>, scheme: Option<&[u8]>) -> Result<State, SqlError> {
    let mut state = STATE.to_change(call)?;
    if let Some((doc, scheme)) = doc.zip(scheme) {
        let scheme = encoding::to_utf8(scheme)?.parse()?;
        let doc = encoding::to_utf8(doc)?;
        let counts = state.contents_mut();
        COUNTER.with_borrow_mut(|counter| counter.count(counts, &doc, scheme, &mut check_for_interrupts))?;
    }
    Ok(state)
}

fn feature_weights_combine(call: Call) -> Result<State, SqlError> {
    let mut state = STATE.to_change(call)?;
    if let Some(other) = STATE.other(call, &state)? {
        rarity::merge(state.contents_mut(), other.contents())?;
    }
    Ok(state)
}

fn feature_weights_final(call: Call) -> Result<Option<Datum>, SqlError> {
    let Some(state) = STATE.at(call, 0)? else { return Err(no_texts()) };
    let weights = rarity::weights(state.contents())?.ok_or_else(no_texts)?;
    let texts = rarity::texts(state.contents())?;
    if texts < FEW {
        let hint =
            "Compute them again when there are 1,000 texts. Codes with other weights cannot be compared.";
        notice(&format!("feature weights were computed from only {texts} texts"), hint);
    }
    Ok(weights.into_datum())
}

pub(super) fn no_texts() -> SqlError {
    report(Code::ERRCODE_NO_DATA_FOUND, "cannot compute feature weights without texts")
        .set_detail("There are no rows, or all texts are NULL or have no features.")
        .set_hint("Insert texts first, or use the weights of another table with texts of the same kind.")
}

fn text_similarity(a: Utf8<'_>, b: Utf8<'_>, weights: &[u8]) -> Result<Option<f64>, SqlError> {
    let weights = FeatureWeights::read(weights)?;
    let [a, b] = features_of_both(&a, &b, &weights)?;
    Ok(weights.similarity(&a, &b, &mut check_for_interrupts))
}

fn text_containment(a: Utf8<'_>, b: Utf8<'_>, scheme: Scheme) -> Result<Option<f64>, SqlError> {
    containment(&a, &b, &FeatureWeights::equal(scheme))
}

fn text_containment_by_weights(a: Utf8<'_>, b: Utf8<'_>, weights: &[u8]) -> Result<Option<f64>, SqlError> {
    containment(&a, &b, &FeatureWeights::read(weights)?)
}

fn containment(a: &str, b: &str, weights: &FeatureWeights<'_>) -> Result<Option<f64>, SqlError> {
    let [a, b] = features_of_both(a, b, weights)?;
    Ok(weights.containment(&a, &b, &mut check_for_interrupts))
}

fn features_of_both(a: &str, b: &str, weights: &FeatureWeights<'_>) -> Result<[Vec<i64>; 2], Problem> {
    COUNTER.with_borrow_mut(|counter| {
        let mut features = |text| counter.features(text, weights.scheme, &mut check_for_interrupts);
        Ok([features(a)?, features(b)?])
    })
}

fn version_score(a: Utf8<'_>, b: Utf8<'_>, weights: &[u8]) -> Result<Option<f64>, SqlError> {
    let weights = FeatureWeights::read(weights)?;
    let score = SCORER.with_borrow_mut(|scorer| scorer.score(&a, &b, &weights, &mut check_for_interrupts))?;
    Ok(score)
}

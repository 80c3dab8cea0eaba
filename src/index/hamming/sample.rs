//! Samples of a column of strings of bits, from ANALYZE. By these, a search estimates how much of the table
//! each word of the query finds.

use crate::estimate::condition::sides;
use crate::estimate::cost::CostedPath;
use crate::estimate::statistics::{ColumnStatistics, KnownValue};
use crate::pg::code::Code;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::UnwrapOrReport;
use base::collect;
use hamming_index::{CodeSample, Layout, MOST_PLANNED};

/// How many values of the column are used as queries if the query is not known yet.
const TYPICAL_QUERIES: usize = 8;

/// The samples for the query of a search, or for typical queries if it is not known yet. There is at least
/// one sample; it is empty if nothing is known of the column.
pub(super) fn samples(path: &CostedPath, layout: Layout) -> Vec<CodeSample> {
    // Fingerprints of texts are scattered; reading their statistics is not worth the time.
    if !layout.is_described() {
        return vec![CodeSample::default()];
    }
    known_samples(path, layout)
        .filter(|samples| !samples.is_empty())
        .unwrap_or_else(|| vec![CodeSample::default()])
}

fn known_samples(path: &CostedPath, layout: Layout) -> Option<Vec<CodeSample>> {
    let mut conditions = path.order().iter().chain(path.conditions(0));
    let (column, center) = conditions.find_map(sides)?;
    let values = ColumnStatistics::examine(path.planner, column, 0)?.values();
    let center = path.planner.value(center);
    let queries = if center.is_some() { 1 } else { TYPICAL_QUERIES };
    let most = most_compared(layout, queries);
    let known = values.spread(most).filter_map(|known| Some((known, bytes(known.code, layout)?)));
    let known = collect(known.inspect(|_| check_for_interrupts()), most + 1);
    let known: Vec<(KnownValue, &[u8])> = known.unwrap_or_report();
    let Some(center) = center else { return Some(typical(layout, &known)) };
    // SAFETY: the value is of the type of the column.
    let center = unsafe { Code::of(center, column.type_()) }?;
    let known = known.iter().map(|(known, code)| (*code, known.frequency));
    Some(vec![CodeSample::new(layout, bytes(center, layout)?, known)])
}

/// The most codes to compare with each query: a thousand, and fewer if codes are long.
fn most_compared(layout: Layout, queries: usize) -> usize {
    const BYTES: usize = 1 << 24;
    let bytes_of_code = layout.bits().div_ceil(8) as usize * layout.words().min(MOST_PLANNED);
    (BYTES / bytes_of_code / queries).min(1000)
}

/// The bytes of a code, if it has the length of the index's codes.
fn bytes(code: Code<'_>, layout: Layout) -> Option<&[u8]> {
    match code {
        Code::Bits(bits) if bits.length() == layout.bits() => Some(bits.bytes()),
        _ => None,
    }
}

/// Samples for queries that are spread over the values of the column. The row of a rare value represents
/// other rows, but a query for that value only finds this row.
fn typical(layout: Layout, known: &[(KnownValue, &[u8])]) -> Vec<CodeSample> {
    let all: f64 = known.iter().map(|(known, _)| known.frequency).sum();
    let (mut before, mut samples) = (0.0, Vec::new());
    for (place, (query, code)) in known.iter().enumerate() {
        before += query.frequency;
        let others = || {
            let others = known.iter().enumerate().filter(|&(other, _)| query.is_common || other != place);
            others.inspect(|_| check_for_interrupts()).map(|(_, (known, code))| (*code, known.frequency))
        };
        while before * TYPICAL_QUERIES as f64 > all * (samples.len() as f64 + 0.5) {
            samples.push(CodeSample::new(layout, code, others()));
        }
    }
    samples
}

//! Which radius to search with, which to delete with, which to take a second look within, and why.

use super::queries::Queries;
use super::unrelated::scattered_radius;
use super::{Level, farthest_counted};
use crate::BITS;
use limits::OutOfMemory;

/// A search may find so many unrelated rows on average: one search in ten finds one.
const UNRELATED_ROWS: f64 = 0.1;
/// So many of the rows that are deleted, each for a neighbour of it, may have an unrelated one.
const WRONG_DELETIONS: f64 = 0.002;
/// Or so many of all rows, where hardly any has a neighbour.
const WRONG_ROWS: f64 = 0.000_01;

/// What one begins with if the table says nothing, for codes of 64 bits.
const SEARCH: u32 = 10;
const DELETE: u32 = 3;

/// The part of all that a second look keeps which the radius for it has to find.
const CHECKED: f64 = 0.95;

/// Where scattered codes have [`UNRELATED_ROWS`], so many rows need a word of explanation.
const CROWD: f64 = 1.0;

/// Marks the two radii in a table of so many rows, and says why.
pub(super) fn give(levels: &mut [Level], queries: &Queries, rows: u64) -> Result<(), OutOfMemory> {
    let bits = levels.len() as u32 - 1;
    let (search, delete, why_search, why_delete) = if rows < 2 || queries.count == 0 {
        let usual = |radius: u32| (u64::from(radius) * u64::from(bits) / u64::from(BITS)) as usize;
        let reason = "fewer than two rows: a usual radius";
        (usual(SEARCH), usual(DELETE), format!("search: {reason}"), format!("delete: {reason}"))
    } else {
        let judged = (0..queries.found.len()).map_while(|distance| queries.share(distance));
        let judged = judged.map(|share| share.judged as u64).reduce(|a, b| a + b);
        let deletions = Deletions { weights: queries.weights()?, queries: queries.count as f64 };
        let counted = farthest_counted(bits) as usize;
        let search = farthest(levels, counted, |level, _| level.unrelated <= Some(UNRELATED_ROWS));
        let delete = farthest(levels, search, |level, finding| deletions.are_safe(level, finding));
        let why_delete = deletions.why(levels, delete, judged.is_some());
        (search, delete, why_search(levels, search, rows, judged), why_delete)
    };
    levels[search].to_search = true;
    levels[delete].to_delete = true;
    levels[delete].reason = Some(why_delete);
    let other = levels[search].reason.take().filter(|_| search == delete);
    levels[search].reason = Some(other.map_or(why_search.clone(), |other| format!("{why_search}; {other}")));
    mark_check(levels);
    Ok(())
}

/// Marks the radius for a second look, where texts were compared.
fn mark_check(levels: &mut [Level]) {
    let Some(most) = levels.iter().rev().find_map(|level| level.kept).filter(|&most| most > 0.0) else {
        return;
    };
    let Some(level) = levels.iter_mut().find(|level| level.kept >= Some(CHECKED * most)) else { return };
    let (found, kept) = (level.found, level.kept.unwrap_or_default());
    let related = found - level.unrelated.unwrap_or_default();
    let (rows, part) = (number(found), number(100.0 * CHECKED));
    let mut why =
        format!("check: finds {rows} rows, a second look keeps {} of them, {part} % of all", number(kept));
    if related > 2.0 * kept {
        why += "; most related rows are no versions but of one template";
    }
    level.to_check = true;
    level.reason = Some(level.reason.take().map(|other| format!("{other}; {why}")).unwrap_or(why));
}

/// The largest of the distances up to this one that is good, by the queries that find something within it.
fn farthest(levels: &[Level], last: usize, is_good: impl Fn(&Level, u64) -> bool) -> usize {
    let (mut finding, mut farthest) = (0, 0);
    for (distance, level) in levels.iter().enumerate().take(last + 1) {
        finding += level.nearest;
        if is_good(level, finding) {
            farthest = distance;
        }
    }
    farthest
}

fn why_search(levels: &[Level], radius: usize, rows: u64, judged: Option<u64>) -> String {
    let level = &levels[radius];
    let unrelated = level.unrelated.unwrap_or(0.0);
    if unrelated > UNRELATED_ROWS {
        return "search: even equal codes may be unrelated".to_owned();
    }
    let why = format!("search: finds {} rows, {} of them unrelated", number(level.found), number(unrelated));
    if let Some(pairs) = judged {
        return format!("{why}, by {pairs} pairs of texts");
    }
    let bits = levels.len() as u32 - 1;
    let usual = scattered_radius(bits, rows as f64, UNRELATED_ROWS).min(farthest_counted(bits));
    if levels[usual as usize].unrelated > Some(CROWD) {
        return format!(
            "{why} at most; many rows are near each other, body would tell whether their texts are related"
        );
    }
    format!("{why} at most")
}

/// What deleting rows with a neighbour would do.
struct Deletions {
    /// The share that one row has of those that a query finds within a distance.
    weights: Vec<f64>,
    queries: f64,
}

impl Deletions {
    /// The share of the rows that would be deleted, and the share of these whose neighbour is unrelated.
    fn shares(&self, level: &Level, finding: u64) -> (f64, f64) {
        let deleted = finding as f64 / self.queries;
        let weight = self.weights.get(level.distance as usize).copied().unwrap_or(1.0);
        let unrelated = level.unrelated.unwrap_or(0.0);
        (deleted, if deleted > 0.0 { unrelated * weight / deleted } else { 0.0 })
    }

    fn are_safe(&self, level: &Level, finding: u64) -> bool {
        let (deleted, wrong) = self.shares(level, finding);
        deleted > 0.0 && wrong <= WRONG_DELETIONS || level.unrelated <= Some(WRONG_ROWS)
    }

    fn why(&self, levels: &[Level], radius: usize, is_judged: bool) -> String {
        let finding = levels[..=radius].iter().map(|level| level.nearest).sum();
        let (deleted, wrong) = self.shares(&levels[radius], finding);
        if !self.are_safe(&levels[radius], finding) {
            return "delete: no radius is safe, compare the texts first".to_owned();
        }
        let by = if is_judged { "" } else { ", by the codes alone" };
        let (deleted, wrong) = (number(100.0 * deleted), number(100.0 * wrong));
        format!(
            "delete: {deleted} % of the rows have a neighbour, at most {wrong} % of these are unrelated{by}"
        )
    }
}

/// A number with two digits that count.
fn number(value: f64) -> String {
    let digits =
        if value > 0.0 && value < 10.0 { (1.0 - value.log10().floor()).clamp(0.0, 9.0) } else { 0.0 };
    format!("{value:.0$}", digits as usize)
}

//! How many of the rows at each distance are unrelated.
//!
//! Two texts that share little differ in each bit of their fingerprints with a chance of nearly a half. So
//! their distances are spread as in a binomial distribution, and the smaller the distance, the faster their
//! number falls off. Here rows count as unrelated if the chance is at least [`APART`] of that of two rows of
//! the table that are chosen at random. With `doc2` this is a similarity of at most 0.3.
//!
//! Guarantee: for such rows, whatever the mixture of their chances, a step from distance d + 1 to d divides
//! their number by at least (1 - d / n) / ((d + 1) / n) * p / (1 - p), if n bits are independent and p is the
//! least chance. So each count, even if all of its rows are unrelated, says how many there can be at smaller
//! distances. Near copies, and templates that texts are filled into, are among the counts, so the answer is
//! too large rather than too small. Where somebody has looked at the texts, only unrelated rows count.

use limits::{OutOfMemory, collect};

/// Unrelated rows differ in a bit at least with this share of the chance with which two rows at random do.
const APART: f64 = 0.7;

/// Standard deviations by which a count may be too small.
const DEVIATIONS: f64 = 2.0;
/// What may be there on average, with a probability of 95 %, if nothing is found.
const NOTHING_FOUND: f64 = 3.0;

/// The fewest and the most rows at a distance that may be unrelated, for each search.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnrelatedBounds {
    pub(super) least: f64,
    pub(super) most: f64,
}

impl UnrelatedBounds {
    /// Of rows that nobody has looked at: any number of them may be unrelated.
    pub(super) fn of_rows(rows: f64) -> Self {
        Self { least: 0.0, most: at_most(rows) }
    }

    /// Of rows some of which were judged.
    pub(super) fn of_judged(rows: f64, unrelated: f64, judged: f64) -> Self {
        let share = if rows > 0.0 { unrelated / rows } else { 0.0 };
        let error = DEVIATIONS * (share * (1.0 - share).max(0.0) / judged.max(1.0)).sqrt()
            + NOTHING_FOUND / judged.max(1.0);
        Self { least: unrelated, most: (unrelated + rows.max(1.0) * error).min(at_most(rows)) }
    }

    /// The bounds for several searches together.
    pub(super) fn times(self, factor: f64) -> Self {
        Self { least: self.least * factor, most: self.most * factor }
    }
}

fn at_most(count: f64) -> f64 {
    count + DEVIATIONS * count.sqrt() + NOTHING_FOUND
}

/// How the distances of rows at random are spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DistanceSpread {
    bits: f64,
    /// The least chance with which a bit of unrelated rows differs.
    chance: f64,
    /// The share of the bits that behave as if they were independent.
    independent: f64,
}

impl DistanceSpread {
    /// Of this number of pairs at each distance. The larger distances tell, because copies have the smaller
    /// ones.
    pub(super) fn of(pairs: &[u64]) -> Self {
        let bits = (pairs.len() - 1) as f64;
        let half = pairs.iter().sum::<u64>() as f64 / 2.0;
        let mut seen = 0.0;
        let middle = pairs.iter().position(|&pairs| {
            seen += pairs as f64;
            half > 0.0 && seen >= half
        });
        let Some(middle) = middle else { return Self { bits, chance: APART / 2.0, independent: 1.0 } };
        let beyond = || pairs.iter().enumerate().skip(middle + 1);
        let squares: f64 = beyond().map(|(at, &pairs)| pairs as f64 * ((at - middle) as f64).powi(2)).sum();
        let count = beyond().map(|(_, &pairs)| pairs as f64).sum::<f64>() + pairs[middle] as f64 / 2.0;
        let differ = middle as f64 / bits.max(1.0);
        let expected = bits * differ * (1.0 - differ);
        let independent = if squares > 0.0 { (expected * count / squares).min(1.0) } else { 1.0 };
        Self { bits, chance: (APART * differ).min(APART / 2.0), independent }
    }

    /// The most unrelated rows at a distance, as a multiple of those at the next larger one; no limit where
    /// unrelated rows may be at their most frequent.
    fn step(self, distance: usize) -> f64 {
        let distance = distance as f64;
        let odds = (1.0 - self.chance) / self.chance;
        let step = (distance + 1.0) / (self.bits - distance) * odds;
        if step < 1.0 { step.powf(self.independent) } else { f64::INFINITY }
    }

    /// The unrelated rows at each distance that these bounds allow, at most.
    pub(super) fn unrelated(self, bounds: &[UnrelatedBounds]) -> Result<Vec<f64>, OutOfMemory> {
        let mut unrelated = collect(bounds.iter().map(|bounds| bounds.most), bounds.len())?;
        for distance in (0..bounds.len().saturating_sub(1)).rev() {
            let next = unrelated[distance + 1] * self.step(distance);
            if !next.is_nan() {
                unrelated[distance] = next.min(bounds[distance].most).max(bounds[distance].least);
            }
        }
        Ok(unrelated)
    }
}

/// The radius within which so many rows of a table of scattered codes are expected, for each search.
pub(super) fn scattered_radius(bits: u32, rows: f64, allowed: f64) -> u32 {
    let n = f64::from(bits);
    let mut share = (-n * std::f64::consts::LN_2).exp();
    let mut within = share * rows;
    let mut radius = 0;
    while radius < bits {
        share *= (n - f64::from(radius)) / f64::from(radius + 1);
        within += share * rows;
        if within > allowed {
            break;
        }
        radius += 1;
    }
    radius
}

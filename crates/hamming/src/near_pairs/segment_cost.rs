//! What it costs to find pairs by a segment, in comparisons of words.

/// The number of bits of the widest segment. Its 2^22 buckets take 16 MB.
pub const MAX_SEGMENT_BITS: u32 = 22;

/// The cost of comparing two whole codes of several words: once, and per word.
const CODE_COST: f64 = 30.0;
const WORD_COST: f64 = 1.0;
/// The costs of looking a bucket up and of sorting a row into its bucket, in comparisons of fingerprints.
pub(super) const BUCKET_COST: f64 = 8.0;
pub(super) const SORT_COST: f64 = 60.0;

const LENGTHS: usize = MAX_SEGMENT_BITS as usize + 1;

/// For each length of a segment and each threshold, the number of differences within the threshold.
pub(super) const FLIPS: [[u32; LENGTHS]; LENGTHS] = flips();

const fn flips() -> [[u32; LENGTHS]; LENGTHS] {
    let mut flips = [[1; LENGTHS]; LENGTHS];
    let mut length = 1;
    while length < LENGTHS {
        let mut threshold = 1;
        while threshold < LENGTHS {
            // Either the first bit is equal, or it differs and the other bits have one flip less.
            flips[length][threshold] = flips[length - 1][threshold] + flips[length - 1][threshold - 1];
            threshold += 1;
        }
        length += 1;
    }
    flips
}

/// The size of a join: the rows of both sides, the rows on the left, the pairs of rows, and the most bits of
/// a segment.
pub(super) struct JoinSize {
    pub(super) rows: f64,
    pub(super) left: f64,
    pub(super) pairs: f64,
    pub(super) widest: u32,
    /// The number of bits by which rows have to be divided for memory.
    pub(super) divided: u32,
}

impl JoinSize {
    pub(super) fn of(left: usize, right: Option<usize>, widest: u32) -> Self {
        let left = left as f64;
        right.map_or(Self { rows: left, left, pairs: left * left / 2.0, widest, divided: 0 }, |right| {
            let right = right as f64;
            Self { rows: left + right, left, pairs: left * right, widest, divided: 0 }
        })
    }

    /// The size of a crowd with this fraction of the rows.
    pub(super) fn of_crowd(&self, fraction: f64) -> Self {
        Self {
            rows: fraction * self.rows,
            left: fraction * self.left,
            pairs: fraction * fraction * self.pairs,
            ..*self
        }
    }
}

/// The length of a segment, if `bits` bits are cut into `count` segments.
pub(super) fn length_of(number: u32, bits: u32, count: u32) -> u32 {
    bits / count + u32::from(number < bits % count)
}

/// The threshold of a segment, if `used` segments have to reach `reach` together.
pub(super) fn threshold_of(number: u32, reach: u32, used: u32) -> u32 {
    reach / used + u32::from(number < reach % used) - 1
}

/// The cost of finding pairs by a segment, in comparisons of words. `fraction` maps the fraction of scattered
/// pairs that are compared to the fraction for the actual rows.
pub(super) fn cost_of_segment(
    size: &JoinSize,
    length: u32,
    threshold: u32,
    fraction: impl FnOnce(f64) -> f64,
) -> f64 {
    let flips = f64::from(FLIPS[length as usize][threshold as usize]);
    let buckets = f64::from(1u32 << length);
    let lookups = buckets.min(size.left) * flips;
    // Each group of bits divides the rows in a pass. If it has too few bits, parts are sorted several times.
    let missing = size.divided.saturating_sub(length / (threshold + 1));
    let passes = if size.divided > 0 { f64::from(threshold + 1) } else { 1.0 };
    passes * f64::from(missing).exp2() * size.rows * SORT_COST
        + buckets
        + lookups * BUCKET_COST
        + size.pairs * fraction(flips / buckets)
}

/// The cost of comparing two whole codes. It is 0 for codes of one word, which was compared before.
pub(super) fn cost_of_check(words: usize) -> f64 {
    if words == 1 { 0.0 } else { CODE_COST + WORD_COST * words as f64 }
}

//! Collects the values of a sketch, whose number is bounded.

use super::sort::sort_values;
use base::{Heartbeat, Problem, ProblemKind, grow};

/// The most values of a sketch: more would be useless for comparisons, and too many for an array.
pub const MAX_VALUES: usize = 1 << 23;

/// Collects values. When their number has doubled, they are sorted, and repeated values are dropped.
pub struct SketchSample<'a> {
    values: Vec<i64>,
    /// The number of values at which they are sorted, and repeated ones are dropped.
    compact_at: usize,
    problem: Option<Problem>,
    heartbeat: &'a mut dyn Heartbeat,
}

impl<'a> SketchSample<'a> {
    /// A sample without values, which sorts with this heartbeat.
    pub fn new(heartbeat: &'a mut dyn Heartbeat) -> Self {
        Self { values: Vec::new(), compact_at: 1 << 18, problem: None, heartbeat }
    }

    /// Adds a value. After a problem, it is ignored.
    #[inline]
    pub fn push(&mut self, value: i64) {
        if self.values.len() == self.values.capacity() {
            self.make_room();
        }
        if self.problem.is_none() {
            self.values.push(value);
        }
    }

    /// Calls the heartbeat, which [`push`](Self::push) only calls when it sorts.
    pub fn beat(&mut self) {
        self.heartbeat.beat();
    }

    /// Whether there was a problem, after which values are ignored.
    pub fn has_failed(&self) -> bool {
        self.problem.is_some()
    }

    /// The values, sorted and distinct.
    pub fn into_values(mut self) -> Result<Vec<i64>, Problem> {
        self.compact();
        self.problem.map_or(Ok(self.values), Err)
    }

    #[cold]
    fn make_room(&mut self) {
        if self.values.len() >= self.compact_at {
            self.compact();
            self.compact_at = self.compact_at.max(2 * self.values.len());
        }
        if let Err(refusal) = grow(&mut self.values, 1) {
            self.problem.get_or_insert_with(|| refusal.into());
        }
    }

    fn compact(&mut self) {
        sort_values(&mut self.values, self.heartbeat);
        self.values.dedup();
        if self.values.len() > MAX_VALUES {
            let message = format!("sketch has more than {MAX_VALUES} values");
            self.problem.get_or_insert_with(|| Problem::new(ProblemKind::TooLarge, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sorted_and_distinct_and_time_passes() {
        let mut beats = 0;
        let mut heartbeat = || beats += 1;
        let mut sample = SketchSample::new(&mut heartbeat);
        (0..200_000i64).for_each(|value| sample.push((value * 7919) % 150_001));
        let values = sample.into_values().unwrap();
        assert_eq!(values, (0..150_001).collect::<Vec<i64>>());
        assert!(beats > 10, "{beats} heartbeats while values were sorted");
    }

    #[test]
    fn more_values_than_a_sketch_can_have_are_a_problem() {
        let mut heartbeat = || ();
        let mut sample = SketchSample::new(&mut heartbeat);
        let mut pushed = 0;
        while !sample.has_failed() {
            sample.push(pushed);
            pushed += 1;
        }
        assert!(pushed as usize > MAX_VALUES);
        let problem = sample.into_values().unwrap_err();
        assert_eq!(
            (problem.kind, problem.message.as_str()),
            (ProblemKind::TooLarge, "sketch has more than 8388608 values")
        );
    }
}

//! The values of a sketch in the making.

use std::fmt;

/// The values a sketch can have: more are useless to compare and too many for an array.
pub const MAX_VALUES: usize = 1 << 23;

/// Why there is no sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleError {
    /// It would be larger than a sketch can be.
    TooManyValues,
    /// There is no memory for this many values.
    OutOfMemory(usize),
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyValues => write!(f, "sketch has more than {MAX_VALUES} values"),
            Self::OutOfMemory(values) => write!(f, "no memory for more than {values} values"),
        }
    }
}

impl std::error::Error for SampleError {}

/// Collects values without letting repeated ones pile up.
pub struct Sample {
    values: Vec<i64>,
    /// Sort and deduplicate when this many are held.
    compact_at: usize,
    error: Option<SampleError>,
}

impl Default for Sample {
    fn default() -> Self {
        Self { values: Vec::new(), compact_at: 1 << 16, error: None }
    }
}

impl Sample {
    /// Takes a value. After an error there are no more.
    #[inline]
    pub fn push(&mut self, value: i64) {
        if self.values.len() == self.values.capacity() {
            self.make_room();
        }
        if self.error.is_none() {
            self.values.push(value);
        }
    }

    /// Whether to go on is of no use.
    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// The values sorted and distinct.
    pub fn into_values(mut self) -> Result<Vec<i64>, SampleError> {
        self.compact();
        self.error.map_or(Ok(self.values), Err)
    }

    #[cold]
    fn make_room(&mut self) {
        if self.values.len() >= self.compact_at {
            self.compact();
            self.compact_at = self.compact_at.max(2 * self.values.len());
        }
        if self.values.try_reserve(1).is_err() {
            self.error.get_or_insert(SampleError::OutOfMemory(self.values.len()));
        }
    }

    fn compact(&mut self) {
        self.values.sort_unstable();
        self.values.dedup();
        if self.values.len() > MAX_VALUES {
            self.error.get_or_insert(SampleError::TooManyValues);
        }
    }
}

//! What can be wrong with the parameters that a user chooses.

use std::fmt;

/// A parameter outside its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// The parameter's name, as users write it.
    pub name: &'static str,
    /// The value that was given.
    pub value: String,
    /// The smallest value allowed.
    pub min: i64,
    /// The largest value allowed.
    pub max: i64,
}

impl OutOfRange {
    /// Says that a value is outside.
    pub fn new(name: &'static str, value: impl fmt::Display, min: i64, max: i64) -> Self {
        Self { name, value: value.to_string(), min, max }
    }

    /// The value itself if it lies within the range.
    pub(crate) fn check(name: &'static str, value: i64, min: i64, max: i64) -> Result<i64, Self> {
        if (min..=max).contains(&value) { Ok(value) } else { Err(Self::new(name, value, min, max)) }
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} is out of range {} to {}", self.name, self.value, self.min, self.max)
    }
}

impl std::error::Error for OutOfRange {}

/// There is no memory for so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory(pub usize);

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no memory for {} bytes", self.0)
    }
}

impl std::error::Error for OutOfMemory {}

/// Reserves memory for so many more elements, with an error instead of an abort.
pub(crate) fn reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    vector.try_reserve_exact(more).map_err(|_| OutOfMemory(more.saturating_mul(size_of::<T>())))
}

/// So many elements, with an error instead of an abort.
pub(crate) fn collect<T>(elements: impl Iterator<Item = T>, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = Vec::new();
    reserve(&mut vector, count)?;
    vector.extend(elements);
    Ok(vector)
}

//! Memory that may not be there: an error instead of an abort, which would take the whole server down.

use std::fmt;

/// Memory for this number of bytes could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory(pub usize);

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no memory for {} bytes", self.0)
    }
}

impl std::error::Error for OutOfMemory {}

/// Makes room in the vector for `more` further elements.
pub fn reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    vector.try_reserve_exact(more).map_err(|_| OutOfMemory(more.saturating_mul(size_of::<T>())))
}

/// Adds an element, for which a full vector doubles.
pub fn push<T>(vector: &mut Vec<T>, element: T) -> Result<(), OutOfMemory> {
    if vector.len() == vector.capacity() {
        reserve(vector, vector.len().max(64))?;
    }
    vector.push(element);
    Ok(())
}

/// Collects the elements, whose number is `count`.
pub fn collect<T>(elements: impl Iterator<Item = T>, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = Vec::new();
    reserve(&mut vector, count)?;
    vector.extend(elements);
    Ok(vector)
}

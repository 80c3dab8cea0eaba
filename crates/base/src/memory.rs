//! Memory that may not be there: an error instead of an abort, which would take the whole server down.
//!
//! Rust's allocator is told a size, and not whether the caller can do without. So a request whose refusal is
//! handled is marked as such, by [`ask`]: the extension's allocator answers it with the refusal, and ends the
//! session for any other one. All calls of `try_reserve` are in this file (clippy.toml), so none is without
//! the mark.
#![expect(clippy::disallowed_methods, reason = "marked as requests that may be refused")]

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether the request in progress may be refused. It is not one for each thread, since the first use of a
/// thread's own variable may itself take memory. PostgreSQL has one thread, and nobody else reads it.
static MAY_BE_REFUSED: AtomicBool = AtomicBool::new(false);

/// Whether the caller of the request for memory in progress handles a refusal.
pub fn may_be_refused() -> bool {
    MAY_BE_REFUSED.load(Relaxed)
}

/// Calls a function that asks for memory once and returns a refusal, as `try_reserve` does.
pub fn ask<R>(request: impl FnOnce() -> R) -> R {
    MAY_BE_REFUSED.store(true, Relaxed);
    let answer = request();
    MAY_BE_REFUSED.store(false, Relaxed);
    answer
}

/// Memory for this number of bytes could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory(pub usize);

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no memory for {} bytes", self.0)
    }
}

impl std::error::Error for OutOfMemory {}

/// Makes room in the vector for exactly `more` further elements.
pub fn reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    ask(|| vector.try_reserve_exact(more)).map_err(|_| OutOfMemory(more.saturating_mul(size_of::<T>())))
}

/// Makes room in the vector for `more` further elements. A vector that has to grow doubles.
pub fn grow<T>(vector: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    let all = vector.len().saturating_add(more);
    ask(|| vector.try_reserve(more)).map_err(|_| OutOfMemory(all.saturating_mul(size_of::<T>())))
}

/// Makes room in the text for `more` further bytes. A text that has to grow doubles.
pub fn grow_text(text: &mut String, more: usize) -> Result<(), OutOfMemory> {
    let all = text.len().saturating_add(more);
    ask(|| text.try_reserve(more)).map_err(|_| OutOfMemory(all))
}

/// Makes room in the text for exactly `more` further bytes.
pub fn reserve_text(text: &mut String, more: usize) -> Result<(), OutOfMemory> {
    ask(|| text.try_reserve_exact(more)).map_err(|_| OutOfMemory(more))
}

/// Makes room in the map for `more` further entries.
pub fn grow_map<K: Eq + Hash, V>(map: &mut HashMap<K, V>, more: usize) -> Result<(), OutOfMemory> {
    let all = map.len().saturating_add(more);
    ask(|| map.try_reserve(more)).map_err(|_| OutOfMemory(all.saturating_mul(size_of::<(K, V)>())))
}

/// Makes room in the queue for `more` further elements.
pub fn grow_queue<T>(queue: &mut VecDeque<T>, more: usize) -> Result<(), OutOfMemory> {
    let all = queue.len().saturating_add(more);
    ask(|| queue.try_reserve(more)).map_err(|_| OutOfMemory(all.saturating_mul(size_of::<T>())))
}

/// Adds copies of the elements.
pub fn extend<T: Copy>(vector: &mut Vec<T>, elements: &[T]) -> Result<(), OutOfMemory> {
    grow(vector, elements.len())?;
    vector.extend_from_slice(elements);
    Ok(())
}

/// Adds an element, for which a full vector doubles.
pub fn push<T>(vector: &mut Vec<T>, element: T) -> Result<(), OutOfMemory> {
    if vector.len() == vector.capacity() {
        reserve(vector, vector.len().max(64))?;
    }
    vector.push(element);
    Ok(())
}

/// A vector that is added to where no error can be returned, such as in a callback. The first refusal is
/// kept, and nothing is added after it.
pub struct Collector<'a, T> {
    vector: &'a mut Vec<T>,
    refusal: Option<OutOfMemory>,
}

impl<'a, T> Collector<'a, T> {
    /// Adds to this vector.
    pub fn new(vector: &'a mut Vec<T>) -> Self {
        Self { vector, refusal: None }
    }

    /// Adds an element.
    #[inline]
    pub fn add(&mut self, element: T) {
        if self.refusal.is_none() {
            self.refusal = push(self.vector, element).err();
        }
    }

    /// Whether all elements were added.
    pub fn finish(self) -> Result<(), OutOfMemory> {
        self.refusal.map_or(Ok(()), Err)
    }
}

/// Collects the elements, whose number is `count`.
pub fn collect<T>(elements: impl Iterator<Item = T>, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = Vec::new();
    reserve(&mut vector, count)?;
    vector.extend(elements);
    Ok(vector)
}

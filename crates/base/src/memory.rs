//! Requests for memory that return an error if memory is refused, instead of aborting the whole server.
//!
//! Rust's allocator gets a size, but does not know whether the caller handles a refusal. So such a request is
//! marked by [`ask`]: the extension's allocator returns the refusal, and ends the session if another request
//! is refused. All calls of `try_reserve` are in this file (clippy.toml), so all of them are marked.
#![expect(clippy::disallowed_methods, reason = "marked as requests that may be refused")]

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether the current request may be refused. It is not a thread-local variable, since the first use of one
/// may itself allocate memory. PostgreSQL has one thread, and nobody else reads it.
static MAY_BE_REFUSED: AtomicBool = AtomicBool::new(false);

/// Whether the caller of the current request handles a refusal.
pub fn may_be_refused() -> bool {
    MAY_BE_REFUSED.load(Relaxed)
}

/// Calls a function that requests memory once and returns a refusal, as `try_reserve` does.
pub fn ask<R>(request: impl FnOnce() -> R) -> R {
    MAY_BE_REFUSED.store(true, Relaxed);
    let answer = request();
    MAY_BE_REFUSED.store(false, Relaxed);
    answer
}

/// The system has refused memory for this number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory(pub usize);

/// Reserves memory for exactly `more` additional elements.
pub fn reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    ask(|| vector.try_reserve_exact(more)).map_err(|_| OutOfMemory(more.saturating_mul(size_of::<T>())))
}

/// Reserves memory for `more` additional elements. A vector that has to grow doubles.
#[inline]
pub fn grow<T>(vector: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    if vector.capacity() - vector.len() >= more {
        return Ok(());
    }
    let all = vector.len().saturating_add(more);
    ask(|| vector.try_reserve(more)).map_err(|_| OutOfMemory(all.saturating_mul(size_of::<T>())))
}

/// Reserves memory for `more` additional bytes. A text that has to grow doubles.
pub fn grow_text(text: &mut String, more: usize) -> Result<(), OutOfMemory> {
    let all = text.len().saturating_add(more);
    ask(|| text.try_reserve(more)).map_err(|_| OutOfMemory(all))
}

/// Reserves memory for exactly `more` additional bytes.
pub fn reserve_text(text: &mut String, more: usize) -> Result<(), OutOfMemory> {
    ask(|| text.try_reserve_exact(more)).map_err(|_| OutOfMemory(more))
}

/// Reserves memory for `more` additional entries.
pub fn grow_map<K: Eq + Hash, V>(map: &mut HashMap<K, V>, more: usize) -> Result<(), OutOfMemory> {
    let all = map.len().saturating_add(more);
    ask(|| map.try_reserve(more)).map_err(|_| OutOfMemory(all.saturating_mul(size_of::<(K, V)>())))
}

/// Appends copies of the elements.
#[inline]
pub fn extend<T: Copy>(vector: &mut Vec<T>, elements: &[T]) -> Result<(), OutOfMemory> {
    grow(vector, elements.len())?;
    vector.extend_from_slice(elements);
    Ok(())
}

/// Appends an element. A full vector doubles.
#[inline]
pub fn push<T>(vector: &mut Vec<T>, element: T) -> Result<(), OutOfMemory> {
    if vector.len() == vector.capacity() {
        reserve(vector, vector.len().max(64))?;
    }
    vector.push(element);
    Ok(())
}

/// Appends to a vector where no error can be returned, for example in a callback. It keeps the first refusal,
/// and appends nothing after it.
pub struct Collector<'a, T> {
    vector: &'a mut Vec<T>,
    refusal: Option<OutOfMemory>,
}

impl<'a, T> Collector<'a, T> {
    /// Collects into this vector.
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

    /// Returns the refusal, if there was one.
    pub fn finish(self) -> Result<(), OutOfMemory> {
        self.refusal.map_or(Ok(()), Err)
    }
}

/// Collects `count` elements.
pub fn collect<T>(elements: impl Iterator<Item = T>, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut vector = Vec::new();
    reserve(&mut vector, count)?;
    vector.extend(elements);
    Ok(vector)
}

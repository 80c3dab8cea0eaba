//! Limits the memory of the work on a corpus.

use base::{Problem, ProblemKind, reserve};

/// A list grows by this fraction (1/8) of its length, and at least by this number of elements.
const GROWTH: usize = 8;
const LEAST_GROWTH: usize = 1 << 8;

/// The memory of the work on a corpus, in bytes: how much may be used, and how much is.
pub(super) struct MemoryBudget {
    most: usize,
    taken: usize,
}

impl MemoryBudget {
    pub(super) fn new(most: usize) -> Self {
        Self { most, taken: 0 }
    }

    /// Checks whether `more` additional bytes may be used.
    pub(super) fn check(&self, more: usize) -> Result<(), Problem> {
        let needed = self.taken.saturating_add(more);
        if needed <= self.most {
            return Ok(());
        }
        let message = format!("corpus needs more than {} kB of memory", self.most >> 10);
        Err(Problem::new(ProblemKind::TooLarge, message)
            .with_detail(format!("At least {} kB are needed.", needed.div_ceil(1 << 10))))
    }

    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Problem> {
        self.check(bytes)?;
        self.taken += bytes;
        Ok(())
    }

    /// Frees a list.
    pub(super) fn free<T>(&mut self, list: Vec<T>) {
        self.taken -= list.capacity() * size_of::<T>();
    }

    pub(super) fn push<T>(&mut self, list: &mut Vec<T>, element: T) -> Result<(), Problem> {
        if list.len() == list.capacity() {
            let more = (list.len() / GROWTH).max(LEAST_GROWTH);
            self.check(more * size_of::<T>())?;
            let before = list.capacity();
            reserve(list, more)?;
            self.taken += (list.capacity() - before) * size_of::<T>();
        }
        list.push(element);
        Ok(())
    }

    pub(super) fn append(&mut self, text: &mut String, more: &str) -> Result<(), Problem> {
        if text.capacity() - text.len() < more.len() {
            let wanted = more.len() + text.len() / GROWTH;
            self.check(more.len())?;
            let before = text.capacity();
            base::reserve_text(text, wanted)?;
            self.taken += text.capacity() - before;
        }
        text.push_str(more);
        Ok(())
    }
}

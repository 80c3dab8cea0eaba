//! Keeps values of a thread from call to call, although a call may begin within another one.

use std::cell::Cell;
use std::thread::LocalKey;

/// Does work with the value that this thread keeps.
///
/// The work may execute Python's code, such as a signal handler or a finalizer, which may call the same
/// function again. So the value is taken out meanwhile, and a call within the work gets a new one. If the
/// work is stopped by a panic, its value may be in any state, and is dropped. A thread that is about to end
/// keeps nothing.
pub(crate) fn with_kept<K: Default, T>(
    kept: &'static LocalKey<Cell<K>>,
    work: impl FnOnce(&mut K) -> T,
) -> T {
    let mut value = kept.try_with(Cell::take).unwrap_or_default();
    let result = work(&mut value);
    // In a thread that is about to end, the value is dropped here.
    kept.try_with(|kept| kept.set(value)).unwrap_or_default();
    result
}

//! Lets Ctrl-C interrupt the work on a long text.

use base::Heartbeat;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// The time between two checks for signals. Each check waits until this thread may run Python's code.
const INTERVAL: Duration = Duration::from_millis(50);

/// Does work while other Python threads run. Some of its heartbeats check for signals. If a signal handler
/// raises an exception, as that of Ctrl-C does, the work is stopped. A handler may call any function of this
/// module.
pub(crate) fn with_signals<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut dyn Heartbeat) -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        let mut asked = Instant::now();
        let mut beat = || {
            if asked.elapsed() >= INTERVAL {
                // Only a panic can stop an algorithm. This one prints nothing, and is caught below.
                Python::attach(|py| py.check_signals())
                    .unwrap_or_else(|error| resume_unwind(Box::new(error)));
                asked = Instant::now();
            }
        };
        catch_unwind(AssertUnwindSafe(|| work(&mut beat)))
    })
    .or_else(|payload| match payload.downcast::<PyErr>() {
        Ok(error) => Err(*error),
        Err(other) => resume_unwind(other),
    })
}

//! Ctrl-C within a long text.

use crate::{MINHASHER, SIMHASHER};
use base::Heartbeat;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// How often Python is asked whether a signal has arrived. Each time this thread waits for its turn.
const INTERVAL: Duration = Duration::from_millis(50);

/// Does work while other Python threads run. At its heartbeats it asks Python for signals now and then, and
/// gives up if a handler has raised an exception, as Ctrl-C's does.
pub(crate) fn with_signals<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&mut dyn Heartbeat) -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        let mut asked = Instant::now();
        let mut beat = || {
            if asked.elapsed() >= INTERVAL {
                // The algorithms know no way back but a panic. This one prints nothing, and ends
                // right below.
                Python::attach(|py| py.check_signals())
                    .unwrap_or_else(|error| resume_unwind(Box::new(error)));
                asked = Instant::now();
            }
        };
        catch_unwind(AssertUnwindSafe(|| work(&mut beat)))
    })
    .or_else(|payload| match payload.downcast::<PyErr>() {
        Ok(error) => {
            // It was given up halfway.
            SIMHASHER.take();
            MINHASHER.take();
            Err(*error)
        }
        Err(other) => resume_unwind(other),
    })
}

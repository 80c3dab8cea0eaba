//! Long work in memory says how far it has come.

use super::interrupts::check_for_interrupts;
use pgrx::{PgLogLevel, ereport};
use simhash_core::clusters::Progress;
use std::time::{Duration, Instant};

/// Between two notices, and before the first.
const INTERVAL: Duration = Duration::from_secs(5);

/// Looks for interrupts, and tells the client now and then how much is done.
pub(crate) struct Reporter {
    function: &'static str,
    fingerprints: usize,
    told: Instant,
}

impl Reporter {
    pub(crate) fn new(function: &'static str, fingerprints: usize) -> Self {
        Self { function, fingerprints, told: Instant::now() }
    }

    pub(crate) fn tell(&mut self, progress: Progress) {
        check_for_interrupts();
        if self.told.elapsed() < INTERVAL {
            return;
        }
        self.told = Instant::now();
        let pass = if progress.pass > 1 { format!(", pass {}", progress.pass) } else { String::new() };
        let message = format!(
            "{}: {:.0} % of {} fingerprints compared{pass}",
            self.function,
            progress.share * 100.0,
            self.fingerprints
        );
        ereport!(PgLogLevel::NOTICE, pgrx::PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message);
    }
}

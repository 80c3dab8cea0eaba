//! Long work in memory says how far it has come.

use super::interrupts::check_for_interrupts;
use limits::Heartbeat;
use pgrx::{PgLogLevel, ereport};
use std::time::{Duration, Instant};

/// Between two notices, and before the first.
const INTERVAL: Duration = Duration::from_secs(5);

/// Looks for interrupts, and tells the client now and then how much is done.
pub(crate) struct Reporter {
    function: &'static str,
    /// What is compared, such as `1000 codes`.
    amount: String,
    told: Instant,
}

impl Reporter {
    /// The reporter of a function that compares so many codes.
    pub(crate) fn of_codes(function: &'static str, codes: usize) -> Self {
        Self::of(function, format!("{codes} codes"))
    }

    pub(crate) fn of(function: &'static str, amount: String) -> Self {
        Self { function, amount, told: Instant::now() }
    }

    /// Tells the client how far the work has come, unless it was told a moment ago.
    pub(crate) fn tell(&mut self, state: impl FnOnce(&str) -> String) {
        if self.told.elapsed() >= INTERVAL {
            self.told = Instant::now();
            let message = format!("{}: {}", self.function, state(&self.amount));
            ereport!(PgLogLevel::NOTICE, pgrx::PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message);
        }
    }
}

impl Heartbeat for Reporter {
    fn beat(&mut self) {
        check_for_interrupts();
    }

    fn progress(&mut self, pass: u32, share: f64) {
        self.beat();
        self.tell(|amount| {
            let pass = if pass > 1 { format!(", pass {pass}") } else { String::new() };
            format!("{:.0} % of {amount} compared{pass}", share * 100.0)
        });
    }
}

//! Long work in memory says how far it has come.

use super::interrupts::check_for_interrupts;
use base::Heartbeat;
use pgrx::{PgLogLevel, ereport};
use std::time::{Duration, Instant};

/// Before the first notice, and between two.
const FIRST: Duration = Duration::from_secs(5);
const INTERVAL: Duration = Duration::from_secs(10);

/// Looks for interrupts, and tells the client now and then how much is done.
pub(crate) struct Reporter {
    function: &'static str,
    /// What is compared, such as `1000 codes`.
    amount: String,
    /// How many passes the work has. With 1, further passes repeat the work on what is left.
    passes: u32,
    /// The largest fraction that was told. No smaller one is: what is done stays done.
    told_fraction: f64,
    told: Instant,
    wait: Duration,
}

impl Reporter {
    /// The reporter of a function that compares so many codes.
    pub(crate) fn of_codes(function: &'static str, codes: usize) -> Self {
        Self::of(function, format!("{codes} codes"), 1)
    }

    pub(crate) fn of(function: &'static str, amount: String, passes: u32) -> Self {
        Self { function, amount, passes, told_fraction: -1.0, told: Instant::now(), wait: FIRST }
    }

    /// Tells the client how far the work has come, unless it was told a moment ago.
    pub(crate) fn tell(&mut self, state: impl FnOnce(&str) -> String) {
        if self.told.elapsed() >= self.wait {
            (self.told, self.wait) = (Instant::now(), INTERVAL);
            let message = format!("{}: {}", self.function, state(&self.amount));
            ereport!(PgLogLevel::NOTICE, pgrx::PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message);
        }
    }
}

impl Heartbeat for Reporter {
    fn beat(&mut self) {
        check_for_interrupts();
    }

    fn progress(&mut self, pass: u32, done: f64) {
        self.beat();
        let before = if self.passes > 1 { f64::from(pass - 1) } else { 0.0 };
        let fraction = (before + done) / f64::from(self.passes);
        if fraction > self.told_fraction && self.told.elapsed() >= self.wait {
            self.told_fraction = fraction;
            self.tell(|amount| format!("{:.0} % of {amount} compared", fraction * 100.0));
        }
    }
}

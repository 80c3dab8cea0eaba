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
    told: Instant,
    wait: Duration,
}

impl Reporter {
    pub(crate) fn of(function: &'static str, amount: String) -> Self {
        Self { function, amount, told: Instant::now(), wait: FIRST }
    }

    /// Tells the client how far the work has come, unless it was told a moment ago.
    pub(crate) fn tell(&mut self, state: impl FnOnce(&str) -> String) {
        if self.told.elapsed() >= self.wait {
            (self.told, self.wait) = (Instant::now(), INTERVAL);
            self.notice(state(&self.amount));
        }
    }

    /// Tells a client that was told how far the work had come that it is done.
    pub(crate) fn end(self) {
        if self.wait == INTERVAL {
            self.notice(format!("100 % of {} compared", self.amount));
        }
    }

    fn notice(&self, state: String) {
        let message = format!("{}: {state}", self.function);
        ereport!(PgLogLevel::NOTICE, pgrx::PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message);
    }
}

impl Heartbeat for Reporter {
    fn beat(&mut self) {
        check_for_interrupts();
    }

    fn progress(&mut self, done: f64) {
        self.beat();
        self.tell(|amount| format!("{:.0} % of {amount} compared", (done * 100.0).floor()));
    }
}

//! Progress messages of long computations in memory.

use super::interrupts::check_for_interrupts;
use base::Heartbeat;
use pgrx::{PgLogLevel, ereport};
use std::time::{Duration, Instant};

/// The time before the first message, and the time between two messages.
const FIRST: Duration = Duration::from_secs(5);
const INTERVAL: Duration = Duration::from_secs(10);

/// Sends the client a message about the progress every few seconds.
pub struct Reporter {
    function: &'static str,
    /// What is compared, such as `1000 codes`.
    amount: String,
    told: Instant,
    wait: Duration,
}

impl Reporter {
    /// A reporter for a function, and for an amount such as `1000 codes`.
    pub fn of(function: &'static str, amount: String) -> Self {
        Self { function, amount, told: Instant::now(), wait: FIRST }
    }

    /// Sends a message, unless the last one was sent a moment ago.
    pub fn tell(&mut self, state: impl FnOnce(&str) -> String) {
        if self.told.elapsed() >= self.wait {
            (self.told, self.wait) = (Instant::now(), INTERVAL);
            self.notice(state(&self.amount));
        }
    }

    /// Sends the last message, if there was an earlier one.
    pub fn end(self) {
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

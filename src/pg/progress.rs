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
    /// How many passes the work has; of 1, further ones do the same again with what is left.
    passes: u32,
    /// The largest share that was told. No smaller one is: what is done stays done.
    told_share: f64,
    told: Instant,
    wait: Duration,
}

impl Reporter {
    /// The reporter of a function that compares so many codes.
    pub(crate) fn of_codes(function: &'static str, codes: usize) -> Self {
        Self::of(function, format!("{codes} codes"), 1)
    }

    pub(crate) fn of(function: &'static str, amount: String, passes: u32) -> Self {
        Self { function, amount, passes, told_share: -1.0, told: Instant::now(), wait: FIRST }
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

    fn progress(&mut self, pass: u32, share: f64) {
        self.beat();
        let before = if self.passes > 1 { f64::from(pass - 1) } else { 0.0 };
        let share = (before + share) / f64::from(self.passes);
        if share > self.told_share && self.told.elapsed() >= self.wait {
            self.told_share = share;
            self.tell(|amount| format!("{:.0} % of {amount} compared", share * 100.0));
        }
    }
}

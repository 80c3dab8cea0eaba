//! Long work in memory says how far it has come.

use super::codes::Kind;
use super::interrupts::check_for_interrupts;
use limits::Heartbeat;
use pgrx::{PgLogLevel, ereport};
use std::time::{Duration, Instant};

/// Between two notices, and before the first.
const INTERVAL: Duration = Duration::from_secs(5);

/// Looks for interrupts, and tells the client now and then how much is done.
pub(crate) struct Reporter {
    function: &'static str,
    kind: Kind,
    codes: usize,
    told: Instant,
}

impl Reporter {
    pub(crate) fn new(function: &'static str, kind: Kind, codes: usize) -> Self {
        Self { function, kind, codes, told: Instant::now() }
    }
}

impl Heartbeat for Reporter {
    fn beat(&mut self) {
        check_for_interrupts();
    }

    fn progress(&mut self, pass: u32, share: f64) {
        self.beat();
        if self.told.elapsed() < INTERVAL {
            return;
        }
        self.told = Instant::now();
        let pass = if pass > 1 { format!(", pass {pass}") } else { String::new() };
        let percent = share * 100.0;
        let Self { function, kind, codes, .. } = self;
        let message = format!("{function}: {percent:.0} % of {codes} {} compared{pass}", kind.plural());
        ereport!(PgLogLevel::NOTICE, pgrx::PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message);
    }
}

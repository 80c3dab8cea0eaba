//! The range of values of a parameter.

use crate::Problem;
use std::fmt::Display;

/// The smallest and the largest value of a parameter.
///
/// An algorithm checks its parameters when it is created. A caller that has them in another type, such as
/// SQL's signed integers, converts them by the same limit, and so reports the same problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    name: &'static str,
    min: i64,
    max: i64,
}

impl Limit {
    /// The limit of a parameter, with the name that users know.
    pub const fn new(name: &'static str, min: i64, max: i64) -> Self {
        Self { name, min, max }
    }

    /// The largest allowed value.
    pub const fn max(self) -> i64 {
        self.max
    }

    /// Converts the value to another type, if it is within the limit.
    pub fn of<T: TryFrom<i64>>(self, value: impl Copy + Display + TryInto<i64>) -> Result<T, Problem> {
        let within = value.try_into().ok().filter(|value| (self.min..=self.max).contains(value));
        within.and_then(|value| value.try_into().ok()).ok_or_else(|| self.problem(value))
    }

    /// The problem of a value outside the limit.
    pub fn problem(self, value: impl Display) -> Problem {
        Problem::out_of_range(self.name, value, self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit::new("window", 1, 300);

    #[test]
    fn both_ends_are_within() {
        assert_eq!(LIMIT.of(1i32), Ok(1usize));
        assert_eq!(LIMIT.of(300u64), Ok(300usize));
        for value in ["-1", "0", "301", "9223372036854775807"] {
            let problem = LIMIT.of::<usize>(value.parse::<i64>().unwrap()).unwrap_err();
            assert_eq!(problem.message, format!("window {value} is out of range"));
            assert_eq!(problem.detail.as_deref(), Some("Valid values are 1 to 300."));
        }
    }

    #[test]
    fn values_that_no_type_holds_are_outside() {
        assert_eq!(
            LIMIT.of::<u64>(u64::MAX).unwrap_err().message,
            format!("window {} is out of range", u64::MAX)
        );
        assert!(LIMIT.of::<u8>(300i32).is_err(), "300 does not fit");
    }
}

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

/// The value that a parameter has by this name.
pub fn choose<T: Copy>(parameter: &str, name: &str, values: &[(&str, T)]) -> Result<T, Problem> {
    values.iter().find(|value| value.0 == name).map(|value| value.1).ok_or_else(|| {
        let names: Vec<&str> = values.iter().map(|value| value.0).collect();
        Problem::unknown(parameter, name, format!("Valid values are {}.", names.join(", ")))
    })
}

/// The greatest common divisor of two numbers.
pub fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
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

    #[test]
    fn names_are_of_values() {
        let values = [("byte", 1), ("character", 4)];
        assert_eq!(choose("unit", "character", &values), Ok(4));
        let problem = choose("unit", "Byte", &values).unwrap_err();
        assert_eq!(problem.message, "unknown unit \"Byte\"");
        assert_eq!(problem.hint.as_deref(), Some("Valid values are byte, character."));
    }

    #[test]
    fn divisors() {
        for (a, b, divisor) in [(12, 18, 6), (7, 64, 1), (5, 0, 5), (0, 5, 5), (1 << 63, 3 << 61, 1 << 61)] {
            assert_eq!(greatest_common_divisor(a, b), divisor, "{a} and {b}");
        }
    }
}

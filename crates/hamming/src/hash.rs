//! A hash of one number, for choices that have to look random.
//!
//! Several machines use it to choose parts for near pairs, so it must never change.

/// The hash of a number.
pub fn scattered(number: u64) -> u64 {
    let number = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    number ^ number >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_scattered() {
        assert_ne!(scattered(u64::MAX), scattered(0));
        assert_ne!(scattered(u64::MAX), scattered(u64::MAX - 1));
    }
}

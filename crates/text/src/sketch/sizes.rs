//! Size classes: the approximate number of values of a sketch, which an index stores next to the values.
//!
//! Each size below 16 has its own class, and each doubling above has eight. So the least size of a class is
//! more than 8/9 of any other size in it, and there are some hundred classes in total. Numbers of classes and
//! their keys are stored in indexes, so they never change.

/// The number of classes per doubling, as a power of two.
const STEPS: u32 = 3;

/// All sizes from this one on are in one class: an array of PostgreSQL cannot have as many values.
const LARGEST: usize = 1 << 27;

/// A class of similar sizes. A larger size is in the same class or in a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizeClass(u16);

impl SizeClass {
    /// The class of the largest sizes.
    pub const LAST: Self = Self::of(LARGEST);

    /// The number of classes.
    pub const COUNT: usize = Self::LAST.0 as usize + 1;

    /// The class of a size.
    #[must_use]
    pub const fn of(size: usize) -> Self {
        let size = if size < LARGEST { size } else { LARGEST };
        let doublings = (size | 1).ilog2().saturating_sub(STEPS);
        Self(((doublings << STEPS) as usize + (size >> doublings)) as u16)
    }

    /// The least size in the class.
    #[must_use]
    pub fn least(self) -> usize {
        let doublings = (self.0 >> STEPS).saturating_sub(1);
        usize::from(self.0 - (doublings << STEPS)) << doublings
    }

    /// This class and all later ones.
    pub fn and_later(self) -> impl Iterator<Item = Self> {
        (self.0..=Self::LAST.0).map(Self)
    }

    /// The key of the class among the values of sketches: one of the least numbers, which hashes hardly ever
    /// are.
    #[must_use]
    pub fn key(self) -> i64 {
        i64::MIN + i64::from(self.0)
    }

    /// Whether a value of a sketch equals the key of a class.
    #[must_use]
    pub fn is_key(value: i64) -> bool {
        value <= Self::LAST.key()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The least sizes of the classes as described, in order.
    fn naive_least_sizes() -> Vec<usize> {
        let mut sizes: Vec<usize> = (0..16).collect();
        for doubling in 4..27 {
            sizes.extend((0..8).map(|step| (1 << doubling) + (step << (doubling - 3))));
        }
        sizes.push(1 << 27);
        sizes
    }

    #[test]
    fn classes_are_as_described() {
        let least = naive_least_sizes();
        let classes: Vec<SizeClass> = SizeClass::of(0).and_later().collect();
        assert_eq!(classes.len(), SizeClass::COUNT);
        assert_eq!(classes.iter().map(|class| class.least()).collect::<Vec<_>>(), least);
        for (number, &size) in least.iter().enumerate() {
            assert_eq!(SizeClass::of(size), SizeClass(number as u16));
            assert_eq!(SizeClass::of(size.saturating_sub(1)), SizeClass((number as u16).saturating_sub(1)));
        }
    }

    #[test]
    fn stored_keys_never_change() {
        let key = |size| SizeClass::of(size).key();
        let stored = [0, 1, 15, 16, 17, 18, 100, 1000, 1 << 20, (1 << 27) - 1, 1 << 27, usize::MAX];
        assert_eq!(
            stored.map(|size| key(size) - i64::MIN),
            [0, 1, 15, 16, 16, 17, 36, 63, 144, 199, 200, 200]
        );
        assert!(SizeClass::is_key(key(0)) && SizeClass::is_key(key(usize::MAX)));
        assert!(
            !SizeClass::is_key(key(usize::MAX) + 1) && !SizeClass::is_key(0) && !SizeClass::is_key(i64::MAX)
        );
    }

    proptest! {
        #[test]
        fn a_class_is_narrow(doubling in 0..27u32, size in any::<usize>()) {
            let size = size % (1 << (doubling + 1));
            let class = SizeClass::of(size);
            prop_assert!(class.least() <= size && size - class.least() <= class.least() / 8);
            prop_assert!(SizeClass::of(size + 1) >= class);
        }
    }
}

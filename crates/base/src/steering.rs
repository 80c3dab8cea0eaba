//! Chooses input by its hashes, as someone does who wants a structure to take long. Only tests use it.
//!
//! A structure that is addressed by a hash reads some bits of it. Whoever may choose among many inputs, such
//! as words or characters, can choose these bits, provided that the hash can be computed outside of the
//! process. [`each_steering`] tries several aims, and all parts of a hash. Tests count the work for an input,
//! and [`assert_linear`] compares that of a large input with that of a small one.

use std::fmt::{self, Display};
use std::hash::{BuildHasher, RandomState};

/// How many times more work four times the input may take.
const MOST_TIMES: f64 = 6.0;
/// The distance of two parts of a hash that are tried.
const STEP: usize = 4;

/// Which candidate is chosen, by the part of its hash.
#[derive(Clone, Copy, Debug)]
enum Aim {
    Least,
    Most,
    /// The nearest to the same number each time.
    OneSlot,
    /// The greatest below the last one, or the greatest if there is none.
    Falling,
}

/// A way to choose among candidates.
#[derive(Clone, Debug)]
pub struct Steering {
    aim: Aim,
    /// By how many bits hashes are rotated to the left, so that the chosen part of them comes first.
    rotation: u32,
    slot: u64,
    last: u64,
    seed: u64,
    chance: u64,
}

impl Steering {
    /// A random number below `end`, with which candidates are made.
    pub fn random(&mut self, end: u64) -> u64 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.chance ^ self.chance >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ mixed >> 31) * u128::from(end)) >> 64) as u64
    }

    /// Chooses one of the candidates, which come with their hashes. There must be one.
    pub fn choose<C>(&mut self, candidates: impl IntoIterator<Item = (C, u64)>) -> C {
        let part = |hash: u64| hash.rotate_left(self.rotation);
        let rank = |hash: u64| match self.aim {
            Aim::Least => part(hash),
            Aim::Most => !part(hash),
            Aim::OneSlot => part(hash) ^ self.slot,
            Aim::Falling => self.last.wrapping_sub(1).wrapping_sub(part(hash)),
        };
        let chosen =
            candidates.into_iter().min_by_key(|&(_, hash)| rank(hash)).expect("there is a candidate");
        self.last = part(chosen.1);
        chosen.0
    }
}

impl Display for Steering {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { aim, rotation, seed, .. } = self;
        write!(formatter, "{aim:?} from bit {rotation}, STEERING_SEED={seed}")
    }
}

/// All aims for all parts of a hash. The environment variable `STEERING_SEED` repeats a run.
pub fn each_steering() -> impl Iterator<Item = Steering> {
    let given = std::env::var("STEERING_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(|| RandomState::new().hash_one(0) >> 32);
    let aims = [Aim::Least, Aim::Most, Aim::OneSlot, Aim::Falling];
    let rotations = (0..u64::BITS).step_by(STEP);
    aims.into_iter().flat_map(move |aim| {
        rotations.clone().map(move |rotation| {
            let chance = seed.wrapping_add(u64::from(rotation) << 32);
            let mut steering = Steering { aim, rotation, slot: 0, last: u64::MAX, seed, chance };
            steering.slot = steering.random(u64::MAX);
            steering
        })
    })
}

/// Compares the work for an input of `small` symbols with that for an input of 4, 16, 64 … times as many:
/// each time, four times the input may take six times the work. `work` returns the work for so many symbols.
/// More than one time is for work that grows in steps.
///
/// # Panics
/// If there is more work.
pub fn assert_linear(
    steering: &Steering,
    small: usize,
    times: u32,
    mut work: impl FnMut(&mut Steering, usize) -> usize,
) {
    let large = small << (2 * times);
    let [few, many] = [small, large].map(|symbols| work(&mut steering.clone(), symbols));
    let most = MOST_TIMES.powi(times as i32) * few as f64;
    assert!(many as f64 <= most, "{many} steps for {large} symbols, {few} for {small}: {steering}");
}

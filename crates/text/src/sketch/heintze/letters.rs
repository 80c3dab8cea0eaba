//! The letters of a text, and a key for every five consecutive letters.

use crate::features::chars::boundaries;
use crate::features::words::add_letters;
use crate::hash::xxh3_64;
use base::{Heartbeat, Problem, ProblemKind, beat_every, collect};

/// The most bytes of letters in a text.
const MAX_BYTES: usize = u32::MAX as usize;
/// The number of letters at the beginning of a substring whose frequency is counted.
pub(super) const JUDGED: usize = 5;
/// The number of bits of a key of five letters.
pub(super) const KEY_BITS: u32 = 24;
/// The number of keys between two heartbeats.
const STRIDE: usize = 1 << 14;

/// The places where each letter begins, and the end.
fn starts_of<'a>(letters: &'a [u8], heartbeat: &'a mut dyn Heartbeat) -> impl Iterator<Item = u32> {
    boundaries(letters).enumerate().map(|(number, start)| {
        beat_every(STRIDE, number, heartbeat);
        start as u32
    })
}

/// The letters of a text, without anything between them.
pub(super) struct Letters {
    /// In UTF-8.
    pub(super) text: Vec<u8>,
    /// The places where each letter begins, and the end; empty for ASCII, where every letter is one byte.
    starts: Vec<u32>,
}

impl Letters {
    pub(super) fn of(text: &str, heartbeat: &mut dyn Heartbeat) -> Result<Self, Problem> {
        let mut letters = Vec::new();
        add_letters(text, &mut letters, heartbeat)?;
        if letters.len() > MAX_BYTES {
            let message = format!("text has {} bytes of letters, more than {MAX_BYTES}", letters.len());
            return Err(Problem::new(ProblemKind::TooLarge, message));
        }
        let mut starts = Vec::new();
        if !letters.is_ascii() {
            let count = starts_of(&letters, heartbeat).count();
            starts = collect(starts_of(&letters, heartbeat), count)?;
        }
        Ok(Self { text: letters, starts })
    }

    pub(super) fn count(&self) -> usize {
        if self.starts.is_empty() { self.text.len() } else { self.starts.len() - 1 }
    }

    pub(super) fn slice(&self, start: usize, length: usize) -> &[u8] {
        let (start, end) = match self.starts.as_slice() {
            [] => (start, start + length),
            starts => (starts[start] as usize, starts[start + length] as usize),
        };
        &self.text[start..end]
    }

    /// Passes on the number of the first letter, and the key (below 2^24), of every five consecutive letters.
    pub(super) fn each_key(
        &self,
        heartbeat: &mut dyn Heartbeat,
        mut consumer: impl FnMut(usize, u32, &mut dyn Heartbeat),
    ) {
        let mut key = 0;
        for start in 0..self.count() - JUDGED + 1 {
            beat_every(STRIDE, start, heartbeat);
            if !self.starts.is_empty() {
                key = (xxh3_64(self.slice(start, JUDGED)) >> (u64::BITS - KEY_BITS)) as u32;
            } else if start == 0 {
                key = self.text[..JUDGED].iter().fold(0, |key, letter| key * 26 + number(letter));
            } else {
                let old = &self.text[start - 1];
                let new = &self.text[start + JUDGED - 1];
                key = key * 26 + number(new) - number(old) * 26u32.pow(JUDGED as u32);
            }
            consumer(start, key, heartbeat);
        }
    }
}

/// The number of a letter in the alphabet, from 0.
fn number(letter: &u8) -> u32 {
    u32::from(letter - b'a')
}

//! The hashes of pieces, level by level. The hashes of the next level are computed from them.

use base::{Heartbeat, OutOfMemory, filled};

/// The number of symbols that are processed together, level by level.
pub(super) const CHUNK: usize = 1 << 10;
/// The number of positions whose pieces are hashed together: the number of symbols of a piece of level 3.
pub(super) const GROUP: usize = 64;
/// The places in a group where pieces of levels 1, 2, and 3 or more begin.
const BEGINNINGS: [&[u8]; 3] = [&beginnings::<48>(1), &beginnings::<36>(2), &beginnings::<27>(3)];
/// For each of these pieces, how many pieces of the level below begin before it in the group.
const BELOW: [&[u8]; 3] = [&numbers_below::<48>(1), &numbers_below::<36>(2), &numbers_below::<27>(3)];

/// Digits of pi, which distinguish the four parts of a piece.
const KEYS: [u64; 6] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6c,
];

/// The hashes of the last pieces of a level, in the order of their positions. Every group takes the same
/// number of places. The places of pieces that have not ended, and of a group in which no piece begins, have
/// arbitrary contents.
#[derive(Clone, Debug)]
pub(super) struct Row {
    hashes: Vec<u64>,
    /// The position where the first group begins.
    first: usize,
    /// The largest number of pieces that begin in a group.
    of_group: usize,
}

impl Row {
    /// A row for a text of this length. It has twice the room that it needs, so that it is seldom moved.
    pub(super) fn new(
        level: u32,
        symbols: usize,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Self, OutOfMemory> {
        let of_group = if level == 0 { GROUP } else { BEGINNINGS[kind_of(level)].len() };
        let positions = symbols.min(2 * length_of(level + 1)) + CHUNK + 3 * GROUP;
        let count = positions.div_ceil(GROUP) * of_group + GROUP;
        Ok(Self { hashes: filled(0, count, heartbeat)?, first: 0, of_group })
    }

    /// The place of a position's hashes, for a multiple of the level's length or of [`GROUP`].
    fn place(&self, position: usize) -> usize {
        (position - self.first) * self.of_group / GROUP
    }

    /// Makes room for the pieces that begin in the next chunk and in one more group, which is read as a
    /// whole. Pieces that cannot be part of another piece of the next level are dropped.
    pub(super) fn make_room(&mut self, level: u32, symbols: usize) {
        if self.hashes.len() < self.place(symbols / GROUP * GROUP + CHUNK + 2 * GROUP) + GROUP {
            let needed = symbols.saturating_sub(length_of(level + 1)) / GROUP * GROUP;
            let kept = self.place(needed)..;
            self.hashes.copy_within(kept, 0);
            self.first = needed;
        }
    }

    /// The places of the next symbols, in the row of symbols.
    pub(super) fn next_symbols(&mut self, before: usize) -> &mut [u64] {
        &mut self.hashes[before - self.first..][..CHUNK]
    }

    pub(super) fn group(&self, position: usize) -> &[u64; GROUP] {
        self.hashes[self.place(position)..].first_chunk().expect("room was made for a group more")
    }

    pub(super) fn group_mut(&mut self, position: usize) -> &mut [u64; GROUP] {
        let place = self.place(position);
        self.hashes[place..].first_chunk_mut().expect("room was made for a group more")
    }
}

/// The number of the level's tables.
pub(super) fn kind_of(level: u32) -> usize {
    level.min(3) as usize - 1
}

/// Writes the hashes of a group's pieces, computed from the groups where their four parts begin, and passes
/// them on.
#[inline(always)]
pub(super) fn hash_group(
    parts: [&[u64; GROUP]; 4],
    kind: usize,
    hashes: &mut [u64; GROUP],
    mut consumer: impl FnMut(usize, u64),
) {
    for ((&at, &number), place) in BEGINNINGS[kind].iter().zip(BELOW[kind]).zip(hashes) {
        let hash = hash(parts.map(|part| part[usize::from(number) % GROUP]));
        *place = hash;
        consumer(usize::from(at), hash);
    }
}

/// The number of symbols of a piece of this level.
pub(super) const fn length_of(level: u32) -> usize {
    1 << (2 * level)
}

/// The places in a group where pieces of a level begin.
const fn beginnings<const COUNT: usize>(level: u32) -> [u8; COUNT] {
    let mut beginnings = [0; COUNT];
    let mut at = 0;
    let mut count = 0;
    while at < GROUP {
        if is_kept(at % length_of(level)) {
            beginnings[count] = at as u8;
            count += 1;
        }
        at += 1;
    }
    beginnings
}

/// For each piece of a level that begins in a group, how many pieces of the level below begin before it in
/// the group.
const fn numbers_below<const COUNT: usize>(level: u32) -> [u8; COUNT] {
    let mut numbers = [0; COUNT];
    let mut at = 0;
    let mut number = 0;
    let mut count = 0;
    while at < GROUP {
        if is_kept(at % length_of(level)) {
            numbers[count] = number;
            count += 1;
        }
        if is_kept(at % length_of(level - 1)) {
            number += 1;
        }
        at += 1;
    }
    numbers
}

/// Whether no base-4 digit of the position is 3.
pub(super) const fn is_kept(position: usize) -> bool {
    position & position >> 1 & 0x5555_5555_5555_5555 == 0
}

/// The hash of four hashes by folded products, as in wyhash. For so few bytes, it takes a fifth of the time
/// of XXH3.
#[inline]
pub(super) fn hash(parts: [u64; 4]) -> u64 {
    let [a, b, c, d] = std::array::from_fn(|part| parts[part] ^ KEYS[part]);
    folded_product(folded_product(a, b) ^ KEYS[4], folded_product(c, d) ^ KEYS[5])
}

fn folded_product(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

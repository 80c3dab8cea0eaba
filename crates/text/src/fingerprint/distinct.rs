//! Finds the distinct hashes of a text fast and in bounded memory.
//!
//! A hash table loses most of its time by branches that the processor mispredicts, at collisions and
//! repetitions. So hashes first pass two sieves without branches. A hash that finds its slot empty is new,
//! and is stored there. A hash that finds itself is a repetition. A hash that finds another hash falls
//! through. All occurrences of a hash are treated alike, so a hash that falls through one sieve is new or a
//! repetition in the next. Finally, a table with probing takes the rest. With 5 KB of English, a fifth falls
//! through the first sieve, and a thirtieth through both.
//!
//! `char:4` spends half of its time here, and no cheaper way was found. A sieve that does not list new hashes
//! takes 40 % less time, but then its slots must be counted at the end of the text, including empty ones.
//! With SSE2 that takes more time than was saved, and with AVX-512 as much. A third sieve takes as much time
//! as it saves.
//!
//! Whoever may store a text can choose words whose hashes fall through both sieves. That takes no more than
//! the time of the table for each hash, because a sieve does not probe. In the table, and for the parts of a
//! set that is too large, the [`Place`] of a hash is used, which depends on the secret of the process.
//!
//! Guarantee: every hash is passed on exactly once, or the set is reported to be too large. Cost: linear
//! time, whatever the hashes are; at most 128 MB of memory, or 192 MB while the table grows. The table calls
//! the heartbeat.

use crate::features::BATCH;
use crate::hash::probing_table::ProbingTable;
use crate::hash::secret::{Place, Secret};
use base::{Heartbeat, OutOfMemory, reserve};
use std::hint::select_unpredictable;

/// The most slots of the first sieve: 1 MB, which a processor's second cache can hold.
const MAX_SIEVE: usize = 1 << 17;
const MIN_SIEVE: usize = 1 << 8;

/// The most slots of the table: 128 MB.
const MAX_TABLE: usize = 1 << 24;
/// The most slots of the table that are kept for the next text: 1 MB.
const KEPT_TABLE: usize = 1 << 17;
const MIN_TABLE: usize = 1 << 8;

/// The number of new hashes that are passed on together; what one call adds always fits.
const HANDED_ON: usize = 4 * BATCH;

/// One of 2^bits equal parts of all places of hashes.
///
/// If a set needs too much memory, it is found part by part, with a scan of the text for each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SetPart {
    bits: u32,
    index: usize,
}

impl SetPart {
    pub(crate) const WHOLE: Self = Self { bits: 0, index: 0 };

    pub(crate) fn first_half(self) -> Self {
        Self { bits: self.bits + 1, index: self.index * 2 }
    }

    /// The next part, of the same size.
    pub(crate) fn next(self) -> Option<Self> {
        let index = self.index + 1;
        (index < 1 << self.bits).then_some(Self { index, ..self })
    }

    fn contains(self, place: Place) -> bool {
        place.part(1 << self.bits) == self.index
    }
}

/// The distinct hashes of one part need more memory than is allowed or available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

/// Passes on every hash when it first occurs. The memory is reused for the next text.
#[derive(Debug)]
pub(crate) struct Distinct {
    secret: &'static Secret,
    first: Sieve<0>,
    /// Chooses slots by other bits than the first sieve.
    second: Sieve<18>,
    table: DistinctTable,
    fresh: NewHashes,
    part: SetPart,
    seen_zero: bool,
}

impl Default for Distinct {
    fn default() -> Self {
        Self::with_max_table(MAX_TABLE)
    }
}

impl Distinct {
    fn with_max_table(max_slots: usize) -> Self {
        let secret = Secret::of_process();
        Self {
            secret,
            first: Sieve::default(),
            second: Sieve::default(),
            table: DistinctTable { secret, hashes: ProbingTable::default(), max_slots },
            fresh: NewHashes { hashes: [0; HANDED_ON], len: 0 },
            part: SetPart::WHOLE,
            seen_zero: false,
        }
    }

    /// Forgets all hashes, and begins a scan of `part`, in which about `expected` hashes are expected.
    pub(crate) fn begin(
        &mut self,
        part: SetPart,
        expected: usize,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), OutOfMemory> {
        let slots = expected.clamp(MIN_SIEVE * 4, MAX_SIEVE).next_power_of_two();
        self.first.clear(slots)?;
        self.second.clear(slots / 4)?;
        self.table.clear(heartbeat)?;
        self.fresh.len = 0;
        self.part = part;
        self.seen_zero = false;
        Ok(())
    }

    /// Takes at most [`BATCH`] hashes. New hashes reach the consumer in this call, in a later one or in
    /// [`hand_on`](Self::hand_on).
    pub(crate) fn add(
        &mut self,
        hashes: &[u64],
        consumer: &mut impl FnMut(&[u64]),
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), TooMany> {
        // 0 marks an empty slot, so the hash 0 is handled separately.
        if self.part != SetPart::WHOLE || may_hold_zero(hashes) {
            let part = self.part;
            let secret = self.secret;
            let mut kept = [0; BATCH];
            let mut len = 0;
            for &hash in hashes.iter().filter(|&&hash| part.contains(secret.place(hash))) {
                if hash != 0 {
                    kept[len] = hash;
                    len += 1;
                } else if !self.seen_zero {
                    self.seen_zero = true;
                    self.fresh.push(0);
                }
            }
            self.add_nonzero(&kept[..len], heartbeat)?;
        } else {
            self.add_nonzero(hashes, heartbeat)?;
        }
        if self.fresh.len > HANDED_ON - 2 * BATCH {
            self.hand_on(consumer);
        }
        Ok(())
    }

    /// Passes on the new hashes that were not passed on yet.
    pub(crate) fn hand_on(&mut self, consumer: &mut impl FnMut(&[u64])) {
        consumer(&self.fresh.hashes[..self.fresh.len]);
        self.fresh.len = 0;
    }

    /// Frees the memory that a long text has needed.
    pub(crate) fn release(&mut self) {
        self.table.release();
    }

    fn add_nonzero(&mut self, hashes: &[u64], heartbeat: &mut dyn Heartbeat) -> Result<(), TooMany> {
        self.first.sift(hashes, &mut self.fresh);
        self.second.sift(self.first.fallen(), &mut self.fresh);
        self.table.add(self.second.fallen(), &mut self.fresh, heartbeat)
    }
}

/// Whether the hashes may contain 0. Only half of the bits are checked, which takes a fraction of the time.
fn may_hold_zero(hashes: &[u64]) -> bool {
    hashes.iter().fold(false, |found, &hash| found | (hash as u32 == 0))
}

/// New hashes that were not passed on yet.
#[derive(Debug)]
struct NewHashes {
    hashes: [u64; HANDED_ON],
    len: usize,
}

impl NewHashes {
    fn push(&mut self, hash: u64) {
        self.hashes[self.len] = hash;
        self.len += 1;
    }
}

/// A table with one slot per hash, without probing. The bits of a hash from SHIFT up choose its slot.
#[derive(Debug)]
struct Sieve<const SHIFT: u32> {
    /// 0 is an empty slot. The number of slots is a power of two.
    slots: Vec<u64>,
    fallen: [u64; BATCH],
    fallen_len: usize,
}

impl<const SHIFT: u32> Default for Sieve<SHIFT> {
    fn default() -> Self {
        Self { slots: Vec::new(), fallen: [0; BATCH], fallen_len: 0 }
    }
}

impl<const SHIFT: u32> Sieve<SHIFT> {
    fn clear(&mut self, slots: usize) -> Result<(), OutOfMemory> {
        self.slots.clear();
        reserve(&mut self.slots, slots)?;
        self.slots.resize(slots, 0);
        Ok(())
    }

    /// The hashes of the last batch that fell through.
    fn fallen(&self) -> &[u64] {
        &self.fallen[..self.fallen_len]
    }

    /// Finds the hashes that are new and those that fall through. Repetitions are dropped.
    ///
    /// Every hash is written to both outputs, but the length of an output only advances if the hash belongs
    /// there. So the loop has no branches. The masks of the output positions have no effect, since the
    /// positions cannot pass the end; they save bounds checks.
    fn sift(&mut self, hashes: &[u64], fresh: &mut NewHashes) {
        let slots = self.slots.as_mut_slice();
        let mask = slots.len() - 1;
        let mut new = fresh.len;
        let mut fallen = 0;
        for &hash in hashes {
            let slot = (hash >> SHIFT) as usize & mask;
            let found = slots[slot];
            let kept = select_unpredictable(found == 0, hash, found);
            slots[slot] = kept;
            fresh.hashes[new % HANDED_ON] = hash;
            self.fallen[fallen % BATCH] = hash;
            new += usize::from(found == 0);
            fallen += usize::from(kept != hash);
        }
        fresh.len = new;
        self.fallen_len = fallen;
    }
}

/// The table for hashes that fall through both sieves.
#[derive(Debug)]
struct DistinctTable {
    secret: &'static Secret,
    hashes: ProbingTable,
    max_slots: usize,
}

impl DistinctTable {
    fn clear(&mut self, heartbeat: &mut dyn Heartbeat) -> Result<(), OutOfMemory> {
        // The size for the last text is a good guess for this one, but a large table takes time to clear.
        let slots = (self.hashes.entries() * 2).next_power_of_two().clamp(MIN_TABLE, KEPT_TABLE);
        self.hashes.clear(slots.min(self.max_slots), heartbeat)
    }

    fn release(&mut self) {
        if self.hashes.slots() > KEPT_TABLE {
            self.hashes.release();
        }
    }

    fn add(
        &mut self,
        hashes: &[u64],
        fresh: &mut NewHashes,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), TooMany> {
        while !self.hashes.has_room_for(hashes.len()) {
            self.grow(heartbeat)?;
        }
        for &hash in hashes {
            let slot = self.hashes.find(self.secret.place(hash), |entry| entry == hash, heartbeat);
            if self.hashes.entry(slot) == 0 {
                self.hashes.put(slot, hash);
                fresh.push(hash);
            }
        }
        Ok(())
    }

    fn grow(&mut self, heartbeat: &mut dyn Heartbeat) -> Result<(), TooMany> {
        if 2 * self.hashes.slots() > self.max_slots {
            return Err(TooMany);
        }
        let secret = self.secret;
        self.hashes.grow(|hash| secret.place(hash), heartbeat).map_err(|_| TooMany)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::steering::each_steering;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The smallest table that the longest batch fits into.
    const TINY: usize = 4 * BATCH;

    /// All distinct hashes, sorted, and the number of complete scans.
    fn collect(distinct: &mut Distinct, hashes: &[u64], batch: usize) -> (Vec<u64>, usize) {
        let mut all = Vec::new();
        let mut scans = 0;
        let mut part = Some(SetPart::WHOLE);
        while let Some(current) = part {
            let mut of_part = Vec::new();
            let mut consumer = |fresh: &[u64]| of_part.extend_from_slice(fresh);
            distinct.begin(current, hashes.len() / 2, &mut || ()).unwrap();
            if hashes.chunks(batch).any(|batch| distinct.add(batch, &mut consumer, &mut || ()).is_err()) {
                part = Some(current.first_half());
                continue;
            }
            distinct.hand_on(&mut consumer);
            all.append(&mut of_part);
            scans += 1;
            part = current.next();
        }
        all.sort_unstable();
        (all, scans)
    }

    fn expected(hashes: &[u64]) -> Vec<u64> {
        hashes.iter().copied().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Spreads small numbers over the whole range, as a hash function does.
    fn scatter(seed: u64) -> u64 {
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[test]
    fn a_set_larger_than_its_memory_takes_several_scans() {
        let hashes: Vec<u64> = (0..400_000u64).flat_map(|seed| [scatter(seed); 2]).collect();
        let (all, scans) = collect(&mut Distinct::with_max_table(1 << 16), &hashes, BATCH);
        assert!(all == expected(&hashes));
        assert!(scans > 2, "{scans} scans");
    }

    /// Hashes that begin with the same bits are divided into parts as others are, and take as many scans, or
    /// twice as many if they fall through the sieves. Parts that are chosen by those bits would take 32.
    #[test]
    fn hashes_with_equal_bits_take_no_more_scans() {
        for steering in each_steering() {
            let mut chosen = steering.clone();
            let mut hash = || {
                let candidates: [u64; 32] = std::array::from_fn(|_| chosen.random(u64::MAX));
                chosen.choose(candidates.map(|hash| (hash, hash)))
            };
            let hashes: Vec<u64> = (0..6_000).map(|_| hash()).collect();
            let (all, scans) = collect(&mut Distinct::with_max_table(TINY), &hashes, BATCH);
            assert!(all == expected(&hashes));
            assert!(scans <= 8, "{scans} scans: {steering}");
        }
    }

    #[test]
    fn memory_of_a_long_text_is_given_back() {
        let hashes: Vec<u64> = (1..=4 * KEPT_TABLE as u64).map(scatter).collect();
        let mut distinct = Distinct::default();
        collect(&mut distinct, &hashes, BATCH);
        assert!(distinct.table.hashes.slots() > KEPT_TABLE);
        distinct.release();
        distinct.begin(SetPart::WHOLE, 10, &mut || ()).unwrap();
        assert!(distinct.table.hashes.slots() <= KEPT_TABLE);
    }

    proptest! {
        #[test]
        fn every_hash_once(
            seeds in prop::collection::vec(0u64..6_000, 0..8_000),
            scattered: bool,
            batch in 1usize..=BATCH,
        ) {
            // Without scattering, the hashes are small, include 0, and all have the same slot in the sieves.
            let hashes: Vec<u64> =
                seeds.into_iter().map(|seed| if scattered { scatter(seed) } else { seed << 8 }).collect();
            let mut distinct = Distinct::with_max_table(if scattered { TINY } else { MAX_TABLE });
            prop_assert_eq!(collect(&mut distinct, &hashes, batch).0, expected(&hashes));
            prop_assert_eq!(collect(&mut distinct, &hashes, batch).0, expected(&hashes), "used again");
        }
    }
}

//! The parts of the near join that need no PostgreSQL, above all for miri: its sets of matched rows, and the
//! records in its files.
#![forbid(unsafe_code)]
#![allow(missing_docs, dead_code, reason = "the modules belong to another crate")]

use matched::MatchedSet;
use proptest::prelude::*;
use record::{RecordFormat, RecordNumber};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;

#[path = "../../../src/exec/rows/matched.rs"]
mod matched;
#[path = "../../../src/exec/rows/record.rs"]
mod record;

/// Stands for the border to PostgreSQL, which has the words of a shared set in memory of the server.
mod pg {
    pub mod exec_node {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

        /// An array of words that threads share.
        pub struct SharedWords(pub Arc<[AtomicU64]>);

        impl SharedWords {
            pub fn load(&self, place: usize) -> u64 {
                self.0[place].load(Relaxed)
            }

            pub fn set_bits(&self, place: usize, bits: u64) -> u64 {
                self.0[place].fetch_or(bits, Relaxed)
            }
        }
    }
}

/// This number of words, none of which has a bit.
fn words(count: usize) -> Arc<[AtomicU64]> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

/// A set of these words.
fn shared(words: &Arc<[AtomicU64]>) -> MatchedSet {
    MatchedSet::Shared(pg::exec_node::SharedWords(Arc::clone(words)))
}

proptest! {
    #[test]
    fn matched_rows_are_those_of_a_list(rows in prop::collection::vec(0u64..500, 0..if cfg!(miri) { 30 } else { 300 })) {
        let words = words(8);
        let mut own = MatchedSet::default();
        let shared = shared(&words);
        let mut list = BTreeSet::new();
        for row in rows {
            let is_new = list.insert(row);
            own.make_room(row + 1).unwrap();
            prop_assert_eq!([&own, &shared].map(|set| set.insert(RecordNumber(row))), [is_new; 2]);
        }
        own.make_room(512).unwrap();
        for row in 0..512 {
            prop_assert_eq!([&own, &shared].map(|set| set.contains(RecordNumber(row))), [list.contains(&row); 2]);
        }
        own.clear();
        prop_assert!((0..512).all(|row| !own.contains(RecordNumber(row))));
    }

    #[test]
    fn records_are_read_as_they_were_written(
        rows in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u64>(), 0..5)), 0..20),
        codes in 0usize..4,
    ) {
        let format = RecordFormat { codes, columns: None, numbered: true };
        let mut words = Vec::new();
        for (number, (is_coded, columns)) in (0..).zip(&rows) {
            words.push(RecordFormat::head(RecordNumber(number), *is_coded));
            words.push(columns.len() as u64);
            words.extend(vec![number; if *is_coded { codes } else { 0 }]);
            words.extend(columns);
        }
        let mut rest = &words[..];
        for (number, (is_coded, columns)) in (0..).zip(&rows) {
            let (record, after) = format.split(rest).unwrap();
            prop_assert_eq!([record.words, after].concat(), rest);
            prop_assert_eq!((record.number.0, record.columns), (number, &columns[..]));
            prop_assert_eq!(record.codes, vec![number; if *is_coded { codes } else { 0 }]);
            rest = after;
        }
        prop_assert!(rest.is_empty());
    }
}

/// Each row is new to exactly one of the processes that share a set.
#[test]
fn a_shared_row_is_new_once() {
    let words = words(4);
    let insert_all = || (0..256).filter(|&row| shared(&words).insert(RecordNumber(row))).count();
    let new: usize = thread::scope(|scope| {
        [(); 3].map(|()| scope.spawn(insert_all)).map(|other| other.join().unwrap()).iter().sum()
    });
    assert_eq!(new, 256);
}

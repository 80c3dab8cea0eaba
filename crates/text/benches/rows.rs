//! Measures the throughput of the functions behind those in SQL, over the rows of a table.
//!
//! `bench/run` writes the rows to a file, runs this, and measures the same calls in the server. We measure
//! the CPU time of this thread for all rows in order: the fastest of several sweeps. Calls with always the
//! same text would be faster, since a processor learns the branches of a short text.

#![allow(missing_docs, reason = "nobody links a benchmark")]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

mod defaults;
mod weights;

use defaults::MANBER;
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::hint::black_box;
use std::ops::Range;
use std::time::Duration;
use text::features::Scheme;
use text::fingerprint::SimHasher;
use text::html;
use text::passage::passage_sketch;
use text::sketch::heintze::HeintzeParameters;
use text::sketch::manber::ManberSketcher;
use text::sketch::minhash::{self, MinHasher};
use text::sketch::rarity::FeatureWeights;
use text::sketch::winnow::WinnowParameters;
use weights::weights_of;
use xxhash_rust::xxh3::xxh3_64;

const SWEEPS: usize = 15;

/// The number of bytes of a block of a table.
const PAGE: usize = 8192;

/// A function in Rust, and its call in SQL.
struct Call {
    sql: &'static str,
    run: Box<dyn FnMut(&str)>,
}

impl Call {
    fn new<R>(sql: &'static str, mut function: impl FnMut(&str) -> R + 'static) -> Self {
        Self { sql, run: Box::new(move |text| _ = black_box(function(text))) }
    }

    fn simhash(sql: &'static str, scheme: &str) -> Self {
        let mut hasher = SimHasher::default();
        let scheme: Scheme = scheme.parse().unwrap();
        Self::new(sql, move |text| hasher.fingerprint(text, scheme, &mut || ()))
    }
}

/// The functions, with SQL's default parameters.
fn calls() -> Vec<Call> {
    let winnow = WinnowParameters::new(50, 100).unwrap();
    let heintze = HeintzeParameters::new(100, 32).unwrap();
    let word3: Scheme = "word:3".parse().unwrap();
    let mut minhasher = MinHasher::default();
    vec![
        Call::simhash("simhash(body)", "doc2"),
        Call::simhash("simhash(body, 'doc1')", "doc1"),
        Call::simhash("simhash(body, 'word:3')", "word:3"),
        Call::simhash("simhash(body, 'char:8')", "char:8"),
        Call::simhash("simhash(body, 'commoncrawl')", "commoncrawl"),
        Call::new("manber_sketch(body)", |text| ManberSketcher::new(MANBER)?.sketch(text, &mut || ())),
        Call::new("winnow_sketch(body)", move |text| winnow.sketch(text.as_bytes(), &mut || ())),
        Call::new("heintze_sketch(body)", move |text| heintze.sketch(text, &[], &mut || ())),
        Call::new("minhash(body)", move |text| minhasher.bins(text, 128, word3, &mut || ())),
        Call::new("passage_sketch(body, 106)", |text| passage_sketch(text, 3, &mut || ())),
        Call::new("extract_text(body)", |text| html::extract_text(text, &mut || ())),
    ]
}

/// Both codes of a text, with the weights of these rows, and simpler functions, with which `bench/corpus`
/// compares them.
fn limits(rows: &[&str]) -> Vec<Call> {
    let mut copy = vec![0; rows.iter().map(|row| row.len()).max().unwrap_or_default()];
    let weights: &'static [u8] = weights_of(rows).leak();
    let weights = FeatureWeights::read(weights).unwrap();
    let mut minhasher = MinHasher::default();
    vec![
        Call::new("a copy", move |text| {
            copy[..text.len()].copy_from_slice(text.as_bytes());
            black_box(&copy)[0]
        }),
        Call::new("check for UTF-8", |text| simdutf8::basic::from_utf8(text.as_bytes()).is_ok()),
        Call::new("XXH3", |text| xxh3_64(text.as_bytes())),
        Call::new("words between white space", |text| {
            text.split_ascii_whitespace().map(str::len).sum::<usize>()
        }),
        Call::new("XXH3 of these words", |text| {
            text.split_ascii_whitespace().fold(0, |sum, word| sum ^ xxh3_64(word.as_bytes()))
        }),
        Call::simhash("simhash(body)", "doc2"),
        Call::new("rare_code(body, weights)", move |text| {
            let signature = minhasher.weighted_bins(text, 256, &weights, &mut || ()).unwrap();
            signature.map(|signature| minhash::bits(&signature, &mut || ()))
        }),
    ]
}

/// The rows in memory as in a table: a row that does not fit into the rest of a block begins in the next one.
fn paged(rows: &str) -> (String, Vec<Range<usize>>) {
    let mut memory = String::new();
    let places = rows.split_terminator('\0').map(|row| {
        if memory.len() % PAGE + row.len() > PAGE {
            memory.extend(std::iter::repeat_n('\0', PAGE - memory.len() % PAGE));
        }
        memory += row;
        memory.len() - row.len()..memory.len()
    });
    let places = places.collect();
    (memory, places)
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Prints each call, and its throughput in MB/s.
fn main() {
    let file = std::env::var_os("BENCH_ROWS")
        .expect("BENCH_ROWS names a file of rows, each with a zero byte behind it");
    let rows = fs::read_to_string(file).unwrap();
    let (memory, mut places) = paged(&rows);
    // How many of the rows the limits are measured with.
    let mut calls = match std::env::var("BENCH_LIMITS") {
        Ok(count) => {
            places.truncate(count.parse().unwrap());
            limits(&rows.split_terminator('\0').collect::<Vec<_>>())
        }
        Err(_) => calls(),
    };
    let bytes: usize = places.iter().map(Range::len).sum();
    let mut fastest = vec![Duration::MAX; calls.len()];
    // Calls take turns, so that a busy moment of the machine does not slow down all sweeps of one of them.
    for _ in 0..SWEEPS {
        for (call, fastest) in calls.iter_mut().zip(&mut fastest) {
            let start = cpu_time();
            places.iter().for_each(|place| (call.run)(black_box(&memory[place.clone()])));
            *fastest = (cpu_time() - start).min(*fastest);
        }
    }
    for (Call { sql, .. }, time) in calls.iter().zip(fastest) {
        println!("{sql}\t{:.0}", bytes as f64 / 1e6 / time.as_secs_f64());
    }
}

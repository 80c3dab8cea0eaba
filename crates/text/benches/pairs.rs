//! Measures the functions that compare two texts, over many different pairs.
//!
//! `bench/decision` writes near pairs of real texts to a file, and runs this. We measure the CPU time of this
//! thread for all pairs in order: the fastest of several sweeps.

#![allow(missing_docs, reason = "nobody links a benchmark")]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

mod weights;

use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::hint::black_box;
use std::time::Duration;
use text::sketch::rarity::{FeatureCounter, FeatureWeights};
use text::sketch::versions::VersionScorer;
use weights::weights_of;

const SWEEPS: usize = 15;

type Comparison<'a> = Box<dyn FnMut(&str, &str) + 'a>;

/// A function in Rust, and its call in SQL.
struct Call<'a> {
    sql: &'static str,
    run: Comparison<'a>,
}

impl<'a> Call<'a> {
    fn new<R>(sql: &'static str, mut function: impl FnMut(&str, &str) -> R + 'a) -> Self {
        Self { sql, run: Box::new(move |a, b| _ = black_box(function(a, b))) }
    }
}

/// What a function of two lists of features returns for two texts.
fn of_features(
    weights: FeatureWeights<'_>,
    function: impl Fn(&FeatureWeights<'_>, &[i64], &[i64]) -> Option<f64>,
) -> impl FnMut(&str, &str) -> Option<f64> {
    let mut counter = FeatureCounter::default();
    move |a, b| {
        let a = counter.features(a, weights.scheme, &mut || ()).unwrap();
        let b = counter.features(b, weights.scheme, &mut || ()).unwrap();
        function(&weights, &a, &b)
    }
}

fn calls(weights: FeatureWeights<'_>) -> [Call<'_>; 4] {
    let words = FeatureWeights::equal("word:1".parse().unwrap());
    let mut scorer = VersionScorer::default();
    [
        Call::new(
            "text_containment(a, b)",
            of_features(words, |weights, a, b| weights.containment(a, b, &mut || ())),
        ),
        Call::new(
            "text_containment(a, b, weights)",
            of_features(weights, |weights, a, b| weights.containment(a, b, &mut || ())),
        ),
        Call::new(
            "text_similarity(a, b, weights)",
            of_features(weights, |weights, a, b| weights.similarity(a, b, &mut || ())),
        ),
        Call::new("version_score(a, b, weights)", move |a, b| {
            scorer.score(a, b, &weights, &mut || ()).unwrap()
        }),
    ]
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Prints each call, and its microseconds for a pair.
fn main() {
    let file = std::env::var_os("BENCH_PAIRS")
        .expect("BENCH_PAIRS names a file of pairs of texts, with a zero byte behind each text");
    let contents = fs::read_to_string(file).unwrap();
    let texts: Vec<&str> = contents.split_terminator('\0').collect();
    let (pairs, []) = texts.as_chunks::<2>() else { panic!("the last text has no other one") };
    let weights = weights_of(&texts);
    let mut calls = calls(FeatureWeights::read(&weights).unwrap());
    let mut fastest = calls.each_ref().map(|_| Duration::MAX);
    // Calls take turns, so that a busy moment of the machine does not slow down all sweeps of one of them.
    for _ in 0..SWEEPS {
        for (call, fastest) in calls.iter_mut().zip(&mut fastest) {
            let start = cpu_time();
            pairs.iter().for_each(|[a, b]| (call.run)(black_box(a), black_box(b)));
            *fastest = (cpu_time() - start).min(*fastest);
        }
    }
    for (Call { sql, .. }, time) in calls.iter().zip(fastest) {
        println!("{sql}\t{:.1}", time.as_secs_f64() * 1e6 / pairs.len() as f64);
    }
}

//! Throughput of fingerprints and sketches over English text in documents of about 5 KB, beside that
//! of XXH3 over the same bytes, which is the baseline that ratios are given against.

#![allow(missing_docs, reason = "criterion's macros define undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use simhash_core::{Scheme, SimHasher, hamming, manber};
use std::fs;
use std::hint::black_box;
use xxhash_rust::xxh3::xxh3_64;

const DOCUMENT_BYTES: usize = 5_000;

/// English text that every Debian system has.
const TEXTS: &str = "/usr/share/common-licenses";

/// The texts cut into documents.
fn documents() -> Vec<String> {
    let mut paths: Vec<_> = fs::read_dir(TEXTS)
        .unwrap_or_else(|error| panic!("the benchmark reads English text from {TEXTS}: {error}"))
        .filter_map(|entry| entry.ok()?.path().canonicalize().ok())
        .collect();
    paths.sort();
    paths.dedup();
    let text: String = paths.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let mut documents = vec![String::new()];
    for word in words {
        if documents.last().is_some_and(|document| document.len() >= DOCUMENT_BYTES) {
            documents.push(String::new());
        }
        documents.last_mut().unwrap().push_str(word);
    }
    documents
}

fn text_throughput(criterion: &mut Criterion) {
    let documents = documents();
    let mut group = criterion.benchmark_group("text");
    group.throughput(Throughput::Bytes(documents.iter().map(|text| text.len() as u64).sum()));
    group.bench_function("xxh3 (baseline)", |bench| {
        bench.iter(|| documents.iter().fold(0, |sum, text| sum ^ xxh3_64(text.as_bytes())));
    });
    let mut hasher = SimHasher::default();
    for name in ["char:4", "char:8", "word:1", "word:3", "doc1", "commoncrawl"] {
        let scheme: Scheme = name.parse().unwrap();
        group.bench_function(format!("simhash {name}"), |bench| {
            bench.iter(|| {
                for text in &documents {
                    black_box(hasher.fingerprint(text, scheme, &mut || ()));
                }
            });
        });
    }
    for (name, parameters) in [
        ("manber_sketch (default)", manber::Parameters::default()),
        (
            "manber_sketch (modulus 2^32)",
            manber::Parameters { prime: 31, modulus: 1 << 32, ..Default::default() },
        ),
        ("manber_sketch (xxh3)", manber::Parameters { hash: manber::Hash::Xxh3, ..Default::default() }),
    ] {
        group.bench_function(name, |bench| {
            bench.iter(|| {
                for text in &documents {
                    black_box(parameters.sketch(text, &mut || ())).unwrap();
                }
            });
        });
    }
    group.finish();
}

fn distances(criterion: &mut Criterion) {
    let scatter = |seed: u64| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let fingerprints: Vec<u64> = (0..1_000_000).map(scatter).collect();
    let mut group = criterion.benchmark_group("hamming");
    group.throughput(Throughput::Elements(fingerprints.len() as u64));
    group.bench_function("within 6", |bench| {
        bench.iter_batched(
            || black_box(scatter(42)),
            |query| fingerprints.iter().filter(|&&f| hamming::within(f, query, 6)).count(),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, text_throughput, distances);
criterion_main!(benches);

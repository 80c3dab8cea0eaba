//! Throughput of fingerprints in many languages, compared with XXH3 over the same bytes, and with checks for
//! UTF-8.
//!
//! `bench/languages` fetches the texts and runs this. It measures the CPU time of this thread. For each slice
//! of the documents, only the fastest sweep counts, so that other work on the machine has little effect. A
//! sweep reads the documents of all languages, so they come from memory or the last cache, like documents of
//! a database.

#![allow(missing_docs, reason = "nobody links a benchmark")]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

mod texts;

use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;
use text::features::Scheme;
use text::fingerprint::SimHasher;
use texts::Language;
use xxhash_rust::xxh3::xxh3_64;

const SCHEMES: [&str; 6] = ["doc1", "doc2", "word:3", "char:4", "char:8", "commoncrawl"];

/// The candidates take turns, so that each meets the machine in the same states.
const TURNS: usize = 10;

/// A function to be measured.
struct Candidate {
    run: Box<dyn FnMut(&str)>,
    /// The number of documents that are measured by one reading of the clock.
    slice: usize,
    sweeps_a_turn: usize,
    /// The least time of each slice of each language.
    fastest: Vec<Vec<Duration>>,
}

impl Candidate {
    /// A function that takes about a microsecond per document: the clock is read once for all documents of a
    /// language.
    fn quick<R>(function: impl Fn(&[u8]) -> R + 'static) -> Self {
        let run = move |text: &str| _ = black_box(function(text.as_bytes()));
        Candidate { run: Box::new(run), slice: usize::MAX, sweeps_a_turn: 20, fastest: Vec::new() }
    }

    /// A slice of documents takes a millisecond or more.
    fn scheme(name: &str) -> Self {
        let scheme: Scheme = name.parse().unwrap();
        let mut hasher = SimHasher::default();
        let run = move |text: &str| _ = black_box(hasher.fingerprint(text, scheme, &mut || ()));
        Candidate { run: Box::new(run), slice: 10, sweeps_a_turn: 1, fastest: Vec::new() }
    }

    fn sweep(&mut self, languages: &[Language]) {
        self.fastest.resize_with(languages.len(), Vec::new);
        for (language, fastest) in languages.iter().zip(&mut self.fastest) {
            let slices = language.documents.chunks(self.slice);
            fastest.resize(slices.len(), Duration::MAX);
            for (slice, fastest) in slices.zip(fastest) {
                let start = cpu_time();
                slice.iter().for_each(|document| (self.run)(black_box(document)));
                *fastest = (cpu_time() - start).min(*fastest);
            }
        }
    }

    /// MB/s for that language.
    fn throughput(&self, language: usize, bytes: usize) -> f64 {
        bytes as f64 / 1e6 / self.fastest[language].iter().sum::<Duration>().as_secs_f64()
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn main() {
    let folder = std::env::var_os("BENCH_TEXTS")
        .expect("BENCH_TEXTS names a folder with texts in a folder for each language; see bench/languages");
    let languages = texts::languages(&PathBuf::from(folder));
    let mut quick = [
        Candidate::quick(xxh3_64),
        Candidate::quick(|text| std::str::from_utf8(text).is_ok()),
        Candidate::quick(|text| simdutf8::basic::from_utf8(text).is_ok()),
    ];
    let mut schemes = SCHEMES.map(Candidate::scheme);
    for _ in 0..TURNS {
        for candidate in quick.iter_mut().chain(&mut schemes) {
            (0..candidate.sweeps_a_turn).for_each(|_| candidate.sweep(&languages));
        }
    }
    report(&languages, &quick, &schemes);
}

fn report(languages: &[Language], quick: &[Candidate; 3], schemes: &[Candidate]) {
    println!("CPU time. XXH3 and the checks for UTF-8 (standard library, simdutf8) in GB/s,");
    println!("fingerprints in MB/s and as fractions of XXH3's throughput.\n");
    print!("{:22}{:>6}{:>10}{:>7}{:>7}{:>10}", "", "KB", "not ASCII", "XXH3", "std", "simdutf8");
    SCHEMES.iter().for_each(|scheme| print!("{scheme:>15}"));
    println!();
    for (index, Language { name, documents }) in languages.iter().enumerate() {
        let text = documents.concat();
        let beyond_ascii = text.bytes().filter(|byte| !byte.is_ascii()).count() as f64 / text.len() as f64;
        print!("{name:22}{:6}{:9.1}%", text.len() / 1000, 100.0 * beyond_ascii);
        let [xxh3, std, simd] = quick.each_ref().map(|candidate| candidate.throughput(index, text.len()));
        print!("{:7.1}{:7.1}{:10.1}", xxh3 / 1000.0, std / 1000.0, simd / 1000.0);
        for scheme in schemes {
            let throughput = scheme.throughput(index, text.len());
            print!("{throughput:8.0} {:>6}", format!("1/{:.0}", xxh3 / throughput));
        }
        println!();
    }
}

//! Repeated text of a corpus: rows, time and memory, compared with a suffix array.
//!
//! `bench/repeats` fetches the English text and runs this. Time is the CPU time of this thread. Memory is the
//! largest amount used in addition to the documents, and includes a copy of their text. `BENCH_BYTES` is the
//! size of each corpus. Suffix arrays are only made for corpora of up to `BENCH_SUFFIX_BYTES`.

#![allow(missing_docs, reason = "nobody links a benchmark")]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

mod corpora;
mod suffix_array;

use rustix::time::{ClockId, clock_gettime};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};
use text::passage::repeats::{Corpus, Repeat};

const MIN_LENGTH: usize = 100;

/// The rows that a method has found, and its time and memory.
struct Outcome {
    rows: Vec<Repeat>,
    seconds: f64,
    /// The largest amount of memory in use, minus the amount before.
    bytes: usize,
}

fn main() {
    let number = |name, default| env::var(name).ok().map_or(default, |value| value.parse().unwrap());
    let corpora = corpora::all(number("BENCH_BYTES", 100_000_000));
    let Ok(only) = env::var("BENCH_CORPUS") else {
        println!(
            "{:<28}{:>8}{:>9}{:>9}{:>12}{:>12}",
            "at 100 characters", "MB", "rows", "% cut", "s", "bytes/byte"
        );
        // Each corpus gets a new process, so that memory of an earlier one does not count.
        for (name, _) in corpora {
            let status = Command::new(env::current_exe().unwrap()).env("BENCH_CORPUS", name).status();
            assert!(status.unwrap().success(), "{name}");
        }
        return;
    };
    for (name, documents) in corpora.into_iter().filter(|(name, _)| *name == only) {
        let documents = documents();
        let size: usize = documents.iter().map(String::len).sum();
        let ours = measured(|| repeats(&documents));
        print_line(name, size, &ours);
        if size <= number("BENCH_SUFFIX_BYTES", 110_000_000) {
            let theirs = measured(|| suffix_array::repeats(&documents, MIN_LENGTH));
            print_line("    by a suffix array", size, &theirs);
            assert!(ours.rows == theirs.rows, "the rows differ");
        }
    }
}

fn repeats(documents: &[String]) -> Vec<Repeat> {
    let mut corpus = Corpus::new(MIN_LENGTH, usize::MAX).unwrap();
    for document in documents {
        corpus.push(document, 0).unwrap();
    }
    let mut rows = Vec::new();
    corpus.repeats(&mut || (), &mut |row| rows.push(row)).unwrap();
    rows
}

fn measured(work: impl FnOnce() -> Vec<Repeat>) -> Outcome {
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS");
    let start = cpu_time();
    let rows = work();
    let seconds = (cpu_time() - start).as_secs_f64();
    Outcome { rows, seconds, bytes: memory("VmHWM") - before }
}

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// A value of the process's status, in bytes.
fn memory(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

/// The fraction of the text in rows is what a recipe cuts that keeps first occurrences.
fn print_line(name: &str, size: usize, outcome: &Outcome) {
    let mut cut = 0;
    let mut end = (0, 0);
    for row in &outcome.rows {
        let last = row.position + row.length;
        let from = if end.0 == row.document { row.position.max(end.1) } else { row.position };
        cut += last - from;
        end = (row.document, last);
    }
    println!(
        "{name:<28}{:>8.1}{:>9}{:>9.1}{:>12.2}{:>12.2}",
        size as f64 / 1e6,
        outcome.rows.len(),
        100.0 * cut as f64 / size as f64,
        outcome.seconds,
        outcome.bytes as f64 / size as f64,
    );
}

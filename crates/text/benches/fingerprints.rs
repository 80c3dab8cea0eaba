//! Throughput of fingerprints and sketches for English text in documents of about 5 KB. The baseline for
//! ratios is XXH3 of the same bytes.

#![allow(missing_docs, reason = "criterion's macros define undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

mod defaults;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use defaults::MANBER;
use std::fs;
use std::hint::black_box;
use text::features::Scheme;
use text::fingerprint::SimHasher;
use text::html;
use text::passage::recursive::RecursiveShingler;
use text::passage::{passage_sketch, shared_passages};
use text::sketch::heintze::HeintzeParameters;
use text::sketch::manber::{ManberHash, ManberParameters, ManberSketcher};
use text::sketch::minhash::MinHasher;
use text::sketch::winnow::WinnowParameters;
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

/// Text in several scripts, like the pages of an encyclopedia in its languages.
fn mixed_documents(english: &[String]) -> Vec<String> {
    let others = [
        "Быстрая коричневая лиса прыгает через ленивую собаку, а потом возвращается домой. ",
        "La renarde brune et rapide saute par-dessus le chien paresseux, déjà fatigué de l’été. ",
        "敏捷的棕色狐狸跳过了懒狗，然后回到了它在森林里的家。",
        "الثعلب البني السريع يقفز فوق الكلب الكسول ثم يعود إلى بيته. ",
        "รวดเร็วสุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ ",
        "Η γρήγορη καφέ αλεπού πηδά πάνω από το τεμπέλικο σκυλί. ",
    ];
    let mix = |(index, text): (usize, &String)| {
        let mut mixed = String::new();
        for (number, sentence) in text.split_inclusive(". ").enumerate() {
            mixed.push_str(sentence);
            mixed.push_str(others[(index + number) % others.len()]);
        }
        mixed
    };
    english.iter().enumerate().map(mix).collect()
}

/// Web pages with the text of the documents: a head, a script, paragraphs, links and entities.
fn web_pages(documents: &[String]) -> Vec<String> {
    let page = |text: &String| {
        let body =
            text.replace('&', "&amp;").replace('<', "&lt;").replace("\n\n", "</p>\n<p class=\"text\">");
        let body = body.replace(" the ", " <a href=\"https://example.org/the?x=1&amp;y=2\">the</a> ");
        format!(
            "<!doctype html><html><head><title>Text</title><style>p {{ margin: 0 }}</style>\
             <script>let a = 1 < 2;</script></head>\
             <body><nav><ul><li><a href=/>Home</a></ul></nav><p>{body}</p></body></html>"
        )
    };
    documents.iter().map(page).collect()
}

type Group<'a> = criterion::BenchmarkGroup<'a, criterion::measurement::WallTime>;

/// Measures a function of a text over all texts.
fn measure<R>(group: &mut Group<'_>, name: &str, texts: &[String], mut function: impl FnMut(&str) -> R) {
    group.throughput(Throughput::Bytes(texts.iter().map(|text| text.len() as u64).sum()));
    group.bench_function(name, |bench| {
        bench.iter(|| {
            for text in texts {
                black_box(function(text));
            }
        });
    });
}

fn text_throughput(criterion: &mut Criterion) {
    let documents = documents();
    let mut group = criterion.benchmark_group("text");
    measure(&mut group, "xxh3 (baseline)", &documents, |text| xxh3_64(text.as_bytes()));
    let mut hasher = SimHasher::default();
    for name in ["char:4", "char:8", "word:1", "word:3", "doc1", "doc2", "commoncrawl"] {
        let scheme: Scheme = name.parse().unwrap();
        measure(&mut group, &format!("simhash {name}"), &documents, |text| {
            hasher.fingerprint(text, scheme, &mut || ())
        });
    }
    let mixed = mixed_documents(&documents);
    for name in ["doc1", "commoncrawl"] {
        let scheme: Scheme = name.parse().unwrap();
        measure(&mut group, &format!("simhash {name} (mixed scripts)"), &mixed, |text| {
            hasher.fingerprint(text, scheme, &mut || ())
        });
    }
    for (name, parameters) in [
        ("manber_sketch (default)", MANBER),
        ("manber_sketch (modulus 2^32)", ManberParameters { prime: 31, modulus: 1 << 32, ..MANBER }),
        ("manber_sketch (xxh3)", ManberParameters { hash: ManberHash::Xxh3, ..MANBER }),
    ] {
        let sketcher = ManberSketcher::new(parameters).unwrap();
        measure(&mut group, name, &documents, |text| sketcher.sketch(text, &mut || ()).unwrap());
    }
    let winnow = WinnowParameters::new(50, 100).unwrap();
    measure(&mut group, "winnow_sketch", &documents, |text| {
        winnow.sketch(text.as_bytes(), &mut || ()).unwrap()
    });
    for (name, size, texts) in [
        ("heintze_sketch", 100, &documents),
        ("heintze_sketch (mixed scripts)", 100, &mixed),
        ("heintze_sketch (size 1,000)", 1_000, &documents),
    ] {
        let heintze = HeintzeParameters::new(size, 32).unwrap();
        measure(&mut group, name, texts, |text| heintze.sketch(text, &[], &mut || ()).unwrap());
    }
    let word3: Scheme = "word:3".parse().unwrap();
    let mut minhasher = MinHasher::default();
    measure(&mut group, "minhash (128)", &documents, |text| {
        minhasher.bins(text, 128, word3, &mut || ()).unwrap()
    });
    for (name, levels) in
        [("recursive_shingles (levels 1 to 6)", 1..=6), ("recursive_shingles (level 3)", 3..=3)]
    {
        measure(&mut group, name, &documents, |text| {
            let mut shingler = RecursiveShingler::new(levels.clone(), text.len(), &mut || ()).unwrap();
            let mut sum = 0;
            shingler.add(text.bytes().map(u64::from), &mut |shingle| sum ^= shingle.hash);
            sum
        });
    }
    measure(&mut group, "passage_sketch (level 3)", &documents, |text| {
        passage_sketch(text, 3, &mut || ()).unwrap()
    });
    measure(&mut group, "extract_text", &web_pages(&documents), |html| {
        html::extract_text(html, &mut || ()).unwrap()
    });
    let whole = [documents.concat()];
    let other = documents.iter().rev().map(String::as_str).collect::<String>();
    measure(&mut group, "shared_passages (with a shuffled copy)", &whole, |text| {
        shared_passages(&other, text, 50, &mut || ()).unwrap().len()
    });
    group.finish();
}

criterion_group!(benches, text_throughput);
criterion_main!(benches);

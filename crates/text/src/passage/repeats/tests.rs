use super::characters::COUNTED;
use super::*;
use proptest::prelude::*;

type Row = (usize, usize, usize, usize, usize);

fn repeats(documents: &[impl AsRef<str>], min_length: usize) -> Vec<Row> {
    let mut corpus = Corpus::new(min_length, usize::MAX).unwrap();
    for document in documents {
        corpus.push(document.as_ref(), 0).unwrap();
    }
    let mut found = Vec::new();
    corpus
        .repeats(&mut || (), &mut |row| {
            let Repeat { document, position, length, first_document, first_position } = row;
            found.push((document, position, length, first_document, first_position));
        })
        .unwrap();
    found
}

/// The rows by the definition, which compares all windows with all.
fn naive(documents: &[String], min_length: usize) -> Vec<Row> {
    let documents: Vec<Vec<char>> = documents.iter().map(|document| document.chars().collect()).collect();
    let agreement = |d: usize, p: usize, e: usize, q: usize| {
        documents[d][p..].iter().zip(&documents[e][q..]).take_while(|(a, b)| a == b).count()
    };
    let mut rows = Vec::new();
    for (d, document) in documents.iter().enumerate() {
        let mut next = 0;
        while next + min_length <= document.len() {
            let places = (0..=d).flat_map(|e| (0..documents[e].len()).map(move |q| (e, q)));
            let mut before = places.take_while(|&place| place < (d, next));
            let earliest = before.find(|&(e, q)| agreement(d, next, e, q) >= min_length);
            let Some(earliest) = earliest else {
                next += 1;
                continue;
            };
            let near = (1..min_length.min(next + 1))
                .map(|distance| (d, next - distance))
                .find(|&(e, q)| agreement(d, next, e, q) >= min_length);
            let length = |(e, q): (usize, usize)| agreement(d, next, e, q);
            let place = near.filter(|&near| length(near) > length(earliest)).unwrap_or(earliest);
            rows.push((d, next, length(place), place.0, place.1));
            next += length(place) - min_length + 1;
        }
    }
    rows
}

fn documents() -> impl Strategy<Value = Vec<String>> {
    let piece = prop_oneof![
        "[ab]{0,12}",
        "[a-d]{0,30}",
        "[aé日😀]{0,20}",
        ("[ab]{1,3}", 1usize..60).prop_map(|(piece, times)| piece.repeat(times)),
        ("[aé日]{1,3}", 1usize..30).prop_map(|(piece, times)| piece.repeat(times)),
    ];
    let pieces = prop::collection::vec(piece, 1..8);
    let order = prop::collection::vec((0usize..8, 0usize..20), 0..8);
    (pieces, prop::collection::vec(order, 0..8)).prop_map(|(pieces, orders)| {
        let of = |order: Vec<(usize, usize)>| -> String {
            order
                .into_iter()
                .map(|(piece, skip)| pieces[piece % pieces.len()].chars().skip(skip).collect::<String>())
                .collect()
        };
        orders.into_iter().map(of).collect()
    })
}

#[test]
fn rows_of_the_definition() {
    let text = "one two three, four five";
    assert_eq!(repeats(&[text, "", "zero one two three four"], 8), [(2, 5, 13, 0, 0)]);
    assert_eq!(repeats(&["one two three, one two three"], 8), [(0, 15, 13, 0, 0)]);
    assert_eq!(repeats(&["日本語の文章です。", "これも日本語の文章だ"], 4), [(1, 3, 6, 0, 0)]);
    assert_eq!(
        repeats(&["aaaaaaaa", "aaaaaaaaaaaab"], 3),
        [(0, 1, 7, 0, 0), (1, 0, 8, 0, 0), (1, 6, 6, 0, 0)]
    );
    assert_eq!(repeats(&[""; 0], 3), []);
    assert_eq!(repeats(&["", "", "ab", "ab"], 3), []);
    assert!(Corpus::new(0, 1).is_err() && Corpus::new(1 << 17, 1).is_err());
}

/// Each of these would take quadratic time if all equal windows were compared with each other.
#[test]
fn what_repeats_often_takes_no_longer() {
    let million = 1_000_000;
    assert_eq!(repeats(&["a".repeat(million)], 100), [(0, 1, million - 1, 0, 0)]);
    assert_eq!(repeats(&["ab".repeat(million)], 5000), [(0, 2, 2 * million - 2, 0, 0)]);
    let boilerplate = "All rights reserved. No part of this may be copied, not even by those who have written it: ask us first, please.";
    assert_eq!(repeats(&vec![boilerplate; 20_000], 100).len(), 19_999);
    // The repeated piece is shorter than a window, and has other surroundings each time.
    let lines: Vec<String> = (0..20_000)
        .map(|i| format!("{:08x} {} {i:09}", i * 2_654_435_761u64 % (1 << 32), &boilerplate[..80]))
        .collect();
    assert_eq!(repeats(&lines, 95), []);
    assert_eq!(repeats(&[lines.concat(), lines.concat()], 95).len(), 1);
}

/// In these texts, every character or every third character is an anchor. Characters must not be counted
/// again for each anchor.
#[test]
fn characters_of_a_periodic_run_are_counted_once() {
    for piece in ["x", "é", "xy日"] {
        let text = piece.repeat(100_000);
        let mut corpus = Corpus::new(1 << 14, usize::MAX).unwrap();
        corpus.push(&text, 0).unwrap();
        COUNTED.set(0);
        anchors::find(&corpus, &mut MemoryBudget::new(usize::MAX), &mut || ()).unwrap();
        assert!(COUNTED.get() < 10 * text.len(), "{} bytes of {}", COUNTED.get(), text.len());
    }
}

#[test]
fn memory_has_a_limit_and_work_a_pulse() {
    let text: String = (0..100_000u64).map(|i| format!("{:x}", i * i)).collect();
    let of = |max_memory: usize, heartbeat: &mut dyn Heartbeat| {
        let mut corpus = Corpus::new(100, max_memory)?;
        corpus.push(&text, 0)?;
        corpus.push(&text, 0)?;
        let mut rows = 0;
        corpus.repeats(heartbeat, &mut |_| rows += 1)?;
        Ok::<usize, Problem>(rows)
    };
    let mut beats = 0;
    assert_eq!(of(6 * text.len(), &mut || beats += 1).unwrap(), 1);
    assert!(beats > text.len() / 5000, "{beats} heartbeats");
    for memory in [0, text.len(), 5 * text.len() / 2, 3 * text.len()] {
        let problem = of(memory, &mut || ()).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::TooLarge, "{memory}: {problem:?}");
    }
    let mut corpus = Corpus::new(100, 1000).unwrap();
    assert_eq!(corpus.push("", 1001).unwrap_err().kind, ProblemKind::TooLarge);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(1000)))]

    #[test]
    fn rows_are_those_of_the_definition(documents in documents(), min_length in 1usize..24) {
        prop_assert_eq!(repeats(&documents, min_length), naive(&documents, min_length));
    }
}

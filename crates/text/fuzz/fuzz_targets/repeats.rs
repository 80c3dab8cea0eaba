//! The repeats of a corpus are those of the definition in `text::passage::repeats`, and a headline contains
//! the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use text::passage::headline::{HeadlineOptions, headline};
use text::passage::repeats::{Corpus, Repeat};

type Documents = Vec<Vec<char>>;

/// The number of equal characters of two documents from two places on.
fn agreement(documents: &Documents, (d, p): (usize, usize), (e, q): (usize, usize)) -> usize {
    documents[d][p..].iter().zip(&documents[e][q..]).take_while(|(a, b)| a == b).count()
}

/// The rows by the definition, which compares all windows with all.
fn naive(documents: &Documents, min_length: usize) -> Vec<Repeat> {
    let mut rows = Vec::new();
    for (d, document) in documents.iter().enumerate() {
        let mut next = 0;
        while next + min_length <= document.len() {
            let length = |place| agreement(documents, (d, next), place);
            let places = (0..=d).flat_map(|e| (0..documents[e].len()).map(move |q| (e, q)));
            let mut before = places.take_while(|&place| place < (d, next));
            let Some(earliest) = before.find(|&place| length(place) >= min_length) else {
                next += 1;
                continue;
            };
            let mut near = (1..min_length.min(next + 1)).map(|distance| (d, next - distance));
            let near = near.find(|&place| length(place) >= min_length);
            let place = near.filter(|&near| length(near) > length(earliest)).unwrap_or(earliest);
            let (length, (first_document, first_position)) = (length(place), place);
            rows.push(Repeat { document: d, position: next, length, first_document, first_position });
            next += length - min_length + 1;
        }
    }
    rows
}

fuzz_target!(|input: (u8, Vec<&str>)| {
    let min_length = usize::from(input.0 % 40) + 1;
    let documents = input.1;
    let mut corpus = Corpus::new(min_length, usize::MAX).unwrap();
    for document in &documents {
        corpus.push(document, 0).unwrap();
    }
    let mut rows = Vec::new();
    corpus.repeats(&mut || (), &mut |row| rows.push(row)).unwrap();
    let characters: Documents = documents.iter().map(|document| document.chars().collect()).collect();
    assert_eq!(rows, naive(&characters, min_length));
    if let [options, text, other, ..] = documents[..] {
        _ = HeadlineOptions::parse(options);
        let plain = HeadlineOptions::parse("StartSel=\"\", StopSel=\"\"").unwrap();
        assert_eq!(headline(text, other, min_length, &plain, &mut || ()).unwrap(), text);
    }
});

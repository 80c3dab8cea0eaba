//! Repeated passages by a suffix array and its longest common prefixes, made by libsais.

use libsais::SuffixArrayConstruction;
use std::ops::Range;
use text::passage::repeats::Repeat;

/// Written after each document. Windows that contain it do not count.
const SEPARATOR: u8 = 0;

/// The rows of documents in ASCII.
pub fn repeats(documents: &[String], min_length: usize) -> Vec<Repeat> {
    let mut text = Vec::new();
    let mut bounds = Vec::new();
    for document in documents {
        assert!(document.is_ascii(), "positions are counted in bytes");
        let start = text.len();
        text.extend(document.bytes());
        bounds.push(start..text.len());
        text.push(SEPARATOR);
    }
    let places = earliest_places(&text, min_length);
    let mut rows = Vec::new();
    for (number, document) in bounds.iter().enumerate() {
        let mut next = document.start;
        while next + min_length <= document.end {
            let earliest = places[next] as usize;
            if earliest >= next {
                next += 1;
                continue;
            }
            let (place, length) = row(&text, &bounds, document, next, earliest, min_length);
            let first_document = bounds.partition_point(|bounds| bounds.start <= place) - 1;
            rows.push(Repeat {
                document: number,
                position: next - document.start,
                length,
                first_document,
                first_position: place - bounds[first_document].start,
            });
            next += length - min_length + 1;
        }
    }
    rows
}

/// For each window, the earliest place of an equal window; its own place if there is none. The result
/// overwrites the longest common prefixes, which are not needed any more at places that are known.
fn earliest_places(text: &[u8], min_length: usize) -> Vec<i32> {
    let array = SuffixArrayConstruction::for_text(text).in_owned_buffer32().single_threaded().run().unwrap();
    let array = array.plcp_construction().single_threaded().run().unwrap();
    let (suffixes, mut prefixes, _) = array.into_parts();
    let mut first = 0;
    for end in 1..=suffixes.len() {
        if end < suffixes.len() && prefixes[suffixes[end] as usize] >= min_length as i32 {
            continue;
        }
        let equal = &suffixes[first..end];
        let least = *equal.iter().min().unwrap();
        equal.iter().for_each(|&suffix| prefixes[suffix as usize] = least);
        first = end;
    }
    prefixes
}

/// The place of the row that begins with this window, and the row's length.
fn row(
    text: &[u8],
    bounds: &[Range<usize>],
    document: &Range<usize>,
    window: usize,
    earliest: usize,
    min_length: usize,
) -> (usize, usize) {
    let agreement = |place: usize| {
        let end = bounds[bounds.partition_point(|bounds| bounds.start <= place) - 1].end;
        text[window..document.end].iter().zip(&text[place..end]).take_while(|(a, b)| a == b).count()
    };
    let piece = &text[window..window + min_length];
    let near = (document.start.max((window + 1).saturating_sub(min_length))..window)
        .rev()
        .find(|&near| &text[near..near + min_length] == piece);
    let length = agreement(earliest);
    match near.map(|near| (near, agreement(near))) {
        Some((near, longer)) if longer > length => (near, longer),
        _ => (earliest, length),
    }
}

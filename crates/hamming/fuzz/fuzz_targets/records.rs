//! The rows that a near join writes to files are read as they were, however the file is cut into blocks, and any words are
//! read as rows that lie one behind the other, without a panic.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use record::{Record, RecordFormat, RecordNumber};

#[expect(dead_code, reason = "the module belongs to another crate")]
#[path = "../../../../src/exec/rows/record.rs"]
mod record;

#[derive(Arbitrary, Debug)]
struct File {
    codes: u8,
    fixed: Option<u8>,
    numbered: bool,
    /// For each row its number, whether it has codes, and the words of its columns, if their number is not fixed.
    rows: Vec<(u32, bool, u8)>,
    /// The number of words that are read at a time.
    block: u8,
    /// Words that are written over those of the file.
    damages: Vec<(u16, u64)>,
}

/// As `RowFile::read_block` and its caller do. Returns the rows, and the words at the end that are no row.
fn read(format: RecordFormat, words: &[u64], block: usize) -> (Vec<(u64, Vec<u64>, Vec<u64>)>, Vec<u64>) {
    let mut rows = Vec::new();
    let mut buffer = Vec::new();
    for block in words.chunks(block) {
        buffer.extend_from_slice(block);
        let mut rest = &buffer[..];
        while let Some((record, after)) = format.split(rest) {
            let Record { number: RecordNumber(number), codes, columns, words } = record;
            assert_eq!([words, after].concat(), rest);
            assert!(words.ends_with(&[codes, columns].concat()) && codes.len() <= format.codes);
            rows.push((number, codes.to_vec(), columns.to_vec()));
            if words.is_empty() {
                return (rows, after.to_vec());
            }
            rest = after;
        }
        buffer = rest.to_vec();
    }
    (rows, buffer)
}

fuzz_target!(|file: File| {
    let codes = usize::from(file.codes % 5);
    let fixed = file.fixed.map(|columns| 1 + usize::from(columns % 9));
    let format = RecordFormat { codes, columns: fixed, numbered: file.numbered };
    let mut words = Vec::new();
    let mut rows = Vec::new();
    for (place, &(number, is_coded, columns)) in (0u64..).zip(&file.rows) {
        let (number, is_coded) = if file.numbered { (number.into(), is_coded) } else { (0, true) };
        let codes = vec![place; if is_coded { codes } else { 0 }];
        let columns = vec![!place; fixed.unwrap_or(columns.into())];
        words.extend(file.numbered.then(|| RecordFormat::head(RecordNumber(number), is_coded)));
        words.extend(fixed.is_none().then_some(columns.len() as u64));
        words.extend([&codes[..], &columns].concat());
        rows.push((number, codes, columns));
    }
    let block = usize::from(file.block) + 1;
    assert_eq!(read(format, &words, block), (rows, Vec::new()));
    for &(place, damage) in &file.damages {
        if let Some(word) = words.get_mut(usize::from(place)) {
            *word = damage;
        }
    }
    read(format, &words, block);
});

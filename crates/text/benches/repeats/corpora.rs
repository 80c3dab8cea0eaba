//! Corpora of English text, and corpora in which nearly everything is repeated.

use std::collections::HashMap;
use std::path::Path;
use std::{env, fs};
use text::html;

const DOCUMENT_BYTES: u64 = 10_000;
const BOILERPLATE: &str = "All rights reserved. No part of this may be copied, by whatever means, without the consent \
    of those who have written it; for that ask the address below, and be patient, for it may take us a while. ";

type Documents = Box<dyn FnOnce() -> Vec<String>>;

/// The corpora by name. Each has about this number of bytes.
pub fn all(bytes: usize) -> Vec<(&'static str, Documents)> {
    let half = move || of_size(&mut English::new(), bytes / 2, |english, _| english.document()).concat();
    vec![
        ("English", Box::new(move || english(bytes))),
        ("files of this machine", Box::new(move || files(bytes))),
        ("two equal halves", Box::new(move || vec![half(); 2])),
        ("one boilerplate", Box::new(move || vec![BOILERPLATE.to_owned(); bytes / BOILERPLATE.len()])),
        (
            "lines with a boilerplate",
            Box::new(move || {
                let line = |random: &mut English, _: &[String]| {
                    format!("{:016x} {} {:016x}\n", random.next(), &BOILERPLATE[..80], random.next())
                };
                of_size(&mut English::new(), bytes, line)
            }),
        ),
        ("aaaa", Box::new(move || vec!["a".repeat(bytes)])),
        ("abab", Box::new(move || vec!["ab".repeat(bytes / 2)])),
    ]
}

/// Documents. Every fifth quotes another one: all of it, a half, or a paragraph.
fn english(bytes: usize) -> Vec<String> {
    of_size(&mut English::new(), bytes, |english, documents| {
        let own = english.document();
        if documents.is_empty() || english.next() % 5 > 0 {
            return own;
        }
        let other = &documents[english.next() as usize % documents.len()];
        let from = english.next() as usize % (other.len() / 2);
        let length = (other.len() / 2) >> (english.next() % 6);
        format!("{}{}{own}", &own[..own.len() / 3], &other[from..from + length])
    })
}

fn of_size(
    english: &mut English,
    bytes: usize,
    mut document: impl FnMut(&mut English, &[String]) -> String,
) -> Vec<String> {
    let mut documents = Vec::new();
    let mut size = 0;
    while size < bytes {
        let document = document(english, &documents);
        size += document.len();
        documents.push(document);
    }
    documents
}

/// The files in the list `BENCH_FILES` that are ASCII.
fn files(bytes: usize) -> Vec<String> {
    let Ok(list) = env::var("BENCH_FILES") else { return Vec::new() };
    let mut documents = Vec::new();
    let mut size = 0;
    for path in fs::read_to_string(list).unwrap().lines() {
        let text = fs::read_to_string(path).unwrap_or_default();
        if text.is_ascii() && size + text.len() <= bytes {
            size += text.len();
            documents.push(text);
        }
    }
    documents
}

/// Makes text of the words of English pages. Each word is followed by a word that follows it in a page.
struct English {
    words: Vec<String>,
    followers: HashMap<String, Vec<u32>>,
    state: u64,
}

impl English {
    fn new() -> Self {
        let mut texts = Vec::new();
        read(Path::new(&env::var("BENCH_TEXTS").unwrap()).join("English").as_path(), &mut texts);
        let words: Vec<String> =
            texts.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect();
        let mut followers: HashMap<String, Vec<u32>> = HashMap::new();
        for (number, pair) in words.windows(2).enumerate() {
            followers.entry(pair[0].clone()).or_default().push(number as u32 + 1);
        }
        Self { words, followers, state: 1 }
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }

    fn document(&mut self) -> String {
        let length = 1000 + (self.next() % (2 * DOCUMENT_BYTES)) as usize;
        let mut text = String::new();
        let mut word = self.next() as usize % self.words.len();
        while text.len() < length {
            text.push_str(&self.words[word]);
            text.push(' ');
            let random = self.next() as usize;
            word = match self.followers.get(&self.words[word]) {
                // Sometimes any word follows, so that phrases of the pages are not repeated.
                Some(next) if !random.is_multiple_of(8) => next[random / 8 % next.len()] as usize,
                _ => random % self.words.len(),
            };
        }
        text
    }
}

/// The text of all pages below the folder that are ASCII.
fn read(path: &Path, texts: &mut Vec<String>) {
    if path.is_file() {
        let page = fs::read_to_string(path).unwrap_or_default();
        let mut text = html::extract_text(&page, &mut || ()).unwrap();
        text.retain(|c| c.is_ascii());
        texts.push(text);
        return;
    }
    let mut paths: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().for_each(|path| read(path, texts));
}

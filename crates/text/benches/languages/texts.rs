//! Documents of about 5 KB in many languages, from web pages and message catalogues.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use text::html;

const DOCUMENT_BYTES: usize = 5_000;

/// The number of documents per language, if there is enough text.
const DOCUMENTS: usize = 100;

/// The folder of the language from which the others are translated.
const ORIGINAL: &str = "English";

pub struct Language {
    pub name: String,
    pub documents: Vec<String>,
}

/// The languages that have a folder, and texts made from them: English without characters beyond ASCII,
/// English with typographic quotes, and documents in all languages.
pub fn languages(folder: &Path) -> Vec<Language> {
    let original = lines(&folder.join(ORIGINAL), &HashSet::new());
    let untranslated: HashSet<String> = original.iter().cloned().collect();
    let mut languages = vec![(ORIGINAL.to_owned(), original)];
    for path in entries(folder).into_iter().filter(|path| !path.ends_with(ORIGINAL) && path.is_dir()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        languages.push((name, lines(&path, &untranslated)));
    }
    let original = &languages[0].1;
    let ascii = original.iter().filter(|line| line.is_ascii()).cloned().collect();
    let typographic = original.iter().map(|line| typographic(line)).collect();
    let mixed = mixed(&languages);
    languages.insert(0, ("English, ASCII".to_owned(), ascii));
    languages.insert(2, ("English, typographic".to_owned(), typographic));
    languages.push(("all, line by line".to_owned(), mixed));
    languages.into_iter().map(|(name, lines)| Language { name, documents: documents(&lines) }).collect()
}

/// The files and folders in a folder, ordered by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("no texts in {}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

/// The lines of all files below the folder. Repeated lines, such as the headings of all pages, are dropped,
/// and so are lines that are not translated.
fn lines(folder: &Path, untranslated: &HashSet<String>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut seen = HashSet::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(path) = rest.pop() {
        if path.is_dir() {
            rest.extend(entries(&path).into_iter().rev());
            continue;
        }
        let file = fs::read(&path).unwrap();
        let text = match path.extension().and_then(|extension| extension.to_str()) {
            Some("html") => html::extract_text(&String::from_utf8_lossy(&file), &mut || ()).unwrap(),
            Some("mo") => messages(&file),
            _ => continue,
        };
        let of_text = text.lines().map(|line| line.trim().to_owned());
        lines.extend(of_text.filter(|line| !untranslated.contains(line) && seen.insert(line.clone())));
    }
    lines
}

/// The translated messages of a catalogue in the format of GNU gettext, described in "The Format of GNU MO
/// Files". Numbers have 32 bits. The third is the number of messages, and the fifth the place of a table with
/// the length and the place of each translation.
fn messages(catalogue: &[u8]) -> String {
    let number = |place: usize| u32::from_le_bytes(catalogue[place..place + 4].try_into().unwrap()) as usize;
    assert_eq!(number(0), 0x9504_12de, "not a catalogue of a little-endian machine");
    let count = number(8);
    let table = number(16);
    let mut text = String::new();
    // The first message is the header.
    for entry in (1..count).map(|message| table + 8 * message) {
        let length = number(entry);
        let place = number(entry + 4);
        // Plural forms are separated by a zero byte. These marks precede the letter of a shortcut.
        text += &String::from_utf8_lossy(&catalogue[place..place + length])
            .replace('\0', "\n")
            .replace(['~', '_'], "");
        text.push('\n');
    }
    text
}

/// Replaces straight quotes, apostrophes and hyphens by typographic ones.
fn typographic(line: &str) -> String {
    let mut set = String::new();
    let mut before = ' ';
    for character in line.chars() {
        let opens = !before.is_alphanumeric();
        set.push(match character {
            '"' if opens => '“',
            '"' => '”',
            '\'' if opens => '‘',
            '\'' => '’',
            '-' if before == ' ' => '–',
            other => other,
        });
        before = character;
    }
    set
}

/// Lines of all languages in turn, until one of them has no more.
fn mixed(languages: &[(String, Vec<String>)]) -> Vec<String> {
    let turns = languages.iter().map(|(_, lines)| lines.len()).min().unwrap_or(0);
    (0..turns).flat_map(|turn| languages.iter().map(move |(_, lines)| lines[turn].clone())).collect()
}

/// Joins lines to documents of sufficient length. The rest at the end is dropped.
fn documents(lines: &[String]) -> Vec<String> {
    let mut documents = Vec::new();
    let mut document = String::new();
    for line in lines {
        document += line;
        document.push('\n');
        if document.len() >= DOCUMENT_BYTES {
            documents.push(std::mem::take(&mut document));
        }
    }
    documents.truncate(DOCUMENTS);
    documents
}

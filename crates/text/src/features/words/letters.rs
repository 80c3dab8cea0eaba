//! The letters of a text, for a sketch that looks at nothing else.

use super::normal::{is_letter, normalize};
use super::runs::{LETTER, NOT_ASCII, next_run};
use super::{BUFFERED, Keep};
use limits::{Heartbeat, OutOfMemory};

/// Appends the letters of the text in UTF-8, normalized and in lower case.
pub(crate) fn add_letters(
    text: &str,
    letters: &mut Vec<u8>,
    heartbeat: &mut dyn Heartbeat,
) -> Result<(), OutOfMemory> {
    let mut rest = text;
    let mut passed = 0;
    while let Some(run) = next_run(rest) {
        // Normalization makes at most 18 characters of one.
        let most = if run.has(NOT_ASCII) { 18 * run.text.len() } else { run.text.len() };
        letters.try_reserve(most).map_err(|_| OutOfMemory(letters.len() + most))?;
        if run.has(NOT_ASCII) {
            let mut utf8 = [0; 4];
            for letter in normalize(run.text, Keep::All).filter(|&c| is_letter(c)) {
                letters.extend_from_slice(letter.encode_utf8(&mut utf8).as_bytes());
            }
        } else if run.classes == LETTER {
            letters.extend_from_slice(run.text.as_bytes());
        } else {
            letters.extend(run.text.bytes().filter(u8::is_ascii_alphabetic));
        }
        rest = run.after;
        passed += run.text.len();
        if passed >= BUFFERED {
            passed = 0;
            heartbeat.beat();
        }
    }
    letters.make_ascii_lowercase();
    Ok(())
}

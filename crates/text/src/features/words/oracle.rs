//! The words of a text by the Unicode crates alone. Tests and fuzzers compare the fast ways with them.

use super::runs::next_run;
use super::{Keep, Words, addresses};
use base::OutOfMemory;

impl Words {
    /// Adds all words of the text in the way that fingerprints use.
    pub(super) fn add_all(&mut self, text: &str, keep: Keep) -> Result<(), OutOfMemory> {
        let mut rest = text;
        while !rest.is_empty() {
            rest = self.add_next(rest, keep)?;
        }
        Ok(())
    }

    /// Adds all words of the text by the definition.
    pub(super) fn add_all_by_definition(&mut self, text: &str, keep: Keep) {
        let mut rest = text;
        while let Some((run, after)) = next_run(rest) {
            let skipped = keep == Keep::Prose
                && addresses::skip_addresses(run, |part| self.add_unicode_run(part, keep));
            if !skipped {
                self.add_unicode_run(run, keep);
            }
            rest = after;
        }
    }
}

/// The words of `doc1` or `word:k`, each followed by a blank: in the fast way, and by the definition.
pub fn words_in_both_ways(text: &str, prose: bool) -> Result<[String; 2], OutOfMemory> {
    let keep = if prose { Keep::Prose } else { Keep::All };
    let [mut found, mut defined] = [Words::default(), Words::default()];
    found.add_all(text, keep)?;
    defined.add_all_by_definition(text, keep);
    Ok([found, defined].map(|words| String::from_utf8_lossy(&words.text).into_owned()))
}

//! Collects the text of a document from its tokens.

use super::elements::{BLOCKS, CELLS, ENDED_BY_BLOCKS, FOREIGN, SKIPPED};
use super::reader::Beat;
use base::{OutOfMemory, grow_text, pieces};
use html5gum::emitters::callback::CallbackEvent;
use html5gum::{State, naive_next_state};

/// How many bytes of text are added between two heartbeats.
const PIECE: usize = 1 << 20;

/// The gap between the text so far and the next piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    Nothing,
    Blank,
    Line,
}

/// An element whose content is skipped.
struct Skipping {
    name: Vec<u8>,
    /// The number of open elements with this name. The content ends with the last of them.
    depth: usize,
    ends_at_block: bool,
}

/// Collects text from tokens.
#[derive(Default)]
pub(super) struct Extractor {
    text: String,
    gap: Gap,
    skipping: Option<Skipping>,
    /// The name of the start tag that is being read.
    opening: Vec<u8>,
    /// The number of open `svg` and `math` elements. Inside of them, `/>` closes any element.
    foreign: usize,
    /// The number of open `pre` elements.
    preformatted: usize,
    failure: Option<OutOfMemory>,
}

impl Extractor {
    pub(super) fn into_text(self) -> Result<String, OutOfMemory> {
        self.failure.map_or(Ok(self.text), Err)
    }

    /// Takes a token. If the content of an element is not markup, returns the state in which the tokenizer
    /// must read it.
    pub(super) fn take(&mut self, event: CallbackEvent<'_>, beat: &Beat<'_, '_>) -> Option<State> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.opening.clear();
                self.opening.extend_from_slice(name);
                self.open(name);
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                if self.foreign == 0 {
                    return naive_next_state(&self.opening);
                }
                if self_closing {
                    let name = std::mem::take(&mut self.opening);
                    self.close(&name);
                }
            }
            CallbackEvent::EndTag { name } => self.close(name),
            CallbackEvent::String { value } if self.skipping.is_none() => {
                for piece in pieces(&String::from_utf8_lossy(value), PIECE) {
                    beat.borrow_mut().beat();
                    self.add(piece);
                }
            }
            _ => (),
        }
        None
    }

    fn open(&mut self, name: &[u8]) {
        let is_block = BLOCKS.contains(&name);
        if is_block {
            // In browsers, too, a block ends the other language.
            self.foreign = 0;
        } else if FOREIGN.contains(&name) {
            self.foreign += 1;
        }
        match &mut self.skipping {
            Some(skipping) if skipping.name == name => return skipping.depth += 1,
            Some(skipping) if !(skipping.ends_at_block && is_block) => return,
            _ => self.skipping = None,
        }
        let ends_at_block = ENDED_BY_BLOCKS.contains(&name);
        if ends_at_block || SKIPPED.contains(&name) {
            // Bounded: the name of a skipped element.
            self.skipping = Some(Skipping { name: name.to_vec(), depth: 1, ends_at_block });
        }
        self.set_apart(name, is_block);
        if name == b"pre" {
            self.preformatted += 1;
        }
    }

    fn close(&mut self, name: &[u8]) {
        if FOREIGN.contains(&name) {
            self.foreign = self.foreign.saturating_sub(1);
        }
        if let Some(skipping) = &mut self.skipping {
            if skipping.name == name {
                skipping.depth -= 1;
                if skipping.depth == 0 {
                    self.skipping = None;
                }
            }
            return;
        }
        self.set_apart(name, BLOCKS.contains(&name));
        if name == b"pre" {
            self.preformatted = self.preformatted.saturating_sub(1);
        }
    }

    fn set_apart(&mut self, name: &[u8], is_block: bool) {
        if is_block {
            self.gap = Gap::Line;
        } else if CELLS.contains(&name) {
            self.gap = self.gap.max(Gap::Blank);
        }
    }

    fn add(&mut self, text: &str) {
        if let Err(refusal) = grow_text(&mut self.text, text.len() + 1) {
            self.failure = Some(refusal);
        }
        if self.failure.is_some() {
            return;
        }
        if self.preformatted > 0 {
            self.fill_gap();
            self.text.push_str(text);
            return;
        }
        if text.starts_with(is_space) {
            self.gap = self.gap.max(Gap::Blank);
        }
        for word in text.split_ascii_whitespace() {
            self.fill_gap();
            self.text.push_str(word);
            self.gap = Gap::Blank;
        }
        if !text.ends_with(is_space) && !text.is_empty() {
            self.gap = Gap::Nothing;
        }
    }

    fn fill_gap(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        if !self.text.is_empty() {
            match gap {
                Gap::Nothing => (),
                Gap::Blank => self.text.push(' '),
                Gap::Line => self.text.push('\n'),
            }
        }
    }
}

/// Whether HTML folds the character as white space, as [`str::split_ascii_whitespace`] does.
fn is_space(c: char) -> bool {
    c.is_ascii_whitespace()
}

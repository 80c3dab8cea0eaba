//! The text of an HTML document, as a reader sees it: without markup, scripts, styles and metadata.
//!
//! The document is cut into tokens as the WHATWG says, entities decoded and malformed markup survived; there is no tree, so
//! that nesting costs nothing. Captions, tables, quotations and lists stay. Blocks begin a new line, cells of a table
//! are set apart by a blank, and white space is folded as browsers do, except in `pre`. Linear time; memory for the
//! longest piece of text and for the result.

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Reader, Span, State, Tokenizer, naive_next_state};
use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt;

/// The longest document, in bytes.
pub const MAX_BYTES: usize = 256 << 20;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 14;
/// Bytes of text that are added between two calls of the heartbeat.
const PIECE: usize = 1 << 20;
/// Reads between two calls of the heartbeat.
const STRIDE: usize = 1 << 12;

/// Elements whose content is not for readers, and whether a block inside of them means that they were left open.
const SKIPPED: [(&[u8], bool); 12] = [
    (b"script", false),
    (b"style", false),
    (b"title", false),
    (b"template", false),
    (b"noscript", false),
    (b"iframe", false),
    (b"noembed", false),
    (b"noframes", false),
    (b"textarea", false),
    (b"select", true),
    (b"datalist", true),
    (b"svg", true),
];

/// Elements that begin and end a line.
const BLOCKS: [&[u8]; 52] = [
    b"address",
    b"article",
    b"aside",
    b"blockquote",
    b"body",
    b"br",
    b"caption",
    b"center",
    b"dd",
    b"details",
    b"dialog",
    b"dir",
    b"div",
    b"dl",
    b"dt",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"footer",
    b"form",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"header",
    b"hgroup",
    b"hr",
    b"html",
    b"legend",
    b"li",
    b"listing",
    b"main",
    b"menu",
    b"nav",
    b"ol",
    b"p",
    b"plaintext",
    b"pre",
    b"search",
    b"section",
    b"summary",
    b"table",
    b"tbody",
    b"tfoot",
    b"thead",
    b"tr",
    b"ul",
    b"xmp",
    b"frameset",
    b"marquee",
];

/// Elements whose content is in another language than HTML.
const FOREIGN: [&[u8]; 2] = [b"svg", b"math"];

/// Cells of a table.
const CELLS: [&[u8]; 2] = [b"td", b"th"];

/// Why there is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HtmlError {
    /// The document has so many bytes.
    TooLong(usize),
    /// There is no memory for so many bytes.
    OutOfMemory(usize),
}

impl fmt::Display for HtmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(bytes) => write!(f, "document of {bytes} bytes is longer than {MAX_BYTES}"),
            Self::OutOfMemory(bytes) => write!(f, "no memory for {bytes} bytes"),
        }
    }
}

impl std::error::Error for HtmlError {}

/// The text of the document.
///
/// `heartbeat` is called every few hundred microseconds; it may unwind to stop the work.
pub fn extract_text(html: &str, heartbeat: &mut dyn FnMut()) -> Result<String, HtmlError> {
    if html.len() > MAX_BYTES {
        return Err(HtmlError::TooLong(html.len()));
    }
    let beat = RefCell::new(heartbeat);
    let mut extractor = Extractor::default();
    let on_event = |event: CallbackEvent<'_>, _: Span<()>| extractor.take(event, &beat);
    let reader = Paced { rest: html.as_bytes(), reads: 0, beat: &beat };
    let mut tokenizer = Tokenizer::new_with_emitter(reader, CallbackEmitter::new(on_event));
    // The state in which the content of an element is read becomes known when its tag is complete.
    while let Some(Ok(state)) = tokenizer.next() {
        tokenizer.set_state(state);
    }
    drop(tokenizer);
    match extractor.failed_at {
        None => Ok(extractor.text),
        Some(bytes) => Err(HtmlError::OutOfMemory(bytes)),
    }
}

/// The heartbeat, for what reads and for what writes.
type Beat<'a, 'b> = RefCell<&'a mut (dyn FnMut() + 'b)>;

/// Calls the heartbeat while the document is read.
struct Paced<'a, 'b, 'c> {
    rest: &'a [u8],
    reads: usize,
    beat: &'a Beat<'b, 'c>,
}

impl Paced<'_, '_, '_> {
    fn count(&mut self) {
        self.reads += 1;
        if self.reads.is_multiple_of(STRIDE) {
            (self.beat.borrow_mut())();
        }
    }
}

impl Reader for Paced<'_, '_, '_> {
    type Error = Infallible;

    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        self.count();
        Ok(self.rest.split_off_first().copied())
    }

    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Infallible> {
        self.count();
        let is_next = self
            .rest
            .get(..text.len())
            .is_some_and(|next| if case_sensitive { next == text } else { next.eq_ignore_ascii_case(text) });
        if is_next {
            self.rest = &self.rest[text.len()..];
        }
        Ok(is_next)
    }

    /// Returns the bytes before one that is looked for, or that one.
    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        _: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Infallible> {
        self.count();
        if self.rest.is_empty() {
            return Ok(None);
        }
        let chunk = &self.rest[..self.rest.len().min(CHUNK)];
        let found = chunk.iter().position(|byte| needle.contains(byte));
        let (read, rest) = self.rest.split_at(found.unwrap_or(chunk.len()).max(1));
        self.rest = rest;
        Ok(Some(read))
    }
}

/// What stands between two pieces of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    Nothing,
    Blank,
    Line,
}

/// An element whose content is left out.
struct Skipping {
    name: Vec<u8>,
    /// Elements of this name that are open.
    depth: usize,
    ends_at_block: bool,
}

/// Collects text from tokens.
#[derive(Default)]
struct Extractor {
    text: String,
    gap: Gap,
    skipping: Option<Skipping>,
    /// The name of the start tag that is being read.
    opening: Vec<u8>,
    /// Open elements of other languages, `svg` and `math`: in these, `/>` closes any element.
    foreign: usize,
    /// Open `pre` elements.
    preformatted: usize,
    /// The size for which there was no memory.
    failed_at: Option<usize>,
}

impl Extractor {
    /// Returns the state in which the content of an element is to be read, if that is no markup.
    fn take(&mut self, event: CallbackEvent<'_>, beat: &Beat<'_, '_>) -> Option<State> {
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
                let text = String::from_utf8_lossy(value);
                let mut rest = &*text;
                while !rest.is_empty() {
                    (beat.borrow_mut())();
                    let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
                    self.add(piece);
                    rest = after;
                }
            }
            _ => (),
        }
        None
    }

    fn open(&mut self, name: &[u8]) {
        let is_block = BLOCKS.contains(&name);
        if is_block {
            // As browsers do, which take it that the other language has ended.
            self.foreign = 0;
        } else if FOREIGN.contains(&name) {
            self.foreign += 1;
        }
        match &mut self.skipping {
            Some(skipping) if skipping.name == name => return skipping.depth += 1,
            Some(skipping) if !(skipping.ends_at_block && is_block) => return,
            _ => self.skipping = None,
        }
        if let Some(&(_, ends_at_block)) = SKIPPED.iter().find(|(skipped, _)| *skipped == name) {
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
        if self.text.try_reserve(text.len() + 1).is_err() {
            self.failed_at = Some(self.text.len() + text.len() + 1);
        }
        if self.failed_at.is_some() {
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
        for word in text.split(is_space).filter(|word| !word.is_empty()) {
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

/// White space that HTML folds.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text_of(html: &str) -> String {
        extract_text(html, &mut || ()).unwrap()
    }

    #[test]
    fn what_readers_see_is_kept() {
        for (html, text) in [
            ("", ""),
            ("plain  text\n here", "plain text here"),
            ("<p>One<p>Two</p>Three", "One\nTwo\nThree"),
            ("<b>bo</b>ld <i> and</i>\n<u>so</u> on", "bold and so on"),
            ("<head><title>T</title><style>p{}</style><meta name=a content=b></head><body>x", "x"),
            ("a<script>if (a<b) document.write('</p>x')</script>b<!-- c -->d", "abd"),
            ("<script>x</scripty></script>y<SCRIPT>z</SCRIPT >w", "yw"),
            ("<table><caption>C</caption><tr><td>1<td>2<tr><th>3</th><th>4</table>", "C\n1 2\n3 4"),
            (
                "<figure><img alt=no><figcaption>Fig. 1</figcaption></figure><blockquote>q</blockquote>",
                "Fig. 1\nq",
            ),
            ("<ol><li>Knuth 1973<li>Manber 1994</ol>", "Knuth 1973\nManber 1994"),
            ("AT&amp;T &lt;x&gt; &eacute;&#233;&#xE9; &nope; &amp &#128;", "AT&T <x> ééé &nope; & €"),
            ("&#xD800;&#0;&#x110000;", "\u{fffd}\u{fffd}\u{fffd}"),
            ("<pre>a  b\n  c</pre> d", "a  b\n  c\nd"),
            ("line<br>break<br/>twice", "line\nbreak\ntwice"),
            (
                "<textarea>no</textarea><select><option>no</select><svg><title>no</title><text>no</text></svg>yes",
                "yes",
            ),
            ("<svg/>yes<template><template>no</template>no</template>yes", "yesyes"),
            ("<svg><path><div>left open</div>", "left open"),
            ("<svg><title/></svg><p>visible", "visible"),
            ("<svg><style/><script href=x /></svg>a<math><style/><mi>x</mi></math>z", "axz"),
            ("<svg><title>no</title></svg><title>no</title>yes", "yes"),
            ("<select><option>no<p>left open", "left open"),
            ("a < b > c <3 </ d> e<", "a < b > c <3 e<"),
            ("<p title=\"</p>x\">y</p><a href='>'>z", "y\nz"),
            ("x<![CDATA[no]]>y<?php no ?>z<!doctype html>", "xyz"),
            ("<title>never closed <p>no", ""),
            ("日本<b>語</b>\u{a0}の", "日本語\u{a0}の"),
        ] {
            assert_eq!(text_of(html), text, "{html}");
        }
    }

    #[test]
    fn bombs_do_no_harm() {
        let depth = 200_000;
        let nested = format!("{}x{}", "<div>".repeat(depth), "</div>".repeat(depth));
        assert_eq!(text_of(&nested), "x");
        assert_eq!(text_of(&"<template>".repeat(depth)), "");
        assert_eq!(text_of(&format!("<a {}>x", "b=c ".repeat(depth))), "x");
        assert_eq!(text_of(&"&".repeat(depth)).len(), depth);
        assert_eq!(text_of(&"</p>".repeat(depth)), "");
    }

    #[test]
    fn time_passes() {
        for html in ["<p>x &amp; ".repeat(100_000), "plain words ".repeat(1_000_000)] {
            let mut beats = 0;
            extract_text(&html, &mut || beats += 1).unwrap();
            assert!(beats > 10, "{beats}");
        }
    }

    proptest! {
        #[test]
        fn text_without_markup_stays(words in prop::collection::vec("[^\\s<&\u{0}]{1,8}", 0..20)) {
            prop_assert_eq!(text_of(&words.join("  ")), words.join(" "));
        }

        #[test]
        fn any_document_is_survived(html in prop_oneof!["\\PC{0,80}", "[<>/!?a&;#\"'= -]{0,80}"]) {
            text_of(&html);
        }

        #[test]
        fn markup_between_blocks_changes_nothing(words in prop::collection::vec("[a-z]{1,6}", 1..10)) {
            let html: String = words.iter().map(|word| format!("<div class='x'><p>{word}</p>\n</div>")).collect();
            prop_assert_eq!(text_of(&html), words.join("\n"));
        }
    }
}

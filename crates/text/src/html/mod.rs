//! The text of an HTML document as readers see it: without markup, scripts, styles and metadata.
//!
//! The document is cut into tokens by the WHATWG's HTML standard: entities are decoded, and malformed markup
//! is accepted. No tree is built, so nesting costs nothing. Captions, tables, quotations and lists stay.
//! Blocks begin a new line, cells of a table are separated by a blank, and white space is folded as in
//! browsers, except in `pre`.
//!
//! Cost: linear time, and memory for the result.

mod elements;
mod extractor;
mod reader;

use crate::features::chars::is_start;
use base::{Heartbeat, Problem, ProblemKind};
use extractor::Extractor;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Emitter, ForwardingEmitter, Span, Tokenizer};
use reader::{CHUNK, Paced};
use std::cell::RefCell;

/// The longest document, in bytes.
const MAX_BYTES: usize = 256 << 20;
/// The most bytes of a tag's name that are read; no relevant name is longer.
const MAX_NAME: usize = 64;

/// The text of the document, which may have at most 256 MB.
pub fn extract_text(html: &str, heartbeat: &mut dyn Heartbeat) -> Result<String, Problem> {
    if html.len() > MAX_BYTES {
        let message = format!("document of {} bytes is longer than {MAX_BYTES}", html.len());
        return Err(Problem::new(ProblemKind::TooLarge, message));
    }
    let beat = RefCell::new(heartbeat);
    let mut extractor = Extractor::default();
    let on_event = |event: CallbackEvent<'_>, _: Span<()>| extractor.take(event, &beat);
    let reader = Paced::new(html, &beat);
    let mut tokenizer = Tokenizer::new_with_emitter(reader, TextOnly::new(CallbackEmitter::new(on_event)));
    // The tokenizer must read the content of some elements, such as scripts, in another state, which is known
    // when the start tag is complete.
    while let Some(Ok(state)) = tokenizer.next() {
        tokenizer.set_state(state);
    }
    drop(tokenizer);
    extractor.into_text().map_err(Problem::from)
}

/// Drops what has no text: attributes, comments, document types and errors. Searching for errors would take
/// time at every byte. The emitter inside collects text until the next tag, and names of tags, in memory
/// whose refusal would abort; so it gets little of both.
struct TextOnly<E> {
    emitter: E,
    /// The number of bytes of text that the emitter may have collected.
    text: usize,
    /// The number of bytes of the current name.
    name: usize,
}

impl<E> TextOnly<E> {
    fn new(emitter: E) -> Self {
        Self { emitter, text: 0, name: 0 }
    }
}

impl<E: Emitter> ForwardingEmitter for TextOnly<E> {
    type Token = E::Token;

    fn inner(&mut self) -> &mut impl Emitter<Token = E::Token> {
        &mut self.emitter
    }

    fn emit_string(&mut self, text: &[u8]) {
        let begins_character = text.first().is_some_and(|&byte| is_start(byte));
        if self.text + text.len() > CHUNK && begins_character {
            // At the end of a document, the emitter only passes its text on.
            self.emitter.emit_eof();
            self.text = 0;
        }
        self.text += text.len();
        self.emitter.emit_string(text);
    }

    fn init_start_tag(&mut self) {
        self.name = 0;
        self.emitter.init_start_tag();
    }

    fn init_end_tag(&mut self) {
        self.name = 0;
        self.emitter.init_end_tag();
    }

    fn push_tag_name(&mut self, name: &[u8]) {
        // A longer name is not relevant.
        let name = &name[..name.len().min(MAX_NAME - self.name)];
        self.name += name.len();
        self.emitter.push_tag_name(name);
    }

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn push_attribute_name(&mut self, _: &[u8]) {}

    fn push_attribute_value(&mut self, _: &[u8]) {}

    fn push_comment(&mut self, _: &[u8]) {}

    fn push_doctype_name(&mut self, _: &[u8]) {}

    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
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
                "<textarea>no</textarea><select><option>no</select>\
                 <svg><title>no</title><text>no</text></svg>yes",
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
            let block = |word: &String| format!("<div class='x'><p>{word}</p>\n</div>");
            let html: String = words.iter().map(block).collect();
            prop_assert_eq!(text_of(&html), words.join("\n"));
        }
    }
}

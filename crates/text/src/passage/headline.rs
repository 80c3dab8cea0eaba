//! A text with marks around everything that it shares with another text.
//!
//! Guarantee: exactly the passages that [`shared_passages`] finds are marked. Without marks and escapes, the
//! headline is the text, or, if fragments are requested, pieces of it in their order.
//!
//! If whole words are requested, the marks are moved to the next boundary of words (UAX #29) inside the
//! passage.
//!
//! Cost: the same as of [`shared_passages`], and the time to write the headline.

use super::shared_passages;
use base::{Heartbeat, Limit, Problem, ProblemKind, grow_text, pieces, push};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The most bytes of a headline, which must fit into a value of PostgreSQL.
const MAX_BYTES: usize = (1 << 30) - 100;
/// How many bytes are written between two heartbeats.
const STRIDE: usize = 1 << 16;

const MAX_FRAGMENTS: Limit = Limit::new("MaxFragments", 0, 1 << 20);
const CONTEXT_LENGTH: Limit = Limit::new("ContextLength", 0, 1 << 20);
const NAMES: &str =
    "Options are StartSel, StopSel, WholeWords, Escape, MaxFragments, ContextLength and FragmentDelimiter.";

/// The options of a headline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadlineOptions {
    /// Written before shared text.
    start: String,
    /// Written after shared text.
    stop: String,
    /// Whether no mark is inside a word.
    whole_words: bool,
    /// Whether characters with a meaning in HTML are escaped.
    escapes_html: bool,
    /// The most fragments; 0 means the whole text.
    max_fragments: usize,
    /// The number of characters on each side of shared text in a fragment.
    context: usize,
    /// Written between fragments.
    delimiter: String,
}

impl Default for HeadlineOptions {
    fn default() -> Self {
        Self {
            start: "<b>".to_owned(),
            stop: "</b>".to_owned(),
            whole_words: false,
            escapes_html: false,
            max_fragments: 0,
            context: 50,
            delimiter: " ... ".to_owned(),
        }
    }
}

impl HeadlineOptions {
    /// Parses options in the syntax of `ts_headline`: `Name=value, Name="value, quoted"`. A quote inside
    /// quotes is doubled. Names are not case-sensitive.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let mut options = Self::default();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (name, after) = rest.split_once('=').ok_or_else(|| syntax(rest))?;
            let (value, after) = value(after.trim_start()).ok_or_else(|| syntax(rest))?;
            options.set(name.trim(), value)?;
            rest = match after.strip_prefix(',') {
                Some(after) => after.trim_start(),
                None if after.is_empty() => "",
                None => return Err(syntax(after)),
            };
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), Problem> {
        let number = |limit: Limit| {
            value.parse::<i64>().map_err(|_| limit.problem(&value)).and_then(|number| limit.of(number))
        };
        match name.to_ascii_lowercase().as_str() {
            "startsel" => self.start = value,
            "stopsel" => self.stop = value,
            "fragmentdelimiter" => self.delimiter = value,
            "maxfragments" => self.max_fragments = number(MAX_FRAGMENTS)?,
            "contextlength" => self.context = number(CONTEXT_LENGTH)?,
            "wholewords" => {
                self.whole_words = match value.to_ascii_lowercase().as_str() {
                    "true" => true,
                    "false" => false,
                    _ => {
                        let hint = "Valid values are true and false.";
                        return Err(Problem::unknown("WholeWords", &value, hint));
                    }
                }
            }
            "escape" => {
                self.escapes_html = match value.to_ascii_lowercase().as_str() {
                    "html" => true,
                    "none" => false,
                    _ => return Err(Problem::unknown("Escape", &value, "Valid values are html and none.")),
                }
            }
            _ => return Err(Problem::unknown("option", name, NAMES)),
        }
        Ok(())
    }
}

/// The first value of the text, and the text after it.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find(|c: char| c == ',' || c.is_whitespace()).unwrap_or(text.len());
        return Some((text[..end].to_owned(), text[end..].trim_start()));
    };
    let mut value = String::new();
    loop {
        let (part, after) = rest.split_once('"')?;
        value.push_str(part);
        match after.strip_prefix('"') {
            Some(after) => {
                value.push('"');
                rest = after;
            }
            None => return Some((value, after.trim_start())),
        }
    }
}

fn syntax(at: &str) -> Problem {
    let message = format!("syntax error in options at \"{}\"", Problem::quote(at));
    Problem::new(ProblemKind::InvalidValue, message)
        .with_hint("For example: 'StartSel=<mark>, StopSel=</mark>, FragmentDelimiter=\" ... \"'.")
}

/// The text with marks around everything that it shares with the other text: passages of at least
/// `min_length` characters.
pub fn headline(
    text: &str,
    other: &str,
    min_length: usize,
    options: &HeadlineOptions,
    heartbeat: &mut dyn Heartbeat,
) -> Result<String, Problem> {
    let mut shared = shared(text, other, min_length, heartbeat)?;
    if options.whole_words {
        shared = whole_words(text, &shared, heartbeat)?;
    }
    let mut writer = HeadlineWriter { text, options, headline: String::new(), heartbeat };
    if options.max_fragments == 0 {
        writer.fragment(0..text.len(), &shared)?;
        return Ok(writer.headline);
    }
    let mut rest = shared.as_slice();
    for number in 0..options.max_fragments {
        let Some(first) = rest.first() else { break };
        let start = context_before(text, first.start, options.context);
        // A passage whose context overlaps the context of the last one belongs to the same fragment.
        let mut count = 1;
        let mut end = context_behind(text, first.end, options.context);
        while let Some(next) = rest.get(count)
            && context_before(text, next.start, options.context) <= end
        {
            end = context_behind(text, next.end, options.context);
            count += 1;
        }
        if number > 0 {
            writer.append(&options.delimiter)?;
        }
        writer.fragment(start..end, &rest[..count])?;
        rest = &rest[count..];
    }
    Ok(writer.headline)
}

/// The ranges of bytes of the text that are shared, in order and not adjacent.
fn shared(
    text: &str,
    other: &str,
    min_length: usize,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<Range<usize>>, Problem> {
    let passages = shared_passages(other, text, min_length, heartbeat)?;
    let mut shared: Vec<Range<usize>> = Vec::new();
    for passage in passages {
        let end = passage.byte + passage.text.len();
        match shared.last_mut() {
            Some(last) if passage.byte <= last.end => last.end = end,
            _ => push(&mut shared, passage.byte..end)?,
        }
    }
    Ok(shared)
}

/// The ranges without parts of words at their ends. What remains of a range may be nothing.
fn whole_words(
    text: &str,
    shared: &[Range<usize>],
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<Range<usize>>, Problem> {
    let mut bounds = text.split_word_bound_indices().map(|(at, _)| at).chain([text.len()]).peekable();
    let mut whole = Vec::new();
    for range in shared {
        while bounds.next_if(|&bound| bound < range.start).is_some() {
            heartbeat.beat();
        }
        let Some(&start) = bounds.peek() else { break };
        let mut end = start;
        while let Some(bound) = bounds.next_if(|&bound| bound <= range.end) {
            heartbeat.beat();
            end = bound;
        }
        if start < end {
            push(&mut whole, start..end)?;
        }
    }
    Ok(whole)
}

fn context_before(text: &str, at: usize, characters: usize) -> usize {
    text[..at].char_indices().rev().take(characters).last().map_or(at, |(at, _)| at)
}

fn context_behind(text: &str, at: usize, characters: usize) -> usize {
    text[at..].char_indices().nth(characters).map_or(text.len(), |(length, _)| at + length)
}

struct HeadlineWriter<'a> {
    text: &'a str,
    options: &'a HeadlineOptions,
    headline: String,
    heartbeat: &'a mut dyn Heartbeat,
}

impl HeadlineWriter<'_> {
    /// Writes a part of the text in which these ranges are marked.
    fn fragment(&mut self, part: Range<usize>, shared: &[Range<usize>]) -> Result<(), Problem> {
        let mut at = part.start;
        for marked in shared {
            self.piece(at..marked.start)?;
            self.append(&self.options.start)?;
            self.piece(marked.clone())?;
            self.append(&self.options.stop)?;
            at = marked.end;
        }
        self.piece(at..part.end)
    }

    /// Writes a piece of the text, escaped if that is requested.
    fn piece(&mut self, piece: Range<usize>) -> Result<(), Problem> {
        for plain in pieces(&self.text[piece], STRIDE) {
            self.heartbeat.beat();
            if self.options.escapes_html {
                self.escaped(plain)?;
            } else {
                self.append(plain)?;
            }
        }
        Ok(())
    }

    fn escaped(&mut self, text: &str) -> Result<(), Problem> {
        let mut written = 0;
        for (at, byte) in text.bytes().enumerate() {
            let escape = match byte {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                b'\'' => "&#39;",
                _ => continue,
            };
            self.append(&text[written..at])?;
            self.append(escape)?;
            written = at + 1;
        }
        self.append(&text[written..])
    }

    fn append(&mut self, text: &str) -> Result<(), Problem> {
        if self.headline.len() + text.len() > MAX_BYTES {
            let message = format!("headline has more than {MAX_BYTES} bytes");
            return Err(Problem::new(ProblemKind::TooLarge, message)
                .with_hint("Use the option MaxFragments to return fragments."));
        }
        grow_text(&mut self.headline, text.len())?;
        self.headline.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str, other: &str, min_length: usize, options: &str) -> String {
        headline(text, other, min_length, &HeadlineOptions::parse(options).unwrap(), &mut || ()).unwrap()
    }

    #[test]
    fn what_is_shared_is_marked() {
        let text = "Then: a bright cold day! It was a bright one.";
        let other = "It was a bright cold day in April.";
        assert_eq!(of(text, other, 8, ""), "Then:<b> a bright cold day</b>! <b>It was a bright </b>one.");
        assert_eq!(
            of(text, other, 8, "startsel=[, StopSel=\"]\"\"\""),
            "Then:[ a bright cold day]\"! [It was a bright ]\"one."
        );
        assert_eq!(of(text, other, 20, ""), text);
        assert_eq!(of("", other, 1, ""), "");
        assert_eq!(of(text, text, 8, ""), format!("<b>{text}</b>"));
        assert_eq!(of(text, text, text.len(), "MaxFragments=1"), format!("<b>{text}</b>"));
        assert_eq!(of("short", "short", 8, ""), "short");
        assert_eq!(
            of("a<b> & 'c' \"d\"", "<b> & '", 5, "Escape=html"),
            "a<b>&lt;b&gt; &amp; &#39;</b>c&#39; &quot;d&quot;"
        );
    }

    #[test]
    fn fragments_have_context() {
        let text = "0123456789 one two three 0123456789 four five six é123456789";
        let other = "one two three, four five six";
        let fragments = |options: &str| of(text, other, 8, options);
        assert_eq!(
            fragments("MaxFragments=9, ContextLength=3"),
            "89 <b>one two three</b> 01 ... 789<b> four five six</b> é1"
        );
        assert_eq!(fragments("MaxFragments=1, ContextLength=0, FragmentDelimiter=x"), "<b>one two three</b>");
        assert_eq!(fragments("MaxFragments=9, ContextLength=5").matches("...").count(), 1);
        assert_eq!(fragments("MaxFragments=9, ContextLength=6").matches("...").count(), 0);
        assert_eq!(fragments("MaxFragments=9, ContextLength=100"), fragments(""));
        assert_eq!(of(text, "nothing", 8, "MaxFragments=9"), "");
    }

    #[test]
    fn marks_of_whole_words_are_at_their_boundaries() {
        let (text, other) = ("It didn't brighten: 3.14 cold days", "didn't brighter 3.14 colder");
        assert_eq!(of(text, other, 3, "StartSel=[, StopSel=]"), "It [didn't brighte]n:[ 3.14 cold] days");
        assert_eq!(
            of(text, other, 3, "StartSel=[, StopSel=], WholeWords=true"),
            "It [didn't ]brighten:[ 3.14 cold] days"
        );
        // What two words have in common is not a word.
        assert_eq!(of("brighten", "brighter", 3, "WholeWords=TRUE"), "brighten");
        assert_eq!(of("brighten", "brighter", 3, "WholeWords=false"), "<b>brighte</b>n");
        // Ideographs are words of their own.
        assert_eq!(of("漢字仮名", "一漢字一", 2, "WholeWords=true"), "<b>漢字</b>仮名");
    }

    #[test]
    fn options_are_checked() {
        let message = |options: &str| HeadlineOptions::parse(options).unwrap_err().message;
        assert_eq!(HeadlineOptions::parse(" "), Ok(HeadlineOptions::default()));
        assert_eq!(HeadlineOptions::parse("StopSel= , ").unwrap().stop, "");
        assert_eq!(message("MinWords=3"), "unknown option \"MinWords\"");
        assert_eq!(message("StartSel"), "syntax error in options at \"StartSel\"");
        assert_eq!(message("StartSel=\"a"), "syntax error in options at \"StartSel=\"a\"");
        assert_eq!(message("StartSel=a b"), "syntax error in options at \"b\"");
        assert_eq!(message("StartSel=\"a\" b"), "syntax error in options at \"b\"");
        assert_eq!(message("MaxFragments=-1"), "MaxFragments -1 is out of range");
        assert_eq!(message("ContextLength=x"), "ContextLength x is out of range");
        assert_eq!(message("Escape=xml"), "unknown Escape \"xml\"");
        assert_eq!(message("WholeWords=1"), "unknown WholeWords \"1\"");
    }

    /// The ranges of bytes of the text that are between marks.
    fn marked_ranges(marked: &str) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        let mut start = 0;
        let mut at = 0;
        for c in marked.chars() {
            match c {
                '[' => start = at,
                ']' => ranges.push(start..at),
                _ => at += c.len_utf8(),
            }
        }
        ranges
    }

    proptest! {
        #[test]
        fn marks_of_whole_words_are_at_the_nearest_boundaries(
            text in "[abé .漢]{0,60}", other in "[abé .漢]{0,60}", min_length in 1usize..8,
        ) {
            let marked = of(&text, &other, min_length, "StartSel=[, StopSel=]");
            let whole = of(&text, &other, min_length, "StartSel=[, StopSel=], WholeWords=true");
            prop_assert_eq!(whole.replace(['[', ']'], ""), text.clone());
            let bounds: Vec<usize> =
                text.split_word_bound_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let within = |range: Range<usize>| {
                let mut inside = bounds.iter().filter(|&bound| (range.start..=range.end).contains(bound));
                let first = *inside.next()?;
                let last = *inside.next_back()?;
                Some(first..last)
            };
            let expected: Vec<_> = marked_ranges(&marked).into_iter().filter_map(within).collect();
            prop_assert_eq!(marked_ranges(&whole), expected);
        }

        #[test]
        fn the_text_is_left_and_marks_are_what_is_shared(
            text in "[abé<]{0,60}", other in "[abé<]{0,60}", min_length in 1usize..8,
        ) {
            let marked = of(&text, &other, min_length, "StartSel=[, StopSel=]");
            prop_assert_eq!(marked.replace(['[', ']'], ""), text.clone());
            let text: Vec<char> = text.chars().collect();
            let other: Vec<char> = other.chars().collect();
            let mut expected = vec![false; text.len()];
            for (at, window) in text.windows(min_length).enumerate() {
                if other.windows(min_length).any(|other| other == window) {
                    expected[at..at + min_length].fill(true);
                }
            }
            let mut is_marked = false;
            let mut found = Vec::new();
            for c in marked.chars() {
                match c {
                    '[' => is_marked = true,
                    ']' => is_marked = false,
                    _ => found.push(is_marked),
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}

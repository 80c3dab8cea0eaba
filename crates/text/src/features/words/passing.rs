//! The ways in which the words of a text are passed on.

use super::output::WordsToConsumer;
use super::{Keep, TakeWord, Words};
use crate::features::{BATCH, Sink};
use base::OutOfMemory;

/// Bytes of a part of a text, or of its normalized words, after which these are passed on.
pub(super) const BUFFERED: usize = 32 * 1024;

impl Words {
    /// Passes every k consecutive words to the sink; a text of fewer words is one shingle.
    pub(crate) fn shingles(
        &mut self,
        text: &str,
        k: usize,
        keep: Keep,
        sink: &mut impl Sink,
    ) -> Result<(), OutOfMemory> {
        self.clear();
        let mut passed_any = false;
        self.add_in_parts(text, keep, |words| {
            sink.pause();
            passed_any |= words.pass_buffered(k, sink);
        })?;
        passed_any |= self.pass_buffered(k, sink);
        if !passed_any && let [words @ .., _blank] = self.text.as_slice() {
            sink.take(words);
        }
        Ok(())
    }

    /// Passes on the shingles of the buffered words and keeps the last k - 1 words, which later shingles
    /// begin with. Returns whether there was a shingle.
    fn pass_buffered(&mut self, k: usize, sink: &mut impl Sink) -> bool {
        let shingles = (self.starts.len() + 1).saturating_sub(k);
        if shingles == 0 {
            return false;
        }
        // Where the word after the last shingle would begin.
        self.starts.push(self.text.len());
        let (firsts, afters) = (&self.starts[..shingles], &self.starts[k..]);
        for (firsts, afters) in firsts.chunks(BATCH).zip(afters.chunks(BATCH)) {
            let ranges = firsts.iter().zip(afters);
            sink.take_all(ranges.map(|(&start, &after)| &self.text[start..after - 1]));
        }
        self.starts.pop();
        let kept = self.starts.get(shingles).copied().unwrap_or(self.text.len());
        self.text.drain(..kept);
        self.starts.drain(..shingles);
        self.starts.iter_mut().for_each(|start| *start -= kept);
        true
    }

    /// Passes words of prose on in parts: a text in which each is between two blanks, and where they begin.
    /// There may be none.
    pub(crate) fn prose_in_parts(
        &mut self,
        text: &str,
        mut take: impl FnMut(&[u8], &[usize]),
    ) -> Result<(), OutOfMemory> {
        self.clear();
        self.make_room(1)?;
        self.text.push(b' ');
        self.add_in_parts(text, Keep::Prose, |words| {
            take(&words.text, &words.starts);
            words.text.truncate(1);
            words.starts.clear();
        })?;
        take(&self.text, &self.starts);
        Ok(())
    }

    /// Adds the words of a text, and calls `pass` for each part of it but the last one.
    #[inline(always)]
    fn add_in_parts(
        &mut self,
        text: &str,
        keep: Keep,
        mut pass: impl FnMut(&mut Self),
    ) -> Result<(), OutOfMemory> {
        let mut read = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let after = self.add_next(rest, keep)?;
            read += rest.len() - after.len();
            rest = after;
            if read.max(self.text.len()) >= BUFFERED {
                read = 0;
                pass(self);
            }
        }
        Ok(())
    }

    /// Passes every word of prose on.
    pub(crate) fn each_of_prose(
        &mut self,
        text: &str,
        consumer: &mut impl TakeWord,
    ) -> Result<(), OutOfMemory> {
        self.clear();
        let mut passed = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let after = self.add_first::<true>(rest, &mut WordsToConsumer(consumer))?;
            passed += rest.len() - after.len();
            rest = after;
            if passed >= BUFFERED {
                passed = 0;
                consumer.pause();
            }
        }
        Ok(())
    }
}

//! Passes the words of a text to consumers: in shingles, in parts, or one by one.

use super::output::Output;
use super::{BUFFERED, Keep, ReadableWord, Words};
use crate::features::{BATCH, Consumer};
use base::OutOfMemory;

impl Words {
    /// Passes every k consecutive words to the consumer. A text of fewer words is one shingle.
    pub(crate) fn shingles(
        &mut self,
        text: &str,
        k: usize,
        keep: Keep,
        consumer: &mut impl for<'f> Consumer<&'f [u8]>,
    ) -> Result<(), OutOfMemory> {
        self.clear();
        let mut had_any = false;
        self.add_in_parts(text, keep, |words| {
            consumer.pause();
            had_any |= words.flush_shingles(k, consumer);
        })?;
        had_any |= self.flush_shingles(k, consumer);
        if !had_any && let [words @ .., _blank] = self.text.as_slice() {
            consumer.take(words);
        }
        Ok(())
    }

    /// Passes the shingles of the buffered words to the consumer, and keeps the last k - 1 words, with which
    /// later shingles begin. Returns whether there was a shingle.
    fn flush_shingles(&mut self, k: usize, consumer: &mut impl for<'f> Consumer<&'f [u8]>) -> bool {
        let shingles = (self.starts.len() + 1).saturating_sub(k);
        if shingles == 0 {
            return false;
        }
        // Where the word after the last shingle would begin.
        self.starts.push(self.text.len());
        let firsts = &self.starts[..shingles];
        let afters = &self.starts[k..];
        for (firsts, afters) in firsts.chunks(BATCH).zip(afters.chunks(BATCH)) {
            let ranges = firsts.iter().zip(afters);
            consumer.take_all(ranges.map(|(&start, &after)| &self.text[start..after - 1]));
        }
        self.starts.pop();
        let kept = self.starts.get(shingles).copied().unwrap_or(self.text.len());
        self.text.drain(..kept);
        self.starts.drain(..shingles);
        self.starts.iter_mut().for_each(|start| *start -= kept);
        true
    }

    /// Calls `take` with the words of prose, in parts: a text with each word between two blanks, and the
    /// places where the words begin. A part may have no words.
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

    /// Adds the words of a text, and calls `flush` for each part except the last one.
    #[inline(always)]
    fn add_in_parts(
        &mut self,
        text: &str,
        keep: Keep,
        mut flush: impl FnMut(&mut Self),
    ) -> Result<(), OutOfMemory> {
        let mut read = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let after = self.add_next(rest, keep)?;
            read += rest.len() - after.len();
            rest = after;
            if read.max(self.text.len()) >= BUFFERED {
                read = 0;
                flush(self);
            }
        }
        Ok(())
    }

    /// Passes every word of prose to the consumer.
    pub(crate) fn each_of_prose(
        &mut self,
        text: &str,
        consumer: &mut impl for<'w> Consumer<ReadableWord<'w>>,
    ) -> Result<(), OutOfMemory> {
        self.clear();
        let mut read = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let after = self.add_first::<true>(rest, &mut Output::Consumer(consumer))?;
            read += rest.len() - after.len();
            rest = after;
            if read >= BUFFERED {
                read = 0;
                consumer.pause();
            }
        }
        Ok(())
    }
}

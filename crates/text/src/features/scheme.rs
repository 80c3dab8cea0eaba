//! Schemes: the named rules by which a text becomes a fingerprint.
//!
//! A scheme's name never changes its meaning, because stored fingerprints outlive the library that
//! made them. The files in `tests/vectors` hold every scheme to that.

use limits::{Limit, Problem};
use std::fmt;
use std::str::FromStr;

/// The longest shingle, in characters or words.
pub const MAX_SHINGLE: usize = 32;

/// What the features of a text are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// The interoperable document scheme, of `docs/doc1.md`: every two consecutive words of prose.
    Doc1,
    /// The fingerprint of `docs/doc2.md`: every word of prose, and every two consecutive ones.
    Doc2,
    /// What the proposal of 2017 says to the letter: every word of prose that has three characters or more.
    SimhashDoc,
    /// What the Similarity Index paper ran: every four consecutive UTF-16 code units.
    CommonCrawl,
    /// `char:k`: every k consecutive characters of the text as it stands.
    Chars(usize),
    /// `word:k`: every k consecutive words, without regard to case.
    Words(usize),
}

/// The description of a scheme, or of a family of schemes.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// The scheme's name; `k` stands for a number.
    pub name: &'static str,
    /// The version of its specification.
    pub version: i32,
    /// What a feature consists of, such as words.
    pub unit: &'static str,
    /// The number and kind of units in a feature, and how it is hashed.
    pub features: &'static str,
    /// A scheme for the example: the scheme itself, or one of the family.
    pub example: &'static str,
    /// The fingerprint of [`EXAMPLE`] by that scheme.
    pub fingerprint: u64,
}

/// The text that the examples fingerprint.
pub const EXAMPLE: &str = "The quick brown fox jumps over the lazy dog";

/// All schemes.
pub const DESCRIPTIONS: [Description; 6] = [
    Description {
        name: "doc2",
        version: 1,
        unit: "word",
        features: "words of prose and 2 consecutive ones (Unicode 16), one chosen for each bit",
        example: "doc2",
        fingerprint: 0xcedd_212c_b2c0_12a8,
    },
    Description {
        name: "doc1",
        version: 1,
        unit: "word",
        features: "2 consecutive words of prose (Unicode 16), XXH3",
        example: "doc1",
        fingerprint: 0x12bf_8002_4a21_0544,
    },
    Description {
        name: "simhash-doc",
        version: 1,
        unit: "word",
        features: "words of prose of 3 characters and more (Unicode 16), XXH3",
        example: "simhash-doc",
        fingerprint: 0x8200_8682_0852_9263,
    },
    Description {
        name: "commoncrawl",
        version: 1,
        unit: "UTF-16 code unit",
        features: "4 consecutive code units, Rabin fingerprint D74307D3FD3382DB",
        example: "commoncrawl",
        fingerprint: 0x1600_955a_9fb2_b5af,
    },
    Description {
        name: "char:k",
        version: 1,
        unit: "character",
        features: "k consecutive characters (1 to 32), XXH3",
        example: "char:4",
        fingerprint: 0x88b0_a104_5420_9614,
    },
    Description {
        name: "word:k",
        version: 1,
        unit: "word",
        features: "k consecutive words (1 to 32; Unicode 16), XXH3",
        example: "word:3",
        fingerprint: 0x5cc1_c8ef_c0c9_b905,
    },
];

/// The names that users can write, as a hint tells them.
const VALID: &str =
    "Valid schemes are doc2, doc1, simhash-doc, commoncrawl, char:1 to char:32, word:1 to word:32.";
/// Characters or words in a shingle.
const SHINGLE: Limit = Limit::new("shingle length", 1, MAX_SHINGLE as i64);

impl FromStr for Scheme {
    type Err = Problem;

    fn from_str(name: &str) -> Result<Self, Problem> {
        match name {
            "doc1" => return Ok(Self::Doc1),
            "doc2" => return Ok(Self::Doc2),
            "simhash-doc" => return Ok(Self::SimhashDoc),
            "commoncrawl" => return Ok(Self::CommonCrawl),
            _ => (),
        }
        let unknown = || Problem::unknown("fingerprint scheme", name, VALID);
        let (unit, length) = name.split_once(':').ok_or_else(unknown)?;
        let scheme = match unit {
            "char" => Self::Chars,
            "word" => Self::Words,
            _ => return Err(unknown()),
        };
        // One spelling per scheme: digits only, no sign and no leading zero.
        let has_leading_zero = length.starts_with('0') && length.len() > 1;
        if length.is_empty() || has_leading_zero || !length.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(unknown());
        }
        // More digits than a number holds are out of range, too.
        let out_of_range = |_| SHINGLE.problem(length);
        SHINGLE.of(length.parse::<i64>().map_err(out_of_range)?).map(scheme)
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Doc1 => write!(f, "doc1"),
            Self::Doc2 => write!(f, "doc2"),
            Self::SimhashDoc => write!(f, "simhash-doc"),
            Self::CommonCrawl => write!(f, "commoncrawl"),
            Self::Chars(k) => write!(f, "char:{k}"),
            Self::Words(k) => write!(f, "word:{k}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_schemes_are_one_to_one() {
        let all = (1..=MAX_SHINGLE).flat_map(|k| [Scheme::Chars(k), Scheme::Words(k)]);
        for scheme in all.chain([Scheme::Doc1, Scheme::Doc2, Scheme::SimhashDoc, Scheme::CommonCrawl]) {
            assert_eq!(scheme.to_string().parse(), Ok(scheme));
        }
    }

    #[test]
    fn descriptions_are_true() {
        for Description { name, example, fingerprint, .. } in DESCRIPTIONS {
            let made = crate::fingerprint::SimHasher::default()
                .fingerprint(EXAMPLE, example.parse().unwrap(), &mut || ())
                .unwrap();
            assert_eq!(made, Some(fingerprint), "{example}: {:016x}", made.unwrap());
            assert_eq!(name.split(':').next(), example.split(':').next());
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        for name in ["", "doc", "DOC1", "doc1 ", "char", "char:", "char:x", "char:+3", "char:03", "word: 3"] {
            let problem = name.parse::<Scheme>().unwrap_err();
            assert_eq!(problem.message, format!("unknown fingerprint scheme \"{name}\""));
        }
        for name in ["char:0", "char:33", "word:0", "word:99999999999999999999"] {
            let problem = name.parse::<Scheme>().unwrap_err();
            assert_eq!(problem.detail.as_deref(), Some("Valid values are 1 to 32."), "{name}");
        }
    }
}

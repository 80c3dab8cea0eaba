//! Schemes: the named rules by which a text becomes a fingerprint.
//!
//! A scheme's name never changes its meaning, because stored fingerprints outlive the library that made them.
//! The test vectors in `tests/vectors` check every scheme.
//!
//! [`SCHEMES`] is the only list of schemes: names, parsing, hints, descriptions and tests use it. Two
//! prefixes make further schemes: [`PERMUTED`] and [`FOLDED`].

use super::words::Keep;
use base::{Limit, Problem};
use std::fmt;
use std::str::FromStr;

/// The longest shingle, in characters or words.
pub const MAX_SHINGLE: usize = 32;

/// A prefix of a scheme's name: features choose bits by one permutation, as in `doc2`, instead of voting.
const PERMUTED: &str = "perm:";
/// A prefix of a name, also before [`PERMUTED`]: the text is read without optional marks.
const FOLDED: &str = "folded:";

/// The text of the examples.
pub const EXAMPLE: &str = "The quick brown fox jumps over the lazy dog";

/// A scheme, or a family of schemes with a number k.
#[derive(Debug, PartialEq, Eq)]
pub struct SchemeFamily {
    /// The scheme's name; `k` stands for a number.
    pub name: &'static str,
    /// The version of its specification.
    pub version: i32,
    /// The features in words: their units and their hash.
    pub features: &'static str,
    /// The rule by which a text is cut into features.
    rule: FeatureRule,
    /// The number of units in a feature; for a family, that of the example.
    k: usize,
    /// The fingerprint of [`EXAMPLE`] by the scheme, or by the family's example.
    pub fingerprint: u64,
}

/// The rules by which a text is cut into features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeatureRule {
    /// Every word of prose, and every two consecutive ones. Hashes choose some of the features (`doc2.rs`);
    /// with all other rules, every feature has a vote.
    WordsAndPairs,
    /// Every k consecutive words, without words that are dropped.
    Words(Keep),
    /// Every word of prose with at least three characters.
    LongWords,
    /// Every k consecutive characters of a word of prose, with a blank before and after it.
    Letters,
    /// Every four consecutive UTF-16 code units, with their own hash function.
    CodeUnits,
    /// Every k consecutive characters of the unchanged text.
    Characters,
}

/// All schemes, in the order in which users see them.
pub static SCHEMES: [SchemeFamily; 7] = [
    // `docs/developers/doc2.md`.
    SchemeFamily {
        name: "doc2",
        version: 1,
        features: "words of prose and 2 consecutive ones (Unicode 16), one chosen for each bit",
        rule: FeatureRule::WordsAndPairs,
        k: 2,
        fingerprint: 0xcedd_212c_b2c0_12a8,
    },
    // `docs/developers/doc1.md`.
    SchemeFamily {
        name: "doc1",
        version: 1,
        features: "2 consecutive words of prose (Unicode 16), XXH3",
        rule: FeatureRule::Words(Keep::Prose),
        k: 2,
        fingerprint: 0x12bf_8002_4a21_0544,
    },
    SchemeFamily {
        name: "letters:k",
        version: 1,
        features: "k consecutive characters of a word of prose (1 to 32; Unicode 16), XXH3",
        rule: FeatureRule::Letters,
        k: 4,
        fingerprint: 0xb128_a702_5680_1634,
    },
    // Exactly what the proposal of 2017 says.
    SchemeFamily {
        name: "simhash-doc",
        version: 1,
        features: "words of prose of 3 characters and more (Unicode 16), XXH3",
        rule: FeatureRule::LongWords,
        k: 1,
        fingerprint: 0x8200_8682_0852_9263,
    },
    // The scheme that the Similarity Index paper used.
    SchemeFamily {
        name: "commoncrawl",
        version: 1,
        features: "4 consecutive code units, Rabin fingerprint D74307D3FD3382DB",
        rule: FeatureRule::CodeUnits,
        k: 4,
        fingerprint: 0x1600_955a_9fb2_b5af,
    },
    SchemeFamily {
        name: "char:k",
        version: 1,
        features: "k consecutive characters (1 to 32), XXH3",
        rule: FeatureRule::Characters,
        k: 4,
        fingerprint: 0x88b0_a104_5420_9614,
    },
    SchemeFamily {
        name: "word:k",
        version: 1,
        features: "k consecutive words (1 to 32; Unicode 16), XXH3",
        rule: FeatureRule::Words(Keep::All),
        k: 3,
        fingerprint: 0x5cc1_c8ef_c0c9_b905,
    },
];

/// An estimate: the bytes of text per word, including a blank.
const BYTES_PER_WORD: usize = 6;
/// The limit of k.
const SHINGLE: Limit = Limit::new("shingle length", 1, MAX_SHINGLE as i64);

impl FeatureRule {
    /// Whether features are hashed by XXH3, so that the scheme's name may have the prefix `perm:`.
    fn can_be_permuted(self) -> bool {
        !matches!(self, Self::WordsAndPairs | Self::CodeUnits)
    }

    /// The expected number of features of a text of this size. Features may be repeated.
    pub(crate) fn expected_features(self, bytes: usize) -> usize {
        match self {
            Self::WordsAndPairs | Self::Words(_) | Self::LongWords => bytes / BYTES_PER_WORD,
            Self::CodeUnits | Self::Letters | Self::Characters => bytes,
        }
    }
}

impl SchemeFamily {
    /// The unit that features consist of, such as words.
    pub fn unit(&self) -> &'static str {
        match self.rule {
            FeatureRule::WordsAndPairs | FeatureRule::Words(_) | FeatureRule::LongWords => "word",
            FeatureRule::CodeUnits => "UTF-16 code unit",
            FeatureRule::Letters | FeatureRule::Characters => "character",
        }
    }

    /// The scheme itself, or an example of the family.
    pub fn example(&'static self) -> Scheme {
        Scheme {
            family: self,
            k: self.k,
            is_permuted: self.rule == FeatureRule::WordsAndPairs,
            is_folded: false,
        }
    }

    /// The beginning of the names of a family; `None` for a single scheme.
    fn prefix(&self) -> Option<&'static str> {
        self.name.strip_suffix(":k")
    }

    /// The names that users can write, for a hint.
    fn valid_names(&self) -> String {
        match self.prefix() {
            Some(prefix) => format!("{prefix}:1 to {prefix}:{MAX_SHINGLE}"),
            None => self.name.to_owned(),
        }
    }
}

/// A scheme, which defines the features of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    family: &'static SchemeFamily,
    /// The number of units in a feature.
    pub(crate) k: usize,
    /// Whether features choose bits by one permutation.
    pub(crate) is_permuted: bool,
    /// Whether the text is read without optional marks.
    pub(crate) is_folded: bool,
}

impl Scheme {
    /// The scheme `doc2`, the default.
    pub const DOC2: Self = Self { family: &SCHEMES[0], k: SCHEMES[0].k, is_permuted: true, is_folded: false };

    /// The rule by which a text is cut into features.
    pub(crate) fn rule(self) -> FeatureRule {
        self.family.rule
    }
}

impl FromStr for Scheme {
    type Err = Problem;

    fn from_str(name: &str) -> Result<Self, Problem> {
        let (rest, is_folded) = name.strip_prefix(FOLDED).map_or((name, false), |rest| (rest, true));
        let (rest, is_permuted) = rest.strip_prefix(PERMUTED).map_or((rest, false), |rest| (rest, true));
        let plain = Self::plain(rest).ok_or_else(|| unknown(name))??;
        if is_permuted && !plain.family.rule.can_be_permuted() {
            return Err(unknown(name));
        }
        Ok(Self { is_permuted: is_permuted || plain.is_permuted, is_folded, ..plain })
    }
}

impl Scheme {
    /// The scheme of a name without prefixes; `None` if there is none.
    fn plain(name: &str) -> Option<Result<Self, Problem>> {
        let (prefix, number) = match name.split_once(':') {
            Some((prefix, number)) => (prefix, Some(number)),
            None => (name, None),
        };
        let is_meant = |family: &&SchemeFamily| match number {
            // A scheme has one spelling: digits only, without sign and leading zero.
            Some(number) => family.prefix() == Some(prefix) && is_plain_number(number),
            None => family.name == name,
        };
        let family = SCHEMES.iter().find(is_meant)?;
        // A number with too many digits for 64 bits is out of range, too.
        let k = number.map_or(Ok(family.k), |number| {
            number.parse::<i64>().map_err(|_| SHINGLE.problem(number)).and_then(|k| SHINGLE.of(k))
        });
        Some(k.map(|k| Self { k, ..family.example() }))
    }
}

fn is_plain_number(number: &str) -> bool {
    let has_leading_zero = number.starts_with('0') && number.len() > 1;
    !number.is_empty() && !has_leading_zero && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn unknown(name: &str) -> Problem {
    let valid: Vec<String> = SCHEMES.iter().map(SchemeFamily::valid_names).collect();
    let hint = format!(
        "Valid schemes are {}. Those whose features are hashed by XXH3 can have the prefix {PERMUTED}, and \
         any can have the prefix {FOLDED}.",
        valid.join(", ")
    );
    Problem::unknown("fingerprint scheme", name, hint)
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let permuted = self.is_permuted && self.family.rule.can_be_permuted();
        f.write_str(if self.is_folded { FOLDED } else { "" })?;
        f.write_str(if permuted { PERMUTED } else { "" })?;
        match self.family.prefix() {
            Some(prefix) => write!(f, "{prefix}:{}", self.k),
            None => f.write_str(self.family.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_schemes_are_one_to_one() {
        let families = SCHEMES.iter().filter(|family| family.prefix().is_some());
        let all =
            families.flat_map(|family| (1..=MAX_SHINGLE).map(move |k| Scheme { k, ..family.example() }));
        for scheme in all.chain(SCHEMES.iter().map(SchemeFamily::example)) {
            assert_eq!(scheme.to_string().parse(), Ok(scheme));
            let folded = Scheme { is_folded: true, ..scheme };
            assert_eq!(folded.to_string().parse(), Ok(folded));
            if scheme.rule().can_be_permuted() {
                let permuted = Scheme { is_permuted: true, ..folded };
                assert_eq!(permuted.to_string().parse(), Ok(permuted));
            }
        }
        assert_eq!(Scheme::DOC2.to_string(), "doc2");
    }

    #[test]
    fn fingerprints_of_the_example_are_true() {
        for family in &SCHEMES {
            let made = crate::fingerprint::SimHasher::default()
                .fingerprint(EXAMPLE, family.example(), &mut || ())
                .unwrap();
            assert_eq!(made, Some(family.fingerprint), "{}: {:016x}", family.name, made.unwrap());
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        for name in [
            "",
            "doc",
            "DOC1",
            "doc1 ",
            "char",
            "char:",
            "char:x",
            "char:+3",
            "char:03",
            "word: 3",
            "perm:doc2",
            "perm:commoncrawl",
            "perm:folded:doc1",
            "folded:",
            "perm:perm:doc1",
        ] {
            let problem = name.parse::<Scheme>().unwrap_err();
            assert_eq!(problem.message, format!("unknown fingerprint scheme \"{name}\""));
        }
        for name in ["char:0", "char:33", "word:0", "word:99999999999999999999"] {
            let problem = name.parse::<Scheme>().unwrap_err();
            assert_eq!(problem.detail.as_deref(), Some("Valid values are 1 to 32."), "{name}");
        }
    }
}

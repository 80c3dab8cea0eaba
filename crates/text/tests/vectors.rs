//! The published fingerprints, made by independent implementations in Python. Stored fingerprints depend on
//! them: a change of them changes the meaning of a scheme.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use base::Problem;
use serde::Deserialize;
use text::features::Scheme;
use text::fingerprint::{SimHasher, spelling};

#[derive(Deserialize)]
struct Vector {
    text: String,
    scheme: String,
    /// 16 hexadecimal digits, or null for a text without features.
    fingerprint: Option<String>,
}

#[test]
fn published_fingerprints() {
    check_vectors(include_str!("vectors/schemes.json"));
}

#[test]
fn published_fingerprints_of_letters_and_without_marks() {
    check_vectors(include_str!("../../../tests/vectors/folded.json"));
}

fn check_vectors(vectors: &str) {
    let vectors: Vec<Vector> = serde_json::from_str(vectors).unwrap();
    assert!(vectors.len() > 100);
    let mut hasher = SimHasher::default();
    for Vector { text, scheme, fingerprint } in vectors {
        let made = hasher.fingerprint(&text, scheme.parse().unwrap(), &mut || ()).unwrap();
        assert_eq!(made.map(|made| format!("{made:016x}")), fingerprint, "{scheme} of {text:?}");
    }
}

#[derive(Deserialize)]
struct DocVector {
    text: String,
    fingerprint: Option<String>,
    letters: Option<String>,
}

fn check_document_vectors(scheme: Scheme, vectors: &str) {
    let vectors: Vec<DocVector> = serde_json::from_str(vectors).unwrap();
    assert!(vectors.len() > 100);
    let mut hasher = SimHasher::default();
    for DocVector { text, fingerprint, letters } in vectors {
        let made = hasher.fingerprint(&text, scheme, &mut || ()).unwrap();
        assert_eq!(made.map(|made| format!("{made:016x}")), fingerprint, "{text:?}");
        assert_eq!(made.map(spelling::encode), letters);
    }
}

#[test]
fn published_fingerprints_of_doc1() {
    check_document_vectors("doc1".parse().unwrap(), include_str!("../../../tests/vectors/doc1.json"));
}

#[test]
fn published_fingerprints_of_doc2() {
    check_document_vectors(Scheme::DOC2, include_str!("../../../tests/vectors/doc2.json"));
}

/// Fingerprints in which two ports of Common Crawl's code agree. Texts without features have the fingerprint
/// 0 there, and none here.
#[test]
fn fingerprints_of_common_crawl() -> Result<(), Problem> {
    let scheme = "commoncrawl".parse()?;
    let mut hasher = SimHasher::default();
    for (text, fingerprint) in [
        ("Hello world", Some(0x6b8a_0f61_9464_6a64)),
        ("abcd", Some(0x3f37_6209_e49e_f4df)),
        ("The quick brown fox jumps over the lazy dog", Some(0x1600_955a_9fb2_b5af)),
        ("日本語の文章です", Some(0x892c_9076_b8f8_7016)),
        ("", None),
        ("abc", None),
    ] {
        assert_eq!(hasher.fingerprint(text, scheme, &mut || ()), Ok(fingerprint), "{text}");
    }
    Ok(())
}

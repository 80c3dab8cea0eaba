//! The published fingerprints, made by an independent implementation (Python, with the `xxhash` package).
//! Stored fingerprints depend on them: a change here is a change of the scheme's meaning.

use serde::Deserialize;
use simhash_core::SimHasher;
use std::error::Error;

#[derive(Deserialize)]
struct Vector {
    text: String,
    scheme: String,
    /// 16 hexadecimal digits, or null for a text without features.
    fingerprint: Option<String>,
}

#[test]
fn published_fingerprints() -> Result<(), Box<dyn Error>> {
    let vectors: Vec<Vector> = serde_json::from_str(include_str!("vectors/schemes.json"))?;
    assert!(vectors.len() > 100);
    let mut hasher = SimHasher::default();
    for Vector { text, scheme, fingerprint } in vectors {
        let made = hasher.fingerprint(&text, scheme.parse()?, &mut || ());
        assert_eq!(made.map(|made| format!("{made:016x}")), fingerprint, "{scheme} of {text:?}");
    }
    Ok(())
}

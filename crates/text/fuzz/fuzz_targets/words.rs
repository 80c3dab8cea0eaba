//! Any text has a fingerprint in every scheme, which its features explain.
#![no_main]

use libfuzzer_sys::fuzz_target;
use text::features::{SCHEMES, SchemeFamily};
use text::fingerprint::SimHasher;
use text::fingerprint::explain::features;
use text::fingerprint::weighted;
use text::sketch::heintze::HeintzeParameters;

fuzz_target!(|text: &str| {
    let mut hasher = SimHasher::default();
    let prefixed = ["folded:doc2", "perm:letters:4", "folded:perm:letters:4"].map(|name| name.parse().unwrap());
    for scheme in SCHEMES.iter().map(SchemeFamily::example).chain(prefixed) {
        let fingerprint = hasher.fingerprint(text, scheme, &mut || ()).unwrap();
        let features = features(text, scheme, &mut || ()).unwrap();
        assert_eq!(fingerprint.is_none(), features.is_empty());
        // The features that XXH3 hashes vote.
        if !["doc2", "commoncrawl"].contains(&scheme.to_string().as_str()) && !prefixed.contains(&scheme) {
            let mut sums = weighted::NOTHING;
            for feature in &features {
                weighted::add(&mut sums, feature.text.as_bytes(), 1.0).unwrap();
            }
            assert_eq!(weighted::majority(&sums), fingerprint);
        }
    }
    HeintzeParameters::new(10, 8).unwrap().sketch(text, &[], &mut || ()).unwrap();
});

//! Any text has a fingerprint in every scheme, and features that make it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use text::features::Scheme;
use text::fingerprint::SimHasher;
use text::fingerprint::explain::features;
use text::fingerprint::weighted;
use text::sketch::heintze;

fuzz_target!(|text: &str| {
    let mut hasher = SimHasher::default();
    let majorities = [Scheme::Doc1, Scheme::SimhashDoc, Scheme::Words(1), Scheme::Words(3), Scheme::Chars(3)];
    for scheme in majorities.into_iter().chain([Scheme::Doc2, Scheme::CommonCrawl]) {
        let fingerprint = hasher.fingerprint(text, scheme, &mut || ()).unwrap();
        let features = features(text, scheme, &mut || ()).unwrap();
        assert_eq!(fingerprint.is_none(), features.is_empty());
        if majorities.contains(&scheme) {
            let mut sums = weighted::NOTHING;
            for feature in &features {
                weighted::add(&mut sums, feature.text.as_bytes(), 1.0).unwrap();
            }
            assert_eq!(weighted::majority(&sums), fingerprint);
        }
    }
    heintze::HeintzeParameters::new(10, 8).unwrap().sketch(text, &[], &mut || ()).unwrap();
});

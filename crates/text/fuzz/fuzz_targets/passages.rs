//! Passages are at their positions, cannot be extended, and cover everything that two texts share.
#![no_main]

use libfuzzer_sys::fuzz_target;
use text::passage::shared_passages;

fuzz_target!(|input: (u8, &str, &str)| {
    let length = usize::from(input.0 % 20) + 1;
    let a = input.1;
    let b = input.2;
    let x: Vec<char> = a.chars().collect();
    let y: Vec<char> = b.chars().collect();
    let mut covered = vec![false; y.len()];
    for passage in shared_passages(a, b, length, &mut || ()).unwrap() {
        let in_a = &x[passage.a_position..passage.a_position + passage.length];
        let in_b = &y[passage.b_position..passage.b_position + passage.length];
        assert!(in_a == in_b && in_b.iter().collect::<String>() == passage.text && passage.length >= length);
        assert!(a != b || passage.text == a);
        covered[passage.b_position..passage.b_position + passage.length].fill(true);
    }
    for (at, window) in y.windows(length).enumerate() {
        let is_shared = x.windows(length).any(|other| other == window);
        assert!(!is_shared || covered[at..at + length].iter().all(|covered| *covered));
    }
});

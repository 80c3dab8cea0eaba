//! Tests that the fast ways to words and the Unicode crates find the same words.

use super::Features;
use crate::features::Consumer;
use crate::features::words::runs::{MAX_RUN, PIECE};
use crate::features::words::{BUFFERED, Keep, ReadableWord, Words};
use proptest::prelude::*;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Finds the words of a text in both ways.
#[derive(Default)]
struct Both {
    fast: Words,
    slow: Words,
}

impl Both {
    fn assert_equal(&mut self, text: &str) {
        for keep in [Keep::All, Keep::Prose] {
            self.fast.clear();
            self.fast.add_all(text, keep).unwrap();
            self.slow.clear();
            self.slow.add_all_by_definition(text, keep);
            if (&self.fast.text, &self.fast.starts) != (&self.slow.text, &self.slow.starts) {
                let [fast, slow] = [&self.fast, &self.slow].map(|words| String::from_utf8_lossy(&words.text));
                panic!("{keep:?} of {text:?}\nfast: {fast:?}\nslow: {slow:?}");
            }
        }
        let mut in_place = InPlace(String::new());
        self.fast.each_of_prose(text, &mut in_place).unwrap();
        assert_eq!(in_place.0.as_bytes(), self.slow.text, "words in place of {text:?}");
    }
}

/// Words where they stand, each followed by a blank, as in the buffer.
struct InPlace(String);

impl<'w> Consumer<ReadableWord<'w>> for InPlace {
    fn take(&mut self, word: ReadableWord<'w>) {
        let bytes: Vec<u8> = word.bytes[..word.length].iter().map(|byte| byte | word.set).collect();
        assert!(!word.is_short || word.length <= 16, "{} bytes", word.length);
        self.0 += std::str::from_utf8(&bytes).unwrap();
        self.0 += " ";
    }

    fn pause(&mut self) {}
}

fn assert_equal(text: &str) {
    Both::default().assert_equal(text);
}

/// Surroundings of a character: letters, digits and marks of several kinds, and characters that join.
const CONTEXTS: [(&str, &str); 20] = [
    ("", ""),
    ("a", "b"),
    ("1", "2"),
    ("a.", "b"),
    ("a", ".b"),
    ("ö", "ß"),
    ("a’", "b"),
    ("„", "’É"),
    ("1,", "2"),
    ("a.", ""),
    ("\u{5d0}\"", "\u{5d0}"),
    ("ァ", "_"),
    ("日", "日"),
    ("\u{e9}", "\u{301}"),
    ("E\u{327}", "\u{327}"),
    ("x\u{316}", "\u{345}a"),
    ("a\u{301}", "\u{316}."),
    ("\u{1f1e6}", "\u{1f1e6}"),
    ("\u{1100}", "\u{1161}\u{11a8}"),
    ("\u{85}\u{80}", "\u{ad}\u{200d}\u{301}"),
];

#[test]
fn every_character_in_contexts() {
    let mut both = Both::default();
    for c in '\0'..=char::MAX {
        let is_sample = u32::from(c) % 512 == 0;
        let category = c.general_category();
        if is_sample || !matches!(category, GeneralCategory::Unassigned | GeneralCategory::PrivateUse) {
            let text: Vec<String> =
                CONTEXTS.iter().map(|(before, after)| format!("{before}{c}{after}")).collect();
            both.assert_equal(&text.join(" "));
        }
    }
}

/// One character of each class, and some that normalization changes.
const REPRESENTATIVES: [&str; 16] = [
    "!",
    "a",
    "\u{5d0}",
    "1",
    "カ",
    "_",
    ":",
    ",",
    ".",
    "'",
    "\"",
    "\u{301}",
    "\u{1f1e6}",
    "\u{5b0}",
    "日",
    " ",
];

#[test]
fn every_short_sequence_of_classes() {
    let mut both = Both::default();
    let count = REPRESENTATIVES.len();
    for length in 1..=5 {
        // Of the longest texts, only every third is tested.
        let step = if length == 5 { 3 } else { 1 };
        for number in (0..count.pow(length)).step_by(step) {
            let digits = (0..length).map(|place| number / count.pow(place) % count);
            let text: String = digits.map(|digit| REPRESENTATIVES[digit]).collect();
            both.assert_equal(&text);
        }
    }
}

/// Characters that windows of mostly ASCII text handle, that they leave to others, and borderline cases.
const OF_WINDOWS: [&str; 19] = [
    "a", "Z", "7", " ", ".", ",", "_", "é", "Ü", "ß", "ẞ", "ĳ", "ŉ", "İ", "’", "“", "…", "\u{a0}", "\u{301}",
];

#[test]
fn every_short_sequence_in_windows() {
    let mut both = Both::default();
    let count = OF_WINDOWS.len();
    for number in 0..count.pow(4) {
        let text: String = (0..4).map(|place| OF_WINDOWS[number / count.pow(place) % count]).collect();
        both.assert_equal(&format!("{text} plain"));
    }
}

/// Accents, quotes and parts of addresses, at every place of a window and across its end.
#[test]
fn windows_end_at_any_character() {
    let mut both = Both::default();
    let text =
        "Größe l’Œuvre «ĳs»… É’1’2’x ſo ŉa me@exämple.org www.über.de/ß d41d8cd98f00b204é\u{327} paral·lel ";
    for before in 0..70 {
        for (end, _) in text.char_indices() {
            both.assert_equal(&format!(
                "{}{}",
                "x ".repeat(before / 2) + &"x".repeat(before % 2),
                &text[..end]
            ));
        }
    }
}

proptest! {
    /// Words with and without digits, digests, and words with bytes that prose drops, at any place of a window.
    #[test]
    fn windows_have_words_of_every_kind_and_length(
        words in prop::collection::vec(
            prop_oneof![
                "[a-zA-Z]{1,40}", "[0-9]{1,8}", "[a-z0-9]{1,20}", "[0-9a-fF]{14,18}", "[a-f]{15,17}", "_{1,3}",
                "[a-zA-Z]{1,9}([_'.:][a-zA-Z0-9]{1,9}){1,4}", "[0-9]{1,5}([.,][0-9]{1,3}){1,3}", "[a-z]{1,8}é[a-z]{0,12}",
            ],
            0..30,
        ),
        blanks in 0..64usize,
    ) {
        assert_equal(&(" ".repeat(blanks) + &words.join(" ")));
    }

    /// Runs in ASCII that are longer than a window, as in programs, with addresses and controls; some also have
    /// a character beyond ASCII.
    #[test]
    fn long_runs_are_cut_at_punctuation(
        parts in prop::collection::vec(
            prop_oneof![
                4 => "[a-zA-Z0-9]{1,40}",
                4 => "[a-z0-9]{1,9}([_'.:,;@][a-zA-Z0-9]{1,9}){1,4}",
                4 => "[!-/:-@\\[-`{-~]{1,3}",
                1 => "[\x01-\x08\x7f]",
                1 => "[(\"](www[.]a[.]b|http://c/d|me@x[.]y)[)\"]",
                1 => "[0-9a-f]{15,17}",
            ],
            0..40,
        ),
        last in prop_oneof![3 => Just(""), 1 => Just("é"), 1 => Just("=\u{338}a")],
    ) {
        assert_equal(&(parts.concat() + last));
    }
}

/// One or two sentences in many scripts, with digits, quotes, marks and full-width forms.
const TEXTS: [&str; 18] = [
    "“Don’t panic,” she said — it’s 3.14 o’clock at www.example.org; café, naïve, ﬁne, Ⅷ, e.g. B2B.",
    "Die Übergröße der Straße beträgt 12,5 km; „GRÜẞE“ aus Köln-Ehrenfeld an me@example.org.",
    "L’été dernier, l'œuvre d’Élodie coûtait 1 234,50 € – c’était très cher.",
    "Быстрая коричневая лиса прыгает через ленивую собаку, а потом возвращается домой. Ёлка, И\u{306}од.",
    "Η γρήγορη καφέ αλεπού πηδά πάνω από το τεμπέλικο σκυλί. ᾷ ᾼδης, ΟΔΟΣ, ὕ\u{345}.",
    "敏捷的棕色狐狸跳过了懒狗，然后回到了它在森林里的家。《红楼梦》共１２０回，ＡＢＣ。",
    "速い茶色の狐がのろまな犬を飛び越えた。ガ\u{3099}ーﾊﾞｰ、コンピューター、㍿ 平成31年。",
    "빠른 갈색 여우가 게으른 개를 뛰어넘는다. 한글은 1443년에 만들어졌다. \u{1112}\u{1161}\u{11ab}글",
    "الثعلب البني السريع يقفز فوق الكلب الكسول ثُمَّ يعود إلى بيته. ٱلْعَرَبِيَّة ﷺ ﻻ ١٢٣٫٤ هـ\u{654}ة",
    "השועל החום המהיר קופץ מעל הכלב העצלן. צה\"ל, ג'ירפה, שָׁלוֹם עֲלֵיכֶם, ד\"ר, ק'.",
    "तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है। क\u{93c} क़ हिन्दी में १२३ और क्षत्रिय।",
    "দ্রুত বাদামী শিয়াল অলস কুকুরের উপর লাফ দেয়। ড\u{9bc} কো ক\u{9c7}\u{9be}।",
    "รวดเร็วสุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ กำลัง ๑๒๓ น\u{e4d}\u{e32}",
    "Con cáo nâu nhanh nhẹn nhảy qua con chó lười. Tie\u{302}\u{301}ng Vie\u{323}\u{302}t, ĐƯỜNG.",
    "ຫມາຈອກສີນ້ຳຕານ ကောင်းသော မြန်မာ ខ្មែរ བོད་ཡིག ཀྵ ఆంధ్ర தமிழ் கொ ಕನ್ನಡ മലയാളം",
    "ქართული ენა, Հայերեն լեզու՞, አማርኛ፡ቋንቋ። ᏣᎳᎩ ꭰ 𐐀𐐨 𝐁𝐨𝐥𝐝 ⓐ ¼ x² № ™",
    "👩\u{200d}👩\u{200d}👧 🇩🇪🇫🇷 ☺\u{fe0f} 1\u{fe0f}\u{20e3} \u{feff}zero\u{200b}width soft\u{ad}hyphen tab\tnew\r\nline\u{85}next\u{a0}nbsp\u{3000}wide",
    "İstanbul’da ılık ŉ ǰ ẖ ΐ ſtraße; isbn:0451450523 DOI:10.1000/182 550e8400-e29b-41d4-a716-446655440000 d41d8cd98f00b204é",
];

#[test]
fn whole_texts_at_every_place() {
    let mut both = Both::default();
    let all = TEXTS.join(" ");
    for before in ["", " ", "x", "é"] {
        for count in 0..=80 {
            for text in TEXTS {
                both.assert_equal(&(before.repeat(count) + text));
            }
            both.assert_equal(&(before.repeat(count) + &all.repeat(2)));
        }
    }
}

#[test]
fn pieces_end_at_any_character() {
    let mut both = Both::default();
    let all = TEXTS.join(" ");
    let starts: Vec<usize> = all.char_indices().map(|(at, _)| at).collect();
    for start in starts {
        let end = all.ceil_char_boundary((start + PIECE + 40).min(all.len()));
        both.assert_equal(&all[start..end]);
    }
}

#[test]
fn shingles_of_whole_texts() {
    let text = TEXTS.join("\n").repeat(20);
    assert!(text.len() > BUFFERED);
    for keep in [Keep::All, Keep::Prose] {
        let mut defined = Words::default();
        defined.add_all_by_definition(&text, keep);
        let defined = String::from_utf8(defined.text).unwrap();
        let words: Vec<&str> = defined.split_terminator(' ').collect();
        for k in 1..=4 {
            let mut features = Features::default();
            Words::default().shingles(&text, k, keep, &mut features).unwrap();
            let expected: Vec<String> = words.windows(k).map(|shingle| shingle.join(" ")).collect();
            assert!(features.0 == expected, "{keep:?}, {k} words");
        }
    }
}

#[test]
fn runs_that_are_split() {
    let mut both = Both::default();
    for text in TEXTS.into_iter().chain(["f(a_b.c,x[3]->d)*\"e\";x@y!10.5:z"]) {
        let run: String = text.split_ascii_whitespace().collect();
        for shift in 0..4 {
            let mut long = "x".repeat(shift);
            while long.len() < 2 * MAX_RUN + 100 {
                long.push_str(&run);
            }
            both.assert_equal(&long);
        }
    }
}

#[test]
fn folding_moves_the_iota_of_a_letter_behind_its_marks() {
    assert_equal("ᾷ\u{301} ᾷ\u{316} ᾷ\u{323} ᾳ\u{342} α\u{345}\u{342}");
}

#[test]
fn a_mid_character_may_have_an_alphabetic_mark() {
    for mid in [":", ".", "'", ",", "\""] {
        for mark in ["\u{5b0}", "\u{93e}", "\u{363}"] {
            let part = format!("{mid}{mark}");
            assert_equal(&format!(
                "a{part} a{part}b 1{part}2 1{part} \u{5d0}{part}! \u{5d0}{part}\u{5d0} ._{part}"
            ));
        }
    }
}

#[test]
fn a_mark_may_compose_with_the_letter_of_a_composed_character() {
    assert_equal("é\u{327} É\u{327} ê\u{323} ệ\u{301} e\u{316}\u{301} ự\u{308} Å\u{327}");
}

#[test]
fn controls_stand_between_a_letter_and_its_mark_or_not() {
    assert_equal(
        "e\u{80}\u{301} e\u{1}\u{301} e\u{85}\u{301} e\u{7f}\u{301} e\u{9f}\u{316}\u{301} \u{1}\u{301}",
    );
}

#[test]
fn tibetan_and_jamo_compose_with_characters_that_are_no_marks() {
    assert_equal(
        "\u{1100}\u{1161}\u{11a8} 가\u{11a8} \u{f71}\u{f72} \u{f73} \u{11099}\u{110ba} \u{9c7}\u{9be}",
    );
}

/// Characters from which words, marks and changes of all kinds arise.
fn tricky_text() -> impl Strategy<Value = String> {
    "[aEß19._:,;'\"@/\\- \n\u{1}\u{85}\u{ad}\u{200d}\u{301}\u{327}\u{316}\u{345}\u{342}éÉᾷΣ\u{5d0}\u{5b0}カﾞ日本語한\u{11a8}ก\u{e33}\u{e48}क\u{93c}\u{94d}ب\u{64b}\u{654}🇩🇪ﷺﬁⅧ，　]{0,60}"
}

/// Letters of Latin-1 and beyond, folded and not, with quotes and marks, in windows of ASCII.
fn latin_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~éß’“]{0,200}",
        "[ a-zA-Z0-9.,:'_@/À-ɏ‘’“”…«»\u{a0}-¿Ạ-ỹ\u{300}-\u{304}]{0,200}",
        "[a-e À-ÿ’]{0,200}"
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn random_text(text in prop_oneof!["\\PC{0,60}", "(?s).{0,60}", tricky_text(), latin_text()]) {
        assert_equal(&text);
    }

    #[test]
    fn mixtures_of_whole_texts(parts in prop::collection::vec((0..TEXTS.len(), 0usize..200, 0usize..200, tricky_text()), 0..30)) {
        let mut text = String::new();
        for (number, from, to, tricky) in parts {
            let part = TEXTS[number];
            let [from, to] = [from.min(to), from.max(to)].map(|at| part.floor_char_boundary(at));
            text.push_str(&part[from..to]);
            text.push_str(&tricky);
        }
        assert_equal(&text);
    }
}

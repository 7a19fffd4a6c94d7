use proptest::bool::ANY;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::text::Language;

#[test]
fn periods_after_numbers_depend_on_what_follows() {
    let ends = |line: &str, language: Language, ends: &[usize]| {
        let mut ends = ends.to_vec();
        correct(line, language.rules(), |word| word == "bek.", &mut ends);
        ends
    };
    for (line, learned, right) in [
        ("am 3. Mai", &[2, 4, 5, 9][..], &[2, 5, 9][..]),
        ("am 3. mal", &[2, 4, 5, 9], &[2, 5, 9]),
        ("es 3. Da", &[2, 5, 8], &[2, 4, 5, 8]),
        ("es war 1990.", &[2, 6, 12], &[2, 6, 11, 12]),
        ("z. B. da", &[1, 2, 4, 5, 8], &[2, 5, 8]),
        ("z.B. da", &[4, 7], &[4, 7]),
        ("im 2. Akt", &[2, 4, 5, 9], &[2, 5, 9]),
        ("im 2. Er", &[2, 5, 8], &[2, 4, 5, 8]),
        ("3. 5. 2021", &[1, 2, 4, 5, 10], &[2, 5, 10]),
        ("Torstr. 5", &[6, 7, 9], &[7, 9]),
        ("ein Tor.", &[3, 8], &[3, 7, 8]),
        ("bek. da", &[4, 7], &[4, 7]),
        ("es 5 \u{b0}C. Da", &[2, 4, 9, 12], &[2, 4, 8, 9, 12]),
        ("5 km/h. Da", &[1, 7, 10], &[1, 6, 7, 10]),
        ("...", &[3], &[3]),
        ("", &[], &[]),
    ] {
        assert_eq!(ends(line, Language::German, learned), right, "{line}");
    }
    assert_eq!(ends("le 3. Il", Language::French, &[2, 5, 8]), [2, 4, 5, 8]);
}

#[test]
fn quotation_marks_and_brackets_are_words() {
    for (line, learned, right) in [
        ("\u{ab}Ja\u{bb},", &[7][..], &[2, 4, 6, 7][..]),
        ("\"(a)\"", &[5], &[1, 2, 3, 4, 5]),
        ("\u{bf}Y?", &[4], &[2, 4]),
        ("ami(s) (ou", &[6, 10], &[6, 8, 10]),
        (":-)", &[3], &[3]),
        ("A\u{2000}]", &[1, 5], &[1, 5]),
        ("\u{56fd}(1)", &[6], &[3, 4, 5, 6]),
        ("\u{7b11}\u{ff09}", &[6], &[3, 6]),
        ("\u{56fd}\u{ff08}\u{682a}\u{ff09}", &[12], &[3, 6, 9, 12]),
        // The reading of the character before it.
        ("\u{56fd}\u{ff08}\u{304f}\u{306b}\u{ff09}", &[15], &[15]),
    ] {
        let mut ends = learned.to_vec();
        correct(line, Language::Other.rules(), |_| false, &mut ends);
        assert_eq!(ends, right, "{line}");
    }
}

#[test]
fn pronouns_after_a_verb_and_a_hyphen_are_words() {
    for (line, learned, right) in [
        ("Est-ce toi ?", &[6, 10, 12][..], &[3, 6, 10, 12][..]),
        ("Donne-le-moi!", &[5, 6, 8, 9, 12, 13], &[5, 8, 12, 13]),
        ("A-t-il", &[2, 6], &[1, 6]),
        ("VAS-Y.", &[6], &[3, 5, 6]),
        ("vas-y...", &[5, 8], &[3, 5, 8]),
        ("\u{c9}tais-tu", &[9], &[6, 9]),
        ("un rendez-vous", &[2, 14], &[2, 14]),
        ("garde-\u{e0}-vous", &[13], &[13]),
        ("Aix-les-Bains", &[13], &[13]),
        ("jusque-l\u{e0}", &[10], &[10]),
        ("celui-la\u{300}", &[10], &[10]),
        ("vas-y.fr", &[8], &[8]),
        ("elle -il", &[4, 8], &[4, 8]),
        ("--il-", &[5], &[5]),
    ] {
        let mut ends = learned.to_vec();
        let rules = Language::French.rules();
        correct(line, rules, |word| word == "rendez-vous", &mut ends);
        assert_eq!(ends, right, "{line}");
    }
    let line = format!("a{}", "-t-il".repeat(100_000));
    let mut ends = vec![line.len()];
    correct(&line, Language::French.rules(), |_| false, &mut ends);
    assert_eq!(ends, [line.len()]);
}

/// What the rules look at.
const PARTS: [&str; 12] =
    ["-il", "-t-il", "-le", "\u{e9}", "\u{300}", ".", "(", ")", "\"", " ", "a", "3"];

proptest! {
    #[test]
    fn corrected_ends_ascend_and_lie_between_characters(
        parts in proptest::collection::vec((select(&PARTS), ANY), 0..24),
    ) {
        let (mut line, mut ends) = (String::new(), Vec::new());
        for (part, is_end) in parts {
            line.push_str(part);
            if is_end {
                ends.push(line.len());
            }
        }
        correct(&line, Language::French.rules(), |word| word == "a-il", &mut ends);
        prop_assert!(ends.is_sorted_by(|a, b| a < b));
        prop_assert!(ends.iter().all(|&end| line.is_char_boundary(end)));
    }
}

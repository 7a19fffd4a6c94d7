#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

use std::path::PathBuf;

use compact_str::CompactString;
use proptest::prelude::*;

use super::super::spacing::{SpacedLine, Spacing};
use super::*;
use crate::preset::{Preset, TreebankProfile};
use crate::text::chunk;
use crate::text::{Compounds, TextSettings, Tokenization, Tokenizer};
use crate::tree::Token;
use crate::treebank::{ReadOptions, read_all};

/// Words without tags.
fn words(text: &str) -> Vec<Vec<Token>> {
    text.lines().map(|line| line.split(' ').map(Token::untagged).collect()).collect()
}

fn trained(text: &str) -> Segmenter {
    let sentences: Vec<_> = (0..30).flat_map(|_| words(text)).collect();
    let sentences: Vec<_> = sentences.iter().map(Vec::as_slice).collect();
    Segmenter::train(&sentences, (TextSettings::default(), &["nya".to_owned()]), 1)
}

/// The words of the first sentence of a text.
fn split(segmenter: &Segmenter, text: &str) -> String {
    let settings = TextSettings { tokenization: Tokenization::Learned, ..TextSettings::default() };
    let tokenizer = Tokenizer::new(settings, Some(segmenter.clone()));
    let found = tokenizer.sentences(text);
    // White space inside a word would look like that between words.
    let words = found[0].tokens.iter().map(|token| token.word.replace(' ', "␣"));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn words_of_a_script_without_spaces_are_found() {
    let segmenter = trained("犬 が 走る 。\n猫 が 寝る 。\n犬 と 猫 。");
    assert_eq!(split(&segmenter, "猫が走る。犬が寝る。"), "猫 が 走る 。");
}

#[test]
fn words_of_other_scripts_are_whole_and_full_width_forms_count() {
    let segmenter = trained("犬 が A B を 見 る ！\n猫 が 20 0 年 寝 る 。");
    assert_eq!(split(&segmenter, "犬がiPhoneを見る!"), "犬 が iPhone を 見 る !");
    assert_eq!(split(&segmenter, "猫が2020年寝る。"), "猫 が 2020 年 寝 る 。");
}

#[test]
fn text_in_a_script_that_the_treebank_does_not_have_is_refused() {
    let refused = |treebank: &str, text: &str| {
        let settings =
            TextSettings { tokenization: Tokenization::Learned, ..TextSettings::default() };
        Tokenizer::new(settings, Some(trained(treebank))).refuses(text).is_some()
    };
    let (japanese, french) = ("犬 が 走る 。\n猫 が 寝る 。", "un lac d' eau .\nun lac .");
    assert!(!refused(japanese, "猫だ。ヘェー"));
    assert!(refused(japanese, "\u{e2a}\u{e27}\u{e31}\u{e2a}\u{e14}\u{e35}"));
    assert!(refused(french, "猫が走る。"));
    assert!(!refused(french, "猫") && !refused(french, "un lac 猫が"));
}

#[test]
fn endings_and_elisions_are_split_and_addresses_are_not() {
    let segmenter = trained("kata nya , anjing\nanjing nya lari .\nkatanya tidak .");
    assert_eq!(split(&segmenter, "kata, anjingnya lari."), "kata , anjing nya lari .");
    assert_eq!(
        split(&segmenter, "lihat http://a.example/b,c lari."),
        "lihat http://a.example/b,c lari ."
    );
    assert_eq!(split(&segmenter, "kata :-D dan <3 lari"), "kata :-D dan <3 lari");
    let segmenter = trained("l' eau d' un lac .\nun lac d' eau .");
    assert_eq!(split(&segmenter, "L'eau d'un lac."), "L' eau d' un lac .");
}

#[test]
fn accents_emoji_soft_hyphens_and_white_space_do_not_change_words() {
    let segmenter = trained("l' \u{e9}t\u{e9} , un_peu d' eau .\nun_peu d' \u{e9}t\u{e9} .");
    assert_eq!(
        split(&segmenter, "L'e\u{301}te\u{301}, un  peu d'\u{ad}e\u{ad}au."),
        "L' \u{e9}t\u{e9} , un_peu d' eau ."
    );
    let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}";
    assert_eq!(split(&segmenter, &format!("un lac {family} .")), format!("un lac {family} ."));
    assert_eq!(split(&segmenter, "\u{ad} eau\u{200b} \u{ad}"), "eau");
    assert_eq!(split(&segmenter, " \u{200b} \u{ad}"), "\u{200b}");
    // Marks that combine with white space.
    assert_eq!(split(&segmenter, "eau \u{301} \u{600} eau"), "eau \u{301} \u{600} eau");
}

#[test]
fn the_marks_of_the_treebank_are_written() {
    let segmenter = trained("hund$ $urin goyr .\nvit síggja hund$ $in .");
    assert_eq!(split(&segmenter, "hundurin goyr."), "hund$ $urin goyr .");
    let segmenter = trained("par_exemple , un lac .\nun lac par_exemple .");
    assert_eq!(split(&segmenter, "un lac, par exemple."), "un lac , par_exemple .");
}

#[test]
fn words_with_white_space_are_numbers_or_those_of_the_treebank() {
    let segmenter = trained("par_exemple , il_y_a un_peu de l'un_l'autre .");
    let corrected = |joined: &str| {
        let line = joined.replace('_', " ").replace('|', "");
        let mut ends = Vec::new();
        joined.split('|').fold(0, |end, word| {
            ends.push(end + word.len());
            end + word.len()
        });
        segmenter.correct_joined(&line, true, &mut ends);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let words = starts.zip(&ends).map(|(start, &end)| line[start..end].trim());
        words.collect::<Vec<_>>().join("|")
    };
    for (joined, expected) in [
        ("un_lac|,| Par\u{a0}exemple", "un|lac|,|Par\u{a0}exemple"),
        ("l\u{2019}un_l\u{2019}autre| lac", "l\u{2019}un l\u{2019}autre|lac"),
        ("il_y| a", "il y a"),
        ("qu'|il| y_a", "qu'|il y a"),
        ("par_exemple_un_peu", "par exemple|un peu"),
        ("10_000| 1_234_567,89| 2019_2020| 12h30_12", "10 000|1 234 567,89|2019|2020|12h30|12"),
        ("1_000_000_000_000_000", "1 000 000 000 000|000"),
    ] {
        assert_eq!(corrected(joined), expected, "{joined}");
    }
}

#[test]
fn an_address_ends_the_words_beside_it() {
    let segmenter = trained("par_exemple , un lac .\nun lac , par_exemple .");
    for (line, expected) in [
        ("par exemple http://a.example/par exemple", "par_exemple http://a.example/par exemple"),
        ("par exemple@x.fr", "par exemple@x.fr"),
    ] {
        assert_eq!(split(&segmenter, line), expected);
    }
}

#[test]
fn it_is_stored_and_loaded() {
    let segmenter = trained("犬 が 走る 。");
    let mut sections = Sections::default();
    segmenter.clone().store(&mut sections);
    let loaded = Segmenter::load(&sections).unwrap().unwrap();
    assert_eq!(split(&loaded, "犬が走る。"), split(&segmenter, "犬が走る。"));
    assert!(Segmenter::load(&Sections::default()).unwrap().is_none());
    for damaged in ["weights", "classes"] {
        let mut sections = sections.clone();
        let name = format!("{PART}/{damaged}");
        let section = sections.0.iter_mut().find(|section| section.name == name).unwrap();
        section.bytes = vec![0_u8; 3].into();
        assert!(Segmenter::load(&sections).is_err(), "{damaged}");
    }
}

fn preset(profile: &str) -> Preset {
    let profile = TreebankProfile::load(profile).unwrap();
    Preset::load_for("fast", Some(&profile), &[]).unwrap()
}

proptest! {
    #[test]
    fn no_character_is_lost(lines in proptest::collection::vec("[ \\PC犬が走る。.,'a-c0-9@:/w]{0,40}", 0..4)) {
        let segmenter = trained("犬 が 走る 。\nl' eau_b a$ $b , c .");
        let settings = TextSettings { tokenization: Tokenization::Learned, ..TextSettings::default() };
        let text = lines.join("\n");
        let found = Tokenizer::new(settings, Some(segmenter)).sentences(&text);
        let surfaces = found.iter().flat_map(|sentence| sentence.layout.surfaces());
        let visible = |text: &str| text.split_whitespace().collect::<String>();
        let all: String = surfaces.map(visible).collect();
        prop_assert_eq!(all, visible(&text));
        let spans = found.iter().flat_map(|sentence| &sentence.layout.spans);
        let ends: Vec<(u64, u64)> = spans.map(|span| (span.start, span.end)).collect();
        prop_assert!(ends.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }
}

/// The tokens of the trees of a treebank; `None` where there are no treebanks.
fn of_treebank(name: &str, profile: &str) -> Option<Vec<Vec<Token>>> {
    let path = std::env::var_os("SRPARSE_TREEBANKS").map(|folder| PathBuf::from(folder).join(name));
    let path = path.filter(|path| path.exists());
    assert!(
        path.is_some() || std::env::var_os("SRPARSE_REQUIRE_TREEBANKS").is_none(),
        "SRPARSE_REQUIRE_TREEBANKS is set and there is no {name} in SRPARSE_TREEBANKS"
    );
    let preset = preset(profile);
    let (trees, _) = read_all(&[path?], &ReadOptions::default()).unwrap();
    let trees = trees.into_iter().filter_map(|tree| preset.clean.strip(tree));
    Some(trees.map(|tree| tree.tokens().to_vec()).collect())
}

/// F1 of the words of a line.
fn matches(tokenizer: &Tokenizer, line: &SpacedLine) -> [usize; 3] {
    let mut pieces = Vec::new();
    chunk::split(&line.text, 0..line.text.len(), tokenizer, &mut pieces);
    let found: Vec<_> = pieces.iter().map(|piece| (piece.start, piece.end)).collect();
    let spans = |ends: &[usize]| {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let start = |start: usize| {
            let rest = &line.text[start..];
            start + rest.len() - rest.trim_start().len()
        };
        starts.zip(ends).map(|(from, &to)| (start(from), to)).collect::<Vec<_>>()
    };
    let gold = spans(&line.ends);
    let both = found.iter().filter(|span| gold.binary_search(span).is_ok()).count();
    [gold.len(), found.len(), both]
}

/// `cargo test --lib words_of_treebanks -- --nocapture` prints the figures.
#[test]
#[allow(clippy::print_stdout)]
fn words_of_treebanks_are_found_in_their_texts() {
    for (dev, profile, train, at_least) in [
        ("keyaki/dev.psd", "keyaki", &["keyaki/train.psd"][..], 94.6),
        ("sinica/dev.mrg", "ptb", &["sinica/train.mrg"], 87.7),
        ("icon/dev.mrg", "icon", &["icon/train.mrg"], 99.6),
        ("sequoia/dev.mrg", "ptb", &["sequoia/train.mrg"], 98.3),
        ("greynir/dev.mrg", "greynir", &["greynir/train.mrg"], 99.9),
        ("farpahc/dev.psd", "ppche", &["farpahc/train1.psd", "farpahc/train2.psd"], 98.1),
        ("squoia/de-dev.xml", "squoia", &["squoia/de-train.xml"], 99.9),
        ("squoia/es-dev.xml", "squoia", &["squoia/es-train.xml"], 99.9),
        ("alpino/dev.export", "ptb", &["alpino/train.export"], 99.9),
    ] {
        let train: Option<Vec<_>> = train.iter().map(|&file| of_treebank(file, profile)).collect();
        let (Some(train), Some(test)) =
            (train.map(|parts| parts.concat()), of_treebank(dev, profile))
        else {
            continue;
        };
        let settings =
            TextSettings::default().resolved(train.iter().flatten().map(|token| &*token.word));
        let attached = preset(profile).clean.attached;
        let sentences: Vec<_> = train.iter().map(Vec::as_slice).collect();
        let segmenter = Segmenter::train(&sentences, (settings, &attached), 1);
        let tokenizer = Tokenizer::new(settings, Some(segmenter));
        let forms = |tokens: &Vec<Token>| tokens.iter().map(|token| token.word.clone()).collect();
        let train: Vec<Vec<CompactString>> = train.iter().map(forms).collect();
        let test = test.iter().map(forms).collect::<Vec<_>>();
        let spacing = Spacing::of(&train, settings.compounds == Compounds::Split, &attached);
        let mut all = [0; 3];
        for sentences in test.chunks(3) {
            let line = spacing.joined(sentences.iter().map(|words| spacing.line(words)));
            for (sum, n) in all.iter_mut().zip(matches(&tokenizer, &line)) {
                *sum += n;
            }
        }
        let [gold, found, both] = all;
        let f1 = 200.0 * both as f64 / (gold + found) as f64;
        println!("{dev}: F1 of words {f1:.2}, {:?}", tokenizer.settings().language);
        assert!(f1 >= at_least, "{dev}: {f1:.2}");
    }
}

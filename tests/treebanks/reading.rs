//! Reading and writing trees.

use crate::treebank;
use srparse::model::bincode_section;
use srparse::preset::TreebankProfile;
use srparse::symbols::Vocabulary;
use srparse::tree::draw;
use srparse::treebank::clean::reattach;
use srparse::treebank::lint::Lint;
use srparse::treebank::penn::{PennReader, write_line, write_pretty};
use srparse::treebank::{Cleaning, Encoding, ReadOptions, Trees, read_all};
use srparse::{Preset, Trainer, Tree, Treebank};

/// File, trees, words without traces (words with a thin or no-break space in them count once).
const COUNTS: [(&str, usize, usize); 11] = [
    ("craft/train.mrg", 18_951, 493_380),
    ("craft/dev.mrg", 2_780, 67_652),
    ("gum/train.mrg", 10_224, 177_410),
    ("gum/dev.mrg", 1_575, 28_119),
    ("gum/test.mrg", 1_464, 28_397),
    ("gum/train-open.mrg", 2_387, 48_772),
    ("sinica/train.mrg", 8_000, 72_242),
    ("sinica/dev.mrg", 1_000, 14_864),
    ("sinica/test.mrg", 1_000, 14_036),
    ("icon/train.mrg", 8_000, 145_794),
    ("icon/dev.mrg", 1_000, 18_291),
];

/// The marks of identifiers, empty elements and indices in raw Keyaki files, which are in no word.
const MARKS: [char; 4] = ['*', ';', '{', '}'];

#[test]
fn trees_and_words_are_as_many_as_published() {
    for (name, n_trees, n_words) in COUNTS {
        let Some(path) = treebank(name) else { return };
        let (trees, report) = read_all(&[path], &ReadOptions::default()).unwrap();
        let words =
            trees.iter().flat_map(|tree| tree.tokens()).filter(|t| t.tag != "-NONE-").count();
        assert_eq!((trees.len(), words), (n_trees, n_words), "{name}");
        assert_eq!(report.to_string(), format!("read {n_trees} trees, skipped 0"));
    }
}

#[test]
fn real_trees_are_written_and_read_again() {
    for (name, n_trees, _) in COUNTS {
        let Some(path) = treebank(name) else { return };
        let (trees, _) = read_all(&[path], &ReadOptions::default()).unwrap();
        let (mut line, mut pretty) = (Vec::new(), Vec::new());
        for tree in &trees {
            write_line(tree, &mut line).unwrap();
            write_pretty(tree, &mut pretty).unwrap();
        }
        for text in [line, pretty] {
            let mut reader = PennReader::new(&text[..], name, Encoding::Utf8);
            for tree in &trees {
                assert_eq!(reader.read().unwrap().as_ref(), Some(tree));
            }
            assert!(reader.read().unwrap().is_none(), "{name}: more than {n_trees} trees");
        }
    }
}

#[test]
fn real_trees_are_cleaned_and_get_their_tokens_back() {
    let everything = Cleaning {
        prt_to_advp: true,
        quotes: true,
        raise_punctuation: true,
        outermost_punctuation: true,
        ..Cleaning::default()
    };
    for (name, _, n_words) in COUNTS {
        let Some(path) = treebank(name) else { return };
        let (trees, _) = read_all(&[path], &ReadOptions::default()).unwrap();
        let mut words = 0;
        for tree in trees {
            let tokens = tree.tokens().to_vec();
            let default = Cleaning::default().apply(tree.clone());
            words += default.tokens().len();
            for node in default.nodes() {
                assert!(node.start < node.end, "{name}: an empty node {}", node.label);
                assert!(
                    !node.label.chars().skip(1).any(|c| "-=".contains(c)),
                    "{name}: {}",
                    node.label
                );
            }
            let positions = everything.apply_tokens(&tokens).positions;
            let tree = everything.apply(tree);
            assert_eq!(tree.nodes().last().unwrap().label, "TOP");
            assert_eq!(reattach(&tree, &positions, &tokens).tokens(), tokens);
            draw::text(&tree, &mut std::io::sink()).unwrap();
            draw::svg(&tree, &mut std::io::sink()).unwrap();
        }
        assert_eq!(words, n_words, "{name}");
    }
}

#[test]
fn nothing_but_words_tags_and_labels_of_raw_keyaki_files_reaches_a_model() {
    let profile = TreebankProfile::load("keyaki").unwrap();
    let settings = ["learner.epochs=1".to_owned(), "learner.models=1".to_owned()];
    let preset = Preset::load_for("fast", Some(&profile), &settings).unwrap();
    let clean = preset.clean.clone();
    for (name, n_trees, n_words) in
        [("keyaki/train.psd", 8_116, 166_351), ("keyaki/dev.psd", 784, 21_402)]
    {
        let Some(path) = treebank(name) else { return };
        let raw = Treebank::open(path).unwrap();
        let stripped = raw.stripped(&clean);
        let words: usize = stripped.trees.iter().map(|tree| tree.tokens().len()).sum();
        assert_eq!((stripped.trees.len(), words), (n_trees, n_words), "{name}");
        if name.ends_with("dev.psd") {
            let trainer = Trainer::with_preset(preset.clone()).unwrap();
            let model = trainer.train(&raw, &Treebank::default()).unwrap();
            let vocabulary: Vocabulary =
                bincode_section::get(&model.sections, "vocabulary").unwrap();
            let symbols = vocabulary.words().names().chain(vocabulary.tags().names());
            for text in symbols.chain(model.header.actions.iter().map(String::as_str)) {
                assert!(!text.contains(MARKS) && text != "ID", "{text}");
            }
            assert!(vocabulary.words().position("「").is_some());
            assert!(vocabulary.tags().position("-LRB-").is_some());
        }
    }
}

#[test]
fn the_lint_is_silent_about_clean_treebanks_and_speaks_about_raw_ones() {
    let found = |name: &str, cleaning: &Cleaning| -> Option<Vec<String>> {
        let mut lint = Lint::new(cleaning);
        let look = |tree: &Tree, trees: &Trees| lint.add(tree, &trees.place().unwrap());
        Treebank::read_and_visit(&[treebank(name)?], &ReadOptions::default(), look).unwrap();
        Some(lint.findings().iter().map(ToString::to_string).collect())
    };
    for name in [
        "craft/train.mrg",
        "gum/train.mrg",
        "gum/train-open.mrg",
        "sinica/train.mrg",
        "icon/train.mrg",
    ] {
        let Some(findings) = found(name, &Cleaning::default()) else { return };
        assert_eq!(findings, [""; 0], "{name}");
    }
    let profile = TreebankProfile::load("keyaki").unwrap();
    let keyaki = Preset::load_for("fast", Some(&profile), &[]).unwrap().clean;
    assert_eq!(found("keyaki/train.psd", &keyaki).unwrap(), [""; 0]);
    let raw = found("keyaki/train.psd", &Cleaning::default()).unwrap();
    for (finding, says) in raw.iter().zip([
        "words that look like empty elements: 32544, such as (NP-SBJ *",
        "labels with marks of functions or indices: ",
    ]) {
        assert!(finding.starts_with(says), "{finding}");
    }
}

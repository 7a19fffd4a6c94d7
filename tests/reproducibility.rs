//! One seed, one model: the number of threads and the run change no byte; a written model parses as the
//! one in memory. And learners learn a small treebank by heart.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod common;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use srparse::decode::Parser;
use srparse::model::{Model, file};
use srparse::observer::Silent;
use srparse::oracle::replay::same_brackets;
use srparse::preset::Preset;
use srparse::preset::fit::{TreeSet, Watch, fit};
use srparse::preset::load::load;
use srparse::preset::plan::Plan;
use srparse::tree::{Token, Tree};
use srparse::treebank::{ReadOptions, read_all};

use common::observer::Log;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample").join(name)
}

fn sample_trees() -> TreeSet {
    let (trees, _) = read_all(&[sample("train.mrg")], &ReadOptions::default()).unwrap();
    TreeSet { files: vec!["train.mrg".to_owned()], trees }
}

fn plan(preset: &str, settings: &[&str]) -> Plan {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    Plan::new(Preset::load(preset, &settings).unwrap()).unwrap()
}

fn train(plan: &Plan, train: &TreeSet, dev: &TreeSet) -> Model {
    let watch = Watch::new(&Silent);
    fit(plan, train, dev, 1, &watch).unwrap()
}

/// The bytes of the model that the command trains on the sample.
fn trained_by_command(options: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.srm");
    let mut command = Command::cargo_bin("srparse").unwrap();
    command.args(["train", "--quiet", "--train"]).arg(sample("train.mrg"));
    command.arg("--dev").arg(sample("dev.mrg")).arg("--model").arg(&model).args(options);
    command.assert().success();
    std::fs::read(model).unwrap()
}

/// Every learner and tagger, fast.
const LEARNERS: [&[&str]; 7] = [
    &["--preset", "fast", "--set", "epochs=3"],
    &["--preset", "sagae-lavie-2005-perceptron", "--set", "epochs=2"],
    &["--preset", "sagae-lavie-2005-maxent", "--set", "iterations=8"],
    &[
        "--preset",
        "liu-zhang-2017",
        "--set",
        "learner.epochs=2",
        "--set",
        "learner.batch=8",
        "--set",
        "network.lstm_dim=16",
    ],
    &["--preset", "tagger", "--set", "tagger.epochs=3"],
    &["--preset", "wang-2006-tagger", "--set", "max_epochs=2"],
    &["--jackknife", "3", "--set", "epochs=2"],
];

#[test]
fn the_number_of_threads_and_the_run_change_no_byte_of_a_model() {
    for learner in LEARNERS {
        let one = trained_by_command(&[learner, &["-j", "1"]].concat());
        let again = trained_by_command(&[learner, &["-j", "1"]].concat());
        assert!(one == again, "{learner:?}: two runs");
        let two = trained_by_command(&[learner, &["-j", "2"]].concat());
        assert!(one == two, "{learner:?}: 1 and 2 threads");
    }
}

#[test]
fn another_seed_gives_another_model() {
    let [one, two] =
        ["1", "2"].map(|seed| trained_by_command(&["--set", "epochs=2", "--seed", seed]));
    assert!(one != two);
}

#[test]
fn a_model_that_was_written_and_read_parses_the_same() {
    let train_trees = sample_trees();
    for (preset, setting) in [
        ("fast", "epochs=2"),
        ("sagae-lavie-2005-perceptron", "epochs=2"),
        ("sagae-lavie-2005-maxent", "iterations=8"),
    ] {
        let model = train(&plan(preset, &[setting]), &train_trees, &TreeSet::default());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.srm");
        file::write(&model, &path).unwrap();
        let stored = file::read(&path).unwrap();
        assert_eq!(model.header.actions, stored.header.actions);
        let (fresh, read) = (load(&model, &[]).unwrap(), load(&stored, &[]).unwrap());
        let (mut fresh, mut read) = (fresh.worker(), read.worker());
        let (dev, _) = read_all(&[sample("dev.mrg")], &ReadOptions::default()).unwrap();
        for tree in &dev {
            // Scores too, to the last bit.
            assert_eq!(fresh.parse(tree.tokens()), read.parse(tree.tokens()), "{preset}");
        }
    }
}

#[test]
fn a_worker_gives_the_same_parse_whatever_it_parsed_before() {
    let parser = load(&Model::embedded().unwrap(), &[]).unwrap();
    let trees = sample_trees().trees;
    let mut used = parser.worker();
    for tree in trees.iter().rev().chain(&trees) {
        let fresh = parser.worker().parse(tree.tokens());
        assert_eq!(used.parse(tree.tokens()), fresh);
    }
}

/// How many of the trees, cleaned as the plan says, a parser gives back.
fn exact(parser: &dyn Parser, plan: &Plan, trees: &[Tree]) -> usize {
    let mut worker = parser.worker();
    let gold = trees.iter().map(|tree| plan.preset.clean.apply(tree.clone()).tree);
    gold.filter(|gold| same_brackets(&worker.parse(gold.tokens()).tree, gold)).count()
}

/// Nothing is left out of the packed model: what is rare in a large treebank is all there is in a small
/// one.
const WHOLE: &str = "prune.min_row=0.0";

#[test]
fn twenty_trees_are_learned_by_heart() {
    let mut trees = sample_trees();
    trees.trees.truncate(20);
    for (preset, settings) in [
        ("fast", &[WHOLE, "exploration.probability=0.0"][..]),
        ("fast", &[WHOLE][..]),
        ("sagae-lavie-2005-perceptron", &["epochs=15"][..]),
        ("sagae-lavie-2005-maxent", &["gaussian_prior=1000.0"][..]),
    ] {
        let plan = plan(preset, settings);
        let parser = load(&train(&plan, &trees, &TreeSet::default()), &[]).unwrap();
        assert_eq!(exact(&*parser, &plan, &trees.trees), 20, "{preset} {settings:?}");
    }
}

#[test]
fn a_toy_grammar_is_learned_from_some_sentences_for_all() {
    let set = |trees| TreeSet { files: vec!["toy".to_owned()], trees };
    let plan = plan("fast", &["epochs=5", WHOLE]);
    let model = train(&plan, &set(common::toy::treebank(200, 1)), &TreeSet::default());
    let parser = load(&model, &[]).unwrap();
    let unseen = common::toy::treebank(100, 2);
    let exact = exact(&*parser, &plan, &unseen);
    assert!(exact >= 98, "{exact} of 100 exact");
}

#[test]
fn a_network_whose_training_was_broken_off_becomes_the_same() {
    let trees = sample_trees();
    let (dev, _) = read_all(&[sample("dev.mrg")], &ReadOptions::default()).unwrap();
    let dev = TreeSet { files: vec!["dev.mrg".to_owned()], trees: dev };
    let base =
        ["network.lstm_dim=16", "learner.moving_average=20.0", "max_words=15", "learner.epochs=4"];
    // With patience, and with no rate to learn by, the second epoch is no better than the first.
    let over = ["learner.patience=1", "learner.optimizer.rate=1e-30"];
    for (more, dev) in [(&[][..], &TreeSet::default()), (&over[..], &dev)] {
        let folder = tempfile::tempdir().unwrap();
        let settings = [&base[..], more].concat();
        let usual = plan("liu-zhang-2017", &settings);
        // Stops when so many sentences have been seen.
        let train_as = |plan: &Plan, stops: u64, checkpoint: Option<&Path>| {
            let log = Log::stopping_at(stops);
            let watch = Watch { checkpoint, ..Watch::new(&log) };
            let model = fit(plan, &trees, dev, 1, &watch).map(|model| {
                let mut bytes = Vec::new();
                file::write_to(&model, &mut bytes).unwrap();
                bytes
            });
            (model, log.text())
        };
        let train = |stops, checkpoint| train_as(&usual, stops, checkpoint);
        let n = trees.trees.iter().filter(|tree| tree.tokens().len() <= 15).count() as u64;
        let (whole, told) = train(u64::MAX, None);
        let whole = whole.unwrap();
        assert_eq!(told.contains("epoch 3:"), more.is_empty(), "{told}");
        assert!(train(0, Some(folder.path())).0.is_err(), "nothing was learned");
        // In the second epoch, at the end of the second, and not at all; then nothing is left to do.
        let last = if more.is_empty() { 4 } else { 2 };
        for (stops, done) in [(n + n / 2, 0), (2 * n, 1), (u64::MAX, 2), (u64::MAX, last)] {
            let (model, told) = train(stops, Some(folder.path()));
            let from = if done == 0 { String::new() } else { format!("checkpoint: {done}") };
            assert!(told.contains(&from), "{told}");
            assert_eq!(told.contains("checkpoint"), done > 0, "{told}");
            assert_eq!(told.contains("epoch 4:"), done == 2 && more.is_empty(), "{told}");
            // What stopped early is the same only where the first epoch stays the best.
            assert_eq!(model.unwrap() == whole, stops == u64::MAX || !more.is_empty(), "{told}");
        }
        // Another search may find another epoch the best.
        let beam = plan("liu-zhang-2017", &[&settings[..], &["search.method=beam"]].concat());
        assert!(!train_as(&beam, 2 * n, Some(folder.path())).1.contains("checkpoint"));
    }
}

#[test]
fn a_network_that_diverges_is_told_what_to_set() {
    let trees = sample_trees();
    for (clip, advice) in [("0", "a learner.clip, such as 5"), ("1e6", "or learner.clip")] {
        let clip = format!("learner.clip={clip}");
        let settings = ["learner.optimizer.rate=1e30", "network.lstm_dim=8", "max_words=15", &clip];
        let plan = plan("liu-zhang-2017", &settings);
        let error = fit(&plan, &trees, &TreeSet::default(), 1, &Watch::new(&Silent));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(advice), "{error}");
    }
}

#[test]
fn vectors_from_elsewhere_are_stored_in_the_model() {
    let (trees, folder) = (sample_trees(), tempfile::tempdir().unwrap());
    let path = folder.path().join("vectors.txt");
    // Words of the sample, and one that it has not.
    let words = trees.trees.iter().flat_map(|tree| tree.tokens()).map(|token| token.word.as_str());
    let lines = words.chain(["zyzzyva"]).map(|word| format!("{word} {} 1.0\n", word.len()));
    std::fs::write(&path, lines.collect::<String>()).unwrap();
    let vectors = format!("learner.pretrained={}", path.display());
    let settings = ["learner.epochs=1", "network.lstm_dim=16", "max_words=15", &vectors];
    let plan = plan("liu-zhang-2017", &settings);
    let model = train(&plan, &trees, &TreeSet::default());
    std::fs::remove_file(&path).unwrap();
    let file = folder.path().join("model.srm");
    file::write(&model, &file).unwrap();
    let parsers = [load(&model, &[]).unwrap(), load(&file::read(&file).unwrap(), &[]).unwrap()];
    let score = |parser: &dyn Parser, word: &str| {
        let tokens = [Token::new(word, "NNS"), Token::new("bark", "VBP")];
        parser.worker().parse(&tokens).score
    };
    for word in ["zyzzyva", "aardvark"] {
        assert_eq!(score(&*parsers[0], word), score(&*parsers[1], word), "{word}");
    }
    // Neither is in the sample, but one has a vector.
    assert_ne!(score(&*parsers[0], "zyzzyva"), score(&*parsers[0], "aardvark"));
}

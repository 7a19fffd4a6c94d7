//! One seed, one model: the number of threads and the run change no byte; a written model parses as the
//! one in memory. And learners learn a small treebank by heart.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use srparse::model::file;
use srparse::oracle::replay::same_brackets;
use srparse::{Error, Model, Parser, Preset, Token, Trainer, Tree, Treebank};

use crate::common::observer::Log;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample").join(name)
}

fn sample_trees() -> Treebank {
    Treebank::open(sample("train.mrg")).unwrap()
}

fn preset(name: &str, settings: &[&str]) -> Preset {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    Preset::load(name, &settings).unwrap()
}

/// Trains without a dev set.
fn train(preset: Preset, train: &Treebank) -> srparse::Result<Model> {
    Trainer::with_preset(preset).unwrap().train(train, &Treebank::default())
}

fn parser(model: &Model) -> Parser {
    Parser::new(model, &[]).unwrap()
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
    for (name, setting) in [
        ("fast", "epochs=2"),
        ("sagae-lavie-2005-perceptron", "epochs=2"),
        ("sagae-lavie-2005-maxent", "iterations=8"),
    ] {
        let model = train(preset(name, &[setting]), &train_trees).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.srm");
        file::write(&model, &path).unwrap();
        let stored = file::read(&path).unwrap();
        assert_eq!(model.header.actions, stored.header.actions);
        let parsers = [&model, &stored].map(parser);
        let mut workers = parsers.each_ref().map(Parser::worker);
        for tree in &Treebank::open(sample("dev.mrg")).unwrap().trees {
            // Scores too, to the last bit.
            let [fresh, read] =
                workers.each_mut().map(|worker| worker.parse(tree.tokens()).unwrap());
            assert_eq!(fresh, read, "{name}");
        }
    }
}

#[test]
fn a_worker_gives_the_same_parse_whatever_it_parsed_before() {
    let parser = Parser::embedded().unwrap();
    let trees = sample_trees().trees;
    let mut used = parser.worker();
    for tree in trees.iter().rev().chain(&trees) {
        assert_eq!(used.parse(tree.tokens()).unwrap(), parser.parse(tree.tokens()).unwrap());
    }
}

/// How many of the trees, cleaned as the preset says, a parser gives back.
fn exact(parser: &Parser, trees: &[Tree]) -> usize {
    let mut worker = parser.worker();
    let clean = &parser.preset().clean;
    let gold = trees.iter().map(|tree| clean.apply(tree.clone()));
    gold.filter(|gold| same_brackets(&worker.parse(gold.tokens()).unwrap().tree, gold)).count()
}

/// Nothing is left out of the packed model: what is rare in a large treebank is all there is in a small
/// one.
const WHOLE: &str = "prune.min_row=0.0";

#[test]
fn twenty_trees_are_learned_by_heart() {
    let mut trees = sample_trees();
    trees.trees.truncate(20);
    for (name, settings) in [
        ("fast", &[WHOLE, "exploration.probability=0.0"][..]),
        ("fast", &[WHOLE][..]),
        ("sagae-lavie-2005-perceptron", &["epochs=15"][..]),
        ("sagae-lavie-2005-maxent", &["gaussian_prior=1000.0"][..]),
    ] {
        let model = train(preset(name, settings), &trees).unwrap();
        assert_eq!(exact(&parser(&model), &trees.trees), 20, "{name} {settings:?}");
    }
}

#[test]
fn a_toy_grammar_is_learned_from_some_sentences_for_all() {
    let known =
        Treebank { files: vec!["toy".to_owned()], trees: crate::common::toy::treebank(200, 1) };
    let model = train(preset("fast", &["epochs=5", WHOLE]), &known).unwrap();
    let unseen = crate::common::toy::treebank(100, 2);
    let exact = exact(&parser(&model), &unseen);
    assert!(exact >= 98, "{exact} of 100 exact");
}

#[test]
fn a_network_whose_training_was_broken_off_becomes_the_same() {
    let trees = sample_trees();
    let dev = Treebank::open(sample("dev.mrg")).unwrap();
    let base =
        ["network.lstm_dim=16", "learner.moving_average=20.0", "max_words=15", "learner.epochs=4"];
    // With patience, and with no rate to learn by, the second epoch is no better than the first.
    let over = ["learner.patience=1", "learner.optimizer.rate=1e-30"];
    for (more, dev) in [(&[][..], &Treebank::default()), (&over[..], &dev)] {
        let folder = tempfile::tempdir().unwrap();
        let settings = [&base[..], more].concat();
        let usual = preset("liu-zhang-2017", &settings);
        // Stops when so many sentences have been seen.
        let train_as = |preset: &Preset, stops: u64, checkpoint: Option<&Path>| {
            let log = Log::stopping_at(stops);
            let mut trainer = Trainer::with_preset(preset.clone()).unwrap().observe(&log);
            if let Some(folder) = checkpoint {
                trainer = trainer.checkpoint(folder);
            }
            let model = trainer.train(&trees, dev).map(|model| {
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
        let nothing = train(0, Some(folder.path())).0;
        assert!(matches!(nothing, Err(Error::Stopped)), "nothing was learned");
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
        let beam = preset("liu-zhang-2017", &[&settings[..], &["search.method=beam"]].concat());
        assert!(!train_as(&beam, 2 * n, Some(folder.path())).1.contains("checkpoint"));
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
    let model = train(preset("liu-zhang-2017", &settings), &trees).unwrap();
    std::fs::remove_file(&path).unwrap();
    let file = folder.path().join("model.srm");
    file::write(&model, &file).unwrap();
    let parsers = [parser(&model), Parser::open(&file).unwrap()];
    let score = |parser: &Parser, word: &str| {
        let tokens = [Token::new(word, "NNS"), Token::new("bark", "VBP")];
        parser.parse(&tokens).unwrap().score
    };
    for word in ["zyzzyva", "aardvark"] {
        assert_eq!(score(&parsers[0], word), score(&parsers[1], word), "{word}");
    }
    // Neither is in the sample, but one has a vector.
    assert_ne!(score(&parsers[0], "zyzzyva"), score(&parsers[0], "aardvark"));
}

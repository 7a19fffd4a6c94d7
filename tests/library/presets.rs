//! Every built-in preset trains on the sample treebank, comes back from its file, and parses.

use std::path::Path;

use srparse::eval::{Evaluation, Params};
use srparse::memory::ModelBytes;
use srparse::model::file;
use srparse::tree::remove_tags;
use srparse::{Model, Parser, Preset, Tagger, Trainer, Tree, Treebank, TreebankProfile};

fn sample(name: &str) -> Treebank {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample").join(name);
    Treebank::open(path).unwrap()
}

/// Settings that make the presets for Chinese read English, and long trainings short.
fn settings(preset: &Preset) -> Vec<String> {
    let text = preset.to_toml();
    let mut settings = Vec::new();
    if text.contains("bikel-chinese") {
        settings.push("system.heads=collins".to_owned());
    }
    if text.contains("min_rows") {
        settings.push("min_rows=300".to_owned());
    }
    if text.contains("\"subtree-boosting\"") {
        settings.extend(["rounds=10", "min_rows=50"].map(str::to_owned));
    }
    if text.contains("\"tree-kernel\"") {
        settings.push("max_instances=500".to_owned());
    }
    if text.contains("\"items\"") {
        settings.extend(["max_words=12", "min_reduction=10"].map(str::to_owned));
    }
    if text.contains("\"neural\"") {
        let quick = ["epochs=10", "patience=0", "batch=1", "dropout=0", "word_dropout=0"];
        settings.extend(quick.map(|setting| format!("learner.{setting}")));
        if text.contains("models = 3") {
            settings.push("learner.models=2".to_owned());
        }
        settings.push("learner.optimizer={ kind = \"adam\", rate = 0.01 }".to_owned());
    }
    if text.contains("\"transformer\"") {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/encoders/bert");
        settings.push(format!("learner.network.encoder.path={folder:?}"));
    } else if text.contains("\"positions\"") {
        let small = ["network.hidden_dim=32", "network.encoder.lstm_dim=32", "moving_average=0"];
        settings.extend(small.map(|setting| format!("learner.{setting}")));
    }
    if text.contains("\"stack-lstm\"") {
        settings.extend(["network.lstm_dim=16", "network.input_dim=16"].map(str::to_owned));
    }
    settings
}

fn train(preset: &str, train: &Treebank, settings: &[String]) -> Model {
    let trainer = Trainer::with_preset(Preset::load(preset, settings).unwrap()).unwrap();
    let model = trainer.train(train, &Treebank::default());
    model.unwrap_or_else(|error| panic!("{preset}: {error}"))
}

fn words(tree: &Tree) -> Vec<&str> {
    tree.tokens().iter().map(|token| token.word.as_str()).collect()
}

/// Has the taggers of two models tag, which must give the same.
fn tags_alike(model: &Model, stored: &Model, dev: &Treebank) {
    let taggers = [model, stored].map(|model| Tagger::new(model).unwrap());
    let (mut right, mut all) = (0, 0);
    for tree in &dev.trees {
        let [fresh, back] = taggers.each_ref().map(|tagger| tagger.tag(words(tree)));
        assert_eq!(fresh, back);
        right += fresh.iter().zip(tree.tokens()).filter(|(tag, gold)| tag == gold).count();
        all += fresh.len();
    }
    // Guessing the most frequent tag gives far less.
    assert!(right * 10 > all * 8, "{right} of {all}");
}

/// Some short trees.
fn short(treebank: &Treebank) -> Treebank {
    let short = treebank.trees.iter().filter(|tree| tree.tokens().len() < 12);
    Treebank { files: treebank.files.clone(), trees: short.take(30).cloned().collect() }
}

/// The F1 of a parser on some of its training trees is above that of trees of one constituent.
fn learned_more_than_flat_trees(name: &str, parser: &Parser, gold: &[Tree]) {
    let flat = |tree: &Tree| {
        let words = tree.tokens().iter().map(|token| format!(" ({} {})", token.tag, token.word));
        format!("(TOP (S{}))", words.collect::<String>()).parse::<Tree>().unwrap()
    };
    let mut worker = parser.worker();
    let parsed: Vec<Tree> =
        gold.iter().map(|tree| worker.parse(tree.tokens()).unwrap().tree).collect();
    let flat: Vec<Tree> = gold.iter().map(flat).collect();
    let f1 = |trees: &[Tree]| Evaluation::of(gold.iter().zip(trees), &Params::default()).all.f1();
    assert!(f1(&flat) > 0.0);
    assert!(f1(&parsed) > f1(&flat), "{name}: F1 {} of {}", f1(&parsed), f1(&flat));
}

/// The trace of a sentence is that of its parse, with and without tags.
fn traces_as_it_parses(name: &str, parser: &Parser, tree: &Tree) {
    let mut tokens = tree.tokens().to_vec();
    for tags in ["given", "predicted"] {
        let parse = parser.parse(&tokens).unwrap();
        let trace = parser.trace(&tokens, Some(tree.clone()), 3).unwrap();
        let of_parse = (parse.score, parse.complete);
        assert_eq!((trace.score, trace.complete), of_parse, "{name}, tags {tags}");
        assert!(trace.derivation.steps.len() > 1, "{name}");
        assert!(trace.derivation.tags.iter().all(|tag| !tag.is_empty()), "{name}, tags {tags}");
        if !parser.has_tagger() {
            break;
        }
        remove_tags(&mut tokens);
    }
}

// Papers whose presets have tests of their own, which run beside each other.
const SAGAE_LAVIE: &str = "sagae-lavie-2005";
const TURIAN_MELAMED: &str = "turian-2005";

#[test]
fn presets_of_sagae_and_lavie_train_are_stored_and_parse() {
    train_store_and_parse(|name| name.starts_with(SAGAE_LAVIE));
}

#[test]
fn presets_of_turian_and_melamed_train_are_stored_and_parse() {
    train_store_and_parse(|name| name.starts_with(TURIAN_MELAMED));
}

#[test]
fn all_other_presets_train_are_stored_and_parse() {
    let is_other = |name: &str| !name.starts_with(SAGAE_LAVIE) && !name.starts_with(TURIAN_MELAMED);
    train_store_and_parse(is_other);
}

fn train_store_and_parse(is_chosen: impl Fn(&str) -> bool) {
    let presets: Vec<_> = Preset::names().filter(|name| is_chosen(name)).collect();
    assert!(presets.len() > 1);
    let (train_set, dev) = (sample("train.mrg"), sample("dev.mrg"));
    let short = short(&train_set);
    for name in presets {
        let preset = Preset::load(name, &[]).unwrap();
        // Networks learn nothing from the whole sample in the time that there is, but a few trees by heart.
        let is_network = preset.to_toml().contains("\"neural\"");
        let trees = if is_network { &short } else { &train_set };
        let model = train(name, trees, &settings(&preset));
        let mut bytes = Vec::new();
        file::write_to(&model, &mut bytes).unwrap();
        let stored = file::read_memory(ModelBytes::owned(&bytes), Path::new(name)).unwrap();
        if preset.only_tagger {
            tags_alike(&model, &stored, &dev);
            continue;
        }
        let parsers = [&model, &stored].map(|model| Parser::new(model, &[]).unwrap());
        learned_more_than_flat_trees(name, &parsers[0], &short.trees);
        traces_as_it_parses(name, &parsers[0], &short.trees[0]);
        let mut workers = parsers.each_ref().map(|parser| parser.worker());
        for tree in &dev.trees {
            let [fresh, back] =
                workers.each_mut().map(|worker| worker.parse(tree.tokens()).unwrap());
            assert_eq!(fresh, back, "{name}");
            assert_eq!(words(&fresh.tree), words(tree), "{name}");
        }
    }
}

#[test]
fn presets_of_kalt_use_no_heads_and_take_none() {
    for name in Preset::names().filter(|name| name.starts_with("kalt-2004")) {
        let preset = Preset::load(name, &["heads=right".to_owned()]);
        let said = preset.and_then(Trainer::with_preset).map(drop).unwrap_err().to_string();
        assert!(said.contains("heads: "), "{name}: {said}");
        // Its profile has head rules, for presets that use them.
        let keyaki = TreebankProfile::load("keyaki").unwrap();
        let preset = Preset::load(name, &[]).unwrap().changed(Some(&keyaki), &[]).unwrap();
        assert_eq!(preset.system.heads(), "", "{name}");
    }
}

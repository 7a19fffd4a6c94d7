//! Every built-in preset trains on the sample treebank, comes back from its file, and parses.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

use std::path::Path;

use srparse::memory::Memory;
use srparse::model::{Model, file};
use srparse::observer::Silent;
use srparse::preset::Preset;
use srparse::preset::fit::{TreeSet, Watch, fit};
use srparse::preset::load::load;
use srparse::preset::plan::Plan;
use srparse::preset::tagger::load_tagger;
use srparse::tagger::TaggerWorker;
use srparse::tree::Tree;
use srparse::treebank::{ReadOptions, read_all};

fn sample(name: &str) -> TreeSet {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample").join(name);
    let (trees, _) = read_all(&[path], &ReadOptions::default()).unwrap();
    TreeSet { files: vec![name.to_owned()], trees }
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
    if text.contains("\"items\"") {
        settings.extend(["max_words=12", "min_reduction=10"].map(str::to_owned));
    }
    if text.contains("\"neural\"") {
        settings.push("learner.epochs=1".to_owned());
    }
    if text.contains("\"stack-lstm\"") {
        settings.extend(["network.lstm_dim=16", "network.input_dim=16"].map(str::to_owned));
    }
    settings
}

fn train(preset: &str, train: &TreeSet, settings: &[String]) -> Model {
    let plan = Plan::new(Preset::load(preset, settings).unwrap()).unwrap();
    let model = fit(&plan, train, &TreeSet::default(), 1, &Watch::new(&Silent));
    model.unwrap_or_else(|error| panic!("{preset}: {error}"))
}

fn words(tree: &Tree) -> Vec<&str> {
    tree.tokens().iter().map(|token| token.word.as_str()).collect()
}

/// Has the taggers of two models tag, which must give the same.
fn tags_alike(model: &Model, stored: &Model, dev: &TreeSet) {
    let taggers = [model, stored].map(|model| load_tagger(model).unwrap().unwrap());
    let mut workers = taggers.each_ref().map(|tagger| TaggerWorker::new(&**tagger));
    let (mut right, mut all) = (0, 0);
    for tree in &dev.trees {
        let [fresh, back] = workers.each_mut().map(|worker| {
            let mut tokens = tree.tokens().to_vec();
            worker.tag(&mut tokens);
            tokens
        });
        assert_eq!(fresh, back);
        right += fresh.iter().zip(tree.tokens()).filter(|(tag, gold)| tag == gold).count();
        all += fresh.len();
    }
    // Guessing the most frequent tag gives far less.
    assert!(right * 10 > all * 8, "{right} of {all}");
}

#[test]
fn every_preset_trains_is_stored_and_parses() {
    let (train_set, dev) = (sample("train.mrg"), sample("dev.mrg"));
    for name in Preset::names() {
        let preset = Preset::load(name, &[]).unwrap();
        let model = train(name, &train_set, &settings(&preset));
        let mut bytes = Vec::new();
        file::write_to(&model, &mut bytes).unwrap();
        let stored = file::read_memory(Memory::owned(&bytes), Path::new(name)).unwrap();
        if preset.only_tagger {
            tags_alike(&model, &stored, &dev);
            continue;
        }
        let parsers = [load(&model, &[]).unwrap(), load(&stored, &[]).unwrap()];
        let mut workers = parsers.each_ref().map(|parser| parser.worker());
        for tree in &dev.trees {
            let [fresh, back] = workers.each_mut().map(|worker| worker.parse(tree.tokens()));
            assert_eq!(fresh, back, "{name}");
            assert_eq!(words(&fresh.tree), words(tree), "{name}");
        }
    }
}

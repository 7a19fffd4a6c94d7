//! Every built-in preset trains on the sample treebank, comes back from its file, and parses.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

use std::path::Path;

use srparse::memory::Memory;
use srparse::model::{Model, file};
use srparse::preset::Preset;
use srparse::preset::fit::{Event, TreeSet, Watch, fit};
use srparse::preset::load::load;
use srparse::preset::plan::Plan;
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
    settings
}

fn train(preset: &str, train: &TreeSet, settings: &[String]) -> Model {
    let plan = Plan::new(Preset::load(preset, settings).unwrap()).unwrap();
    let mut tell = |_: Event<'_>| {};
    let model = fit(&plan, train, &TreeSet::default(), 1, &mut Watch::new(&mut tell));
    model.unwrap_or_else(|error| panic!("{preset}: {error}"))
}

fn words(tree: &Tree) -> Vec<&str> {
    tree.tokens().iter().map(|token| token.word.as_str()).collect()
}

#[test]
fn every_preset_trains_is_stored_and_parses() {
    let (train_set, dev) = (sample("train.mrg"), sample("dev.mrg"));
    for name in Preset::names() {
        let preset = Preset::load(name, &[]).unwrap();
        // Their tests have them tag.
        if preset.only_tagger {
            continue;
        }
        let model = train(name, &train_set, &settings(&preset));
        let mut bytes = Vec::new();
        file::write_to(&model, &mut bytes).unwrap();
        let stored = file::read_memory(Memory::owned(&bytes), Path::new(name)).unwrap();
        let parsers = [load(&model, &[]).unwrap(), load(&stored, &[]).unwrap()];
        let mut workers = parsers.each_ref().map(|parser| parser.worker());
        for tree in &dev.trees {
            let [fresh, back] = workers.each_mut().map(|worker| worker.parse(tree.tokens()));
            assert_eq!(fresh, back, "{name}");
            assert_eq!(words(&fresh.tree), words(tree), "{name}");
        }
    }
}

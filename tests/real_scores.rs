//! F1 of the presets with a beam on a real treebank, at a scale that every test run can afford, when
//! `SRPARSE_TREEBANKS` names the folder that has it; with `SRPARSE_REQUIRE_TREEBANKS` its absence is a failure.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

use std::path::PathBuf;

use srparse::eval::{Params, evaluate};
use srparse::{Parser, Preset, Threads, Trainer, Tree, Treebank};

/// The first trees of a file of CRAFT, or `None` (and the test passes) where there are no treebanks.
fn craft(name: &str, n: usize) -> Option<Treebank> {
    let folder = std::env::var_os("SRPARSE_TREEBANKS").map(PathBuf::from);
    let path = folder.map(|folder| folder.join("craft").join(name)).filter(|path| path.is_file());
    if path.is_none() && std::env::var_os("SRPARSE_REQUIRE_TREEBANKS").is_some() {
        panic!(
            "SRPARSE_REQUIRE_TREEBANKS is set and there is no craft/{name} in SRPARSE_TREEBANKS"
        );
    }
    let mut treebank = Treebank::open(path?).unwrap();
    treebank.trees.truncate(n);
    Some(treebank)
}

/// F1 on 300 development trees with gold tags, after two epochs on 1,000 training trees.
fn f1(preset: &str) -> Option<String> {
    let (train, dev) = (craft("train.mrg", 1_000)?, craft("dev.mrg", 300)?);
    let settings = ["learner.epochs=2", "tagger.kind=none"].map(str::to_owned);
    let trainer = Trainer::with_preset(Preset::load(preset, &settings).unwrap()).unwrap();
    let parser = Parser::new(&trainer.train(&train, &Treebank::default()).unwrap(), &[]).unwrap();
    let dev = dev.stripped(&parser.preset().clean);
    let sentences: Vec<_> = dev.trees.iter().map(|tree| tree.tokens().to_vec()).collect();
    let parses = parser.parse_batch(&sentences, Threads(0)).unwrap();
    let parsed: Vec<Tree> = parses.into_iter().map(|parse| parse.tree).collect();
    let scores = evaluate(dev.trees.iter().zip(&parsed), &Params::default());
    Some(format!("{:.2}", scores.all.f1()))
}

#[test]
fn the_structured_perceptron_has_the_f1_that_it_had() {
    let Some(f1) = f1("beam") else { return };
    assert_eq!(f1, "69.47");
}

/// Training uses fused operations where the processor has them, so that without them the figure is another one.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_network_has_the_f1_that_it_had() {
    let Some(f1) = f1("accurate") else { return };
    if std::arch::is_x86_feature_detected!("fma") {
        assert_eq!(f1, "35.01");
    }
}

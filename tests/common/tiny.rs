//! A tiny model of every family of parsers and taggers, in the bytes of its file.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use srparse::treebank::Encoding;
use srparse::treebank::penn::PennReader;
use srparse::{Preset, Trainer, Treebank};

/// A family: its name, the preset that it is trained by, and settings that keep the model small.
type Family = (&'static str, &'static str, &'static [&'static str]);

const SMALL_LSTM: &[&str] = &["learner.epochs=1", "network.lstm_dim=8", "network.input_dim=8"];
const SMALL_ENCODER: &str = "learner.network={ kind = \"positions\", untagged = 0.6, hidden_dim = 8, encoder = { word_dim = 8, \
                             tag_dim = 4, form_dim = 4, ngram_dim = 4, ngram_rows = 16, lstm_dim = 8, layers = 2 } }";
const COLLINS: &str = "system.heads=collins";

/// Stands for the folder of a pretrained encoder in a setting.
const ENCODER: &str = "ENCODER";
const TRANSFORMER: &[&str] = &[
    "learner.epochs=1",
    "learner.network={ kind = \"positions\", untagged = 0.6, hidden_dim = 8, encoder = { kind = \"transformer\", \
     path = \"ENCODER\", layers = 1, pieces = 8, piece_bits = 4 } }",
];

/// Every transition system, way to train, classifier and combination of classifiers, and tagger.
pub const FAMILIES: [Family; 26] = [
    ("perceptron", "fast", &["epochs=2", "prune.min_row=0.0"]),
    ("structured perceptron", "beam", &["epochs=2", "prune.min_row=0.0"]),
    ("network on positions", "accurate", &["learner.epochs=1", SMALL_ENCODER]),
    ("network on a transformer", "pretrained", TRANSFORMER),
    ("top-down stack-LSTM", "dyer-2016", SMALL_LSTM),
    ("non-binary stack-LSTM", "fernandez-gomez-2018-static", SMALL_LSTM),
    ("in-order stack-LSTM", "liu-zhang-2017", SMALL_LSTM),
    ("non-binary", "non-binary-dynamic", &["epochs=2"]),
    ("polynomial SVM", "sagae-lavie-2005-svm", &["min_rows=10"]),
    ("memory-based", "sagae-lavie-2005-mbl", &[]),
    ("boosted subtrees", "sagae-lavie-2005-bact", &["rounds=10", "min_rows=1"]),
    ("tree kernel", "sagae-lavie-2005-tree-kernel", &[]),
    ("maxent", "sagae-lavie-2005-maxent", &["prune.min_row=0.0"]),
    ("vote", "wang-2006-vote", &[COLLINS]),
    ("stack", "wang-2006-stack", &[COLLINS]),
    ("meta", "wang-2006-meta", &[COLLINS]),
    ("two stages", "wang-2006-dtree2", &[COLLINS]),
    ("shift-reduce trees", "kalt-2004-sr-r1", &[]),
    ("left-corner trees", "kalt-2004-lc-l", &[]),
    ("predictive trees", "kalt-2004-td-r0", &[]),
    ("items", "turian-2005-free", &["min_reduction=0.1", "max_states=300"]),
    ("items from the left", "turian-2005-l2r", &["min_reduction=0.1", "max_states=300"]),
    (
        "calibrated",
        "fast",
        &["learner={ kind = \"calibrate\", learner = { kind = \"svm\", degree = 1 } }"],
    ),
    ("tagger", "tagger", &["tagger.epochs=2"]),
    ("two-pass tagger", "wang-2006-tagger", &[]),
    ("ensemble of networks", "accurate", &["learner.models=2", "learner.epochs=1", SMALL_ENCODER]),
];

/// Trees written for this purpose: unary chains, punctuation, and a word with several tags.
pub const TREES: &str = "\
(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))
(TOP (S (NP (PRP it)) (VP (VBZ sees) (NP (DT a) (JJ red) (NN cat)))))
(TOP (S (NP (NP (DT the) (NN cat)) (PP (IN of) (NP (DT the) (NN house)))) (VP (VBZ sleeps)) (. .)))
(TOP (S (NP (NNS dogs)) (, ,) (NP (NNS cats)) (VP (VBP bark) (PP (IN with) (NP (NN fun)))) (. .)))
(TOP (SBARQ (WHNP (WP who)) (SQ (VP (VBZ barks))) (. ?)))
(TOP (S (VP (VB see) (SBAR (S (NP (DT the) (NN dog)) (VP (VBZ sleeps) (PP (IN in) (NP (NN house)))))))))
(TOP (NP (DT a) (NN bark)))
(TOP (FRAG (UH oh)))
";

/// The trees.
pub fn treebank() -> Treebank {
    let mut reader = PennReader::new(Cursor::new(TREES), "tiny", Encoding::Utf8);
    let trees = std::iter::from_fn(|| reader.read().expect("readable trees")).collect();
    Treebank { files: vec!["tiny".to_owned()], trees }
}

/// The folder of the tiny pretrained encoders, from the package or from that of the fuzz targets.
pub fn encoders() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = package.ancestors().map(|folder| folder.join("tests/encoders"));
    folders.find(|folder| folder.is_dir()).expect("the folder of the tiny encoders")
}

/// A family, its preset, and its settings.
pub fn settings(family: usize) -> (&'static str, &'static str, Vec<String>) {
    let (name, preset, settings) = FAMILIES[family];
    let encoder = encoders().join("bert").display().to_string();
    (name, preset, settings.iter().map(|setting| setting.replace(ENCODER, &encoder)).collect())
}

/// The bytes of the model file of a family.
pub fn model(family: usize) -> &'static [u8] {
    static MODELS: [OnceLock<Vec<u8>>; FAMILIES.len()] =
        [const { OnceLock::new() }; FAMILIES.len()];
    MODELS[family].get_or_init(|| {
        let (name, preset, settings) = settings(family);
        let train = || {
            let trainer = Trainer::with_preset(Preset::load(preset, &settings)?)?;
            trainer.train(&treebank(), &Treebank::default())
        };
        train().unwrap_or_else(|error| panic!("{name}: {error}")).to_bytes()
    })
}

//! Training that continues from a model: its parameters and symbols are taken over, whatever numbers they get.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use crate::common::observer::Log;
use crate::common::toy;
use crate::common::training::{Lab, read};
use rand::RngExt;
use srparse::decode::{self, Problem};
use srparse::encoder::{BiLstmParams, EncoderParams, TransformerParams};
use srparse::memory::Sections;
use srparse::model::vocabulary;
use srparse::neural::inference::InstructionSet;
use srparse::observer::Silent;
use srparse::preset::MethodChoice;
use srparse::scorer::Scorer;
use srparse::scorer::neural::positions::PositionsParams;
use srparse::scorer::neural::stack_lstm::StackLstmParams;
use srparse::scorer::neural::{Inventory, NetworkParams, NeuralParams};
use srparse::train::initial::InitialModel;
use srparse::train::neural::epochs::untrained;
use srparse::transition::binary::Binary;
use srparse::transition::bracketing::{Bracketing, Strategy};
use srparse::transition::non_binary::NonBinary;
use srparse::transition::predictive::Predictive;
use srparse::transition::{Action, StoredSystem, TransitionSystem};
use srparse::tree::binarize::Scheme;
use srparse::treebank::Encoding;
use srparse::treebank::penn::PennReader;
use srparse::{Model, Observer, Parser, Preset, Threads, Trainer, Tree, Treebank};

const SMALL: &str = "learner.network={ kind = \"positions\", untagged = 0.6, hidden_dim = 8, encoder = { word_dim = 8, \
                     ngram_dim = 4, ngram_rows = 16, lstm_dim = 8 } }";
/// New words, a new tag and new labels, which come first, and `dog`, which is rare.
const OTHER: &str = "\
(TOP (X (NP (FW ciao)) (XX (NN mondo) (FW bella))))
(TOP (S (NP (DT the) (NN dog)) (XX (FW ciao)) (. !)))
";

fn other() -> Treebank {
    let mut reader = PennReader::new(Cursor::new(OTHER), "other", Encoding::Utf8);
    let trees = std::iter::from_fn(|| reader.read().unwrap()).collect();
    Treebank { files: vec!["other".to_owned()], trees }
}

fn preset(name: &str, settings: &[&str]) -> Preset {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    Preset::load(name, &settings).unwrap()
}

fn train(preset: Preset) -> Model {
    let trainer = Trainer::with_preset(preset).unwrap();
    trainer.train(&crate::tiny::treebank(), &Treebank::default()).unwrap()
}

/// The preset of a model, changed.
fn changed(model: &Model, settings: &[&str]) -> Preset {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let preset: Preset = serde_json::from_value(model.header.preset.clone()).unwrap();
    preset.changed(None, &settings).unwrap()
}

fn continued(model: &Model, settings: &[&str], trees: &Treebank) -> Model {
    let trainer = Trainer::continuing(model.clone(), changed(model, settings)).unwrap();
    trainer.train(trees, &Treebank::default()).unwrap()
}

/// Networks of every kind, and an ensemble.
fn families() -> Vec<(&'static str, Preset)> {
    let encoder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encoders/bert");
    let transformer = |lstm: &str| {
        format!(
            "learner.network={{ kind = \"positions\", untagged = 0.6, hidden_dim = 8, encoder = {{ kind = \
             \"transformer\", path = \"{}\", layers = 1, pieces = 8, piece_bits = 4{lstm} }} }}",
            encoder.display()
        )
    };
    let (plain, lstm) = (transformer(""), transformer(", lstm = { word_dim = 8, lstm_dim = 8 }"));
    let stack_lstm = ["learner.epochs=1", "network.lstm_dim=8", "network.input_dim=8"];
    let epochs = ["learner.epochs=1", "learner.batch=2"];
    vec![
        ("positions", preset("accurate", &[&epochs[..], &[SMALL]].concat())),
        ("ensemble", preset("accurate", &[&epochs[..], &[SMALL, "learner.models=2"]].concat())),
        ("transformer", preset("pretrained", &[&epochs[..], &[&plain]].concat())),
        ("lstm over a transformer", preset("pretrained", &[&epochs[..], &[&lstm]].concat())),
        ("top-down", preset("dyer-2016", &stack_lstm)),
        ("non-binary", preset("fernandez-gomez-2018-static", &stack_lstm)),
    ]
}

/// Perceptrons of every kind, with several models.
fn perceptrons() -> Vec<(&'static str, Preset)> {
    let structured = [
        "learner.epochs=40",
        "learner.margin=0",
        "learner.models=2",
        "search.beam=4",
        "learner.beam=4",
    ];
    vec![
        ("online", preset("english-fast", &["epochs=10", "tagger.kind=none"])),
        ("one step", preset("fast", &["epochs=10", "coarse_to_fine=false", "models=1"])),
        ("structured", preset("beam", &structured)),
    ]
}

/// Without a mistake there is nothing to learn, so the model stays what it was.
#[test]
fn weights_are_those_of_the_model() {
    for (name, preset) in perceptrons() {
        let model = train(preset);
        let settings: &[&str] = match name {
            "structured" => &["epochs=1"],
            _ => &["epochs=1", "exploration.probability=0"],
        };
        let again = continued(&model, settings, &crate::tiny::treebank());
        assert_eq!(model.header.system, again.header.system, "{name}");
        let parsers = [&model, &again].map(|model| Parser::new(model, &[]).unwrap());
        for tree in crate::tiny::treebank().trees.iter().chain(&other().trees) {
            let [old, new] = parsers.each_ref().map(|parser| parser.parse(tree.tokens()).unwrap());
            assert_eq!(old.tree.to_string(), new.tree.to_string(), "{name}");
            assert!((old.score - new.score).abs() < 1e-3, "{name}: {} {}", old.score, new.score);
        }
    }
}

/// What is new is learned, and what was known is not forgotten.
#[test]
fn perceptrons_learn_new_labels() {
    for (name, preset) in perceptrons() {
        let model = train(preset);
        let more = continued(&model, &["epochs=20"], &other());
        let names = |model: &Model| model.header.actions.clone();
        assert!(names(&model).iter().all(|action| names(&more).contains(action)), "{name}");
        let parser = Parser::new(&more, &[]).unwrap();
        let is_right = |tree: &&Tree| {
            parser.parse(tree.tokens()).unwrap().tree.to_string() == tree.to_string()
        };
        assert!(other().trees.iter().all(|tree| is_right(&tree)), "{name}");
        let known = crate::tiny::treebank().trees;
        let right = known.iter().filter(is_right).count();
        assert!(4 * right > 3 * known.len(), "{name}: {right} of {}", known.len());
    }
}

/// With a rate of almost 0 and nothing new, the model stays what it was, for each network of an ensemble too. A
/// pretrained encoder needs no folder.
#[test]
fn parameters_are_those_of_the_model() {
    for (name, preset) in families() {
        let model = train(preset);
        let again = continued(&model, &["optimizer.rate=1e-30"], &crate::tiny::treebank());
        assert_eq!(model.header.system, again.header.system, "{name}");
        let parsers = [&model, &again].map(|model| Parser::new(model, &[]).unwrap());
        for tree in &crate::tiny::treebank().trees {
            let parses = parsers.each_ref().map(|parser| parser.parse(tree.tokens()).unwrap());
            assert_eq!(parses[0].tree.to_string(), parses[1].tree.to_string(), "{name}");
        }
        for (old, new) in model.sections.0.iter().zip(&again.sections.0) {
            assert_eq!(old.name, new.name, "{name}");
            // The last bit of a scale may change when parameters are rounded again.
            assert!(*old.bytes == *new.bytes || old.element == "f32", "{name}: {}", old.name);
        }
        let before = again.header.training.before.as_deref();
        assert_eq!(before, Some(&model.header.training), "{name}");
    }
}

/// The symbols of the model stay known, rare or not, and those of the trees are new.
#[test]
fn symbols_are_those_of_both() {
    for (name, preset) in families() {
        let model = train(preset);
        let more = continued(&model, &["clean.unknown_below=2"], &other());
        let [old, new] = [&model, &more].map(|model| vocabulary::load(&model.sections).unwrap());
        assert!(old.words().names().all(|word| new.words().position(word).is_some()), "{name}");
        assert!(old.tags().names().all(|tag| new.tags().position(tag).is_some()), "{name}");
        assert!(old.parts().names().all(|part| new.parts().position(part).is_some()), "{name}");
        let has = |word: &str| new.words().position(word).is_some();
        assert!(has("ciao") && !has("mondo"), "{name}");
        assert!(new.tags().position("FW").is_some(), "{name}");
        let actions = &more.header.actions;
        assert!(model.header.actions.iter().all(|action| actions.contains(action)), "{name}");
        assert!(actions.iter().any(|action| action.contains("XX")), "{name}");
        assert_eq!(more.header.tagger.is_some(), model.header.tagger.is_some(), "{name}");
        let parser = Parser::new(&more, &[]).unwrap();
        for tree in crate::tiny::treebank().trees.iter().chain(&other().trees) {
            assert_eq!(parser.parse(tree.tokens()).unwrap().tree.tokens(), tree.tokens());
        }
    }
}

/// A network whose symbols have other numbers scores what the model knows as the model does.
fn scores_stay<S: StoredSystem + Clone + 'static>(
    make: impl Fn(&[Tree]) -> S,
    networks: &[NetworkParams],
) {
    let (trees, others) = (toy::treebank(6, 1), crate::common::random_trees(1, 20));
    let (system, other) = (make(&trees), make(&others));
    let old = Lab::new(system.clone(), &trees);
    let tokens = trees.iter().map(Tree::tokens);
    let vocabulary = crate::common::vocabulary(&others).with_sentences(tokens, 1);
    let new = Lab::with_vocabulary(other.union(&system).unwrap(), vocabulary, &trees);
    for network in networks {
        let params = NeuralParams { network: network.clone(), ..NeuralParams::default() };
        let untrained = |lab: &Lab<S>| {
            let (encoder, Lab { system, vocabulary, .. }) = (Arc::clone(&lab.encoder), lab);
            let inventory = Inventory::new(network, system, vocabulary, None, Some(encoder));
            untrained(&lab.session(), &params, &inventory).unwrap()
        };
        let (mut model, mut further) = (untrained(&old), untrained(&new));
        let mut rng = crate::common::rng(3);
        let noise = |value: &f32| value + rng.random_range(-0.1..0.1);
        let values: Vec<f32> = model.params.values().iter().map(noise).collect();
        model.params.set(&values).unwrap();
        let mut sections = Sections::default();
        model.store(&mut sections);
        let initial = InitialModel {
            system: Box::new(system.clone()),
            vocabulary: old.vocabulary.clone(),
            learner: MethodChoice::Neural(params.clone()),
            sections,
            fingerprint: None,
        };
        initial.initialize(1, new.components(), &mut further).unwrap();
        let scorers = [model, further].map(|network| network.compile(InstructionSet::detect()));
        same_scores([&old, &new], [&*scorers[0], &*scorers[1]]);
    }
}

/// Compares the scores of the actions of the first lab along the derivations of its trees.
fn same_scores<S: TransitionSystem>(labs: [&Lab<S>; 2], scorers: [&dyn Scorer; 2]) {
    // Those that no scorer ranks come last.
    let inventory: Vec<Action> =
        (0..labs[1].system.n_actions() as u32 + 2).map(Action::new).collect();
    let renumbered = |action: Action| {
        let name = labs[0].system.name(action);
        let same = |&action: &Action| labs[1].system.name(action) == name;
        inventory.iter().copied().find(same).unwrap()
    };
    let mut compared = 0;
    for (at, example) in labs[0].examples.iter().enumerate() {
        let mut readings = scorers.map(|scorer| scorer.reading());
        let sentences = [0, 1].map(|n| read(&mut *readings[n], &labs[n].examples[at].sentence));
        let problems = [0, 1].map(|n| Problem { system: &labs[n].system, sentence: &sentences[n] });
        let mut places = [0, 1].map(|n| decode::Cursor::start(problems[n], &mut *readings[n]));
        let mut legal = Vec::new();
        for action in labs[0].system.derivation(&example.tree).unwrap() {
            places[0].0.legal(problems[0], &places[0].1, &mut legal);
            let actions = [legal.clone(), legal.iter().copied().map(renumbered).collect()];
            let scores = [0, 1].map(|n| {
                let mut scores = Vec::new();
                let (cursor, forest) = &places[n];
                cursor.scores(problems[n], forest, &actions[n], &mut *readings[n], &mut scores);
                scores
            });
            for (old, new) in scores[0].iter().zip(&scores[1]) {
                assert!((old - new).abs() < 1e-3, "{scores:?}");
                compared += usize::from(scores[0].len() > 1);
            }
            for (n, action) in [action, renumbered(action)].into_iter().enumerate() {
                let (cursor, forest) = &mut places[n];
                cursor.take(problems[n], forest, action, &mut *readings[n]);
            }
        }
    }
    assert!(compared > 100);
}

#[test]
fn symbols_with_other_numbers_have_the_same_scores() {
    let sizes = BiLstmParams {
        word_dim: 8,
        ngram_dim: 4,
        ngram_rows: 16,
        lstm_dim: 8,
        ..BiLstmParams::default()
    };
    let positions = |encoder| {
        NetworkParams::Positions(PositionsParams { encoder, hidden_dim: 12, untagged: 0.5 })
    };
    let transformer = TransformerParams { lstm: Some(sizes), ..TransformerParams::default() };
    let stack_lstm = StackLstmParams {
        form_dim: 4,
        input_dim: 12,
        lstm_dim: 12,
        max_arity: 3,
        ..StackLstmParams::default()
    };
    let networks = [
        positions(EncoderParams::BiLstm(sizes)),
        positions(EncoderParams::Transformer(transformer)),
        NetworkParams::StackLstm(stack_lstm),
    ];
    scores_stay(|trees| Binary::of_trees(trees).unwrap(), &networks);
    scores_stay(|trees| NonBinary::of_trees(trees, Scheme::R2).unwrap(), &networks);
    let in_order =
        |trees: &[Tree]| Bracketing::of_trees(trees, Strategy::InOrder, Scheme::None).unwrap();
    scores_stay(in_order, &networks);
    scores_stay(|trees| Predictive::of_trees(trees, Scheme::None).unwrap(), &networks[..1]);
}

/// What was learned is learned further: a model that is trained on the same trees begins with its loss.
#[test]
fn training_begins_where_it_ended() {
    let long = ["learner.epochs=40", "learner.batch=1", "optimizer.rate=0.02", "learner.dropout=0"];
    let model = train(preset("accurate", &[&long[..], &[SMALL]].concat()));
    let accuracy = |trainer: Trainer<'_>| {
        let log = Log::stopping_at(u64::MAX);
        trainer.observe(&log).train(&crate::tiny::treebank(), &Treebank::default()).unwrap();
        let text = log.text();
        let (_, last) = text.rsplit_once("training accuracy ").unwrap();
        last.split(' ').next().unwrap().parse::<f64>().unwrap()
    };
    let one = ["learner.epochs=1", "optimizer.rate=1e-30"];
    let fresh = accuracy(Trainer::with_preset(changed(&model, &one)).unwrap());
    let further = Trainer::continuing(model.clone(), changed(&model, &one)).unwrap();
    let further = accuracy(further);
    assert!(further > fresh + 30.0, "{further}, {fresh}");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    for (name, preset) in families().into_iter().take(3) {
        let model = train(preset);
        let bytes = [1, 2].map(|threads| {
            let train = || continued(&model, &[], &other()).to_bytes();
            Threads(threads).run(train).unwrap()
        });
        assert!(bytes[0] == bytes[1], "{name}");
    }
}

/// A run resumes from its checkpoint, and another initial model begins anew in the same folder.
#[test]
fn a_checkpoint_is_that_of_the_initial_model() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ["learner.epochs=3", "learner.batch=1"];
    let of_seed = |seed| {
        let preset = preset("accurate", &["learner.epochs=1", SMALL]);
        let trainer = Trainer::with_preset(preset).unwrap().seed(seed);
        trainer.train(&crate::tiny::treebank(), &Treebank::default()).unwrap()
    };
    let run = |model: &Model, observer: &dyn Observer, folder: Option<&Path>| {
        let trainer = Trainer::continuing(model.clone(), changed(model, &settings)).unwrap();
        let trainer = match folder {
            Some(folder) => trainer.checkpoint(folder),
            None => trainer,
        };
        trainer.observe(observer).train(&other(), &Treebank::default()).unwrap().to_bytes()
    };
    let [first, second] = [1, 2].map(of_seed);
    let whole = run(&first, &Silent, None);
    // Two sentences an epoch: stopped after the second epoch.
    run(&first, &Log::stopping_at(4), Some(folder.path()));
    for (model, is_resumed) in [(&first, true), (&second, false)] {
        let log = Log::stopping_at(u64::MAX);
        let resumed = run(model, &log, Some(folder.path()));
        assert_eq!(resumed == whole, is_resumed);
        assert_eq!(log.text().contains("from the checkpoint"), is_resumed);
    }
}

/// Pretrained embeddings are those of the model, whose file is not needed, also for new words.
#[test]
fn pretrained_embeddings_come_from_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vectors.txt");
    std::fs::write(&file, "dog 1 0 0.5\nciao 0 1 0\nunseen 1 1 1\n").unwrap();
    let pretrained = format!("learner.pretrained={}", file.display());
    let model = train(preset("accurate", &["learner.epochs=1", SMALL, &pretrained]));
    std::fs::remove_file(&file).unwrap();
    let more = continued(&model, &[], &other());
    let [old, new] = [&model, &more].map(|model| {
        let vocabulary = vocabulary::load(&model.sections).unwrap();
        let rows = model.sections.get::<f32>("neural.vectors").unwrap();
        ["dog", "ciao", "unseen", "barks"].map(|word| {
            let value = vocabulary.words().value(word) as usize;
            rows[3 * value..][..3].to_vec()
        })
    });
    assert_eq!(old, new);
    assert_eq!(new[1], [0.0, 1.0, 0.0]);
}

/// The tagger is that of the model: of few trees there would be a bad one.
#[test]
fn the_tagger_stays() {
    let small = ["learner.epochs=1", "network.lstm_dim=8", "network.input_dim=8"];
    let model = train(preset("dyer-2016", &small));
    let more = continued(&model, &["jackknife=2"], &other());
    let [old, new] = [&model, &more].map(|model| model.sections.part("tagger"));
    assert!(!old.0.is_empty() && old.0.len() == new.0.len());
    assert!(old.0.iter().zip(&new.0).all(|(old, new)| *old.bytes == *new.bytes));
    let without = continued(&model, &["tagger.kind=none"], &other());
    assert!(without.header.tagger.is_none());
}

#[test]
fn what_differs_is_named() {
    let network = train(preset("accurate", &["learner.epochs=1", SMALL]));
    let refused = |model: &Model, preset: Preset| {
        Trainer::continuing(model.clone(), preset).map(drop).unwrap_err().to_string()
    };
    for (settings, expected) in [
        (
            &["learner.network.hidden_dim=9"][..],
            "learner.network.hidden_dim: 9, but 8 in the model",
        ),
        (
            &["network.encoder.lstm_dim=4"],
            "learner.network.encoder.lstm_dim: 4, but 8 in the model",
        ),
        (&["learner.network.untagged=0"], "learner.network.untagged: 0.0, but 0.6"),
        (&["learner.pretrained=x"], "learner.pretrained: x, but empty"),
        (&["system.kind=non-binary", "system.heads="], "system.kind: non-binary, but in-order"),
        (&["system.binarization=l", "system.heads="], "system.binarization: l, but none"),
        (&["only_tagger=true", "tagger.kind=perceptron"], "only_tagger: a tagger alone"),
        (
            &["learner.network={ kind = \"stack-lstm\" }"],
            "learner.network.kind: stack-lstm, but positions",
        ),
    ] {
        let error = refused(&network, changed(&network, settings));
        assert!(error.starts_with(expected), "{error}");
    }
    let settings = ["untagged=0.9", "learner.models=2", "optimizer.rate=0.1"];
    assert!(Trainer::continuing(network.clone(), changed(&network, &settings)).is_ok());
    let error = refused(&network, preset("fast", &[]));
    assert!(error.starts_with("learner.kind: online-perceptron, but neural"), "{error}");
    let linear = train(preset("fast", &["learner.epochs=1", "learner.models=1"]));
    let error = refused(&linear, changed(&linear, &["features.templates=bracketing-rich"]));
    assert!(error.starts_with("features.templates: bracketing-rich, but"), "{error}");
    let error = refused(&linear, changed(&linear, &["learner.prune.max_bytes=1000"]));
    assert!(error.starts_with("learner.prune.max_bytes: 1000, but 0"), "{error}");
    let nearest = train(preset("sagae-lavie-2005-mbl", &[]));
    let error = refused(&nearest, changed(&nearest, &[]));
    assert!(error.starts_with("learner.kind: the model") && error.contains("neural"), "{error}");
    let tagger = train(preset("tagger", &["epochs=1"]));
    let error = refused(&tagger, preset("accurate", &[]));
    assert!(error.contains("has no parser"), "{error}");
    let ensemble = train(preset("accurate", &["learner.epochs=1", "learner.models=2", SMALL]));
    let error = refused(&ensemble, changed(&ensemble, &["learner.models=1"]));
    assert!(
        error.starts_with("learner.models: 1, but") && error.contains("set it to 2"),
        "{error}"
    );
}

#[test]
fn the_licence_and_the_sources_stay() {
    let fast =
        |more: &[&str]| preset("fast", &[&["learner.epochs=1", "learner.models=1"], more].concat());
    let model = train(fast(&["about.licence=CC0", "about.sources=[\"mine\"]"]));
    for (settings, licence) in [(&[][..], "CC0"), (&["about.licence=MIT"], "MIT")] {
        let trainer = Trainer::continuing(model.clone(), fast(settings)).unwrap();
        assert_eq!(trainer.preset().about.licence, licence);
    }
}

//! Models of the parser of items: trained in parts, kept, stopped, merged and read.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use srparse::Parse;
use srparse::classifier::boosting::Ensembles;
use srparse::feature::Templates;
use srparse::observer::{Event, Observer};
use srparse::{Model, Parser, Preset, Token, Trainer, Tree, Treebank};

use crate::common::assert_valid;
use crate::common::observer::Log;
use crate::common::toy::short_sentences;

/// A trainer by the baseline preset with some changes.
fn trainer<'a>(changes: &[&str]) -> Trainer<'a> {
    let settings = [&["learner.min_reduction=0.5", "unknown_below=0"], changes].concat();
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    Trainer::with_preset(Preset::load("turian-2005-free", &settings).unwrap()).unwrap()
}

/// Trains without a dev set.
fn train(trainer: &Trainer<'_>, trees: Vec<Tree>) -> srparse::Result<Model> {
    let train = Treebank { files: vec!["toy.mrg".to_owned()], trees };
    trainer.train(&train, &Treebank::default())
}

/// A model of the classifiers of some labels and those of other models, trained on short toy sentences.
fn model(labels: &[&str], merge: &[Model]) -> srparse::Result<Model> {
    let labels = labels.iter().map(|&label| label.to_owned()).collect();
    train(&trainer(&[]).labels(labels).merge(merge.to_vec()), short_sentences(12))
}

fn parse(model: &Model, settings: &[String], tokens: &[Token]) -> Parse {
    Parser::new(model, settings).unwrap().parse(tokens).unwrap()
}

fn bytes(model: &Model) -> String {
    format!("{:?} {:?}", serde_json::to_string(&model.header).unwrap(), model.sections)
}

#[test]
fn labels_that_are_trained_apart_merge_into_the_model_that_is_trained_at_once() {
    let whole = model(&[], &[]).unwrap();
    let first = model(&["NP", "TOP"], &[]).unwrap();
    assert_eq!(first.header.training.labels, ["TOP", "NP"]);
    let error = Parser::new(&first, &[]).err().unwrap().to_string();
    assert!(error.contains("labels TOP, NP:") && error.contains("merge"), "{error}");
    let second = model(&["VP"], std::slice::from_ref(&first)).unwrap();
    assert_eq!(second.header.training.labels.len(), 3);
    let merged = model(&[], &[first, second]).unwrap();
    assert!(bytes(&merged) == bytes(&whole));
    let tokens = short_sentences(1)[0].tokens().to_vec();
    assert_eq!(parse(&merged, &[], &tokens), parse(&whole, &[], &tokens));
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let error = model(&["NPP"], &[]).unwrap_err().to_string();
    assert!(error.contains("did you mean `NP`?"), "{error}");
    let mut other = model(&["NP"], &[]).unwrap();
    other.header.seed = 7;
    let error = model(&[], &[other]).unwrap_err().to_string();
    assert!(error.contains("merge") && error.contains("seed"), "{error}");
    let part = |trees| train(&trainer(&[]).labels(vec!["NP".to_owned()]), trees).unwrap();
    let (mut longer, mut other) = (short_sentences(12), short_sentences(12));
    longer.push(longer[0].clone());
    other[0].tokens_mut()[0].word = "unheard-of".into();
    for (trees, what) in [(longer, "treebank"), (other, "vocabulary")] {
        let error = model(&[], &[part(trees)]).unwrap_err().to_string();
        assert!(error.contains("merge") && error.contains(what), "{error}");
    }
}

#[test]
fn a_checkpoint_is_taken_up_by_the_same_system_only() {
    let folder = tempfile::tempdir().unwrap();
    let train = |order: &str, checkpoint: Option<&Path>| {
        let mut trainer = trainer(&[&format!("system.order={order}")]);
        if let Some(folder) = checkpoint {
            trainer = trainer.checkpoint(folder);
        }
        train(&trainer, short_sentences(12)).unwrap()
    };
    train("free", Some(folder.path()));
    let fresh = bytes(&train("left-to-right", None));
    for _ in 0..2 {
        assert!(bytes(&train("left-to-right", Some(folder.path()))) == fresh);
    }
}

#[test]
fn labels_that_stopped_at_different_thresholds_are_used_down_to_the_same() {
    let log = Log::stopping_at(u64::MAX);
    let trainer = trainer(&["learner.max_splits=2"]).observe(&log);
    let model = train(&trainer, short_sentences(12)).unwrap();
    let told = log.text();
    assert!(told.contains("different thresholds"), "{told}");
    let templates = Templates::named("turian-2005").unwrap();
    let all = Ensembles::load(&templates.columns(), &model.sections).unwrap();
    assert!(all.is_uneven());
    let threshold = model.header.preset["learner"]["threshold"].as_f64().unwrap();
    assert_eq!(threshold, all.reached());
}

/// Stops training when the first tree of a label has been grown.
#[derive(Default)]
struct AfterFirstTree(AtomicBool);

impl Observer for AfterFirstTree {
    fn event(&self, event: Event<'_>) {
        if matches!(event, Event::Step { .. }) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn training_that_is_stopped_ends_soon_with_a_model_that_parses() {
    let stop = AfterFirstTree::default();
    let model =
        train(&trainer(&["tagger={ kind = 'none' }"]).observe(&stop), short_sentences(12)).unwrap();
    let tokens = short_sentences(1)[0].tokens().to_vec();
    for method in ["best-first", "beam", "greedy"] {
        let settings = [format!("search.method={method}"), "search.threshold=1".to_owned()];
        assert_valid(&parse(&model, &settings, &tokens).tree, &tokens);
    }
}

#[test]
fn models_whose_parts_do_not_fit_together_are_refused() {
    let whole = model(&[], &[]).unwrap();
    let error = |model: &Model| Parser::new(model, &[]).err().unwrap().to_string();
    let mut other = whole.clone();
    other.header.system["order"] = "left-to-right".into();
    assert!(error(&other).contains("order"), "{}", error(&other));
    let mut other = whole;
    let seen = other.sections.0.iter_mut().find(|section| section.name == "boost.seen").unwrap();
    seen.bytes = seen.bytes[1..].to_vec().into();
    assert!(error(&other).contains("labels"), "{}", error(&other));
}

#[test]
fn how_many_trees_are_used_can_be_changed_after_training() {
    let whole = model(&[], &[]).unwrap();
    let parse = |settings: &[String]| {
        let parser = Parser::new(&whole, settings).unwrap();
        let parse = |tree: &Tree| parser.parse(tree.tokens()).unwrap().tree;
        short_sentences(12).iter().map(parse).collect::<Vec<_>>()
    };
    assert_eq!(parse(&[]), parse(&["learner.threshold=0.5".to_owned()]));
    assert_ne!(parse(&[]), parse(&["learner.threshold=20".to_owned()]));
    let error = Parser::new(&whole, &["learner.max_depth=1".to_owned()]).err().unwrap().to_string();
    assert!(error.contains("learner.threshold"), "{error}");
}

#[test]
fn candidates_are_legal_so_that_none_is_rejected() {
    let (whole, trees) = (model(&[], &[]).unwrap(), short_sentences(12));
    let parse = |illegal: &str| {
        let settings = ["search.method=greedy".to_owned(), format!("search.illegal={illegal}")];
        let parser = Parser::new(&whole, &settings).unwrap();
        trees.iter().map(|tree| parser.parse(tree.tokens()).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(parse("reject"), parse("next-best"));
}

#[test]
fn margins_count_every_candidate_of_a_label() {
    let (whole, trees) = (model(&[], &[]).unwrap(), short_sentences(12));
    let parser = Parser::new(&whole, &[]).unwrap();
    let found = parser.margins(trees.clone(), "NP").unwrap();
    assert_eq!(found.infinite, [0, 0]);
    let found = found.bins;
    let sum = |side: usize| found.values().map(|bin| bin[side]).sum::<u64>();
    let of_label = |tree: &Tree| tree.nodes().iter().filter(|node| node.label == "NP").count();
    // An item stays a candidate until it is inferred.
    assert!(sum(0) >= trees.iter().map(of_label).sum::<usize>() as u64);
    assert!(sum(1) > sum(0));
    let sure = |side: usize| found.range(0..).map(|(_, bin)| bin[side]).sum::<u64>();
    assert!(sure(0) * 10 > sum(0) * 9 && sure(1) * 10 > sum(1) * 9);
    let error = parser.margins(trees, "NPP").unwrap_err().to_string();
    assert!(error.contains("margins") && error.contains("TOP, "), "{error}");
}

#[test]
fn what_is_counted_of_a_tree_does_not_depend_on_the_trees_before() {
    let (model, trees) = (model(&[], &[]).unwrap(), short_sentences(60));
    let parser = Parser::new(&model, &[]).unwrap();
    let all = parser.decisions(trees.clone()).all;
    let alone = trees.into_iter().map(|tree| parser.decisions(vec![tree]).all);
    let sum = alone.fold((0, 0), |(right, legal), counts| {
        (right + counts.right, legal + counts.right_of_legal)
    });
    assert_eq!((all.right, all.right_of_legal), sum);
    assert!(all.right > 0);
}

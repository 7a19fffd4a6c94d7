//! Models of the parser of items: trained in parts, kept, stopped, merged and read.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod common;

use std::path::Path;

use srparse::classifier::boosting::Ensembles;
use srparse::feature::Templates;
use srparse::model::Model;
use srparse::observer::Silent;
use srparse::preset::Preset;
use srparse::preset::fit::{TreeSet, Watch, fit};
use srparse::preset::load::{decisions, load, margins};
use srparse::preset::plan::Plan;
use srparse::tree::Tree;

use common::observer::Log;
use common::{assert_valid, toy};

/// Short sentences of the toy grammar.
fn toy_trees(n: usize) -> Vec<Tree> {
    let mut trees = toy::treebank(8 * n, 1);
    trees.retain(|tree| tree.tokens().len() <= 12);
    trees.truncate(n);
    trees
}

/// A model of the baseline preset with some changes, without development trees.
fn model_of(trees: Vec<Tree>, changes: &[&str], watch: &Watch<'_>) -> srparse::Result<Model> {
    let settings = [&["learner.min_reduction=0.5", "unknown_below=0"], changes].concat();
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let plan = Plan::new(Preset::load("turian-2005-free", &settings)?)?;
    let train = TreeSet { files: vec!["toy.mrg".to_owned()], trees };
    fit(&plan, &train, &TreeSet::default(), 1, watch)
}

/// One trained on short toy sentences.
fn model(labels: &[&str], merge: &[Model]) -> srparse::Result<Model> {
    let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
    let watch = Watch { labels: &labels, merge, ..Watch::new(&Silent) };
    model_of(toy_trees(12), &[], &watch)
}

fn bytes(model: &Model) -> String {
    format!("{:?} {:?}", serde_json::to_string(&model.header).unwrap(), model.sections)
}

#[test]
fn labels_that_are_trained_apart_merge_into_the_model_that_is_trained_at_once() {
    let whole = model(&[], &[]).unwrap();
    let first = model(&["NP", "TOP"], &[]).unwrap();
    assert_eq!(first.header.training.labels, ["TOP", "NP"]);
    let error = load(&first, &[]).err().unwrap().to_string();
    assert!(error.contains("labels TOP, NP:") && error.contains("merge"), "{error}");
    let second = model(&["VP"], std::slice::from_ref(&first)).unwrap();
    assert_eq!(second.header.training.labels.len(), 3);
    let merged = model(&[], &[first, second]).unwrap();
    assert!(bytes(&merged) == bytes(&whole));
    let tokens = toy_trees(1)[0].tokens().to_vec();
    let parse = |model: &Model| load(model, &[]).unwrap().worker().parse(&tokens);
    assert_eq!(parse(&merged), parse(&whole));
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let error = model(&["NPP"], &[]).unwrap_err().to_string();
    assert!(error.contains("did you mean `NP`?"), "{error}");
    let mut other = model(&["NP"], &[]).unwrap();
    other.header.seed = 7;
    let error = model(&[], &[other]).unwrap_err().to_string();
    assert!(error.contains("merge") && error.contains("seed"), "{error}");
    let part = |trees: Vec<Tree>| {
        let labels = ["NP".to_owned()];
        model_of(trees, &[], &Watch { labels: &labels, ..Watch::new(&Silent) }).unwrap()
    };
    let (mut longer, mut other) = (toy_trees(12), toy_trees(12));
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
        let watch = Watch { checkpoint, ..Watch::new(&Silent) };
        model_of(toy_trees(12), &[&format!("system.order={order}")], &watch).unwrap()
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
    let changes = ["learner.max_splits=2"];
    let model = model_of(toy_trees(12), &changes, &Watch::new(&log)).unwrap();
    let told = log.text();
    assert!(told.contains("same threshold"), "{told}");
    let templates = Templates::named("turian-2005").unwrap();
    let all = Ensembles::load(&templates.columns(), &model.sections).unwrap();
    assert!(all.is_uneven());
    let threshold = model.header.preset["learner"]["threshold"].as_f64().unwrap();
    assert_eq!(threshold, all.reached());
}

#[test]
fn training_that_is_stopped_ends_soon_with_a_model_that_parses() {
    let log = Log::stopping_at(0);
    let watch = Watch::new(&log);
    let model = model_of(toy_trees(12), &[], &watch).unwrap();
    let tokens = toy_trees(1)[0].tokens().to_vec();
    for method in ["best-first", "beam", "greedy"] {
        let settings = [format!("search.method={method}"), "search.threshold=1".to_owned()];
        let parse = load(&model, &settings).unwrap().worker().parse(&tokens);
        assert_valid(&parse.tree, &tokens);
    }
}

#[test]
fn models_whose_parts_do_not_fit_together_are_refused() {
    let whole = model(&[], &[]).unwrap();
    let error = |model: &Model| load(model, &[]).err().unwrap().to_string();
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
        let parser = load(&whole, settings).unwrap();
        let mut worker = parser.worker();
        let parse = |tree: &Tree| worker.parse(tree.tokens()).tree;
        toy_trees(12).iter().map(parse).collect::<Vec<_>>()
    };
    assert_eq!(parse(&[]), parse(&["learner.threshold=0.5".to_owned()]));
    assert_ne!(parse(&[]), parse(&["learner.threshold=20".to_owned()]));
    let error = load(&whole, &["learner.max_depth=1".to_owned()]).err().unwrap().to_string();
    assert!(error.contains("learner.threshold"), "{error}");
}

#[test]
fn margins_count_every_candidate_of_a_label() {
    let (whole, trees) = (model(&[], &[]).unwrap(), toy_trees(12));
    let found = margins(&whole, &[], trees.clone(), "NP").unwrap();
    assert_eq!(found.infinite, [0, 0]);
    let found = found.bins;
    let sum = |side: usize| found.values().map(|bin| bin[side]).sum::<u64>();
    let of_label = |tree: &Tree| tree.nodes().iter().filter(|node| node.label == "NP").count();
    // An item stays a candidate until it is inferred.
    assert!(sum(0) >= trees.iter().map(of_label).sum::<usize>() as u64);
    assert!(sum(1) > sum(0));
    let sure = |side: usize| found.range(0..).map(|(_, bin)| bin[side]).sum::<u64>();
    assert!(sure(0) * 10 > sum(0) * 9 && sure(1) * 10 > sum(1) * 9);
    let error = margins(&whole, &[], trees, "NPP").unwrap_err().to_string();
    assert!(error.contains("margins") && error.contains("TOP, "), "{error}");
}

#[test]
fn what_is_counted_of_a_tree_does_not_depend_on_the_trees_before() {
    let (model, trees) = (model(&[], &[]).unwrap(), toy_trees(60));
    let all = decisions(&model, &[], trees.clone()).unwrap().all;
    let alone = trees.into_iter().map(|tree| decisions(&model, &[], vec![tree]).unwrap().all);
    let sum = alone.fold((0, 0), |(right, legal), counts| {
        (right + counts.right, legal + counts.right_of_legal)
    });
    assert_eq!((all.right, all.right_of_legal), sum);
    assert!(all.right > 0);
}

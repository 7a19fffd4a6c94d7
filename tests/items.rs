//! The parser of items, as a whole: candidates, boosted trees, search.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod common;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use rand::seq::IndexedRandom;
use srparse::classifier::boosting::{BoostingParams, Ensembles, Labelled, fit_labels};
use srparse::classifier::{Classifier, Fit};
use srparse::decode::beam::Agenda;
use srparse::decode::parser::Pipeline;
use srparse::decode::{Beam, BestFirst, Decoded, Decoder, Greedy, Parser, PathScore, Unfinished};
use srparse::feature::{Extractor, Templates};
use srparse::memory::Sections;
use srparse::oracle::Oracle;
use srparse::oracle::items::ItemOracle;
use srparse::oracle::replay::same_brackets;
use srparse::scorer::focused::FocusedScratch;
use srparse::scorer::{Configuration, Focused, Scorer};
use srparse::symbols::Label;
use srparse::train::Example;
use srparse::train::candidates::{Drawing, Drawn, draw};
use srparse::transition::TransitionSystem;
use srparse::transition::items::{Infer, ItemOrder, ItemState, Items, MaxChildren};
use srparse::tree::Tree;
use srparse::treebank::Cleaning;

use common::{assert_valid, random_trees, rng, sentence, shown, toy, vocabulary};

const ORDERS: [ItemOrder; 3] = [ItemOrder::Free, ItemOrder::LeftToRight, ItemOrder::RightToLeft];

fn items(trees: &[Tree], order: ItemOrder) -> Items {
    Items::of_trees(trees, order, MaxChildren::Auto).unwrap()
}

/// Short sentences of the toy grammar.
fn toy_trees(n: usize) -> Vec<Tree> {
    let mut trees = toy::treebank(8 * n, 1);
    trees.retain(|tree| tree.tokens().len() <= 12);
    trees.truncate(n);
    trees
}

fn examples(trees: &[Tree]) -> Vec<Example> {
    let vocabulary = vocabulary(trees);
    let encode =
        |tree: &Tree| Example { sentence: vocabulary.encode(tree.tokens()), tree: tree.clone() };
    trees.iter().map(encode).collect()
}

fn templates() -> Templates {
    Templates::named("turian-2005").unwrap()
}

fn go_on(_: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The candidates of some trees, and how many there were.
fn drawn(system: &Items, trees: &[Tree], negative_sampling: u32) -> (Labelled, Drawn, usize) {
    let (n_labels, drawing) =
        (system.tables().labels.len(), Drawing { seed: 1, negative_sampling });
    let (candidates, drawn) =
        draw(system, &ItemOracle, &examples(trees), &templates(), n_labels, drawing, go_on)
            .unwrap();
    let (design, labelled) = candidates.finish(1);
    (labelled, drawn, design.len())
}

/// A scorer trained on all candidates of some trees.
fn trained(system: &Items, trees: &[Tree]) -> Focused<Ensembles> {
    let labels = &system.tables().labels;
    let names: Vec<Option<&str>> = labels.names().map(Some).collect();
    let drawing = Drawing { seed: 1, negative_sampling: 1 };
    let (candidates, _) =
        draw(system, &ItemOracle, &examples(trees), &templates(), names.len(), drawing, go_on)
            .unwrap();
    let params = BoostingParams { min_reduction: 0.1, ..BoostingParams::default() };
    let (design, labelled) = candidates.finish(params.min_count);
    let fit = Fit::quiet(1);
    let ensembles = fit_labels(&design, &labelled, &names, &params, &fit).unwrap();
    let ensembles = Ensembles::new(&templates().columns(), ensembles);
    Focused::new(Extractor::new(&templates()), ensembles)
}

fn best_first(agenda: usize) -> BestFirst {
    let (max_states, path_score) = (10_000, PathScore::Min);
    BestFirst { max_states, agenda, unfinished: Unfinished::Partial, path_score }
}

#[test]
fn any_of_several_right_items_leads_to_the_tree() {
    let mut rng = rng(1);
    for order in ORDERS {
        let trees = random_trees(1, 60);
        let system = items(&trees, order);
        let (mut optimal, mut several) = (Vec::new(), 0);
        for tree in &trees {
            let gold = ItemOracle.prepare(&system, tree).unwrap();
            let mut state = system.start(&sentence(tree));
            while !system.is_final(&state) {
                ItemOracle.optimal(&system, &gold, &state, &mut optimal);
                several += u32::from(optimal.len() > 1);
                system.apply(&mut state, *optimal.choose(&mut rng).unwrap());
            }
            let built = system.tree(&state, tree.tokens());
            assert!(same_brackets(&built, &system.target(tree)), "{}", shown(&built));
        }
        assert_eq!(several > 0, order == ItemOrder::Free);
    }
}

#[test]
fn boosted_trees_of_each_label_learn_by_heart_in_every_order() {
    let trees = toy_trees(30);
    for order in ORDERS {
        let system = items(&trees, order);
        let scorer = trained(&system, &trees);
        let parser = Pipeline {
            cleaning: Cleaning::none(),
            vocabulary: vocabulary(&trees),
            system,
            scorer,
            decoder: best_first(100),
        };
        let mut worker = parser.worker();
        for tree in &trees {
            let parse = worker.parse(tree.tokens());
            assert!(parse.complete);
            assert_valid(&parse.tree, tree.tokens());
            assert!(same_brackets(&parse.tree, tree), "{order:?}: {}", shown(&parse.tree));
        }
    }
}

fn decode<D: Decoder<Items, Focused<Ensembles>>>(
    decoder: &D,
    system: &Items,
    scorer: &Focused<Ensembles>,
    example: &Example,
) -> Decoded<ItemState, Infer> {
    decoder.decode(system, scorer, &example.sentence, &mut D::Scratch::default())
}

#[test]
fn a_wider_search_finds_no_lower_minimum_and_an_agenda_of_one_is_greedy() {
    let trees = toy_trees(60);
    let (known, unknown) = trees.split_at(10);
    let system = items(&trees, ItemOrder::Free);
    let scorer = trained(&system, known);
    let (mut better, vocabulary) = (0, vocabulary(known));
    for tree in unknown {
        let sentence = vocabulary.encode(tree.tokens());
        let example = Example { sentence, tree: tree.clone() };
        let greedy = Greedy { path_score: PathScore::Min, ..Greedy::default() };
        let greedy = decode(&greedy, &system, &scorer, &example);
        let narrow = decode(&best_first(1), &system, &scorer, &example);
        let tree_of = |found: &Decoded<ItemState, Infer>| system.tree(&found.state, tree.tokens());
        assert_eq!(tree_of(&greedy), tree_of(&narrow));
        let wide = decode(&best_first(1_000), &system, &scorer, &example);
        let beam = Beam { width: 1_000, threshold: 0.0, path_score: PathScore::Min };
        let beam = decode(&beam, &system, &scorer, &example);
        assert!(wide.complete && wide.score >= narrow.score);
        let scores = |found: &Decoded<ItemState, Infer>| steps(&system, &scorer, &example, found);
        assert_eq!(scores(&wide), scores(&beam), "{}", shown(&tree_of(&wide)));
        better += u32::from(wide.score > narrow.score);
    }
    assert!(better > 0, "the search never mattered");
}

/// The scores of the steps of a path, from the least.
fn steps(
    system: &Items,
    scorer: &Focused<Ensembles>,
    Example { sentence, .. }: &Example,
    found: &Decoded<ItemState, Infer>,
) -> Vec<f32> {
    let (mut state, mut score) = (system.start(sentence), Vec::new());
    let one = |&action: &Infer| {
        let at = Configuration { system, sentence, state: &state };
        scorer.score(at, &(), &[action], &mut FocusedScratch::default(), &mut score);
        system.apply(&mut state, action);
        score[0]
    };
    let mut steps: Vec<f32> = found.actions.iter().map(one).collect();
    steps.sort_by(f32::total_cmp);
    steps
}

#[test]
fn ties_are_decided_by_all_steps_as_in_a_beam_that_is_wide_enough() {
    let mut trees = random_trees(9, 400);
    trees.retain(|tree| tree.tokens().len() <= 5);
    let (known, unknown) = trees.split_at(8);
    let system = items(&trees, ItemOrder::Free);
    let scorer = trained(&system, known);
    let vocabulary = vocabulary(known);
    let (mut several, mut truncated) = (0, 0);
    for tree in unknown.iter().take(40) {
        let sentence = vocabulary.encode(tree.tokens());
        let example = Example { sentence, tree: tree.clone() };
        let wide = BestFirst { max_states: 2_000, ..best_first(usize::MAX) };
        let found =
            wide.decode_nbest(&system, &scorer, &example.sentence, 3, &mut Default::default());
        let beam = Beam { width: 5_000, threshold: 0.0, path_score: PathScore::Min };
        let beam = decode(&beam, &system, &scorer, &example);
        let scores = |found: &Decoded<ItemState, Infer>| steps(&system, &scorer, &example, found);
        let best = decode(&wide, &system, &scorer, &example);
        assert_eq!(scores(&best), scores(&beam), "{}", shown(tree));
        assert_eq!(scores(&found[0]), scores(&beam), "{}", shown(tree));
        let different: BTreeSet<String> = { found.iter() }
            .map(|found| shown(&system.tree(&found.state, tree.tokens())))
            .collect();
        assert_eq!(different.len(), found.len());
        several += u32::from(found.len() == 3);
        truncated += u32::from(found.len() < 3);
    }
    assert!(several > truncated, "{several} {truncated}");
}

#[test]
fn worse_paths_to_a_state_take_no_room_in_a_beam() {
    let trees = toy_trees(40);
    let (known, unknown) = trees.split_at(10);
    let system = items(&trees, ItemOrder::Free);
    let scorer = trained(&system, known);
    let vocabulary = vocabulary(known);
    for (tree, width) in unknown.iter().zip(5..) {
        let sentence = vocabulary.encode(tree.tokens());
        let mut agenda = Agenda::default();
        let beam = |width: usize| Beam { width, threshold: 0.0, path_score: PathScore::Min };
        agenda.start(&system, &scorer, &sentence, PathScore::Min);
        for _ in 0..3 {
            agenda.advance(&beam(width), &system, &scorer, &sentence, None);
            assert_eq!(agenda.beam().len(), width, "{}", shown(tree));
        }
    }
}

#[test]
fn candidates_that_nothing_is_known_of_leave_a_search_with_a_threshold_its_way() {
    let trees = toy_trees(10);
    let system = items(&trees, ItemOrder::Free);
    let nothing = vec![None; system.tables().labels.len()];
    let nothing = Ensembles::new(&templates().columns(), nothing);
    let scorer = Focused::new(Extractor::new(&templates()), nothing);
    let examples = examples(&trees);
    for path_score in [PathScore::Sum, PathScore::Min] {
        let beam = Beam { width: 4, threshold: 1.0, path_score };
        assert!(decode(&beam, &system, &scorer, &examples[0]).complete);
    }
    let found = srparse::eval::margins::margins(&system, &scorer, &ItemOracle, &examples, Label(1));
    assert!(found.bins.is_empty() && found.infinite.iter().all(|&n| n > 0), "{found:?}");
}

#[test]
fn additive_loss_prefers_small_trees() {
    let mut trees = random_trees(9, 300);
    trees.retain(|tree| tree.tokens().len() <= 8);
    let (known, unknown) = trees.split_at(20);
    let system = items(&trees, ItemOrder::Free);
    let scorer = trained(&system, known);
    let vocabulary = vocabulary(known);
    let steps = |path_score| -> usize {
        let decoder = BestFirst { path_score, ..best_first(1_000) };
        let one = |tree: &Tree| {
            let example =
                Example { sentence: vocabulary.encode(tree.tokens()), tree: tree.clone() };
            system.steps(&decode(&decoder, &system, &scorer, &example).state)
        };
        unknown.iter().take(80).map(one).sum()
    };
    let (loss, min) = (steps(PathScore::Loss), steps(PathScore::Min));
    assert!(loss < min, "{loss} {min}");
}

#[test]
fn a_search_that_may_not_go_on_gives_a_partial_tree() {
    let trees = toy_trees(10);
    let system = items(&trees, ItemOrder::Free);
    let scorer = trained(&system, &trees);
    let few = BestFirst { max_states: 2, ..best_first(10) };
    for example in examples(&trees) {
        let found = decode(&few, &system, &scorer, &example);
        assert!(!found.complete);
        assert_valid(&system.tree(&found.state, example.tree.tokens()), example.tree.tokens());
        let greedy = BestFirst { unfinished: Unfinished::Greedy, ..few };
        assert!(decode(&greedy, &system, &scorer, &example).complete);
    }
}

#[test]
fn threads_change_nothing() {
    let trees = random_trees(3, 150);
    let system = items(&trees, ItemOrder::Free);
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let scorer = pool.install(|| trained(&system, &trees[..20]));
        let (labelled, drawn, rows) = pool.install(|| drawn(&system, &trees, 3));
        let mut sections = Sections::default();
        scorer.classifier().store(&mut sections);
        let examples: Vec<_> = (0..labelled.n_labels()).map(|at| labelled.examples(at)).collect();
        format!("{sections:?} {drawn:?} {rows} {examples:?}")
    };
    assert!(bytes(1) == bytes(4));
}

#[test]
fn a_sample_keeps_what_is_right_and_weighs_what_is_wrong() {
    let trees = random_trees(4, 200);
    let system = items(&trees, ItemOrder::RightToLeft);
    let ((all, drawn_all, _), (some, drawn_some, _)) =
        (drawn(&system, &trees, 1), drawn(&system, &trees, 5));
    assert_eq!(drawn_all, Drawn { kept: drawn_all.rows, ..drawn_some });
    assert!(drawn_some.kept < drawn_all.kept / 3, "{drawn_some:?}");
    for label in 0..all.n_labels() {
        let sums = |labelled: &Labelled| {
            let sum = |gold: bool| -> f64 {
                let examples = labelled.examples(label);
                let of = examples.iter().filter(|example| example.gold == gold);
                of.map(|example| f64::from(example.weight)).sum()
            };
            (sum(true), sum(false))
        };
        let ((right, wrong), (sampled_right, sampled_wrong)) = (sums(&all), sums(&some));
        assert_eq!(right, sampled_right);
        assert!((sampled_wrong - wrong).abs() < 0.1 * wrong, "{sampled_wrong} {wrong}");
    }
}

#[test]
fn scores_that_are_kept_are_those_of_the_state() {
    let trees = toy_trees(20);
    let system = items(&trees, ItemOrder::Free);
    let scorer = trained(&system, &trees[..10]);
    let mut rng = rng(5);
    let (mut legal, mut kept, mut fresh) = (Vec::new(), Vec::new(), Vec::new());
    let mut scratch = FocusedScratch::default();
    for Example { sentence, .. } in examples(&trees) {
        let start = system.start(&sentence);
        let at = Configuration { system: &system, sentence: &sentence, state: &start };
        scorer.begin(at, &mut scratch);
        for _ in 0..3 {
            let mut state = system.start(&sentence);
            while !system.is_final(&state) {
                system.legal(&state, &mut legal);
                let at = Configuration { system: &system, sentence: &sentence, state: &state };
                scorer.score(at, &(), &legal, &mut scratch, &mut kept);
                scorer.score(at, &(), &legal, &mut FocusedScratch::default(), &mut fresh);
                assert_eq!(kept, fresh);
                system.apply(&mut state, *legal.choose(&mut rng).unwrap());
            }
        }
    }
}

//! The parser of items, as a whole: candidates, boosted trees, search.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use rand::seq::IndexedRandom;
use srparse::classifier::boosting::{BoostingParams, Candidates, Ensembles, Labelled, fit_labels};
use srparse::classifier::{Classifier, Fit};
use srparse::decode::beam::{Agenda, Beam};
use srparse::decode::{Cursor, Decoded, Method, PathScore, Problem, Search, Unfinished};
use srparse::feature::{Extractor, Row, Templates, extract};
use srparse::inspect::margins::margins;
use srparse::memory::Sections;
use srparse::observer::{Event, Observer, Silent};
use srparse::oracle::Example;
use srparse::oracle::replay::same_brackets;
use srparse::parser::Worker;
use srparse::scorer::{Focused, Scorer};
use srparse::train::candidate_rows::{CandidateCounts, Sampling, collect};
use srparse::transition::items::{ItemOrder, Items, MaxChildren};
use srparse::transition::{Action, StoredSystem, TransitionSystem};
use srparse::tree::Tree;
use srparse::treebank::Cleaning;

use crate::common::toy::short_sentences;
use crate::common::training::{decode_nbest, examples};
use crate::common::{assert_valid, random_trees, rng, sentence, shown, vocabulary};

const ORDERS: [ItemOrder; 3] = [ItemOrder::Free, ItemOrder::LeftToRight, ItemOrder::RightToLeft];

fn items(trees: &[Tree], order: ItemOrder) -> Items {
    Items::of_trees(trees, order, MaxChildren::Auto).unwrap()
}

fn templates() -> Templates {
    Templates::named("turian-2005").unwrap()
}

/// The candidates of some trees.
fn candidates(
    system: &Items,
    trees: &[Tree],
    negative_sampling: u32,
) -> (Candidates, CandidateCounts) {
    let sampling = Sampling { seed: 1, negative_sampling };
    let n_labels = system.tables().labels.len();
    collect(system, &examples(trees), &templates(), n_labels, sampling, &Silent).unwrap()
}

/// Stops what it observes after so many questions.
struct StopsAfter(AtomicU32);

impl Observer for StopsAfter {
    fn event(&self, _: Event<'_>) {}

    fn is_stopped(&self) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn a_stop_is_heeded_within_a_sentence() {
    let tree: Tree = "(TOP (S (A (B b) (C c)) (A (B b) (C c)) (A (B b) (C c))))".parse().unwrap();
    let trees = [tree];
    let system = items(&trees, ItemOrder::LeftToRight);
    let sampling = Sampling { seed: 1, negative_sampling: 1 };
    let n_labels = system.tables().labels.len();
    let observer = StopsAfter(AtomicU32::new(2));
    let stopped =
        collect(&system, &examples(&trees), &templates(), n_labels, sampling, &observer).err();
    assert!(matches!(stopped, Some(srparse::Error::Stopped)), "{stopped:?}");
}

/// The rows of the candidates of each label, and how many distinct ones there are.
fn labelled(system: &Items, trees: &[Tree], sampling: u32) -> (Labelled, CandidateCounts, usize) {
    let (candidates, counts) = candidates(system, trees, sampling);
    let (design, labelled) = candidates.finish(1);
    (labelled, counts, design.len())
}

/// A scorer trained on all candidates of some trees.
fn trained(system: &Items, trees: &[Tree]) -> Focused<Ensembles> {
    let names: Vec<Option<&str>> = system.tables().labels.names().map(Some).collect();
    let params = BoostingParams { min_reduction: 0.1, ..BoostingParams::default() };
    let (candidates, _) = candidates(system, trees, 1);
    let (design, labelled) = candidates.finish(params.min_count);
    let ensembles = fit_labels(&design, &labelled, &names, &params, &Fit::quiet(1)).unwrap();
    let ensembles = Ensembles::new(&templates().columns(), ensembles);
    Focused::new(Extractor::new(&templates()), ensembles)
}

/// A best-first search; an agenda of 0 has no limit.
fn best_first(agenda: u32) -> Search {
    let (method, path_score) = (Method::BestFirst, PathScore::Min);
    let unfinished = Unfinished::Partial;
    Search { method, max_states: 10_000, agenda, unfinished, path_score, ..Search::default() }
}

fn beam(width: u32) -> Search {
    let (method, path_score) = (Method::Beam, PathScore::Min);
    Search { method, beam: width, path_score, ..Search::default() }
}

#[test]
fn any_of_several_right_items_leads_to_the_tree() {
    let mut rng = rng(1);
    for order in ORDERS {
        let trees = random_trees(1, 60);
        let system = items(&trees, order);
        let (mut optimal, mut several) = (Vec::new(), 0);
        for tree in &trees {
            let oracle = system.dynamic_oracle(tree).unwrap().unwrap();
            let (mut state, mut forest) = system.start(&sentence(tree));
            while !state.finished {
                oracle.optimal(&state, &forest, &mut optimal);
                several += u32::from(optimal.len() > 1);
                system.apply(&mut state, &mut forest, *optimal.choose(&mut rng).unwrap());
            }
            let built = system.tree(&state, &forest, tree.tokens());
            assert!(same_brackets(&built, &system.target(tree)), "{}", shown(&built));
        }
        assert_eq!(several > 0, order == ItemOrder::Free);
    }
}

#[test]
fn a_candidate_and_a_code_identify_an_action() {
    let mut rng = rng(2);
    for order in ORDERS {
        let trees = random_trees(2, 20);
        let system = items(&trees, order);
        let mut legal = Vec::new();
        for tree in &trees {
            let (mut state, mut forest) = system.start(&sentence(tree));
            while !state.finished {
                system.legal(&state, &forest, &mut legal);
                let identities = legal.iter().map(|&action| {
                    let focus = system.focused_view(&state, &forest, action).focus.unwrap();
                    (focus.first, focus.last, action.code)
                });
                assert_eq!(identities.collect::<BTreeSet<_>>().len(), legal.len());
                system.apply(&mut state, &mut forest, *legal.choose(&mut rng).unwrap());
            }
        }
    }
}

#[test]
fn boosted_trees_of_each_label_learn_by_heart_in_every_order() {
    let trees = short_sentences(30);
    for order in ORDERS {
        let system = items(&trees, order);
        let scorer = trained(&system, &trees);
        let (cleaning, vocabulary) = (Cleaning::none(), vocabulary(&trees));
        let search = best_first(100);
        let mut worker = Worker::new(&cleaning, &vocabulary, &system, scorer.reading(), &search);
        for tree in &trees {
            let parse = worker.parse(tree.tokens());
            assert!(parse.complete);
            assert_valid(&parse.tree, tree.tokens());
            assert!(same_brackets(&parse.tree, tree), "{order:?}: {}", shown(&parse.tree));
        }
    }
}

fn decode(
    search: &Search,
    system: &Items,
    scorer: &Focused<Ensembles>,
    example: &Example,
) -> Decoded {
    crate::common::training::decode(search, system, &mut *scorer.reading(), &example.sentence)
}

#[test]
fn a_wider_search_finds_no_lower_minimum_and_an_agenda_of_one_is_greedy() {
    let trees = short_sentences(60);
    let (known, unknown) = trees.split_at(10);
    let system = items(&trees, ItemOrder::Free);
    let scorer = trained(&system, known);
    let (mut better, vocabulary) = (0, vocabulary(known));
    for tree in unknown {
        let sentence = vocabulary.encode(tree.tokens());
        let example = Example { sentence, tree: tree.clone() };
        let greedy = Search { path_score: PathScore::Min, ..Search::default() };
        let greedy = decode(&greedy, &system, &scorer, &example);
        let narrow = decode(&best_first(1), &system, &scorer, &example);
        let tree_of = |found: &Decoded| system.tree(&found.state, &found.forest, tree.tokens());
        assert_eq!(tree_of(&greedy), tree_of(&narrow));
        let wide = decode(&best_first(1_000), &system, &scorer, &example);
        let beam = decode(&beam(1_000), &system, &scorer, &example);
        assert!(wide.complete && wide.score >= narrow.score);
        let scores = |found: &Decoded| steps(&system, &scorer, &example, found);
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
    found: &Decoded,
) -> Vec<f32> {
    let problem = Problem { system, sentence };
    let (mut reading, mut score) = (scorer.reading(), Vec::new());
    let (mut cursor, mut forest) = Cursor::start(problem, &mut *reading);
    let one = |&action: &Action| {
        cursor.scores(problem, &forest, &[action], &mut *reading, &mut score);
        cursor.take(problem, &mut forest, action, &mut *reading);
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
        let wide = Search { max_states: 2_000, ..best_first(0) };
        let found = decode_nbest(&wide, &system, &mut *scorer.reading(), &example.sentence, 3);
        let beam = decode(&beam(5_000), &system, &scorer, &example);
        let scores = |found: &Decoded| steps(&system, &scorer, &example, found);
        let best = decode(&wide, &system, &scorer, &example);
        assert_eq!(scores(&best), scores(&beam), "{}", shown(tree));
        assert_eq!(scores(&found[0]), scores(&beam), "{}", shown(tree));
        let different: BTreeSet<String> = { found.iter() }
            .map(|found| shown(&system.tree(&found.state, &found.forest, tree.tokens())))
            .collect();
        assert_eq!(different.len(), found.len());
        several += u32::from(found.len() == 3);
        truncated += u32::from(found.len() < 3);
    }
    assert!(several > truncated, "{several} {truncated}");
}

#[test]
fn worse_paths_to_a_state_take_no_room_in_a_beam() {
    let trees = short_sentences(40);
    let (known, unknown) = trees.split_at(10);
    let system = items(&trees, ItemOrder::Free);
    let scorer = trained(&system, known);
    let vocabulary = vocabulary(known);
    for (tree, width) in unknown.iter().zip(5..) {
        let sentence = vocabulary.encode(tree.tokens());
        let (mut agenda, mut reading) = (Agenda::default(), scorer.reading());
        let problem = Problem { system: &system, sentence: &sentence };
        let beam = Beam { width, threshold: 0.0, path_score: PathScore::Min };
        agenda.start(problem, PathScore::Min, &mut *reading);
        for _ in 0..3 {
            agenda.advance(&beam, problem, None, &mut *reading);
            assert_eq!(agenda.beam().len(), width, "{}", shown(tree));
        }
    }
}

#[test]
fn candidates_that_nothing_is_known_of_leave_a_search_with_a_threshold_its_way() {
    let trees = short_sentences(10);
    let system = items(&trees, ItemOrder::Free);
    let nothing = vec![None; system.tables().labels.len()];
    let nothing = Ensembles::new(&templates().columns(), nothing);
    let scorer = Focused::new(Extractor::new(&templates()), nothing);
    let examples = examples(&trees);
    for path_score in [PathScore::Sum, PathScore::Min] {
        let search = Search { threshold: 1.0, path_score, ..beam(4) };
        assert!(decode(&search, &system, &scorer, &examples[0]).complete);
    }
    let label = system.labels().name(1).unwrap();
    let found = margins(&system, &scorer, &examples, label).unwrap();
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
        let search = Search { path_score, ..best_first(1_000) };
        let one = |tree: &Tree| {
            let example =
                Example { sentence: vocabulary.encode(tree.tokens()), tree: tree.clone() };
            decode(&search, &system, &scorer, &example).state.steps as usize
        };
        unknown.iter().take(80).map(one).sum()
    };
    let (loss, min) = (steps(PathScore::Loss), steps(PathScore::Min));
    assert!(loss < min, "{loss} {min}");
}

#[test]
fn a_search_that_may_not_go_on_gives_a_partial_tree() {
    let trees = short_sentences(10);
    let system = items(&trees, ItemOrder::Free);
    let scorer = trained(&system, &trees);
    let few = Search { max_states: 2, ..best_first(10) };
    for example in examples(&trees) {
        let found = decode(&few, &system, &scorer, &example);
        assert!(!found.complete);
        assert_valid(
            &system.tree(&found.state, &found.forest, example.tree.tokens()),
            example.tree.tokens(),
        );
        let greedy = Search { unfinished: Unfinished::Greedy, ..few.clone() };
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
        let (labelled, counts, rows) = pool.install(|| labelled(&system, &trees, 3));
        let mut sections = Sections::default();
        scorer.classifier().store(&mut sections);
        let examples: Vec<_> = (0..labelled.n_labels()).map(|at| labelled.examples(at)).collect();
        format!("{sections:?} {counts:?} {rows} {examples:?}")
    };
    assert!(bytes(1) == bytes(4));
}

#[test]
fn a_sample_keeps_what_is_right_and_weighs_what_is_wrong() {
    let trees = random_trees(4, 200);
    let system = items(&trees, ItemOrder::RightToLeft);
    let [(all, of_all, _), (some, of_some, _)] =
        [1, 5].map(|sampling| labelled(&system, &trees, sampling));
    assert_eq!(of_all, CandidateCounts { kept: of_all.rows, ..of_some });
    assert!(of_some.kept < of_all.kept / 3, "{of_some:?}");
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
fn cached_scores_are_those_of_the_state() {
    let trees = short_sentences(20);
    let system = items(&trees, ItemOrder::Free);
    let scorer = trained(&system, &trees[..10]);
    let mut rng = rng(5);
    let (mut legal, mut cached, mut fresh) = (Vec::new(), Vec::new(), Vec::new());
    let mut reading = scorer.reading();
    for Example { sentence, .. } in &examples(&trees) {
        let problem = Problem { system: &system, sentence };
        let start = Cursor::start(problem, &mut *reading);
        for _ in 0..3 {
            let (mut cursor, mut forest) = start.clone();
            while !cursor.is_final() {
                cursor.legal(problem, &forest, &mut legal);
                cursor.scores(problem, &forest, &legal, &mut *reading, &mut cached);
                cursor.scores(problem, &forest, &legal, &mut *scorer.reading(), &mut fresh);
                assert_eq!(cached, fresh);
                let action = *legal.choose(&mut rng).unwrap();
                cursor.take(problem, &mut forest, action, &mut *reading);
            }
        }
    }
}

#[test]
fn a_view_in_focus_shows_the_candidates_children_and_neighbours() {
    let trees = short_sentences(1);
    let system = items(&trees, ItemOrder::Free);
    let sentence = sentence(&trees[0]);
    let (state, forest) = system.start(&sentence);
    let templates = Templates::parse("item.kids.t\nbefore0.t\nafter0.t", "test").unwrap();
    let (mut legal, mut row) = (Vec::new(), Row::default());
    system.legal(&state, &forest, &mut legal);
    let inner = legal.iter().find(|action| action.place == [1, 3]).unwrap();
    let view = system.focused_view(&state, &forest, *inner);
    let mut places = extract::Scratch::default();
    Extractor::new(&templates).extract(&sentence, &view, &mut places, &mut row);
    let mut tags = sentence.tags[1..3].to_vec();
    tags.sort_unstable();
    tags.dedup();
    assert_eq!(row.borrow().set(0), tags);
    assert_eq!(row.values[1..], [sentence.tags[0], sentence.tags[3]]);
}

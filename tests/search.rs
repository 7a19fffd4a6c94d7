//! Search and structured training: beams, best-first search, what they find, and that the number of
//! threads changes nothing.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod common;

use std::ops::ControlFlow;

use srparse::classifier::ScoreScale;
use srparse::classifier::linear::Pruning;
use srparse::decode::parser::Pipeline;
use srparse::decode::{
    Beam, BestFirst, Decoded, Decoder, Greedy, Method, NbestRequest, Parser, PathScore, Search,
    Unfinished,
};
use srparse::feature::Templates;
use srparse::memory::Sections;
use srparse::oracle::replay::{Replay, same_brackets};
use srparse::scorer::factored::Classes;
use srparse::scorer::{Configuration, Factored, OnlinePerceptron, Scorer};
use srparse::train::Example;
use srparse::train::online::{EpochReport, Online};
use srparse::train::structured::{Structured, Update};
use srparse::transition::binary::{Binary, BinaryAction};
use srparse::transition::{Action, ActionKind, TransitionSystem};
use srparse::tree::Tree;
use srparse::treebank::Cleaning;

use common::{assert_valid, random_trees, toy, vocabulary};

fn examples(trees: &[Tree]) -> Vec<Example> {
    let vocabulary = vocabulary(trees);
    let encode =
        |tree: &Tree| Example { sentence: vocabulary.encode(tree.tokens()), tree: tree.clone() };
    trees.iter().map(encode).collect()
}

/// Short sentences of the toy grammar.
fn toy_trees(n: usize) -> Vec<Tree> {
    let mut trees = toy::treebank(8 * n, 1);
    trees.retain(|tree| tree.tokens().len() <= 12);
    trees.truncate(n);
    trees
}

/// Structured training on trees; what each epoch was like, and the weights.
fn structured(
    system: &Binary,
    trees: &[Tree],
    update: Update,
    epochs: u32,
) -> (Factored, Vec<EpochReport>) {
    let templates = Templates::named("rich").unwrap();
    let classes = Classes::of(system.actions()).with_idle();
    let mut learner = OnlinePerceptron::untrained(&templates, classes, false);
    let mut reports = Vec::new();
    let mut progress = |_| {};
    let mut training = Structured {
        epochs,
        seed: 1,
        width: 4,
        update,
        margin: 0.0,
        batch: 5,
        progress: &mut progress,
        stop: &|| false,
    };
    let each_epoch = |_: &OnlinePerceptron, report: EpochReport| {
        reports.push(report);
        Ok(ControlFlow::Continue(()))
    };
    training.run(system, &mut learner, &examples(trees), each_epoch).unwrap();
    (learner.finish(&Pruning::default()), reports)
}

/// How many of the trees a beam of four gives back.
fn exact(system: &Binary, scorer: Factored, trees: &[Tree]) -> usize {
    let decoder = Beam { width: 4, threshold: 0.0, path_score: PathScore::Sum };
    let (cleaning, vocabulary) = (Cleaning::none(), vocabulary(trees));
    let parser = Pipeline { cleaning, vocabulary, system: system.clone(), scorer, decoder };
    let mut worker = parser.worker();
    let found = |tree: &&Tree| same_brackets(&worker.parse(tree.tokens()).tree, tree);
    trees.iter().filter(found).count()
}

#[test]
fn structured_training_learns_by_heart_with_either_update() {
    let trees = toy_trees(20);
    let system = Binary::of_trees(&trees).unwrap();
    for update in [Update::Early, Update::MaxViolation] {
        let (scorer, reports) = structured(&system, &trees, update, 30);
        assert!(reports[0].mistakes > 0 && reports[0].decisions == trees.len() as u64);
        assert_eq!(reports[29].mistakes, 0, "{update:?}");
        assert_eq!(exact(&system, scorer, &trees), trees.len(), "{update:?}");
    }
}

#[test]
fn threads_change_nothing_in_structured_training() {
    let trees = random_trees(8, 40);
    let system = Binary::of_trees(&trees).unwrap();
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (scorer, _) = pool.install(|| structured(&system, &trees, Update::MaxViolation, 3));
        let mut sections = Sections::default();
        srparse::classifier::Classifier::store(scorer.classifier(), &mut sections);
        format!("{sections:?}")
    };
    assert_eq!(bytes(1), bytes(4));
}

/// A perceptron after one epoch: good enough to search with, bad enough to make mistakes.
fn half_trained(trees: &[Tree]) -> (Binary, Factored) {
    let system = Binary::of_trees(trees).unwrap();
    let templates = Templates::named("rich").unwrap();
    let mut learner = OnlinePerceptron::untrained(&templates, Classes::of(system.actions()), false);
    let mut progress = |_| {};
    let mut online = Online { epochs: 1, seed: 1, progress: &mut progress, stop: &|| false };
    let each_epoch = |_: &OnlinePerceptron, _| Ok(ControlFlow::Continue(()));
    online
        .on_gold_path(&system, &Replay, &mut learner, &examples(&trees[..10]), each_epoch)
        .unwrap();
    (system, learner.finish(&Pruning::default()))
}

#[test]
fn a_beam_of_one_is_the_greedy_decoder() {
    let trees = random_trees(4, 60);
    let (system, scorer) = half_trained(&trees);
    let vocabulary = vocabulary(&trees);
    let beam = Beam { width: 1, threshold: 0.0, path_score: PathScore::Sum };
    for tree in &trees {
        let sentence = vocabulary.encode(tree.tokens());
        let greedy = Greedy::default().decode(&system, &scorer, &sentence, &mut Default::default());
        let narrow = beam.decode(&system, &scorer, &sentence, &mut Default::default());
        let (greedy, narrow) = (&greedy.state, &narrow.state);
        assert_eq!(system.tree(greedy, tree.tokens()), system.tree(narrow, tree.tokens()));
    }
}

#[test]
fn a_threshold_drops_what_is_far_behind() {
    let trees = random_trees(4, 60);
    let (system, scorer) = half_trained(&trees);
    let vocabulary = vocabulary(&trees);
    let mut dropped = 0;
    for tree in &trees {
        let sentence = vocabulary.encode(tree.tokens());
        let score = |width, threshold| {
            let beam = Beam { width, threshold, path_score: PathScore::Mean };
            beam.decode(&system, &scorer, &sentence, &mut Default::default()).score
        };
        assert_eq!(score(8, 1e9), score(8, 0.0));
        dropped += usize::from(score(8, 1e-9) != score(8, 0.0));
    }
    assert!(dropped > 0);
}

/// Likes a shift best, but only a reduction first makes the rest cheap: which was first is in memory.
struct GardenPath;

impl Scorer<Binary> for GardenPath {
    /// Whether the first choice was a reduction; none before it.
    type Memory = Option<bool>;
    type Scratch = ();

    fn begin(&self, _at: Configuration<'_, Binary>, _scratch: &mut ()) -> Option<bool> {
        None
    }

    fn score(
        &self,
        _at: Configuration<'_, Binary>,
        memory: &Option<bool>,
        actions: &[BinaryAction],
        _scratch: &mut (),
        out: &mut Vec<f32>,
    ) {
        out.clear();
        out.extend(actions.iter().enumerate().map(|(at, action)| match (memory, action.kind()) {
            (None, ActionKind::Shift) => -1.0,
            (None, _) => -1.5,
            (Some(true), _) => -0.1 * (1 + at) as f32,
            (Some(false), _) => -5.0,
        }));
    }

    fn advance(
        &self,
        after: Configuration<'_, Binary>,
        action: BinaryAction,
        memory: &mut Option<bool>,
        _scratch: &mut (),
    ) {
        // The first shift is forced; the choice comes after it.
        if after.system.steps(after.state) > 1 && memory.is_none() {
            *memory = Some(action.kind() == ActionKind::Reduce);
        }
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

#[test]
fn a_beam_of_two_leaves_the_garden_path() {
    let trees = toy_trees(5);
    let system = Binary::of_trees(&trees).unwrap();
    let sentence = common::sentence(&trees[0]);
    let beam = |width| Beam { width, threshold: 0.0, path_score: PathScore::Sum };
    let narrow = beam(1).decode(&system, &GardenPath, &sentence, &mut Default::default());
    let wide = beam(2).decode(&system, &GardenPath, &sentence, &mut Default::default());
    assert!(wide.score > narrow.score, "{} {}", wide.score, narrow.score);
    let greedy = Greedy::default().decode(&system, &GardenPath, &sentence, &mut Default::default());
    assert!(wide.score > greedy.score, "{} {}", wide.score, greedy.score);
}

#[test]
fn best_first_search_finds_nothing_worse_than_a_wide_beam() {
    let trees = toy_trees(5);
    let (system, sentence) = (Binary::of_trees(&trees).unwrap(), common::sentence(&trees[0]));
    let path_score = PathScore::Sum;
    let all = BestFirst {
        max_states: 1_000_000,
        agenda: usize::MAX,
        unfinished: Unfinished::Greedy,
        path_score,
    };
    let found = all.decode(&system, &GardenPath, &sentence, &mut Default::default());
    let wide = Beam { width: 200, threshold: 0.0, path_score };
    let wide = wide.decode(&system, &GardenPath, &sentence, &mut Default::default());
    assert!(found.complete && found.score >= wide.score, "{} {}", found.score, wide.score);
    // A search that gives up at once is greedy, and still ends with a tree.
    let few = BestFirst { max_states: 1, ..all };
    let few = few.decode(&system, &GardenPath, &sentence, &mut Default::default());
    let greedy = Greedy::default().decode(&system, &GardenPath, &sentence, &mut Default::default());
    let tree = |state| system.tree(state, trees[0].tokens());
    assert!(few.complete && few.score < found.score, "{} {}", few.score, found.score);
    assert_eq!(tree(&few.state), tree(&greedy.state));
}

#[test]
fn the_n_best_are_different_and_in_order() {
    let trees = random_trees(4, 60);
    let (system, scorer) = half_trained(&trees);
    let decoder = Beam { width: 8, threshold: 0.0, path_score: PathScore::Sum };
    let (cleaning, vocabulary) = (Cleaning::none(), vocabulary(&trees));
    let parser = Pipeline { cleaning, vocabulary, system, scorer, decoder };
    let mut worker = parser.worker();
    let mut several = 0;
    for tree in &trees {
        let wanted = NbestRequest { trees: 5, constituents: false };
        let parses = worker.parse_nbest(tree.tokens(), wanted);
        assert!((1..=5).contains(&parses.len()));
        assert_eq!(parses[0], worker.parse(tree.tokens()));
        assert!(parses.windows(2).all(|pair| pair[0].score >= pair[1].score));
        for (at, parse) in parses.iter().enumerate() {
            assert_valid(&parse.tree, tree.tokens());
            assert!(!parses[..at].iter().any(|other| same_brackets(&other.tree, &parse.tree)));
        }
        several += usize::from(parses.len() > 1);
    }
    assert!(several > 0);
}

#[test]
fn every_search_tells_the_actions_that_it_took() {
    let trees = random_trees(4, 60);
    let (system, scorer) = half_trained(&trees);
    let vocabulary = vocabulary(&trees);
    let path_score = PathScore::Mean;
    let unfinished = Unfinished::Greedy;
    let beam = Beam { width: 4, threshold: 0.0, path_score };
    let few = BestFirst { max_states: 20, agenda: usize::MAX, unfinished, path_score };
    for tree in &trees {
        let sentence = &vocabulary.encode(tree.tokens());
        let check = |decoded: Decoded<_, _>| {
            let mut state = system.start(sentence);
            decoded.actions.iter().for_each(|&action| system.apply(&mut state, action));
            let tree_of = |state| system.tree(state, tree.tokens());
            assert_eq!(tree_of(&state), tree_of(&decoded.state));
        };
        check(Greedy::default().decode(&system, &scorer, sentence, &mut Default::default()));
        check(beam.decode(&system, &scorer, sentence, &mut Default::default()));
        check(few.decode(&system, &scorer, sentence, &mut Default::default()));
    }
}

#[test]
fn every_constituent_has_the_score_of_its_steps() {
    let trees = random_trees(4, 60);
    let vocabulary = vocabulary(&trees);
    let scores = |beam: Option<usize>| -> Vec<f32> {
        let (system, scorer) = half_trained(&trees);
        let method = if beam.is_some() { Method::Beam } else { Method::Greedy };
        let decoder = Search { method, beam: beam.unwrap_or(1) as u32, ..Search::default() };
        let (cleaning, vocabulary) = (Cleaning::none(), vocabulary.clone());
        let parser = Pipeline { cleaning, vocabulary, system, scorer, decoder };
        let mut worker = parser.worker();
        let wanted = NbestRequest { trees: 1, constituents: true };
        let mut all = Vec::new();
        for tree in &trees {
            let parse = worker.parse_nbest(tree.tokens(), wanted).swap_remove(0);
            let scores = parse.constituents.unwrap();
            assert_eq!(scores.len(), parse.tree.nodes().len());
            assert_eq!(scores.last(), Some(&f32::INFINITY));
            all.extend(scores);
        }
        all
    };
    // A greedy search takes what leads all others, a beam not always.
    let (greedy, beam) = (scores(None), scores(Some(8)));
    assert!(greedy.iter().all(|&lead| lead >= 0.0));
    assert!(greedy.iter().filter(|lead| lead.is_finite()).count() > 100);
    assert!(beam.iter().any(|&lead| lead < 0.0));
}

#[test]
fn a_mean_does_not_favour_long_derivations_or_short_ones() {
    let trees = random_trees(4, 60);
    let (system, scorer) = half_trained(&trees);
    let vocabulary = vocabulary(&trees);
    let mut different = 0;
    for tree in &trees {
        let sentence = vocabulary.encode(tree.tokens());
        let decode = |path_score| {
            let beam = Beam { width: 8, threshold: 0.0, path_score };
            beam.decode_nbest(&system, &scorer, &sentence, 8, &mut Default::default())
        };
        let (sums, means) = (decode(PathScore::Sum), decode(PathScore::Mean));
        // Every mean is that of its own steps, and they stand in order.
        assert!(means.windows(2).all(|pair| pair[0].score >= pair[1].score));
        let highest = sums.iter().fold(0f64, |most, sum| most.max(sum.score.abs()));
        assert!(means.iter().all(|mean| mean.score.abs() <= highest));
        let steps = |found: &[Decoded<_, _>]| system.steps(&found[0].state);
        different += usize::from(steps(&sums) != steps(&means));
    }
    assert!(different > 0, "lengths never mattered");
}

//! Search and structured training: beams, best-first search, what they find, and that the number of
//! threads changes nothing.

use srparse::classifier::ScoreScale;
use srparse::decode::{Decoded, Illegal, Method, PathScore, Search, Unfinished};
use srparse::memory::Sections;
use srparse::observer::Silent;
use srparse::oracle::OracleKind;
use srparse::oracle::replay::same_brackets;
use srparse::parser::{NbestRequest, Worker};
use srparse::scorer::perceptron::{StructuredParams, Update};
use srparse::scorer::{Configuration, Memory, OnlinePerceptron, Reading, Scorer};
use srparse::symbols::Vocabulary;
use srparse::train::epochs::EpochLearner;
use srparse::train::online::FromDecisions;
use srparse::train::perceptrons::PerceptronLearner;
use srparse::train::structured::{FromDerivations, derivations, untrained};
use srparse::train::{EpochReport, Progress};
use srparse::transition::binary::Binary;
use srparse::transition::predictive::Predictive;
use srparse::transition::{Action, ActionKind, TransitionSystem};
use srparse::tree::Tree;
use srparse::tree::binarize::Scheme;
use srparse::treebank::Cleaning;

use crate::common::toy::short_sentences;
use crate::common::training::{Lab, decode, decode_nbest};
use crate::common::{assert_valid, random_trees, vocabulary};

fn beam(width: u32, path_score: PathScore) -> Search {
    Search { method: Method::Beam, beam: width, path_score, ..Search::default() }
}

fn greedy() -> Search {
    Search { method: Method::Greedy, ..Search::default() }
}

/// What a parser is made of.
struct Parts {
    cleaning: Cleaning,
    vocabulary: Vocabulary,
    system: Binary,
    scorer: Box<dyn Scorer>,
    search: Search,
}

impl Parts {
    fn worker(&self) -> Worker<'_> {
        let Self { cleaning, vocabulary, system, scorer, search } = self;
        Worker::new(cleaning, vocabulary, system, scorer.reading(), search)
    }
}

fn parts(trees: &[Tree], system: Binary, scorer: Box<dyn Scorer>, search: Search) -> Parts {
    let (cleaning, vocabulary) = (Cleaning::none(), vocabulary(trees));
    Parts { cleaning, vocabulary, system, scorer, search }
}

/// Structured training on trees: the scorer, what a model stores of it, and what each epoch was like.
fn structured<S: TransitionSystem + Clone>(
    system: &S,
    trees: &[Tree],
    update: Update,
    epochs: u32,
) -> (Box<dyn Scorer>, Sections, Vec<EpochReport>) {
    let params = StructuredParams { beam: 4, update, batch: 5, ..StructuredParams::default() };
    let lab = Lab::new(system.clone(), trees);
    let session = lab.session();
    let (gold, progress) = (derivations(&session).unwrap(), Progress::new(&Silent, 0));
    let rule = FromDerivations::new(&gold, params, &progress);
    let mut learner = PerceptronLearner::new(&session, rule, untrained(&session, &gold), 1);
    let reports = (1..=epochs).map(|epoch| learner.train_epoch(epoch)).collect();
    let (scorer, sections) = learner.snapshot();
    (scorer, sections, reports)
}

/// How many of the trees a beam of four gives back.
fn exact(system: &Binary, scorer: Box<dyn Scorer>, trees: &[Tree]) -> usize {
    let parser = parts(trees, system.clone(), scorer, beam(4, PathScore::Sum));
    let mut worker = parser.worker();
    let found = |tree: &&Tree| same_brackets(&worker.parse(tree.tokens()).tree, tree);
    trees.iter().filter(found).count()
}

#[test]
fn structured_training_learns_by_heart_with_either_update() {
    let trees = short_sentences(20);
    let system = Binary::of_trees(&trees).unwrap();
    for update in [Update::Early, Update::MaxViolation] {
        let (scorer, _, reports) = structured(&system, &trees, update, 30);
        assert!(reports[0].mistakes > 0 && reports[0].decisions == trees.len() as u64);
        assert_eq!(reports[29].mistakes, 0, "{update:?}");
        assert_eq!(exact(&system, scorer, &trees), trees.len(), "{update:?}");
    }
}

#[test]
fn structured_training_learns_with_actions_that_are_forced() {
    let trees = short_sentences(20);
    let system = Predictive::of_trees(&trees, Scheme::None).unwrap();
    for update in [Update::Early, Update::MaxViolation] {
        let (_, _, reports) = structured(&system, &trees, update, 30);
        assert!(reports[0].mistakes > 0);
        assert_eq!(reports[29].mistakes, 0, "{update:?}");
    }
}

#[test]
fn threads_change_nothing_in_structured_training() {
    let trees = random_trees(8, 40);
    let system = Binary::of_trees(&trees).unwrap();
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (_, sections, _) =
            pool.install(|| structured(&system, &trees, Update::MaxViolation, 3));
        format!("{sections:?}")
    };
    assert_eq!(bytes(1), bytes(4));
}

/// A perceptron after one epoch: good enough to search with, bad enough to make mistakes.
fn half_trained(trees: &[Tree]) -> (Binary, Box<dyn Scorer>) {
    let lab = Lab::new(Binary::of_trees(trees).unwrap(), &trees[..10]);
    let (session, oracles) = (lab.session(), lab.oracles(OracleKind::Static));
    let progress = Progress::new(&Silent, 0);
    let classes = lab.components().classes();
    let perceptron = OnlinePerceptron::untrained(&lab.templates, classes, false);
    let rule = FromDecisions::new(&oracles, None, &progress);
    let mut learner = PerceptronLearner::new(&session, rule, perceptron, 1);
    learner.train_epoch(1);
    let (scorer, _) = learner.snapshot();
    (lab.system.clone(), scorer)
}

#[test]
fn a_beam_of_one_is_the_greedy_decoder() {
    let trees = random_trees(4, 60);
    let (system, scorer) = half_trained(&trees);
    let vocabulary = vocabulary(&trees);
    for tree in &trees {
        let sentence = vocabulary.encode(tree.tokens());
        let [greedy, narrow] = [greedy(), beam(1, PathScore::Sum)].map(|search| {
            let found = decode(&search, &system, &mut *scorer.reading(), &sentence);
            system.tree(&found.state, &found.forest, tree.tokens())
        });
        assert_eq!(greedy, narrow);
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
            let search = Search { threshold, ..beam(width, PathScore::Mean) };
            decode(&search, &system, &mut *scorer.reading(), &sentence).score
        };
        assert_eq!(score(8, 1e9), score(8, 0.0));
        dropped += usize::from(score(8, 1e-9) != score(8, 0.0));
    }
    assert!(dropped > 0);
}

/// Likes a shift best, but only a reduction first makes the rest cheap.
struct GardenPath;

impl Reading for GardenPath {
    fn score(
        &mut self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        // The first shift is forced; after the choice that follows, the second node is a constituent or a
        // word.
        let began_with_reduction = match at.state.steps {
            0 | 1 => None,
            _ => Some(at.forest.node(1).label.is_some()),
        };
        out.clear();
        let score = |(place, &action): (usize, &Action)| match (
            began_with_reduction,
            at.system.kind(action),
        ) {
            (None, ActionKind::Shift) => -1.0,
            (None, _) => -1.5,
            (Some(true), _) => -0.1 * (1 + place) as f32,
            (Some(false), _) => -5.0,
        };
        out.extend(actions.iter().enumerate().map(score));
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

#[test]
fn a_beam_of_two_leaves_the_garden_path() {
    let trees = short_sentences(5);
    let system = Binary::of_trees(&trees).unwrap();
    let sentence = crate::common::sentence(&trees[0]);
    let searches = [beam(1, PathScore::Sum), beam(2, PathScore::Sum), greedy()];
    let [narrow, wide, greedy] =
        searches.map(|search| decode(&search, &system, &mut GardenPath, &sentence).score);
    assert!(wide > narrow && wide > greedy, "{wide} {narrow} {greedy}");
}

#[test]
fn best_first_search_finds_nothing_worse_than_a_wide_beam() {
    let trees = short_sentences(5);
    let (system, sentence) =
        (Binary::of_trees(&trees).unwrap(), crate::common::sentence(&trees[0]));
    let all = Search {
        method: Method::BestFirst,
        max_states: 1_000_000,
        agenda: 0,
        unfinished: Unfinished::Greedy,
        path_score: PathScore::Sum,
        ..Search::default()
    };
    let found = decode(&all, &system, &mut GardenPath, &sentence);
    let wide = decode(&beam(200, PathScore::Sum), &system, &mut GardenPath, &sentence);
    assert!(found.complete && found.score >= wide.score, "{} {}", found.score, wide.score);
    // A search that gives up at once is greedy, and still ends with a tree.
    let few = decode(&Search { max_states: 1, ..all }, &system, &mut GardenPath, &sentence);
    let greedy = decode(&greedy(), &system, &mut GardenPath, &sentence);
    let tree = |found: &Decoded| system.tree(&found.state, &found.forest, trees[0].tokens());
    assert!(few.complete && few.score < found.score, "{} {}", few.score, found.score);
    assert_eq!(tree(&few), tree(&greedy));
}

#[test]
fn the_n_best_are_different_and_in_order() {
    let trees = random_trees(4, 60);
    let (system, scorer) = half_trained(&trees);
    let parser = parts(&trees, system, scorer, beam(8, PathScore::Sum));
    let mut worker = parser.worker();
    let mut several = 0;
    for tree in &trees {
        let wanted = NbestRequest { trees: 5, constituents: false };
        let parses = worker.parse_nbest(tree.tokens(), wanted);
        assert!((1..=5).contains(&parses.len()));
        assert_eq!(parses[0], worker.parse(tree.tokens()));
        assert!(parses[1..].windows(2).all(|pair| pair[0].score >= pair[1].score));
        for (at, parse) in parses.iter().enumerate() {
            assert_valid(&parse.tree, tree.tokens());
            assert!(!parses[..at].iter().any(|other| same_brackets(&other.tree, &parse.tree)));
        }
        several += usize::from(parses.len() > 1);
    }
    assert!(several > 0);
}

#[test]
fn several_trees_are_found_whatever_beam_and_threshold() {
    let trees = random_trees(4, 60);
    let (system, scorer) = half_trained(&trees);
    let narrow = Search { threshold: 1e-3, ..beam(1, PathScore::Sum) };
    let parser = parts(&trees, system, scorer, narrow);
    let mut worker = parser.worker();
    for tree in trees.iter().filter(|tree| tree.tokens().len() > 1) {
        let wanted = NbestRequest { trees: 10, constituents: false };
        let parses = worker.parse_nbest(tree.tokens(), wanted);
        assert_eq!(parses.len(), 10, "{tree}");
        for (at, parse) in parses.iter().enumerate() {
            assert!(!parses[..at].iter().any(|other| same_brackets(&other.tree, &parse.tree)));
        }
    }
}

#[test]
fn every_search_tells_the_actions_that_it_took() {
    let trees = random_trees(4, 60);
    let (system, scorer) = half_trained(&trees);
    let vocabulary = vocabulary(&trees);
    let few = Search {
        method: Method::BestFirst,
        max_states: 20,
        agenda: 0,
        unfinished: Unfinished::Greedy,
        path_score: PathScore::Mean,
        ..Search::default()
    };
    let searches = [greedy(), beam(4, PathScore::Mean), few];
    for tree in &trees {
        let sentence = &vocabulary.encode(tree.tokens());
        for search in &searches {
            let decoded = decode(search, &system, &mut *scorer.reading(), sentence);
            let (mut state, mut forest) = system.start(sentence);
            for &action in &decoded.actions {
                system.apply(&mut state, &mut forest, action);
            }
            let tree_of = |state, forest| system.tree(state, forest, tree.tokens());
            assert_eq!(tree_of(&state, &forest), tree_of(&decoded.state, &decoded.forest));
        }
    }
}

#[test]
fn every_constituent_has_the_score_of_its_steps() {
    let trees = random_trees(4, 60);
    let scores = |search: Search| -> Vec<f32> {
        let (system, scorer) = half_trained(&trees);
        let parser = parts(&trees, system, scorer, search);
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
    let (greedy, beam) = (scores(greedy()), scores(beam(8, PathScore::default())));
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
            decode_nbest(&beam(8, path_score), &system, &mut *scorer.reading(), &sentence, 8)
        };
        let (sums, means) = (decode(PathScore::Sum), decode(PathScore::Mean));
        // Every mean is that of its own steps, and they stand in order.
        assert!(means.windows(2).all(|pair| pair[0].score >= pair[1].score));
        let highest = sums.iter().fold(0f64, |most, sum| most.max(sum.score.abs()));
        assert!(means.iter().all(|mean| mean.score.abs() <= highest));
        let steps = |found: &[Decoded]| found[0].state.steps;
        different += usize::from(steps(&sums) != steps(&means));
    }
    assert!(different > 0, "lengths never mattered");
}

/// Prefers the first of these kinds of actions, then the second, then all others.
struct Prefers([ActionKind; 2]);

impl Reading for Prefers {
    fn score(
        &mut self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        let score = |&action: &Action| {
            let rank = self.0.iter().position(|&kind| kind == at.system.kind(action));
            -(rank.unwrap_or(self.0.len()) as f32)
        };
        out.clear();
        out.extend(actions.iter().map(score));
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }
}

#[test]
fn an_illegal_best_action_fails_or_rejects_or_is_passed_over() {
    use ActionKind::{Finish, Reduce, Shift};
    let tree: Tree = "(TOP (NP (DT a) (JJ b) (NN c)))".parse().unwrap();
    let (system, sentence) = (Binary::of_trees([&tree]).unwrap(), crate::common::sentence(&tree));
    let found = |prefers: [ActionKind; 2], illegal| {
        let search = Search { illegal, ..greedy() };
        let found = decode(&search, &system, &mut Prefers(prefers), &sentence);
        let shifts = found.actions.iter().filter(|&&action| system.kind(action) == Shift);
        (shifts.count(), found.complete)
    };
    let of_all = |prefers| {
        [Illegal::NextBest, Illegal::Fail, Illegal::Reject].map(|illegal| found(prefers, illegal))
    };
    // FINISH with an empty stack, which only `reject` and `next-best` pass over; FINISH with three items.
    assert_eq!(of_all([Finish, Shift]), [(3, true), (0, false), (3, false)]);
    // A reduction with an empty stack.
    assert_eq!(of_all([Reduce, Shift]), [(3, true), (0, false), (3, true)]);
    // A shift after the last word, which does not compete under `reject`.
    assert_eq!(of_all([Shift, Reduce]), [(3, true), (3, false), (3, true)]);
}

#[test]
fn one_item_is_a_parse_whatever_is_preferred() {
    let tree: Tree = "(TOP (NP (DT a) (NN c)))".parse().unwrap();
    let system = Binary::of_trees([&tree]).unwrap();
    let word: Tree = "(TOP (NN c))".parse().unwrap();
    let search = Search { illegal: Illegal::Reject, ..greedy() };
    for kind in [ActionKind::Shift, ActionKind::Reduce, ActionKind::Finish] {
        let sentence = crate::common::sentence(&word);
        assert!(decode(&search, &system, &mut Prefers([kind; 2]), &sentence).complete);
    }
}

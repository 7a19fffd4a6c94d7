//! The seam test: a recurrent scorer, an online learner of candidates and of set columns, a two-stage
//! scorer, none of which the program has, run through its real trainers, decoders and
//! pipeline. What a later part of the program needs of a seam is pinned here.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod common;
mod doubles;

use std::ops::ControlFlow;

use srparse::classifier::perceptron::{Perceptron, PerceptronParams};
use srparse::classifier::{Classifier, Fit, Instances, Learner, ScoreScale, Scratch};
use srparse::decode::parser::Pipeline;
use srparse::decode::{Beam, Greedy, Parser, PathScore};
use srparse::feature::{ColumnKind, Extractor, Indicators, Row, Templates, extract};
use srparse::oracle::Oracle;
use srparse::oracle::binary::NextBracket;
use srparse::oracle::items::ItemOracle;
use srparse::oracle::replay::{Replay, same_brackets};
use srparse::scorer::factored::Classes;
use srparse::scorer::{Configuration, Factored, Lesson, OnlineLearner, Scorer};
use srparse::train::online::{EpochReport, Exploration, Online};
use srparse::train::{Example, batch};
use srparse::transition::binary::{Binary, BinaryAction};
use srparse::transition::items::{ItemOrder, Items, MaxChildren};
use srparse::transition::{Action, ActionKind, TransitionSystem};
use srparse::tree::Tree;
use srparse::treebank::Cleaning;

use common::{assert_valid, random_trees, toy, vocabulary};
use doubles::recurrent::Recurrent;
use doubles::sets::{Exists, PerLabel};
use doubles::two_stage::{Stage, TwoStage, kind_class};

/// What an item is judged by: the sets of its children's symbols and head words, and its neighbours.
const ITEM_TEMPLATES: &str = "item.kids.n\nitem.kids.w\nbefore0.n\nafter0.n\nafter0.w";

/// Short sentences of the toy grammar.
fn toy_trees(n: usize) -> Vec<Tree> {
    let mut trees = toy::treebank(8 * n, 1);
    trees.retain(|tree| tree.tokens().len() <= 12);
    trees.truncate(n);
    assert_eq!(trees.len(), n);
    trees
}

fn examples(trees: &[Tree]) -> Vec<Example> {
    let vocabulary = vocabulary(trees);
    let encode =
        |tree: &Tree| Example { sentence: vocabulary.encode(tree.tokens()), tree: tree.clone() };
    trees.iter().map(encode).collect()
}

fn pipeline<S, P, D>(trees: &[Tree], system: S, scorer: P, decoder: D) -> Pipeline<S, P, D> {
    Pipeline { cleaning: Cleaning::none(), vocabulary: vocabulary(trees), system, scorer, decoder }
}

/// How many of the trees a parser gives back; all it gives must be valid and complete.
fn exact(parser: &dyn Parser, trees: &[Tree]) -> usize {
    let mut worker = parser.worker();
    let mut exact = 0;
    for tree in trees {
        let parse = worker.parse(tree.tokens());
        assert!(parse.complete);
        assert_valid(&parse.tree, tree.tokens());
        exact += usize::from(same_brackets(&parse.tree, tree));
    }
    exact
}

/// Trains on the gold path until an epoch has no mistake, `epochs` at most; gives the last report.
fn train<S, O, L>(
    system: &S,
    oracle: &O,
    learner: &mut L,
    trees: &[Tree],
    epochs: u32,
) -> EpochReport
where
    S: TransitionSystem,
    O: Oracle<S>,
    L: OnlineLearner<S>,
{
    let mut last = EpochReport::default();
    let mut progress = |_| {};
    let mut online = Online { epochs, seed: 1, progress: &mut progress, stop: &|| false };
    let each_epoch = |_: &L, report: EpochReport| {
        last = report;
        let done = report.mistakes == 0;
        Ok(if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    online.on_gold_path(system, oracle, learner, &examples(trees), each_epoch).unwrap();
    last
}

fn fit(learner: &dyn Learner, instances: &Instances) -> Box<dyn Classifier> {
    let fit = Fit::quiet(1);
    learner.fit(instances, &fit).unwrap()
}

/// The share of instances whose class scores best.
fn right(classifier: &dyn Classifier, instances: &Instances) -> f64 {
    let mut out = vec![0.0; classifier.n_classes()];
    let mut right = 0u32;
    for at in 0..instances.len() {
        classifier.scores(instances.row(at), &mut Scratch::default(), &mut out);
        let best = srparse::classifier::first_best(&out);
        right += u32::from(best == usize::from(instances.class(at)));
    }
    f64::from(right) / instances.len() as f64
}

fn items(trees: &[Tree]) -> Items {
    Items::of_trees(trees, ItemOrder::Free, MaxChildren::Auto).unwrap()
}

fn binary(trees: &[Tree]) -> (Binary, Vec<BinaryAction>) {
    let system = Binary::of_trees(trees).unwrap();
    let inventory = system.actions().to_vec();
    (system, inventory)
}

#[test]
fn an_item_system_with_set_columns_learns_online_by_heart() {
    let trees = toy_trees(12);
    let system = items(&trees);
    let mut learner = PerLabel::new(&Templates::parse(ITEM_TEMPLATES, "test").unwrap());
    let last = train(&system, &ItemOracle, &mut learner, &trees, 30);
    assert_eq!(last.mistakes, 0, "{last:?}");
    let parser = pipeline(&trees, system, learner, Greedy::default());
    assert_eq!(exact(&parser, &trees), trees.len());
}

#[test]
fn set_columns_reach_learners_through_instances_and_scorers_through_rows() {
    let trees = toy_trees(20);
    let (system, inventory) = binary(&trees);
    let classes = Classes::of(&inventory);
    let text = "s0.kids.n\ns1.kids.n\ns0.n\ns1.n\nb0.t\nb0.w\ns1.r.n\ns2.n";
    let templates = Templates::parse(text, "test").unwrap();
    assert_eq!(templates.columns()[0].kind, ColumnKind::Set);
    let examples = examples(&trees);
    let instances =
        batch::collect(&system, &Replay, &examples, &templates, &classes, false).unwrap();
    let sizes = (0..instances.len()).map(|at| instances.row(at).set(0).len());
    assert_eq!(sizes.max(), Some(2), "binary nodes have at most two children");
    let classifier = fit(&Exists { epochs: 30 }, &instances);
    assert_eq!(right(&*classifier, &instances), 1.0);
    let scorer = Factored::new(Extractor::new(&templates), classes, classifier);
    let parser = pipeline(&trees, system, scorer, Greedy::default());
    assert_eq!(exact(&parser, &trees), trees.len());
}

#[test]
fn linear_learners_refuse_set_columns() {
    let trees = toy_trees(2);
    let (system, inventory) = binary(&trees);
    let templates = Templates::parse("s0.kids.n", "test").unwrap();
    let (examples, classes) = (examples(&trees), Classes::of(&inventory));
    let instances =
        batch::collect(&system, &Replay, &examples, &templates, &classes, false).unwrap();
    let learner =
        Perceptron { params: PerceptronParams::default(), indicators: Indicators::new(&templates) };
    let fit = Fit::quiet(1);
    let refused = learner.fit(&instances, &fit).err().unwrap().to_string();
    assert!(refused.contains(".kids"), "{refused}");
}

#[test]
fn a_memory_travels_with_each_hypothesis() {
    let trees = random_trees(3, 30);
    let (system, _) = binary(&trees);
    // The scorer checks on every question that its memory is that of the state.
    let mut learner = Recurrent::default();
    let last = train(&system, &Replay, &mut learner, &trees, 10);
    assert_eq!(last.mistakes, 0, "{last:?}");
    assert_eq!(learner.epochs, last.epoch);
    assert_eq!(learner.sentences, last.epoch * trees.len() as u32);
    let greedy = pipeline(&trees, system.clone(), learner.clone(), Greedy::default());
    assert_eq!(exact(&greedy, &trees), trees.len());
    let beam = Beam { width: 2, threshold: 0.0, path_score: PathScore::Sum };
    exact(&pipeline(&trees, system, learner, beam), &trees);
}

#[test]
fn a_memory_travels_while_training_explores() {
    let trees = toy_trees(20);
    let (system, _) = binary(&trees);
    let mut learner = Recurrent::default();
    let mut progress = |_| {};
    let mut online = Online { epochs: 6, seed: 1, progress: &mut progress, stop: &|| false };
    let exploration = Exploration { from_epoch: 1, probability: 1.0, margin: 0.0 };
    let each_epoch = |_: &Recurrent, _| Ok(ControlFlow::Continue(()));
    online
        .exploring(&system, &NextBracket, &mut learner, &examples(&trees), exploration, each_epoch)
        .unwrap();
    assert_eq!(learner.sentences, 6 * trees.len() as u32);
}

/// Gives SHIFT 1.0 and all else 0.5, and remembers each lesson: after how many steps, by which last action,
/// and, where the prediction was right, what it was.
#[derive(Clone, Default)]
struct LikesShift {
    lessons: Vec<(usize, u32, Option<u32>)>,
}

impl Scorer<Binary> for LikesShift {
    type Memory = ();
    type Scratch = ();

    fn begin(&self, _at: Configuration<'_, Binary>, _scratch: &mut Self::Scratch) {}

    fn score(
        &self,
        _at: Configuration<'_, Binary>,
        _memory: &(),
        actions: &[BinaryAction],
        _scratch: &mut (),
        out: &mut Vec<f32>,
    ) {
        let score = |action: &BinaryAction| match action.kind() {
            ActionKind::Shift => 1.0,
            _ => 0.5,
        };
        out.clear();
        out.extend(actions.iter().map(score));
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }
}

impl OnlineLearner<Binary> for LikesShift {
    fn learn(&mut self, lesson: &Lesson<'_, Binary>, _memory: &(), _scratch: &mut ()) -> f32 {
        let Lesson { at, actions, predicted, target, .. } = *lesson;
        let right = (predicted == target).then(|| actions[target].code() + 1);
        let last = at.system.view(at.state, None).recent[0];
        self.lessons.push((at.system.steps(at.state), last, right));
        0.0
    }
}

#[test]
fn a_right_prediction_is_left_where_a_wrong_action_trails_by_less_than_the_margin() {
    let trees = toy_trees(20);
    let (system, _) = binary(&trees);
    let left = |margin: f64| {
        let mut learner = LikesShift::default();
        let mut progress = |_| {};
        let mut online = Online { epochs: 2, seed: 1, progress: &mut progress, stop: &|| false };
        let exploration = Exploration { from_epoch: 2, probability: 0.0, margin };
        let mut first_epoch = 0;
        let each_epoch = |learner: &LikesShift, report: EpochReport| {
            assert_eq!(report.last, report.epoch == 2);
            if report.epoch == 1 {
                first_epoch = learner.lessons.len();
            }
            Ok(ControlFlow::Continue(()))
        };
        let trees = examples(&trees);
        online
            .exploring(&system, &NextBracket, &mut learner, &trees, exploration, each_epoch)
            .unwrap();
        let was_left = |pair: &[(usize, u32, Option<u32>)]| {
            let ((steps, _, right), (next, last, _)) = (pair[0], pair[1]);
            next == steps + 1 && right.is_some_and(|right| right != last)
        };
        let (first, second) = learner.lessons.split_at(first_epoch);
        [first, second].map(|lessons| lessons.windows(2).filter(|pair| was_left(pair)).count())
    };
    assert_eq!([left(0.0), left(0.4)], [[0, 0]; 2]);
    let [before, exploring] = left(0.6);
    assert!(before == 0 && exploring > 20, "{before} {exploring}");
}

#[test]
fn training_that_is_stopped_between_epochs_still_reports_a_last_one() {
    let trees = toy_trees(5);
    let (system, _) = binary(&trees);
    let stopped = std::cell::Cell::new(false);
    let (mut progress, stop) = (|_: u64| {}, || stopped.get());
    let mut online = Online { epochs: 100, seed: 1, progress: &mut progress, stop: &stop };
    let mut reports = Vec::new();
    let each_epoch = |_: &LikesShift, report: EpochReport| {
        stopped.set(report.epoch == 3);
        reports.push((report.epoch, report.last));
        Ok(ControlFlow::Continue(()))
    };
    online
        .on_gold_path(&system, &Replay, &mut LikesShift::default(), &examples(&trees), each_epoch)
        .unwrap();
    assert_eq!(reports, [(1, false), (2, false), (3, false), (4, true)]);
}

#[test]
fn a_two_stage_scorer_is_made_of_two_batch_learners() {
    let trees = toy_trees(20);
    let (system, inventory) = binary(&trees);
    let templates = Templates::named("rich").unwrap();
    let (first, second) = (
        Classes::grouped(&inventory, 3, kind_class),
        Classes::grouped(&inventory, inventory.len(), |action| {
            let position = inventory.binary_search(&action).ok()? as u16;
            (action.kind() == ActionKind::Reduce).then_some(position)
        }),
    );
    assert_eq!((first.len(), second.class(BinaryAction::Shift)), (3, None));
    let examples = examples(&trees);
    let stage = |classes: Classes| {
        let instances =
            batch::collect(&system, &Replay, &examples, &templates, &classes, false).unwrap();
        let params = PerceptronParams { epochs: 30, ..PerceptronParams::default() };
        let learner = Perceptron { params, indicators: Indicators::new(&templates) };
        (instances.len(), Stage { classes, classifier: fit(&learner, &instances) })
    };
    let ((all, kinds), (reduced, reductions)) = (stage(first), stage(second));
    assert!(reduced < all, "the second stage learns from reductions only");
    let scorer = TwoStage { extractor: Extractor::new(&templates), kinds, reductions };
    let parser = pipeline(&trees, system.clone(), scorer, Greedy::default());
    assert_eq!(exact(&parser, &trees), trees.len());
    // Its scores are log-probabilities, so they may be added along a path.
    let beam = Beam { width: 2, threshold: 0.0, path_score: PathScore::Sum };
    assert_eq!(exact(&pipeline(&trees, system, parser.scorer, beam), &trees), trees.len());
}

#[test]
fn a_view_in_focus_shows_the_candidates_children_and_neighbours() {
    let trees = toy_trees(1);
    let system = items(&trees);
    let sentence = common::sentence(&trees[0]);
    let state = system.start(&sentence);
    let templates = Templates::parse("item.kids.t\nbefore0.t\nafter0.t", "test").unwrap();
    let (mut legal, mut row) = (Vec::new(), Row::default());
    system.legal(&state, &mut legal);
    let inner = legal.iter().find(|action| action.first == 1 && action.last == 3).unwrap();
    let view = system.view(&state, Some(*inner));
    let mut places = extract::Scratch::default();
    Extractor::new(&templates).extract(&sentence, &view, &mut places, &mut row);
    let mut tags = sentence.tags[1..3].to_vec();
    tags.sort_unstable();
    tags.dedup();
    assert_eq!(row.borrow().set(0), tags);
    assert_eq!(row.values[1..], [sentence.tags[0], sentence.tags[3]]);
}

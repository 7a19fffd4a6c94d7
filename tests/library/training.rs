//! Training: exploration, the data that learners refuse, and what happens when training is stopped.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rand::RngExt;
use srparse::classifier::perceptron::{Perceptron, PerceptronParams};
use srparse::classifier::{Fit, Learner, ScoreScale};
use srparse::feature::{ColumnKind, Indicators, Templates};
use srparse::observer::{Event, Observer, Silent};
use srparse::oracle::OracleKind;
use srparse::scorer::perceptron::Exploration;
use srparse::scorer::{Configuration, Lesson, Memory, OnlineLearner, OnlinePerceptron, Reading};
use srparse::train::epochs::EpochLearner;
use srparse::train::online::FromDecisions;
use srparse::train::perceptrons::PerceptronLearner;
use srparse::train::walk::Walk;
use srparse::train::{EpochReport, Progress, batch};
use srparse::transition::binary::Binary;
use srparse::transition::{Action, ActionKind};
use srparse::{Error, Model, Preset, Trainer, Treebank};

use crate::common::observer::Log;
use crate::common::toy::{self, short_sentences};
use crate::common::training::Lab;
use crate::common::{random_trees, rng};

fn binary(trees: &[srparse::Tree]) -> Lab<Binary> {
    Lab::new(Binary::of_trees(trees).unwrap(), trees)
}

/// A decision that was learned from.
#[derive(Clone, Copy)]
struct Decision {
    /// The number of actions before it.
    steps: usize,
    /// The last of these, as views show it.
    last: u32,
    /// The prediction, if it was correct.
    correct: Option<u32>,
}

/// Scores SHIFT 1.0 and all else 0.5, whatever it is taught; records its lessons.
#[derive(Default)]
struct LikesShift {
    lessons: Vec<Decision>,
}

impl Reading for LikesShift {
    fn score(
        &mut self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        let is_shift = |action: &Action| at.system.kind(*action) == ActionKind::Shift;
        out.clear();
        out.extend(actions.iter().map(|action| if is_shift(action) { 1.0 } else { 0.5 }));
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }
}

impl OnlineLearner for LikesShift {
    fn learn(&mut self, lesson: &Lesson<'_>) {
        let Lesson { at, actions, predicted, target, .. } = *lesson;
        self.lessons.push(Decision {
            steps: at.state.steps as usize,
            last: at.state.recent[0],
            correct: (predicted == target).then(|| actions[target].code + 1),
        });
    }
}

#[test]
fn a_correct_prediction_is_left_where_a_wrong_action_trails_by_less_than_the_margin() {
    let lab = binary(&short_sentences(20));
    let oracles = lab.oracles(OracleKind::DynamicIfAny);
    let left = |exploration: Option<Exploration>| {
        let (mut learner, mut walk) = (LikesShift::default(), Walk::default());
        let (mut rng, mut report) = (rng(1), EpochReport::default());
        for (example, oracle) in lab.examples.iter().zip(&oracles) {
            let sentence = (&lab.system as _, &example.sentence);
            let draw = &mut || rng.random();
            walk.sentence(sentence, &**oracle, &mut learner, exploration, draw, &mut report);
        }
        assert_eq!(report.decisions, learner.lessons.len() as u64);
        let was_left = |pair: &&[Decision]| {
            let [now, next] = [pair[0], pair[1]];
            next.steps == now.steps + 1 && now.correct.is_some_and(|correct| correct != next.last)
        };
        learner.lessons.windows(2).filter(was_left).count()
    };
    let margin = |margin| Some(Exploration { from_epoch: 1, probability: 0.0, margin });
    assert_eq!([left(None), left(margin(0.0)), left(margin(0.4))], [0; 3]);
    assert!(left(margin(0.6)) > 20, "{}", left(margin(0.6)));
}

#[test]
fn exploration_begins_in_its_first_epoch() {
    let lab = binary(&random_trees(1, 30));
    let (session, oracles) = (lab.session(), lab.oracles(OracleKind::DynamicIfAny));
    let progress = Progress::new(&Silent, 0);
    let exploration = Exploration { from_epoch: 2, probability: 1.0, margin: 0.0 };
    let [mut on_gold_path, mut exploring] = [None, Some(exploration)].map(|exploration| {
        let classes = lab.components().classes();
        let perceptron = OnlinePerceptron::untrained(&lab.templates, classes, false);
        let rule = FromDecisions::new(&oracles, exploration, &progress);
        PerceptronLearner::new(&session, rule, perceptron, 1)
    });
    assert_eq!(on_gold_path.train_epoch(1), exploring.train_epoch(1));
    assert_ne!(on_gold_path.train_epoch(2), exploring.train_epoch(2));
}

#[test]
fn instances_hold_sets_which_linear_learners_refuse() {
    let lab = binary(&short_sentences(20));
    let templates = Templates::parse("s0.kids.n\nb0.t", "test").unwrap();
    assert_eq!(templates.columns()[0].kind, ColumnKind::Set);
    let classes = lab.components().classes();
    let instances =
        batch::collect(&lab.system, &lab.examples, &templates, &classes, false).unwrap();
    let sizes = (0..instances.len()).map(|at| instances.row(at).set(0).len());
    assert_eq!(sizes.max(), Some(2), "binary nodes have at most two children");
    let learner =
        Perceptron { params: PerceptronParams::default(), indicators: Indicators::new(&templates) };
    let refused = learner.fit(&instances, &Fit::quiet(1)).err().unwrap().to_string();
    assert!(refused.contains(".kids"), "{refused}");
}

/// A preset of each way to train in epochs, with batches of one sentence, and one of several models.
const EPOCHS: [(&str, &[&str]); 4] = [
    ("binary-dynamic", &[]),
    ("beam", &["learner.models=1", "learner.batch=1"]),
    ("liu-zhang-2017", &["learner.batch=1", "network.lstm_dim=8", "network.input_dim=8"]),
    ("fast", &[]),
];

fn train(preset: &str, settings: &[&str], observer: &dyn Observer) -> srparse::Result<Model> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let trainer = Trainer::with_preset(Preset::load(preset, &settings)?)?;
    let train = Treebank { files: vec!["toy".to_owned()], trees: toy::treebank(N as usize, 1) };
    trainer.observe(observer).train(&train, &Treebank::default())
}

/// The number of training trees.
const N: u64 = 10;

#[test]
fn training_that_is_stopped_before_anything_was_learned_says_so() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/encoders/bert");
    let encoder = format!("learner.network.encoder.path={folder:?}");
    for preset in Preset::names() {
        let needs_encoder = Preset::load(preset, &[]).unwrap().to_toml().contains("transformer");
        let settings = if needs_encoder { &[&*encoder][..] } else { &[] };
        let error = train(preset, settings, &Log::stopping_at(0)).unwrap_err();
        assert!(matches!(error, Error::Stopped), "{preset}: {error}");
    }
    let error = train("english-fast", &["jackknife=2"], &Log::stopping_at(0)).unwrap_err();
    assert!(matches!(error, Error::Stopped), "{error}");
}

#[test]
fn training_that_is_stopped_in_an_epoch_ends_with_that_epoch() {
    // Several models learn at the same time.
    for (preset, settings) in &EPOCHS[..3] {
        for stop_at in [N + 1, 2 * N] {
            let model = train(preset, settings, &Log::stopping_at(stop_at)).unwrap();
            assert_eq!(model.header.training.epoch, 2, "{preset}");
        }
    }
}

/// Records the first progress of training.
#[derive(Default)]
struct FirstProgress(OnceLock<(u64, u64)>);

impl Observer for FirstProgress {
    fn event(&self, event: Event<'_>) {
        if let Event::Progress { done, total, .. } = event {
            self.0.get_or_init(|| (done, total));
        }
    }
}

#[test]
fn progress_begins_with_nothing_done() {
    for (preset, settings) in EPOCHS {
        let settings = [settings, &["learner.epochs=1"]].concat();
        let first = FirstProgress::default();
        train(preset, &settings, &first).unwrap();
        let (done, total) = *first.0.get().unwrap();
        assert!(done == 0 && total >= N, "{preset}: {done} of {total}");
    }
}

/// Stops training when the third epoch has been reported.
#[derive(Default)]
struct AfterThree {
    epochs: AtomicU32,
}

impl Observer for AfterThree {
    fn event(&self, event: Event<'_>) {
        if let Event::Epoch(scores) = event {
            self.epochs.fetch_max(scores.epoch, Ordering::Relaxed);
        }
    }

    fn is_stopped(&self) -> bool {
        self.epochs.load(Ordering::Relaxed) >= 3
    }
}

#[test]
fn training_that_is_stopped_between_epochs_ends_with_the_last_one() {
    for (preset, settings) in EPOCHS {
        let model = train(preset, settings, &AfterThree::default());
        let model = model.unwrap_or_else(|error| panic!("{preset} {settings:?}: {error}"));
        assert_eq!(model.header.training.epoch, 3, "{preset}");
    }
}

#[test]
fn the_smallest_limits_on_bytes_are_limits_too() {
    let size = |bytes: u64| {
        let limit = format!("learner.prune.max_bytes={bytes}");
        train("fast", &["learner.epochs=1", &limit], &Silent).unwrap().to_bytes().len()
    };
    let [none, two_thousand, fifty, one] = [0, 2000, 50, 1].map(size);
    assert!(one <= fifty && fifty < two_thousand && two_thousand < none, "{fifty}, {none}");
}

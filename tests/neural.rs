//! Networks as scorers: they learn by heart, their memories travel with hypotheses, and threads change nothing.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod common;

use rand::seq::IndexedRandom;
use srparse::neural::{Decay, OptimizerParams, Tape};
use srparse::oracle::Supervised;
use srparse::oracle::replay::{Replay, same_brackets};
use srparse::scorer::neural::encoder::EncoderParams;
use srparse::scorer::neural::positions::PositionsParams;
use srparse::scorer::neural::stack_lstm::StackLstmParams;
use srparse::scorer::neural::{AnyNetwork, NetworkParams, Neural};
use srparse::scorer::{Configuration, Scorer};
use srparse::symbols::{Sentence, Vocabulary};
use srparse::train::Example;
use srparse::train::neural::{Progress, Training};
use srparse::train::online::Exploration;
use srparse::transition::TransitionSystem;
use srparse::transition::binary::Binary;
use srparse::transition::bracketing::{Bracketing, Strategy};
use srparse::transition::non_binary::NonBinary;
use srparse::tree::Tree;
use srparse::tree::binarize::Scheme;

use common::{rng, toy, vocabulary};

fn networks() -> [NetworkParams; 2] {
    networks_of([12, 6, 4, 16], 1)
}

/// Networks whose vectors of words, tags and forms, and whose layers, are so large.
fn networks_of([word, tag, form, cells]: [u32; 4], layers: u32) -> [NetworkParams; 2] {
    let encoder =
        EncoderParams { word_dim: word, tag_dim: tag, form_dim: form, lstm_dim: cells, layers };
    let stack_lstm = StackLstmParams {
        word_dim: word,
        tag_dim: tag,
        form_dim: form,
        action_dim: tag,
        input_dim: cells * 5 / 4,
        lstm_dim: cells * 5 / 4,
        layers: 2,
        max_arity: 3,
    };
    [
        NetworkParams::Positions(PositionsParams { encoder, hidden_dim: cells * 3 / 2 }),
        NetworkParams::StackLstm(stack_lstm),
    ]
}

fn untrained<S: Supervised>(
    system: &S,
    vocabulary: &Vocabulary,
    network: NetworkParams,
) -> Neural<AnyNetwork> {
    Neural::new(network, system, vocabulary, None, Some(5)).unwrap()
}

fn examples(trees: &[Tree], vocabulary: &Vocabulary) -> Vec<Example> {
    let example =
        |tree: &Tree| Example { sentence: vocabulary.encode(tree.tokens()), tree: tree.clone() };
    trees.iter().map(example).collect()
}

/// Trains a network; with exploration if it is wanted and the system has an oracle for it. Gives the loss of the
/// last epoch.
fn train<S: Supervised>(
    system: &S,
    learner: &mut Neural<AnyNetwork>,
    examples: &[Example],
    explores: bool,
    change: impl FnOnce(&mut Training<'_>),
) -> f64 {
    let exploration = Exploration { from_epoch: 2, probability: 0.5, margin: 0.1 };
    let (mut progress, stop) = (|_| {}, || false);
    let mut training = Training {
        epochs: 2,
        seed: 3,
        batch: 4,
        optimizer: OptimizerParams::Adam { rate: 0.01 },
        decay: Decay::Inverse { by: 0.0 },
        clip: 5.0,
        average: 0.0,
        dropout: 0.0,
        progress: &mut progress,
        stop: &stop,
    };
    change(&mut training);
    let mut course = training.course(&learner.params);
    let so_far = (&mut *learner, &mut course, 0);
    let mut loss = 0.0;
    let go_on = |_: &_, _: &_, progress: Progress| {
        loss = progress.loss;
        Ok(std::ops::ControlFlow::Continue(()))
    };
    match system.dynamic_oracle().filter(|_| explores) {
        Some(oracle) => {
            training.exploring((system, &oracle), so_far, examples, exploration, go_on).unwrap();
        }
        None => training.on_gold_path((system, &Replay), so_far, examples, go_on).unwrap(),
    }
    *learner = learner.averaged(&course);
    loss
}

/// A network that was trained on trees.
fn trained<S: Supervised>(
    system: &S,
    trees: &[Tree],
    network: NetworkParams,
    (epochs, explores): (u32, bool),
) -> Neural<AnyNetwork> {
    let vocabulary = vocabulary(trees);
    let mut learner = untrained(system, &vocabulary, network);
    let examples = examples(trees, &vocabulary);
    train(system, &mut learner, &examples, explores, |training| training.epochs = epochs);
    learner
}

/// How many trees a greedy parser gives back.
fn exact<S: Supervised>(system: &S, scorer: &Neural<AnyNetwork>, trees: &[Tree]) -> usize {
    use srparse::decode::{Decoder, Greedy};
    let vocabulary = vocabulary(trees);
    let right = |tree: &&Tree| {
        let sentence = vocabulary.encode(tree.tokens());
        let found = Greedy::default().decode(system, scorer, &sentence, &mut Default::default());
        same_brackets(&system.tree(&found.state, tree.tokens()), &system.target(tree))
    };
    trees.iter().filter(right).count()
}

fn learns_by_heart<S: Supervised>(make: impl Fn(&[Tree]) -> S) {
    let trees = toy::treebank(20, 1);
    let system = make(&trees);
    for network in networks() {
        for explores in [false, true] {
            let scorer = trained(&system, &trees, network, (60, explores));
            let right = exact(&system, &scorer, &trees);
            assert!(right >= 19, "{network:?}, exploring {explores}: {right} of 20");
        }
    }
}

#[test]
fn binary_parsers_learn_by_heart() {
    learns_by_heart(|trees| Binary::of_trees(trees).unwrap());
}

#[test]
fn non_binary_parsers_learn_by_heart() {
    learns_by_heart(|trees| NonBinary::of_trees(trees, Scheme::None).unwrap());
}

#[test]
fn top_down_parsers_learn_by_heart() {
    learns_by_heart(|trees| Bracketing::of_trees(trees, Strategy::TopDown, Scheme::None).unwrap());
}

#[test]
fn in_order_parsers_learn_by_heart() {
    learns_by_heart(|trees| Bracketing::of_trees(trees, Strategy::InOrder, Scheme::None).unwrap());
}

fn at<'a, S: TransitionSystem>(
    system: &'a S,
    sentence: &'a Sentence,
    state: &'a S::State,
) -> Configuration<'a, S> {
    Configuration { system, sentence, state }
}

/// Two hypotheses that begin together and part score as if each had been alone.
#[test]
fn memories_of_hypotheses_do_not_mix() {
    let trees = toy::treebank(12, 2);
    let system = Bracketing::of_trees(&trees, Strategy::InOrder, Scheme::None).unwrap();
    let vocabulary = vocabulary(&trees);
    for network in networks() {
        let scorer = untrained(&system, &vocabulary, network);
        let mut rng = rng(4);
        for tree in &trees {
            let sentence = &vocabulary.encode(tree.tokens());
            let system = &system;
            let start = system.start(sentence);
            let mut tape = Tape::default();
            let memory = scorer.begin(at(system, sentence, &start), &mut tape);
            let mut paths = [(start.clone(), memory.clone(), vec![]), (start, memory, vec![])];
            let (mut legal, mut scores) = (Vec::new(), Vec::new());
            for _ in 0..12 {
                for (state, memory, taken) in &mut paths {
                    if system.is_final(state) {
                        continue;
                    }
                    system.legal(state, &mut legal);
                    // What a score writes is forgotten, and nothing else.
                    let here = at(system, sentence, state);
                    scorer.score(here, memory, &legal, &mut tape, &mut scores);
                    let action = *legal.choose(&mut rng).unwrap();
                    system.apply(state, action);
                    scorer.advance(at(system, sentence, state), action, memory, &mut tape);
                    taken.push(action);
                }
            }
            for (state, memory, taken) in &paths {
                system.legal(state, &mut legal);
                scorer.score(at(system, sentence, state), memory, &legal, &mut tape, &mut scores);
                let mut alone = Tape::default();
                let mut fresh = system.start(sentence);
                let mut memory = scorer.begin(at(system, sentence, &fresh), &mut alone);
                for &action in taken {
                    system.apply(&mut fresh, action);
                    scorer.advance(at(system, sentence, &fresh), action, &mut memory, &mut alone);
                }
                let mut expected = Vec::new();
                scorer.score(
                    at(system, sentence, &fresh),
                    &memory,
                    &legal,
                    &mut alone,
                    &mut expected,
                );
                assert_eq!(scores, expected);
            }
        }
    }
}

/// The gradients of whole networks, told by what one step of descent changes, against finite differences.
#[test]
fn gradients_are_those_of_the_loss() {
    let trees = toy::treebank(1, 6);
    let system = NonBinary::of_trees(&trees, Scheme::None).unwrap();
    let vocabulary = vocabulary(&trees);
    let examples = examples(&trees, &vocabulary);
    for network in networks_of([4, 3, 3, 4], 2) {
        let learner = untrained(&system, &vocabulary, network);
        // Steps as long as the gradient.
        let step = |values: &[f32]| {
            let mut learner = learner.clone();
            learner.params.set(values).unwrap();
            let loss = train(&system, &mut learner, &examples, false, |training| {
                training.epochs = 1;
                training.clip = 0.0;
                training.optimizer = OptimizerParams::Sgd { rate: 1.0 };
            });
            (loss, learner.params.values().to_vec())
        };
        let before = learner.params.values().to_vec();
        let (loss, after) = step(&before);
        let (mut off, mut large) = (0, 0);
        for at in 0..before.len() {
            let gradient = f64::from(before[at] - after[at]);
            let [less, more] = [-0.002, 0.002].map(|change| {
                let mut values = before.clone();
                values[at] += change;
                step(&values).0
            });
            large += usize::from((more - less).abs() > 4e-6);
            // Near the kink of a rectifier the slope is that of one side.
            let slopes = [more - loss, loss - less].map(|rise| rise / 0.002);
            let is_near = |slope: f64| (gradient - slope).abs() < 2e-3 + 0.02 * slope.abs();
            off += usize::from(!slopes.into_iter().any(is_near));
        }
        let n = before.len();
        assert!(
            large > n / 4 && off * 1000 < n,
            "{network:?}: {off} of {n} are off, {large} large"
        );
    }
}

/// What no other test would miss: each setting changes what is learned.
#[test]
fn every_setting_of_training_counts() {
    let trees = toy::treebank(24, 3);
    let system = NonBinary::of_trees(&trees, Scheme::None).unwrap();
    let vocabulary = vocabulary(&trees);
    let examples = examples(&trees, &vocabulary);
    for network in networks() {
        let learn = |rare: f32, explores: bool, change: &dyn Fn(&mut Training<'_>)| {
            let mut learner = untrained(&system, &vocabulary, network);
            let counts = vec![1; vocabulary.sizes().words];
            learner.network.words_mut().forget_rare(&counts, rare);
            train(&system, &mut learner, &examples, explores, change);
            learner.params.values().to_vec()
        };
        let base = learn(0.0, false, &|_| {});
        assert!(base == learn(0.0, false, &|_| {}));
        let others = [
            ("rare", learn(1.0, false, &|_| {})),
            ("exploration", learn(0.0, true, &|_| {})),
            ("average", learn(0.0, false, &|training| training.average = 16.0)),
            ("clip", learn(0.0, false, &|training| training.clip = 0.01)),
            ("dropout", learn(0.0, false, &|training| training.dropout = 0.3)),
            ("batch", learn(0.0, false, &|training| training.batch = 5)),
            ("decay", learn(0.0, false, &|training| training.decay = Decay::Linear)),
        ];
        for (setting, other) in others {
            assert!(base != other, "{network:?}: {setting}");
        }
    }
}

#[test]
fn threads_change_no_parameter() {
    let trees = toy::treebank(24, 3);
    let system = NonBinary::of_trees(&trees, Scheme::None).unwrap();
    for network in networks() {
        let [one, three] = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| trained(&system, &trees, network, (2, true)))
        });
        assert!(one.params.values() == three.params.values());
    }
}

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
use srparse::scorer::{Scorer, Situation};
use srparse::symbols::{Sentence, Vocabulary};
use srparse::train::Example;
use srparse::train::neural::Training;
use srparse::train::online::Exploration;
use srparse::transition::TransitionSystem;
use srparse::transition::binary::Binary;
use srparse::transition::bracketing::{Bracketing, Order};
use srparse::transition::non_binary::NonBinary;
use srparse::tree::Tree;
use srparse::tree::binarize::Scheme;

use common::{rng, toy, vocabulary};

fn networks() -> [NetworkParams; 2] {
    let encoder = EncoderParams { word: 12, tag: 6, form: 4, cells: 16, layers: 1 };
    let stack_lstm = StackLstmParams {
        word: 12,
        tag: 6,
        form: 4,
        action: 6,
        input: 20,
        cells: 20,
        layers: 2,
        children: 3,
    };
    [
        NetworkParams::Positions(PositionsParams { encoder, hidden: 24 }),
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

/// Trains on trees; with exploration if the system has an oracle for it.
fn trained<S: Supervised>(
    system: &S,
    trees: &[Tree],
    network: NetworkParams,
    (epochs, explores): (u32, bool),
) -> Neural<AnyNetwork> {
    let vocabulary = vocabulary(trees);
    let mut learner = untrained(system, &vocabulary, network);
    let exploration = Exploration { from_epoch: 2, probability: 0.5, margin: 0.1 };
    let (mut progress, stop) = (|_| {}, || false);
    let mut training = Training {
        epochs,
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
    let examples = examples(trees, &vocabulary);
    let mut course = training.course(&learner.params);
    let so_far = (&mut learner, &mut course, 0);
    let go_on = |_: &_, _: &_, _| Ok(std::ops::ControlFlow::Continue(()));
    match system.dynamic_oracle().filter(|_| explores) {
        Some(oracle) => {
            training.exploring((system, &oracle), so_far, &examples, exploration, go_on).unwrap();
        }
        None => training.on_gold_path((system, &Replay), so_far, &examples, go_on).unwrap(),
    }
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
    learns_by_heart(|trees| Bracketing::of_trees(trees, Order::TopDown, Scheme::None).unwrap());
}

#[test]
fn in_order_parsers_learn_by_heart() {
    learns_by_heart(|trees| Bracketing::of_trees(trees, Order::InOrder, Scheme::None).unwrap());
}

fn at<'a, S: TransitionSystem>(
    system: &'a S,
    sentence: &'a Sentence,
    state: &'a S::State,
) -> Situation<'a, S> {
    Situation { system, sentence, state }
}

/// Two hypotheses that begin together and part score as if each had been alone.
#[test]
fn memories_of_hypotheses_do_not_mix() {
    let trees = toy::treebank(12, 2);
    let system = Bracketing::of_trees(&trees, Order::InOrder, Scheme::None).unwrap();
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

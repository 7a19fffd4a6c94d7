//! Networks as scorers: they learn by heart, their memories travel with hypotheses, and threads change nothing.

use std::borrow::Cow;
use std::sync::Arc;

use rand::seq::IndexedRandom;
use srparse::classifier::linear::log_softmax;
use srparse::decode::{Cursor, Method, PathScore, Problem, Search};
use srparse::encoder::{BiLstmParams, EncoderParams, TransformerParams};
use srparse::neural::inference::InstructionSet;
use srparse::neural::{Decay, OptimizerParams, Quantized};
use srparse::observer::Silent;
use srparse::oracle::replay::same_brackets;
use srparse::oracle::{Example, OracleKind};
use srparse::scorer::neural::positions::PositionsParams;
use srparse::scorer::neural::stack_lstm::StackLstmParams;
use srparse::scorer::neural::{
    Inventory, NetworkParams, Neural, NeuralBatch, NeuralParams, TrainingMemory, TrainingSentence,
};
use srparse::scorer::perceptron::Exploration;
use srparse::scorer::{Components, OnlinePerceptron, Reading, Scorer};
use srparse::symbols::Sentence;
use srparse::train::epochs::EpochLearner;
use srparse::train::neural::epochs::{NeuralEpochs, untrained};
use srparse::train::{Progress, neural};
use srparse::transition::TransitionSystem;
use srparse::transition::binary::Binary;
use srparse::transition::bracketing::{Bracketing, Strategy};
use srparse::transition::non_binary::NonBinary;
use srparse::tree::Tree;
use srparse::tree::binarize::Scheme;

use crate::common::training::{Lab, decode, decode_nbest, read};
use crate::common::{rng, toy};

mod compiled;
mod readings;

fn networks() -> [NetworkParams; 2] {
    networks_of([12, 6, 4, 16], 1)
}

/// The same, one on a transformer, and one with LSTM layers between.
fn all_networks() -> impl Iterator<Item = NetworkParams> {
    let lstm = bilstm([6, 4, 4, 12], 1);
    networks().into_iter().chain([on_transformer(None), on_transformer(Some(lstm))])
}

/// A network on the pretrained encoder of [`Lab`].
fn on_transformer(lstm: Option<BiLstmParams>) -> NetworkParams {
    let encoder =
        TransformerParams { rate: 0.3, dropout: 0.0, lstm, ..TransformerParams::default() };
    let encoder = EncoderParams::Transformer(encoder);
    NetworkParams::Positions(PositionsParams { encoder, hidden_dim: 24, untagged: 0.5 })
}

/// LSTM layers of so many cells over vectors of words, tags and forms.
fn bilstm([word, tag, form, cells]: [u32; 4], layers: u32) -> BiLstmParams {
    BiLstmParams {
        word_dim: word,
        tag_dim: tag,
        form_dim: form,
        ngram_dim: form,
        ngram_rows: 40,
        lstm_dim: cells,
        layers,
    }
}

/// Networks whose vectors of words, tags and forms, and whose layers, are so large.
fn networks_of([word, tag, form, cells]: [u32; 4], layers: u32) -> [NetworkParams; 2] {
    let encoder = EncoderParams::BiLstm(bilstm([word, tag, form, cells], layers));
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
        NetworkParams::Positions(PositionsParams {
            encoder,
            hidden_dim: cells * 3 / 2,
            untagged: 0.5,
        }),
        NetworkParams::StackLstm(stack_lstm),
    ]
}

/// Two epochs on the gold path, and nothing that is not needed.
fn params(network: &NetworkParams) -> NeuralParams {
    NeuralParams {
        epochs: 2,
        patience: 0,
        batch: 4,
        optimizer: OptimizerParams::adam(0.01),
        decay: Decay::Inverse { by: 0.0 },
        moving_average: 0.0,
        clip: 5.0,
        dropout: 0.0,
        word_dropout: 0.0,
        exploration: Exploration { from_epoch: 2, probability: 0.0, margin: 0.0 },
        network: network.clone(),
        ..NeuralParams::default()
    }
}

/// The same with exploration.
fn exploring(params: NeuralParams) -> NeuralParams {
    let exploration = Exploration { probability: 0.5, margin: 0.1, ..params.exploration };
    NeuralParams { exploration, ..params }
}

/// A network with its initial parameters.
fn initial<S: TransitionSystem>(lab: &Lab<S>, params: &NeuralParams) -> Neural {
    let Components { system, vocabulary, .. } = lab.components();
    let inventory =
        Inventory::new(&params.network, system, vocabulary, None, Some(Arc::clone(&lab.encoder)));
    untrained(&lab.session(), params, &inventory).unwrap()
}

/// Trains a network; returns it with the loss of the last epoch.
fn train<S: TransitionSystem>(
    lab: &Lab<S>,
    network: Neural,
    params: &NeuralParams,
) -> (Neural, f64) {
    let explores = params.exploration.explores();
    let oracles = lab.oracles(if explores { OracleKind::DynamicIfAny } else { OracleKind::Static });
    let (session, progress) = (lab.session(), Progress::new(&Silent, 0));
    let mut learner = NeuralEpochs::new(&session, &oracles, network, params, &progress);
    let reports = (1..=params.epochs).map(|epoch| learner.train_epoch(epoch));
    let loss = reports.last().unwrap().loss;
    (learner.averaged(), loss)
}

/// The scorer for parsing.
fn compiled(network: &Neural) -> Box<dyn Scorer> {
    network.clone().compile(InstructionSet::detect())
}

/// How many trees a greedy parser gives back.
fn exact<S: TransitionSystem>(lab: &Lab<S>, scorer: &Neural) -> usize {
    let Lab { system, examples, .. } = lab;
    let scorer = compiled(scorer);
    let found = examples.iter().filter(|example| {
        let found = decode(&Search::default(), system, &mut *scorer.reading(), &example.sentence);
        let built = system.tree(&found.state, &found.forest, example.tree.tokens());
        same_brackets(&built, &system.target(&example.tree))
    });
    found.count()
}

fn learns_by_heart<S: TransitionSystem>(
    make: impl Fn(&[Tree]) -> S,
    networks: impl IntoIterator<Item = NetworkParams>,
    epochs: u32,
) {
    let trees = toy::treebank(12, 1);
    let lab = Lab::new(make(&trees), &trees);
    for network in networks {
        let params = NeuralParams { epochs, batch: 2, ..params(&network) };
        for params in [params.clone(), exploring(params)] {
            let (scorer, _) = train(&lab, initial(&lab, &params), &params);
            let right = exact(&lab, &scorer);
            assert_eq!(right, 12, "{params:?}");
        }
    }
}

#[test]
fn binary_parsers_learn_by_heart() {
    learns_by_heart(|trees| Binary::of_trees(trees).unwrap(), networks(), 60);
}

#[test]
fn non_binary_parsers_learn_by_heart() {
    learns_by_heart(|trees| NonBinary::of_trees(trees, Scheme::None).unwrap(), networks(), 60);
}

#[test]
fn top_down_parsers_learn_by_heart() {
    let make =
        |trees: &[Tree]| Bracketing::of_trees(trees, Strategy::TopDown, Scheme::None).unwrap();
    learns_by_heart(make, networks(), 60);
}

#[test]
fn in_order_parsers_learn_by_heart() {
    let make =
        |trees: &[Tree]| Bracketing::of_trees(trees, Strategy::InOrder, Scheme::None).unwrap();
    learns_by_heart(make, networks(), 60);
}

#[test]
fn parsers_on_a_transformer_learn_by_heart() {
    let make =
        |trees: &[Tree]| Bracketing::of_trees(trees, Strategy::InOrder, Scheme::None).unwrap();
    learns_by_heart(make, [on_transformer(None)], 60);
}

/// The gradients of whole networks, told by what one step of descent changes, against finite differences.
#[test]
fn gradients_are_those_of_the_loss() {
    let trees = toy::treebank(1, 6);
    let lab = Lab::new(NonBinary::of_trees(&trees, Scheme::None).unwrap(), &trees);
    for network in &networks_of([4, 3, 3, 4], 2) {
        // Steps as long as the gradient.
        let optimizer = OptimizerParams::Sgd { rate: 1.0 };
        let params = NeuralParams { epochs: 1, clip: 0.0, optimizer, ..params(network) };
        let learner = initial(&lab, &params);
        let step = |values: &[f32]| {
            let mut learner = learner.clone();
            learner.params.set(values).unwrap();
            let (learner, loss) = train(&lab, learner, &params);
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

/// No preset may have such a rate, but training checks what it has learned, whatever the reason.
#[test]
fn a_network_that_diverges_is_reported_with_what_to_set() {
    let trees = toy::treebank(24, 3);
    let lab = Lab::new(NonBinary::of_trees(&trees, Scheme::None).unwrap(), &trees);
    for network in &networks() {
        for (clip, advice) in [(0.0, "or a learner.clip, such as 5"), (1e6, "or learner.clip")] {
            let optimizer = OptimizerParams::Sgd { rate: 1e30 };
            let params = NeuralParams { clip, optimizer, ..params(network) };
            let error = neural::train(&params, &lab.session()).err().unwrap().to_string();
            assert!(error.ends_with(advice), "{error}");
        }
    }
}

/// What no other test would miss: each setting changes what is learned.
#[test]
fn every_setting_of_training_counts() {
    let trees = toy::treebank(24, 3);
    let lab = Lab::new(NonBinary::of_trees(&trees, Scheme::None).unwrap(), &trees);
    for network in &all_networks().collect::<Vec<_>>() {
        let learn = |params: &NeuralParams| {
            let (learner, _) = train(&lab, initial(&lab, params), params);
            learner.params.values().to_vec()
        };
        let params = || params(network);
        let base = learn(&params());
        assert!(base == learn(&params()));
        let adam = |weight_decay, warm_up| NeuralParams {
            optimizer: OptimizerParams::Adam { rate: 0.01, weight_decay, warm_up },
            ..params()
        };
        let others = [
            ("word dropout", NeuralParams { word_dropout: 1.0, ..params() }),
            ("weight decay", adam(0.1, 0)),
            ("warm-up", adam(0.0, 5)),
            ("exploration", exploring(params())),
            ("moving average", NeuralParams { moving_average: 16.0, ..params() }),
            ("clip", NeuralParams { clip: 0.01, ..params() }),
            ("dropout", NeuralParams { dropout: 0.3, ..params() }),
            ("batch", NeuralParams { batch: 5, ..params() }),
            ("decay", NeuralParams { decay: Decay::Linear, ..params() }),
        ];
        for (setting, other) in others {
            // Pretrained encoders alone have pieces for all words.
            let has_words = network.encoder().is_none_or(|encoder| encoder.lstm.is_some());
            let counts = setting != "word dropout" || has_words;
            assert_eq!(base != learn(&other), counts, "{network:?}: {setting}");
        }
    }
}

#[test]
fn threads_change_no_parameter() {
    let trees = toy::treebank(24, 3);
    let lab = Lab::new(NonBinary::of_trees(&trees, Scheme::None).unwrap(), &trees);
    for network in &all_networks().collect::<Vec<_>>() {
        let params = exploring(params(network));
        let [one, three] = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| train(&lab, initial(&lab, &params), &params).0)
        });
        assert!(one.params.values() == three.params.values());
    }
}

/// From words alone, a trained network finds the tags and trees, and it takes the tags that are given.
#[test]
fn tags_are_learned_by_heart_and_given_ones_are_kept() {
    let trees = toy::treebank(20, 1);
    let lab = Lab::new(NonBinary::of_trees(&trees, Scheme::None).unwrap(), &trees);
    let [network, _] = &networks();
    let params = NeuralParams { epochs: 60, ..params(network) };
    let scorer = compiled(&train(&lab, initial(&lab, &params), &params).0);
    let (mut words, mut right) = (0, 0);
    for Example { sentence, .. } in &lab.examples {
        let mut reading = scorer.reading();
        let found = read(&mut *reading, &sentence.untagged());
        words += sentence.len();
        right += found.tags.iter().zip(&sentence.tags).filter(|(a, b)| a == b).count();
        let mut other = sentence.clone();
        other.tags.reverse();
        assert_eq!(read(&mut *reading, &other), other);
    }
    assert!(right * 100 >= words * 97, "{right} of {words} tags");
}

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

/// Two hypotheses that begin together and part score as if each had been alone.
#[test]
fn memories_of_hypotheses_do_not_mix() {
    let trees = toy::treebank(12, 2);
    let system = Bracketing::of_trees(&trees, Strategy::InOrder, Scheme::None).unwrap();
    let lab = Lab::new(system, &trees);
    for network in &networks() {
        let scorer = &*compiled(&initial(&lab, &params(network)));
        let mut rng = rng(4);
        for example in &lab.examples {
            let mut reading = scorer.reading();
            let sentence = &read(&mut *reading, &example.sentence);
            let problem = Problem { system: &lab.system, sentence };
            let start = Cursor::start(problem, &mut *reading);
            let mut paths = [(start.clone(), vec![]), (start, vec![])];
            let (mut legal, mut scores) = (Vec::new(), Vec::new());
            for _ in 0..12 {
                for ((cursor, forest), taken) in &mut paths {
                    if cursor.is_final() {
                        continue;
                    }
                    cursor.legal(problem, forest, &mut legal);
                    // What a score writes is forgotten, and nothing else.
                    cursor.scores(problem, forest, &legal, &mut *reading, &mut scores);
                    let action = *legal.choose(&mut rng).unwrap();
                    cursor.take(problem, forest, action, &mut *reading);
                    taken.push(action);
                }
            }
            for ((cursor, forest), taken) in &paths {
                cursor.legal(problem, forest, &mut legal);
                cursor.scores(problem, forest, &legal, &mut *reading, &mut scores);
                let mut alone = scorer.reading();
                read(&mut *alone, sentence);
                let (mut fresh, mut forest) = Cursor::start(problem, &mut *alone);
                for &action in taken {
                    fresh.take(problem, &mut forest, action, &mut *alone);
                }
                let mut expected = Vec::new();
                fresh.scores(problem, &forest, &legal, &mut *alone, &mut expected);
                assert_eq!(scores, expected);
            }
        }
    }
}

/// Two sentences that are read in turns, step by step, score as if each had been alone.
#[test]
fn two_sentences_do_not_mix() {
    let trees = toy::treebank(12, 2);
    let system = Bracketing::of_trees(&trees, Strategy::InOrder, Scheme::None).unwrap();
    let lab = Lab::new(system, &trees);
    let networks = networks().map(|network| compiled(&initial(&lab, &params(&network))));
    let perceptron = OnlinePerceptron::untrained(&lab.templates, lab.components().classes(), true);
    let [positions, stack_lstm] = networks;
    let scorers: [&dyn Scorer; 3] = [&*positions, &*stack_lstm, &perceptron];
    for scorer in scorers {
        for pair in lab.examples.chunks_exact(2) {
            let scored = |examples: &[&Example]| {
                let mut readings: Vec<_> = examples.iter().map(|_| scorer.reading()).collect();
                let read = |(at, example): (usize, &&Example)| {
                    crate::common::training::read(&mut *readings[at], &example.sentence)
                };
                let sentences: Vec<Sentence> = examples.iter().enumerate().map(read).collect();
                let problem = |at: usize| Problem { system: &lab.system, sentence: &sentences[at] };
                let start = |(at, reading): (usize, &mut Box<dyn Reading + '_>)| {
                    Cursor::start(problem(at), &mut **reading)
                };
                let mut places: Vec<_> = readings.iter_mut().enumerate().map(start).collect();
                let (mut legal, mut all) = (Vec::new(), vec![Vec::new(); examples.len()]);
                for step in 0..20 {
                    for (at, (cursor, forest)) in places.iter_mut().enumerate() {
                        if cursor.is_final() {
                            continue;
                        }
                        let (reading, mut scores) = (&mut *readings[at], Vec::new());
                        cursor.legal(problem(at), forest, &mut legal);
                        cursor.scores(problem(at), forest, &legal, reading, &mut scores);
                        cursor.take(problem(at), forest, legal[step % legal.len()], reading);
                        all[at].push(scores);
                    }
                }
                all
            };
            let [one, other] = pair else { unreachable!("two at a time") };
            let alone = [scored(&[one]).remove(0), scored(&[other]).remove(0)];
            assert_eq!(scored(&[one, other]), alone);
        }
    }
}

/// Searches that keep several hypotheses score each by a memory of its own.
#[test]
fn memories_travel_with_the_hypotheses_of_a_search() {
    let trees = toy::treebank(12, 2);
    let system = Bracketing::of_trees(&trees, Strategy::InOrder, Scheme::None).unwrap();
    let lab = Lab::new(system, &trees);
    let path_score = PathScore::Sum;
    let searches = [
        Search { method: Method::Beam, beam: 4, path_score, ..Search::default() },
        Search { method: Method::BestFirst, max_states: 200, path_score, ..Search::default() },
    ];
    for network in &networks() {
        let scorer = &*compiled(&initial(&lab, &params(network)));
        for example in &lab.examples {
            let (system, sentence) = (&lab.system, &example.sentence);
            let problem = Problem { system, sentence };
            for search in &searches {
                let (mut reading, mut scores) = (scorer.reading(), Vec::new());
                for found in decode_nbest(search, system, &mut *reading, sentence, 4) {
                    read(&mut *reading, sentence);
                    let (mut legal, mut sum) = (Vec::new(), 0.0);
                    let (mut cursor, mut forest) = Cursor::start(problem, &mut *reading);
                    for &action in &found.actions {
                        cursor.legal(problem, &forest, &mut legal);
                        cursor.scores(problem, &forest, &legal, &mut *reading, &mut scores);
                        let place = legal.iter().position(|&other| other == action).unwrap();
                        sum += f64::from(scores[place]);
                        cursor.take(problem, &mut forest, action, &mut *reading);
                    }
                    assert_eq!(found.score, sum, "{network:?} {:?}", search.method);
                }
            }
        }
    }
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

/// The tags that a network sees of a sentence, and its scores after each action on a way through it.
type Seen = (Vec<u32>, Vec<Vec<f32>>);

/// What a network sees of a sentence.
fn seen<S: TransitionSystem>(lab: &Lab<S>, sentence: &Sentence, reading: &mut dyn Reading) -> Seen {
    let (mut legal, mut all) = (Vec::new(), Vec::new());
    let sentence = &read(reading, sentence);
    let problem = Problem { system: &lab.system, sentence };
    let (mut cursor, mut forest) = Cursor::start(problem, reading);
    while !cursor.is_final() {
        let mut scores = Vec::new();
        cursor.legal(problem, &forest, &mut legal);
        cursor.scores(problem, &forest, &legal, reading, &mut scores);
        cursor.take(problem, &mut forest, legal[all.len() % legal.len()], reading);
        all.push(scores);
    }
    (sentence.tags.clone(), all)
}

/// Compiled networks predict tags and score nearly as in training, and the same with every instruction set.
#[test]
fn compiled_networks_score_as_in_training() {
    for (sizes, layers) in [([12, 6, 4, 16], 1), ([5, 3, 0, 20], 2), ([9, 2, 3, 50], 3)] {
        for network in &networks_of(sizes, layers) {
            scores_as_in_training(network, 0.02);
        }
    }
    // States of its layers are rounded again and again.
    scores_as_in_training(&on_transformer(None), 0.2);
    scores_as_in_training(&on_transformer(Some(bilstm([6, 4, 4, 12], 1))), 0.2);
}

/// Compares the scores of an untrained network with its compiled ones.
fn scores_as_in_training(params_of: &NetworkParams, most_off: f32) {
    let trees = toy::treebank(12, 2);
    let system = Bracketing::of_trees(&trees, Strategy::InOrder, Scheme::None).unwrap();
    let lab = Lab::new(system, &trees);
    let every_other = |(at, gold): (usize, &Sentence)| {
        if at % 2 == 0 { gold.clone() } else { gold.untagged() }
    };
    let gold = lab.examples.iter().map(|example| &example.sentence);
    let sentences: Vec<Sentence> = gold.enumerate().map(every_other).collect();
    let mut network = initial(&lab, &params(params_of));
    // What differs afterwards is the rounding of the inputs.
    network.params = Quantized::new(&network.params).dequantize(&network.params);
    let mut batch = NeuralBatch::new(&network.network);
    let borrowed = |gold| TrainingSentence { gold, seen: Cow::Borrowed(gold) };
    let mut tagged: Vec<_> = sentences.iter().map(borrowed).collect();
    batch.begin(&network, &mut tagged, &mut []);
    let tagged: Vec<_> = tagged.into_iter().map(|it| it.seen.into_owned()).collect();
    let mut memory = TrainingMemory::default();
    let in_training = tagged.iter().enumerate().map(|(number, sentence)| {
        seen(&lab, sentence, &mut batch.learner(&network, number, &mut memory))
    });
    let in_training: Vec<Seen> = in_training.collect();
    let with = |set| -> Vec<Seen> {
        let scorer = network.clone().compile(set);
        let mut reading = scorer.reading();
        sentences.iter().map(|sentence| seen(&lab, sentence, &mut *reading)).collect()
    };
    let all: Vec<_> = InstructionSet::available().map(with).collect();
    assert!(all.iter().all(|seen| *seen == all[0]), "{params_of:?}");
    let (mut tags_right, mut words, mut off) = (0, 0, 0f32);
    for ((tags, scores), (expected_tags, expected)) in all[0].iter().zip(in_training) {
        tags_right += tags.iter().zip(&expected_tags).filter(|(a, b)| a == b).count();
        words += tags.len();
        if *tags != expected_tags {
            continue;
        }
        for (scores, mut expected) in scores.iter().zip(expected) {
            log_softmax(&mut expected);
            let pairs = scores.iter().zip(&expected);
            off = pairs.map(|(a, b)| (a - b).abs()).fold(off, f32::max);
        }
    }
    assert!(off < most_off, "{params_of:?}: {off}");
    // The scores of an untrained network are close to each other.
    assert!(tags_right * 10 > words * 8, "{params_of:?}: {tags_right} of {words} tags");
}

/// A trained stack-LSTM finds the same trees with 8-bit weights as on the tape.
#[test]
fn compiled_stack_lstms_parse_as_in_training() {
    let trees = toy::treebank(40, 5);
    let lab = Lab::new(NonBinary::of_trees(&trees, Scheme::None).unwrap(), &trees);
    let [_, network] = &networks();
    let params = NeuralParams { epochs: 8, ..params(network) };
    let (network, _) = train(&lab, initial(&lab, &params), &params);
    let (batch, scorer) = (NeuralBatch::new(&network.network), compiled(&network));
    let (mut reading, mut memory) = (scorer.reading(), TrainingMemory::default());
    for Example { sentence, .. } in &lab.examples {
        let on_tape = &mut batch.learner(&network, 0, &mut memory);
        let [found, expected] = [&mut *reading as &mut dyn Reading, on_tape]
            .map(|reading| decode(&Search::default(), &lab.system, reading, sentence));
        assert_eq!(found.actions, expected.actions);
    }
    // Neither untrained, nor so sure that nothing could differ.
    let right = exact(&lab, &network);
    assert!((10..40).contains(&right), "{right} of 40");
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

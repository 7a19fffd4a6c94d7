//! Compiled networks beside those in training.

use super::*;

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
        seen(&lab, sentence, &mut *batch.learner(&network, number, &mut memory))
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
        let mut on_tape = batch.learner(&network, 0, &mut memory);
        let [found, expected] = [&mut *reading as &mut dyn Reading, &mut *on_tape]
            .map(|reading| decode(&Search::default(), &lab.system, reading, sentence));
        assert_eq!(found.actions, expected.actions);
    }
    // Neither untrained, nor so sure that nothing could differ.
    let right = exact(&lab, &network);
    assert!((10..40).contains(&right), "{right} of 40");
}

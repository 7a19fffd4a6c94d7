//! What a network remembers of a sentence, hypothesis by hypothesis.

use super::*;

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

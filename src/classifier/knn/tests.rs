//! The neighbours are those of brute force, the distances those of the definitions, the answers TiMBL's.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::feature::{Column, ColumnKind, Row};

fn columns(n: usize, kind: ColumnKind) -> Vec<Column> {
    (0..n).map(|at| Column { name: format!("c{at}"), kind, lexical: false }).collect()
}

fn instances(rows: &[(Vec<u32>, u16)], n_classes: usize) -> Instances {
    let width = rows.first().map_or(0, |(values, _)| values.len());
    let mut instances = Instances::new(columns(width, ColumnKind::Nominal), n_classes);
    for (values, class) in rows {
        instances.push(&Row { values: values.clone(), members: vec![] }, *class);
    }
    instances
}

/// Rows whose columns are informative to different degrees, with many and few values; one class of five
/// never occurs.
fn drawn(n: usize, seed: u64) -> Vec<(Vec<u32>, u16)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut row = || {
        let class = rng.random_range(0..4u16);
        let mut value = |most: u32, noise: u32| {
            let value = u32::from(class) * 3 + rng.random_range(0..noise);
            value % most
        };
        let values = vec![value(5, 3), value(12, 6), value(400, 390), value(3, 9), value(2, 40)];
        (values, class)
    };
    (0..n).map(|_| row()).collect()
}

fn fitted(params: &KnnParams, rows: &[(Vec<u32>, u16)], n_classes: usize) -> KnnModel {
    let mut sections = Sections::default();
    let model = params.fit(&instances(rows, n_classes), &Fit::quiet(1)).unwrap();
    model.store(&mut sections);
    KnnModel::load(params, &sections).unwrap()
}

fn settings() -> Vec<KnnParams> {
    let mut all = Vec::new();
    for metric in [Metric::Overlap, Metric::Mvdm] {
        for weighting in [Weighting::GainRatio, Weighting::InformationGain, Weighting::None] {
            for (one_hot, min_frequency) in [(false, 1), (true, 1), (false, 3), (true, 3)] {
                let params = KnnParams { metric, weighting, one_hot, ..KnnParams::default() };
                all.push(KnnParams { min_frequency, ..params });
            }
        }
    }
    all
}

fn search(model: &KnnModel, query: &[u32], k: usize, memory: &mut Memory) {
    model.search(RowRef { values: query, members: &[] }, k, memory);
}

/// The distance of a query to a row of training, column by column.
fn distance(model: &KnnModel, query: &[u32], row: &[u32], memory: &mut Memory) -> u32 {
    search(model, query, 1, memory);
    let least = memory.tables.set_query(&model.values, query);
    let add = |sum, level| {
        let (column, id) = model.values.id_of(level, row);
        assert!(column < row.len());
        sum + memory.tables.distance(&model.values, level, id)
    };
    (0..row.len()).fold(least, add)
}

/// Rows drawn three times side by side, so that a search has columns left when it may stop.
fn wide(n: usize, seed: u64) -> Vec<(Vec<u32>, u16)> {
    let thirds = [0, 1, 2].map(|third| drawn(n, seed + third));
    (0..n)
        .map(|at| {
            let values = thirds.iter().flat_map(|third| third[at].0.clone()).collect();
            (values, thirds[0][at].1)
        })
        .collect()
}

#[test]
fn the_neighbours_are_those_of_brute_force() {
    assert_neighbours(&drawn(700, 3), drawn(24, 4));
}

#[test]
fn the_neighbours_in_many_columns_are_those_of_brute_force() {
    assert_neighbours(&wide(900, 20), wide(12, 30));
}

fn assert_neighbours(rows: &[(Vec<u32>, u16)], queries: Vec<(Vec<u32>, u16)>) {
    // The first queries have values that training has not.
    let queries = queries.into_iter().enumerate().map(|(at, (mut values, _))| {
        if at < 8 {
            values[at % 5] = 9_999;
        }
        values
    });
    let queries: Vec<Vec<u32>> = queries.collect();
    let (mut memory, mut other) = (Memory::default(), Memory::default());
    for params in settings() {
        let model = fitted(&params, rows, 5);
        for (query, k) in queries.iter().zip([1, 2, 5, 40].into_iter().cycle()) {
            let all = rows.iter().map(|(row, class)| {
                (distance(&model, query, row, &mut other), usize::from(*class))
            });
            let all: Vec<(u32, usize)> = all.collect();
            let mut nearest: Vec<u32> = all.iter().map(|&(distance, _)| distance).collect();
            nearest.sort_unstable();
            nearest.dedup();
            nearest.truncate(k);
            let mut votes = vec![0.0; 5];
            for &(distance, class) in &all {
                votes[class] += if nearest.contains(&distance) { 1.0 } else { 0.0 };
            }
            search(&model, query, k, &mut memory);
            model.votes.count(&params, 1.0, &mut memory);
            assert_eq!(memory.nearest, nearest, "{params:?} {query:?}");
            assert_eq!(memory.votes, votes, "{params:?} {query:?}");
        }
    }
}

/// How often a value of a column occurs with each class; of all columns if `value` is none.
fn class_counts(rows: &[(Vec<u32>, u16)], is_one: impl Fn(&[u32]) -> bool) -> Vec<f64> {
    let mut counts = vec![0.0; 5];
    for (values, class) in rows {
        counts[usize::from(*class)] += if is_one(values) { 1.0 } else { 0.0 };
    }
    counts
}

fn entropy(counts: &[f64]) -> f64 {
    let n: f64 = counts.iter().sum();
    let terms = counts.iter().filter(|&&count| count > 0.0);
    terms.map(|&count| -count / n * (count / n).log2()).sum()
}

/// The weight of a feature whose values divide the instances in this way.
fn weight_by_definition(weighting: Weighting, parts: &[Vec<f64>]) -> f64 {
    let sums: Vec<f64> = parts.iter().map(|counts| counts.iter().sum()).collect();
    let n: f64 = sums.iter().sum();
    let all: Vec<f64> = (0..5).map(|class| parts.iter().map(|part| part[class]).sum()).collect();
    let rest: f64 = parts.iter().zip(&sums).map(|(part, sum)| sum / n * entropy(part)).sum();
    match weighting {
        Weighting::None => 1.0,
        Weighting::InformationGain => entropy(&all) - rest,
        Weighting::GainRatio => (entropy(&all) - rest) / entropy(&sums),
    }
}

fn difference_by_definition(p: &[f64], q: &[f64], params: &KnnParams) -> f64 {
    let (n, m) = (p.iter().sum::<f64>(), q.iter().sum::<f64>());
    let least = f64::from(params.min_frequency.max(1));
    if params.metric == Metric::Overlap || n < least || m < least {
        return 1.0;
    }
    p.iter().zip(q).map(|(a, b)| (a / n - b / m).abs()).sum::<f64>() / 2.0
}

fn distance_by_definition(
    params: &KnnParams,
    rows: &[(Vec<u32>, u16)],
    query: &[u32],
    row: &[u32],
) -> f64 {
    let mut sum = 0.0;
    for column in (0..row.len()).filter(|&column| query[column] != row[column]) {
        let counts = |value: u32| class_counts(rows, |values| values[column] == value);
        if params.one_hot {
            for value in [query[column], row[column]].into_iter().filter(|&value| value != 0) {
                let with = counts(value);
                let without = class_counts(rows, |values| values[column] != value);
                if with.iter().sum::<f64>() > 0.0 {
                    let difference = difference_by_definition(&with, &without, params);
                    sum += weight_by_definition(params.weighting, &[with, without]) * difference;
                }
            }
            continue;
        }
        let mut values: Vec<u32> = rows.iter().map(|(values, _)| values[column]).collect();
        values.sort_unstable();
        values.dedup();
        let parts: Vec<Vec<f64>> = values.into_iter().map(counts).collect();
        let (own, other) = (counts(query[column]), counts(row[column]));
        sum += weight_by_definition(params.weighting, &parts)
            * difference_by_definition(&own, &other, params);
    }
    sum
}

#[test]
fn the_distances_are_those_of_the_definitions() {
    let rows = drawn(90, 5);
    let mut queries = drawn(4, 6);
    queries[0].0[1] = 777;
    let mut memory = Memory::default();
    for params in settings() {
        let model = fitted(&params, &rows, 5);
        for (query, _) in &queries {
            for (row, _) in rows.iter().step_by(7) {
                let ours =
                    f64::from(distance(&model, query, row, &mut memory)) * model.values.unit();
                let theirs = distance_by_definition(&params, &rows, query, row);
                assert!(
                    (ours - theirs).abs() < 1e-7 * (1.0 + theirs),
                    "{params:?} {ours} {theirs}"
                );
            }
        }
    }
}

/// Nine instances and four queries; letters are numbers from 1 in the order of the alphabet, classes from 0.
const TRAIN: [&str; 9] = ["axpA", "aypB", "bxqA", "bzqC", "czpC", "cyrB", "dxrA", "dwpA", "axqC"];
const TEST: [&str; 4] = ["axp", "exq", "dzr", "cwq"];

fn letters(text: &str) -> Vec<u32> {
    text.bytes().filter(u8::is_ascii_lowercase).map(|letter| u32::from(letter - b'a') + 1).collect()
}

fn letter_rows() -> Vec<(Vec<u32>, u16)> {
    let class = |text: &&str| u16::from(text.as_bytes()[3] - b'A');
    TRAIN.iter().map(|text| (letters(text), class(text))).collect()
}

/// The distances of the neighbours of each query and the votes that decided.
type Answer<'a> = (&'a [f64], [f64; 3], u16);

fn assert_answers(params: &KnnParams, answers: [Answer<'_>; 4]) {
    let model = fitted(params, &letter_rows(), 3);
    let (mut scratch, mut out) = (Scratch::default(), [0.0; 3]);
    for (query, (distances, votes, class)) in TEST.iter().zip(answers) {
        let values = letters(query);
        model.scores(RowRef { values: &values, members: &[] }, &mut scratch, &mut out);
        let best = (0..3).max_by(|&a, &b| out[a as usize].total_cmp(&out[b as usize]));
        assert_eq!(best, Some(class), "{params:?} {query} {out:?}");
        let nearest = &scratch.of::<Memory>().nearest;
        assert!(nearest.len() >= distances.len(), "{params:?} {query}");
        for (&ours, theirs) in nearest.iter().zip(distances) {
            let ours = f64::from(ours) * model.values.unit();
            assert!((ours - theirs).abs() < 1e-7, "{params:?} {query} {ours} {theirs}");
        }
        let all: f64 = votes.iter().sum();
        for (score, vote) in out.iter().zip(votes) {
            let share = (vote / all) as f32;
            assert!(vote == 0.0 || (score - share).abs() < 1e-5, "{params:?} {query} {out:?}");
            assert!(vote > 0.0 || *score < 0.0, "{params:?} {query} {out:?}");
        }
    }
}

/// TiMBL 6.5, `timbl -F C4.5 -k 2 +v n+db+di` with the options named; where two classes tied, its third
/// distance stands here too.
#[test]
fn the_neighbours_votes_and_ties_are_those_of_timbl() {
    let params = KnnParams { k: 2, ..KnnParams::default() };
    // -m M -w gr -L 1
    let answers: [Answer<'_>; 4] = [
        (&[0.0, 0.091339180707094, 0.18547343025506], [2.0, 0.0, 1.0], 0),
        (&[0.28240274864389, 0.37374192935098], [2.0, 0.0, 1.0], 0),
        (&[0.28734406345329, 0.33720625706815], [0.0, 0.0, 2.0], 2),
        (&[0.25338644231312, 0.30045356708710, 0.34472562302022], [2.0, 0.0, 1.0], 0),
    ];
    assert_answers(&params, answers);
    // -m M -w gr -L 2
    let answers: [Answer<'_>; 4] = [
        (&[0.0, 0.091339180707094, 0.18547343025506], [2.0, 0.0, 1.0], 0),
        (&[0.28240274864389, 0.37374192935098], [2.0, 0.0, 1.0], 0),
        (&[0.28734406345329, 0.33720625706815], [0.0, 0.0, 2.0], 2),
        (&[0.37374192935098, 0.72834795176773, 0.73114302060860], [1.0, 0.0, 2.0], 2),
    ];
    assert_answers(&KnnParams { min_frequency: 2, ..params.clone() }, answers);
    // -m M -w nw -L 1: the third query stays tied, and more instances have the first class.
    let params = KnnParams { weighting: Weighting::None, ..params };
    let answers: [Answer<'_>; 4] = [
        (&[0.0, 0.41666666666667, 0.75], [2.0, 0.0, 1.0], 0),
        (&[1.0, 1.4166666666667], [2.0, 0.0, 1.0], 0),
        (&[0.75, 1.1666666666667, 1.25], [1.0, 0.0, 1.0], 0),
        (&[0.58333333333333, 0.75, 1.0], [2.0, 0.0, 1.0], 0),
    ];
    assert_answers(&params, answers);
    // -m O -w nw
    let answers: [Answer<'_>; 4] = [
        (&[0.0, 1.0, 2.0], [4.0, 1.0, 2.0], 0),
        (&[1.0, 2.0], [3.0, 0.0, 2.0], 0),
        (&[1.0, 2.0, 3.0], [4.0, 2.0, 3.0], 0),
        (&[2.0, 3.0], [4.0, 2.0, 3.0], 0),
    ];
    assert_answers(&KnnParams { metric: Metric::Overlap, ..params.clone() }, answers);
    // -m O -w gr
    let answers: [Answer<'_>; 4] = [
        (&[0.0, 0.21921403369702, 0.50161678234091], [3.0, 0.0, 1.0], 0),
        (&[0.28240274864389, 0.50161678234091], [3.0, 0.0, 1.0], 0),
        (&[0.50161678234091, 0.63700877106064], [1.0, 0.0, 2.0], 2),
        (&[0.50161678234091, 0.85622280475767, 0.91941151970453], [2.0, 1.0, 3.0], 2),
    ];
    let weighting = Weighting::GainRatio;
    assert_answers(&KnnParams { metric: Metric::Overlap, weighting, ..params }, answers);
}

/// TiMBL 6.5, `timbl -F C4.5 -m M -L 1 -k 3 -w nw +v n+db+di` with `-d` as named.
#[test]
fn the_weighted_votes_are_those_of_timbl() {
    let params = KnnParams { k: 3, weighting: Weighting::None, ..KnnParams::default() };
    let voted = |voting, votes: [[f64; 3]; 4], classes: [u16; 4]| {
        let params = KnnParams { voting, ..params.clone() };
        let answer = |at: usize| -> Answer<'_> { (&[], votes[at], classes[at]) };
        assert_answers(&params, [answer(0), answer(1), answer(2), answer(3)]);
    };
    // -d ID
    let votes = [
        [4.50360e15, 0.0, 2.4],
        [2.30588, 0.0, 1.0],
        [2.13333, 0.0, 1.65714],
        [2.33333, 0.0, 1.71429],
    ];
    voted(Voting::InverseDistance, votes, [0; 4]);
    // -d IL
    let votes = [[1.0, 0.0, 0.444444], [1.375, 0.0, 1.0], [1.0, 0.0, 0.166667], [0.6, 0.0, 1.0]];
    voted(Voting::InverseLinear, votes, [0, 0, 0, 2]);
    // -d ED:1
    let votes = [
        [1.47237, 0.0, 0.659241],
        [0.799276, 0.0, 0.367879],
        [0.758871, 0.0, 0.597908],
        [0.840246, 0.0, 0.558035],
    ];
    voted(Voting::ExponentialDecay, votes, [0; 4]);
    // -d ED:2:3
    let params =
        KnnParams { decay: 2.0, decay_power: 3.0, voting: Voting::ExponentialDecay, ..params };
    let answers: [Answer<'_>; 4] = [
        (&[], [1.43009, 0.0, 0.865303], 0),
        (&[], [0.138822, 0.0, 0.135335], 0),
        (&[], [0.450210, 0.0, 0.0618712], 0),
        (&[], [0.565430, 0.0, 0.672340], 2),
    ];
    assert_answers(&params, answers);
}

fn scores(model: &KnnModel, query: &[u32], scratch: &mut Scratch) -> Vec<f32> {
    let mut out = vec![0.0; model.n_classes()];
    model.scores(RowRef { values: query, members: &[] }, scratch, &mut out);
    out
}

#[test]
fn a_memory_serves_several_models_by_turns() {
    let rows = drawn(200, 7);
    let models = [settings()[0].clone(), settings()[6].clone()];
    let models = models.map(|params| fitted(&params, &rows, 5));
    let mut shared = Scratch::default();
    for (query, _) in drawn(10, 8) {
        for model in &models {
            let alone = scores(model, &query, &mut Scratch::default());
            assert_eq!(scores(model, &query, &mut shared), alone);
        }
    }
}

#[test]
fn a_class_never_seen_is_out_and_one_without_votes_is_behind() {
    let model = fitted(&KnnParams { k: 1, ..KnnParams::default() }, &drawn(200, 9), 5);
    let out = scores(&model, &drawn(1, 10)[0].0, &mut Scratch::default());
    assert_eq!(out[4], f32::NEG_INFINITY);
    let (voted, others): (Vec<f32>, Vec<f32>) = out[..4].iter().partition(|&&score| score > 0.0);
    assert!(!voted.is_empty() && !others.is_empty(), "{out:?}");
    assert!(voted.iter().sum::<f32>() > 0.99 && others.iter().all(|&score| score > -1.0));
}

#[test]
fn few_instances_are_enough_and_none_answer_nothing() {
    let params = KnnParams::default();
    let none = fitted(&params, &[], 2);
    assert_eq!(scores(&none, &[], &mut Scratch::default()), [f32::NEG_INFINITY; 2]);
    let one = fitted(&params, &[(vec![3, 4], 1)], 2);
    assert_eq!(scores(&one, &[9, 9], &mut Scratch::default()), [f32::NEG_INFINITY, 1.0]);
}

#[test]
fn the_model_is_the_same_with_one_thread_and_with_four() {
    let rows = instances(&drawn(3_000, 11), 5);
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut sections = Sections::default();
        let learner = KnnParams::default();
        let model = pool.install(|| learner.fit(&rows, &Fit::quiet(1)).unwrap());
        model.store(&mut sections);
        sections.0.iter().map(|section| section.bytes.to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(bytes(1), bytes(4));
}

/// Every byte of a stored model is changed in turn: loading refuses it, or the answers are wrong.
#[test]
fn broken_models_do_no_harm() {
    let queries = drawn(2, 12);
    for params in [settings()[0].clone(), settings()[1].clone(), settings()[6].clone()] {
        let model = fitted(&params, &drawn(30, 13), 5);
        let mut whole = Sections::default();
        model.store(&mut whole);
        let mut refused = 0;
        for at in 0..whole.0.len() {
            for byte in 0..whole.0[at].bytes.len() {
                let mut broken = whole.clone();
                let mut bytes = broken.0[at].bytes.to_vec();
                bytes[byte] ^= 0x41 << (byte % 2);
                broken.0[at].bytes = bytes.into();
                match KnnModel::load(&params, &broken) {
                    Ok(model) => {
                        for (query, _) in &queries {
                            scores(&model, query, &mut Scratch::default());
                        }
                    }
                    Err(_) => refused += 1,
                }
            }
            let mut short = whole.clone();
            short.0.remove(at);
            assert!(KnnModel::load(&params, &short).is_err());
        }
        assert!(refused > 100, "{refused}");
    }
}

#[test]
fn sets_are_refused() {
    let sets = Instances::new(columns(1, ColumnKind::Set), 2);
    let Err(error) = KnnParams::default().fit(&sets, &Fit::quiet(1)) else { panic!("took sets") };
    assert!(error.to_string().contains("drop `.kids`"), "{error}");
}

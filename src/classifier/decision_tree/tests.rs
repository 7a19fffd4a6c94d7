use rand::RngExt;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use super::c45::Branch;
use super::cart::Question;
use super::grow::Test;
use super::impurity::Impurity;
use super::*;
use crate::classifier::{Learner, Scratch};
use crate::feature::{Column, ColumnKind, Row, RowRef};
use crate::memory::{Array, Sections};

fn columns(kinds: &[(ColumnKind, bool)]) -> Vec<Column> {
    let column = |(at, &(kind, lexical)): (usize, &(ColumnKind, bool))| Column {
        name: format!("column{at}"),
        kind,
        lexical,
    };
    kinds.iter().enumerate().map(column).collect()
}

const NOMINAL: (ColumnKind, bool) = (ColumnKind::Nominal, false);
const WORDS: (ColumnKind, bool) = (ColumnKind::Nominal, true);
const NUMBER: (ColumnKind, bool) = (ColumnKind::Number, false);

/// Cases of equal rows: the values, the class, how many.
fn instances(kinds: &[(ColumnKind, bool)], cases: &[(&[u32], u16, usize)]) -> Instances {
    let n_classes = cases.iter().map(|case| usize::from(case.1) + 1).max().unwrap_or(1);
    let mut instances = Instances::new(columns(kinds), n_classes);
    for &(values, class, n) in cases {
        for _ in 0..n {
            instances.push(&Row { values: values.to_vec(), members: vec![] }, class);
        }
    }
    instances
}

fn fit(learner: &dyn Learner, instances: &Instances) -> Box<dyn Classifier> {
    learner.fit(instances, &Fit::quiet(1)).unwrap()
}

fn scores(tree: &dyn Classifier, values: &[u32]) -> Vec<f32> {
    let mut out = vec![f32::NAN; tree.n_classes()];
    tree.scores(RowRef { values, members: &[] }, &mut Scratch::default(), &mut out);
    out
}

fn sections(tree: &dyn Classifier) -> Sections {
    let mut sections = Sections::default();
    tree.store(&mut sections);
    sections
}

fn bytes(tree: &dyn Classifier) -> Vec<Vec<u8>> {
    sections(tree).0.iter().map(|section| section.bytes.to_vec()).collect()
}

fn c45(branch: Branch, confidence: f64) -> C45Params {
    C45Params { branch, confidence, min_cases: 1, ..C45Params::default() }
}

fn cart(question: Question, impurity: Impurity) -> CartParams {
    CartParams {
        question,
        impurity,
        min_leaf: 1,
        complexity: 0.0,
        sample: 0,
        ..CartParams::default()
    }
}

/// Every way of growing, without pruning.
fn all() -> Vec<(&'static str, Box<dyn Learner>)> {
    vec![
        ("c45 each value", Box::new(c45(Branch::EachValue, 1.0))),
        ("c45 one value", Box::new(c45(Branch::OneValue, 1.0))),
        ("cart subset", Box::new(cart(Question::Subset, Impurity::Gini))),
        ("cart subset by entropy", Box::new(cart(Question::Subset, Impurity::Entropy))),
        ("cart one value", Box::new(cart(Question::OneValue, Impurity::Gini))),
    ]
}

/// Random rows whose class is told by the first two columns and the number; the word says nothing.
fn random_instances(n: usize, seed: u64) -> Instances {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut instances = Instances::new(columns(&[NOMINAL, NOMINAL, NUMBER, WORDS]), 7);
    for _ in 0..n {
        let values = [
            rng.random_range(0..5),
            1 << 20 | rng.random_range(0..4),
            rng.random_range(0..9),
            rng.random_range(0..40),
        ];
        let class = (values[0] + values[1] + u32::from(values[2] > 3)) % 6;
        instances.push(&Row { values: values.to_vec(), members: vec![] }, class as u16);
    }
    instances
}

fn right(tree: &dyn Classifier, instances: &Instances) -> f64 {
    let is_right = |&at: &usize| {
        let best = tree.best(instances.row(at), &mut |_| true, &mut Scratch::default());
        best.map(|best| best.0) == Some(instances.class(at))
    };
    (0..instances.len()).filter(is_right).count() as f64 / instances.len() as f64
}

#[test]
fn every_tree_learns_exclusive_or() {
    // Not in balance: else no first test gains anything.
    let cases: &[(&[u32], u16, usize)] =
        &[(&[2, 2], 0, 40), (&[2, 3], 1, 30), (&[3, 2], 1, 30), (&[3, 3], 0, 20)];
    let instances = instances(&[NOMINAL, NOMINAL], cases);
    for (name, learner) in all() {
        assert_eq!(right(&*fit(&*learner, &instances), &instances), 1.0, "{name}");
    }
}

#[test]
fn every_tree_learns_by_heart() {
    let instances = random_instances(4000, 1);
    for (name, learner) in all() {
        let tree = fit(&*learner, &instances);
        assert_eq!(right(&*tree, &instances), 1.0, "{name}");
        assert!(right(&*tree, &random_instances(500, 2)) > 0.99, "{name}");
    }
}

#[test]
fn a_number_is_split_at_a_threshold_that_holds_between_its_values() {
    let cases: &[(&[u32], u16, usize)] =
        &[(&[1], 0, 9), (&[4], 0, 9), (&[10], 1, 9), (&[30], 1, 9)];
    let instances = instances(&[NUMBER], cases);
    for (name, learner) in all() {
        let tree = fit(&*learner, &instances);
        let best = |value| {
            tree.best(
                RowRef { values: &[value], members: &[] },
                &mut |_| true,
                &mut Scratch::default(),
            )
        };
        let classes = [0, 3, 5, 11, 99].map(|value| best(value).unwrap().0);
        assert_eq!((classes[0], classes[1], classes[3], classes[4]), (0, 0, 1, 1), "{name}");
    }
}

#[test]
fn distributions_back_off_to_those_above() {
    let cases: &[(&[u32], u16, usize)] = &[(&[2], 0, 6), (&[3], 1, 3), (&[3], 2, 1)];
    let mut three = instances(&[NOMINAL], cases);
    three = three.select(|at| Some(three.class(at)), 4);
    let learner = C45Params { backoff: 2.0, ..c45(Branch::EachValue, 1.0) };
    let tree = fit(&learner, &three);
    let close = |scores: Vec<f32>, expected: [f64; 4]| {
        for (score, p) in scores.into_iter().zip(expected) {
            let log = p.ln() as f32;
            assert!(
                score == log || (score - log).abs() < 0.001,
                "{score} is not the logarithm of {p}"
            );
        }
    };
    // The root has 6, 3, 1 and 0 of 10.
    close(scores(&*tree, &[2]), [(6.0 + 1.2) / 8.0, 0.6 / 8.0, 0.2 / 8.0, 0.0]);
    close(scores(&*tree, &[3]), [1.2 / 6.0, (3.0 + 0.6) / 6.0, (1.0 + 0.2) / 6.0, 0.0]);
    // No branch: the root's own.
    close(scores(&*tree, &[9]), [0.6, 0.3, 0.1, 0.0]);
    let plain = C45Params { backoff: 0.0, ..learner };
    close(scores(&*fit(&plain, &three), &[2]), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn rare_words_go_together() {
    // Words 2 and 3 are seen often, 10 to 14 once each.
    let mut cases: Vec<(&[u32], u16, usize)> = vec![(&[2], 0, 8), (&[3], 1, 8)];
    let rare: Vec<[u32; 1]> = (10..15).map(|word| [word]).collect();
    cases.extend(rare.iter().map(|word| (&word[..], 2, 1)));
    for (kind, together) in [(WORDS, true), (NOMINAL, false)] {
        let instances = instances(&[kind], &cases);
        let learner = C45Params { min_word_count: 7, ..c45(Branch::EachValue, 1.0) };
        let tree = fit(&learner, &instances);
        // A word that was never seen is rare too; another value stops at the root.
        assert_eq!(scores(&*tree, &[99]) == scores(&*tree, &[10]), together);
    }
}

#[test]
fn the_best_class_is_that_of_the_highest_score() {
    let instances = random_instances(3000, 3);
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for (name, learner) in all() {
        let tree = fit(&*learner, &instances);
        for _ in 0..300 {
            let values = [0; 4]
                .map(|_: u32| if rng.random() { rng.random_range(0..9) } else { rng.random() });
            let scores = scores(&*tree, &values);
            let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let first = scores.iter().position(|&score| score == highest).unwrap();
            let best = tree.best(
                RowRef { values: &values, members: &[] },
                &mut |_| true,
                &mut Scratch::default(),
            );
            assert_eq!(best, Some((first as u16, highest)), "{name}");
            let sum: f32 = scores.iter().map(|score| score.exp()).sum();
            assert!((sum - 1.0).abs() < 0.01, "{name}: {sum}");
            assert_eq!(scores[6], f32::NEG_INFINITY, "{name}: class 6 was never seen");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    // Enough for the columns of one node to be worked on in parallel.
    let instances = random_instances(grow::MANY + 1000, 5);
    let on_threads = |n: usize, learner: &dyn Learner| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| bytes(&*fit(learner, &instances)))
    };
    let sampled = CartParams { sample: 500, ..CartParams::default() };
    for (name, learner) in
        all().into_iter().chain([("sampled", Box::new(sampled) as Box<dyn Learner>)])
    {
        assert!(on_threads(1, &*learner) == on_threads(4, &*learner), "{name}");
    }
}

#[test]
fn samples_depend_on_the_seed() {
    let instances = random_instances(5000, 6);
    let learner = CartParams { sample: 60, ..CartParams::default() };
    let of_seed = |seed| bytes(&*learner.fit(&instances, &Fit::quiet(seed)).unwrap());
    assert!(of_seed(1) == of_seed(1) && of_seed(1) != of_seed(2));
}

#[test]
fn what_is_stored_scores_the_same() {
    let instances = random_instances(2000, 7);
    for (name, learner) in all() {
        let tree = fit(&*learner, &instances);
        let loaded = learner.load(&sections(&*tree)).unwrap();
        for at in 0..200 {
            let values = instances.row(at).values;
            assert_eq!(scores(&*tree, values), scores(&*loaded, values), "{name}");
        }
    }
}

#[test]
fn broken_sections_are_refused_or_score() {
    let instances = random_instances(600, 8);
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut refused = 0;
    for (_, learner) in all() {
        let whole = sections(&*fit(&*learner, &instances));
        for round in 0..3000 {
            let mut broken = whole.clone();
            let which = rng.random_range(0..broken.0.len());
            let section = &mut broken.0[which];
            let mut bytes = section.bytes.to_vec();
            if bytes.is_empty() {
                continue;
            }
            let at = rng.random_range(0..bytes.len());
            if round % 8 == 0 {
                bytes.truncate(at / 4 * 4);
            } else if round % 2 == 0 {
                bytes[at] = rng.random();
            } else {
                bytes[at] ^= 1 << rng.random_range(0..8);
            }
            section.bytes = Array::Owned(bytes);
            let Ok(tree) = learner.load(&broken) else {
                refused += 1;
                continue;
            };
            for at in 0..20 {
                let mut out = vec![0.0; tree.n_classes()];
                tree.scores(instances.row(at), &mut Scratch::default(), &mut out);
                assert!(out.iter().all(|score| *score <= 0.0));
                tree.best(instances.row(at), &mut |_| true, &mut Scratch::default());
            }
            // Rows of another width.
            let narrow = RowRef { values: &[], members: &[] };
            tree.best(narrow, &mut |_| true, &mut Scratch::default());
        }
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn sets_and_no_instances_are_refused() {
    let none = Instances::new(columns(&[NOMINAL]), 2);
    let sets = Instances::new(columns(&[(ColumnKind::Set, false)]), 2);
    for (_, learner) in all() {
        for (instances, says) in [(&none, "no instances"), (&sets, "set columns")] {
            let error = learner.fit(instances, &Fit::quiet(1)).err().unwrap();
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}

/// The test that a chooser takes for all of some instances.
fn chosen(chooser: &dyn Chooser, instances: &Instances) -> Option<(u16, Test)> {
    let (codings, block) = encode(instances, 7);
    chooser.choose(&codings, &block, 0)
}

#[test]
fn the_greatest_gain_ratio_wins_among_gains_that_are_not_below_average() {
    // Five cases of class 0 and three of class 1: 0.954 bits. Column 0: gain 0.549, ratio 0.549 ÷ 1.
    // Column 1: gain 0.954, ratio 0.954 ÷ 2 = 0.477. Column 2: gain 0.003.
    let cases: &[(&[u32], u16, usize)] = &[
        (&[2, 2, 2], 0, 1),
        (&[2, 2, 3], 0, 1),
        (&[2, 3, 2], 0, 1),
        (&[2, 3, 3], 0, 1),
        (&[3, 4, 2], 1, 1),
        (&[3, 4, 3], 1, 1),
        (&[3, 5, 2], 1, 1),
        (&[3, 6, 3], 0, 1),
    ];
    let three = instances(&[NOMINAL; 3], cases);
    let params = C45Params { min_cases: 1, ..C45Params::default() };
    let choice = c45::Choice(&params);
    assert_eq!(chosen(&choice, &three), Some((0, Test::Which(vec![1, 2]))));
    // Without column 2 the average is 0.752 and column 0 is below it.
    let two: Vec<(Vec<u32>, u16)> =
        cases.iter().map(|case| (case.0[..2].to_vec(), case.1)).collect();
    let two: Vec<(&[u32], u16, usize)> =
        two.iter().map(|(row, class)| (&row[..], *class, 1)).collect();
    assert_eq!(chosen(&choice, &instances(&[NOMINAL; 2], &two)).unwrap().0, 1);
}

#[test]
fn two_branches_must_have_enough_cases() {
    let cases: &[(&[u32], u16, usize)] = &[(&[2, 2], 0, 5), (&[2, 3], 0, 2), (&[3, 3], 1, 1)];
    let instances = instances(&[NOMINAL; 2], cases);
    for branch in [Branch::EachValue, Branch::OneValue] {
        let params = C45Params { branch, min_cases: 2, ..C45Params::default() };
        assert_eq!(chosen(&c45::Choice(&params), &instances).unwrap().0, 1);
    }
}

#[test]
fn a_subset_is_the_purest_division() {
    // Values 2 and 5 go with class 0, 3 and 4 with class 1, 6 with class 2.
    let cases: &[(&[u32], u16, usize)] =
        &[(&[2], 0, 40), (&[3], 1, 30), (&[4], 1, 30), (&[5], 0, 40), (&[6], 2, 10)];
    let instances = instances(&[NOMINAL], cases);
    for impurity in [Impurity::Gini, Impurity::Entropy] {
        let params = cart(Question::Subset, impurity);
        let choice = cart::Choice { params: &params, seed: 1 };
        let Some((0, Test::Among { yes, no, .. })) = chosen(&choice, &instances) else {
            panic!("no test")
        };
        let sides = [&yes, &no].map(|side| side.contains(&1) && side.contains(&4));
        assert!(sides.contains(&true), "{yes:?} {no:?}");
        assert_eq!(yes.len() + no.len(), 5);
    }
}

#[test]
fn noise_is_pruned_and_structure_is_not() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    let mut noise = Instances::new(columns(&[NOMINAL; 4]), 2);
    for _ in 0..400 {
        let values = (0..4).map(|_| rng.random_range(0..6)).collect();
        noise.push(&Row { values, members: vec![] }, u16::from(rng.random_bool(0.2)));
    }
    let leaves = |confidence| {
        let tree = fit(&c45(Branch::EachValue, confidence), &noise);
        DecisionTree::load(&sections(&*tree)).unwrap().n_leaves()
    };
    assert!(leaves(0.25) * 2 < leaves(1.0), "{} {}", leaves(0.25), leaves(1.0));
    assert!(leaves(0.01) <= leaves(0.25));
    let structure = random_instances(3000, 11);
    assert!(right(&*fit(&c45(Branch::EachValue, 0.25), &structure), &structure) > 0.99);
}

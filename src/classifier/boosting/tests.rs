use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::classifier::{Checkpoint, Scratch};
use crate::feature::{ColumnKind, Row, RowRef};
use crate::observer::Recorder;

fn columns(nominal: usize, sets: usize) -> Vec<Column> {
    let column = |kind| Column { name: String::new(), kind, lexical: false };
    let kinds = [vec![ColumnKind::Nominal; nominal], vec![ColumnKind::Set; sets]].concat();
    kinds.into_iter().map(column).collect()
}

fn nominal(values: &[u32]) -> Row {
    Row { values: values.to_vec(), members: Vec::new() }
}

/// Rows of two nominal columns and a set, of which label 0 is a noisy function, and label 1 another.
fn noisy(n: usize, seed: u64) -> (Vec<Row>, Candidates) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut candidates = Candidates::new(&columns(2, 1), 3);
    let mut rows = Vec::new();
    for _ in 0..n {
        let (a, b) = (rng.random_range(0..4), rng.random_range(0..5));
        let set: Vec<u32> = (1..5).filter(|_| rng.random_bool(0.4)).collect();
        let members = [&[set.len() as u32], &set[..]].concat();
        let row = Row { values: vec![a, b, 0], members };
        let odd = (a == 2) != set.contains(&3);
        let gold = [odd != rng.random_bool(0.1), (b == 1 && a != 3) || rng.random_bool(0.05)];
        let gold: Vec<u16> = (0..2).filter(|&label| gold[usize::from(label)]).collect();
        // Weights of all sizes, so that no two tests are as good as each other.
        candidates.push(row.borrow(), rng.random_range(1..50), &[0, 1, 2], &gold);
        rows.push(row);
    }
    (rows, candidates)
}

fn params(min_reduction: f64) -> BoostingParams {
    BoostingParams { min_reduction, min_count: 1, ..BoostingParams::default() }
}

fn fit_all(design: &Design, labelled: &Labelled, params: &BoostingParams) -> Vec<Option<Ensemble>> {
    let names = [Some("A"), Some("B"), Some("C")];
    fit_labels(design, labelled, &names, params, &Fit::quiet(1)).unwrap()
}

fn bytes(ensembles: &Ensembles) -> Vec<Vec<u8>> {
    let mut sections = Sections::default();
    ensembles.store(&mut sections);
    sections.0.iter().map(|section| section.bytes.to_vec()).collect()
}

fn holds(test: Test, row: RowRef<'_>) -> bool {
    let column = test.column as usize;
    if column == 2 {
        row.set(column).contains(&test.value)
    } else {
        row.values[column] == test.value
    }
}

/// What an ensemble says by walking through every tree.
fn walk(ensemble: &Ensemble, row: RowRef<'_>) -> f32 {
    let leaf = |nodes: &[[u32; 2]]| {
        let mut at = 0;
        loop {
            let [test, next] = nodes[at];
            if test == ensemble::LEAF {
                return f32::from_bits(next);
            }
            let yes = holds(ensemble.tests[test as usize], row);
            at = if yes { next as usize } else { at + 1 };
        }
    };
    ensemble.all_nodes().map(leaf).sum()
}

#[test]
fn the_first_tree_is_what_the_equations_say() {
    // Column 0 is 1 for three of four right examples and one of six wrong ones.
    let mut candidates = Candidates::new(&columns(2, 0), 1);
    for (at, (value, gold)) in (0..10).zip(
        [(1, 3), (2, 1)]
            .iter()
            .flat_map(|&(value, n)| [(value, true)].into_iter().cycle().take(n))
            .chain([(1, false)])
            .chain([(2, false); 5]),
    ) {
        let gold: &[u16] = if gold { &[0] } else { &[] };
        candidates.push(nominal(&[value, at]).borrow(), 1, &[0], gold);
    }
    let (design, labelled) = candidates.finish(2);
    let params = BoostingParams { max_splits: 1, ..params(0.1) };
    let quiet = &Fit::quiet(1);
    let ensemble = fit_label(&design, &labelled.examples(0), &params, quiet).unwrap();
    let z = |right: f64, wrong: f64| 2.0 * (right / 2.0 * wrong / 2.0).sqrt();
    let reduction = z(4.0, 6.0) - z(3.0, 1.0) - z(1.0, 5.0);
    let (grown, n_splits) = ensemble.growth().next().unwrap();
    assert!((grown - reduction).abs() < 1e-12 && n_splits == 1, "{grown} {reduction}");
    let ensembles = Ensembles::new(&columns(2, 0), vec![Some(ensemble)]);
    let mut score = [0.0];
    for (value, odds) in [(1, 3.0f64), (2, 0.2)] {
        ensembles.scores(nominal(&[value, 9]).borrow(), &mut Scratch::default(), &mut score);
        assert!((f64::from(score[0]) - 0.5 * odds.ln()).abs() < 1e-5, "{score:?}");
    }
}

/// The same algorithm in the plainest way: sums over examples for every test at every node.
struct Plain<'a> {
    examples: Vec<(RowRef<'a>, bool, f64)>,
    tests: Vec<Test>,
    confidences: Vec<f64>,
    params: BoostingParams,
}

impl Plain<'_> {
    fn weights(&self, of: &[usize]) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for &at in of {
            let (_, gold, count) = self.examples[at];
            let margin = if gold { self.confidences[at] } else { -self.confidences[at] };
            sums[usize::from(gold)] += count * self.params.loss.weight(margin);
        }
        sums
    }

    fn z(&self, of: &[usize]) -> f64 {
        let [wrong, right] = self.weights(of);
        2.0 * (wrong * right).sqrt()
    }

    fn divide(&self, of: &[usize], test: Test) -> [Vec<usize>; 2] {
        let (yes, no) = of.iter().partition(|&&at| holds(test, self.examples[at].0));
        [no, yes]
    }

    fn best(&self, of: &[usize]) -> (f64, Test) {
        let mut best = (0.0, Test::default());
        for &test in &self.tests {
            let [no, yes] = self.divide(of, test);
            let reduction = self.z(of) - self.z(&no) - self.z(&yes);
            if reduction > best.0 {
                best = (reduction, test);
            }
        }
        best
    }

    /// Grows a tree below some examples; gives its tests and leaves in the order of [`Ensemble`].
    fn grow(&mut self, of: &[usize], threshold: f64, depth: u32, out: &mut Vec<(Test, f64)>) {
        let (reduction, test) = self.best(of);
        let limit = self.params.max_depth;
        if reduction >= threshold && (limit == 0 || depth < limit) {
            out.push((test, f64::NAN));
            // Leaves are told apart from the weights before the tree.
            for side in self.divide(of, test) {
                self.grow(&side, threshold, depth + 1, out);
            }
            return;
        }
        let [wrong, right] = self.weights(of);
        let smoothing = self.params.smoothing;
        let confidence = 0.5 * ((right + smoothing) / (wrong + smoothing)).ln();
        out.push((Test::default(), confidence));
        of.iter().for_each(|&at| self.confidences[at] += confidence);
    }
}

#[test]
fn trees_are_those_of_the_plainest_implementation() {
    const THRESHOLD: f64 = 2.0;
    let (rows, candidates) = noisy(400, 3);
    let (design, labelled) = candidates.finish(1);
    // The number of each distinct row is that of its first appearance.
    let mut distinct: Vec<&Row> = Vec::new();
    for row in &rows {
        if !distinct.contains(&row) {
            distinct.push(row);
        }
    }
    for (loss, max_depth) in [(Loss::Logistic, 0), (Loss::Logistic, 1), (Loss::Exponential, 2)] {
        let params = BoostingParams { loss, max_depth, ..params(THRESHOLD) };
        let ensembles = fit_all(&design, &labelled, &params);
        let ensemble = ensembles[0].as_ref().unwrap();
        let examples: Vec<_> = labelled
            .examples(0)
            .iter()
            .map(|one| (distinct[one.row as usize].borrow(), one.gold, f64::from(one.weight)))
            .collect();
        let all: Vec<usize> = (0..examples.len()).collect();
        let (tests, confidences) = (design.tests().to_vec(), vec![0.0; all.len()]);
        let mut plain = Plain { examples, tests, confidences, params };
        let mut threshold = f64::INFINITY;
        for (nodes, (reduction, _)) in ensemble.all_nodes().zip(ensemble.growth()) {
            threshold = plain.best(&all).0.min(threshold);
            assert!((reduction / threshold - 1.0).abs() < 1e-3, "{reduction} {threshold}");
            // Rounded confidences move thresholds by as little.
            let mut expected = Vec::new();
            plain.grow(&all, threshold.min(reduction), 0, &mut expected);
            assert_eq!(nodes.len(), expected.len());
            for (node, (test, confidence)) in nodes.iter().zip(expected) {
                if node[0] == ensemble::LEAF {
                    let fitted = f64::from(f32::from_bits(node[1]));
                    assert!((fitted - confidence).abs() < 1e-3, "{fitted} {confidence}");
                } else {
                    assert!(confidence.is_nan());
                    assert_eq!(ensemble.tests[node[0] as usize], test);
                }
            }
        }
        let n = ensemble.n_trees();
        assert!(n > 5 && ensemble.reached() == THRESHOLD, "{n} trees");
        assert!(max_depth != 1 || ensemble.n_splits() == n, "stumps have one split");
    }
}

#[test]
fn a_conjunction_is_learned_by_heart_and_an_unseen_label_never_chosen() {
    let rows: Vec<Row> = (0..16).map(|at| nominal(&[at % 4, at / 4])).collect();
    let mut instances = Instances::new(columns(2, 0), 3);
    let class = |row: &Row| u16::from((row.values[0] == 1) != (row.values[1] == 2));
    rows.iter().for_each(|row| instances.push(row, class(row)));
    let learner = Boosting { params: params(0.05), columns: columns(2, 0) };
    let classifier = learner.fit(&instances, &Fit::quiet(1)).unwrap();
    let mut scores = [0.0; 3];
    for row in &rows {
        classifier.scores(row.borrow(), &mut Scratch::default(), &mut scores);
        let class = usize::from(class(row));
        assert!(scores[class] > 0.0 && scores[1 - class] < 0.0, "{row:?} {scores:?}");
        assert_eq!(scores[2], f32::NEG_INFINITY);
    }
}

#[test]
fn scores_are_those_of_a_walk_through_every_tree() {
    let (rows, candidates) = noisy(500, 4);
    let (design, labelled) = candidates.finish(1);
    let all = Ensembles::new(&columns(2, 1), fit_all(&design, &labelled, &params(2.0)));
    let threshold = all.thresholds(1.5)[4];
    let mut scratch = Scratch::default();
    for ensembles in [all.truncated(threshold), all] {
        for row in &rows {
            let mut scores = [0.0; 3];
            ensembles.scores(row.borrow(), &mut scratch, &mut scores);
            for (label, score) in ensembles.labels().iter().zip(scores) {
                let walked = label.as_ref().map(|ensemble| walk(ensemble, row.borrow()));
                assert_eq!(score, walked.unwrap_or(f32::NEG_INFINITY));
            }
        }
    }
}

#[test]
fn thresholds_fall_and_cut_all_labels_at_the_same_height() {
    let (_, candidates) = noisy(500, 5);
    let (design, labelled) = candidates.finish(1);
    let all = Ensembles::new(&columns(2, 1), fit_all(&design, &labelled, &params(2.0)));
    let thresholds = all.thresholds(1.3);
    assert!(thresholds.is_sorted_by(|a, b| a > b) && thresholds.last() == Some(&2.0));
    let splits: Vec<usize> =
        thresholds.iter().map(|&threshold| all.truncated(threshold).n_splits()).collect();
    assert!(splits[0] >= 1 && splits.is_sorted() && splits.last() == Some(&all.n_splits()));
    for &threshold in &thresholds {
        for (label, cut) in all.labels().iter().zip(all.truncated(threshold).labels()) {
            let (Some(label), Some(cut)) = (label, cut) else { continue };
            let kept: Vec<f64> = cut.growth().map(|tree| tree.0).collect();
            let wanted = label.growth().map(|tree| tree.0).filter(|&own| own >= threshold);
            assert_eq!(kept, wanted.collect::<Vec<f64>>());
        }
    }
}

#[test]
fn neither_threads_nor_the_other_labels_change_a_byte() {
    let (_, candidates) = noisy(500, 6);
    let (design, labelled) = candidates.finish(1);
    let fit = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fit_all(&design, &labelled, &params(2.0)))
    };
    let (one, four) = (fit(1), fit(4));
    assert!(one == four && one[0].is_some() && one[2].is_none());
    let names = [None, Some("B")];
    let quiet = &Fit::quiet(1);
    let second = fit_labels(&design, &labelled, &names, &params(2.0), quiet).unwrap();
    assert_eq!(second, [None, one[1].clone(), None]);
}

#[derive(Default)]
struct Kept(Mutex<HashMap<String, Sections>>);

impl Checkpoint for Kept {
    fn load(&self, name: &str) -> Option<Sections> {
        self.0.lock().unwrap().get(name).cloned()
    }

    fn save(&self, name: &str, sections: &Sections) {
        self.0.lock().unwrap().insert(name.to_owned(), sections.clone());
    }
}

#[test]
fn training_taken_up_again_ends_as_if_never_stopped() {
    let (_, candidates) = noisy(2000, 7);
    let (design, labelled) = candidates.finish(1);
    let examples = labelled.examples(0);
    let params = BoostingParams { max_depth: 1, ..params(1e-5) };
    let whole = fit_label(&design, &examples, &params, &Fit::quiet(1)).unwrap();
    let kept = Kept::default();
    let asked = AtomicUsize::new(0);
    let observer = Recorder::new(|| asked.fetch_add(1, Ordering::Relaxed) == 70);
    let fit = Fit { seed: 1, observer: &observer, checkpoint: Some(&kept) };
    let part = fit_label(&design, &examples, &params, &fit).unwrap();
    assert!(part.n_trees() == 70 && whole.n_trees() > 70, "{}", whole.n_trees());
    assert!(kept.load("trees").is_none() && kept.load("trees.partial").is_some());
    for _ in 0..2 {
        // The first time from what was kept half-way, the second time all of it.
        assert_eq!(fit_label(&design, &examples, &params, &fit).unwrap(), whole);
        assert!(kept.load("trees").is_some());
    }
}

#[test]
fn a_label_that_training_never_came_to_has_no_trees() {
    let (_, candidates) = noisy(200, 9);
    let (design, labelled) = candidates.finish(1);
    let names = [Some("A"), Some("B"), Some("C")];
    let asked = AtomicUsize::new(0);
    let observer = Recorder::new(|| asked.fetch_add(1, Ordering::Relaxed) > 0);
    let fit = Fit { seed: 1, observer: &observer, checkpoint: None };
    let first = fit_labels(&design, &labelled, &names, &params(1.0), &fit).unwrap();
    assert_eq!(first.iter().flatten().map(Ensemble::n_trees).collect::<Vec<_>>(), [1]);
    let none = fit_labels(&design, &labelled, &names, &params(1.0), &fit);
    assert!(matches!(none, Err(crate::Error::Stopped)));
    let empty = fit_label(&design, &labelled.examples(0), &params(1.0), &fit).unwrap();
    assert_eq!((empty.n_trees(), empty.reached()), (0, f64::INFINITY));
}

#[test]
fn labels_are_kept_apart_whatever_they_are_called() {
    let (_, candidates) = noisy(500, 6);
    let (design, labelled) = candidates.finish(1);
    let kept = Kept::default();
    let fit = Fit { checkpoint: Some(&kept), ..Fit::quiet(1) };
    let names = [Some("A/B"), Some("A.B")];
    let fitted = fit_labels(&design, &labelled, &names, &params(2.0), &fit).unwrap();
    assert_eq!(fitted[..2], fit_all(&design, &labelled, &params(2.0))[..2]);
    let file_names: Vec<String> = kept.0.lock().unwrap().keys().cloned().collect();
    assert!(file_names.iter().all(|name| name.starts_with("label")), "{file_names:?}");
}

#[test]
fn trees_of_columns_that_are_not_there_are_refused() {
    let (_, candidates) = noisy(200, 8);
    let (design, labelled) = candidates.finish(1);
    let ensembles = Ensembles::new(&columns(2, 1), fit_all(&design, &labelled, &params(10.0)));
    let mut sections = Sections::default();
    ensembles.store(&mut sections);
    assert!(Ensembles::load(&columns(2, 1), &sections).is_ok());
    let error = Ensembles::load(&columns(1, 0), &sections).unwrap_err().to_string();
    assert!(error.contains("columns"), "{error}");
}

#[test]
fn stored_ensembles_come_back_and_broken_ones_are_refused_or_harmless() {
    let (rows, candidates) = noisy(200, 8);
    let (design, labelled) = candidates.finish(1);
    let ensembles = Ensembles::new(&columns(2, 1), fit_all(&design, &labelled, &params(30.0)));
    let mut sections = Sections::default();
    ensembles.store(&mut sections);
    let loaded = Ensembles::load(&columns(2, 1), &sections).unwrap();
    assert_eq!(bytes(&loaded), bytes(&ensembles));
    let mut refused = 0;
    for section in 0..sections.0.len() {
        for at in 0..sections.0[section].bytes.len() {
            let mut broken = sections.clone();
            let mut bytes = broken.0[section].bytes.to_vec();
            bytes[at] ^= 0x81;
            broken.0[section].bytes = bytes.into();
            let Ok(loaded) = Ensembles::load(&columns(2, 1), &broken) else {
                refused += 1;
                continue;
            };
            let mut scores = vec![0.0; loaded.n_classes()];
            loaded.scores(rows[0].borrow(), &mut Scratch::default(), &mut scores);
        }
        let mut short = sections.clone();
        let mut bytes = short.0[section].bytes.to_vec();
        bytes.truncate(bytes.len() / 2);
        short.0[section].bytes = bytes.into();
        assert!(section == 0 || Ensembles::load(&columns(2, 1), &short).is_err(), "{section}");
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn trees_that_undo_each_other_end_the_label() {
    let (_, candidates) = noisy(300, 3);
    let (design, labelled) = candidates.finish(1);
    for loss in [Loss::Logistic, Loss::Exponential] {
        let params = BoostingParams { smoothing: 1e-300, loss, ..params(1e-6) };
        for ensemble in fit_all(&design, &labelled, &params).iter().flatten() {
            assert!(ensemble.n_trees() < 3000, "{} trees", ensemble.n_trees());
        }
    }
}

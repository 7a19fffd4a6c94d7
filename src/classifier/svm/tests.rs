use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use libsvm_rs::train::svm_train;
use libsvm_rs::{KernelType, SvmNode, SvmParameter, SvmProblem, SvmType};
use proptest::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::groups::Feature;
use super::vectors::kernel;
use super::*;
use crate::classifier::Scratch;
use crate::feature::{Row, RowRef, Templates};
use crate::memory::Section;
use crate::observer::Recorder;

/// Six nominal columns, each an indicator.
const COLUMNS: &str = "s0.w\ns0.t\ns1.w\ns1.t\nb0.w\nb0.t";

fn indicators(text: &str) -> Indicators {
    Indicators::new(&Templates::parse(text, "test").unwrap())
}

fn instances(text: &str, n_classes: usize, rows: &[(Vec<u32>, u16)]) -> Instances {
    let templates = Templates::parse(text, "test").unwrap();
    let mut instances = Instances::new(templates.columns(), n_classes);
    for (values, class) in rows {
        instances.push(&Row { values: values.clone(), members: vec![] }, *class);
    }
    instances
}

/// Rows of few values, so that many are equal; classes follow two columns but for some noise.
fn noisy(n: usize, n_classes: u16, seed: u64) -> Vec<(Vec<u32>, u16)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut row = || {
        let values: Vec<u32> = (0..6).map(|column| rng.random_range(0..3 + column)).collect();
        let noise = rng.random_range(0..10) == 0;
        let class = if noise { rng.random_range(0..100) } else { values[0] * 2 + values[1] };
        (values, class as u16 % n_classes)
    };
    (0..n).map(|_| row()).collect()
}

fn params(solver: Solver) -> SvmParams {
    SvmParams { solver, c: 0.05, tolerance: 1e-4, max_epochs: 5_000, ..SvmParams::default() }
}

fn learn(params: SvmParams, text: &str, data: &Instances) -> Box<dyn Classifier> {
    let svm = Svm { params, indicators: indicators(text) };
    svm.fit(data, &Fit::quiet(1)).unwrap()
}

fn scores(model: &dyn Classifier, values: &[u32]) -> Vec<f32> {
    let mut out = vec![0.0; model.n_classes()];
    model.scores(RowRef { values, members: &[] }, &mut Scratch::default(), &mut out);
    out
}

fn stored(model: &dyn Classifier) -> Vec<(String, Vec<u8>)> {
    let mut sections = Sections::default();
    model.store(&mut sections);
    sections.0.iter().map(|section| (section.name.clone(), section.bytes.to_vec())).collect()
}

fn best(scores: &[f32]) -> usize {
    (0..scores.len()).rev().max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap()
}

/// The columns of a row that are not empty, as LIBSVM's sparse vector.
fn sparse(values: &[u32]) -> Vec<SvmNode> {
    let nodes = values.iter().zip(0..).filter(|(value, _)| **value != 0);
    nodes
        .map(|(&value, column)| SvmNode { index: column * 100 + value as i32, value: 1.0 })
        .collect()
}

/// The margin of LIBSVM's classifier of a class, at each row.
fn libsvm_margins(rows: &[(Vec<u32>, u16)], class: u16, degree: i32, c: f64) -> Vec<f64> {
    libsvm_rs::set_quiet(true);
    let sign = |other: u16| if other == class { 1.0 } else { -1.0 };
    let problem = SvmProblem {
        labels: rows.iter().map(|row| sign(row.1)).collect(),
        instances: rows.iter().map(|row| sparse(&row.0)).collect(),
    };
    let param = SvmParameter {
        svm_type: SvmType::CSvc,
        kernel_type: KernelType::Polynomial,
        degree,
        gamma: 1.0,
        coef0: 1.0,
        c,
        eps: 1e-6,
        shrinking: false,
        ..SvmParameter::default()
    };
    let model = svm_train(&problem, &param);
    let margin = |row: &(Vec<u32>, u16)| {
        let mut margin = [0.0];
        libsvm_rs::predict::predict_values(&model, &sparse(&row.0), &mut margin);
        margin[0]
    };
    rows.iter().map(margin).collect()
}

fn common(a: &[u32], b: &[u32]) -> u32 {
    a.iter().zip(b).filter(|(a, b)| **a != 0 && a == b).count() as u32
}

/// The margins of the classifier without a free bias, by coordinate descent on the whole kernel matrix.
fn plain_margins(rows: &[(Vec<u32>, u16)], class: u16, c: f64) -> Vec<f64> {
    let k: Vec<Vec<f64>> =
        rows.iter().map(|a| rows.iter().map(|b| kernel(common(&a.0, &b.0), 2)).collect()).collect();
    let sign: Vec<f64> = rows.iter().map(|row| if row.1 == class { 1.0 } else { -1.0 }).collect();
    let (mut alpha, mut margins) = (vec![0.0f64; rows.len()], vec![0.0; rows.len()]);
    for _ in 0..20_000 {
        for i in 0..rows.len() {
            let new = (alpha[i] + (1.0 - sign[i] * margins[i]) / k[i][i]).clamp(0.0, c);
            let by = sign[i] * (new - alpha[i]);
            alpha[i] = new;
            margins.iter_mut().zip(&k[i]).for_each(|(margin, k)| *margin += by * k);
        }
    }
    margins
}

/// The solvers of this build: `linfa` is the third if it is there.
fn all_solvers() -> impl Iterator<Item = Solver> {
    let n = if cfg!(feature = "linfa") { 3 } else { 2 };
    [Solver::Map, Solver::Kernel, Solver::Linfa].into_iter().take(n)
}

#[test]
fn finds_the_margins_that_can_be_worked_out_by_hand() {
    // Two words, kernel 4 with themselves and 1 with each other. Both dual variables are α, and α·(4 − 1)
    // reaches 1 at a third unless C is less. A row of neither word has no margin.
    let rows = [(vec![2], 0), (vec![3], 1)];
    let data = instances("s0.w", 2, &rows);
    for solver in all_solvers() {
        for (c, margin) in [(1.0, 1.0), (0.1, 0.3)] {
            let model = learn(SvmParams { c, ..params(solver) }, "s0.w", &data);
            for (values, expected) in [([2], margin), ([3], -margin), ([9], 0.0)] {
                let out = scores(&*model, &values);
                assert!((out[0] - expected).abs() < 4e-3, "{solver:?} {c} {values:?} {out:?}");
                assert_eq!(out[1], -out[0]);
            }
        }
    }
}

#[test]
fn degree_two_learns_what_degree_one_cannot() {
    let rows: Vec<_> = [(2, 2, 0), (2, 3, 1), (3, 2, 1), (3, 3, 0)]
        .map(|(a, b, class)| (vec![a, b], class))
        .into();
    let data = instances("s0.w\ns0.t", 2, &rows);
    let solvers = all_solvers().map(|solver| (solver, 2));
    for (solver, degree) in solvers.chain([(Solver::Kernel, 3)]) {
        let model = learn(SvmParams { degree, c: 1.0, ..params(solver) }, "s0.w\ns0.t", &data);
        for (values, class) in &rows {
            assert_eq!(best(&scores(&*model, values)), usize::from(*class), "{solver:?} {degree}");
        }
    }
    let model = learn(SvmParams { degree: 1, c: 1.0, ..params(Solver::Map) }, "s0.w\ns0.t", &data);
    let right =
        rows.iter().filter(|row| best(&scores(&*model, &row.0)) == usize::from(row.1)).count();
    assert!(right < 4);
}

#[test]
fn kernel_and_linfa_agree_with_libsvm() {
    let rows = noisy(150, 5, 7);
    let data = instances(COLUMNS, 5, &rows);
    let kernel = (1..=3).map(|degree| (Solver::Kernel, degree));
    for (solver, degree) in kernel.chain(all_solvers().skip(2).map(|linfa| (linfa, 2))) {
        for c in [0.005, 1.0] {
            let model =
                learn(SvmParams { degree, c, tolerance: 1e-6, ..params(solver) }, COLUMNS, &data);
            for class in 0..5 {
                let expected = libsvm_margins(&rows, class, degree as i32, c);
                for (row, expected) in rows.iter().zip(expected) {
                    let margin = f64::from(scores(&*model, &row.0)[usize::from(class)]);
                    assert!(
                        (margin - expected).abs() < 1e-3,
                        "{solver:?} {degree} {c}: {margin} {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn map_finds_the_margins_of_the_classifier_with_a_regularized_bias() {
    // The rest of the difference is 16-bit weights.
    let rows = noisy(150, 5, 8);
    let data = instances(COLUMNS, 5, &rows);
    for c in [0.005, 0.1] {
        let model = learn(SvmParams { c, ..params(Solver::Map) }, COLUMNS, &data);
        for class in 0..5 {
            for (row, expected) in rows.iter().zip(plain_margins(&rows, class, c)) {
                let margin = f64::from(scores(&*model, &row.0)[usize::from(class)]);
                assert!((margin - expected).abs() < 2e-2, "{c} {class}: {margin} {expected}");
            }
        }
    }
}

#[test]
fn map_and_kernel_choose_the_same_classes() {
    let rows = noisy(600, 7, 9);
    let data = instances(COLUMNS, 7, &rows[..400]);
    let [map, kernel] =
        [Solver::Map, Solver::Kernel].map(|solver| learn(params(solver), COLUMNS, &data));
    let same =
        |row: &&(Vec<u32>, u16)| best(&scores(&*map, &row.0)) == best(&scores(&*kernel, &row.0));
    let n_same = rows[400..].iter().filter(same).count();
    assert!(n_same >= 196, "{n_same} of 200");
}

/// A stored model.
static SMALL: LazyLock<Sections> = LazyLock::new(|| {
    let params = SvmParams { max_epochs: 5, ..params(Solver::Map) };
    let model = learn(params, COLUMNS, &instances(COLUMNS, 7, &noisy(60, 7, 3)));
    let mut sections = Sections::default();
    model.store(&mut sections);
    sections
});

proptest! {
    #[test]
    fn groups_add_up_to_the_kernel(n in 1usize..30, seed: u64, min_pair_count in 0u32..4) {
        let data = instances(COLUMNS, 2, &noisy(n, 2, seed));
        let rows = Rows::new(&data, &indicators(COLUMNS));
        let groups = Groups::new(&rows, Factors::of(2).unwrap(), min_pair_count, &Fit::quiet(1)).unwrap();
        let together = |a: usize, b: usize| rows.row(a).iter().filter(|item| rows.row(b).contains(item)).count();
        for a in 0..rows.len() {
            for b in 0..rows.len() {
                let shared = groups.row(a).iter().filter(|group| groups.row(b).contains(group));
                let own = if a == b { groups.own[a] } else { 0.0 };
                let sum = own + shared.map(|&group| groups.factors[group as usize]).sum::<f32>();
                let whole = kernel(together(a, b) as u32, 2) as f32;
                if min_pair_count <= 1 || (min_pair_count == 2 && a != b) {
                    prop_assert_eq!(sum, whole);
                }
                if a == b {
                    prop_assert_eq!(groups.norms[a], sum);
                }
                prop_assert!(sum <= whole);
            }
        }
    }

    #[test]
    fn every_feature_is_visited_once(n in 1usize..30, seed: u64, min_pair_count in 0u32..4) {
        let data = instances(COLUMNS, 2, &noisy(n, 2, seed));
        let rows = Rows::new(&data, &indicators(COLUMNS));
        let groups = Groups::new(&rows, Factors::of(2).unwrap(), min_pair_count, &Fit::quiet(1)).unwrap();
        let mut expected: BTreeMap<(u32, Option<u32>), u32> = BTreeMap::new();
        for row in 0..rows.len() {
            for (at, &b) in rows.row(row).iter().enumerate() {
                *expected.entry((b, None)).or_default() += 1;
                for &a in &rows.row(row)[..at] {
                    *expected.entry((a, Some(b))).or_default() += 1;
                }
            }
        }
        expected.retain(|key, count| key.1.is_none() || *count >= min_pair_count);
        let mut visited = Vec::new();
        groups.visit(&rows, |feature, _| visited.push(match feature {
            Feature::Single(a) => (a, None),
            Feature::Pair(a, b) => (a, Some(b)),
        }));
        visited.sort_unstable();
        prop_assert_eq!(visited, expected.into_keys().collect::<Vec<_>>());
    }

    #[test]
    fn tables_of_any_words_do_no_harm(words in prop::collection::vec(any::<u32>(), 16..200)) {
        let svm = Svm { params: params(Solver::Map), indicators: indicators(COLUMNS) };
        for name in ["svm.buckets", "svm.weights"] {
            let mut broken = SMALL.clone();
            let whole = &words[..words.len() / 16 * 16];
            let bytes: Vec<u8> = whole.iter().flat_map(|word| word.to_le_bytes()).collect();
            let section = broken.0.iter_mut().find(|section| section.name == name).unwrap();
            section.bytes = bytes.into();
            let model = svm.load(&broken).unwrap();
            for (values, _) in noisy(20, 7, 4) {
                scores(&*model, &values);
            }
        }
    }
}

#[test]
fn many_classes_are_learned_in_blocks_and_threads_change_nothing() {
    let rows: Vec<(Vec<u32>, u16)> = (0..400u32)
        .map(|at| (vec![1 + at % 20, 1 + at / 20 % 3, 1, 1, 1 + at % 7, 1], (at % 20) as u16))
        .collect();
    let data = instances(COLUMNS, 21, &rows);
    let fit = |n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| learn(params(Solver::Map), COLUMNS, &data))
    };
    let (one, four) = (fit(1), fit(4));
    assert_eq!(stored(&*one), stored(&*four));
    for (values, class) in &rows {
        let out = scores(&*one, values);
        assert_eq!(best(&out), usize::from(*class));
        assert_eq!(out[20], f32::NEG_INFINITY, "a class never seen");
    }
}

#[test]
fn a_single_class_and_no_class_need_no_classifier() {
    for solver in all_solvers() {
        let one =
            learn(params(solver), "s0.w", &instances("s0.w", 3, &[(vec![2], 1), (vec![3], 1)]));
        assert_eq!(scores(&*one, &[2]), [f32::NEG_INFINITY, 0.0, f32::NEG_INFINITY]);
        let none = learn(params(solver), "s0.w", &instances("s0.w", 2, &[]));
        assert_eq!(scores(&*none, &[2]), [f32::NEG_INFINITY; 2]);
    }
}

#[test]
fn stored_models_score_the_same_and_broken_ones_are_refused() {
    let rows = noisy(80, 4, 5);
    let data = instances(COLUMNS, 4, &rows);
    for solver in [Solver::Map, Solver::Kernel] {
        let svm = Svm { params: params(solver), indicators: indicators(COLUMNS) };
        let model = learn(params(solver), COLUMNS, &data);
        let mut sections = Sections::default();
        model.store(&mut sections);
        let again = svm.load(&sections).unwrap();
        for (values, _) in &rows {
            assert_eq!(scores(&*model, values), scores(&*again, values));
        }
        for at in 0..sections.0.len() {
            let mut broken = sections.clone();
            let Section { name, .. } = broken.0.remove(at);
            assert!(svm.load(&broken).is_err(), "{solver:?} without {name}");
        }
        let mut few = sections.clone();
        few.0[0].bytes = bytemuck::cast_slice(&[2u32, 2]).to_vec().into();
        assert!(svm.load(&few).is_err(), "classes beyond the last");
        let mut short = sections.clone();
        let section = short
            .0
            .iter_mut()
            .find(|section| section.name != "svm.shape" && section.name != "svm.weights");
        let section = section.unwrap();
        section.bytes = section.bytes[..section.bytes.len() / 4 * 2].to_vec().into();
        assert!(svm.load(&short).is_err(), "half of {}", section_name(&short));
    }
}

fn section_name(sections: &Sections) -> String {
    sections.0.iter().map(|section| section.name.clone()).collect::<Vec<_>>().join(", ")
}

#[test]
fn pruning_makes_tables_smaller_and_leaves_strong_features() {
    let rows = noisy(300, 4, 6);
    let data = instances(COLUMNS, 4, &rows);
    let size =
        |model: &dyn Classifier| stored(model).iter().map(|section| section.1.len()).sum::<usize>();
    let whole = learn(params(Solver::Map), COLUMNS, &data);
    for prune in [
        Pruning { min_row: 0.3, ..Pruning::default() },
        Pruning { max_bytes: size(&*whole) as u64 / 2, ..Pruning::default() },
    ] {
        let model = learn(SvmParams { prune, ..params(Solver::Map) }, COLUMNS, &data);
        assert!(size(&*model) < size(&*whole), "{prune:?}");
        if prune.max_bytes > 0 {
            assert!(
                (size(&*model) as u64) < prune.max_bytes + 1_000,
                "{} {prune:?}",
                size(&*model)
            );
        }
        let right =
            rows.iter().filter(|row| best(&scores(&*model, &row.0)) == usize::from(row.1)).count();
        assert!(right > 200, "{right} {prune:?}");
    }
    // No limit is too small to be tried: then no feature is kept.
    let prune = Pruning { max_bytes: 1, ..Pruning::default() };
    let none = learn(SvmParams { prune, ..params(Solver::Map) }, COLUMNS, &data);
    assert_eq!(scores(&*none, &rows[0].0), scores(&*none, &rows[1].0));
    let cut = learn(SvmParams { min_pair_count: 1_000, ..params(Solver::Map) }, COLUMNS, &data);
    assert!(size(&*cut) < size(&*whole) / 4, "no pairs at all");
}

#[derive(Default)]
struct Kept(Mutex<BTreeMap<String, Sections>>);

impl Checkpoint for Kept {
    fn load(&self, name: &str) -> Option<Sections> {
        self.0.lock().unwrap().get(name).cloned()
    }

    fn save(&self, name: &str, sections: &Sections) {
        self.0.lock().unwrap().insert(name.to_owned(), sections.clone());
    }
}

#[test]
fn kept_parts_are_not_learned_again_and_broken_ones_are() {
    let data = instances(COLUMNS, 4, &noisy(100, 4, 11));
    for solver in [Solver::Map, Solver::Kernel] {
        let kept = Kept::default();
        let fit = |c: f64| {
            let params = SvmParams { c, ..params(solver) };
            let svm = Svm { params, indicators: indicators(COLUMNS) };
            let fit = Fit { checkpoint: Some(&kept), ..Fit::quiet(1) };
            stored(&*svm.fit(&data, &fit).unwrap())
        };
        let model = fit(1.0);
        assert!(!kept.0.lock().unwrap().is_empty());
        // What is taken from the checkpoint does not depend on the setting.
        assert_eq!(fit(0.01), model, "{solver:?}");
        kept.0.lock().unwrap().values_mut().for_each(|sections| sections.0.truncate(1));
        assert_eq!(fit(1.0), model, "{solver:?}");
    }
}

#[test]
fn a_fit_that_is_stopped_in_the_first_pass_ends_early_and_keeps_nothing() {
    let data = instances(COLUMNS, 4, &noisy(100, 4, 12));
    let kept = Kept::default();
    // It is asked once at the beginning, and for each indicator that is grouped.
    let n_grouped = Rows::new(&data, &indicators(COLUMNS)).ids.len();
    let asked = AtomicUsize::new(0);
    let observer = Recorder::new(|| asked.fetch_add(1, Ordering::Relaxed) > n_grouped);
    let fit = Fit { seed: 1, observer: &observer, checkpoint: Some(&kept) };
    let svm = Svm { params: params(Solver::Map), indicators: indicators(COLUMNS) };
    svm.fit(&data, &fit).unwrap();
    let steps = observer.steps();
    assert_eq!(steps.len(), 2, "one pass and the end: {steps:?}");
    assert!(steps[1].1.contains("stopped before it converged"), "{steps:?}");
    assert!(kept.0.lock().unwrap().is_empty());
}

#[test]
fn bad_settings_and_sets_too_large_are_refused_with_what_to_do() {
    let cubic = SvmParams { degree: 3, ..SvmParams::default() };
    assert_eq!(
        cubic.check().unwrap_err().to_string(),
        "degree: must be 1 or 2 for the solver `map`"
    );
    let prune = Pruning { min_updates: 1, ..Pruning::default() };
    let error = SvmParams { prune, ..SvmParams::default() }.check().unwrap_err().to_string();
    assert!(error.starts_with("prune.min_updates: "), "{error}");
    let rows = vec![(vec![2], 0); reference::MAX_INSTANCES + 1];
    let svm = Svm { params: params(Solver::Linfa), indicators: indicators("s0.w") };
    let refused = svm.fit(&instances("s0.w", 2, &rows), &Fit::quiet(1));
    let error = refused.err().unwrap().to_string();
    assert!(error.contains("use `map`"), "{error}");
}

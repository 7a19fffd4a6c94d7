use proptest::prelude::*;

use super::*;
use crate::classifier::Scratch;
use crate::classifier::packed::MAX_CLASSES;
use crate::feature::Templates;
use crate::feature::{Row, RowRef};
use crate::memory::Sections;
use crate::observer::Recorder;

fn templates(text: &str) -> Templates {
    Templates::parse(text, "test").unwrap()
}

fn instances(templates: &Templates, n_classes: usize, rows: &[(&[u32], u16)]) -> Instances {
    let mut instances = Instances::new(templates.columns(), n_classes);
    for (values, class) in rows {
        instances.push(&Row { values: values.to_vec(), members: vec![] }, *class);
    }
    instances
}

fn params(gaussian_prior: f64) -> MaxentParams {
    MaxentParams { iterations: 5000, gaussian_prior, tolerance: 1e-9, ..MaxentParams::default() }
}

fn learn(text: &str, params: MaxentParams, data: &Instances) -> Box<dyn Classifier> {
    let fit = Fit::quiet(1);
    Maxent { params, indicators: Indicators::new(&templates(text)) }.fit(data, &fit).unwrap()
}

fn probabilities(model: &dyn Classifier, values: &[u32]) -> Vec<f32> {
    let mut out = vec![0.0; model.n_classes()];
    model.scores(RowRef { values, members: &[] }, &mut Scratch::default(), &mut out);
    out.iter().map(|score| score.exp()).collect()
}

/// The problem and its optimal weights.
fn solve(text: &str, params: &MaxentParams, data: &Instances) -> (Problem, Vec<f64>) {
    let maxent = Maxent { params: params.clone(), indicators: Indicators::new(&templates(text)) };
    let mut problem = Problem::new(data, &maxent.indicators, params).unwrap();
    let fit = Fit::quiet(1);
    let weights = maxent.minimize(&mut problem, &fit);
    (problem, weights)
}

const PAIR: &str = "s0.w\ns0.t\ns0.w s0.t";

#[test]
fn finds_the_optimum_that_can_be_worked_out_by_hand() {
    // Two words, each four times with its own class: one weight w for each, and by symmetry
    // 4 (1 − σ(w)) = w ÷ σ². A variance of ln 3 makes w = ln 3, and the probabilities 3/4 and 1/4.
    let rows = [(&[2u32][..], 0), (&[3][..], 1)].repeat(4);
    let data = instances(&templates("s0.w"), 2, &rows);
    let (problem, weights) = solve("s0.w", &params(3f64.ln()), &data);
    assert_eq!(problem.n_weights(), 2, "pairs never seen have no weight");
    for weight in weights {
        assert!((weight - 3f64.ln()).abs() < 1e-8, "{weight}");
    }
    let model = learn("s0.w", params(3f64.ln()), &data);
    for (out, expected) in probabilities(&*model, &[3]).iter().zip([0.25, 0.75]) {
        assert!((out - expected).abs() < 1e-4, "{out}");
    }
    assert_eq!(probabilities(&*model, &[9]), [0.5, 0.5], "a word never seen tells nothing");
}

#[test]
fn a_lone_indicator_learns_the_frequencies_of_the_classes() {
    let rows: Vec<(&[u32], u16)> =
        [3, 3, 3, 3, 3, 1, 1, 0].map(|class| (&[7u32][..], class)).to_vec();
    let model = learn("s0.w", params(f64::INFINITY), &instances(&templates("s0.w"), 4, &rows));
    let out = probabilities(&*model, &[7]);
    for (out, expected) in out.iter().zip([0.125, 0.25, 0.0, 0.625]) {
        assert!((out - expected).abs() < 1e-4, "{out} {expected}");
    }
    assert_eq!(out[2], 0.0, "a class never seen has no probability at all");
}

/// Rows over few values, so that classes overlap.
fn some_data() -> impl Strategy<Value = Vec<(u32, u32, u16)>> {
    prop::collection::vec((1u32..4, 0u32..4, 0u16..4), 1..60)
}

fn overlapping(rows: &[(u32, u32, u16)]) -> Instances {
    let mut data = Instances::new(templates(PAIR).columns(), 5);
    for &(word, tag, class) in rows {
        data.push(&Row { values: vec![word, tag], members: vec![] }, class);
    }
    data
}

proptest! {
    #[test]
    fn the_gradient_is_that_of_finite_differences(rows in some_data(), seed in 0u32..1000) {
        let data = overlapping(&rows);
        let mut problem = Problem::new(&data, &Indicators::new(&templates(PAIR)), &params(0.7)).unwrap();
        let n = problem.n_weights();
        let mut at: Vec<f64> = (0..n as u32).map(|i| f64::from((i + 1) * (seed + 7) % 41) / 10.0 - 2.0).collect();
        let (mut gradient, mut unused) = (vec![0.0; n], vec![0.0; n]);
        problem.evaluate(&at, &mut gradient);
        for weight in 0..n {
            let (old, step) = (at[weight], 1e-5);
            at[weight] = old + step;
            let right = problem.evaluate(&at, &mut unused);
            at[weight] = old - step;
            let left = problem.evaluate(&at, &mut unused);
            at[weight] = old;
            let slope = (right - left) / (2.0 * step);
            prop_assert!((slope - gradient[weight]).abs() < 1e-6, "{} {}", slope, gradient[weight]);
        }
    }

    #[test]
    fn probabilities_sum_to_one_and_unseen_classes_have_none(rows in some_data()) {
        let model = learn(PAIR, params(2.0), &overlapping(&rows));
        for (word, tag) in [(1, 1), (3, 2), (9, 9), (0, 0)] {
            let out = probabilities(&*model, &[word, tag]);
            prop_assert!((out.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{:?}", out);
            for (class, &probability) in out.iter().enumerate() {
                let seen = rows.iter().any(|row| usize::from(row.2) == class);
                prop_assert_eq!(probability > 0.0, seen);
            }
        }
    }

    #[test]
    fn expected_and_observed_counts_differ_only_by_the_prior(rows in some_data()) {
        // Where the gradient is zero: Σ p(class | row) − count = −w ÷ σ², for every pair with a weight.
        let (data, variance) = (overlapping(&rows), 1e4);
        let (problem, weights) = solve(PAIR, &params(variance), &data);
        let indicators = Indicators::new(&templates(PAIR));
        let names = problem.weight_names();
        let mut ids = Vec::new();
        let mut excess = vec![0.0; names.len()];
        for at in 0..data.len() {
            indicators.ids(data.row(at), &mut ids);
            let applies = |weight: usize, class: u16| names[weight].1 == class && ids.contains(&names[weight].0);
            let exponentials: Vec<f64> = (0..5)
                .map(|class| {
                    let sum: f64 = (0..names.len()).filter(|&w| applies(w, class)).map(|w| weights[w]).sum();
                    if problem.seen()[usize::from(class)] { sum.exp() } else { 0.0 }
                })
                .collect();
            let total: f64 = exponentials.iter().sum();
            for (weight, excess) in excess.iter_mut().enumerate() {
                let class = names[weight].1;
                if applies(weight, class) {
                    *excess += exponentials[usize::from(class)] / total - f64::from(class == data.class(at));
                }
            }
        }
        for (excess, weight) in excess.iter().zip(&weights) {
            prop_assert!((excess + weight / variance).abs() < 1e-5, "{} {}", excess, weight);
            prop_assert!(excess.abs() < 1e-2);
        }
    }
}

#[test]
fn learns_a_conjunction_by_heart() {
    let rows: [(&[u32], u16); 4] = [(&[2, 2], 1), (&[2, 3], 0), (&[3, 2], 0), (&[3, 3], 1)];
    let model = learn(PAIR, params(100.0), &instances(&templates(PAIR), 2, &rows));
    for (values, class) in rows {
        assert!(probabilities(&*model, values)[usize::from(class)] > 0.9, "{values:?}");
    }
}

/// Enough for many blocks, with a class that is never right.
fn many() -> Instances {
    let mut data = Instances::new(templates(PAIR).columns(), 40);
    let mut random = 1u64;
    for _ in 0..12_000 {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (word, tag) = (1 + (random >> 33) as u32 % 200, 1 + (random >> 45) as u32 % 20);
        let class = (word * 7 + tag + (random >> 60) as u32) % 39;
        data.push(&Row { values: vec![word, tag], members: vec![] }, class as u16);
    }
    data
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let data = many();
    let model = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let params = MaxentParams { iterations: 15, ..MaxentParams::default() };
            let (_, weights) = solve(PAIR, &params, &data);
            let mut sections = Sections::default();
            learn(PAIR, params, &data).store(&mut sections);
            (weights, format!("{sections:?}"))
        })
    };
    let (one, two) = (model(1), model(2));
    assert!(one.0.iter().zip(&two.0).all(|(a, b)| a.to_bits() == b.to_bits()));
    assert_eq!(one.1, two.1);
    assert_eq!(one.1, model(5).1);
}

#[test]
fn a_cutoff_leaves_out_rare_indicators() {
    let rows: [(&[u32], u16); 3] = [(&[2, 2], 0), (&[3, 2], 1), (&[3, 2], 0)];
    let data = instances(&templates(PAIR), 2, &rows);
    let n_weights =
        |cutoff| solve(PAIR, &MaxentParams { cutoff, ..params(2.0) }, &data).0.n_weights();
    // Word 2, word 3, tag 2, and two pairs; all but word 2 and its pair occur with both classes.
    assert_eq!(
        [n_weights(0), n_weights(1), n_weights(2), n_weights(3), n_weights(4)],
        [8, 8, 6, 2, 0]
    );
    let model = learn(PAIR, MaxentParams { cutoff: 9, ..params(2.0) }, &data);
    assert_eq!(probabilities(&*model, &[2, 2]), [0.5, 0.5]);
}

#[test]
fn stops_when_asked_and_tells_how_far_it_is() {
    let data = many();
    let asked = std::sync::atomic::AtomicU32::new(0);
    let observer = Recorder::new(|| asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 3);
    let fit = Fit { observer: &observer, ..Fit::quiet(1) };
    let maxent =
        Maxent { params: MaxentParams::default(), indicators: Indicators::new(&templates(PAIR)) };
    let model = maxent.fit(&data, &fit).unwrap();
    let steps = observer.steps();
    assert_eq!(steps.len(), 3);
    assert!(steps[2].1.starts_with("iteration 3: log-likelihood -"), "{steps:?}");
    assert!((steps[2].0 - 0.01).abs() < 1e-12);
    assert!((probabilities(&*model, &[5, 5]).iter().sum::<f32>() - 1.0).abs() < 1e-5);
}

#[test]
fn refuses_what_it_cannot_take() {
    let refusal = |text: &str, params: MaxentParams, n_classes: usize, rows: &[(&[u32], u16)]| {
        let templates = templates(text);
        let data = instances(&templates, n_classes, rows);
        let fit = Fit::quiet(1);
        let indicators = Indicators::new(&templates);
        match (Maxent { params, indicators }).fit(&data, &fit) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    let rows: &[(&[u32], u16)] = &[(&[2], 0)];
    assert_eq!(refusal("s0.w", params(2.0), 1, rows), "");
    assert!(refusal("s0.kids.n", params(2.0), 1, &[]).contains("drop `.kids`"));
    assert!(refusal("s0.w", params(2.0), MAX_CLASSES + 1, rows).contains("actions"));
    assert!(refusal("s0.w", params(2.0), 1, &[]).contains("no training instances"));
    assert!(refusal("s0.w", params(2.0), 1, &[(&[2], 1)]).contains("class"));
}

#[test]
fn settings_default_and_refuse_unknown_keys() {
    let read: MaxentParams =
        serde_json::from_str("{\"gaussian_prior\":null,\"cutoff\":3}").unwrap();
    assert_eq!(
        read,
        MaxentParams { gaussian_prior: f64::INFINITY, cutoff: 3, ..MaxentParams::default() }
    );
    assert!(serde_json::from_str::<MaxentParams>("{\"gauss\":2}").is_err());
    let kept = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<MaxentParams>(&kept).unwrap(), read);
}

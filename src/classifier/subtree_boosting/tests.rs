use super::*;
use crate::classifier::{Scratch, first_best};
use crate::feature::{Row, Templates};
use crate::memory::Section;
use crate::parallel::with_threads;

/// Two columns and a tree: (9 (8 a b)), with the given labels.
fn row(columns: [u32; 2], [a, b]: [u32; 2]) -> Row {
    let tree = [9, 0, 8, 1, a, 2, b, 3];
    let mut members = vec![tree.len() as u32];
    members.extend(tree);
    Row { values: vec![columns[0], columns[1], 0], members }
}

/// Class 1 if the tree has 5 above 6; else class 0 if exactly one of the columns is 2; else class 2.
fn instances() -> Instances {
    let templates = Templates::parse("s0.n\ns1.n\ntree(2)", "test").unwrap();
    let mut instances = Instances::new(templates.columns(), 4);
    for at in 0..256u32 {
        let value = |bit: u32| 2 + (at >> bit & 3);
        let (columns, tree) = ([value(0), value(2)], [value(4) + 3, value(6) + 3]);
        let class = match (columns, tree) {
            (_, [5, 6]) => 1,
            ([a, b], _) if (a == 2) != (b == 2) => 0,
            _ => 2,
        };
        instances.push(&row(columns, tree), class);
    }
    instances
}

fn learner(max_nodes: u32) -> SubtreeBoosting {
    let params = SubtreeBoostingParams { rounds: 60, max_nodes, min_rows: 1 };
    SubtreeBoosting { params, columns: instances().columns().to_vec() }
}

fn scores(model: &dyn Classifier, instances: &Instances) -> Vec<Vec<f32>> {
    let mut scratch = Scratch::default();
    let score = |at: usize| {
        let mut out = vec![0.0; model.n_classes()];
        model.scores(instances.row(at), &mut scratch, &mut out);
        out
    };
    (0..instances.len()).map(score).collect()
}

fn stored(model: &dyn Classifier) -> Sections {
    let mut sections = Sections::default();
    model.store(&mut sections);
    sections
}

#[test]
fn subtrees_decide_what_single_nodes_cannot() {
    let instances = instances();
    let n_right = |max_nodes: u32| {
        let model = learner(max_nodes).fit(&instances, &Fit::quiet(1)).unwrap();
        let scores = scores(&*model, &instances);
        assert!(scores.iter().all(|scores| scores[3] == f32::NEG_INFINITY));
        let right = |at: &usize| first_best(&scores[*at]) == usize::from(instances.class(*at));
        (0..instances.len()).filter(right).count()
    };
    assert!(n_right(1) < instances.len());
    assert_eq!(n_right(3), instances.len());
}

#[test]
fn scores_are_the_votes_of_the_stumps() {
    let (instances, learner) = (instances(), learner(3));
    let model = learner.fit(&instances, &Fit::quiet(1)).unwrap();
    let scores = scores(&*model, &instances);
    let kinds = kinds(&learner.columns);
    let mut forest = Forest::default();
    (0..instances.len()).for_each(|at| forest.push_row(&kinds, instances.row(at)));
    for class in 0..3 {
        let mut search = Search::new(&forest, &learner.params);
        let sign = |at: usize| if instances.class(at) == class { 1.0 } else { -1.0 };
        let mut weights: Vec<f64> = (0..256).map(|at| sign(at) / 256.0).collect();
        let mut sums = vec![0.0; 256];
        for _ in 0..learner.params.rounds {
            let stump = search.best(&weights).unwrap();
            let confidence = confidence(stump.gain, 256);
            for (sum, row) in sums.iter_mut().zip(0..) {
                let side = if stump.rows.contains(&row) { stump.sign } else { -stump.sign };
                *sum += confidence * side;
            }
            if stump.gain > 1.0 - MIN_GAIN {
                break;
            }
            reweight(&mut weights, &stump, confidence);
            let total: f64 = weights.iter().map(|weight| weight.abs()).sum();
            assert!((total - 1.0).abs() < 1e-9);
        }
        for (scores, sum) in scores.iter().zip(sums) {
            assert!((f64::from(scores[usize::from(class)]) - sum).abs() < 1e-3);
        }
    }
}

#[test]
fn a_model_is_stored_and_does_not_depend_on_the_number_of_threads() {
    let (instances, learner) = (instances(), learner(4));
    let fit = |threads| {
        with_threads(threads, || learner.fit(&instances, &Fit::quiet(1)).unwrap()).unwrap()
    };
    let [one, four] = [fit(1), fit(4)];
    let bytes = |sections: &Sections| -> Vec<Vec<u8>> {
        sections.0.iter().map(|section| section.bytes.to_vec()).collect()
    };
    let sections = stored(&*one);
    assert_eq!(bytes(&sections), bytes(&stored(&*four)));
    let back = learner.load(&sections).unwrap();
    assert_eq!(scores(&*back, &instances), scores(&*one, &instances));
}

#[test]
fn changed_models_are_refused_or_score_without_a_panic() {
    let (instances, learner) = (instances(), learner(3));
    let sections = stored(&*learner.fit(&instances, &Fit::quiet(1)).unwrap());
    let few = instances.select(|at| (at < 8).then_some(0), 4);
    let (mut refused, mut taken) = (0, 0);
    for (changed, section) in sections.0.iter().enumerate() {
        for at in 0..section.bytes.len() {
            for change in [1u8, 0x80, 0xff] {
                let mut bytes = section.bytes.to_vec();
                bytes[at] ^= change;
                let mut sections = sections.clone();
                sections.0[changed] = Section { bytes: bytes.into(), ..section.clone() };
                match learner.load(&sections) {
                    Ok(model) if at % 16 == 0 => taken += scores(&*model, &few).len(),
                    Ok(_) => {}
                    Err(_) => refused += 1,
                }
            }
        }
        let mut cut = sections.clone();
        cut.0[changed].bytes = Vec::new().into();
        assert!(learner.load(&cut).is_err(), "{}", section.name);
    }
    assert!(refused > 0 && taken > 0);
}

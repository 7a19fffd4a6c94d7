use super::*;
use crate::classifier::{Scratch, first_best};
use crate::feature::{Row, Templates};
use crate::memory::Section;
use crate::parallel::with_threads;

const TEMPLATES: &str = "s0.n\ns1.n\ntree(2)";

/// Two columns and a tree: (9 (8 (a b))).
fn row(columns: [u32; 2], [a, b]: [u32; 2]) -> Row {
    let tree = [9, 0, 8, 1, a, 2, b, 3];
    let mut members = vec![tree.len() as u32];
    members.extend(tree);
    Row { values: vec![columns[0], columns[1], 0], members }
}

/// Class 0 if both columns are 2, class 1 if the tree has 5 above 6, else class 2.
fn instances() -> Instances {
    let mut instances = Instances::new(Templates::parse(TEMPLATES, "test").unwrap().columns(), 4);
    for at in 0..256u32 {
        let value = |bit: u32| 2 + (at >> bit & 3);
        let (columns, tree) = ([value(0), value(2)], [value(4) + 3, value(6) + 3]);
        let class = match (columns, tree) {
            ([2, 2], _) => 0,
            (_, [5, 6]) => 1,
            _ => 2,
        };
        instances.push(&row(columns, tree), class);
    }
    instances
}

fn learner(tree_share: f64) -> TreeKernel {
    let templates = Templates::parse(TEMPLATES, "test").unwrap();
    TreeKernel {
        params: TreeKernelParams { tree_share, c: 1e4, ..TreeKernelParams::default() },
        columns: templates.columns(),
        indicators: Indicators::new(&templates),
    }
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
fn trees_and_columns_decide_together_what_neither_can_alone() {
    let instances = instances();
    let n_right = |tree_share: f64| {
        let model = learner(tree_share).fit(&instances, &Fit::quiet(1)).unwrap();
        let scores = scores(&*model, &instances);
        assert!(scores.iter().all(|scores| scores[3] == f32::NEG_INFINITY));
        let right = |at: &usize| first_best(&scores[*at]) == usize::from(instances.class(*at));
        (0..instances.len()).filter(right).count()
    };
    assert!(n_right(0.0) < instances.len() && n_right(1.0) < instances.len());
    assert_eq!(n_right(0.5), instances.len());
}

#[test]
fn a_model_is_stored_and_does_not_depend_on_the_number_of_threads() {
    for tree_share in [0.0, 0.5, 1.0] {
        let (instances, learner) = (instances(), learner(tree_share));
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
}

#[test]
fn only_the_first_instances_are_used() {
    let all = instances();
    let mut learner = learner(0.5);
    learner.params.max_instances = 100;
    let few = all.select(|at| (at < 100).then(|| all.class(at)), 4);
    let fit = |instances| stored(&*learner.fit(instances, &Fit::quiet(1)).unwrap());
    let [all, few] = [fit(&all), fit(&few)];
    assert!(all.0.iter().zip(&few.0).all(|(a, b)| *a.bytes == *b.bytes));
}

#[test]
fn templates_that_do_not_fit_are_refused() {
    let refused = |text: &str, tree_share: f64| {
        let columns = Templates::parse(text, "test").unwrap().columns();
        let params = TreeKernelParams { tree_share, ..TreeKernelParams::default() };
        params.check(&columns).map_err(|error| error.to_string())
    };
    assert!(refused(TEMPLATES, 0.5).is_ok() && refused("tree(3)", 1.0).is_ok());
    assert!(refused("s0.n", 0.0).is_ok());
    for (text, share, problem) in [
        ("s0.n", 0.5, "no tree"),
        ("tree(3)", 0.5, "nothing besides"),
        ("tree(3)\ntree(2)", 1.0, "several"),
    ] {
        let error = refused(text, share).unwrap_err();
        assert!(error.starts_with("tree_share") && error.contains(problem), "{error}");
    }
}

#[test]
fn changed_models_are_refused_or_score_without_a_panic() {
    let (instances, learner) = (instances(), learner(0.5));
    let few = instances.select(|at| (at < 24).then(|| instances.class(at)), 4);
    let sections = stored(&*learner.fit(&few, &Fit::quiet(1)).unwrap());
    let (mut refused, mut taken) = (0, 0);
    for (changed, section) in sections.0.iter().enumerate() {
        for at in 0..section.bytes.len() {
            let mut bytes = section.bytes.to_vec();
            bytes[at] ^= [1u8, 0x80, 0xff][at % 3];
            let mut sections = sections.clone();
            sections.0[changed] = Section { bytes: bytes.into(), ..section.clone() };
            match learner.load(&sections) {
                Ok(model) => {
                    taken += scores(&*model, &few.select(|at| (at == 0).then_some(0), 4)).len();
                }
                Err(_) => refused += 1,
            }
        }
        let mut cut = sections.clone();
        cut.0[changed].bytes = Vec::new().into();
        assert!(learner.load(&cut).is_err(), "{}", section.name);
    }
    assert!(refused > 0 && taken > 0);
}

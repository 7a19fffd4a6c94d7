use super::calibrate::{Calibrate, Method};
use super::meta::Meta;
use super::split::Split;
use super::stack::{Members, Stack};
use super::two_stage::TwoStage;
use super::vote::Vote;
use super::*;
use crate::classifier::decision_tree::C45Params;
use crate::classifier::maxent::{Maxent, MaxentParams};
use crate::classifier::perceptron::{Perceptron, PerceptronParams};
use crate::feature::{Indicators, Row, Templates};
use crate::observer::Recorder;

const TEMPLATES: &str = "s0.t\ns1.t\ns0.t s1.t";

fn templates() -> Templates {
    Templates::parse(TEMPLATES, "test").unwrap()
}

/// Class 0 is the shift; which class is right follows from both tags. Two rows a sentence.
fn data() -> Instances {
    let mut instances = Instances::new(templates().columns(), 5);
    for round in 0..30u32 {
        for (a, b) in [(2, 2), (2, 3), (3, 2), (3, 3), (4, 2), (4, 3)] {
            if b == 2 {
                instances.begin_sentence();
            }
            let class = match (a, b) {
                (2, _) => 0,
                (3, 2) => 1,
                (3, 3) => 2,
                _ => 3,
            };
            // A little noise, so that probabilities have something to tell.
            let class = if round == 7 { 1 } else { class };
            instances.push(&Row { values: vec![a, b], members: vec![] }, class);
        }
    }
    instances
}

fn maxent() -> Box<dyn Learner> {
    let params = MaxentParams { iterations: 30, ..MaxentParams::default() };
    Box::new(Maxent { params, indicators: Indicators::new(&templates()) })
}

fn perceptron() -> Box<dyn Learner> {
    let params = PerceptronParams { epochs: 5, ..PerceptronParams::default() };
    Box::new(Perceptron { params, indicators: Indicators::new(&templates()) })
}

fn fit(learner: &dyn Learner, threads: usize) -> Box<dyn Classifier> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| learner.fit(&data(), &Fit::quiet(1)).unwrap())
}

fn scores(classifier: &dyn Classifier) -> Vec<Vec<f32>> {
    let data = data();
    let mut scratch = Scratch::default();
    let row = |at: usize| {
        let mut out = vec![0.0; classifier.n_classes()];
        classifier.scores(data.row(at), &mut scratch, &mut out);
        out
    };
    (0..6).map(row).collect()
}

fn learners() -> Vec<(&'static str, Box<dyn Learner>)> {
    let shifts = vec![true, false, false, false, false];
    let with_member = Indicators::new(&templates()).with_column(2).with_column(3);
    let params = PerceptronParams { epochs: 5, ..PerceptronParams::default() };
    let last = |indicators: Indicators| -> Box<dyn Learner> {
        Box::new(Perceptron { params: params.clone(), indicators })
    };
    let stack = |from: Members| -> Box<dyn Learner> {
        Box::new(Stack {
            members: vec![maxent(), perceptron()],
            final_learner: last(with_member.clone()),
            from,
        })
    };
    let meta = |probabilities: Vec<u32>| -> Box<dyn Learner> {
        Box::new(Meta {
            members: vec![maxent(), perceptron()],
            selector: last(Indicators::of_columns(&meta::columns(2, &probabilities))),
            probabilities,
            share: 0.3,
        })
    };
    let calibrate = |method: Method| -> Box<dyn Learner> {
        Box::new(Calibrate { learner: perceptron(), method, share: 0.3 })
    };
    vec![
        ("two stages", Box::new(TwoStage { first: maxent(), second: maxent(), shifts })),
        ("two stages of trees", two_stages_of_trees()),
        ("split", Box::new(Split { column: 0, min_rows: 40, learner: perceptron() })),
        ("vote", Box::new(Vote { members: vec![maxent(), perceptron()] })),
        ("stack, held out", stack(Members::HeldOut { share: 0.3 })),
        ("stack, last sentences", stack(Members::LastSentences { number: 5 })),
        ("stack, out of fold", stack(Members::OutOfFold { folds: 3 })),
        ("meta", meta(vec![])),
        ("meta with one probability", meta(vec![0])),
        ("platt", calibrate(Method::Platt)),
        ("isotonic", calibrate(Method::Isotonic)),
    ]
}

#[test]
fn every_combination_learns_its_lesson_and_never_wants_an_unseen_class() {
    for (name, learner) in learners() {
        let all = scores(&*fit(&*learner, 2));
        let best: Vec<usize> = all.iter().map(|scores| first_best(scores)).collect();
        assert_eq!(best, [0, 0, 1, 2, 3, 3], "{name}: {all:?}");
        assert!(all.iter().all(|scores| scores[4] == f32::NEG_INFINITY), "{name}: {all:?}");
    }
}

fn two_stages_of_trees() -> Box<dyn Learner> {
    let tree = || Box::new(C45Params::default()) as Box<dyn Learner>;
    let shifts = vec![true, false, false, false, false];
    Box::new(TwoStage { first: tree(), second: tree(), shifts })
}

#[test]
fn two_stages_know_their_best_class_without_scoring_all() {
    let classifier = fit(&*two_stages_of_trees(), 1);
    for a in 0..6 {
        for b in 0..5 {
            let row = Row { values: vec![a, b], members: vec![] };
            let mut scores = vec![0.0; classifier.n_classes()];
            classifier.scores(row.borrow(), &mut Scratch::default(), &mut scores);
            let best = first_best(&scores);
            let known = classifier.best(row.borrow(), &mut |_| true, &mut Scratch::default());
            assert_eq!(known, Some((best as u16, scores[best])), "{a} {b}");
        }
    }
}

#[test]
fn what_is_stored_scores_the_same_and_threads_change_nothing() {
    for (name, learner) in learners() {
        let fitted = fit(&*learner, 1);
        let sections = stored(&*fitted);
        let loaded = learner.load(&sections).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(scores(&*loaded), scores(&*fitted), "{name}");
        let again = stored(&*fit(&*learner, 8));
        let bytes = |sections: &Sections| {
            sections.0.iter().map(|s| (s.name.clone(), s.bytes.to_vec())).collect::<Vec<_>>()
        };
        assert_eq!(bytes(&again), bytes(&sections), "{name}");
    }
}

#[test]
fn every_section_is_needed() {
    for (name, learner) in learners() {
        let sections = stored(&*fit(&*learner, 2));
        for missing in 0..sections.0.len() {
            let mut broken = sections.clone();
            let section = broken.0.remove(missing);
            assert!(learner.load(&broken).is_err(), "{name} loads without {}", section.name);
        }
    }
}

#[test]
fn probabilities_sum_to_one() {
    for (name, learner) in learners() {
        let fitted = fit(&*learner, 2);
        if fitted.scale() == crate::classifier::ScoreScale::LogProb {
            for row in scores(&*fitted) {
                let sum: f32 = row.iter().map(|score| score.exp()).sum();
                assert!((sum - 1.0).abs() < 1e-4, "{name}: {sum}");
            }
        }
    }
}

#[test]
fn held_out_data_and_folds_keep_sentences_whole() {
    let data = data();
    let (first, last) = hold_out(&data, 0.3);
    assert_eq!((first.len(), last.len()), (126, 54));
    let sentences = data.sentences();
    let (first, last) = split_off(&data, 7).unwrap();
    assert_eq!(first.len(), sentences[sentences.len() - 7].start);
    assert_eq!((first.len() + last.len(), last.sentences().len()), (data.len(), 7));
    assert!(split_off(&data, sentences.len()).is_err());
    assert_eq!(folds(&data, 4).iter().map(Range::len).collect::<Vec<_>>(), [44, 46, 44, 46]);
    let one = data.select(|at| (at < 2).then_some(0), 5);
    assert_eq!(folds(&one, 4), vec![0..2]);
}

#[test]
fn a_checkpoint_saves_work() {
    #[derive(Default)]
    struct Kept(std::sync::Mutex<std::collections::BTreeMap<String, Sections>>);
    impl Checkpoint for Kept {
        fn load(&self, name: &str) -> Option<Sections> {
            self.0.lock().unwrap().get(name).cloned()
        }
        fn save(&self, name: &str, sections: &Sections) {
            self.0.lock().unwrap().insert(name.to_owned(), sections.clone());
        }
    }
    for (name, learner) in learners() {
        let kept = Kept::default();
        let run = |told: &mut Vec<String>| {
            let observer = Recorder::new(|| false);
            let fit = Fit { seed: 1, observer: &observer, checkpoint: Some(&kept) };
            let scores = scores(&*learner.fit(&data(), &fit).unwrap());
            told.extend(observer.steps().into_iter().map(|(_, text)| text));
            scores
        };
        let (mut first, mut second) = (Vec::new(), Vec::new());
        assert_eq!(run(&mut first), run(&mut second), "{name}");
        assert!(!first.iter().any(|text| text.contains("checkpoint")), "{name}");
        let taken =
            |text: &String| text.contains("loaded from the checkpoint") || text.contains("done");
        assert!(second.iter().all(taken), "{name}: {second:?}");
    }
}

//! Learning from other parsers: from the probabilities of a teacher, and from silver trees.

use crate::common::observer::Log;
use srparse::{Model, Preset, Trainer, Tree, Treebank};

const SMALL: &[&str] = &[
    "learner.epochs=2",
    "learner.network={ kind = \"positions\", untagged = 0.6, hidden_dim = 8, encoder = { word_dim = 8, \
     ngram_dim = 4, ngram_rows = 16, lstm_dim = 8 } }",
];
const STACK_LSTM: &[&str] = &["learner.epochs=1", "network.lstm_dim=8", "network.input_dim=8"];

fn trainer<'a>(preset: &str, settings: &[&str]) -> Trainer<'a> {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    Trainer::with_preset(Preset::load(preset, &settings).unwrap()).unwrap()
}

fn train(trainer: &Trainer<'_>) -> srparse::Result<Model> {
    trainer.train(&crate::tiny::treebank(), &Treebank::default())
}

/// A small network with that weight of its teacher.
fn student<'a>(weight: &str) -> Trainer<'a> {
    let weight = format!("learner.teacher_weight={weight}");
    trainer("accurate", &[SMALL, &[&weight]].concat())
}

#[test]
fn a_teacher_changes_what_is_learned_by_its_weight() {
    let teacher = train(&trainer("accurate", SMALL).seed(7)).unwrap();
    let taught =
        |weight| train(&student(weight).teachers(vec![teacher.clone()])).unwrap().to_bytes();
    let untaught = |weight| train(&student(weight)).unwrap().to_bytes();
    assert!(taught("0") == untaught("0"));
    assert!(taught("0.5") != untaught("0.5"));
    assert!(taught("0.5") == taught("0.5"));
}

#[test]
fn a_student_learns_what_its_teacher_knows() {
    let long = ["learner.epochs=30", "learner.batch=1", "learner.dropout=0", "optimizer.rate=0.02"];
    let settings = [SMALL, &long, &["learner.teacher_weight=1"]].concat();
    let untrained = train(&trainer("accurate", SMALL)).unwrap();
    let trained = train(&trainer("accurate", &settings)).unwrap();
    let accuracy = |teacher| {
        let log = Log::stopping_at(u64::MAX);
        train(&trainer("accurate", &settings).observe(&log).teachers(vec![teacher])).unwrap();
        let text = log.text();
        let (_, last) = text.rsplit_once("training accuracy ").unwrap();
        last.split(' ').next().unwrap().parse::<f64>().unwrap()
    };
    let [untrained, trained] = [untrained, trained].map(accuracy);
    assert!(trained > untrained + 30.0, "{trained}, {untrained}");
}

#[test]
fn an_ensemble_and_a_stack_lstm_can_teach() {
    let ensemble = train(&trainer("accurate", &[SMALL, &["learner.models=2"]].concat())).unwrap();
    train(&student("1").teachers(vec![ensemble.clone(), ensemble])).unwrap();
    let stack_lstm = train(&trainer("liu-zhang-2017", STACK_LSTM)).unwrap();
    train(&trainer("liu-zhang-2017", STACK_LSTM).teachers(vec![stack_lstm])).unwrap();
}

#[test]
fn unsuitable_teachers_are_refused() {
    let network = || train(&trainer("accurate", SMALL)).unwrap();
    let refused = |trainer: Trainer<'_>, teacher: Model| {
        train(&trainer.teachers(vec![teacher])).map(drop).unwrap_err().to_string()
    };
    let linear = ["learner.epochs=1"];
    let error = refused(trainer("fast", &linear), network());
    assert!(error.contains("teacher") && error.contains("only networks"), "{error}");
    let error = refused(student("0.5"), train(&trainer("fast", &linear)).unwrap());
    assert!(error.contains("not probabilities"), "{error}");
    let error = refused(trainer("accurate", &[SMALL, &["system.heads=left"]].concat()), network());
    assert!(error.contains("another head table"), "{error}");
    let settings = [SMALL, &["clean.lowercase=true"]].concat();
    let error = refused(trainer("accurate", &settings), network());
    assert!(error.contains("another cleaning"), "{error}");
    let error = refused(student("0.5"), train(&trainer("tagger", &["epochs=1"])).unwrap());
    assert!(error.contains("model 1 has a tagger but no parser"), "{error}");
    // A model that was read is named by its file.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("linear.srm");
    train(&trainer("fast", &linear)).unwrap().save(&file).unwrap();
    let error = refused(student("0.5"), Model::open(&file).unwrap());
    assert!(error.contains("linear.srm has scores that are not probabilities"), "{error}");
    let error = refused(student("0.5"), train(&trainer("dyer-2016", STACK_LSTM)).unwrap());
    assert!(error.contains("another transition system"), "{error}");
}

/// They matter to texts only.
#[test]
fn a_teacher_may_have_other_attached_words() {
    let teacher = train(&trainer("accurate", SMALL)).unwrap();
    let settings = [SMALL, &["clean.attached=[\"'s\"]"]].concat();
    train(&trainer("accurate", &settings).teachers(vec![teacher])).unwrap();
}

#[test]
fn silver_trees_are_used_by_their_share() {
    let silver = crate::tiny::treebank();
    let with = |preset, settings: &[&str], share| {
        let model = train(&trainer(preset, settings).silver(&silver, share)).unwrap();
        assert_eq!(model.header.training.trees, 2 * silver.trees.len() as u64);
        model.to_bytes()
    };
    for (preset, settings) in
        [("fast", &["learner.epochs=2"][..]), ("beam", &["learner.epochs=2"]), ("accurate", SMALL)]
    {
        let [none, half, all] = [0.0, 0.5, 1.0].map(|share| with(preset, settings, share));
        assert!(none != half && half != all && none != all, "{preset}");
        assert!(half == with(preset, settings, 0.5), "{preset}");
    }
}

#[test]
fn silver_trees_with_labels_that_the_treebank_does_not_have_are_left_out() {
    let tiny = crate::tiny::treebank();
    let unknown: Tree = "(TOP (QP (NN dogs) (NN cats)))".parse().unwrap();
    let mut silver = tiny.clone();
    silver.trees.extend([unknown.clone(), unknown.clone()]);
    let model = train(&trainer("fast", &[]).silver(&silver, 0.5)).unwrap();
    assert_eq!(model.header.training.trees, 2 * tiny.trees.len() as u64);
    assert_eq!(model.header.training.skipped.len(), 2);
    silver.trees = vec![unknown];
    let error =
        train(&trainer("fast", &[]).silver(&silver, 0.5)).map(drop).unwrap_err().to_string();
    let says =
        "1 of 1 silver trees cannot be rebuilt: the silver tree of \"dogs cats\": the label QP";
    assert!(error.contains(says), "{error}");
}

#[test]
fn silver_trees_need_words_and_a_learner_with_epochs() {
    let empty = Treebank { trees: vec![Tree::default()], ..Treebank::default() };
    let error = train(&trainer("fast", &[]).silver(&empty, 0.5)).map(drop).unwrap_err().to_string();
    assert!(error.contains("no silver tree is left: all are empty after cleaning"), "{error}");
    let silver = crate::tiny::treebank();
    let error = train(&trainer("kalt-2004-sr-l", &[]).silver(&silver, 0.5))
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(error.contains("silver") && error.contains("no epochs"), "{error}");
}

//! What every learner of instances promises, and that adding a learner or a transition system touches no more files than
//! CONTRIBUTING.md says.

use std::path::{Path, PathBuf};

use srparse::preset::schema::kinds;
use srparse::{Parser, Preset, Threads, Trainer, Treebank};

use crate::common::toy;

/// Every learner: its kind, settings that keep it small, and the type of its settings.
const LEARNERS: [(&str, &str, &str); 15] = [
    ("perceptron", "epochs = 3", "PerceptronParams"),
    ("maxent", "iterations = 20", "MaxentParams"),
    ("svm", "", "SvmParams"),
    ("split", "column = 's0.t', min_rows = 5, learner = { kind = 'maxent' }", "SplitChoice"),
    ("two-stage", "first = { kind = 'c45' }, second = { kind = 'perceptron' }", "TwoStageChoice"),
    ("vote", "members = [{ kind = 'perceptron' }, { kind = 'knn' }]", "VoteChoice"),
    (
        "stack",
        "from = { kind = 'held-out', share = 0.3 }, members = [{ kind = 'knn' }], \
         final_learner = { kind = 'maxent' }",
        "StackChoice",
    ),
    ("meta", "members = [{ kind = 'maxent' }], selector = { kind = 'c45' }", "MetaChoice"),
    ("calibrate", "learner = { kind = 'perceptron' }", "CalibrateChoice"),
    ("knn", "", "KnnParams"),
    ("c45", "", "C45Params"),
    ("cart", "", "CartParams"),
    ("boosting", "min_reduction = 1.0", "BoostingParams"),
    ("subtree-boosting", "rounds = 5", "SubtreeBoostingParams"),
    ("tree-kernel", "tree_share = 0.0", "TreeKernelParams"),
];

/// The kinds of `[learner]` that are no learners of instances.
const OTHER_WAYS: [&str; 3] = ["online-perceptron", "structured-perceptron", "neural"];

#[test]
fn every_learner_learns_and_the_same_on_any_number_of_threads() {
    let known: Vec<&str> =
        kinds("learner").into_iter().filter(|kind| !OTHER_WAYS.contains(kind)).collect();
    let mut listed = LEARNERS.map(|(kind, ..)| kind).to_vec();
    assert!(known.iter().all(|kind| listed.contains(kind)), "not listed: {known:?}");
    listed.retain(|kind| !known.contains(kind));
    assert_eq!(listed, [""; 0], "listed, but gone");
    let trees = Treebank { files: vec!["toy".to_owned()], trees: toy::treebank(20, 1) };
    for (kind, settings, _) in LEARNERS {
        let comma = if settings.is_empty() { "" } else { ", " };
        let learner = match kind {
            // Alone it learns from candidates.
            "boosting" => format!("kind = 'vote', members = [{{ kind = 'boosting', {settings} }}]"),
            _ => format!("kind = '{kind}'{comma}{settings}"),
        };
        let settings = [
            format!("learner={{ {learner} }}"),
            "tagger={ kind = 'none' }".to_owned(),
            "features.templates=sagae-lavie-2005".to_owned(),
        ];
        let preset = Preset::load("binary-dynamic", &settings).unwrap();
        let train = |threads: usize| {
            let trainer = Trainer::with_preset(preset.clone()).unwrap();
            let model = Threads(threads).run(|| trainer.train(&trees, &Treebank::default()));
            model.unwrap().unwrap_or_else(|error| panic!("{kind}: {error}"))
        };
        let (one, three) = (train(1), train(3));
        assert!(one.to_bytes() == three.to_bytes(), "{kind}: threads change the model");
        let parser = Parser::new(&one, &[]).unwrap();
        let is_exact = |tree: &&srparse::Tree| {
            let parse = parser.parse(tree.tokens()).unwrap();
            srparse::oracle::replay::same_brackets(&parse.tree, tree)
        };
        let exact = trees.trees.iter().filter(is_exact).count();
        assert!(exact >= 5, "{kind}: {exact} of 20");
    }
}

/// All Rust files of the library below a folder, relative to `src`, with their code.
fn files(folder: &Path, source: &Path, out: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            files(&path, source, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(source).unwrap().to_str().unwrap().replace('\\', "/");
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
            out.push((name, lines.collect::<Vec<_>>().join("\n")));
        }
    }
}

/// The files that name a type, besides the one that defines it, its folder, and tests.
fn users(of: &str, files: &[(String, String)]) -> Vec<String> {
    let is_word = |code: &str, at: usize| {
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !is_part(code[..at].chars().next_back()) && !is_part(code[at + of.len()..].chars().next())
    };
    let names = |code: &str| code.match_indices(of).any(|(at, _)| is_word(code, at));
    let defines = |code: &str| code.contains(&format!("pub struct {of} "));
    let (home, _) = files.iter().find(|(_, code)| defines(code)).unwrap();
    let folder = home.strip_suffix("/mod.rs").or(home.strip_suffix(".rs")).unwrap();
    let mut users: Vec<String> = files
        .iter()
        .filter(|(name, code)| {
            names(code) && name != home && !name.starts_with(&format!("{folder}/"))
        })
        .map(|(name, _)| name.clone())
        .filter(|name| !name.ends_with("tests.rs"))
        .collect();
    users.sort();
    users
}

#[test]
fn a_learner_is_known_to_its_file_and_the_list_of_learners() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&source, &source, &mut all);
    for (kind, _, params) in LEARNERS {
        let mut users = users(params, &all);
        // The folder of decision trees names those of its files; boosted trees are a way to train too.
        users.retain(|user| user != "classifier/decision_tree/mod.rs");
        if kind == "boosting" {
            users.retain(|user| user.starts_with("preset/learner"));
        }
        let list: &[&str] = if params.ends_with("Choice") { &[] } else { &["preset/learner.rs"] };
        assert_eq!(users, list, "{kind}");
    }
}

#[test]
fn a_transition_system_is_known_to_its_file_and_the_registry() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&source, &source, &mut all);
    for system in ["binary", "non_binary", "bracketing", "predictive", "items"] {
        let module = format!("crate::transition::{system}::");
        let uses = |(name, code): &&(String, String)| {
            code.contains(&module)
                && !name.starts_with("transition/")
                && !name.ends_with("tests.rs")
        };
        let users: Vec<&str> = all.iter().filter(uses).map(|(name, _)| name.as_str()).collect();
        // Settings of item systems are those of presets.
        let known = ["preset/mod.rs", "preset/registry.rs"];
        assert!(users.contains(&"preset/registry.rs"), "{system}");
        assert!(users.iter().all(|user| known.contains(user)), "{system}: {users:?}");
    }
}

use super::*;
use crate::classifier::perceptron::PerceptronParams;
use crate::error::Error;
use crate::preset::plan::Plan;
use crate::preset::{LearnerChoice, MethodChoice};

fn refused(settings: &str) -> String {
    match Preset::parse(settings, "my.toml", &[]) {
        Ok(_) => panic!("{settings}: not refused"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn values_out_of_range_are_named_with_their_place_and_range() {
    for (text, says) in [
        (
            "[learner]\nkind = 'maxent'\niterations = 0",
            "my.toml:3:1: learner.iterations: must be 1 to 100000, not 0",
        ),
        (
            "[learner]\nkind = 'maxent'\ngaussian_prior = 0",
            "learner.gaussian_prior: must be above 0, or inf",
        ),
        (
            "[learner]\nkind = 'maxent'\ngaussian_prior = nan",
            "learner.gaussian_prior: is not a number",
        ),
        (
            "[learner]\nkind = 'maxent'\ntolerance = 1.0",
            "learner.tolerance: must be 0 or more, below 1",
        ),
        ("[learner]\nkind = 'svm'\nc = inf", "learner.c: must be 1e-6 to 1000000, not inf"),
        (
            "[learner]\nkind = 'svm'\ndegree = 1.5",
            "learner.degree: must be a whole number, 1 to 16",
        ),
        ("[learner]\nkind = 'knn'\nmetric = 'mdvm'", "unknown value `mdvm`: did you mean `mvdm`?"),
        (
            "[learner]\nkind = 'c45'\nconfidence = 0.6",
            "must be above 0, at most 0.5, or 1, not 0.6",
        ),
        ("[learner]\nkind = 'neural'\nmoving_average = 3.0", "must be 0, or 16 to 1000000, not 3"),
        (
            "[learner]\nkind = 'neural'\nnetwork = { kind = 'positions', hidden_dim = 5000 }",
            "learner.network.hidden_dim: must be 1 to 4096",
        ),
        (
            "[learner]\nkind = 'neural'\noptimizer = { kind = 'adam', rate = 0.0 }",
            "learner.optimizer.rate: must be above 0",
        ),
        ("[learner]\nkind = 'vote'\nmembers = []", "learner.members: the list is empty"),
        ("[learner]\nkind = 'vote'", "learner.members: is missing"),
        ("[learner]\nkind = 'vots'", "learner.kind: unknown kind `vots`: did you mean `vote`?"),
        ("[learner]\nepochs = 3", "learner.kind: is missing"),
        (
            "[system]\nkind = 'items'\nmax_children = 1",
            "system.max_children: must be 2 to 65535, or auto",
        ),
        ("learner = 3", "learner: must be a table: write learner = { … }, or"),
        ("[learner]\nkind = 'vote'\nmembers = [3]", "members.0: must be a table: write { … }, or"),
        ("[clean]\nrelabel = 'A B'", "clean.relabel: must be a list: write relabel = [ … ]"),
        ("jackknife = 1", "jackknife: must be 0, or 2 to 100"),
        ("[search]\nbeam = 100000", "search.beam: must be 1 to 4096"),
    ] {
        let error = refused(text);
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn a_member_of_a_vote_is_named_by_its_whole_path() {
    let members = "[[learner.members]]\nkind = 'maxent'\n[[learner.members]]\n";
    let vote = |second: &str| format!("[learner]\nkind = 'vote'\n{members}{second}");
    let error = refused(&vote("kind = 'perceptron'\nepochs = 0"));
    assert_eq!(error, "my.toml:7:1: learner.members.1.epochs: must be 1 to 100000, not 0");
    let preset = Preset::parse(&vote("kind = 'svm'\ndegree = 3"), "test", &[]).unwrap();
    let error = Plan::new(preset).unwrap_err().to_string();
    assert!(error.starts_with("learner.members.1.degree: "), "{error}");
    // A way to train that is no learner of instances cannot be a member.
    let error = refused(&vote("kind = 'online-perceptron'"));
    assert!(error.contains("learner.members.1.kind: unknown kind"), "{error}");
}

#[test]
fn presets_made_in_code_are_checked_too() {
    let learner = PerceptronParams { epochs: 0, ..PerceptronParams::default() };
    let preset = Preset {
        learner: MethodChoice::Batch(LearnerChoice::Perceptron(learner)),
        ..Preset::default()
    };
    let Err(Error::Config { key, .. }) = preset.check() else { panic!("not refused") };
    assert_eq!(key, "learner.epochs");
}

/// Every number has a limit on both sides, except where infinity has a meaning, and every key an explanation.
#[test]
fn every_setting_is_explained_and_limited() {
    fn visit(node: Node, path: &str, seen: &mut Vec<&'static str>) {
        if let Some(name) = node.type_name() {
            if seen.contains(&name) {
                return;
            }
            seen.push(name);
        }
        let node = node.resolved();
        let is_number = matches!(node.text("type"), Some("integer" | "number"));
        if is_number && node.list("anyOf").next().is_none() && !path.ends_with("gaussian_prior") {
            assert!(
                node.interval(number).contains("to")
                    || node.interval(number).contains(" at most ")
                    || node.interval(number).contains("below"),
                "{path}: {}",
                node.interval(number)
            );
        }
        let variants = node.variants().into_iter().map(|(_, node)| node);
        for table in variants.chain([node]) {
            for (key, inner) in table.properties().filter(|(key, _)| *key != "kind") {
                assert!(!inner.description().is_empty(), "{path}.{key}");
                visit(inner, &format!("{path}.{key}"), seen);
            }
        }
    }
    visit(Node::root(), "", &mut Vec::new());
}

//! `srparse parse --trace`: the decisions of a model, the hypotheses of its beam, and what decided.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::command::{folder, model, parse, sample, srparse, text};

/// What `srparse parse` prints with a model.
fn printed(model: &Path, options: &[&str], input: &str) -> String {
    let mut command = srparse(&["parse", "-q", "--model"]);
    let done = command.arg(model).args(options).write_stdin(input).assert().success();
    text(&done.get_output().stdout)
}

/// The parses of sentences by a model, one JSON object for each.
fn parses(model: &Path, options: &[&str], input: &str) -> Vec<Value> {
    let printed = printed(model, &[&["--output", "json"], options].concat(), input);
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The traces of sentences by a model.
fn traces(model: &Path, options: &[&str], input: &str) -> Vec<Value> {
    parses(model, &[&["--trace=3"], options].concat(), input)
}

/// A model that was trained on the sample.
fn trained(options: &[&str], preset: Option<&str>) -> (TempDir, PathBuf) {
    let folder = folder(&[("preset.toml", preset.unwrap_or_default().as_bytes())]);
    let mut train = srparse(&["train", "--quiet", "--no-tagger", "--model", "trained.srm"]);
    train.args(options).arg("--train").arg(sample("train.mrg"));
    train.current_dir(&folder).assert().success();
    let path = folder.path().join("trained.srm");
    (folder, path)
}

/// A model that searches with a beam.
fn beam_model() -> &'static Path {
    static MODEL: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
        let preset = ["--preset", "beam", "--set", "search.beam=6"];
        let quick = ["--set", "learner.epochs=2", "--set", "learner.models=1"];
        trained(&[preset, quick].concat(), None)
    });
    &MODEL.1
}

/// The trees of the sample's development set.
fn dev() -> String {
    std::fs::read_to_string(sample("dev.mrg")).unwrap()
}

fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().unwrap_or_else(|| panic!("{key} of {of}"))
}

/// A constituent of a trace in brackets.
fn brackets(trace: &Value, id: &Value) -> String {
    let built = &trace["constituents"][usize::try_from(id.as_u64().unwrap()).unwrap()];
    if let Some(label) = built["label"].as_str() {
        let children = list(built, "children").iter().map(|child| brackets(trace, child));
        return format!("({label} {})", children.collect::<Vec<_>>().join(" "));
    }
    let token = usize::try_from(built["start"].as_u64().unwrap()).unwrap();
    let [tag, word] = ["tags", "words"].map(|key| trace[key][token].as_str().unwrap());
    format!("({tag} {word})")
}

#[test]
fn a_trace_ranks_actions_and_takes_the_best_legal_one() {
    let traces = traces(model(), &[], "The/DT dog/NN barks/VBZ ./.\nDogs/NNS bark/VBP ./.\n");
    assert_eq!(traces.len(), 2);
    for trace in &traces {
        let steps = trace["steps"].as_array().unwrap();
        let (last, steps) = steps.split_last().unwrap();
        assert!(last["action"].is_null() && last.get("decision").is_none());
        assert_eq!(last["buffer"], trace["words"].as_array().unwrap().len());
        for step in steps {
            let ranked = step["decision"]["ranked"].as_array().unwrap();
            assert!((1..=4).contains(&ranked.len()), "{step}");
            let scores: Vec<f64> = ranked.iter().filter_map(|one| one["score"].as_f64()).collect();
            assert!(scores.is_sorted_by(|a, b| a >= b), "{step}");
            let best = ranked.iter().find(|one| one["legal"] == true).unwrap();
            assert_eq!((&best["taken"], &best["action"]), (&true.into(), &step["action"]));
            assert!(best.get("cost").is_none(), "{step}");
        }
    }
}

#[test]
fn a_trace_finds_where_the_gold_path_is_left_and_what_it_costs() {
    let parsed = parse(&["-q"]).write_stdin("Dogs/NNS bark/VBP ./.\n").output().unwrap();
    let parsed = text(&parsed.stdout);
    let other = parsed.replace("(VP ", "(XX ").replace("(NP ", "(VP ");
    let traces = traces(model(), &["--input", "penn"], &format!("{parsed}{other}"));
    assert!(traces[0].get("left_gold").is_none(), "{}", traces[0]);
    let steps = traces[0]["steps"].as_array().unwrap();
    for step in &steps[..steps.len() - 1] {
        let correct = step["decision"]["correct"].as_array().unwrap();
        assert!(correct.contains(&step["action"]), "{step}");
    }
    // The model does not know the label XX, so its system cannot build that tree.
    assert!(traces[1]["left_gold"].is_u64() || traces[1]["unfit"].is_string(), "{}", traces[1]);
}

#[test]
fn a_trace_builds_the_tree_of_the_parse_whatever_the_search() {
    for (model, search) in
        [(model(), &[][..]), (beam_model(), &[]), (beam_model(), &["--beam", "2"])]
    {
        let options = [&["--input", "penn"], search].concat();
        let (traces, parses) = (traces(model, &options, &dev()), parses(model, &options, &dev()));
        assert_eq!(traces.len(), parses.len());
        for (trace, parse) in traces.iter().zip(&parses) {
            assert_eq!(
                [&trace["score"], &trace["complete"]],
                [&parse["score"], &parse["complete"]]
            );
            let last = list(trace, "steps").last().unwrap();
            let stack = list(last, "stack").iter().map(|id| brackets(trace, id));
            let tree = stack.collect::<Vec<_>>().join(" ");
            let parse = parse["tree"].as_str().unwrap();
            assert!(tree == parse || format!("(TOP {tree})") == parse, "{tree}\n{parse}");
        }
    }
}

#[test]
fn every_step_of_a_beam_has_the_winner_and_where_it_comes_from() {
    let (mut below, mut idle) = (0, 0);
    for trace in traces(beam_model(), &["--input", "penn"], &dev()) {
        let (beam, steps) = (&trace["beam"], list(&trace, "steps"));
        assert_eq!(beam["width"], 6);
        let beams = list(beam, "steps");
        assert!(beams.len() >= steps.len() - 1, "{beam}");
        idle += beams.len() - (steps.len() - 1);
        let mut before = &Value::from(1);
        for (at, beam) in beams.iter().enumerate() {
            let hypotheses = list(beam, "hypotheses");
            let ranks: Vec<u64> =
                hypotheses.iter().map(|one| one["rank"].as_u64().unwrap()).collect();
            let (size, rank) = (beam["size"].as_u64().unwrap(), beam["rank"].as_u64().unwrap());
            assert!(rank <= size && size <= 6, "{beam}");
            // The three best, and the winner if it is not one of them.
            let listed = (1..=size).filter(|&one| one <= 3 || one == rank);
            assert_eq!(ranks, listed.collect::<Vec<_>>(), "{beam}");
            let scores: Vec<f64> =
                hypotheses.iter().map(|one| one["score"].as_f64().unwrap()).collect();
            assert!(scores.is_sorted_by(|a, b| a >= b), "{beam}");
            let winners: Vec<&Value> =
                hypotheses.iter().filter(|one| one["winner"] == true).collect();
            assert_eq!(winners.len(), 1, "{beam}");
            assert_eq!(
                [&winners[0]["rank"], &winners[0]["from"]],
                [&beam["rank"], before],
                "{beam}"
            );
            let action = steps.get(at).map_or(&Value::Null, |step| &step["action"]);
            assert_eq!(&winners[0]["action"], action, "{beam}");
            before = &beam["rank"];
            below += usize::from(rank > 1);
        }
        let margins: Vec<f64> = beams.iter().filter_map(|beam| beam["margin"].as_f64()).collect();
        assert!(margins.iter().all(|margin| (0.0..=1200.0).contains(margin)), "{margins:?}");
        let nearest = usize::try_from(beam["nearly_lost"].as_u64().unwrap()).unwrap();
        let least = margins.iter().copied().min_by(f64::total_cmp);
        assert_eq!(beams[nearest]["margin"].as_f64(), least, "{beam}");
    }
    assert!(below > 0 && idle > 0, "{below} {idle}");
}

#[test]
fn a_beam_is_shown_in_text_and_greedy_search_has_none() {
    let sentence = "The/DT dog/NN barks/VBZ ./.\n";
    let beam = printed(beam_model(), &["--trace=2"], sentence);
    let winners = beam.lines().filter(|line| line.contains(", winner")).count();
    let steps = beam.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    assert_eq!(winners, steps.count(), "{beam}");
    assert!(beam.contains("\tbeam 1\t") && beam.contains("\n# nearly lost at step "), "{beam}");
    let greedy = printed(model(), &["--trace=2"], sentence);
    assert!(greedy.contains("# score ") && !greedy.contains("beam"), "{greedy}");
    assert!(traces(model(), &[], sentence)[0].get("beam").is_none());
}

/// What decided on the decisions of a sentence, those with a kind of reasons.
fn reasons(trace: &Value, kind: &str) -> Vec<Value> {
    let decisions = list(trace, "steps").iter().filter_map(|step| step.get("decision"));
    decisions.filter_map(|decision| decision["reasons"].get(kind)).cloned().collect()
}

#[test]
fn boosted_trees_show_the_tests_that_hold() {
    let settings = ["max_words=12", "learner.min_reduction=10"];
    let [words, reduction] = settings.map(|setting| ["--set", setting]);
    let (_folder, model) =
        trained(&[["--preset", "turian-2005-l2r"], words, reduction].concat(), None);
    let trace = traces(&model, &[], "Dogs/NNS bark/VBP ./.\n").remove(0);
    let all = reasons(&trace, "trees");
    assert!(!all.is_empty(), "{trace}");
    let leaves: Vec<&Value> = all.iter().flat_map(|trees| trees.as_array().unwrap()).collect();
    assert!(
        leaves.iter().any(|leaf| leaf["tests"][0].as_str().is_some_and(|test| test.contains('=')))
    );
    for trees in &all {
        let confidence = |leaf: &Value| leaf["confidence"].as_f64().unwrap().abs();
        assert!(trees.as_array().unwrap().is_sorted_by(|a, b| confidence(a) >= confidence(b)));
    }
}

#[test]
fn members_of_an_ensemble_show_what_they_prefer_and_a_polynomial_svm_its_pairs() {
    let preset = "system.kind = 'binary'\nfeatures.templates = 'lean'\n[learner]\nkind = 'meta'\n\
                  members = [{ kind = 'svm' }, { kind = 'c45' }]\nselector.kind = 'c45'\n";
    let (_folder, model) = trained(&["--preset", "preset.toml"], Some(preset));
    let trace = traces(&model, &[], "Dogs/NNS bark/VBP ./.\n").remove(0);
    let all = reasons(&trace, "members");
    assert!(!all.is_empty(), "{trace}");
    for members in &all {
        let members = members.as_array().unwrap();
        assert_eq!(members.len(), 2);
        assert_eq!(members.iter().filter(|member| member["followed"] == true).count(), 1);
        assert!(members.iter().all(|member| member["action"] != ""));
    }

    let (_folder, model) = trained(
        &["--preset", "preset.toml", "--set", "learner.kind=svm"],
        Some(&preset.split("kind = 'meta'").next().unwrap().replace("[learner]\n", "")),
    );
    let trace = traces(&model, &[], "Dogs/NNS bark/VBP ./.\n").remove(0);
    let all = reasons(&trace, "weights");
    assert!(all.iter().any(|weights| weights.to_string().contains(" × ")), "{trace}");
}

#[test]
fn the_number_of_actions_is_at_least_one() {
    for number in ["0", "many"] {
        let done = srparse(&["parse", &format!("--trace={number}")]).assert().code(2);
        let said = text(&done.get_output().stderr);
        assert!(said.contains("must be a whole number from 1"), "{said}");
    }
}

//! Scores of a treebank of one's own: its head rules, tags that differ from gold, and texts whose words differ.

use std::path::Path;

use crate::command::{folder, srparse, text};
use serde_json::Value;

/// The exit status, standard output and what was said.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = srparse(arguments).current_dir(folder).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

const GOLD: &str = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))\n";

#[test]
fn dependencies_follow_the_head_rules_of_the_treebank_and_name_them() {
    let other = "(TOP (smain (np (det de) (noun hond)) (verb blaft)))\n";
    let folder = folder(&[("gold", GOLD.as_bytes()), ("other", other.as_bytes())]);
    let eval = |options: &[&str]| run(folder.path(), &[&["eval"], options].concat());
    let (_, out, _) = eval(&["gold", "gold"]);
    assert!(out.contains("\nUAS ") && out.ends_with("\nheads: collins\n"), "{out}");
    let (_, out, _) = eval(&["--treebank", "ppche", "gold", "gold"]);
    assert!(out.contains("\nUAS ") && out.ends_with("\nheads: ppche\n"), "{out}");
    let (_, out, _) = eval(&["--treebank", "ppche", "--heads", "left", "gold", "gold"]);
    assert!(out.ends_with("\nheads: left\n"), "{out}");
    // Rules of another treebank say nothing.
    let (_, out, said) = eval(&["other", "other"]);
    assert!(!out.contains("UAS") && !out.contains("heads:"), "{out}");
    assert!(
        said.contains("note: no UAS: the head rules `collins` have rules for only 0 %"),
        "{said}"
    );
    let (_, out, _) = eval(&["--json", "other", "other"]);
    assert!(json(&out)["all"].get("dependency").is_none() && json(&out).get("heads").is_none());
    let (_, out, said) = eval(&["--heads", "right", "other", "other"]);
    assert!(out.contains("UAS") && !said.contains("no UAS"), "{out}{said}");
    // A model has its rules.
    let train = [
        "train", "-q", "--preset", "fast", "--set", "epochs=1", "--model", "m.srm", "--train",
        "gold",
    ];
    assert_eq!(run(folder.path(), &train).0, 0);
    let (status, out, said) = eval(&["--heads", "m.srm", "gold", "gold"]);
    assert_eq!(status, 0, "{said}");
    assert!(out.ends_with("\nheads: m.srm\n"), "{out}");
}

/// Of fifty sentences, in `wrong` a stop is tagged as a noun.
fn tagged(wrong: usize) -> String {
    let bad = GOLD.replace("(. .)", "(NN .)");
    bad.repeat(wrong) + &GOLD.repeat(200 - wrong)
}

#[test]
fn gold_tags_are_used_where_other_tags_would_leave_out_sentences() {
    let (few, many) = (tagged(2), tagged(3));
    let gold = GOLD.repeat(200);
    let folder =
        folder(&[("gold", gold.as_bytes()), ("few", few.as_bytes()), ("many", many.as_bytes())]);
    let eval = |options: &[&str]| {
        let (status, out, said) =
            run(folder.path(), &[&["eval", "--json", "gold"], options].concat());
        assert_eq!(status, 0, "{said}");
        let all = json(&out);
        (all["tags"].as_str().unwrap().to_owned(), all["all"]["errors"].as_u64().unwrap(), said)
    };
    let (tags, errors, said) = eval(&["few"]);
    assert_eq!((tags.as_str(), errors), ("own", 2));
    assert!(!said.contains("gold tags") && said.contains("excluded"), "{said}");
    let (tags, errors, said) = eval(&["many"]);
    assert_eq!((tags.as_str(), errors), ("gold", 0));
    assert!(said.contains("in 3 of 200 sentences") && said.contains("--own-tags"), "{said}");
    assert!(!said.contains("excluded"), "{said}");
    assert_eq!(eval(&["many", "--own-tags"]).1, 3);
    assert_eq!(eval(&["few", "--gold-tags"]).0, "gold");
    // The figure of every command is the same.
    let (_, out, said) = run(folder.path(), &["compare", "--json", "gold", "many", "gold"]);
    assert!(said.contains("in 3 of 200 sentences"), "{said}");
    assert_eq!(json(&out)["a"]["f1"], 100.0, "{out}");
    let (_, out, said) = run(folder.path(), &["diff", "--output", "json", "gold", "many"]);
    assert!(said.contains("in 3 of 200 sentences"), "{said}");
    assert_eq!(
        (&json(&out)["systems"][0]["f1"], &json(&out)["systems"][0]["excluded"]),
        (&100.0.into(), &0.into())
    );
    let (_, _, said) = run(folder.path(), &["compare", "--agreement", "gold", "many", "gold"]);
    assert!(said.contains("in 3 of 200 sentences"), "{said}");
}

#[test]
fn texts_with_other_words_and_sentences_are_aligned() {
    let gold = "(TOP (S (NP (PRP I)) (VP (MD ca) (RB n't) (VP (VB go))) (. .)))\n(TOP (S (NP (PRP We)) (VP (VBP stay)) (. .)))\n";
    let test = "(TOP (S (S (NP (PRP I)) (VP (MD can't) (VP (VB go)))) (. .) (S (NP (PRP We)) (VP (VBP stay.)))))\n";
    let folder = folder(&[("gold", gold.as_bytes()), ("test", test.as_bytes())]);
    let (status, _, said) = run(folder.path(), &["eval", "gold", "test"]);
    assert!(status == 2 && said.contains("2 gold trees but 1 test trees"), "{said}");
    let (status, out, said) = run(folder.path(), &["eval", "--align", "gold", "test"]);
    assert_eq!(
        (status, said.as_str()),
        (0, "gold: read 2 trees, skipped 0\ntest: read 1 tree, skipped 0\n")
    );
    insta::assert_snapshot!(out);
    let (_, out, _) = run(folder.path(), &["eval", "--align", "--json", "gold", "test"]);
    let found = json(&out);
    assert_eq!((&found["brackets"]["matched"], &found["words"]["matched"]), (&7.into(), &4.into()));
    let (status, _, said) =
        run(folder.path(), &["eval", "--align", "-q", "--min-f1", "99", "gold", "test"]);
    assert!(status == 1 && said.contains("is below --min-f1 99"), "{said}");
    let (status, _, said) =
        run(folder.path(), &["eval", "--align", "--heads", "left", "gold", "test"]);
    assert!(status == 2 && said.contains("'--align' cannot be used with '--heads"), "{said}");
    let (_, _, said) = run(folder.path(), &["eval", "--align", "gold", "gold"]);
    assert!(!said.contains("aligned"), "{said}");
}

#[test]
fn the_same_words_have_the_same_scores_aligned_or_not() {
    let sample = |name: &str| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample").join(name).display().to_string()
    };
    let (gold, folder) = (sample("dev.mrg"), tempfile::tempdir().unwrap());
    let parse = [
        "parse",
        "-q",
        "--model",
        "english-fast",
        "--input",
        "penn",
        "--retag",
        "-o",
        "parsed",
        &gold,
    ];
    assert_eq!(run(folder.path(), &parse).0, 0);
    let (_, plain, _) =
        run(folder.path(), &["eval", "-q", "--json", "--gold-tags", &gold, "parsed"]);
    let (_, aligned, _) = run(folder.path(), &["eval", "-q", "--json", "--align", &gold, "parsed"]);
    let (plain, aligned) = (json(&plain), json(&aligned));
    for (key, all) in [
        ("gold", "gold"),
        ("test", "test"),
        ("matched", "matched"),
        ("f1", "f1"),
        ("precision", "precision"),
    ] {
        assert_eq!(aligned["brackets"][key], plain["all"][all], "{key}");
    }
    for kind in ["words", "sentences"] {
        assert_eq!(aligned[kind]["f1"], 100.0, "{kind}");
    }
    assert_eq!(aligned["tagged_words"]["f1"], plain["all"]["tagging"]);
    assert_eq!(aligned["exact"], plain["all"]["exact"]);
}

//! The command `srparse compare`, and `--gold-tags`.

use crate::command::{folder, srparse, text};
use tempfile::TempDir;

const GOLD: &str = "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sits)) (. .)))\n";
/// One bracket of three is wrong.
const POOR: &str = "(TOP (S (NP (DT the) (NN cat)) (ADVP (VBZ sits)) (. .)))\n";
/// Like gold, with a full stop tagged as a noun.
const MISTAGGED: &str = "(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sits)) (NN .)))\n";
const NONE: &str = "(())\n";

/// Twelve sentences: A is poor on ten, B on one, both fail on the last.
fn case() -> TempDir {
    let a = POOR.repeat(10) + GOLD + NONE;
    let b = POOR.to_owned() + &GOLD.repeat(10) + NONE;
    let files = [("gold", GOLD.repeat(12)), ("a", a), ("b", b), ("tags", MISTAGGED.repeat(12))];
    folder(&files.each_ref().map(|(name, content)| (*name, content.as_bytes())))
}

/// Runs a command in the folder and gives status, standard output and standard error.
fn run(folder: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    let output = srparse(arguments).current_dir(folder).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn json(folder: &TempDir, arguments: &[&str]) -> serde_json::Value {
    let (status, out, err) = run(folder, arguments);
    assert_eq!(status, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn the_report_has_scores_differences_p_values_and_sentences() {
    let (status, out, err) = run(&case(), &["compare", "gold", "a", "b"]);
    assert_eq!(status, 0);
    insta::assert_snapshot!(format!("{out}---\n{err}"));
}

#[test]
fn json_agrees_with_eval() {
    let folder = case();
    let compared = json(&folder, &["compare", "--json", "gold", "a", "b"]);
    for (system, file) in [("a", "a"), ("b", "b")] {
        let alone = json(&folder, &["eval", "--json", "gold", file]);
        assert_eq!(compared[system]["precision"], alone["all"]["precision"]);
        assert_eq!(compared[system]["f1"], alone["all"]["f1_failures_empty"]);
        assert_eq!(compared[system]["failures"], 1);
    }
    let difference =
        compared["b"]["recall"].as_f64().unwrap() - compared["a"]["recall"].as_f64().unwrap();
    assert_eq!(compared["difference"]["recall"], difference);
    assert_eq!((&compared["a"]["better"], &compared["b"]["better"]), (&0.into(), &9.into()));
    // Of nine sentences all must be swapped, or none: 2 of 512.
    let p = compared["p"]["f1"].as_f64().unwrap();
    assert!((0.002..0.007).contains(&p), "{p}");
}

#[test]
fn threads_and_seeds() {
    let folder = case();
    let of = |options: &[&str]| {
        run(&folder, &[&["compare", "--json", "gold", "a", "b"], options].concat()).1
    };
    assert_eq!(of(&["-j", "1"]), of(&["-j", "3"]));
    assert_ne!(of(&["--seed", "1"]), of(&["--seed", "2"]));
}

#[test]
fn max_p_decides_the_exit_status() {
    let folder = case();
    let status = |arguments: &[&str]| run(&folder, &[&["compare"], arguments].concat()).0;
    assert_eq!(status(&["--max-p", "0.05", "gold", "a", "b"]), 0);
    assert_eq!(status(&["--max-p", "0.0001", "gold", "a", "b"]), 1);
    assert_eq!(status(&["--max-p", "1", "gold", "b", "a"]), 1, "B is worse");
    assert_eq!(status(&["--max-p", "1", "gold", "a", "a"]), 1, "B is no better");
}

#[test]
fn max_words_leaves_out_longer_sentences() {
    let longer = "(TOP (S (NP (DT the) (JJ old) (NN cat)) (VP (VBZ sits)) (. .)))\n";
    let files = [("gold", GOLD.to_owned() + longer), ("a", POOR.to_owned() + NONE)];
    let folder = folder(&files.each_ref().map(|(name, content)| (*name, content.as_bytes())));
    let of = |words: &str| {
        json(&folder, &["compare", "--json", "--max-words", words, "gold", "a", "gold"])
    };
    assert_eq!((&of("4")["sentences"], &of("4")["a"]["failures"]), (&1.into(), &0.into()));
    assert_eq!((&of("5")["sentences"], &of("5")["a"]["failures"]), (&2.into(), &1.into()));
    // Not even sentences without words.
    std::fs::write(folder.path().join("none"), NONE).unwrap();
    for options in [&["--max-words", "0"][..], &["--agreement", "--max-words", "0"]] {
        let compare = [&["compare", "none", "none", "none"], options].concat();
        let (status, _, err) = run(&folder, &compare);
        assert!(status == 2 && err.contains("0 is not in 1"), "{err}");
    }
}

/// The same NP with three children and with two: a match of brackets in two rows of the table. `ADVP` matches `PRT`.
const FLAT: &str = "(TOP (S (NP (DT the) (JJ old) (NN cat)) (VP (VBZ sits) (ADVP (RB up)))))\n";
const NESTED: &str =
    "(TOP (S (NP (DT the) (NX (JJ old) (NN cat))) (VP (VBZ sits) (PRT (RB up)))))\n";

#[test]
fn brackets_by_label_and_children_are_those_of_the_tables_of_eval() {
    let files = [("gold", FLAT.repeat(4)), ("a", NESTED.repeat(3) + FLAT)];
    let folder = folder(&files.each_ref().map(|(name, content)| (*name, content.as_bytes())));
    let tables = json(&folder, &["eval", "--json", "gold", "a"]);
    let row = |table: &str, key: &str, value: &str| {
        let rows = tables[table].as_array().unwrap();
        rows.iter().find(|row| row[key] == value).unwrap().clone()
    };
    let rows = [
        (["--label", "NP"], row("labels", "label", "NP")),
        (["--label", "ADVP"], row("labels", "label", "ADVP")),
        (["--children", "2"], row("children", "children", "2")),
        (["--children", "3"], row("children", "children", "3")),
    ];
    // All four are found, but only one has three children in A as well.
    assert_eq!(
        (&rows[3].1["recall"], &rows[3].1["gold"], &rows[3].1["test"], &rows[3].1["matched"]),
        (&100.0.into(), &4.into(), &1.into(), &4.into())
    );
    for (options, row) in rows {
        let compare = [&["compare", "--json", "gold", "a", "gold"], &options[..]].concat();
        let compared = json(&folder, &compare);
        for score in ["precision", "recall", "f1"] {
            assert_eq!(compared["a"][score], row[score], "{options:?}");
        }
        assert_eq!(compared["b"]["f1"], 100.0);
    }
    let (_, out, _) =
        run(&folder, &["compare", "--label", "NP", "--children", "2", "gold", "a", "gold"]);
    assert!(out.contains("only brackets labelled NP\nonly brackets by number of children: 2\n"));
    let (status, _, err) = run(&folder, &["compare", "--label", "np", "gold", "a", "gold"]);
    assert!(status == 2 && err.contains("are case-sensitive"), "{err}");
    let (status, _, err) = run(&folder, &["compare", "--label", "NP-SBJ", "gold", "a", "gold"]);
    let problem = "label: `NP-SBJ`: labels are compared without function tags: write NP";
    assert_eq!((status, err), (2, format!("error: {problem}\n")));
}

#[test]
fn a_failed_sentence_counts_as_one_without_brackets_of_the_label() {
    let folder = case();
    let compared = json(&folder, &["compare", "--json", "--label", "NP", "gold", "b", "gold"]);
    let recall = compared["a"]["recall"].as_f64().unwrap();
    assert!((recall - 1100.0 / 12.0).abs() < 1e-9, "eleven of twelve are found: {recall}");
    assert_eq!(compared["a"]["precision"], 100.0);
}

#[test]
fn gold_tags_keep_tagging_mistakes_out_of_the_brackets() {
    let folder = case();
    let own = json(&folder, &["eval", "--json", "--own-tags", "gold", "tags"]);
    assert_eq!((&own["all"]["errors"], &own["all"]["f1"]), (&12.into(), &0.0.into()));
    let gold = json(&folder, &["eval", "--json", "--gold-tags", "gold", "tags"]);
    assert_eq!((&gold["all"]["errors"], &gold["all"]["f1"]), (&0.into(), &100.0.into()));
    let compared = json(&folder, &["compare", "--json", "--gold-tags", "gold", "tags", "gold"]);
    assert_eq!((&compared["equal"], &compared["a"]["failures"]), (&12.into(), &0.into()));
    let compared = json(&folder, &["compare", "--json", "--own-tags", "gold", "tags", "gold"]);
    assert_eq!(compared["a"]["failures"], 12);
    assert_eq!(run(&folder, &["eval", "--evalb", "--gold-tags", "gold", "tags"]).0, 2);
}

#[test]
fn agreement_counts_what_each_subset_of_the_parsers_gets_right() {
    let folder = case();
    let (status, out, err) = run(&folder, &["compare", "--agreement", "gold", "a", "b", "gold"]);
    assert_eq!(status, 0);
    insta::assert_snapshot!(format!("{out}---\n{err}"));
    let found = json(&folder, &["compare", "--agreement", "--json", "gold", "a", "b", "gold"]);
    assert_eq!(found["failures"], serde_json::json!([1, 1, 0]));
    let rows = found["agreement"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    // A finds one of two or both brackets, B both but once, on the last sentence neither; C is gold.
    let of = |right: &[&str]| {
        let row = rows.iter().find(|row| row["right"] == serde_json::json!(right)).unwrap();
        (row["brackets"].as_u64().unwrap(), row["exact"].as_u64().unwrap())
    };
    assert_eq!((of(&["B", "C"]), of(&["A", "C"])), ((9, 9), (0, 0)));
    assert_eq!((of(&["C"]).1, of(&["A", "B", "C"]).1, of(&[])), (2, 1, (0, 0)));
    let sum = |key: &str| rows.iter().map(|row| row[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("brackets"), sum("exact")), (found["brackets"].as_u64().unwrap(), 12));
}

#[test]
fn agreement_adds_up_to_the_recall_of_each_parser() {
    let folder = case();
    let compared = json(&folder, &["compare", "--json", "gold", "a", "b"]);
    let found = json(&folder, &["compare", "--agreement", "--json", "gold", "a", "b"]);
    for (system, name) in [("a", "A"), ("b", "B")] {
        let rows = found["agreement"].as_array().unwrap();
        let with =
            rows.iter().filter(|row| row["right"].as_array().unwrap().contains(&name.into()));
        let right: f64 = with.map(|row| row["brackets"].as_f64().unwrap()).sum();
        let recall = 100.0 * right / found["brackets"].as_f64().unwrap();
        assert!((recall - compared[system]["recall"].as_f64().unwrap()).abs() < 1e-9);
    }
}

#[test]
fn agreement_where_every_parser_failed_and_where_sentences_are_too_long() {
    let folder = case();
    let arguments =
        ["compare", "--agreement", "--json", "--max-words", "4", "gold", "none", "none"];
    std::fs::write(folder.path().join("none"), NONE.repeat(12)).unwrap();
    let found = json(&folder, &arguments);
    assert_eq!((&found["sentences"], &found["brackets"]), (&12.into(), &36.into()));
    let none = found["agreement"].as_array().unwrap().last().unwrap();
    assert_eq!((&none["right"], &none["brackets"]), (&serde_json::json!([]), &36.into()));
    let (status, _, err) =
        run(&folder, &["compare", "--agreement", "--max-words", "3", "gold", "a", "b"]);
    assert!(status == 2 && err.contains("raise it"), "{err}");
}

#[test]
fn agreement_takes_two_to_six_parsers_and_no_options_of_the_test() {
    let folder = case();
    let refused = [
        &["compare", "gold", "a", "b", "gold"][..],
        &["compare", "--agreement", "gold", "a"],
        &["compare", "--agreement", "gold", "a", "b", "a", "b", "a", "b", "a"],
        &["compare", "--agreement", "--seed", "2", "gold", "a", "b"],
        &["compare", "--agreement", "--max-p", "0.5", "gold", "a", "b"],
    ];
    for arguments in refused {
        assert_eq!(run(&folder, arguments).0, 2, "{arguments:?}");
    }
    assert_eq!(
        run(&folder, &["compare", "--agreement", "gold", "a", "b", "a", "b", "a", "b"]).0,
        0
    );
}

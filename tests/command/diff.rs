//! The command `srparse diff`.

use crate::command::{folder, srparse, text};
use tempfile::TempDir;

const HIGH: &str = "(TOP (S (NP (NNS dogs)) (VP (VBD saw) (NP (DT a) (NN cat)) (PP (IN in) (NP (NN rain)))) \
                    (. .)))\n";
const LOW: &str = "(TOP (S (NP (NNS dogs)) (VP (VBD saw) (NP (NP (DT a) (NN cat)) (PP (IN in) (NP (NN \
                   rain))))) (. .)))\n";
const TRACE: &str = "(TOP (S (NP-SBJ (-NONE- *)) (VP (VB go) (ADVP (RB home)))))\n";
const FLAT: &str = "(TOP (VP (VB go) (NP (RB home))))\n";
const NONE: &str = "(())\n";

/// Three sentences: A is wrong in the second, B in the first and, more, in the second; the third has no parse.
fn case() -> TempDir {
    let gold = HIGH.to_owned() + TRACE + HIGH;
    let without_trace = TRACE.replace("(NP-SBJ (-NONE- *)) ", "");
    let a = HIGH.to_owned() + &without_trace.replace("ADVP", "NP") + NONE;
    let b = LOW.to_owned() + FLAT + NONE;
    folder(&[("gold", gold.as_bytes()), ("a", a.as_bytes()), ("b", b.as_bytes())])
}

/// Runs a command in the folder and gives status, standard output and standard error.
fn run(folder: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    let output = srparse(arguments).current_dir(folder).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn errors_are_counted_by_class_and_the_worst_sentences_are_marked() {
    let (status, out, err) = run(&case(), &["diff", "gold", "b"]);
    assert_eq!(status, 0, "{err}");
    insta::assert_snapshot!(format!("{out}---\n{err}"));
}

#[test]
fn with_two_parsers_the_sentences_are_those_in_which_the_second_loses() {
    let (status, out, err) = run(&case(), &["diff", "-q", "--worst", "1", "gold", "a", "b"]);
    assert_eq!(status, 0, "{err}");
    insta::assert_snapshot!(out);
}

#[test]
fn json_has_every_wrong_bracket_in_one_error() {
    let (status, out, _) = run(&case(), &["diff", "-q", "--output", "json", "gold", "b"]);
    assert_eq!(status, 0);
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    let system = &found["systems"][0];
    assert_eq!((&system["sentences"], &system["excluded"]), (&3.into(), &1.into()));
    let rows = system["errors"].as_array().unwrap();
    let sum = |key: &str| rows.iter().map(|row| row[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("count"), sum("missed"), sum("spurious")), (3, 2, 2));
    let first = &found["sentences"][0];
    assert_eq!((&first["sentence"], &first["at"]), (&2.into(), &"gold:2".into()));
    let low = &found["sentences"][1]["parses"][0]["errors"][0];
    assert_eq!(
        *low,
        serde_json::json!({
            "class": "PP attachment", "missed": [], "spurious": [["NP", 2, 6]]
        })
    );
}

#[test]
fn sentences_are_chosen_by_number() {
    let folder = case();
    let (_, out, _) = run(&folder, &["diff", "-q", "--nth", "1", "gold", "a"]);
    assert!(out.contains("sentence 1 (gold:1)\nF1 100.00; no errors\n"), "{out}");
    let (status, _, err) = run(&folder, &["diff", "-q", "--nth", "9", "gold", "a"]);
    assert_eq!((status, err.as_str()), (2, "error: --nth 9: the input has only 3 sentences\n"));
}

#[test]
fn a_page_has_all_sentences_unless_the_user_limits_them() {
    let folder = case();
    let page = |arguments: &[&str]| {
        let all = [&["diff", "-q", "--output", "html"], arguments].concat();
        let (status, out, err) = run(&folder, &all);
        assert_eq!((status, err.as_str()), (0, ""));
        assert!(out.starts_with("<!doctype html>") && out.ends_with("</html>\n"), "{out}");
        out
    };
    let sentences = |page: &str| page.lines().filter(|line| line.starts_with("{\"n\":")).count();
    // The third has no parse.
    assert_eq!(sentences(&page(&["gold", "a"])), 2);
    assert_eq!(sentences(&page(&["--worst", "1", "gold", "b"])), 1);
    assert_eq!(sentences(&page(&["--nth", "1-2", "gold", "b"])), 2);
    assert_eq!(sentences(&page(&["--nth", "3", "gold", "b"])), 0);
    let pair = page(&["gold", "a", "b"]);
    assert!(pair.contains("stratified shuffling") && pair.contains("<svg"), "{pair}");
    // Every wrong bracket of the second parser is in one error, as in JSON.
    let row = pair.lines().find(|line| line.starts_with("{\"n\":1,")).unwrap();
    let row: serde_json::Value = serde_json::from_str(row).unwrap();
    assert_eq!(row["parses"][1]["errors"], serde_json::json!([[0, [], [4]]]));
    let marks = row["parses"][1]["tree"]["marks"].as_str().unwrap();
    assert_eq!((marks.find('-'), marks.matches('-').count()), (Some(4), 1));
}

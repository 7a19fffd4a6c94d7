//! The command `srparse eval`: reports, notes, messages and exit statuses.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use tempfile::TempDir;

const GOLD: &str = "( (S (NP-SBJ (DT the)\n     (NN cat))\n   (VP (VBZ sits)) (. .)))\n\
                    ( (S (NP (NNS dogs)) (VP (VBP bark))))\n";
const TEST: &str = "(ROOT (S (NP (DT the) (NN cat)) (ADVP (VBZ sits)) (. .)))\n(())\n";

/// A folder with a gold file and a test file.
struct Case {
    folder: TempDir,
}

impl Case {
    fn new(gold: &str, test: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("gold"), gold).unwrap();
        std::fs::write(folder.path().join("test"), test).unwrap();
        Self { folder }
    }

    /// Runs `srparse eval OPTIONS gold test` in the folder.
    fn run(&self, options: &[&str]) -> Assert {
        srparse().current_dir(&self.folder).args(options).args(["gold", "test"]).assert()
    }
}

fn srparse() -> Command {
    let mut command = Command::cargo_bin("srparse").unwrap();
    command.arg("eval");
    command
}

fn stdout(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn stderr(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evalb").join(name)
}

#[test]
fn the_report_has_both_f1_figures_and_the_notes_go_to_stderr() {
    let done = Case::new(GOLD, TEST).run(&[]).success();
    insta::assert_snapshot!(stdout(&done));
    assert_eq!(
        stderr(&done),
        "gold: read 2 trees, skipped 0\ngold: roots treated as TOP: 2 (no label)\n\
         test: read 2 trees, skipped 0\ntest: roots treated as TOP: 1 ROOT\n"
    );
}

#[test]
fn json_is_one_object_with_full_precision() {
    let done = Case::new(GOLD, TEST).run(&["--json"]).success();
    insta::assert_snapshot!(stdout(&done));
}

#[test]
fn per_sentence_rows_come_before_the_report() {
    let done = Case::new(GOLD, TEST).run(&["--per-sentence"]).success();
    let text = stdout(&done);
    let rows: Vec<&str> = text.lines().skip(3).take(2).collect();
    assert_eq!(
        rows,
        [
            "   1    4    0   66.67  66.67     2      3    3      0      3     3   100.00",
            "   2    2    2    0.00   0.00     0      0    0      0      0     0     0.00",
        ]
    );
}

#[test]
fn other_numbers_of_trees_are_an_error_with_both_numbers() {
    let done = Case::new(GOLD, "(TOP (S (NN a)))\n").run(&[]).code(2);
    assert!(stderr(&done).contains("2 gold trees but 1 test trees, so tree 2 has no counterpart"));
}

#[test]
fn errors_are_listed_with_their_place_and_then_counted() {
    let gold = "(TOP (NP (NN a)))\n".repeat(13);
    let test = "(TOP (NP (NN b)))\n".repeat(13);
    let done = Case::new(&gold, &test).run(&[]).success();
    let notes = stderr(&done);
    assert!(notes.starts_with("test:1: sentence 1 excluded: Words unmatch (a|b)\n"), "{notes}");
    assert!(notes.contains("\n… and 3 more excluded sentences\ngold: read 13 trees"), "{notes}");
    assert!(
        notes.contains("\nWARNING: the words of 13 of 13 test trees differ from gold"),
        "{notes}"
    );
    assert_eq!(notes.lines().count(), 14);
}

#[test]
fn a_malformed_tree_stops_with_its_place() {
    let done = Case::new(GOLD, "(TOP (S (NN a b)))\n").run(&[]).code(2);
    assert!(stderr(&done).starts_with("error: test:1:"), "{}", stderr(&done));
}

#[test]
fn an_empty_file_is_an_error() {
    let done = Case::new("\n", "\n").run(&[]).code(2);
    assert!(stderr(&done).contains("no trees to score"));
}

#[test]
fn min_f1_decides_the_exit_status() {
    let case = Case::new(GOLD, TEST);
    case.run(&["--min-f1", "66.6"]).success();
    let done = case.run(&["--min-f1", "70"]).code(1);
    assert!(stderr(&done).ends_with("F1 66.67 is below --min-f1 70\n"));
    case.run(&["--min-f1", "101"]).code(2);
    case.run(&["--min-f1", "NaN"]).code(2);
}

#[test]
fn evalb_mode_prints_the_sample_and_its_errors() {
    let done = srparse()
        .args(["--evalb", "--params"])
        .args(["sample.prm", "sample.gld", "sample.tst"].map(sample))
        .assert()
        .success();
    insta::assert_snapshot!(stdout(&done));
    insta::assert_snapshot!(stderr(&done), @r"
    12 : Words unmatch (is|was)
    13 : Length unmatch (4|5)
    16 : Length unmatch (4|5)
    17 : Length unmatch (4|6)
    20 : Words unmatch (this|That)
    ");
}

#[test]
fn evalb_mode_bears_eleven_errors_and_stops_at_the_twelfth_without_a_summary() {
    for (errors, code) in [(11, 0), (12, 1)] {
        let gold = "(TOP (NP (NN a)))\n".repeat(13);
        let test =
            "(TOP (NP (NN b)))\n".repeat(errors) + &"(TOP (NP (NN a)))\n".repeat(13 - errors);
        let done = Case::new(&gold, &test).run(&["--evalb"]).code(code);
        assert_eq!(stdout(&done).contains("Summary"), code == 0);
        assert_eq!(stderr(&done).lines().count(), errors);
        assert_eq!(stdout(&done).lines().any(|line| line.starts_with("  12 ")), code == 0);
    }
}

#[test]
fn evalb_mode_reports_different_numbers_of_lines_and_continues() {
    let line = "(TOP (NP (NN a)))\n";
    let done = Case::new(&line.repeat(2), line).run(&["--evalb"]).success();
    assert_eq!(stderr(&done), "2 : Number of lines unmatch (too many lines in gold file)\n");
    let done = Case::new(line, &line.repeat(2)).run(&["--evalb"]).success();
    assert_eq!(stderr(&done), "2 : Number of lines unmatch (too many lines in test file)\n");
    assert!(stdout(&done).contains("Number of sentence        =      1\n"));
}

#[test]
fn one_side_can_be_standard_input_but_not_both() {
    let case = Case::new(GOLD, TEST);
    srparse()
        .current_dir(&case.folder)
        .args(["-", "test", "--json"])
        .write_stdin(GOLD)
        .assert()
        .success();
    let done = srparse().args(["-", "-"]).assert().code(2);
    assert!(stderr(&done).contains("only one of them can be read from standard input"));
}

#[test]
fn other_encodings_are_named_in_the_error_and_read_with_the_option() {
    let latin: Vec<u8> = b"(TOP (NP (NN caf\xe9)))\n".to_vec();
    let case = Case::new("", "");
    for name in ["gold", "test"] {
        std::fs::write(case.folder.path().join(name), &latin).unwrap();
    }
    for mode in [&[][..], &["--evalb"][..]] {
        let done = case.run(mode).code(2);
        assert!(stderr(&done).contains("gold:1:17: not UTF-8 text"), "{}", stderr(&done));
        case.run(&[mode, &["--encoding", "latin-1"]].concat()).success();
    }
}

#[test]
fn misspelt_names_get_a_suggestion() {
    let case = Case::new(GOLD, TEST);
    let done = case.run(&["--params", "colins"]).code(2);
    assert!(stderr(&done).contains("did you mean `collins`?"), "{}", stderr(&done));
    let done = case.run(&["--heads", "colins"]).code(2);
    assert!(stderr(&done).contains("did you mean `collins`?"), "{}", stderr(&done));
}

#[test]
fn help_names_every_embedded_parameter_set() {
    let help = stdout(&srparse().arg("--help").assert().success());
    for name in srparse::eval::Params::names() {
        assert!(help.contains(name), "{name}");
    }
}

#[test]
fn a_bracket_that_gold_trees_of_another_format_have_is_its_escape() {
    let export = "#BOS 1\n(\t$(\t--\t--\t500\nja\tADV\t--\t--\t500\n)\t$(\t--\t--\t500\n#500\tX\t--\t--\t0\n#EOS 1\n";
    let folder = crate::command::folder(&[("gold.export", export.as_bytes())]);
    let mut tree = crate::command::srparse(&["tree", "-q", "gold.export"]);
    let done = tree.current_dir(folder.path()).assert().success();
    std::fs::write(folder.path().join("test.mrg"), &done.get_output().stdout).unwrap();
    let mut eval = srparse();
    eval.args(["-q", "--json", "gold.export", "test.mrg"]);
    let done = eval.current_dir(folder.path()).assert().success();
    let scores: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    let all = &scores["all"];
    assert_eq!((all["errors"].as_u64(), all["tagging"].as_f64()), (Some(0), Some(100.0)), "{all}");
}

//! Data that do not belong together, and files of another kind than is read: a message says so, and what to do.

use crate::command::{folder, srparse, text};
use tempfile::TempDir;

/// The exit status, standard output and what was said.
fn run(folder: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    let output = srparse(arguments).current_dir(folder).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn parses_of_other_sentences_are_a_warning() {
    let bank = |words: [&str; 4]| -> String {
        words.map(|word| format!("(TOP (NP (DT the) (NN {word})))\n")).concat()
    };
    let gold = bank(["dog", "cat", "cow", "pig"]);
    let shifted = bank(["pig", "dog", "cat", "cow"]);
    let half = bank(["dog", "cat", "pig", "cow"]);
    let files = [("gold", &gold), ("shifted", &shifted), ("half", &half)];
    let folder = folder(&files.map(|(name, content)| (name, content.as_bytes())));
    for (command, names) in [
        (&["eval", "gold", "shifted"][..], "4 of 4 test trees"),
        (&["diff", "gold", "shifted"], "4 of 4 test trees"),
        (&["diff", "gold", "half", "shifted"], "4 of 4 B trees"),
        (&["compare", "--shuffles", "9", "gold", "shifted", "gold"], "4 of 4 A trees"),
        (
            &["compare", "--agreement", "gold", "shifted", "shifted"],
            "4 of 4 A trees and 4 of 4 B trees",
        ),
    ] {
        let (status, out, said) = run(&folder, command);
        let warnings: Vec<&str> =
            said.lines().filter(|line| line.starts_with("WARNING: ")).collect();
        assert_eq!((status, warnings.len()), (0, 1), "{command:?}: {said}");
        assert!(warnings[0].starts_with(&format!("WARNING: {names} have other words")), "{said}");
        for advice in ["in the same order", "--treebank", "--set", "`srparse eval --align`"] {
            assert!(warnings[0].contains(advice), "{said}");
        }
        let (status, quiet, said) = run(&folder, &[command, &["-q"]].concat());
        assert_eq!((status, quiet, said.contains("WARNING")), (0, out, false), "{command:?}");
    }
    let (_, _, said) = run(&folder, &["eval", "gold", "half"]);
    assert!(!said.contains("WARNING"), "{said}");
}

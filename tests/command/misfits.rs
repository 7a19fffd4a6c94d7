//! Data that do not belong together, and files of another kind than is read: a message says so, and what to do.

use crate::command::{folder, model, srparse, text};
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
        let warning = format!("WARNING: the words of {names} differ from gold, ");
        assert!(warnings[0].starts_with(&warning), "{said}");
        for advice in ["in the same order", "--treebank", "--set", "`srparse eval --align`"] {
            assert!(warnings[0].contains(advice), "{said}");
        }
        let (status, quiet, said) = run(&folder, &[command, &["-q"]].concat());
        assert_eq!((status, quiet, said.contains("WARNING")), (0, out, false), "{command:?}");
    }
    let (_, _, said) = run(&folder, &["eval", "gold", "half"]);
    assert!(!said.contains("WARNING"), "{said}");
    // Other words count because the tag is another one.
    let marks = [".", "NN"].map(|tag| format!("(TOP (NP (NN a) ({tag} .)))\n"));
    let folder = self::folder(&[("gold", marks[0].as_bytes()), ("test", marks[1].as_bytes())]);
    let (_, _, said) = run(&folder, &["eval", "--own-tags", "gold", "test"]);
    assert!(!said.contains("WARNING"), "{said}");
}

const CONLLU: &[u8] = b"# text = a\n1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n";
const TREE: &[u8] = b"(TOP (NP (NN a)))\n";

/// What a command that fails says; its arguments are separated by spaces.
fn refused(folder: &TempDir, command: &str) -> String {
    let (status, _, said) = run(folder, &command.split(' ').collect::<Vec<_>>());
    assert_eq!(status, 2, "{command}: {said}");
    said
}

#[test]
fn columns_and_models_are_no_trees() {
    let model = std::fs::read(model()).unwrap();
    let folder = folder(&[("x.conllu", CONLLU), ("a.mrg", TREE), ("m.srm", &model)]);
    let says = "from which trees are not read: give a treebank, or parse";
    for (file, kind, advice) in [
        ("x.conllu", "CoNLL-U", "its sentences first: srparse parse --input conllu"),
        ("m.srm", "a model file", "sentences with it first: srparse parse --model FILE"),
    ] {
        for command in [
            "tree",
            "find NP",
            "train --model n.srm --train",
            "train --model n.srm --train a.mrg --dev",
            "eval a.mrg",
            "diff a.mrg",
            "compare a.mrg a.mrg",
            "split -o parts --share a=50",
        ] {
            let said = refused(&folder, &format!("{command} {file}"));
            let error = format!("error: {file}: this looks like {kind}, {says} {advice}\n");
            assert!(said.ends_with(&error), "{command}: {said}");
        }
    }
}

#[test]
fn raw_text_and_trees_are_told_apart_by_an_option() {
    let files = [("a.txt", &b"The dog barks.\n"[..]), ("x.conllu", CONLLU), ("a.mrg", TREE)];
    let folder = folder(&files);
    for command in ["find NP", "complexity"] {
        let said = refused(&folder, &format!("{command} a.txt"));
        assert!(said.contains("a.txt:1:1: `The` is outside of any tree"), "{said}");
        assert!(said.contains("add --text to `find` or `complexity`"), "{said}");
        for (file, says) in [
            ("a.mrg", "trees in brackets: omit --text"),
            ("x.conllu", "CoNLL-U: parse it first: srparse parse --input conllu"),
        ] {
            for threads in ["1", "2"] {
                let options = format!("--text --model english-fast -j {threads}");
                let said = refused(&folder, &format!("{command} {options} {file}"));
                assert_eq!(said, format!("error: {file}: this looks like {says}\n"), "{command}");
            }
        }
    }
}

#[test]
fn a_text_may_begin_like_a_treebank_or_a_document() {
    for line in [
        "#BOStonStrong we love you.",
        "#FORMATTING is hard.",
        "<corpus> is a tag",
        "<annotation> a",
        "<treebank> x",
        "<?xml?> tags are old.",
        "%PDF-1.5 is a header.",
    ] {
        let folder = folder(&[("a.txt", format!("{line}\n").as_bytes())]);
        for format in ["lines", "tokens"] {
            let arguments = ["tag", "-q", "--model", "english-fast", "--input", format, "a.txt"];
            let (status, out, said) = run(&folder, &arguments);
            assert_eq!((status, said), (0, String::new()), "{line}");
            assert_eq!(out.lines().count(), 1, "{line}: {out}");
        }
    }
    for (start, says) in [
        ("#FORMAT 4\n#BOS 1\n", "a treebank in export format or XML"),
        ("<corpus>\n<body>\n", "a treebank in export format or XML"),
        ("%PDF-1.5\n", "a PDF document"),
    ] {
        let folder = self::folder(&[("a.txt", start.as_bytes())]);
        let said = refused(&folder, "tag --model english-fast --input lines a.txt");
        assert!(said.contains(says), "{start}: {said}");
    }
}

#[test]
fn a_file_in_the_place_of_a_pattern_is_recognized() {
    let folder = folder(&[("a.mrg", TREE), ("NP", TREE)]);
    for command in ["find a.mrg", "find a.mrg NP", "find ./NP a.mrg"] {
        let file = command.split(' ').nth(1).unwrap();
        let says = "this is a file, and the pattern comes first, as in: srparse find NP";
        assert_eq!(refused(&folder, command), format!("error: {file}: {says} {file}\n"));
    }
    // A label may be the name of a file too.
    assert_eq!(run(&folder, &["find", "-c", "NP", "a.mrg"]), (0, "1\n".to_owned(), String::new()));
}

#[test]
fn development_trees_of_another_treebank_are_a_warning() {
    let tree = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks))))\n".repeat(12);
    let other_labels = tree.replace("NP", "np").replace("VP", "vp").replace("(S", "(s");
    let other = "(TOP (smain (np (det de) (noun hond)) (verb blaft)))\n";
    let files = [("a.mrg", &*tree), ("labels.mrg", &*other_labels), ("other.mrg", other)];
    let folder = folder(&files.map(|(name, content)| (name, content.as_bytes())));
    let train = |options: &[&str]| {
        let train = ["train", "--set", "epochs=1", "--model", "m.srm", "--train", "a.mrg", "--dev"];
        let (status, _, said) = run(&folder, &[&train[..], options].concat());
        assert_eq!(status, 0, "{said}");
        said
    };
    for (dev, says) in [
        ("labels.mrg", "no label with the training trees, "),
        ("other.mrg", "no tag with the training trees, "),
    ] {
        let said = train(&[dev]);
        assert!(said.contains(&format!("WARNING: the development trees share {says}")), "{said}");
        assert_eq!(said.matches("WARNING").count(), 1, "{said}");
    }
    assert!(
        train(&["other.mrg"]).contains(". Development: det, noun, verb; training: DT, NN, VBZ\n")
    );
    for options in [&["a.mrg"][..], &["other.mrg", "a.mrg"], &["other.mrg", "-q"]] {
        assert!(!train(options).contains("WARNING"), "{options:?}");
    }
    // A page about a model has the same doubts.
    let (status, page, said) = run(&folder, &["report", "--model", "m.srm", "other.mrg"]);
    assert!(status == 0 && page.starts_with("<!doctype html>"), "{said}");
    let warning = "WARNING: the tags of 3 of 3 words are unknown to the model, ";
    assert!(said.contains(warning) && said.contains("Check that these are trees of"), "{said}");
    let (_, _, said) = run(&folder, &["report", "--model", "m.srm", "a.mrg"]);
    assert!(!said.contains("unknown"), "{said}");
}

#[test]
fn trees_that_cannot_be_rebuilt_are_named_by_their_words() {
    let tree = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks))))\n".repeat(12);
    let below =
        "(X (-NONE- *))\n(TOP (TOP (NN a) (NN b) (NN c) (NN d)) (TOP (NN e) (NN f) (NN g)))\n";
    let bank = tree + below;
    let folder = folder(&[("a.mrg", bank.as_bytes()), ("b.mrg", below.as_bytes())]);
    let train = "train --preset kalt-2004-sr-l --model m.srm --train";
    let arguments: Vec<&str> = train.split(' ').chain(["a.mrg"]).collect();
    let (status, _, said) = run(&folder, &arguments);
    let says = "the training tree of \"a b c d e f …\": a TOP below the root";
    assert!(status == 0 && said.contains(&format!("note: {says}\n")), "{said}");
    let said = refused(&folder, &format!("{train} b.mrg"));
    let advice =
        "correct or remove such trees, or choose a preset with another transition system\n";
    let error = format!("error: 1 of 1 training trees cannot be rebuilt: {says}; {advice}");
    assert!(said.ends_with(&error), "{said}");
}

#[test]
fn all_trees_without_words_are_counted() {
    let tree = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks))))\n".repeat(3);
    let bank = tree + "(X (-NONE- *))\n(())\n(TOP (CODE (SYM x)))\n";
    let folder = folder(&[("a.mrg", bank.as_bytes())]);
    let train = ["train", "--preset", "kalt-2004-sr-l", "--model", "m.srm", "--train", "a.mrg"];
    for (settings, n) in [(&["--set", "clean.drop=[\"CODE\"]"][..], 3), (&[], 2)] {
        let (status, _, said) = run(&folder, &[&train[..], settings].concat());
        let note = format!("note: left out {n} training trees without words after cleaning\n");
        assert!(status == 0 && said.contains(&note), "{said}");
    }
}

#[test]
fn contradictions_are_found_before_the_treebank_is_read() {
    let model = std::fs::read(model()).unwrap();
    let folder = folder(&[("m.srm", &model), ("bad.mrg", b"(S"), ("one.txt", b"a\n")]);
    for (options, says) in [
        (
            "--preset fast --labels NP",
            "labels: this learner does not have one classifier per label",
        ),
        ("--preset fast --merge m.srm", "merge: this learner has no parts to merge"),
        ("--tagger --labels NP", "labels: a tagger alone is trained"),
        ("--tagger --merge m.srm", "merge: a tagger alone is trained"),
    ] {
        let said = refused(&folder, &format!("train --train bad.mrg --model x.srm {options}"));
        assert!(said.starts_with(&format!("error: {says}")), "{options}: {said}");
    }
    for command in [
        "crossval --train bad.mrg --out",
        "ablate --preset fast --train bad.mrg --dev bad.mrg --out",
        "train --train bad.mrg --model x.srm --checkpoint",
    ] {
        for path in ["one.txt", "one.txt/parts"] {
            let said = refused(&folder, &format!("{command} {path}"));
            let option = command.rsplit(' ').next().unwrap();
            let says = "one.txt is not a folder: name a folder";
            assert_eq!(said, format!("error: {option} {path}: {says}\n"));
        }
    }
}

//! `srparse split` and `srparse crossval`.

use std::fs;
use std::path::Path;

use crate::command::{folder, srparse, text};
use tempfile::TempDir;

/// The exit status, standard output and what was said.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = srparse(arguments).current_dir(folder).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Two documents of invented sentences, of ten trees and of five.
fn bank() -> TempDir {
    let tree = |document: &str, n: usize| {
        let (noun, verb) = (["dog", "cat", "cow"][n % 3], ["barks", "sleeps"][n % 2]);
        format!("( (S (NP (DT the) (NN {noun})) (VP (VBZ {verb})) (. .)) (ID {document}.{n}))\n")
    };
    let document = |name: &str, n: usize| (1..=n).map(|at| tree(name, at)).collect::<String>();
    let (a, b) = (document("a", 10), document("b", 5));
    folder(&[("a.psd", a.as_bytes()), ("b.psd", b.as_bytes())])
}

fn lines(folder: &TempDir, file: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.path().join(file)).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_treebank_is_split_by_share() {
    let folder = bank();
    let share = ["split", "-o", "parts", "--share", "train=60,dev=20", "a.psd", "b.psd"];
    let (status, out, said) = run(folder.path(), &share);
    let table = "part\ttrees\tdocuments\twords\ntrain\t9\t9\t36\ndev\t3\t3\t12\n";
    assert_eq!((status, out.as_str()), (0, table), "{said}");
    assert!(said.ends_with("3 trees in no part\n"), "{said}");
    let (train, dev) = (lines(&folder, "parts/train.mrg"), lines(&folder, "parts/dev.mrg"));
    assert!(train.iter().all(|tree| !dev.contains(tree)));
    assert!(train[0].ends_with("(ID a.1))"), "{}", train[0]);
    // A random part is the same for a seed, and another for another.
    let seeded = |seed: &str| {
        let (status, ..) = run(folder.path(), &[&share[..], &["-q", "--seed", seed]].concat());
        assert_eq!(status, 0);
        lines(&folder, "parts/dev.mrg")
    };
    let (one, two) = (seeded("1"), seeded("2"));
    assert_eq!(one, seeded("1"));
    assert_ne!(one, two);
}

#[test]
fn documents_stay_whole_and_lists_name_parts() {
    let folder = bank();
    for by in ["file", "id"] {
        let arguments =
            ["split", "-o", "parts", "--share", "x=60,y=40", "--by", by, "a.psd", "b.psd"];
        let (status, out, said) = run(folder.path(), &arguments);
        assert_eq!(status, 0, "{said}");
        assert!(out.contains("x\t10\t1\t40\ny\t5\t1\t20\n"), "{out}");
    }
    fs::write(folder.path().join("list"), "# a comment\nb\n\na.3\n").unwrap();
    let list =
        ["split", "-o", "listed", "--list", "test=list", "--share", "train=100", "a.psd", "b.psd"];
    let (_, out, _) = run(folder.path(), &list);
    assert!(out.contains("test\t6\t6\t24\ntrain\t9\t9\t36\n"), "{out}");
    let (_, out, said) = run(folder.path(), &[&list[..], &["--by", "file"]].concat());
    assert!(out.contains("test\t15\t2\t60\ntrain\t0\t0\t0\n"), "{out}");
    assert!(
        said.contains("WARNING: the part `train` has no trees: documents stay whole: "),
        "{said}"
    );
    assert_eq!(said.matches("WARNING").count(), 1, "{said}");
    let quiet = run(folder.path(), &[&list[..], &["--by", "file", "-q"]].concat());
    assert_eq!(quiet, (0, out, String::new()));
    let few = ["split", "-o", "parts", "--share", "x=99,y=1", "b.psd"];
    let (_, _, said) = run(folder.path(), &few);
    assert!(
        said.ends_with("the part `y` has no trees: give more trees or a larger share\n"),
        "{said}"
    );
    fs::write(folder.path().join("none"), "# a comment\n").unwrap();
    let none = ["split", "-o", "parts", "--list", "x=none", "--share", "y=100", "b.psd"];
    let (_, _, said) = run(folder.path(), &none);
    assert!(said.ends_with("the part `x` has no trees: check its list\n"), "{said}");
    // Files of the same name in two folders are two documents.
    let paths = ["one/a.psd", "two/a.psd"].map(|path| folder.path().join(path));
    for (path, bank) in paths.iter().zip(["a.psd", "b.psd"]) {
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::copy(folder.path().join(bank), path).unwrap();
    }
    let by_path = ["split", "-o", "parts", "--by", "file", "--share", "x=60,y=40", "one", "two"];
    let (_, out, _) = run(folder.path(), &by_path);
    assert!(out.contains("x\t10\t1\t40\ny\t5\t1\t20\n"), "{out}");
    fs::write(folder.path().join("list"), "two/a.psd\n").unwrap();
    let listed =
        ["split", "-o", "listed", "--list", "test=list", "--share", "train=100", "one", "two"];
    let (_, out, _) = run(folder.path(), &listed);
    assert!(out.contains("test\t5\t5\t20\ntrain\t10\t10\t40\n"), "{out}");
    fs::write(folder.path().join("list"), "a\nc.psd\n").unwrap();
    let (status, _, said) = run(folder.path(), &list);
    assert_eq!(status, 2);
    assert!(said.contains("list:2: `c.psd` names no file and no ID"), "{said}");
}

#[test]
fn the_number_of_a_sentence_may_be_the_first_of_its_id() {
    let tree = |document: &str, n: usize| {
        format!("( (S (NP (NN dog)) (VP (VBZ barks))) (ID {n}_{document};JP))\n")
    };
    let document = |name: &str| (1..=6).map(|at| tree(name, at)).collect::<String>();
    let bank = document("a-1905") + &document("b-1922");
    let folder = folder(&[("c.psd", bank.as_bytes()), ("list", b"a-1905;JP\n")]);
    let split = ["split", "--by", "id", "c.psd", "-o"];
    let share = ["halves", "--share", "x=50,y=50"];
    let (_, out, said) = run(folder.path(), &[&split[..], &share].concat());
    assert!(out.contains("x\t6\t1\t12\ny\t6\t1\t12\n"), "{out}{said}");
    let list = ["parts", "--list", "test=list", "--share", "train=100"];
    let (_, out, said) = run(folder.path(), &[&split[..], &list].concat());
    assert!(out.contains("test\t6\t1\t12\ntrain\t6\t1\t12\n"), "{out}{said}");
}

#[test]
fn mistakes_in_shares_say_how_to_mend_them() {
    let folder = bank();
    for (share, says) in [
        ("train=60,dev=50", "the shares are together 110 percent: give at most 100"),
        ("train=0", "a share is a percentage above 0"),
        ("train", "write a name and its value"),
        ("a=10,A=20", "the part `A` is named twice"),
        ("../a=10", "`../a` is no name of a part"),
    ] {
        let (status, _, said) =
            run(folder.path(), &["split", "-o", "p", "--share", share, "a.psd"]);
        assert_eq!(status, 2, "{share}");
        assert!(said.contains(says), "{said}");
    }
    let (status, _, said) = run(folder.path(), &["split", "-o", ".", "--share", "a=10", "a.psd"]);
    assert_eq!(status, 2, "{said}");
    fs::write(folder.path().join("c.mrg"), "(S (A a))\n").unwrap();
    for out in ["c.mrg", "a.psd"] {
        let (status, _, said) =
            run(folder.path(), &["split", "-o", out, "--share", "a=10", "a.psd"]);
        let problem = format!("error: --out {out}: {out} is not a folder: name a folder\n");
        assert_eq!((status, said), (2, problem));
    }
    let (_, _, said) =
        run(folder.path(), &["split", "-o", "p", "--share", "a=10", "--by", "id", "c.mrg"]);
    assert!(said.contains("--by id: no tree has an ID"), "{said}");
}

#[test]
fn parts_of_another_split_beside_the_new_ones_are_noted() {
    let folder = bank();
    let split =
        |share: &str| run(folder.path(), &["split", "-o", "parts", "--share", share, "a.psd"]);
    let note = "note: parts also has files that this run did not write: test.mrg\n";
    let (status, _, said) = split("train=80,dev=10,test=10");
    assert!(status == 0 && !said.contains("did not write"), "{said}");
    fs::write(folder.path().join("parts/notes.txt"), "a note\n").unwrap();
    let (status, _, said) = split("train=90,dev=10");
    assert!(status == 0 && said.contains(note), "{said}");
}

#[test]
fn each_fold_is_parsed_by_a_parser_that_was_not_trained_on_it() {
    let folder = bank();
    let arguments =
        ["crossval", "--folds", "3", "--set", "epochs=2", "-o", "out", "--train", "a.psd", "b.psd"];
    let (status, out, said) = run(folder.path(), &arguments);
    assert_eq!(status, 0, "{said}");
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split('\t').collect()).collect();
    let heads: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(heads, ["fold", "fold-01", "fold-02", "fold-03", "mean", "deviation", "pooled"]);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{out}");
    assert_eq!(rows[1][..4], ["fold-01", "1", "10", "5"]);
    assert_eq!(rows[6][..4], ["pooled", "1", "", "15"]);
    assert_eq!(fs::read_to_string(folder.path().join("out/folds.tsv")).unwrap(), out);
    // The pooled parses are in the order of the treebank.
    let words = |file: &str| -> Vec<String> {
        let tagged = run(folder.path(), &["tree", "-q", "--output", "tagged", file]);
        tagged.1.lines().map(str::to_owned).collect()
    };
    assert_eq!(words("out/gold.mrg"), words("out/parsed.gold-tags.1.mrg"));
    let (_, report, _) =
        run(folder.path(), &["eval", "-q", "--json", "out/gold.mrg", "out/parsed.gold-tags.1.mrg"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let pooled: f64 = rows[6][4].parse().unwrap();
    assert!((report["all"]["f1"].as_f64().unwrap() - pooled).abs() < 0.006, "{report} {pooled}");
    for command in ["diff", "compare"] {
        let mut files = vec![command, "out/gold.mrg", "out/parsed.own-tags.1.mrg"];
        if command == "compare" {
            files.push("out/parsed.gold-tags.1.mrg");
        }
        assert_eq!(run(folder.path(), &files).0, 0, "{command}");
    }
    // It is resumed, and prints the same.
    fs::remove_file(
        folder.path().join("out/cells").read_dir().unwrap().next().unwrap().unwrap().path(),
    )
    .unwrap();
    let (_, again, said) = run(folder.path(), &arguments);
    assert!(said.contains("3 cells, 2 of them finished before"), "{said}");
    assert_eq!(again, out);
}

#[test]
fn results_of_an_earlier_run_beside_the_new_ones_are_noted() {
    let folder = bank();
    let crossval = |options: &[&str]| {
        let files = ["--set", "epochs=1", "-o", "out", "--train", "a.psd", "b.psd"];
        let (status, _, said) = run(folder.path(), &[&["crossval"][..], options, &files].concat());
        assert_eq!(status, 0, "{said}");
        said
    };
    let note = "note: out also has files that this run did not write: fold-03.mrg, parsed.gold-tags.1.mrg, parsed.own-tags.1.mrg\n";
    assert!(!crossval(&["--folds", "3", "--seeds", "1,2"]).contains("did not write"));
    let said = crossval(&["--folds", "2", "--seeds", "2"]);
    assert!(said.contains(note), "{said}");
    assert!(folder.path().join("out/fold-03.mrg").exists());
}

#[test]
fn folds_of_documents_and_seeds_leave_nothing_behind_without_a_folder() {
    let folder = bank();
    let before = folder.path().read_dir().unwrap().count();
    let arguments =
        ["crossval", "-q", "--folds", "2", "--by", "file", "--seeds", "1,2", "--set", "epochs=1"];
    let (status, out, said) =
        run(folder.path(), &[&arguments[..], &["--train", "a.psd", "b.psd"]].concat());
    assert_eq!((status, said.as_str()), (0, ""));
    let starts: Vec<String> =
        out.lines().map(|row| row.split('\t').take(4).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(starts[1..3], ["fold-01 1 5 10", "fold-01 2 5 10"]);
    assert_eq!(starts[5..], ["mean   ", "deviation   ", "pooled 1  15", "pooled 2  15"]);
    assert_eq!(folder.path().read_dir().unwrap().count(), before);
}

#[test]
fn too_many_folds_are_refused() {
    let folder = bank();
    for (options, says) in [
        (&["--folds", "16"][..], "the treebank has only 15 trees: give fewer folds"),
        (&["--folds", "3", "--by", "file"], "the treebank has only 2 documents: give fewer folds"),
        (&["--folds", "2", "--preset", "accurate"], "give at least 3"),
        (&["--folds", "1"], "2..=1000"),
        (&["--folds", "2", "--preset", "tagger"], "error: preset: trains a tagger alone: "),
    ] {
        let arguments = [&["crossval", "--train", "a.psd", "b.psd"], options].concat();
        let (status, _, said) = run(folder.path(), &arguments);
        assert_eq!(status, 2, "{options:?}");
        assert!(said.contains(says), "{said}");
    }
    let one = ["crossval", "--folds", "2", "--by", "file", "--train", "a.psd"];
    let (status, _, said) = run(folder.path(), &one);
    assert_eq!(status, 2);
    assert!(said.contains("only 1 document: give more files, or change or omit --by\n"), "{said}");
    for (name, trees, says) in [
        ("none.mrg", "", "no trees: check that this is a treebank file\n"),
        ("code.mrg", "(S (CODE x))\n(CODE (SYM y))\n", "no tree has words after cleaning: "),
    ] {
        fs::write(folder.path().join(name), trees).unwrap();
        let arguments = ["crossval", "--set", "clean.drop=[\"CODE\"]", "--train", name];
        let (status, _, said) = run(folder.path(), &arguments);
        assert_eq!(status, 2, "{said}");
        assert!(said.contains(&format!("error: --train {name}: {says}")), "{said}");
    }
}

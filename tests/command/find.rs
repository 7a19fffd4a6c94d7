//! The commands `srparse find` and `srparse complexity`, and rules of `srparse tree`.

use std::path::Path;

use crate::command::{srparse, text};
use tempfile::TempDir;

const A: &str = "( (S (NP-SBJ (DT The) (JJ old) (NN dog)) (VP (VBZ is) (VP (VBN seen) (NP (-NONE- *)) (PP (IN by) (NP \
                 (PRP$ his) (NN cat))))) (. .)) )\n( (S (NP-SBJ (PRP It)) (VP (VBZ barks)) (-LRB- -LRB-)) )\n";
const B: &str = "(TOP (NP (NN dog)))\n";

/// A folder with the files `a.mrg`, `b.mrg` and `empty.mrg`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("a.mrg", A), ("b.mrg", B), ("empty.mrg", "")] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// The exit status and both outputs of a command with these arguments, which are separated by tabs.
fn run(folder: &Path, arguments: &str, input: &str) -> (i32, String, String) {
    let arguments: Vec<&str> = arguments.split('\t').collect();
    let output = srparse(&arguments).current_dir(folder).write_stdin(input).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn found(arguments: &str) -> String {
    let folder = folder();
    let (status, out, err) = run(folder.path(), &format!("find\t{arguments}"), A);
    assert_eq!((status, err.as_str()), (0, ""), "{arguments}");
    out
}

#[test]
fn a_label_may_be_no_name_in_patterns() {
    let tree = "(S (NP-SBJ (PRP$ my) (NN dog)) (VP (VBZ sits)) (. .))";
    for (label, n) in [("PRP$", "1"), (".", "1"), ("NP|VP", "2"), ("N.", "0")] {
        let mut find = srparse(&["find", "-q", "--count", "--label", label]);
        let done = find.write_stdin(tree).assert();
        assert_eq!(text(&done.get_output().stdout).trim(), n, "{label}");
    }
    for label in ["NP-SBJ", "VP|NP-SBJ"] {
        let (status, _, said) = run(folder().path(), &format!("find\t--label\t{label}"), tree);
        let problem = "error: --label NP-SBJ: labels are compared without function tags: write NP, or give NP-SBJ as \
                       the pattern\n";
        assert_eq!((status, said.as_str()), (2, problem), "{label}");
    }
}

#[test]
fn a_label_or_a_pattern_may_begin_with_a_hyphen() {
    for arguments in
        ["-c\t--label=-NONE-\ta.mrg", "--label\tQ|-NONE-\t-c\ta.mrg", "-c\t--\t-NONE-\ta.mrg"]
    {
        assert_eq!(found(arguments), "1\n", "{arguments}");
    }
    let (status, _, said) = run(folder().path(), "find\t-c\t-NONE-\ta.mrg", "");
    let tip = "\n  tip: write `--` before a pattern that begins with `-`, and `=` before a label: find -c -- -NONE- FILE, --label=-NONE-\n";
    assert!(status == 2 && said.contains(tip) && said.matches("tip").count() == 1, "{said}");
    let (_, _, said) = run(folder().path(), "find\t--cuont\tNP\ta.mrg", "");
    assert!(said.contains("'--count'") && !said.contains("-NONE-"), "{said}");
}

#[test]
fn every_match_is_a_line_with_its_place() {
    let expected = "a.mrg:1\t(NP-SBJ (DT The) (JJ old) (NN dog))\na.mrg:2\t(NP-SBJ (PRP It))\n";
    assert_eq!(found("NP-SBJ\ta.mrg\tb.mrg"), expected);
    assert_eq!(found("NP-SBJ\ta.mrg\tb.mrg\t-j\t3"), expected);
    assert_eq!(found("NP-SBJ").replace("<stdin>", "a.mrg"), expected);
    assert_eq!(found("NP\ta.mrg\t--clean\t--no-place").lines().count(), 3);
    assert_eq!(found("/^-LRB-$/ < __=w\t--node\tw\ta.mrg"), "a.mrg:2\t-LRB-\n");
    assert_eq!(
        found("--label\tNP\ta.mrg\tb.mrg\t--output\twords\t--no-place"),
        "The old dog\n\nhis cat\nIt\ndog\n"
    );
}

#[test]
fn an_expression_with_too_many_steps_is_reported_with_its_tree() {
    let folder = folder();
    let trees = format!("(A (B b))\n(A (B {}))\n", "a".repeat(50_000));
    std::fs::write(folder.path().join("c.mrg"), trees).unwrap();
    let (status, _, said) = run(folder.path(), "find\t/(a*)*\\1b/\tc.mrg", "");
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("c.mrg: tree 2: /(a*)*\\1b/: takes too many steps"), "{said}");
    assert!(said.len() < 400, "{said}");
}

#[cfg(unix)]
#[test]
fn a_file_name_is_never_two_lines_or_columns() {
    let folder = folder();
    std::fs::write(folder.path().join("a\tb\nc.mrg"), B).unwrap();
    let (_, out, _) = run(folder.path(), "find\tNP\t*c.mrg", "");
    assert_eq!(out, "a\u{fffd}b\u{fffd}c.mrg:1\t(NP (NN dog))\n");
}

#[test]
fn a_node_is_found_once_for_every_way_or_once() {
    assert_eq!(found("VP << __\ta.mrg\t--count"), "31\n");
    assert_eq!(found("VP << __\ta.mrg\t--count\t--once"), "3\n");
    assert_eq!(found("VP << __\ta.mrg\t--once\t--no-place").lines().count(), 3);
    assert_eq!(found("VP=v << NN=n\t--node\tv\ta.mrg\t-c"), "2\n");
}

#[test]
fn matches_are_counted_by_document_label_and_words() {
    assert_eq!(
        found("NN\ta.mrg\tempty.mrg\tb.mrg\t--count-by\tdocument"),
        "2\ta.mrg\n0\tempty.mrg\n1\tb.mrg\n"
    );
    assert_eq!(found("@NP\ta.mrg\tb.mrg\t--count-by\tlabel"), "3\tNP\n2\tNP-SBJ\n");
    assert_eq!(found("NN\ta.mrg\tb.mrg\t--count-by\twords"), "2\tdog\n1\tcat\n");
    let folder = folder();
    let (_, out, _) =
        run(folder.path(), "find\tX\t--count-by\twords", "(S (X US) (X us) (X US))\n");
    assert_eq!(out, "2\tUS\n1\tus\n");
}

#[test]
fn words_stand_aligned_in_their_context_and_as_in_the_text() {
    let expected =
        "   The old  dog  is seen by\neen by his  cat  .\n        It  barks  (\n            dog\n";
    let arguments = "NN|VBZ !< is\ta.mrg\tb.mrg\t--output\tkwic\t--width\t10\t--no-place";
    assert_eq!(found(arguments), expected);
}

#[test]
fn json_has_spans_and_named_nodes() {
    let out = found("VP=v < (PP < NP=n)\ta.mrg\t--output\tjson");
    let row: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&row["file"], &row["tree"], &row["span"]),
        (&"a.mrg".into(), &1.into(), &vec![4, 9].into())
    );
    assert_eq!((&row["label"], &row["words"]), (&"VP".into(), &"seen by his cat".into()));
    assert_eq!(row["nodes"]["n"]["words"], "his cat");
    // Brackets that open before are those of nodes, and words stand alone.
    let tree = found("__ !> __\ta.mrg\t--no-place").lines().next().unwrap().to_owned();
    let before = &tree[..tree.find("(VP (VBN").unwrap()];
    let words = before.split(' ').filter(|part| part.ends_with(')')).count();
    let number = before.matches('(').count() + words;
    assert_eq!((&row["node"], &row["tree"]), (&number.into(), &1.into()), "{tree}");
    assert!(
        row["brackets"].as_str().unwrap().starts_with("(VP (VBN seen) (NP (-NONE- *))"),
        "{out}"
    );
}

#[test]
fn whole_trees_and_pages_have_each_tree_once() {
    let trees = found("/^VB/\ta.mrg\t--output\ttrees\t--no-place");
    assert_eq!(trees.lines().count(), 2);
    // With their places, they are still read by other commands.
    let placed = found("/^VB/\ta.mrg\t--output\ttrees");
    let places: Vec<&str> = placed.lines().step_by(2).collect();
    assert_eq!(places, ["# a.mrg:1", "# a.mrg:2"]);
    let again = |trees: &str| run(folder().path(), "tree\t--no-clean", trees).1;
    assert_eq!(again(&placed), again(&trees));
    assert_eq!(again(&placed).lines().count(), 2);
    let page = found("VP\ta.mrg\t--output\thtml");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{page}");
    assert!(
        page.contains("\"marks\":\"===**==\"") && page.contains("\"name\":\"a.mrg:2\""),
        "{page}"
    );
}

#[test]
fn nothing_found_is_status_1_and_errors_are_status_2_with_the_place() {
    let folder = folder();
    let find = |arguments: &str| run(folder.path(), &format!("find\t{arguments}"), "");
    assert_eq!(find("X\ta.mrg"), (1, String::new(), String::new()));
    assert_eq!(find("X\tempty.mrg\t-c"), (1, "0\n".to_owned(), String::new()));
    let errors = [
        (
            "NP < DT VP\ta.mrg",
            "error: pattern:1:9: expected a relation, such as `<` or `<<`, or the end of the pattern\n  \
                               NP < DT VP\n          ^",
        ),
        ("NP\tno.mrg", "error: no.mrg: "),
        ("NP=a\ta.mrg\t--node\tb", "error: --node b: the pattern names no such node; it names a"),
        ("NP\ta.mrg\t--heads\tcolins", "did you mean `collins`?"),
        ("NP\ta.mrg\t--model\tenglish-fast", "required arguments were not provided:\n  --text"),
        ("NP\ta.mrg\t--count\t--output\tjson", "'--count' cannot be used with '--output <FORMAT>'"),
        ("NP\ta.mrg\t--count-by\tlabel\t--output\thtml", "cannot be used with"),
        (
            "NP\ta.mrg\t--width\t5",
            "error: --width is for words in their context: add --output kwic",
        ),
        ("NP\ta.mrg\t--text\t--treebank\tnegra", "'--text' cannot be used with '--treebank"),
    ];
    for (arguments, expected) in errors {
        let (status, out, err) = find(arguments);
        assert!((status, out.as_str()) == (2, "") && err.contains(expected), "{arguments}: {err}");
    }
    let (status, _, err) = run(folder.path(), "complexity\t--text\t--treebank\tnegra\ta.mrg", "");
    assert!(status == 2 && err.contains("cannot be used with '--treebank"), "{err}");
    let (status, _, err) = find("S < NP|VP | NP\ta.mrg");
    assert!(status == 0 && err.starts_with("note: pattern:1:11: what follows `|`"), "{err}");
}

#[test]
fn heads_are_those_of_the_treebank_unless_others_are_given() {
    let folder = folder();
    std::fs::write(folder.path().join("own.toml"), "heads = \"left\"\n").unwrap();
    let count =
        |options: &str| run(folder.path(), &format!("find\tNP <# DT\ta.mrg\t-c{options}"), "").1;
    assert_eq!(count("\t--clean"), "0\n");
    let by_treebank = count("\t--treebank\town.toml");
    assert_ne!(by_treebank, "0\n");
    assert_eq!(count("\t--clean\t--heads\tleft"), by_treebank);
    assert_eq!(count("\t--treebank\town.toml\t--heads\tcollins"), "0\n");
}

#[test]
fn raw_text_is_parsed_and_offsets_count_its_characters() {
    let folder = folder();
    std::fs::write(folder.path().join("essay.txt"), "É. The old dog\nbarks (now).\n").unwrap();
    let arguments = "find\t__ < old\t--text\t--model\tenglish-fast\t--output\tjson\tessay.txt";
    let (status, out, err) = run(folder.path(), arguments, "");
    assert_eq!((status, err.as_str()), (0, ""));
    let row: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&row["file"], &row["characters"]), (&"essay.txt".into(), &vec![7, 10].into()));
}

#[test]
fn text_that_cannot_be_read_is_an_error_or_skipped() {
    let folder = folder();
    std::fs::write(folder.path().join("bad.txt"), b"We sing.\n\xff\nDogs bark.\n").unwrap();
    for command in ["find\tNP\t--text", "complexity\t--text"] {
        for threads in ["1", "2"] {
            let arguments = format!("{command}\t--model\tenglish-fast\tbad.txt\t-j\t{threads}");
            let (status, _, err) = run(folder.path(), &arguments, "");
            assert!(status == 2 && err.starts_with("error: bad.txt:2:1: not UTF-8"), "{err}");
            let (status, out, err) = run(folder.path(), &format!("{arguments}\t--skip-bad"), "");
            assert_eq!((status, out.lines().count()), (0, 2), "{out}{err}");
            assert!(err.starts_with("read 2 sentences, skipped 1 (bad.txt:2: not UTF-8"), "{err}");
        }
    }
}

#[test]
fn explosions_end_with_advice() {
    let folder = folder();
    let mut deep = "(T w)".to_owned();
    for _ in 0..500 {
        deep = format!("(X {deep})");
    }
    let (status, _, err) = run(folder.path(), "find\tX << X\t--output\twords", &deep);
    assert!(status == 2 && err.contains("use --once or --count"), "{err}");
    let (status, out, _) = run(folder.path(), "find\tX << X\t--count", &deep);
    assert_eq!((status, out.as_str()), (0, "124750\n"));
    let long = deep.replace('w', &"w".repeat(1 << 20));
    let (status, _, err) = run(folder.path(), "find\tX\t--count-by\twords", &long);
    assert!(status == 2 && err.contains("256 MB of them"), "{err}");
}

#[test]
fn a_named_node_is_found_once_wherever_the_pattern_matches() {
    let tree = "(S (VP (V a) (NP (N b)) (VP (V c) (NP (N d))) (NP (N e))))";
    let folder = folder();
    let (_, out, _) = run(folder.path(), "find\tNP > VP=v\t--once\t--node\tv\t-c", tree);
    assert_eq!(out, "2\n");
    let two = "(S (NP (N a)) (VP (NP (N b))))";
    let (_, out, _) = run(folder.path(), "find\tS << NP=n\t--once\t--node\tn\t-c", two);
    assert_eq!(out, "2\n");
    let flat = format!("(S{})", " (A a)".repeat(700));
    let (status, out, err) = run(folder.path(), "find\tA=a $ A\t--node\ta\t-c", &flat);
    assert_eq!((status, out.as_str()), (0, "489300\n"), "{err}");
}

#[test]
fn complexity_has_a_row_for_each_file() {
    let folder = folder();
    let (status, out, err) = run(folder.path(), "complexity\t--clean\ta.mrg\tempty.mrg\t-j\t2", "");
    assert_eq!((status, err.as_str()), (0, ""));
    let rows: Vec<&str> = out.lines().collect();
    assert!(rows[0].starts_with("file\tW\tS\tVP\tC\tT\tDC\tCT\tCP\tCN\tMLS\tMLT"), "{out}");
    assert!(
        rows[1].starts_with("a.mrg\t10\t2\t2\t2\t2\t0\t0\t0\t1\t5.0000\t5.0000\t5.0000\t1.0000"),
        "{out}"
    );
    assert!(rows[2].starts_with("empty.mrg\t0\t0\t0\t"), "{out}");
    let (_, out, err) = run(folder.path(), "complexity\t--output\tjson\tb.mrg", "");
    let row: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&row["W"], &row["MLS"]), (&1.into(), &1.0.into()));
    assert!(
        err.starts_with("note: no clause was found in 1 tree: there are fragments alone"),
        "{err}"
    );
    for quiet in ["b.mrg\t-q", "empty.mrg"] {
        let (status, _, err) = run(folder.path(), &format!("complexity\t{quiet}"), "");
        assert_eq!((status, err.as_str()), (0, ""), "{quiet}");
    }
}

#[test]
fn trees_are_changed_by_rules_before_they_are_cleaned() {
    let folder = folder();
    let rules =
        "/^VB/=tag $++ VP\n\nrelabel tag AUX\n\n/^-NONE-$/=trace > NP=np\n\nrelabel np GAP\n";
    std::fs::write(folder.path().join("r.tsurgeon"), rules).unwrap();
    let tree = |arguments: &str| run(folder.path(), &format!("tree\t-q\t{arguments}"), "");
    let expected = "(TOP (S (NP (DT The) (JJ old) (NN dog)) (VP (AUX is) (VP (VBN seen) (PP (IN by) (NP (PRP$ his) (NN cat))))) (. .)))";
    let (status, out, err) = tree("--rules\tr.tsurgeon\ta.mrg\t-j\t2");
    assert_eq!((status, err.as_str(), out.lines().next()), (0, "", Some(expected)));
    let (_, out, _) = tree("--rules\tr.tsurgeon\t--no-clean\ta.mrg");
    assert!(out.contains("(GAP (-NONE- *))"), "{out}");
    for (rules, expected) in [
        ("NP=n\n\nrelabel m X\n", "error: r.tsurgeon:3:9: no node is named `m`"),
        ("NP=n\n\ninsert (X) >1 n\n", "the node `X` has no word left: add it as `(X word)`"),
        (
            "VP=n\n\nrelabel n VP\n",
            "error: a.mrg:1: tree 1: r.tsurgeon:1: the pattern still matches after",
        ),
    ] {
        std::fs::write(folder.path().join("r.tsurgeon"), rules).unwrap();
        let (status, _, err) = tree("--rules\tr.tsurgeon\ta.mrg");
        assert!(status == 2 && err.contains(expected), "{err}");
    }
}

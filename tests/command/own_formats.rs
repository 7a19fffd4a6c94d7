//! Treebanks in the formats in which they are published: Alpino XML, GENIA XML, output of CorpusSearch, lemmas, comments,
//! and the IDs of sentences.

use std::path::Path;

use crate::command::{folder, srparse, text};

const ALPINO: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- an <example> -->
<alpino_ds version="1.3">
  <node begin="0" cat="top" end="4" id="0" rel="top">
    <node begin="0" cat="smain" end="3" id="1" rel="--">
      <node begin="0" end="1" id="2" index="1" pos="noun" rel="su" word="Honden"/>
      <node begin="1" end="2" id="3" pos="verb" rel="hd" word="willen"/>
      <node begin="0" cat="inf" end="3" id="4" rel="vc">
        <node begin="0" end="1" id="5" index="1" rel="su"/>
        <node begin="2" end="3" id="6" pos="verb" rel="hd" word="blaffen"/>
      </node>
    </node>
    <node begin="3" end="4" id="7" pos="punct" rel="--" word="."/>
  </node>
  <sentence sentid="p.7">Honden willen blaffen .</sentence>
</alpino_ds>
"#;

const GENIA: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE annotation SYSTEM "gtb.dtd">
<annotation><PubmedArticleSet><PubmedArticle><PMID>42</PMID><ArticleTitle>
<sentence id="s0"><cons cat="S"><cons cat="NP" role="SBJ" id="i1"><tok cat="NNS">Cells</tok></cons> <cons cat="VP"><tok
cat="VBP">grow</tok> <cons cat="NP" null="NONE" ref="i1"/></cons><tok cat=".">.</tok></cons></sentence>
</ArticleTitle></PubmedArticle></PubmedArticleSet></annotation>
"#;

const CORPUS_SEARCH: &str = "/*
PREFACE:  regular output file (of a search)
command file: (under.q)
*/
/~*
Dogs bark.
(SAMPLE,2.5)
*~/
/*
 1 IP-MAT:  3 NP-SBJ (2)
**/
( (IP-MAT (NP-SBJ (NS Dogs))
          (VBP bark) (. .))
  (ID SAMPLE,2.5))

/*
FOOTER
*/
/+ hits (1) +/
";

/// The exit status, standard output and what was said.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = srparse(arguments).current_dir(folder).output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// The trees of a file, and what was said.
fn trees(content: &str, options: &[&str]) -> (i32, String, String) {
    let folder = folder(&[("bank", content.as_bytes())]);
    run(folder.path(), &[&["tree", "bank"], options].concat())
}

#[test]
fn alpino_xml_is_read_with_one_or_many_sentences_a_file() {
    let tree = "(TOP (smain (noun Honden) (verb willen) (inf (verb blaffen))) (punct .))\n";
    assert_eq!(trees(ALPINO, &[]), (0, tree.to_owned(), "read 1 tree, skipped 0\n".to_owned()));
    let both = format!("{ALPINO}{ALPINO}");
    assert_eq!(trees(&both, &["-q"]).1, tree.repeat(2));
    let (_, kept, _) = trees(ALPINO, &["-q", "--ids", "--set", "clean.functions=keep"]);
    let expected =
        "( (smain (noun Honden) (verb willen) (inf-vc (verb blaffen))) (punct .) (ID p.7))\n";
    assert_eq!(kept, expected);
    let folder = folder(&[("12.xml", ALPINO.replace(" sentid=\"p.7\"", "").as_bytes())]);
    assert!(run(folder.path(), &["tree", "-q", "--ids", "12.xml"]).1.ends_with("(ID 12))\n"));
    let (status, _, said) = trees(&ALPINO.replace(" begin=\"1\"", ""), &[]);
    assert_eq!(status, 2);
    assert!(said.contains("bank:7:7: <node> has no attribute `begin`: add it"), "{said}");
}

#[test]
fn genia_xml_is_read_with_roles_and_traces() {
    let (status, out, said) = trees(GENIA, &["--ids"]);
    assert_eq!((status, said.as_str()), (0, "read 1 tree, skipped 0\n"));
    assert_eq!(out, "( (S (NP (NNS Cells)) (VP (VBP grow)) (. .)) (ID 42.s0))\n");
    let (_, raw, _) = trees(GENIA, &["-q", "--no-clean"]);
    assert_eq!(raw, "( (S (NP-SBJ (NNS Cells)) (VP (VBP grow) (NP (-NONE- *))) (. .)))\n");
    let (status, _, said) = trees(&GENIA.replace("<tok cat=\".\">", "<tok>"), &[]);
    assert_eq!(status, 2);
    assert!(said.contains("bank:5:66: <tok> has no attribute `cat`: add it"), "{said}");
}

#[test]
fn xml_of_another_format_is_refused_with_what_is_read() {
    let (status, _, said) = trees("<?xml version='1.0'?>\n<html><body/></html>", &[]);
    assert_eq!(status, 2);
    assert!(said.contains("bank:2:1: the XML begins with <html>"), "{said}");
    assert!(said.contains("<alpino_ds>") && said.contains("<annotation>"), "{said}");
}

#[test]
fn output_of_corpus_search_is_read_without_its_comments() {
    let (status, out, said) = trees(CORPUS_SEARCH, &["--treebank", "ppche", "--ids"]);
    assert_eq!((status, said.as_str()), (0, "read 1 tree, skipped 0\n"));
    assert_eq!(out, "( (IP (NP (NS Dogs)) (VBP bark) (. .)) (ID SAMPLE,2.5))\n");
    let (status, _, said) = trees("( (S (A a)))\n  /* open\n( (S (B b)))\n", &[]);
    assert_eq!(status, 2);
    assert!(said.contains("bank:2:5: the comment does not end") && said.contains("`*/`"), "{said}");
    // A file of trees is recognized behind comments.
    let folder = folder(&[("bank", CORPUS_SEARCH.as_bytes())]);
    let (_, _, said) = run(folder.path(), &["parse", "bank"]);
    assert!(said.contains("use --input penn"), "{said}");
}

#[test]
fn lines_of_comments_between_trees_are_skipped() {
    let bank = "# sent_id = 1 (x)\n(S (A a))\n# two )\n#\n(S (# #)\n(B b))\n";
    let (status, out, _) = trees(bank, &["-q", "--no-clean"]);
    assert_eq!((status, out.as_str()), (0, "(S (A a))\n(S (# #) (B b))\n"));
    let (status, _, said) = trees("(S (A a)) # no\n", &[]);
    assert_eq!(status, 2);
    assert!(said.contains("bank:1:11: `#` is outside of any tree"), "{said}");
}

#[test]
fn lemmas_after_words_are_left_out_and_counted() {
    for bank in [
        "(S (NP (N dogs (lemma dog))) (V bark (LEMMA\n  bark)))\n(S (V go (lemma go)))\n",
        "(S (NP (N dogs dog)) (V bark bark))\n(S (-NONE- *) (V go go))\n",
    ] {
        let (status, out, said) = trees(bank, &["--no-clean"]);
        assert_eq!(status, 0, "{said}");
        assert!(out.starts_with("(S (NP (N dogs)) (V bark))\n(S "), "{out}");
        assert_eq!(said, "read 2 trees, skipped 0; 3 lemmas after words were left out\n");
    }
    // A second word in a file without lemmas is a mistake, as before.
    for (bank, at) in [
        ("(S (N a b) (V c))\n(S (A a))\n", "bank:1:9"),
        ("(S (N a) (V c d))\n(S (A a))\n", "bank:1:15"),
        ("(S (A a b))\n(S (A a))\n", "bank:1:9"),
        ("(S (A a b) (B c d e))\n(S (A a))\n", "bank:1:19"),
        ("(S (N a (lemma b c)))\n(S (A a))\n", "bank:1:9"),
        ("(S (N a (lem b)))\n(S (A a))\n", "bank:1:9"),
    ] {
        let (status, _, said) = trees(bank, &[]);
        assert_eq!(status, 2, "{bank}: {said}");
        assert!(said.contains(&format!("{at}: ")), "{said}");
        let (status, out, _) = trees(bank, &["-q", "--skip-bad", "--no-clean"]);
        assert_eq!((status, out.as_str()), (0, "(S (A a))\n"), "{bank}");
    }
}

#[test]
fn a_word_may_end_in_a_backslash() {
    for (bank, expected) in [
        ("(S (NN \\) (A a))", "(S (NN \\ ) (A a))\n"),
        ("(S (NP (NN a\\))\n)\n(S (A a))", "(S (NP (NN a\\ )))\n(S (A a))\n"),
        ("(S (NP (NN \\)))\n(S (A a))", "(S (NP (NN \\ )))\n(S (A a))\n"),
        // An escaped bracket.
        ("(S (NP (-RRB- \\))) (A a))", "(S (NP (-RRB- -RRB-)) (A a))\n"),
        ("(S (-RRB- \\)))", "(S (-RRB- -RRB-))\n"),
        ("(S (A \\)x))", "(S (A -RRB-x))\n"),
        ("(S (A \\(\\)))", "(S (A -LRB--RRB-))\n"),
    ] {
        let (status, out, said) = trees(bank, &["--no-clean", "-q"]);
        assert_eq!((status, out.as_str()), (0, expected), "{bank}: {said}");
    }
}

#[test]
fn files_that_describe_a_folder_are_not_read() {
    let readme = "This folder has trees.\n".as_bytes();
    let files = [
        ("README.txt", readme),
        ("LICENSE", readme),
        ("notes.2024.md", readme),
        ("README.en.txt", readme),
        ("a.mrg", b"(S (A a))\n"),
    ];
    let folder = folder(&files);
    let (status, out, said) = run(folder.path(), &["tree", "."]);
    assert_eq!((status, out.as_str()), (0, "(TOP (S (A a)))\n"), "{said}");
    assert!(said.contains("README.txt: this file describes a folder, so it is not read"), "{said}");
    assert_eq!(said.matches("describes a folder").count(), 4, "{said}");
    // Named, it is read.
    let (status, _, said) = run(folder.path(), &["tree", "README.txt"]);
    assert_eq!(status, 2);
    assert!(said.contains("README.txt:1:1: "), "{said}");
}

#[test]
fn ids_survive_from_each_format_to_each_output() {
    let penn =
        "( (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)) (ID a.1))\n( (S (NP (NN x)) (. .)))\n";
    let export = "#FORMAT 4\n#BOS 226 1 2\nThe the DT -- NK 500\ndog dog NN -- HD 500\n#500 -- NP -- -- 0\n#EOS 226\n";
    let conllu = "# sent_id = c-1\n1\tThe\t_\tDET\tDT\t_\t_\t_\t_\t_\n2\tdog\t_\tNOUN\tNN\t_\t_\t_\t_\t_\n\n";
    let json = "{\"id\": 7, \"tokens\": [[\"The\", \"DT\"], [\"dog\", \"NN\"]]}\n";
    let files = [
        ("p.mrg", penn.as_bytes()),
        ("e.export", export.as_bytes()),
        ("c.conllu", conllu.as_bytes()),
        ("j.jsonl", json.as_bytes()),
    ];
    let folder = folder(&files);
    for (format, file, id) in [
        ("penn", "p.mrg", "a.1"),
        ("penn", "e.export", "226"),
        ("conllu", "c.conllu", "c-1"),
        ("json", "j.jsonl", "7"),
    ] {
        let parse = |output: &str| {
            let arguments = ["parse", "-q", "--ids", "--input", format, "--output", output, file];
            let (status, out, said) = run(folder.path(), &arguments);
            assert_eq!(status, 0, "{said}");
            out
        };
        let first = parse("brackets").lines().next().unwrap().to_owned();
        assert!(first.starts_with("( (") && first.ends_with(&format!(" (ID {id}))")), "{first}");
        assert!(!first.contains("(ID a.1) "), "{first}");
        assert!(parse("pretty").contains(&format!("(ID {id}))")));
        assert_eq!(parse("conllu").matches(&format!("# sent_id = {id}\n")).count(), 1);
        let quoted = if id == "7" { id.to_owned() } else { format!("\"{id}\"") };
        assert!(parse("json").starts_with(&format!("{{\"id\":{quoted},")), "{}", parse("json"));
    }
    let (_, out, _) = run(folder.path(), &["parse", "-q", "--ids", "--input", "penn", "p.mrg"]);
    assert!(out.lines().nth(1).unwrap().starts_with("(TOP "), "{out}");
    let (_, out, _) = run(folder.path(), &["tree", "-q", "--ids", "--output", "json", "p.mrg"]);
    assert!(out.starts_with("{\"id\":\"a.1\",") && !out.contains("\"ID\""), "{out}");
    // Trees with IDs are scored like trees without.
    std::fs::write(folder.path().join("parsed.mrg"), penn).unwrap();
    std::fs::write(folder.path().join("gold.mrg"), penn.replace(" (ID a.1)", "")).unwrap();
    for command in ["eval", "compare", "diff"] {
        let (status, out, said) = run(folder.path(), &[command, "gold.mrg", "parsed.mrg"]);
        let is_scored = command == "compare" || status < 2;
        assert!(is_scored && !said.contains("differ"), "{command}: {out}{said}");
    }
    let (_, out, _) = run(folder.path(), &["eval", "gold.mrg", "parsed.mrg", "--json"]);
    assert!(out.contains("\"f1\": 100.0") && out.contains("\"errors\": 0"), "{out}");
}

#[test]
fn words_in_angle_brackets_are_words_of_historical_treebanks() {
    let bank = "( (IP-MAT (CODE <P_3>) (N <heart>-heart) (V <dash/>)) (ID x))\n";
    let (_, out, _) = trees(bank, &["-q", "--treebank", "ppche"]);
    assert_eq!(out, "(TOP (IP (N <heart>) (V -)))\n");
}

#[test]
fn an_id_is_no_word() {
    let bank = "( (S (NN a)) (ID d1,1) )\n( (S (NN b) (VB c)) (ID d1,2))\n";
    let named = "( (S (NN a)) (ID d1,1))\n( (S (NN b) (VB c)) (ID d1,2))\n";
    for (options, expected) in [
        (&["-q"][..], "(TOP (S (NN a)))\n(TOP (S (NN b) (VB c)))\n"),
        (&["-q", "--no-clean"], "( (S (NN a)))\n( (S (NN b) (VB c)))\n"),
        (&["-q", "--output", "tagged"], "a/NN\nb/NN c/VB\n"),
        (&["-q", "--ids"], named),
        (&["-q", "--ids", "--no-clean"], named),
    ] {
        assert_eq!(trees(bank, options), (0, expected.to_owned(), String::new()), "{options:?}");
    }
    assert_eq!(trees(named, &["-q", "--ids"]).1, named);
    let folder = folder(&[("bank", bank.as_bytes())]);
    let output = |arguments: &[&str]| run(folder.path(), arguments).1;
    assert!(output(&["complexity", "bank"]).contains("\nbank\t3\t2\t"));
    assert_eq!(output(&["find", "--count", "ID", "bank"]), "0\n");
    assert!(output(&["oracle", "--stats", "bank"]).contains("\nwords\t3\n"));
    let parsed = output(&["parse", "-q", "--model", "english-fast", "--input", "penn", "bank"]);
    assert!(parsed.lines().count() == 2 && !parsed.contains("d1"), "{parsed}");
    // The parts of a treebank in brackets are as it is.
    output(&["split", "-q", "-o", "parts", "--share", "all=100", "bank"]);
    let part = std::fs::read_to_string(folder.path().join("parts/all.mrg")).unwrap();
    assert_eq!(part, named);
}

#[test]
fn the_root_of_export_format_gives_way_to_that_of_trees_with_ids() {
    let bank = "#FORMAT 3\n#BOS 226 1 2\ndogs\tNN\t--\tSB\t500\nbark\tVB\t--\tHD\t500\n\
                #500\tS\t--\t--\t0\n#EOS 226\n";
    let named = "( (S (NN dogs) (VB bark)) (ID 226))\n";
    assert_eq!(trees(bank, &["-q", "--ids", "--no-clean"]).1, named);
    let folder = folder(&[("bank", bank.as_bytes())]);
    let split = ["split", "-q", "--ids", "-o", "parts", "--share", "all=100", "bank"];
    assert_eq!(run(folder.path(), &split).0, 0);
    assert_eq!(std::fs::read_to_string(folder.path().join("parts/all.mrg")).unwrap(), named);
    let (_, scores, _) = run(folder.path(), &["eval", "--json", "bank", "parts/all.mrg"]);
    assert!(scores.contains("\"f1\": 100.0"), "{scores}");
}

//! The command `srparse parse` as a filter: one line of output for each line of input.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::command::{folder, model, parse, redacted, sample, srparse, tag, text, transcript};

/// Valid and invalid lines of every kind, and whether each gives a tree (`(`), a blank line or `(())`.
const LINES: [(&[u8], &str); 13] = [
    (b"The/DT dog/NN barks/VBZ ./.", "("),
    (b"", ""),
    (b"   \t", ""),
    (b"(())", "(())"),
    (b"no tag here", "(())"),
    (b"dog/NN\r", "("),
    (b"\xff\xfe/NN", "(())"),
    (b"a\0b/NN", "("),
    ("thin\u{2009}space/NN barks/VBZ".as_bytes(), "("),
    (b"(/-LRB- x/NN )/-RRB- -LRB-/-LRB-", "("),
    (b"1\\/2/CD a/b/NN", "("),
    (b"  The/DT\t dog/NN  ", "("),
    (b"word/", "(())"),
];

/// The lines as a file without a final line feed.
fn lines() -> Vec<u8> {
    LINES.map(|(line, _)| line).join(&b'\n')
}

#[test]
fn every_line_gives_one_line() {
    let done = parse(&[]).write_stdin(lines()).assert().code(2);
    let out = text(&done.get_output().stdout);
    assert_eq!(out.lines().count(), LINES.len(), "{out}");
    assert!(out.ends_with('\n'));
    for (made, (line, wanted)) in out.lines().zip(LINES) {
        let line = String::from_utf8_lossy(line);
        match wanted {
            "(" => assert!(made.starts_with("(TOP ") && made.ends_with(')'), "{line}: {made}"),
            wanted => assert_eq!(made, wanted, "{line}"),
        }
    }
    // Each unreadable line is named with its number.
    let printed = text(&done.get_output().stderr);
    for number in [4, 5, 7, 13] {
        assert!(printed.contains(&format!("<stdin>:{number}:")), "{number} in {printed}");
    }
}

#[test]
fn words_and_tags_come_back_as_they_were() {
    let line = "thin\u{2009}space/NN a\0b/X (/-LRB- x\\/y/CD caf\u{e9}/NN\n";
    let done = parse(&[]).write_stdin(line).assert().success();
    let tree = text(&done.get_output().stdout);
    // A bracket in a word is escaped, since it would end the word; nothing else changes.
    let mut at = 0;
    for token in
        ["(NN thin\u{2009}space)", "(X a\0b)", "(-LRB- -LRB-)", "(CD x/y)", "(NN caf\u{e9})"]
    {
        let escaped = token.replace("x/y", "x\\/y");
        let found = tree[at..].find(token).or_else(|| tree[at..].find(&escaped));
        at += found.unwrap_or_else(|| panic!("{token} is not next in {tree}"));
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let mut input = lines().repeat(30);
    for line in std::fs::read_to_string(sample("sentences.txt")).unwrap().lines().cycle().take(300)
    {
        input.extend_from_slice(b"\n");
        input.extend_from_slice(line.as_bytes());
    }
    let [one, two] = ["1", "2"].map(|threads| {
        let done = parse(&["-q", "-j", threads]).write_stdin(input.clone()).assert().code(2);
        (done.get_output().stdout.clone(), done.get_output().stderr.clone())
    });
    assert!(one == two);
}

#[test]
fn a_line_of_ten_thousand_words_gives_a_tree() {
    let words = ["the/DT", "dog/NN", "barks/VBZ", ",/,", "and/CC"];
    let line: Vec<&str> = words.iter().copied().cycle().take(10_000).collect();
    let done = parse(&[]).write_stdin(line.join(" ")).assert().success();
    let tree = text(&done.get_output().stdout);
    assert_eq!(tree.lines().count(), 1);
    assert_eq!(tree.matches("(NN dog)").count(), 2_000);
}

/// Sentences of the training data with a malformed and a blank line between them.
const THREE: &str = "The/DT baker/NN opens/VBZ the/DT shop/NN at/IN six/CD ./.\nbad\n\n\
                     Maria/NNP bakes/VBZ fresh/JJ bread/NN every/DT morning/NN ./.\n";

#[test]
fn every_output_format_has_one_entry_per_sentence() {
    for format in ["brackets", "pretty", "conllu", "json"] {
        let done = parse(&["--output", format]).write_stdin(THREE).assert().code(2);
        insta::assert_snapshot!(format!("output_{format}"), transcript(&done));
    }
}

#[test]
fn every_input_format_gives_the_same_parse() {
    let conllu = "# text = The dog barks .\n1\tThe\t_\tDET\tDT\t_\t_\t_\t_\t_\n\
                  2\tdog\t_\tNOUN\tNN\t_\t_\t_\t_\t_\n3\tbarks\t_\tVERB\tVBZ\t_\t_\t_\t_\t_\n\
                  4\t.\t_\tPUNCT\t.\t_\t_\t_\t_\t_\n\n";
    let penn = "( (X (NP-SBJ (DT The) (NN dog)) (-NONE- *)\n (VBZ barks) (. .)) )\n";
    let inputs = [
        ("tagged", "The/DT dog/NN barks/VBZ ./.\n"),
        ("underscore", "The_DT dog_NN barks_VBZ ._.\n"),
        ("conllu", conllu),
        ("penn", penn),
    ];
    let outputs = inputs.map(|(format, input)| {
        let done = parse(&["--input", format]).write_stdin(input).assert().success();
        text(&done.get_output().stdout)
    });
    assert_eq!(outputs[0].lines().count(), 1);
    assert!(outputs[0].contains("(DT The) (NN dog)"), "{}", outputs[0]);
    for ((format, _), output) in inputs.iter().zip(&outputs) {
        assert_eq!(*output, outputs[0], "{format}");
    }
}

#[test]
fn input_in_another_format_is_recognized() {
    let mut all = String::new();
    for (format, input) in [
        ("tagged", "(TOP (S (NN a)))\n"),
        ("underscore", "a/DT b/NN\n"),
        ("conllu", "a/DT b/NN\n"),
        ("penn", "a/DT b/NN\n"),
    ] {
        let done = parse(&["-q", "--input", format]).write_stdin(input).assert().code(2);
        all.push_str(&format!("--input {format}\n{}\n\n", transcript(&done)));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn strict_stops_at_the_first_line_that_does_not_read() {
    let [one, two] = ["1", "2"].map(|threads| {
        let done = parse(&["--strict", "-j", threads]).write_stdin(THREE).assert().code(2);
        assert_eq!(text(&done.get_output().stdout).lines().count(), 1);
        transcript(&done)
    });
    assert!(one.contains("1 unreadable"), "{one}");
    assert_eq!(one, two);
}

#[test]
fn a_word_without_a_tag_is_an_error_where_nothing_tags_it() {
    let sentence = |id: u32, tag: &str| {
        format!(
            "<s><graph><terminals><t id='t{id}' word='Hunde' pos='{tag}'/></terminals><nonterminals>\
             <nt id='n{id}' cat='NP'><edge label='HD' idref='t{id}'/></nt></nonterminals></graph></s>\n"
        )
    };
    let [first, second] = [sentence(1, ""), sentence(2, "NN")];
    let file = format!("<corpus><body>\n{first}{second}</body></corpus>\n");
    let folder = folder(&[("a.xml", file.as_bytes())]);
    let settings = ["--no-tagger", "--set", "epochs=1", "--model", "m.srm", "--train"];
    let mut train = srparse(&[&["train", "-q"], &settings[..]].concat());
    train.arg(sample("train.mrg")).current_dir(folder.path()).assert().success();
    let mut command = srparse(&["parse", "-q", "--input", "penn", "a.xml", "--model", "m.srm"]);
    let done = command.current_dir(folder.path()).assert().code(2);
    let trees = text(&done.get_output().stdout);
    assert!(trees.starts_with("(())\n(") && trees.lines().count() == 2, "{trees}");
    let problem = text(&done.get_output().stderr);
    assert!(problem.starts_with("a.xml:2:"), "{problem}");
}

#[test]
fn a_sentence_has_a_limited_number_of_trees() {
    for number in ["0", "4097", "18446744073709551616", "two"] {
        let done = parse(&["--nbest", number]).write_stdin(THREE).assert().code(2);
        let said = text(&done.get_output().stderr);
        assert!(said.contains("must be a number of trees from 1 to 4096"), "{said}");
    }
}

#[test]
fn files_are_read_in_their_order() {
    let folder = crate::command::folder(&[("a", b"a/NN\n"), ("b", b"b/NN\nc/NN")]);
    let done = parse(&["b", "a"]).current_dir(&folder).assert().success();
    let out = text(&done.get_output().stdout);
    let words: Vec<&str> =
        out.lines().map(|line| line.trim_end_matches(')').rsplit(' ').next().unwrap()).collect();
    assert_eq!(words, ["b", "c", "a"]);
}

#[test]
fn the_embedded_model_parses_without_any_option() {
    let done =
        crate::command::srparse(&["parse"]).write_stdin("dogs/NNS bark/VBP\n").assert().success();
    let out = text(&done.get_output().stdout);
    assert!(out.starts_with("(TOP ") && out.contains("(NNS dogs)"), "{out}");
    assert_eq!(text(&done.get_output().stderr), "");
}

/// Starts the command as a child process with pipes.
fn child(arguments: &[&str]) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_srparse"))
        .args(["parse", "--model"])
        .arg(model())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn each_tree_comes_before_the_next_sentence_is_written() {
    for threads in ["1", "2"] {
        let mut child = child(&["-j", threads]);
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        for word in ["dogs", "cats", "birds"] {
            writeln!(input, "{word}/NNS bark/VBP").unwrap();
            input.flush().unwrap();
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            assert!(line.contains(&format!("(NNS {word})")) && line.ends_with('\n'), "{line}");
        }
        drop(input);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for threads in ["1", "2"] {
        let mut child = child(&["-j", threads]);
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let writing = std::thread::spawn(move || {
            // Until the parser is gone: then writing fails, which is what this waits for.
            while input.write_all(b"The/DT dog/NN barks/VBZ ./.\n").is_ok() {}
        });
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        drop(output);
        assert_eq!(child.wait().unwrap().code(), Some(0), "-j {threads}");
        writing.join().unwrap();
        let mut printed = String::new();
        child.stderr.take().unwrap().read_to_string(&mut printed).unwrap();
        assert!(!printed.contains("error") && !printed.contains("panic"), "{printed}");
    }
}

#[test]
fn redaction_takes_out_times_and_nothing_else() {
    let line = "parsed 2 sentences (7 words) in 0.01 s, 250 sentences/s; 0 partial, 1 unreadable";
    let kept = "parsed 2 sentences (7 words) in N s, N sentences/s; 0 partial, 1 unreadable";
    assert_eq!(redacted(line), kept);
    assert_eq!(redacted("{\"score\":1.5,\"complete\":true}"), "{\"score\":N,\"complete\":true}");
}

/// A model of decision trees, whose scores are additive and which fails on some sentences.
fn tree_model() -> &'static Path {
    static MODEL: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
        let folder = folder(&[]);
        let path = folder.path().join("trees.srm");
        let mut train = srparse(&["train", "--quiet", "--preset", "kalt-2004-lc-l", "--train"]);
        train.arg(sample("train.mrg")).arg("--model").arg(&path).assert().success();
        (folder, path)
    });
    &MODEL.1
}

/// Returns the output of parsing the sample with that model, and the reported number of partial trees.
fn searched(arguments: &[&str]) -> (String, u32) {
    let mut command = srparse(&["parse", "--input", "penn", "--model"]);
    let done = command.arg(tree_model()).args(arguments).arg(sample("dev.mrg")).assert().success();
    let printed = text(&done.get_output().stderr);
    let partial =
        printed.split_once("sentences/s; ").and_then(|(_, rest)| rest.split_once(" partial"));
    (text(&done.get_output().stdout), partial.map_or(0, |(number, _)| number.parse().unwrap()))
}

#[test]
fn a_beam_for_sentences_that_failed_leaves_fewer_partial_trees() {
    let (greedy, failed) = searched(&[]);
    let (mended, still) = searched(&["--fallback", "beam"]);
    assert!(failed > 0 && still < failed, "{failed} {still}");
    // What did not fail is as it was.
    let changed = greedy.lines().zip(mended.lines()).filter(|(a, b)| a != b).count();
    assert!(changed <= failed as usize, "{changed} {failed}");
    let (_, of_beam) = searched(&["--beam", "8"]);
    assert!(of_beam < failed, "{failed} {of_beam}");
}

#[test]
fn several_trees_have_ranks_and_scores() {
    let best = searched(&["--beam", "8"]).0;
    let (several, _) = searched(&["--beam", "8", "--nbest", "3"]);
    let sentences: Vec<&str> = several.trim_end().split("\n\n").collect();
    assert_eq!(sentences.len(), best.lines().count());
    let mut more = 0;
    for (sentence, best) in sentences.iter().zip(best.lines()) {
        let rows: Vec<Vec<&str>> =
            sentence.lines().map(|line| line.split('\t').collect()).collect();
        assert!((1..=3).contains(&rows.len()), "{sentence}");
        for (row, rank) in rows.iter().zip(1..) {
            assert_eq!((row.len(), row[0].parse()), (3, Ok(rank)), "{sentence}");
            assert!(row[1].parse::<f64>().unwrap() <= 0.0, "{sentence}");
            assert!(row[2].starts_with("(TOP ") && row[2].ends_with(')'), "{sentence}");
        }
        assert_eq!(rows[0][2], best);
        more += usize::from(rows.len() > 1);
    }
    assert!(more > 0);
    let (lines, _) = searched(&["--beam", "8", "--nbest", "3", "--output", "json"]);
    assert_eq!(lines.lines().count(), sentences.len());
    for (line, sentence) in lines.lines().zip(&sentences) {
        let parses: Vec<serde_json::Value> = serde_json::from_str(line).unwrap();
        assert_eq!(parses.len(), sentence.lines().count());
        for (parse, row) in parses.iter().zip(sentence.lines()) {
            assert_eq!(parse["tree"].as_str(), row.rsplit('\t').next());
        }
    }
}

#[test]
fn one_tree_where_several_are_wanted_is_noted() {
    let said = |model: &Path, options: &[&str]| {
        let mut command = srparse(&["parse", "--model"]);
        command.arg(model).args(options).write_stdin("The/DT dog/NN barks/VBZ ./.\n");
        text(&command.assert().success().get_output().stderr)
    };
    let note = "note: --nbest 2: the search of ";
    let of_perceptron = said(model(), &["--nbest", "2"]);
    assert!(of_perceptron.starts_with(note), "{of_perceptron}");
    assert!(of_perceptron.contains("such as `english`, or train one"), "{of_perceptron}");
    let of_trees = said(tree_model(), &["--nbest", "2"]);
    assert!(of_trees.starts_with(note) && of_trees.contains(": add --beam 4\n"), "{of_trees}");
    for (model, options) in [
        (tree_model(), &["--nbest", "2", "--beam", "4"][..]),
        (model(), &["--nbest", "2", "--quiet"]),
        (model(), &["--nbest", "1"]),
    ] {
        assert!(!said(model, options).contains("greedy"), "{options:?}");
    }
}

#[test]
fn every_span_has_a_score_if_wanted() {
    let wanted = ["--span-scores", "--output", "json"];
    let done = parse(&wanted).write_stdin("dogs/NNS bark/VBP\n\n").assert().success();
    let printed = text(&done.get_output().stdout);
    let parse_line: serde_json::Value =
        serde_json::from_str(printed.lines().next().unwrap()).unwrap();
    let count = |key: &str| parse_line[key].as_array().unwrap().len();
    assert_eq!(count("spans"), count("span_scores"));
    assert!(parse_line["span_scores"][0].as_f64().unwrap() >= 0.0, "{printed}");
    let done = parse(&wanted[..1]).write_stdin("dogs/NNS bark/VBP\n").assert().code(2);
    assert!(text(&done.get_output().stderr).contains("add --output json"));
}

#[test]
fn a_search_that_compares_paths_needs_scores_that_add_up() {
    for arguments in [&["--beam", "4"][..], &["--fallback", "beam"]] {
        let done = parse(arguments).write_stdin("dogs/NNS bark/VBP\n").assert().code(2);
        let printed = text(&done.get_output().stderr);
        assert!(
            printed.contains("search.method: the learner's scores can be compared"),
            "{printed}"
        );
        assert!(printed.contains("`structured-perceptron`"), "{printed}");
    }
}

/// The line of a word in CoNLL-U, every column of which has a value.
fn word(id: u32, word: &str, tag: &str, [head, relation, misc]: [&str; 3]) -> String {
    format!("{id}\t{word}\tlemma\tX\t{tag}\tA=b\t{head}\t{relation}\t0:x\t{misc}\n")
}

#[test]
fn conllu_comes_back_as_it_was_but_for_the_columns_of_the_parse() {
    let sentence = |columns: [[&str; 3]; 3]| {
        let [the, dog, barks] = columns;
        [
            "# sent_id = 1\n",
            "1-2\tThedog\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n",
            &word(1, "The", "DT", the),
            &word(2, "dog", "NN", dog),
            "2.1\tgap\tgap\tNOUN\tNN\t_\t_\t_\t3:dep\t_\n",
            &word(3, "barks", "VBZ", barks),
            "\n",
        ]
        .concat()
    };
    let read = sentence([["9", "det", "_"], ["8", "nsubj", "Gloss=x"], ["0", "root", "_"]]);
    let options = ["--input", "conllu", "--output", "conllu"];
    let done = parse(&options).write_stdin(format!("# newpar\n\n{read}")).assert().success();
    let expected = sentence([
        ["2", "DT", "Constituents=(TOP(S(NP*"],
        ["3", "NP", "Gloss=x|Constituents=*)"],
        ["0", "root", "Constituents=(VP*)))"],
    ]);
    assert_eq!(text(&done.get_output().stdout), format!("# newpar\n\n{expected}"));
}

#[test]
fn what_cannot_be_read_keeps_its_id_and_place_in_conllu() {
    let objects = "{\"id\":\"a\",\"tokens\":[]}\n{\"id\":\"b\",\"tokens\":[[\"x\"]]}\n\
                   {\"id\":\"c\",\"tokens\":[[\"dogs\",\"NNS\"]]}\n";
    let conllu = "# sent_id = a\n\n# sent_id = b\n1\tx\n\n# sent_id = c\n\
                  1\tdogs\t_\tX\tNNS\t_\t_\t_\t_\t_\n\n";
    let run = |options: &[&str], input: &str| {
        let options = [options, &["-q", "--skip-bad", "--ids", "--output", "conllu"]].concat();
        text(&parse(&options).write_stdin(input).assert().success().get_output().stdout)
    };
    let rest = "\n# sent_id = b\n# unreadable\n\n# sent_id = c\n1\tdogs\t";
    for (format, input, first) in
        [("json", objects, "# sent_id = a\n# no words\n"), ("conllu", conllu, "# sent_id = a\n")]
    {
        let begin = &format!("{first}{rest}");
        let written = run(&["--input", format], input);
        assert!(written.starts_with(begin), "{format}: {written}");
        // Read again, it has the same sentences.
        let again = run(&["--input", "conllu"], &written);
        assert!(again.starts_with(begin), "{format}: {again}");
        let tagged = tag(&["-q", "--skip-bad", "--input", format, "--output", "conllu"])
            .write_stdin(input)
            .output()
            .unwrap();
        assert!(text(&tagged.stdout).starts_with(begin), "{format}: {tagged:?}");
    }
    let lists = run(&["--input", "json", "--nbest", "2"], objects);
    let ids = "# sent_id = a\n# no words\n\n\n# sent_id = b\n# unreadable\n\n\n# sent_id = c\n# rank = 1\n";
    assert!(lists.starts_with(ids), "{lists}");
}

#[test]
fn what_has_no_words_is_a_sentence_of_its_own_in_conllu() {
    let run = |command: assert_cmd::Command, options: &[&str], input: &str| {
        let mut command = command;
        command.args(options).args(["-q", "--output", "conllu"]).write_stdin(input);
        text(&command.assert().success().get_output().stdout)
    };
    let trees = "(TOP (NNS dogs))\n(TOP (-NONE- *))\n(())\n(TOP (NNS cats))\n";
    let objects =
        "{\"tokens\":[[\"dogs\",\"NNS\"]]}\n{\"tokens\":[]}\n\n{\"tokens\":[[\"cats\",\"NNS\"]]}\n";
    let lines = "dogs/NNS\n\n\ncats/NNS\n";
    let written = [
        run(parse(&[]), &["--input", "penn"], trees),
        run(parse(&[]), &["--input", "json"], objects),
        run(parse(&[]), &[], lines),
        run(tag(&[]), &["--input", "tagged"], lines),
        run(srparse(&["tree"]), &[], trees),
    ];
    for written in written {
        let empty = "\n# no words\n\n# no words\n\n1\tcats\t";
        assert!(written.contains(empty), "{written}");
        let again = run(parse(&[]), &["--input", "conllu"], &written);
        assert!(again.contains(empty), "{again}");
    }
}

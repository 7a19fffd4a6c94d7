//! What users get wrong at first: each mistake gives one message that says what to do.

use crate::command::{folder, model, model_with_tagger, parse, sample, srparse, tag, text};
use assert_cmd::Command;

/// The exit status, the lines of standard output and what was said.
fn run(mut command: Command) -> (i32, Vec<String>, String) {
    let done = command.assert();
    let output = done.get_output();
    let lines = text(&output.stdout).lines().map(str::to_owned).collect();
    (output.status.code().unwrap(), lines, text(&output.stderr))
}

#[test]
fn a_model_among_the_input_is_recognized() {
    let path = model().to_str().unwrap();
    for (mut command, says) in [
        (srparse(&["parse"]), "--model"),
        (tag(&[]), "--model"),
        (parse(&["-j", "2", "--input", "penn"]), "--model"),
    ] {
        command.arg(path);
        let said = format!(
            "error: {path}: this looks like a model file: give a model with {says} {path}\n"
        );
        assert_eq!(run(command), (2, Vec::new(), said));
    }
}

#[test]
fn treebanks_and_columns_name_the_option_they_need() {
    let conllu = "# text = a\n1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n";
    let folder = folder(&[("x.conllu", conllu.as_bytes())]);
    let trees = sample("dev.mrg");
    let trees = trees.to_str().unwrap();
    for format in ["tagged", "underscore", "conllu", "tokens"] {
        let mut command = srparse(&["parse", "--model"]);
        command.arg(model_with_tagger()).args(["--input", format, trees]);
        let said = format!("error: {trees}: this looks like trees in brackets: use --input penn\n");
        assert_eq!(run(command), (2, Vec::new(), said));
    }
    for mut command in [tag(&[]), tag(&["--input", "penn"]), parse(&[]), parse(&["-j", "2"])] {
        command.arg("x.conllu").current_dir(&folder);
        let said = "error: x.conllu: this looks like CoNLL-U: use --input conllu\n";
        assert_eq!(run(command), (2, Vec::new(), said.to_owned()));
    }
    let mut command = tag(&["-q", trees]);
    assert!(text(&command.output().unwrap().stderr).contains("use --input penn"));
    assert_eq!(run(tag(&["-q", "--input", "penn", trees])).0, 0);
}

#[test]
fn a_file_without_tags_names_the_option_it_needs() {
    let folder = folder(&[
        ("news.txt", "The dog barks. It's late.\n".repeat(9).as_bytes()),
        ("words.txt", b"The dog barks .\n"),
    ]);
    for (file, says) in [
        ("news.txt", "raw text: use --input text"),
        ("words.txt", "words without tags: use --input tokens"),
    ] {
        for format in ["tagged", "underscore"] {
            let mut command = parse(&["--input", format, file]);
            command.current_dir(&folder);
            let said = format!("error: {file}: this looks like {says}\n");
            assert_eq!(run(command), (2, Vec::new(), said));
        }
    }
    let mut command = parse(&["-q"]);
    command.write_stdin("The dog barks.\n");
    let (_, lines, said) = run(command);
    assert_eq!(lines, ["(())"]);
    assert!(
        said.contains("choose the format with --input text: the line looks like raw text"),
        "{said}"
    );
}

#[test]
fn a_sentence_or_a_format_in_place_of_an_option_is_recognized() {
    for (command, text) in [("parse", "The dog barks."), ("tag", "Why not?")] {
        let said = format!(
            "error: {text}: no such file: to {command} a sentence, write: echo \"{text}\" | srparse {command} \
             --input text\n"
        );
        assert_eq!(run(srparse(&[command, text])), (2, Vec::new(), said));
    }
    for (arguments, says) in [
        (["parse", "--text"], "'--input text'"),
        (["tag", "--lines"], "'--input lines'"),
        (["parse", "--conllu"], "'--input conllu'"),
    ] {
        let (status, _, said) = run(srparse(&arguments));
        assert!(status == 2 && said.contains(says), "{said}");
        // No usage of another option that is spelled alike.
        assert!(!said.contains("--set"), "{said}");
    }
    let (_, _, said) = run(srparse(&["eval", "--text", "a", "b"]));
    assert!(!said.contains("--input"), "{said}");
}

#[test]
fn sentences_that_begin_with_brackets_are_read() {
    for line in ["(/-LRB- (/-LRB- a/NN )/-RRB- )/-RRB-", "(NP/X (DT/X a)/X b)/X"] {
        let mut command = parse(&["-q"]);
        command.write_stdin(format!("{line}\n"));
        let (status, trees, said) = run(command);
        assert_eq!((status, trees.len(), said), (0, 1, String::new()), "{line}");
    }
    let mut command = tag(&["-q"]);
    command.write_stdin("( see ( Smith 1990 ) for details )\n");
    let (status, lines, said) = run(command);
    assert_eq!((status, lines[0].split(' ').count(), said), (0, 9, String::new()));
}

#[test]
fn many_messages_of_one_kind_are_counted() {
    for threads in ["1", "2"] {
        let mut command = parse(&["-q", "-j", threads]);
        command.write_stdin("no tags here\n".repeat(6265));
        let (status, trees, said) = run(command);
        assert_eq!((status, trees.len()), (2, 6265));
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 11, "{said}");
        assert!(lines[9].starts_with("<stdin>:10:1: "), "{}", lines[9]);
        assert_eq!(lines[10], "… and 6,255 more lines that cannot be read");
    }
}

/// A model whose parses are all partial: its preset takes the best action, legal or not, and it knows nothing.
fn failing(arguments: &[&str]) -> Command {
    let mut command = parse(&["--set", "search.illegal=fail"]);
    command.args(arguments);
    command
}

#[test]
fn partial_parses_are_named_by_line() {
    // Words and tags of no sentence of the training data.
    let line = "zz/QQ zz/QQ zz/QQ zz/QQ zz/QQ zz/QQ zz/QQ zz/QQ\n";
    let input = format!("\n{}", line.repeat(13));
    for threads in ["1", "2"] {
        let mut command = failing(&["-j", threads, "--output", "json"]);
        command.write_stdin(input.clone());
        let (status, lines, said) = run(command);
        let partial = lines.iter().skip(1).filter(|line| line.contains("\"complete\":false"));
        assert_eq!((status, partial.count()), (0, 13), "{lines:?}");
        let notes: Vec<&str> = said.lines().filter(|line| line.contains("<stdin>")).collect();
        let note = |line: u32| {
            format!("note: <stdin>:{line}: no complete parse was found, so the tree is partial")
        };
        assert_eq!(notes, (2..12).map(note).collect::<Vec<_>>());
        assert!(said.contains("\n… and 3 more partial parses\n"), "{said}");
        assert!(said.contains("13 partial, 0 unreadable"), "{said}");
    }
    let mut quiet = failing(&["-q"]);
    quiet.write_stdin(input);
    assert_eq!(run(quiet).2, "");
    // A tree is named by the line it begins on.
    let trees = "( (S\n (QQ zz) (QQ zz)\n (QQ zz) (QQ zz) (QQ zz)) )\n".repeat(2);
    let mut penn = failing(&["--input", "penn"]);
    penn.write_stdin(trees);
    let said = run(penn).2;
    assert!(said.contains("<stdin>:1: ") && said.contains("<stdin>:4: "), "{said}");
}

#[test]
fn every_line_of_json_is_json() {
    let input = "\nno tags\ndogs/NNS bark/VBP\n";
    for options in [&[][..], &["--span-scores"], &["--nbest", "2"]] {
        let mut command = parse(&["-q", "--output", "json"]);
        command.args(options).write_stdin(input);
        let (status, lines, _) = run(command);
        assert_eq!((status, lines.len()), (2, 3), "{lines:?}");
        let objects = lines.iter().map(|line| -> serde_json::Value {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let is_list = options.contains(&"--nbest");
            if is_list { value[0].clone() } else { value }
        });
        let [blank, unreadable, parsed] = objects.collect::<Vec<_>>().try_into().unwrap();
        let keys = |value: &serde_json::Value| -> Vec<String> {
            value.as_object().unwrap().keys().filter(|key| *key != "error").cloned().collect()
        };
        for empty in [&blank, &unreadable] {
            assert_eq!(keys(empty), keys(&parsed));
            assert_eq!((&empty["tree"], &empty["complete"]), (&"(())".into(), &false.into()));
            for list in ["tokens", "spans", "heads"] {
                assert_eq!(empty[list], serde_json::json!([]));
            }
            assert!(empty["score"].is_null());
        }
        assert!(blank.get("error").is_none() && parsed.get("error").is_none());
        let error = unreadable["error"].as_str().unwrap();
        assert!(error.starts_with("<stdin>:2:1: `no` has no tag"), "{error}");
    }
}

#[test]
fn tags_of_another_tagset_are_noted_once() {
    let known = "The/DT baker/NN opens/VBZ the/DT shop/NN ./.\n";
    let other = "The/DET baker/NOUN opens/VERB the/DET shop/NOUN ./.\n";
    let with = |mut command: Command, input: &str| {
        command.write_stdin(input.to_owned());
        let (status, _, said) = run(command);
        assert_eq!(status, 0);
        said
    };
    assert_eq!(with(parse(&[]), known), "");
    let folder = folder(&[]);
    let mut train = srparse(&["train", "-q", "--no-tagger", "--set", "epochs=1", "-o", "m.srm"]);
    train.arg("--train").arg(sample("train.mrg")).current_dir(&folder).assert().success();
    let mut untagged = srparse(&["parse", "--model", "m.srm"]);
    untagged.current_dir(&folder);
    let few = with(untagged, &format!("{}{other}", known.repeat(5)));
    let start = "note: tags unknown to the model: DET (2), NOUN (2), VERB (1). It knows DT, ";
    assert!(few.starts_with(start) && few.lines().count() == 1, "{few}");
    assert!(few.contains(" tags). Tag the words with the tagset of the model"), "{few}");
    for threads in ["1", "2"] {
        // It is said after a thousand sentences and not again.
        let most = with(parse(&["-j", threads]), &other.repeat(1001));
        let start = "WARNING: the tags of 5000 of 6000 words are unknown to the model, so the trees are of little \
                     use: DET (2000), NOUN (2000), VERB (1000). It knows DT, ";
        assert!(most.starts_with(start) && most.lines().count() == 1, "{most}");
    }
    let mut tagged = srparse(&["parse", "--model"]);
    tagged.arg(model_with_tagger());
    let said = with(tagged, other);
    assert!(said.contains("--retag replaces the tags by those of the model's tagger"), "{said}");
    let mut retag = srparse(&["parse", "--retag", "--model"]);
    retag.arg(model_with_tagger());
    assert_eq!(with(retag, other), "");
    assert_eq!(with(parse(&["-q"]), other), "");
}

#[test]
fn text_of_another_language_is_noted() {
    let words = "Собака/NN лает/VBZ на/IN кошку/NN ,/, а/CC кошка/NN спит/VBZ ./.\n";
    let mut command = parse(&[]);
    command.write_stdin(words.repeat(3));
    let said = run(command).2;
    let note = "note: 21 of 21 words are unknown to the model: it was trained on texts of another language, \
                script or kind, or on few trees\n";
    assert_eq!(said, note);
    // A few words are too few to tell.
    let mut command = parse(&[]);
    command.write_stdin(words);
    assert_eq!(run(command).2, "");
    // Languages share words: with five of eleven it is another one, with four it may be the same.
    let known = "The/DT baker/NN opens/VBZ the/DT shop/NN the/DT ";
    let shared = |words: &str| {
        let mut command = parse(&[]);
        command.write_stdin(format!("{known}{words}\n").repeat(10));
        run(command).2
    };
    assert_eq!(shared("Собака/NN лает/VBZ на/IN кошку/NN the/DT"), "");
    let said = shared("Собака/NN лает/VBZ на/IN кошку/NN кошка/NN");
    assert!(said.starts_with("note: 50 of 110 words are unknown to the model: "), "{said}");
}

/// The files of a folder, by name.
fn names(folder: &tempfile::TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_command_writes_a_file_that_is_complete_or_not_there() {
    let folder = folder(&[
        ("a.mrg", b"( (S (NP (DT the) (NN dog)) (VP (VBZ barks))) )\n"),
        ("a.tagged", b"dogs/NNS bark/VBP\n"),
        ("bad.tagged", b"dogs/NNS bark/VBP\ndogs\n"),
        ("bad.mrg", b"(S (A a))\n(S (A a)\n"),
        ("a.tsv", b"series\tx\ty\na\t1\t2\n"),
        ("out", b"old"),
    ]);
    let model = model_with_tagger().to_str().unwrap();
    let before = names(&folder);
    for line in [
        "parse --model MODEL a.tagged",
        "parse --model MODEL -j 2 a.tagged",
        "tag --model MODEL --input tagged a.tagged",
        "eval a.mrg a.mrg",
        "compare --shuffles 9 --resamples 9 a.mrg a.mrg a.mrg",
        "oracle a.mrg",
        "oracle --model MODEL a.mrg",
        "tree a.mrg",
        "info --preset fast",
        "info MODEL",
        "chart a.tsv",
        "completions bash",
        "man",
    ] {
        let arguments: Vec<&str> =
            line.split(' ').map(|word| if word == "MODEL" { model } else { word }).collect();
        let done = srparse(&arguments).current_dir(&folder).assert().success();
        let printed = done.get_output().stdout.clone();
        let done = srparse(&arguments).args(["-o", "out"]).current_dir(&folder).assert().success();
        assert_eq!(done.get_output().stdout, b"", "{line}");
        assert!(std::fs::read(folder.path().join("out")).unwrap() == printed, "{line}");
        assert!(!printed.is_empty());
    }
    std::fs::write(folder.path().join("out"), "old").unwrap();
    for line in [
        "parse --strict --model MODEL bad.tagged",
        "parse --strict -j 2 --model MODEL bad.tagged",
        "parse --model MODEL a.tagged a.mrg",
        "tree bad.mrg",
        "eval a.mrg bad.mrg",
    ] {
        let arguments: Vec<&str> =
            line.split(' ').map(|word| if word == "MODEL" { model } else { word }).collect();
        srparse(&arguments).args(["-o", "out"]).current_dir(&folder).assert().code(2);
        assert_eq!(std::fs::read(folder.path().join("out")).unwrap(), b"old", "{line}");
        assert_eq!(names(&folder), before, "{line}");
    }
}

#[test]
fn common_options_are_spelled_alike() {
    let folder = folder(&[
        ("a.mrg", b"( (S (NP (DT the) (NN dog)) (`` ``) (VP (VBZ barks))) )\n"),
        ("bad.mrg", b"( (S (A a)) )\n(S x y)\n( (S (A b)) )\n"),
        ("bad.tagged", b"dogs/NNS bark/VBP\ndogs\n"),
    ]);
    let model = model().to_str().unwrap();
    for line in [
        "train -q --skip-bad --set clean.quotes=true --set epochs=1 -o m.srm --train bad.mrg a.mrg",
        "train -q --skip-bad-trees --set epochs=1 --model m.srm --train bad.mrg",
        "parse -q --skip-bad --model MODEL bad.tagged",
        "tag -q --skip-bad --model m.srm --input tagged bad.tagged",
        "tree -q --skip-bad --set clean.quotes=true bad.mrg",
        "tree -q --clean quotes=true a.mrg",
        "oracle -q --skip-bad --set clean.quotes=true bad.mrg",
        "eval -q --set clean.lemma_separator=- a.mrg a.mrg",
        "compare -q --set clean.lemma_separator=- --shuffles 9 --resamples 9 a.mrg a.mrg a.mrg",
    ] {
        let arguments: Vec<&str> =
            line.split(' ').map(|word| if word == "MODEL" { model } else { word }).collect();
        let done = srparse(&arguments).current_dir(&folder).assert().success();
        let said = text(&done.get_output().stderr);
        // What was skipped is said even so.
        let is_skip = |said: &str| said.contains("skipped 1") || said.contains("bad.tagged:2:1: ");
        assert!(said.lines().all(is_skip), "{line}: {said}");
        assert_eq!(said.is_empty(), !line.contains("--skip-bad"), "{line}: {said}");
    }
}

#[test]
fn shells_complete_names_beside_files() {
    let script = |shell: &str| {
        let done = srparse(&["completions", shell]).assert().success();
        text(&done.get_output().stdout)
    };
    for shell in ["bash", "zsh", "fish"] {
        let script = script(shell);
        for name in ["wang-2006-svm", "keyaki", "sinica", "spmrl", "conllu", "gb18030"] {
            assert!(script.contains(name), "{name} is missing for {shell}");
        }
    }
}

#[test]
fn each_command_has_a_manual_page() {
    let page = |arguments: &[&str]| {
        let done = srparse(&[&["man"], arguments].concat()).assert().success();
        text(&done.get_output().stdout)
    };
    let sections = |page: &str| -> Vec<String> {
        let headings = page.lines().filter_map(|line| line.strip_prefix(".SH "));
        headings.map(|heading| heading.trim_matches('"').to_owned()).collect()
    };
    let program = page(&[]);
    assert!(program.contains("\n.TH srparse 1 "), "{program}");
    let expected = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SUBCOMMANDS", "EXIT STATUS"];
    assert_eq!(sections(&program), expected);
    assert!(!program.contains("srparse\\-help"), "{program}");
    let train = page(&["train"]);
    let title = concat!(
        "\n.TH srparse-train 1  \"srparse ",
        env!("CARGO_PKG_VERSION"),
        "\" \"srparse manual\"\n"
    );
    assert!(train.contains(title), "{train}");
    let synopsis = "\n.SH SYNOPSIS\n\\fBsrparse train\\fR [OPTIONS] \\-\\-train <FILE>... \\-\\-model <FILE>\n";
    assert!(train.contains(synopsis), "{train}");
    let expected = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"];
    assert_eq!(sections(&train)[..4], expected);
    assert!(sections(&train).contains(&"EXAMPLES".to_owned()), "{train}");
    assert!(train.contains("\n.nf\n  srparse train \\-\\-train data/sample/train.mrg"), "{train}");
    let done = srparse(&["man", "trian"]).assert().code(2);
    let said = text(&done.get_output().stderr);
    assert!(said.contains("no such command: `trian`: did you mean `train`? "), "{said}");
}

/// Runs a command line on a terminal and returns what it shows.
#[cfg(target_os = "linux")]
fn on_a_terminal(line: &str, input: &str) -> String {
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", line, "/dev/null"]);
    let done = script.write_stdin(input.to_owned()).assert().success();
    text(&done.get_output().stdout)
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_that_reads_from_the_terminal_says_so() {
    let program = env!("CARGO_BIN_EXE_srparse");
    let says = "reading from the terminal; Ctrl-D ends";
    for command in ["parse", "parse -j 2", "tree"] {
        let shown = on_a_terminal(&format!("{program} {command}"), "\u{4}");
        assert!(shown.contains(says), "{command}: {shown}");
    }
    let quiet = on_a_terminal(&format!("{program} parse -q"), "\u{4}");
    assert!(!quiet.contains(says), "{quiet}");
}

#[test]
#[cfg(target_os = "linux")]
fn long_work_shows_itself_on_a_terminal() {
    let folder = folder(&[]);
    let out = folder.path().join("out");
    let (trees, sentences) = (sample("dev.mrg"), sample("sentences.txt"));
    let [trees, sentences, out] = [&trees, &sentences, &out].map(|path| path.to_str().unwrap());
    let (program, model) = (env!("CARGO_BIN_EXE_srparse"), model_with_tagger().to_str().unwrap());
    for (command, unit) in [
        (format!("parse --model {model} -o {out} {sentences}"), "sentences"),
        (format!("parse --model {model} -j 2 -o {out} {sentences}"), "sentences"),
        (format!("cat {sentences} | {program} parse --model {model} -o {out}"), "sentences"),
        (format!("tag --model {model} --input tagged -o {out} {sentences}"), "sentences"),
        (format!("eval {trees} {trees}"), "sentences"),
        (format!("tree -o {out} {trees}"), "trees"),
        (format!("oracle --stats {trees}"), "trees"),
        (format!("oracle --model {model} {trees}"), "trees"),
    ] {
        let line = match command.starts_with("cat") {
            true => command,
            false => format!("{program} {command}"),
        };
        let is_bar = |shown: &str| shown.contains(&format!("0 {unit}, 0/s"));
        let shown = on_a_terminal(&line, "");
        assert!(is_bar(&shown), "{line}: {shown}");
        assert_eq!(shown.contains(" remaining"), !line.starts_with("cat"), "{line}: {shown}");
        let quiet = on_a_terminal(&format!("{line} -q"), "");
        assert!(!is_bar(&quiet), "{line}: {quiet}");
        let elsewhere = on_a_terminal(&format!("{line} 2> {out}.log"), "");
        let log = std::fs::read_to_string(format!("{out}.log")).unwrap();
        assert!(!is_bar(&elsewhere) && !is_bar(&log), "{line}: {log}");
    }
}

#[test]
fn more_actions_than_a_learner_supports_are_refused_before_training() {
    let trees: String = (0..6_001).map(|at| format!("(TOP (L{at} (X a) (X b)))\n")).collect();
    let folder = folder(&[("t.mrg", trees.as_bytes())]);
    for learner in ["perceptron", "structured-perceptron"] {
        let mut train = srparse(&["train", "-q", "--preset", "non-binary-static", "--no-tagger"]);
        train.args(["--train", "t.mrg", "--model", "m.srm", "--set"]);
        train.arg(format!("learner={{kind=\"{learner}\"}}")).current_dir(&folder);
        let (status, _, said) = run(train);
        assert_eq!(status, 2, "{said}");
        assert!(
            said.contains("actions, but this learner supports 6000: use fewer labels"),
            "{said}"
        );
    }
}

#[test]
fn a_gold_tree_without_words_has_a_parse() {
    let gold = "(TOP (S (NN a)))\n(())\n(TOP (S (NP (-NONE- *))))\n(TOP (S (NN b)))\n";
    let folder = folder(&[("gold", gold.as_bytes())]);
    let mut command = parse(&["-q", "--input", "penn", "--out", "parses", "gold"]);
    command.current_dir(&folder);
    assert_eq!(run(command).0, 0);
    let parses = std::fs::read_to_string(folder.path().join("parses")).unwrap();
    assert_eq!(parses.lines().filter(|line| *line == "(())").count(), 2, "{parses}");
    let mut command = srparse(&["eval", "gold", "parses"]);
    command.current_dir(&folder);
    let (status, _, said) = run(command);
    assert_eq!(status, 0, "{said}");
}

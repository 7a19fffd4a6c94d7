//! The command `srparse tag`, taggers in parsing models, and parsing of untagged tokens.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::command::{model_with_tagger, sample, srparse, tag, text, transcript};

/// Lines of every kind, and the number of words of each; `None` for a malformed line.
const LINES: [(&[u8], Option<usize>); 10] = [
    (b"The dog barks .", Some(4)),
    (b"", Some(0)),
    (b"   \t", Some(0)),
    (b"(())", Some(1)),
    (b"dog\r", Some(1)),
    (b"\xff\xfe", None),
    (b"a\0b ( ) -LRB-", Some(4)),
    ("thin\u{2009}space barks \u{feff} \u{1f600}\u{200d}\u{301}".as_bytes(), Some(4)),
    (b"a_b 1\\/2 x/y", Some(3)),
    (b"  The\t dog  ", Some(2)),
];

/// The lines as a file without a final line feed.
fn lines() -> Vec<u8> {
    LINES.map(|(line, _)| line).join(&b'\n')
}

#[test]
fn every_line_gives_one_line_and_words_come_back_byte_for_byte() {
    let done = tag(&["--output", "underscore"]).write_stdin(lines()).assert().code(2);
    let out = text(&done.get_output().stdout);
    assert_eq!(out.lines().count(), LINES.len(), "{out}");
    assert!(out.ends_with('\n'));
    for (made, (line, words)) in out.lines().zip(LINES) {
        let made: Vec<&str> = made.split(' ').filter(|token| !token.is_empty()).collect();
        assert_eq!(made.len(), words.unwrap_or(0), "{made:?}");
        if words.is_some() {
            let wanted = std::str::from_utf8(line).unwrap();
            let wanted = wanted.split([' ', '\t', '\r']).filter(|word| !word.is_empty());
            for (token, word) in made.iter().zip(wanted) {
                let (back, tag) = token.rsplit_once('_').unwrap();
                assert_eq!(back, word);
                assert!(!tag.is_empty(), "{token}");
            }
        }
    }
    assert!(text(&done.get_output().stderr).contains("<stdin>:6:1:"));
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let mut input = lines().repeat(30);
    for line in std::fs::read_to_string(sample("sentences.txt")).unwrap().lines().cycle().take(900)
    {
        input.extend_from_slice(b"\n");
        input.extend_from_slice(line.as_bytes());
    }
    let [one, eight] = ["1", "8"].map(|threads| {
        let done = tag(&["-q", "-j", threads]).write_stdin(input.clone()).assert().code(2);
        (done.get_output().stdout.clone(), done.get_output().stderr.clone())
    });
    assert!(one == eight);
}

#[test]
fn very_long_lines_and_words_are_tagged() {
    let words = ["the", "dog", "barks", ",", "and"];
    let mut line = words.iter().copied().cycle().take(100_000).collect::<Vec<_>>().join(" ");
    line.push(' ');
    line.push_str(&"\u{4e00}".repeat(100_000));
    let done = tag(&[]).write_stdin(line).assert().success();
    let out = text(&done.get_output().stdout);
    assert_eq!(out.lines().count(), 1);
    assert_eq!(out.split(' ').count(), 100_001);
    assert!(out.split(' ').filter(|token| token.starts_with("the/DT")).count() > 19_000);
}

#[test]
fn nothing_gives_nothing() {
    let done = tag(&[]).write_stdin("").assert().success();
    assert!(done.get_output().stdout.is_empty() && done.get_output().stderr.is_empty());
}

#[test]
fn every_output_format_has_one_entry_per_sentence() {
    let input = "The baker opens the shop .\n\nMaria bakes ( bread ) .\n";
    let mut all = String::new();
    for format in ["tagged", "underscore", "conllu"] {
        let done = tag(&["--output", format]).write_stdin(input).assert().success();
        all.push_str(&format!("--output {format}\n{}\n\n", transcript(&done)));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn every_input_format_gives_the_same_tags() {
    let conllu = "1\tThe\t_\tX\tX\t_\t_\t_\t_\t_\n2\tdog\t_\tX\tX\t_\t_\t_\t_\t_\n\n";
    let outputs = [
        ("tokens", "The dog\n"),
        ("tagged", "The/X dog/X\n"),
        ("underscore", "The_X dog_X\n"),
        ("conllu", conllu),
        ("penn", "(S (X The) (-NONE- *) (X dog))\n"),
    ]
    .map(|(format, input)| {
        let done = tag(&["-q", "--input", format]).write_stdin(input).assert().success();
        text(&done.get_output().stdout)
    });
    assert_eq!(outputs[0], "The/DT dog/NN\n");
    assert!(outputs.iter().all(|output| *output == outputs[0]), "{outputs:?}");
}

#[test]
fn accuracy_is_reported_for_input_that_has_tags() {
    let gold = "The/DT baker/NN opens/XX the/DT flurb/YY ./.\n";
    let done = tag(&["-q", "--input", "tagged", "--accuracy"]).write_stdin(gold).assert().success();
    let printed = text(&done.get_output().stderr);
    assert_eq!(printed, "tagging accuracy: 66.67 % of 6 words, 0.00 % of 1 not seen in training\n");
    let done = tag(&["--accuracy"]).write_stdin("a\n").assert().code(2);
    assert!(text(&done.get_output().stderr).contains("--input tokens has none"));
}

#[test]
fn tokens_are_parsed_with_the_tags_that_tagging_gives() {
    let tokens = "The baker opens the shop at six .\n\nMaria ( bakes ) fresh bread .\n";
    let with_tagger = |arguments: &[&str]| {
        let mut command = srparse(&["parse", "--model"]);
        command.arg(model_with_tagger()).args(arguments);
        command
    };
    let tagged = tag(&[]).write_stdin(tokens).assert().success();
    let tagged = text(&tagged.get_output().stdout);
    let given = with_tagger(&[]).write_stdin(tagged.as_str()).assert().success();
    let predicted = with_tagger(&["--input", "tokens"]).write_stdin(tokens).assert().success();
    assert_eq!(given.get_output().stdout, predicted.get_output().stdout);
    let wrong = tagged.replace("/NN", "/XX");
    assert_ne!(wrong, tagged);
    let again = with_tagger(&["--retag"]).write_stdin(wrong).assert().success();
    assert_eq!(again.get_output().stdout, predicted.get_output().stdout);
}

#[test]
fn a_model_without_a_tagger_or_parser_is_reported() {
    let folder = crate::command::folder(&[]);
    let tagger = folder.path().join("tagger.srm");
    let mut train = srparse(&["train", "--quiet", "--tagger", "--set", "max_words=40"]);
    train.arg("--train").arg(sample("train.mrg")).arg("--model").arg(&tagger).assert().success();
    let mut train = srparse(&["train", "--quiet", "--no-tagger", "--set", "epochs=1"]);
    let parser = folder.path().join("parser.srm");
    train.arg("--train").arg(sample("train.mrg")).arg("--model").arg(&parser).assert().success();
    let mut all = String::new();
    for line in [
        "parse --model tagger.srm",
        "parse --model parser.srm --input tokens",
        "parse --model parser.srm --retag",
        "tag --model parser.srm",
        "train --jackknife 1 --train x.mrg --model m.srm",
        "train --tagger --jackknife 3 --train x.mrg --model m.srm",
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let done = srparse(&arguments).current_dir(&folder).write_stdin("a\n").assert().code(2);
        assert!(done.get_output().stdout.is_empty(), "{line}");
        all.push_str(&format!("$ srparse {line}\n{}\n\n", transcript(&done)));
    }
    insta::assert_snapshot!(all);
    let done = srparse(&["oracle", "--model", "tagger.srm"])
        .arg(sample("dev.mrg"))
        .current_dir(&folder)
        .assert()
        .code(2);
    let printed = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(printed.contains("has a tagger but no parser"), "{printed}");
    let done = srparse(&["tag", "-q", "--model", "tagger.srm"])
        .current_dir(&folder)
        .write_stdin("The dog\n")
        .assert()
        .success();
    assert_eq!(text(&done.get_output().stdout), "The/DT dog/NN\n");
}

#[test]
fn a_parser_is_trained_with_a_tagger_whose_settings_can_be_changed() {
    let folder = crate::command::folder(&[]);
    let path = folder.path().join("m.srm");
    let mut train = srparse(&["train", "--quiet", "--set", "epochs=1", "--set", "tagger.epochs=2"]);
    train.arg("--train").arg(sample("train.mrg")).arg("--model").arg(&path).assert().success();
    let parse = srparse(&["parse", "-q", "--input", "tokens", "--model"])
        .arg(&path)
        .write_stdin("The dog barks .\n")
        .assert()
        .success();
    assert!(text(&parse.get_output().stdout).contains("(DT The)"));
    let info = srparse(&["info"]).arg(&path).assert().success();
    assert!(text(&info.get_output().stdout).contains("  tagger with "));
}

#[test]
fn training_reports_jackknifing_and_info_describes_the_tagger() {
    let folder = crate::command::folder(&[]);
    let mut train = srparse(&["train", "--jackknife", "4", "--set", "learner.epochs=1"]);
    train.arg("--train").arg(sample("train.mrg")).arg("--dev").arg(sample("dev.mrg"));
    let done = train.args(["--model", "m.srm"]).current_dir(&folder).assert().success();
    let printed = text(&done.get_output().stderr);
    for part in
        ["dev tagging accuracy: ", "tagged the training trees in 4 parts; accuracy: ", "dev F1"]
    {
        assert!(printed.contains(part), "`{part}` is missing in\n{printed}");
    }
    let info = srparse(&["info", "m.srm"]).current_dir(&folder).assert().success();
    let info = text(&info.get_output().stdout);
    for part in [
        "  tagger with ",
        "  jackknifed train.mrg: tagging ",
        "  dev dev.mrg: tagging ",
        "tagger/tags",
    ] {
        assert!(info.contains(part), "`{part}` is missing in\n{info}");
    }
}

#[test]
fn each_sentence_comes_before_the_next_is_written_and_a_closed_pipe_is_no_error() {
    for threads in ["1", "2"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_srparse"))
            .args(["tag", "-j", threads, "--model"])
            .arg(model_with_tagger())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        for word in ["dogs", "cats", "birds"] {
            writeln!(input, "{word}").unwrap();
            input.flush().unwrap();
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            assert!(line.starts_with(&format!("{word}/")) && line.ends_with('\n'), "{line}");
        }
        drop(output);
        while input.write_all(b"The dog barks .\n").is_ok() {}
        assert_eq!(child.wait().unwrap().code(), Some(0), "-j {threads}");
    }
}

#[test]
fn a_network_that_predicts_tags_serves_words_with_and_without_tags() {
    let folder = crate::command::folder(&[]);
    let settings =
        ["epochs=20", "lstm_dim=16", "hidden_dim=16", "rate=0.02", "dropout=0.1", "batch=4"];
    let mut train = srparse(&["train", "--quiet", "--preset", "accurate", "--model", "m.srm"]);
    settings.iter().for_each(|setting| _ = train.args(["--set", setting]));
    train.arg("--train").arg(sample("train.mrg")).current_dir(&folder).assert().success();
    let run = |arguments: &[&str], input: &[u8], code: i32| {
        let mut command = srparse(arguments);
        let command = command.args(["--quiet", "--model", "m.srm"]).current_dir(&folder);
        text(&command.write_stdin(input).assert().code(code).get_output().stdout).to_owned()
    };
    let info = srparse(&["info", "m.srm"]).current_dir(&folder).assert().success();
    let info = text(&info.get_output().stdout);
    assert!(info.contains("  predicts tags without a tagger"));
    // Two layers of 16 units in both directions; 16 hidden units at 13 positions.
    let multiply_adds = 8 * 16 * ((228 + 16) + (32 + 16)) + 32 * 13 * 16;
    let expected = format!("  {:.2} million multiply-adds", f64::from(multiply_adds) / 1e6);
    assert!(info.contains(&expected), "{info}");

    // The tags of trees from words alone are those of `tag`, on any line.
    let tagged = run(&["tag"], &lines(), 2);
    let from_words = run(&["parse", "--input", "tokens", "--output", "json"], &lines(), 2);
    for (tagged, json) in tagged.lines().zip(from_words.lines()) {
        let parse: serde_json::Value = serde_json::from_str(json).unwrap();
        let tokens = parse["tokens"].as_array().unwrap().iter();
        let tokens: Vec<String> = tokens
            .map(|token| format!("{}/{}", token[0].as_str().unwrap(), token[1].as_str().unwrap()))
            .collect();
        assert_eq!(tagged, tokens.join(" "));
    }

    // Given tags stay, unknown ones too, and only missing ones are predicted.
    let given = r#"{"tokens": [["The", "XX"], "dog", ["barks", "NN"], "."]}"#;
    let parse = run(&["parse", "--input", "json"], given.as_bytes(), 0);
    assert!(parse.contains("(XX The)") && parse.contains("(NN barks)"), "{parse}");
    assert!(parse.contains("(NN dog)") && parse.contains("(. .)"), "{parse}");
    let all = "The/XX dog/XX barks/XX ./XX";
    assert_eq!(run(&["parse"], all.as_bytes(), 0).matches("(XX ").count(), 4);
    let words = run(&["parse", "--input", "tokens"], b"The dog barks .", 0);
    assert_eq!(run(&["parse", "--retag"], all.as_bytes(), 0), words);

    let traced = run(&["parse", "--input", "tokens", "--trace=2"], b"The dog barks .", 0);
    assert!(traced.contains("# score ") && traced.contains("\tFINISH\t"), "{traced}");

    let mut accuracy = srparse(&["tag", "--accuracy", "--input", "penn", "--model", "m.srm"]);
    let accuracy = accuracy.arg(sample("train.mrg")).current_dir(&folder).assert().success();
    let printed = text(&accuracy.get_output().stderr);
    let percent = printed.rsplit_once("tagging accuracy: ").unwrap().1.split(' ').next().unwrap();
    assert!(percent.parse::<f64>().unwrap() > 80.0, "{printed}");
}

//! Raw text and JSON as input of `srparse parse` and `srparse tag`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::command::{model, model_with_tagger, parse, sample, srparse, tag, text};
use serde_json::Value;

/// `srparse parse` with the model that has a tagger.
fn parse_words(arguments: &[&str]) -> assert_cmd::Command {
    let mut command = srparse(&["parse", "--model"]);
    command.arg(model_with_tagger()).args(arguments);
    command
}

/// What a command prints, which must succeed.
fn printed(mut command: assert_cmd::Command, input: &str) -> String {
    text(&command.write_stdin(input).assert().success().get_output().stdout)
}

/// A text of three sentences.
const TEXT: &str = "Mrs. Reed (the baker) can't\nsing. Who \u{e9}lse?\n\nA heading\n";

#[test]
fn every_sentence_of_a_text_gives_a_tree() {
    let tokens = "Mrs. Reed -LRB- the baker -RRB- ca n't sing .\nWho \u{e9}lse ?\nA heading\n";
    for threads in ["1", "2"] {
        let trees = printed(parse_words(&["--input", "text", "-j", threads]), TEXT);
        assert_eq!(trees, printed(parse_words(&["--input", "tokens"]), tokens));
        assert_eq!(trees.lines().count(), 3);
    }
    let tagged = printed(tag(&["--input", "text"]), TEXT);
    assert_eq!(tagged, printed(tag(&[]), tokens));
    assert_eq!(printed(parse_words(&["--input", "text"]), " \n\n"), "");
}

#[test]
fn words_with_tags_and_json_are_no_raw_text() {
    let tagged = std::fs::read_to_string(sample("sentences.txt")).unwrap();
    let json = printed(parse_words(&["-q", "--output", "json"]), &tagged);
    for (input, says) in
        [(tagged, "word/TAG: use --input tagged"), (json, "JSON lines: use --input json")]
    {
        let said = format!("error: <stdin>: this looks like {says}\n");
        for format in ["text", "lines"] {
            for mut command in [parse_words(&["--input", format]), tag(&["--input", format])] {
                let done = command.write_stdin(input.clone()).assert().code(2);
                assert_eq!(text(&done.get_output().stderr), said);
                assert_eq!(text(&done.get_output().stdout), "");
            }
        }
    }
    let chat = "He/she works 24/7 on TCP/IP\nhttps://example.org/FAQ N/A\n";
    assert_eq!(printed(parse_words(&["--input", "lines"]), chat).lines().count(), 2);
}

#[test]
fn json_carries_the_text_and_the_place_of_each_token() {
    let arguments = ["--input", "text", "--output", "json"];
    let out = printed(parse_words(&arguments), TEXT);
    let characters: Vec<char> = TEXT.chars().collect();
    let mut sentences = 0;
    for line in out.lines() {
        let parse: Value = serde_json::from_str(line).unwrap();
        let offsets = |key: &str| -> Vec<usize> {
            parse[key].as_array().unwrap().iter().map(|at| at.as_u64().unwrap() as usize).collect()
        };
        let (starts, ends) = (offsets("start"), offsets("end"));
        let tokens = parse["tokens"].as_array().unwrap();
        assert_eq!((starts.len(), ends.len()), (tokens.len(), tokens.len()));
        let slice = |start: usize, end: usize| characters[start..end].iter().collect::<String>();
        for ((token, &start), &end) in tokens.iter().zip(&starts).zip(&ends) {
            let surface = slice(start, end).replace('(', "-LRB-").replace(')', "-RRB-");
            assert_eq!(token[0], surface.as_str());
        }
        assert_eq!(parse["text"], slice(starts[0], ends[ends.len() - 1]).as_str());
        sentences += 1;
    }
    assert_eq!(sentences, 3);
    // Only raw text has places.
    let tagged = printed(parse(&["--output", "json"]), "dogs/NNS bark/VBP\n");
    assert!(!tagged.contains("\"start\""), "{tagged}");
}

#[test]
fn conllu_carries_the_text_and_the_place_of_each_token() {
    let input = "(No) dogs\nbark.\u{3002}B";
    let ends = |out: &str| -> Vec<String> {
        let last = |line: &str| line.rsplit('\t').next().unwrap_or_default().to_owned();
        out.lines().map(last).collect()
    };
    let expected = [
        "# text = (No) dogs bark.\u{3002}",
        "SpaceAfter=No|start_char=0|end_char=1",
        "SpaceAfter=No|start_char=1|end_char=3",
        "start_char=3|end_char=4",
        "start_char=5|end_char=9",
        "SpaceAfter=No|start_char=10|end_char=14",
        "SpaceAfter=No|start_char=14|end_char=15",
        "SpaceAfter=No|start_char=15|end_char=16",
        "",
        "# text = B",
        "start_char=16|end_char=17",
        "",
    ];
    let arguments = ["--input", "text", "--output", "conllu"];
    let parsed = printed(parse_words(&arguments), input);
    assert_eq!(ends(&parsed), expected);
    assert_eq!(ends(&printed(tag(&arguments), input)), expected);
    // It reads back as the same words.
    let again = printed(parse_words(&["--input", "conllu", "--output", "conllu"]), &parsed);
    let forms = |out: &str| -> Vec<String> {
        let words = out.lines().filter(|line| !line.starts_with('#'));
        words.map(|line| line.split('\t').take(5).collect()).collect()
    };
    assert_eq!(forms(&parsed), forms(&again));
}

#[test]
fn unescaped_words_are_those_of_the_text() {
    let unescaped = |arguments: &[&str], input| {
        let mut command = parse_words(&["--unescape"]);
        command.args(arguments);
        printed(command, input)
    };
    let json = unescaped(&["--input", "text", "--output", "json"], "(\"No\")\n");
    assert!(json.contains("[[\"(\",") && json.contains("[\"\\\"\","), "{json}");
    let tagged = "-LRB-/-LRB- 1\\/2/CD -LSB-/-LRB- f-LRB-x-RRB-/NN\n";
    let json: Value = serde_json::from_str(&unescaped(&["--output", "json"], tagged)).unwrap();
    let words: Vec<&Value> = json["tokens"].as_array().unwrap().iter().map(|t| &t[0]).collect();
    assert_eq!(words, ["(", "1/2", "[", "f(x)"]);
    let conllu = unescaped(&["--output", "conllu"], tagged);
    assert!(conllu.contains("1\t(\t_\t_\t-LRB-\t"), "{conllu}");
    // Brackets stay readable.
    let tree = unescaped(&[], tagged);
    assert!(
        tree.contains("(-LRB- -LRB-)") && tree.contains("(CD 1/2)") && tree.contains("(-LRB- [)"),
        "{tree}"
    );
}

#[test]
fn an_object_per_line_gives_a_line() {
    let lines = [
        "{\"tokens\":[\"The\",\"dog\",[\"barks\",\"VBZ\"],\".\"]}",
        "",
        "{\"tokens\":[\"dogs\",3]}",
        "{\"id\":7,\"tokens\":[[\"dogs\",\"NNS\"],[\"bark\",\"VBP\"]]}",
    ];
    let done =
        parse_words(&["-q", "--input", "json"]).write_stdin(lines.join("\n")).assert().code(2);
    let out = text(&done.get_output().stdout);
    let trees: Vec<&str> = out.lines().collect();
    assert!(trees.len() == 4 && trees[1].is_empty() && trees[2] == "(())", "{out}");
    assert!(trees[0].contains("(DT The)") && trees[0].contains("(VBZ barks)"), "{out}");
    assert!(trees[3].contains("(NNS dogs)") && trees[3].contains("(VBP bark)"), "{out}");
    let message = text(&done.get_output().stderr);
    assert!(message.starts_with("<stdin>:3:19: "), "{message}");
    assert!(message.contains("write an object such as"), "{message}");
    let tagged = printed(tag(&["--input", "json"]), lines[0]);
    assert!(tagged.starts_with("The/DT dog/NN barks/"), "{tagged}");
}

#[test]
fn every_line_of_raw_text_gives_a_tree() {
    let text = "Mrs. Reed can't sing. Who else?\n\n- A heading\nOne (long)\n";
    let tokens = "Mrs. Reed ca n't sing . Who else ?\n\n- A heading\nOne -LRB- long -RRB-\n";
    for threads in ["1", "2"] {
        let trees = printed(parse_words(&["--input", "lines", "-j", threads]), text);
        assert_eq!(trees, printed(parse_words(&["--input", "tokens"]), tokens));
        assert_eq!(
            trees.lines().map(str::is_empty).collect::<Vec<_>>(),
            [false, true, false, false]
        );
    }
    assert_eq!(printed(tag(&["--input", "lines"]), text), printed(tag(&[]), tokens));
    let json = printed(parse_words(&["--input", "lines", "--output", "json"]), text);
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["text"], "Mrs. Reed can't sing. Who else?");
    assert_eq!((&lines[1]["tree"], &lines[2]["start"][0]), (&"(())".into(), &33.into()));
}

#[test]
fn a_line_without_a_sentence_has_the_keys_of_one() {
    let folder = crate::command::folder(&[("a.txt", b"One dog.\n\n\xff\n")]);
    for (format, items) in [("lines", 3), ("text", 2)] {
        let mut command = parse_words(&["-q", "--input", format, "--output", "json", "a.txt"]);
        let done = command.current_dir(&folder).assert().code(2);
        let out = text(&done.get_output().stdout);
        let lines: Vec<Value> =
            out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), items, "{out}");
        for line in &lines[1..] {
            let mut keys = lines[0].as_object().unwrap().keys();
            assert!(keys.all(|key| line.get(key).is_some()), "{line}");
            assert_eq!((&line["text"], &line["file"]), (&"".into(), &"a.txt".into()));
            assert_eq!((&line["start"], &line["end"]), (&line["tokens"], &line["tokens"]));
        }
    }
}

#[test]
fn objects_with_a_text_are_sentences_and_keep_their_id() {
    let input = "{\"id\":\"a 1\",\"text\":\"Dogs bark. Who?\"}\n\
                 {\"tokens\":[\"dogs\"],\"id\":{\"n\":[2]}}\n{\"text\":\"No\"}\n";
    let json = printed(parse_words(&["--input", "json", "--output", "json"]), input);
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(json.starts_with("{\"id\":\"a 1\",\"tree\":"), "{json}");
    assert_eq!(lines[0]["text"], "Dogs bark. Who?");
    assert_eq!(lines[0]["end"], serde_json::json!([4, 9, 10, 14, 15]));
    assert_eq!(lines[1]["id"], serde_json::json!({ "n": [2] }));
    assert!(lines[1].get("text").is_none() && lines[2].get("id").is_none());
    for id in ["1.10", "1E5", "12345678901234567890123", "null", "[1.0, {}]"] {
        let input = format!("{{\"tokens\":[\"dogs\"],\"id\":{id}}}\n");
        let json = printed(parse_words(&["--input", "json", "--output", "json"]), &input);
        assert_eq!(json.starts_with(&format!("{{\"id\":{id},")), id != "null", "{json}");
    }
    let without_words = "{\"id\":1,\"tokens\":[]}\n{\"text\":\" \",\"id\":2}\n{\"id\":3,\"tokens\":[5]}\n{\"id\":4}\n[5]\n";
    let mut command = parse_words(&["--input", "json", "--output", "json"]);
    let output = command.write_stdin(without_words).output().unwrap();
    let ids = crate::command::text(&output.stdout);
    let ids = ids.lines().map(|line| line.split_once(',').unwrap().0).collect::<Vec<_>>();
    assert_eq!(ids, ["{\"id\":1", "{\"id\":2", "{\"id\":3", "{\"id\":4", "{\"tree\":\"(())\""]);
    let conllu = printed(parse_words(&["--input", "json", "--output", "conllu"]), input);
    let comments: Vec<&str> = conllu.lines().filter(|line| line.starts_with('#')).collect();
    let expected =
        ["# sent_id = a 1", "# text = Dogs bark. Who?", "# sent_id = {\"n\":[2]}", "# text = No"];
    assert_eq!(comments, expected);
}

#[test]
fn straight_quotation_marks_have_the_tags_of_their_side() {
    let text = "He said \"no\" to it, \"and\" she barked.\n";
    let run = |command: &str, options: &[&str], input: &str| {
        let mut run = srparse(&[command, "-q", "--model", "english-small"]);
        run.args(options);
        printed(run, input)
    };
    let tagged = run("tag", &["--input", "text"], text);
    let marks: Vec<&str> = tagged.split(' ').filter(|word| word.starts_with('"')).collect();
    assert_eq!(marks, ["\"/``", "\"/''", "\"/``", "\"/''"]);
    let json = serde_json::json!({ "text": text }).to_string();
    for (format, input) in [("text", text), ("lines", text), ("json", &json)] {
        let tree = run("parse", &["--input", format, "--retag"], input);
        let marks: Vec<&str> = tree.split('(').filter(|part| part.contains('"')).collect();
        assert!(marks.iter().map(|part| &part[..2]).eq(["``", "''", "``", "''"]), "{tree}");
    }
    // Given tags do not stay.
    let wrong = "He/PRP said/VBD \"/VB no/UH \"/VB ./.\n";
    assert!(!run("tag", &["--input", "tagged"], wrong).contains("\"/VB"));
    assert!(!run("parse", &["--retag"], wrong).contains("(VB \")"));
}

#[test]
fn each_file_of_raw_text_is_a_document() {
    let folder = crate::command::folder(&[("a.txt", b"Dogs bark. Cats"), ("b.txt", b"\nBirds\n")]);
    for format in ["text", "lines"] {
        let run = |command: assert_cmd::Command, output: &str| {
            let mut command = command;
            command.args(["--input", format, "--output", output, "a.txt", "b.txt"]);
            command.current_dir(&folder);
            printed(command, "")
        };
        for out in [run(parse_words(&[]), "conllu"), run(tag(&[]), "conllu")] {
            let documents: Vec<&str> = out.lines().filter(|line| line.contains("newdoc")).collect();
            assert_eq!(documents, ["# newdoc id = a.txt", "# newdoc id = b.txt"], "{out}");
            assert!(out.contains("\tstart_char=1|end_char=6\n"), "{out}");
        }
        let json = run(parse_words(&[]), "json");
        assert!(json.ends_with("\"start\":[1],\"end\":[6],\"file\":\"b.txt\"}\n"), "{json}");
    }
}

#[test]
fn what_is_written_as_json_is_read_again() {
    let input = std::fs::read_to_string(sample("sentences.txt")).unwrap();
    let written = printed(parse(&["--output", "json"]), &input);
    assert_eq!(printed(parse(&["--input", "json", "--output", "json"]), &written), written);
}

#[test]
fn words_without_tags_need_a_tagger() {
    let folder = crate::command::folder(&[]);
    let options =
        ["train", "--quiet", "--no-tagger", "--set", "epochs=1", "--model", "m.srm", "--train"];
    srparse(&options).arg(sample("train.mrg")).current_dir(&folder).assert().success();
    let parse = |arguments: &[&str]| {
        let mut command = srparse(&["parse", "-q", "--model", "m.srm"]);
        command.args(arguments).current_dir(&folder);
        command
    };
    for threads in ["1", "2"] {
        let lines = "{\"tokens\":[[\"dogs\",\"NNS\"]]}\n{\"tokens\":[\"dogs\"]}\n";
        let done = parse(&["--input", "json", "-j", threads]).write_stdin(lines).assert().code(2);
        let out = text(&done.get_output().stdout);
        assert!(out.starts_with("(TOP ") && out.ends_with("\n(())\n"), "{out}");
        let message = text(&done.get_output().stderr);
        assert!(message.starts_with("<stdin>:2:1: `dogs` has no tag"), "{message}");
    }
    let done = parse(&["--input", "text"]).write_stdin("Dogs bark.\n").assert().code(2);
    let message = text(&done.get_output().stderr);
    assert!(message.contains("--input text needs a model with a tagger"), "{message}");
    let done = tag(&["--input", "text", "--accuracy"]).write_stdin("a").assert().code(2);
    assert!(text(&done.get_output().stderr).contains("--input text has none"));
}

#[test]
fn an_unreadable_line_of_a_text_ends_a_sentence() {
    let done =
        parse_words(&["-q", "--input", "text"]).write_stdin(b"a b\n\xff\nc d").assert().code(2);
    let out = text(&done.get_output().stdout);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines.len() == 3 && lines[1] == "(())", "{out}");
    assert!(text(&done.get_output().stderr).starts_with("<stdin>:2:1: not UTF-8"));
    // Each sentence after it has its own place.
    let sentences = "They go. 日本語の\n文です。犬です。\n";
    let input = [b"a b\n\xff\n".as_slice(), sentences.as_bytes()].concat();
    let done = parse_words(&["-q", "--input", "text"]).write_stdin(input).assert().code(2);
    let problems = text(&done.get_output().stderr);
    for place in ["<stdin>:2:1: not UTF-8", "<stdin>:3:10: the script", "<stdin>:4:5: the script"] {
        assert!(problems.lines().any(|line| line.starts_with(place)), "{problems}");
    }
}

#[test]
fn tokens_that_nobody_split_are_noticed_once() {
    let note = |arguments: &[&str], input: &str| {
        let done = parse_words(arguments).write_stdin(input).assert().success();
        text(&done.get_output().stderr).matches("--input text").count()
    };
    let raw = "The dogs, which barked, didn't bite.\n".repeat(100);
    let tokenized = "The dogs , which barked , did n't bite .\n".repeat(100);
    for threads in ["1", "2"] {
        assert_eq!(note(&["--input", "tokens", "-j", threads], &raw), 1);
        assert_eq!(note(&["--input", "tokens", "-j", threads], &tokenized), 0);
    }
    assert_eq!(note(&["--input", "tokens", "-q"], &raw), 0);
    assert_eq!(note(&["--input", "text"], &raw), 0);
}

#[test]
fn each_paragraph_comes_before_the_next_is_written() {
    for threads in ["1", "2"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_srparse"))
            .args(["tag", "--input", "text", "-j", threads, "--model"])
            .arg(model_with_tagger())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        for (paragraph, expected) in
            [("Dogs bark.\n", "Dogs/"), ("Cats\n\n", "Cats/"), ("Birds sing!\n", "Birds/")]
        {
            input.write_all(paragraph.as_bytes()).unwrap();
            input.flush().unwrap();
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            assert!(line.starts_with(expected) && line.ends_with('\n'), "{line}");
        }
        drop(input);
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn the_model_knows_its_tokenization_and_a_setting_changes_it() {
    let info = srparse(&["info"]).arg(model()).assert().success();
    let info = text(&info.get_output().stdout);
    assert!(info.contains("tokenization = \"penn\"") && !info.contains("= \"auto\""), "{info}");
    let words = |settings: &[&str]| {
        let mut command = parse_words(&["--input", "text", "--output", "conllu"]);
        command.args(settings);
        let out = printed(command, "Ann's well-kept dog Dhr. Vos");
        out.lines().filter_map(|line| line.split('\t').nth(1)).collect::<Vec<_>>().join(" ")
    };
    let split = ["--set", "text.compounds=split"];
    assert_eq!(words(&split), "Ann 's well - kept dog Dhr . Vos");
    assert_eq!(
        words(&["--set", "tokenization=unicode", "--set", "text.compounds=keep"]),
        "Ann's well-kept dog Dhr . Vos"
    );
    let dutch = ["tokenization=unicode", "compounds=keep", "language=dutch"];
    assert_eq!(
        words(&dutch.map(|setting| ["--set", setting]).concat()),
        "Ann's well-kept dog Dhr. Vos"
    );
}

/// Trees of a script without spaces between words.
const UNSPACED: &str =
    "(IP (NP (N 犬) (P が)) (V 走る) (PU 。))\n(IP (NP (N 猫) (P が)) (V 寝る) (PU 。))\n";

#[test]
fn words_of_a_script_without_spaces_are_learned_with_the_trees_or_refused() {
    let folder = tempfile::TempDir::new().unwrap();
    let [trees, model] = ["trees.mrg", "model.srm"].map(|name| folder.path().join(name));
    std::fs::write(&trees, UNSPACED.repeat(20)).unwrap();
    srparse(&["train", "-q", "--train"]).arg(&trees).arg("--model").arg(&model).assert().success();
    let words = |arguments: &[&str]| {
        let mut command =
            srparse(&["parse", "-q", "--input", "text", "--output", "conllu", "--model"]);
        command.arg(&model).args(arguments).write_stdin("猫が走る。犬が寝る。\n");
        let out = command.assert().get_output().clone();
        let words = text(&out.stdout);
        let words = words.lines().filter_map(|line| line.split('\t').nth(1));
        (words.collect::<Vec<_>>().join(" "), text(&out.stderr))
    };
    assert_eq!(words(&[]).0, "猫 が 走る 。 犬 が 寝る 。");
    let (none, message) = words(&["--set", "text.tokenization=unicode"]);
    assert_eq!(none, "");
    assert!(message.contains("has not learned where words end"), "{message}");
}

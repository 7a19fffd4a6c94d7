//! Words come out as they went in, from every input format to every output format.

use crate::command::{model_with_tagger, srparse, text};

/// Words of all characters up to U+00FF that are not white space, alone and beside backslashes, slashes and
/// underscores, and of characters that look like white space or like nothing.
fn words() -> Vec<String> {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c');
    let characters =
        ('\u{0}'..='\u{ff}').chain("\u{a0}\u{2009}\u{2028}\u{200d}\u{feff}\u{1f600}".chars());
    let mut words = Vec::new();
    for c in characters.filter(|&c| !is_space(c)) {
        words.extend([format!("{c}"), format!("{c}\\"), format!("\\{c}")]);
    }
    words.extend(["\\\\", "\\\\\\", "\\/\\", "//", "__", "_/_", "/_\\"].map(str::to_owned));
    words
}

fn json(word: &str) -> String {
    serde_json::Value::from(word).to_string()
}

/// A sentence of one word.
fn sentence(word: &str, format: &str) -> String {
    match format {
        "tagged" => format!("{word}/NN\n"),
        "underscore" => format!("{word}_NN\n"),
        "tokens" => format!("{word}\n"),
        "conllu" => format!("1\t{word}\t_\t_\tNN\t_\t_\t_\t_\t_\n\n"),
        "json" => format!("{{\"tokens\":[[{},\"NN\"]]}}\n", json(word)),
        // A backslash at the end would escape the bracket.
        "penn" => format!("(TOP (NN {word} ))\n"),
        _ => unreachable!(),
    }
}

/// Runs a command with a model.
fn run(arguments: &[&str], input: String) -> String {
    let mut command = srparse(&arguments[..1]);
    command.args(["-q", "--model"]).arg(model_with_tagger()).args(&arguments[1..]);
    let output = command.write_stdin(input).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The words of sentences in some format, one word each, by way of JSON.
fn read_back(output: String, format: &str) -> Vec<String> {
    let lines = run(&["parse", "--input", format, "--output", "json"], output);
    let word = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let tokens = value["tokens"].as_array().unwrap();
        assert_eq!(tokens.len(), 1, "{line}");
        tokens[0][0].as_str().unwrap().to_owned()
    };
    lines.lines().map(word).collect()
}

#[test]
fn every_word_survives_every_format() {
    // Formats of one word per line read the words themselves; Penn brackets write `-LRB-` for a bracket.
    let all = words();
    for input in ["tagged", "underscore", "tokens", "conllu", "json", "penn"] {
        let readable = |word: &&String| match input {
            "penn" => !word.contains(['(', ')']) && !word.starts_with('<'),
            // The byte order mark of the file.
            _ => !word.starts_with('\u{feff}'),
        };
        let words: Vec<&String> = all.iter().filter(readable).collect();
        // A first sentence that leaves no doubt about the format.
        let text: String = words.iter().map(|word| sentence(word, input)).collect();
        let text = format!("{}{text}", sentence("word", input));
        for (command, output) in [
            ("parse", "json"),
            ("parse", "brackets"),
            ("parse", "pretty"),
            ("parse", "conllu"),
            ("tag", "tagged"),
            ("tag", "underscore"),
            ("tag", "conllu"),
        ] {
            let written = run(&[command, "--input", input, "--output", output], text.clone());
            let format = if matches!(output, "brackets" | "pretty") { "penn" } else { output };
            let found = read_back(written, format);
            assert_eq!(found.len(), words.len() + 1, "{input} to {output}");
            for (&word, found) in words.iter().zip(&found[1..]) {
                let expected = match format {
                    "penn" => word.replace('(', "-LRB-").replace(')', "-RRB-"),
                    _ => word.clone(),
                };
                assert_eq!(*found, expected, "{command} from {input} to {output}");
            }
        }
    }
}

#[test]
fn unreadable_lines_keep_the_format_of_lists_of_parses() {
    let input = "a/A b/B\nno tag\n\nc/C\n";
    let run = |output: &str| {
        let mut parse =
            crate::command::parse(&["-q", "--skip-bad", "--nbest", "2", "--output", output]);
        text(&parse.write_stdin(input).output().unwrap().stdout)
    };
    for output in ["brackets", "pretty", "conllu"] {
        let written = run(output);
        // Each sentence ends with a blank line, in CoNLL-U one more than each parse.
        let blank_lines = written.lines().filter(|line| line.is_empty()).count();
        let parses = if output == "conllu" { 4 } else { 0 };
        assert_eq!(blank_lines, 4 + parses, "{written}");
        assert!(written.ends_with("\n\n"), "{written}");
    }
    for line in run("brackets").lines().filter(|line| !line.is_empty()) {
        let [rank, score, tree] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        assert!(rank == "1" && score.parse::<f64>().is_ok() && tree.starts_with('('), "{line}");
    }
    let lists = run("json");
    assert_eq!(lists.lines().count(), 4);
    assert!(lists.lines().all(|line| line.starts_with("[{") && line.ends_with("}]")), "{lists}");
}

//! Settings and inputs that make no sense: refused by their range, capped, or harmless.

use std::time::Duration;

use crate::command::{folder, sample, srparse, text};

/// Words that mean something to programmers of this program only.
const INTERNAL: [&str; 9] =
    ["u32", "u64", "i64", "f64", "usize", "tagged enum", "a sequence", "a map", "invalid type"];

#[test]
fn settings_out_of_range_are_refused_in_plain_words() {
    let train = sample("dev.mrg");
    for setting in [
        "epochs=4294967295",
        "epochs=18446744073709551616",
        "epochs=-1",
        "epochs=1.5",
        "epochs=\"x\"",
        "epochs=[]",
        "epochs={}",
        "learner.models=4294967295",
        "learner={}",
        "learner=3",
        "learner={ kind = \"maxent\", iterations = \"x\" }",
        "learner={ kind = \"vote\", members = 3 }",
        "learner={ kind = \"neural\", optimizer = 3 }",
        "learner={ kind = \"neural\", optimizer = { kind = 7 } }",
        "tagger=3",
        "tagger.kind=5",
        "search.beam=99999999999",
        "search.threshold=\"a\"",
        "clean.traces=3",
        "clean.functions=3",
        "max_words=-1",
        "jackknife=1",
        "jackknife=24.0",
    ] {
        let mut command = srparse(&["train", "-q", "--model", "/dev/null/m.srm", "--set", setting]);
        let output = command.arg("--train").arg(&train).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{setting}: {said}");
        assert!(said.starts_with("error: ") && !said.contains("/dev/null"), "{setting}: {said}");
        let internal = INTERNAL.iter().find(|word| said.contains(**word));
        assert_eq!(internal, None, "{setting}: {said}");
    }
}

#[test]
fn the_width_of_a_context_has_a_limit() {
    let find = |width: &str| {
        let mut find = srparse(&["find", "--output", "kwic", "--width", width, "NN"]);
        find.write_stdin("(S (NN a))").output().unwrap()
    };
    assert!(text(&find("10000").stdout).ends_with("  a\n"), "{:?}", find("10000"));
    for width in ["10001", "10000000000000", "18446744073709551615"] {
        assert_eq!(find(width).status.code(), Some(2), "{width}");
    }
}

#[test]
fn json_of_another_shape_is_reported_in_plain_words() {
    for line in
        ["{\"tokens\":5}", "{\"tokens\":[1]}", "{\"tokens\":[[1,2]]}", "{\"tokens\":{}}", "{}", "["]
    {
        let mut parse = srparse(&["parse", "-q", "--input", "json"]);
        let output = parse.write_stdin(format!("{line}\n")).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        let internal = INTERNAL.iter().find(|word| said.contains(**word));
        assert_eq!(internal, None, "{line}: {said}");
    }
}

#[test]
fn more_threads_than_the_machine_can_use_are_capped() {
    for threads in ["100000", "18446744073709551615"] {
        let mut parse = srparse(&["parse", "-j", threads]);
        let output = parse.write_stdin("dogs/NNS bark/VBP\n").output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("is more than 4 threads for each of"), "{said}");
        let folder = folder(&[]);
        let mut train = srparse(&["train", "-j", threads, "--set", "epochs=1", "--model", "m.srm"]);
        let output =
            train.arg("--train").arg(sample("dev.mrg")).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
}

#[test]
fn charts_of_huge_ranges_end_and_have_no_control_characters() {
    let table = "s\tx\u{1}\ty\na\u{1b}\t1e-299\t1\nb\t1e299\t2\tl\u{7}\n";
    for log in [&[][..], &["--log-x"]] {
        let mut chart = srparse(&["chart", "--title", "a\u{1}b"]);
        chart.args(log).write_stdin(table).timeout(Duration::from_secs(20));
        let output = chart.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{log:?}: {}", text(&output.stderr));
        let svg = text(&output.stdout);
        assert!(svg.len() < 100_000, "{log:?}: {} bytes", svg.len());
        assert!(!svg.contains(|c: char| c.is_control() && c != '\n'), "{log:?}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_file() {
    let trees = std::fs::read_to_string(sample("dev.mrg")).unwrap();
    let preset = text(&srparse(&["info", "--preset", "fast"]).output().unwrap().stdout);
    let with_mark = |text: &str| format!("\u{feff}{text}").into_bytes();
    let profile = text(&srparse(&["info", "--treebank", "ptb"]).output().unwrap().stdout);
    let files = [
        ("t.mrg", with_mark(&trees)),
        ("p.toml", with_mark(&preset)),
        ("b.toml", with_mark(&profile)),
        ("s.prm", with_mark("LABELED 1\nDELETE_LABEL TOP\n")),
        ("h.heads", with_mark(include_str!("../../data/heads/left.heads"))),
        ("f.feats", with_mark(include_str!("../../data/features/lean.feats"))),
        ("c.tsv", with_mark("s\tx\ty\na\t1\t2\n")),
        ("t.txt", with_mark("a/A b/B\n")),
        ("t.json", with_mark("{\"tokens\":[[\"a\",\"A\"]]}\n")),
        ("t.conllu", with_mark("1\ta\t_\t_\tA\t_\t_\t_\t_\t_\n\n")),
    ];
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
    let folder = folder(&files);
    for line in [
        "train --preset p.toml --treebank b.toml --set epochs=1 --train t.mrg --model m.srm",
        "train --set features.templates=f.feats --set epochs=1 --train t.mrg --model m.srm",
        "eval --params s.prm --heads h.heads t.mrg t.mrg",
        "chart c.tsv",
        "parse t.txt",
        "parse --input json t.json",
        "parse --input conllu t.conllu",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let output = srparse(&words).current_dir(&folder).output().unwrap();
        let (said, out) = (text(&output.stderr), text(&output.stdout));
        assert_eq!(output.status.code(), Some(0), "{line}: {said}");
        assert!(!out.contains('\u{feff}'), "{line}: {out}");
    }
}

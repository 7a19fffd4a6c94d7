//! `parse --resume`: killed at any time, the next run goes on, and the output is that of a run that was never killed.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

use crate::command::{folder, sample, srparse, text};

/// Two files, of trees, blank lines, trees without words and text that cannot be read, or of raw text.
fn inputs() -> TempDir {
    let trees = fs::read_to_string(sample("dev.mrg")).unwrap();
    let odd = "\n(())\n(S (A a)\n\n(S (A a)))\n";
    let raw = "The dog barks. It isn't ours!\n\nWho hears it?\n".repeat(200);
    let trees = format!("{trees}{odd}").repeat(8);
    let small = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n".repeat(60);
    let files = [("a.mrg", &trees), ("b.mrg", &small), ("a.txt", &raw), ("b.txt", &raw)];
    folder(&files.map(|(name, text)| (name, text.as_bytes())))
}

fn start(folder: &Path, arguments: &[&str], out: &[&str]) -> Child {
    let mut parse = Command::new(env!("CARGO_BIN_EXE_srparse"));
    parse.current_dir(folder).args(["parse"]).args(arguments).args(out);
    if !arguments.contains(&"--model") {
        parse.args(["--model", "english-fast"]);
    }
    parse.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Kills a run again and again until it is complete.
fn kill(arguments: &[&str], kills: u32) -> u32 {
    let folder = inputs();
    let folder = folder.path();
    let begin = Instant::now();
    let whole = start(folder, arguments, &["-o", "whole"]).wait_with_output().unwrap();
    let time = begin.elapsed();
    let mut rng = ChaCha8Rng::seed_from_u64(kills.into());
    let (mut killed, mut resumed) = (0, 0);
    let status = loop {
        let mut child = start(folder, arguments, &["-o", "out", "--resume"]);
        if killed < kills {
            std::thread::sleep(rng.random_range(time / 4..time * 11 / 10));
            // The child may have ended by itself.
            let _ = child.kill();
        }
        let ended = child.wait_with_output().unwrap();
        resumed += u32::from(text(&ended.stderr).contains("going on after"));
        if let Some(status) = ended.status.code() {
            break status;
        }
        killed += 1;
        if folder.join("out").exists() {
            // It was complete, and killed before its exit; the note may be left.
            let _ = fs::remove_file(folder.join("out.part.json"));
            break whole.status.code().unwrap();
        }
    };
    assert_eq!(Some(status), whole.status.code(), "{arguments:?}");
    let same = fs::read(folder.join("out")).unwrap() == fs::read(folder.join("whole")).unwrap();
    assert!(same, "{arguments:?}: other bytes after {killed} kills");
    for left in ["out.part", "out.part.json"] {
        assert!(!folder.join(left).exists(), "{arguments:?}: {left} is left");
    }
    resumed
}

#[test]
fn a_killed_run_goes_on_to_the_same_bytes_in_every_format() {
    let kills = std::env::var("SRPARSE_KILLS").map_or(3, |n| n.parse().unwrap());
    let trees = ["--input", "penn", "a.mrg", "b.mrg"];
    let mut resumed = 0;
    for output in ["brackets", "pretty", "conllu", "json", "html"] {
        resumed += kill(&[&["--output", output][..], &trees].concat(), kills);
    }
    let nbest = ["--model", "english-small", "--nbest", "2", "-j", "2"];
    resumed += kill(&[&nbest[..], &trees].concat(), kills);
    resumed += kill(&[&["--trace", "--output", "html"][..], &trees].concat(), kills);
    resumed += kill(&["--input", "text", "--output", "conllu", "a.txt", "b.txt"], kills);
    assert!(resumed > 0, "no run went on after a kill");
}

/// The exit status and what was said.
fn resume(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut parse = srparse(&["parse", "--resume"]);
    let ended = parse.current_dir(folder).args(arguments).output().unwrap();
    (ended.status.code(), text(&ended.stderr))
}

/// A run that takes some time.
const SLOW: [&str; 7] =
    ["--model", "english-small", "--input", "penn", "--beam=8", "a.mrg", "b.mrg"];

/// Starts a slow run and waits until it has noted something.
fn begin(folder: &Path) -> Child {
    let mut child = start(folder, &SLOW, &["-q", "-o", "out", "--resume"]);
    let note = || fs::read_to_string(folder.join("out.part.json"));
    while !note().is_ok_and(|note| !note.contains("\"bytes\":0,")) {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before the first note");
        std::thread::yield_now();
    }
    child
}

#[test]
fn what_was_begun_with_other_options_or_input_is_refused() {
    let folder = inputs();
    let folder = folder.path();
    let mut child = begin(folder);
    child.kill().unwrap();
    child.wait().unwrap();
    let refused = |changes: &[(&str, &str)], sentence: &str| {
        let change = |argument: &'static str| {
            let changed = changes.iter().find(|(before, _)| *before == argument);
            changed.map_or(argument, |(_, after)| after).to_owned()
        };
        let arguments: Vec<String> =
            SLOW.into_iter().map(change).filter(|it| !it.is_empty()).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (status, said) = resume(folder, &[&arguments[..], &["-o", "out"]].concat());
        assert_eq!(status, Some(2), "{changes:?}: {said}");
        assert!(said.contains(sentence), "{changes:?}: {said}");
    };
    refused(&[("a.mrg", "--retag"), ("b.mrg", "a.mrg")], "another --retag (false, now true)");
    refused(&[("--beam=8", "--beam=4")], "another search setting (");
    refused(&[("english-small", "english")], "another model (english-small, check sum ");
    refused(&[("a.mrg", "b.mrg"), ("b.mrg", "a.mrg")], "another input file 1 (a.mrg of ");
    refused(&[("b.mrg", "")], "another number of input files (2, now 1)");
    // The same size, another first word.
    let trees = fs::read_to_string(folder.join("a.mrg")).unwrap();
    let end = trees.find(')').unwrap();
    fs::write(folder.join("a.mrg"), [&trees[..end - 1], "x", &trees[end..]].concat()).unwrap();
    refused(&[], "the input is not what it was");
    fs::write(folder.join("a.mrg"), trees).unwrap();
    // Counts that nobody has counted.
    let note = fs::read_to_string(folder.join("out.part.json")).unwrap();
    let items = note.find("\"items\":").unwrap() + 8;
    for (count, sentence) in
        [("9", "the input is not what it was"), ("1844674407370955161", "no note")]
    {
        let more = [&note[..items], count, &note[items..]].concat();
        fs::write(folder.join("out.part.json"), more).unwrap();
        refused(&[], sentence);
    }
    fs::write(folder.join("out.part.json"), note).unwrap();
    // Other bytes, as many as before; fewer.
    let length = fs::metadata(folder.join("out.part")).unwrap().len();
    fs::write(folder.join("out.part"), "x".repeat(length as usize)).unwrap();
    refused(&[], "it does not begin with the ");
    fs::write(folder.join("out.part"), "").unwrap();
    refused(&[], "it does not begin with the ");
    fs::write(folder.join("out.part.json"), "{").unwrap();
    refused(&[], "this is no note of --resume: delete it and ");
    fs::remove_file(folder.join("out.part.json")).unwrap();
    // Without a note, a part that is not empty may be anything.
    fs::write(folder.join("out.part"), "x").unwrap();
    refused(&[], "out.part is there already, and without ");
    fs::write(folder.join("out.part"), "").unwrap();
    let (status, said) =
        resume(folder, &["-o", "out", "--model", "english-fast", "--input", "penn", "b.mrg"]);
    assert_eq!(status, Some(0), "{said}");
    refused(&[], "to go on with, so it is complete or of another run: delete it to begin again");
}

/// The part of an output, or its note, is no input of the same command, under any of its names.
#[test]
fn an_input_is_no_part() {
    let text = b"the/DT dog/NN barks/VBZ ./.\n";
    let folder = folder(&[("z.part", text), ("y.part.json", text), ("x.txt", text)]);
    let folder = folder.path();
    fs::hard_link(folder.join("z.part"), folder.join("z.txt")).unwrap();
    for arguments in [
        &["z.part", "-o", "z"][..],
        &["z.txt", "-o", "z"],
        &["y.part.json", "-o", "y"],
        &["x.txt", "-o", "z", "--model", "z.part"],
        &["x.txt", "-o", "y"],
    ] {
        let (status, said) = resume(folder, arguments);
        assert_eq!(status, Some(2), "{arguments:?}: {said}");
        for file in ["z.part", "y.part.json"] {
            assert_eq!(fs::read(folder.join(file)).unwrap(), text, "{arguments:?}");
        }
    }
}

#[test]
fn only_a_plain_file_from_plain_files_is_resumed() {
    let folder = folder(&[("a", b"a/DT dog/NN\n")]);
    let folder = folder.path();
    std::os::unix::fs::symlink("a", folder.join("linked.part")).unwrap();
    let pipe = Command::new("mkfifo").arg(folder.join("pipe.part.json")).status();
    assert!(pipe.unwrap().success());
    for (arguments, sentence) in [
        (&["a"][..], "--resume needs a file to go on with: add --out FILE"),
        (&["-o", "out"], "<stdin> is no file: name files"),
        (&["-o", "out", "/dev/null"], "/dev/null is no file: name files"),
        (&["-o", "out.gz", "a"], "--resume writes plain files: choose a name without this ending"),
        (&["-o", "a", "a"], "this file is also an input"),
        (&["-o", "/dev/null", "a"], "/dev/null: this is a device"),
        (&["-o", "none/out", "a"], "the folder"),
        (&["-o", ".", "a"], "this is a folder"),
        (&["-o", "linked", "a"], "linked.part: this file is also an input"),
        (&["-o", "pipe", "a"], "pipe.part.json is no plain file: name another output"),
    ] {
        let (status, said) = resume(folder, arguments);
        assert_eq!(status, Some(2), "{arguments:?}: {said}");
        assert!(said.contains(sentence), "{arguments:?}: {said}");
    }
    assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "a/DT dog/NN\n");
    assert_eq!(folder.read_dir().unwrap().count(), 3);
    let fast = ["-o", "out", "--model", "english-fast", "a"];
    assert_eq!(resume(folder, &fast), (Some(0), String::new()));
    assert!(fs::read_to_string(folder.join("out")).unwrap().starts_with("(TOP"));
}

#[test]
fn two_runs_do_not_write_one_part() {
    let folder = inputs();
    let mut child = begin(folder.path());
    let (status, said) = resume(folder.path(), &[&SLOW[..], &["-o", "out"]].concat());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("another program is writing this file"), "{said}");
}

//! Messages that nobody hears: a closed or full standard error loses no work.

use std::fs::{self, OpenOptions};
use std::process::{Command, Output, Stdio};

use crate::command::{folder, sample};

/// The ways in which standard error fails.
#[derive(Debug, Clone, Copy)]
enum Deaf {
    Closed,
    Full,
}

/// Runs the command with a standard error that fails.
fn run(how: Deaf, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_srparse"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    match how {
        Deaf::Closed => command.stderr(Stdio::piped()),
        Deaf::Full => command.stderr(OpenOptions::new().write(true).open("/dev/full").unwrap()),
    };
    let mut child = command.spawn().unwrap();
    drop(child.stderr.take());
    child.wait_with_output().unwrap()
}

#[test]
fn training_ends_with_a_model() {
    for how in [Deaf::Closed, Deaf::Full] {
        let folder = folder(&[]);
        let model = folder.path().join("m.srm");
        let (train, dev) = (sample("train.mrg"), sample("dev.mrg"));
        let [model, train, dev] = [&model, &train, &dev].map(|path| path.to_str().unwrap());
        let files = ["train", "--model", model, "--train", train, "--dev", dev];
        let output = run(how, &[&files[..], &["--set", "epochs=2"]].concat());
        assert_eq!(output.status.code(), Some(0), "{how:?}");
        assert!(fs::metadata(model).unwrap().len() > 0);
    }
}

#[test]
fn parsing_ends_with_a_line_for_every_line() {
    // Untagged words are unreadable, unknown tags and partial parses are noted.
    let text = "dogs/NNS bark/VBP\nno tags here\nodd/ODD ,/, ,/,\n".repeat(2000);
    let folder = folder(&[("in.txt", text.as_bytes())]);
    let path = folder.path().join("in.txt");
    for how in [Deaf::Closed, Deaf::Full] {
        for threads in ["1", "2"] {
            let model = ["--model", "english-fast"];
            let arguments = ["parse", "-j", threads, path.to_str().unwrap()];
            let output = run(how, &[&arguments[..], &model].concat());
            assert_eq!(output.status.code(), Some(2), "{how:?} -j {threads}");
            let lines = output.stdout.iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(lines, 6000, "{how:?} -j {threads}");
        }
    }
}

#[test]
fn the_exit_status_stays_that_of_the_command() {
    let dev = sample("dev.mrg");
    let dev = dev.to_str().unwrap();
    for how in [Deaf::Closed, Deaf::Full] {
        for (status, arguments) in [
            (0, &["tree", dev][..]),
            (0, &["oracle", "--stats", dev]),
            (0, &["eval", dev, dev]),
            (0, &["compare", dev, dev, dev]),
            (0, &["tag", "--input", "penn", "--accuracy", dev]),
            (1, &["compare", "--max-p", "0.05", dev, dev, dev]),
            (2, &["tree", "no such file"]),
            (2, &["no such command"]),
        ] {
            let output = run(how, arguments);
            assert_eq!(output.status.code(), Some(status), "{how:?} {arguments:?}");
        }
    }
}

#[test]
fn messages_do_not_command_the_terminal() {
    let name = "\u{1b}[2J\u{7}.txt";
    let tree = "(S (N\u{1b}P (N dog) (\u{7}\u{9b}";
    let folder = folder(&[(name, b"no\x1b]0;x\x07tags here\n"), ("a.mrg", tree.as_bytes())]);
    for arguments in [&["parse", name][..], &["tree", "a.mrg"], &["parse", "--model", name]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_srparse"));
        let output = command.args(arguments).current_dir(&folder).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(!said.contains(|c: char| c.is_control() && c != '\n'), "{said:?}");
        assert!(!arguments.contains(&name) || said.contains("\\u{1b}[2J\\u{7}.txt"), "{said}");
    }
}

#[test]
fn an_unknown_instruction_set_is_an_error() {
    for (name, status) in [("bogus", 2), ("portable", 0), ("", 0)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_srparse"));
        let output = command.args(["tree", "-q"]).arg(sample("dev.mrg"));
        let output = output.env("SRPARSE_INSTRUCTIONS", name).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{said}");
        let says = "error: SRPARSE_INSTRUCTIONS: this processor has no instruction set `bogus`: give one of ";
        assert_eq!(said.starts_with(says), status == 2, "{said}");
    }
}

#[test]
fn numbers_are_as_they_were_given() {
    let setting = "learner.epochs=9223372036854775807";
    let folder = folder(&[]);
    let model = folder.path().join("m.srm");
    let model = model.to_str().unwrap();
    let arguments = ["train", "--set", setting, "--train", "x", "--model", model];
    let output = run_heard(&arguments);
    assert!(output.ends_with(", not 9223372036854775807\n"), "{output}");
}

/// What a failing command says.
fn run_heard(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_srparse")).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

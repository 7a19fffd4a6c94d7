//! A closed or full standard output, with one thread and with two.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const SRPARSE: &str = env!("CARGO_BIN_EXE_srparse");

/// A file with more sentences than fit into all buffers.
fn many_sentences() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), "The/DT dog/NN barks/VBZ ./.\n".repeat(20_000))
        .expect("it is written");
    file
}

#[test]
fn a_reader_that_takes_one_line_of_a_file_ends_the_program_with_success() {
    let file = many_sentences();
    for threads in ["1", "2"] {
        let mut child = Command::new(SRPARSE)
            .args(["parse", "-q", "-j", threads, "--model", "english-fast"])
            .arg(file.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("srparse runs");
        let mut first = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut first).expect("a line");
        assert!(first.starts_with("(TOP "), "{first}");
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "-j {threads}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let file = many_sentences();
    for threads in ["1", "2"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let output = Command::new(SRPARSE)
            .args(["parse", "-q", "-j", threads, "--model", "english-fast"])
            .arg(file.path())
            .stdout(full)
            .output()
            .expect("srparse runs");
        assert_eq!(output.status.code(), Some(2), "-j {threads}");
        assert!(!output.stderr.is_empty(), "-j {threads}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_output_is_an_error() {
    let file = many_sentences();
    for options in
        ["parse -q --model english-fast", "parse -q -j 2 --model english-fast", "tree -q"]
    {
        let input = if options.starts_with("tree") { "data/sample/dev.mrg" } else { "$0" };
        let output = Command::new("sh")
            .args(["-c", &format!("exec {SRPARSE} {options} {input} >&-")])
            .arg(file.path())
            .output()
            .expect("sh runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options}: {said}");
        assert!(said.contains("standard output is closed: "), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_input_is_an_error() {
    for options in ["parse -q", "parse", "tree", "tree -", "find NP", "tag"] {
        let script = format!("exec {SRPARSE} {options} <&-");
        let output = Command::new("sh").args(["-c", &script]).output().expect("sh runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options}: {said}");
        assert!(
            said.contains("error: <stdin>: standard input is closed: name files"),
            "{options}: {said}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error() {
    for options in ["--help", "--version", "parse --help"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let output = Command::new(SRPARSE).args(options.split(' ')).stdout(full).output();
        let output = output.expect("srparse runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options}: {said}");
        assert!(said.starts_with("error: standard output: "), "{options}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
    for command in [&["parse", "--model"][..], &["info"]] {
        let mut run = assert_cmd::Command::new(SRPARSE);
        run.args(command).arg(&path);
        let output = run.timeout(std::time::Duration::from_secs(120)).output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("not a file: give a model file"), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_profile_is_read_from_a_pipe_and_a_device_is_refused() {
    let run = |command: &str| {
        let command =
            format!("cat data/treebanks/ptb.toml | {SRPARSE} {command} data/sample/dev.mrg");
        let output = Command::new("sh").args(["-c", &command]).output().expect("sh runs");
        (output.status.code(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (named, piped) = (run("tree --treebank ptb"), run("tree --treebank /dev/stdin"));
    assert_eq!(piped.0, Some(0), "{}", piped.2);
    assert!(!named.1.is_empty() && named.1 == piped.1);
    for command in ["tree --treebank /dev/zero", "tree --binarize --heads /dev/zero"] {
        let (status, _, said) = run(command);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("/dev/zero: larger than 64 MB"), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_outputs_of_parts_are_that_of_the_whole_file() {
    let lines: String =
        (0..200).map(|n| format!("The/DT dog/NN barks/VBZ {n}/CD times/NNS ./.\n")).collect();
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), lines).expect("it is written");
    let parse = format!("{SRPARSE} parse -q --model english-fast");
    let run = |command: &str| {
        let output = Command::new("sh").args(["-c", command]).arg(file.path()).output();
        output.expect("sh runs").stdout
    };
    let whole = run(&format!("{parse} $0"));
    let parts = run(&format!("for k in 1 2 3; do split -n l/$k/3 $0 | {parse}; done"));
    assert!(whole.len() > 1_000 && whole == parts);
}

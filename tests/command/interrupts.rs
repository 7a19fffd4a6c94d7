//! Training that is told to end by a signal: what is written, what is said, and the exit status.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::command::{folder, interruptible, sample, srparse};

/// `srparse train` at work in a folder with an old model, `m.srm`, and a pipe without a writer, `pipe`.
struct Training {
    folder: TempDir,
    child: Child,
    lines: Box<dyn Iterator<Item = String>>,
}

impl Training {
    fn start(arguments: &[&str]) -> Self {
        Self::start_with(&[], arguments)
    }

    /// The same with more files.
    fn start_with(files: &[(&str, &[u8])], arguments: &[&str]) -> Self {
        let bad = b"(S (A a)) x\n(S (A a))\n";
        let own: [(&str, &[u8]); 2] = [("m.srm", b"old model"), ("bad.mrg", bad)];
        let folder = folder(&[&own, files].concat());
        let pipe = Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
        assert!(pipe.success());
        let child = interruptible()
            .current_dir(&folder)
            .args(["train", "--model", "m.srm"])
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn();
        Self::of(folder, child.unwrap())
    }

    fn of(folder: TempDir, mut child: Child) -> Self {
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { folder, child, lines: Box::new(lines.map_while(Result::ok)) }
    }

    /// Waits for a line of the log.
    fn wait_for(&mut self, text: &str) {
        assert!(self.lines.any(|line| line.contains(text)), "training ended too early");
    }

    fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    /// Returns the exit status and the rest of the log.
    fn end(&mut self) -> (Option<i32>, Vec<String>) {
        let rest = self.lines.by_ref().collect();
        (self.child.wait().unwrap().code(), rest)
    }

    /// The only files in the folder are those that were there.
    fn assert_untouched(&self) {
        let mut names: Vec<_> = fs::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["bad.mrg", "m.srm", "pipe"]);
        assert_eq!(fs::read(self.folder.path().join("m.srm")).unwrap(), b"old model");
    }
}

#[test]
fn an_interrupt_ends_training_with_a_model() {
    let train = sample("train.mrg");
    let mut training =
        Training::start(&["--set", "epochs=100000", "--train", train.to_str().unwrap()]);
    training.wait_for("epoch 2:");
    training.signal("-INT");
    let (status, rest) = training.end();
    assert_eq!(status, Some(130), "{rest:?}");
    assert!(rest.last().is_some_and(|line| line.contains("stopped early")), "{rest:?}");
    let mut parse = srparse(&["parse", "--model", "m.srm"]);
    parse.current_dir(&training.folder).write_stdin("dogs/NNS bark/VBP\n").assert().success();
}

#[test]
fn a_signal_while_trees_are_read_ends_training_at_once_and_writes_nothing() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        for quiet in [&[][..], &["--quiet"]] {
            // The dev trees never come.
            let files = ["--skip-bad", "--curve", "c.tsv", "--train", "bad.mrg", "--dev", "pipe"];
            let mut training = Training::start(&[&files, quiet].concat());
            training.wait_for("skipped 1");
            training.signal(signal);
            let (status, rest) = training.end();
            assert_eq!(status, Some(130), "{signal}: {rest:?}");
            let said = "training was stopped before there was a model: nothing was written";
            assert_eq!(rest, [said], "{signal}");
            training.assert_untouched();
        }
    }
}

#[test]
fn a_signal_before_anything_was_learned_leaves_the_old_model() {
    let mut training = Training::start(&[
        "--skip-bad",
        "--curve",
        "c.tsv",
        "--train",
        "bad.mrg",
        "--preset",
        "liu-zhang-2017",
        "--set",
        "learner.pretrained=pipe",
    ]);
    training.wait_for("skipped 1");
    // Training waits for the first embedding.
    let mut pipe =
        OpenOptions::new().write(true).open(training.folder.path().join("pipe")).unwrap();
    training.signal("-TERM");
    training.wait_for("stopping: ");
    writeln!(pipe, "a 0.5 0.5").unwrap();
    drop(pipe);
    let (status, rest) = training.end();
    assert_eq!(status, Some(130), "{rest:?}");
    let said = "training was stopped before there was a model: nothing was written";
    assert_eq!(rest.last().map(String::as_str), Some(said), "{rest:?}");
    training.assert_untouched();
}

#[test]
fn signals_that_were_ignored_from_the_beginning_stay_ignored() {
    for (name, signal) in [("HUP", "-HUP"), ("INT", "-INT")] {
        let folder = folder(&[]);
        // As `nohup` starts programs, and scripts their background jobs.
        let line = format!("trap '' {name}; exec \"$0\" \"$@\"");
        let child = Command::new("sh")
            .current_dir(&folder)
            .args(["-c", &line, env!("CARGO_BIN_EXE_srparse")])
            .args(["train", "--model", "m.srm", "--set", "epochs=100000", "--train"])
            .arg(sample("train.mrg"))
            .stderr(Stdio::piped())
            .spawn();
        let mut training = Training::of(folder, child.unwrap());
        training.wait_for("epoch 1:");
        training.signal(signal);
        training.wait_for("epoch 5:");
        training.signal("-TERM");
        let (status, rest) = training.end();
        assert_eq!(status, Some(130), "{name}: {rest:?}");
        assert!(training.folder.path().join("m.srm").is_file());
    }
}

#[test]
fn an_interrupt_of_any_learner_ends_with_a_model_or_with_the_old_one() {
    let trees = fs::read_to_string(sample("train.mrg")).unwrap().repeat(20);
    for options in [
        &["--preset", "sagae-lavie-2005-svm"][..],
        &["--preset", "sagae-lavie-2005-mbl"],
        &["--preset", "sagae-lavie-2005-maxent"],
        &["--preset", "wang-2006-vote"],
        &["--preset", "wang-2006-stack"],
        &["--preset", "wang-2006-meta"],
        &["--preset", "wang-2006-dtree1"],
        &["--preset", "turian-2005-free"],
        &["--preset", "beam"],
        &["--preset", "fast", "--jackknife", "10"],
        &["--preset", "fast", "--tagger"],
    ] {
        for quiet in [&[][..], &["--quiet"]] {
            let files = ["--skip-bad", "--train", "bad.mrg", "many.mrg"];
            let many = [("many.mrg", trees.as_bytes())];
            let mut training = Training::start_with(&many, &[&files, options, quiet].concat());
            training.wait_for("skipped 1");
            training.signal("-INT");
            let (status, rest) = training.end();
            let path = training.folder.path().join("m.srm");
            let nothing = "training was stopped before there was a model: nothing was written";
            let last = rest.last().map_or("", String::as_str);
            if last == nothing {
                assert_eq!(fs::read(&path).unwrap(), b"old model", "{options:?}");
            } else {
                srparse(&["info"]).arg(&path).assert().success();
            }
            // It may have been complete before the signal.
            let is_stopped = last == nothing || last.contains("stopped early");
            assert_eq!(status, Some(if is_stopped { 130 } else { 0 }), "{options:?}: {rest:?}");
        }
    }
}

#[test]
fn a_model_that_waits_for_the_reader_of_a_pipe_is_given_up_at_the_first_signal() {
    let files = ["--model", "pipe", "--train", "many.mrg", "--set", "epochs=1", "--no-tagger"];
    let trees = fs::read(sample("train.mrg")).unwrap();
    let folder = folder(&[("many.mrg", &trees)]);
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    let mut command = interruptible();
    command.current_dir(&folder).arg("train").args(files).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let mut training = Training::of(folder, child);
    let mut reader = fs::File::open(training.folder.path().join("pipe")).unwrap();
    // The model has begun, and does not fit into the pipe.
    reader.read_exact(&mut [0]).unwrap();
    training.signal("-TERM");
    let waited = Instant::now();
    while training.child.try_wait().unwrap().is_none() && waited.elapsed().as_secs() < 120 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let status = training.child.try_wait().unwrap().map(|status| status.code());
    training.child.kill().unwrap();
    assert_eq!(status, Some(Some(130)));
}

//! Where commands write: what is refused before any work, and what happens when a disk or folder fails later.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::command::{folder, interruptible, sample, srparse, text};

/// A folder with training trees, another folder, and links.
fn workshop() -> TempDir {
    let trees = fs::read(sample("dev.mrg")).unwrap();
    let folder = folder(&[("a.mrg", &trees), ("b.mrg", &trees), ("in.txt", b"a/A b/B\n")]);
    fs::create_dir(folder.path().join("sub")).unwrap();
    std::os::unix::fs::symlink("a.mrg", folder.path().join("link")).unwrap();
    fs::copy(crate::command::model(), folder.path().join("m.srm")).unwrap();
    folder
}

/// Runs a line of arguments in a folder; returns the exit status and standard error.
fn run(folder: &Path, line: &str) -> (Option<i32>, String) {
    let words: Vec<&str> = line.split(' ').collect();
    let output = srparse(&words).current_dir(folder).output().unwrap();
    (output.status.code(), text(&output.stderr))
}

/// Every file with its bytes.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn inputs_other_outputs_folders_and_devices_are_refused_and_nothing_is_touched() {
    let folder = workshop();
    let before = contents(folder.path());
    for (line, problem) in [
        ("train --train a.mrg --model a.mrg", "also an input"),
        ("train --train a.mrg --model link", "also an input"),
        ("train --train . --model b.mrg", "also an input"),
        ("train --train *.mrg --model b.mrg", "also an input"),
        ("train --train a.mrg --dev b.mrg --model b.mrg", "also an input"),
        ("train --train a.mrg --model new.srm --curve a.mrg", "also an input"),
        ("train --train a.mrg --model new.srm --curve new.srm", "this is also --model"),
        ("train --train a.mrg --model new.srm --curve ./sub/../new.srm", "this is also --model"),
        (
            "train --preset dyer-2016 --train a.mrg --model new.srm --checkpoint new.srm",
            "this is also --model",
        ),
        ("train --train a.mrg --model sub", "is a folder"),
        ("train --train a.mrg --model /dev/null", "is a device"),
        ("train --train a.mrg --model new.srm --curve /dev/full", "is a device"),
        ("train --train a.mrg --model no/new.srm", "is missing"),
        ("tree a.mrg -o a.mrg", "also an input"),
        ("tree . -o b.mrg", "also an input"),
        ("tree a.mrg -o link", "also an input"),
        ("tree a.mrg -o sub", "is a folder"),
        ("tree a.mrg -o /dev/null", "is a device"),
        ("parse in.txt -o in.txt", "also an input"),
        ("parse --model m.srm in.txt -o m.srm", "also an input"),
        ("tag in.txt -o in.txt", "also an input"),
        ("eval a.mrg b.mrg -o b.mrg", "also an input"),
        ("compare a.mrg b.mrg a.mrg -o b.mrg", "also an input"),
        ("oracle a.mrg -o a.mrg", "also an input"),
        ("oracle --model m.srm a.mrg -o m.srm", "also an input"),
        ("info m.srm -o m.srm", "also an input"),
        ("chart in.txt -o in.txt", "also an input"),
        ("find NP --text --model m.srm in.txt -o m.srm", "names this file twice"),
        ("complexity --text --model=m.srm in.txt -o m.srm", "names this file twice"),
        ("find NP --text --model m.srm in.txt -om.srm", "names this file twice"),
        ("eval --heads b.mrg a.mrg a.mrg -o b.mrg", "names this file twice"),
        ("tree --set features.templates=in.txt a.mrg -o in.txt", "names this file twice"),
        ("info --preset in.txt -o ./sub/../in.txt", "names this file twice"),
    ] {
        let (status, said) = run(folder.path(), line);
        assert_eq!(status, Some(2), "{line}: {said}");
        assert!(said.contains(problem), "{line}: {said}");
        assert!(!said.contains("epoch"), "{line}: refused only after training: {said}");
        assert!(contents(folder.path()) == before, "{line} changed a file");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_is_no_input_and_no_file_to_replace() {
    let folder = workshop();
    let append = |name: &str| {
        let file = fs::OpenOptions::new().append(true).open(folder.path().join(name)).unwrap();
        Stdio::from(file)
    };
    let before = contents(folder.path());
    for (line, says) in [
        ("tree a.mrg", "a.mrg: standard output goes to this input"),
        ("find NP b.mrg link", "link: standard output goes to this input"),
        ("parse --model english-fast in.txt a.mrg", "a.mrg: standard output goes to this input"),
        ("tag --model english-fast link", "link: standard output goes to this input"),
        ("find NP --text --model english-fast link", "link: standard output goes to this input"),
        ("tree b.mrg -o /dev/stdout", "/dev/stdout: this is an open file"),
        ("parse --model m.srm in.txt -o /proc/self/fd/1", "/fd/1: this is an open file"),
        ("parse --model m.srm in.txt --resume -o /dev/stdout", "/dev/stdout: this is an open file"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = interruptible();
        command.args(words).current_dir(folder.path()).stdout(append("a.mrg"));
        let output = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(says), "{line}: {said}");
    }
    let input = fs::File::open(folder.path().join("in.txt")).unwrap();
    let mut command = interruptible();
    command.args(["parse", "--model", "m.srm"]).current_dir(folder.path());
    command.stdin(input).stdout(append("in.txt")).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    let said = text(&output.stderr);
    let is_refused = said.contains("<stdin>: standard output goes to this input");
    assert!(output.status.code() == Some(2) && is_refused, "{said}");
    assert!(contents(folder.path()) == before);
}

#[test]
fn a_pipe_is_written_and_a_link_leads_to_its_file() {
    let folder = workshop();
    let (status, said) = run(folder.path(), "tree b.mrg -o link");
    assert_eq!(status, Some(0), "{said}");
    assert!(folder.path().join("link").is_symlink());
    let trees = fs::read(folder.path().join("a.mrg")).unwrap();
    assert!(trees.starts_with(b"(TOP "));
    Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    let reader =
        Command::new("cat").arg(folder.path().join("pipe")).stdout(Stdio::piped()).spawn().unwrap();
    let (status, said) = run(folder.path(), "tree b.mrg -o pipe");
    assert_eq!(status, Some(0), "{said}");
    assert!(reader.wait_with_output().unwrap().stdout == trees);
    let output = srparse(&["tree", "b.mrg", "-o", "/dev/stdout"]).current_dir(&folder).output();
    let output = output.unwrap();
    assert!(output.status.success() && output.stdout == trees, "{}", text(&output.stderr));
}

#[test]
fn a_file_too_large_for_the_disk_leaves_the_old_one() {
    // A limit on the size of files fails like a full disk, in the middle of a file.
    let line = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
    let folder = workshop();
    let before = contents(folder.path());
    for arguments in [
        &["train", "-q", "--set", "epochs=1", "--train", "a.mrg", "--model", "m.srm"][..],
        &["tree", "--output", "json", "a.mrg", "-o", "b.mrg"],
        &[
            "parse", "--model", "m.srm", "--input", "penn", "--output", "json", "a.mrg", "-o",
            "b.mrg",
        ],
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", line, env!("CARGO_BIN_EXE_srparse")]).args(arguments);
        let output = command.current_dir(&folder).env("TMPDIR", folder.path()).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("too large"), "{arguments:?}: {said}");
        let name = arguments.last().unwrap();
        assert!(said.contains(name) && !said.contains(".tmp"), "{arguments:?}: {said}");
        assert!(contents(folder.path()) == before, "{arguments:?} changed a file");
    }
}

#[test]
fn a_split_that_fails_changes_no_part() {
    let folder = workshop();
    fs::create_dir(folder.path().join("parts")).unwrap();
    fs::create_dir(folder.path().join("parts/b.mrg")).unwrap();
    fs::write(folder.path().join("parts/a.mrg"), "old").unwrap();
    let (status, said) = run(folder.path(), "split -o parts --share a=50,b=50 a.mrg");
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("b.mrg: this is a folder"), "{said}");
    let parts = contents(&folder.path().join("parts"));
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].1, b"old");
}

/// Training that goes on until it is interrupted.
struct Endless {
    child: Child,
    lines: Box<dyn Iterator<Item = String>>,
}

impl Endless {
    fn start(folder: &Path, options: &[&str]) -> Self {
        let mut child = interruptible()
            .current_dir(folder)
            .env("TMPDIR", folder)
            .args(["train", "--set", "epochs=100000", "--train", "a.mrg"])
            .args(options)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut this = Self { child, lines: Box::new(lines.map_while(Result::ok)) };
        this.wait_for("epoch 1:");
        this
    }

    fn wait_for(&mut self, text: &str) {
        assert!(self.lines.any(|line| line.contains(text)), "training ended too early");
    }

    fn interrupt(mut self) -> (Option<i32>, String) {
        let kill = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let said = self.lines.by_ref().collect::<Vec<_>>().join("\n");
        (self.child.wait().unwrap().code(), said)
    }
}

#[test]
fn a_curve_that_cannot_be_written_for_a_while_is_complete_in_the_end() {
    let folder = workshop();
    let (sub, away) = (folder.path().join("sub"), folder.path().join("away"));
    let mut training = Endless::start(
        folder.path(),
        &["--set", "models=1", "--model", "m.srm", "--curve", "sub/c.tsv"],
    );
    fs::rename(&sub, &away).unwrap();
    training.wait_for("training goes on");
    fs::rename(&away, &sub).unwrap();
    training.wait_for("epoch ");
    training.wait_for("epoch ");
    let (status, said) = training.interrupt();
    assert_eq!(status, Some(130), "{said}");
    let curve = fs::read_to_string(sub.join("c.tsv")).unwrap();
    let epochs: Vec<&str> =
        curve.lines().skip(1).filter_map(|line| line.split('\t').nth(1)).collect();
    let expected: Vec<String> = (1..=epochs.len()).map(|epoch| epoch.to_string()).collect();
    assert!(epochs.len() > 1 && epochs == expected, "{epochs:?}");
}

#[test]
fn a_model_whose_folder_has_gone_is_written_where_temporary_files_go() {
    let folder = workshop();
    let training = Endless::start(folder.path(), &["--model", "sub/m.srm"]);
    fs::rename(folder.path().join("sub"), folder.path().join("away")).unwrap();
    let (status, said) = training.interrupt();
    assert_eq!(status, Some(2), "{said}");
    let (_, path) = said.rsplit_once("the model is in ").unwrap();
    let path = path.strip_suffix(" now").unwrap();
    let parse = &["parse", "--model", path];
    srparse(parse).write_stdin("dogs/NNS bark/VBP\n").assert().success();
}

/// A small disk of its own, which is full and gets room while training waits for it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_tried_again_and_then_has_the_model() {
    let folder = workshop();
    let script = "mount -t tmpfs -o size=2m tmpfs sub && head -c 2000000 /dev/zero > sub/full
        { \"$0\" train --set epochs=1 --train a.mrg --model sub/m.srm 2>&1; echo status $?; } | while read -r line; do
            echo \"$line\"
            case $line in *'trying again in 2 s') rm sub/full ;; esac
        done
        \"$0\" info sub/m.srm > /dev/null && echo left: && ls -A sub";
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        script,
        env!("CARGO_BIN_EXE_srparse"),
    ]);
    let output = command.current_dir(&folder).env("TMPDIR", folder.path()).output().unwrap();
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(said.contains("the model is in ") && said.contains("; trying again in 1 s"), "{said}");
    assert!(said.contains("status 0") && said.contains("wrote sub/m.srm"), "{said}");
    assert!(said.ends_with("left:\nm.srm\n"), "{said}");
    let files = contents(folder.path());
    assert!(files.iter().all(|(name, _)| !name.contains("srparse-")), "the rescued model is left");
}

#[test]
fn checkpoints_that_cannot_be_written_do_not_end_training() {
    let folder = workshop();
    let line = "train --preset sagae-lavie-2005-svm --train a.mrg --checkpoint c --model";
    assert_eq!(run(folder.path(), &format!("{line} one.srm")).0, Some(0));
    let [run_folder] = &fs::read_dir(folder.path().join("c")).unwrap().collect::<Vec<_>>()[..]
    else {
        panic!("one folder for a run");
    };
    for part in fs::read_dir(run_folder.as_ref().unwrap().path()).unwrap() {
        let path = part.unwrap().path();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
    }
    let (status, said) = run(folder.path(), &format!("{line} two.srm"));
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(said.matches("training goes on without this checkpoint").count(), 1, "{said}");
    let read = |name| fs::read(folder.path().join(name)).unwrap();
    assert!(read("one.srm") == read("two.srm"));
}

#[test]
fn a_checkpoint_keeps_something_or_is_refused() {
    let folder = workshop();
    for (preset, settings, is_kept) in [
        ("fast", " --set epochs=2", true),
        ("beam", " --set epochs=2", true),
        ("tagger", "", false),
        ("sagae-lavie-2005-perceptron", "", false),
        ("sagae-lavie-2005-maxent", "", false),
        ("sagae-lavie-2005-mbl", "", false),
        ("sagae-lavie-2005-svm", "", true),
        ("sagae-lavie-2005-svm-unsplit", "", true),
        ("wang-2006-maxent", "", false),
        ("wang-2006-dtree1", "", false),
        ("wang-2006-vote", "", true),
        ("wang-2006-stack", "", true),
        ("wang-2006-meta", "", true),
        ("kalt-2004-sr-l", "", false),
        ("turian-2005-stumps", "", true),
        ("fernandez-gomez-2018-static", " --set epochs=1 --set lstm_dim=8", true),
    ] {
        let line = format!(
            "train --preset {preset}{settings} --checkpoint {preset} --train a.mrg --model k.srm"
        );
        let (status, said) = run(folder.path(), &line);
        if !is_kept {
            assert_eq!(status, Some(2), "{preset}: {said}");
            assert!(said.contains("--checkpoint: this learner"), "{preset}: {said}");
            continue;
        }
        assert_eq!(status, Some(0), "{preset}: {said}");
        let runs = fs::read_dir(folder.path().join(preset)).unwrap();
        let kept = runs.flat_map(|run| fs::read_dir(run.unwrap().path()).unwrap()).count();
        assert!(kept > 0, "{preset} keeps nothing");
        let first = fs::read(folder.path().join("k.srm")).unwrap();
        assert_eq!(run(folder.path(), &line).0, Some(0));
        let same = fs::read(folder.path().join("k.srm")).unwrap() == first;
        assert!(same, "{preset}: another model from the checkpoint");
    }
}

//! The command under test, and files for it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use tempfile::TempDir;

/// The command.
pub fn srparse(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("srparse").unwrap();
    command.args(arguments);
    command
}

/// The command, which signals end even where they are ignored: under `nohup`, in the background of a script.
pub fn interruptible() -> std::process::Command {
    let mut command = std::process::Command::new("env");
    command.args(["--default-signal=HUP,INT", env!("CARGO_BIN_EXE_srparse")]);
    command
}

/// A file of the bundled sample.
pub fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample").join(name)
}

/// Returns the exit status and both outputs of a run, for snapshots.
pub fn transcript(done: &Assert) -> String {
    let output = done.get_output();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let status = output.status.code().unwrap_or(-1);
    redacted(&format!("status {status}\n--- stdout\n{out}--- stderr\n{err}"))
}

/// Bytes that must be text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Redacts what differs between machines and versions: versions, times, rates, sizes of models, scores, and lists
/// of all known names.
pub fn redacted(text: &str) -> String {
    let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for at in 1..words.len() {
            let unit = words[at].trim_end_matches([',', ';']);
            let before = words[at - 1].parse::<f64>().is_ok();
            let timed = ["s", "sentences/s", "words/s"].contains(&unit);
            if before && (timed || unit == "bytes") {
                words[at - 1] = "N".to_owned();
            }
        }
        let mut line = words.join(" ");
        for list in ["the keys of this preset are", "built in are"] {
            if let Some(at) = line.find(list) {
                line.truncate(at + list.len());
                line.push_str(" …");
            }
        }
        lines.push(match line.split_once("\"score\":") {
            Some((before, after)) => {
                let end = after.find([',', '}']).unwrap_or(0);
                format!("{before}\"score\":N{}", &after[end..])
            }
            None => line,
        });
    }
    lines.join("\n")
}

/// A folder to run in, with some files.
pub fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

/// A model that fits the sample exactly, so that its parses do not depend on settings.
pub fn model() -> &'static Path {
    static MODEL: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.srm");
        let mut train = srparse(&["train", "--quiet", "--set", "prune.min_row=0", "--train"]);
        train.arg(sample("train.mrg")).arg("--model").arg(&path).assert().success();
        (folder, path)
    });
    &MODEL.1
}

/// A model with a parser that was trained on predicted tags, and the tagger that predicts them.
pub fn model_with_tagger() -> &'static Path {
    static MODEL: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("both.srm");
        let options = ["train", "--quiet", "--jackknife", "4", "--set", "learner.epochs=3"];
        let mut train = srparse(&options);
        train.arg("--train").arg(sample("train.mrg")).arg("--model").arg(&path);
        train.assert().success();
        (folder, path)
    });
    &MODEL.1
}

/// `srparse tag` with that model.
pub fn tag(arguments: &[&str]) -> Command {
    let mut command = srparse(&["tag", "--model"]);
    command.arg(model_with_tagger()).args(arguments);
    command
}

/// `srparse parse` with [`model`].
pub fn parse(arguments: &[&str]) -> Command {
    let mut command = srparse(&["parse", "--model"]);
    command.arg(model()).args(arguments);
    command
}

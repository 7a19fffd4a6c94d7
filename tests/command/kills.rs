//! Training that is killed at any time, and two that write one file.
//!
//! `SRPARSE_KILLS` is the number of kills of each trainer; the default is for every day, hundreds for a release.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::command::{folder, sample};

/// Every way to train, with settings that keep it short, and whether it has checkpoints.
const TRAINERS: [(&str, &[&str], bool); 18] = [
    ("fast", &["epochs=3", "models=1"], true),
    ("fast", &["epochs=3", "models=2"], true),
    ("beam", &["epochs=2"], true),
    ("tagger", &["tagger.epochs=2"], false),
    ("wang-2006-tagger", &[], false),
    ("sagae-lavie-2005-maxent", &["iterations=5"], false),
    ("sagae-lavie-2005-mbl", &[], false),
    ("sagae-lavie-2005-bact", &["rounds=5"], false),
    ("sagae-lavie-2005-tree-kernel", &["max_instances=300"], false),
    ("kalt-2004-sr-l", &[], false),
    ("wang-2006-dtree1", &["system.heads=collins"], false),
    ("sagae-lavie-2005-svm", &["min_rows=20"], true),
    ("wang-2006-vote", &["system.heads=collins"], true),
    ("wang-2006-stack", &["system.heads=collins"], true),
    ("wang-2006-meta", &["system.heads=collins"], true),
    ("turian-2005-stumps", &["max_words=8", "min_reduction=10"], true),
    ("fernandez-gomez-2018-static", &["learner.epochs=3", "lstm_dim=8", "input_dim=8"], true),
    ("accurate", &["learner.epochs=3", "hidden_dim=8", "lstm_dim=8"], true),
];

fn start(folder: &Path, preset: &str, settings: &[&str], more: &[&str]) -> Child {
    let mut train = Command::new(env!("CARGO_BIN_EXE_srparse"));
    train
        .current_dir(folder)
        .args(["train", "-q", "--train", "t.mrg", "--preset", preset])
        .args(more);
    for setting in settings {
        train.args(["--set", setting]);
    }
    train.stderr(Stdio::null()).spawn().unwrap()
}

/// The first trees of the sample.
fn trees() -> Vec<u8> {
    let text = fs::read_to_string(sample("train.mrg")).unwrap();
    let mut ends = text.match_indices("\n(").map(|(at, _)| at + 1);
    text.as_bytes()[..ends.nth(60).unwrap()].to_vec()
}

/// Names of the files of a folder that are neither trees, models nor checkpoints.
fn leftovers(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| !["t.mrg", "whole.srm", "m.srm", "kept"].contains(&name.as_str()));
    names
}

/// Kills a training again and again; each time the old model is whole, and in the end the model is that of a training
/// that was never killed.
fn kill(preset: &str, settings: &[&str], has_checkpoints: bool, kills: u32) {
    let folder = folder(&[("t.mrg", &trees()), ("m.srm", b"old model")]);
    let folder = folder.path();
    let start_time = Instant::now();
    assert!(
        start(folder, preset, settings, &["--model", "whole.srm"]).wait().unwrap().success(),
        "{preset}"
    );
    let time = start_time.elapsed();
    let whole = fs::read(folder.join("whole.srm")).unwrap();
    let (model, kept) = (["--model", "m.srm"], ["--checkpoint", "kept"]);
    let options = if has_checkpoints { [&model[..], &kept].concat() } else { model.to_vec() };
    let mut rng = ChaCha8Rng::seed_from_u64(kills.into());
    let mut killed = 0;
    while killed < kills {
        let mut child = start(folder, preset, settings, &options);
        std::thread::sleep(rng.random_range(Duration::ZERO..time * 11 / 10));
        // The child may have ended by itself.
        let _ = child.kill();
        killed += u32::from(!child.wait().unwrap().success());
        let model = fs::read(folder.join("m.srm")).unwrap();
        assert!(
            model == b"old model" || model == whole,
            "{preset}: half a model after {killed} kills"
        );
        if model == whole {
            fs::write(folder.join("m.srm"), "old model").unwrap();
            let _ = fs::remove_dir_all(folder.join("kept"));
        }
    }
    assert!(start(folder, preset, settings, &options).wait().unwrap().success(), "{preset}");
    assert!(
        fs::read(folder.join("m.srm")).unwrap() == whole,
        "{preset}: another model after {kills} kills"
    );
    assert_eq!(leftovers(folder), [""; 0], "{preset}");
}

#[test]
fn a_killed_training_leaves_the_old_model_and_resumes_to_the_same_bytes() {
    let kills = std::env::var("SRPARSE_KILLS").map_or(2, |n| n.parse().unwrap());
    for (preset, settings, has_checkpoints) in TRAINERS {
        kill(preset, settings, has_checkpoints, kills);
    }
}

#[test]
fn of_two_trainings_that_write_one_file_one_is_there() {
    let folder = folder(&[("t.mrg", &trees())]);
    let seeds = ["1", "2"].map(|seed| ["--model", "m.srm", "--seed", seed]);
    let settings = ["epochs=1", "models=1"];
    let mut models = Vec::new();
    for options in &seeds {
        assert!(start(folder.path(), "fast", &settings, options).wait().unwrap().success());
        models.push(fs::read(folder.path().join("m.srm")).unwrap());
    }
    for _ in 0..5 {
        let both = seeds.each_ref().map(|options| start(folder.path(), "fast", &settings, options));
        for mut child in both {
            assert!(child.wait().unwrap().success());
        }
        assert!(models.contains(&fs::read(folder.path().join("m.srm")).unwrap()));
        assert_eq!(leftovers(folder.path()), [""; 0]);
    }
}

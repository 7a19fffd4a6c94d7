//! `srparse mean`: the mean of networks, and what is refused.

use crate::command::{folder, sample, srparse, text};

const NETWORK: &str = "learner.network={ kind = \"positions\", untagged = 0.6, hidden_dim = 8, encoder = { word_dim = 8, \
                       lstm_dim = 8 } }";

#[test]
fn the_mean_of_two_networks_is_a_model_with_scores() {
    let folder = folder(&[]);
    let train = |preset: &[&str], model: &str| {
        srparse(&["train", "--set", "learner.epochs=1", "--model", model, "--train"])
            .arg(sample("dev.mrg"))
            .args(preset)
            .current_dir(&folder)
            .assert()
            .success();
    };
    train(&["--preset", "accurate", "--set", NETWORK, "--set", "about.licence=CC0"], "1.srm");
    train(&["--init", "1.srm", "--seed", "2", "--set", "about.licence=MIT"], "2.srm");
    train(&["--preset", "accurate", "--set", NETWORK, "--seed", "3"], "3.srm");
    train(&["--preset", "fast", "--no-tagger"], "linear.srm");
    let mean = |arguments: &str| {
        let mut mean = srparse(&["mean"]);
        mean.current_dir(&folder).args(arguments.split_whitespace());
        mean
    };
    let mut scored = mean("1.srm 2.srm --model mean.srm --dev");
    let done = scored.arg(sample("dev.mrg")).assert().success();
    let said = text(&done.get_output().stderr);
    assert!(said.contains("wrote mean.srm: dev F1 "), "{said}");
    let info = srparse(&["info", "mean.srm"]).current_dir(&folder).assert().success();
    let info = text(&info.get_output().stdout);
    for part in
        ["averaged with a model that was trained on dev.mrg", "licence CC0; MIT", "dev dev.mrg: F1"]
    {
        assert!(info.contains(part), "{part}: {info}");
    }
    let trees = srparse(&["parse", "--quiet", "--input", "tokens", "--model", "mean.srm"])
        .current_dir(&folder)
        .write_stdin("The dog barks .\n")
        .assert()
        .success();
    assert!(text(&trees.get_output().stdout).starts_with("(TOP "));
    for (arguments, expected) in [
        ("1.srm --model x.srm", "2 values required"),
        ("1.srm missing.srm --model x.srm", "missing.srm"),
        ("1.srm 2.srm --model 2.srm", "--model 2.srm"),
        ("1.srm linear.srm --model x.srm", "linear.srm: learner.kind: the model has no network"),
        ("1.srm 3.srm --model x.srm", "3.srm: models: it was not trained further from the same"),
        ("1.srm 2.srm --model x.srm --dev missing.mrg", "missing.mrg"),
        ("1.srm 2.srm --model nowhere/x.srm", "nowhere/x.srm"),
    ] {
        let error = text(&mean(arguments).assert().code(2).get_output().stderr);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
    assert!(!folder.path().join("x.srm").exists());
}

//! `srparse train --init`: training that continues from a model, and what is refused.

use std::path::Path;

use crate::command::{folder, sample, srparse, text};

const NETWORK: &str = "learner.network={ kind = \"positions\", untagged = 0.6, hidden_dim = 8, encoder = { word_dim = 8, \
                       lstm_dim = 8 } }";
/// Trees with a new label, a new tag and new words.
const TREES: &[u8] = b"(TOP (S (NP (DT the) (NN dog)) (QQQ (ZZ flurbs)) (. .)))\n";

fn train(folder: &Path, arguments: &str) -> assert_cmd::Command {
    let mut train = srparse(&["train", "--set", "learner.epochs=1"]);
    train.current_dir(folder).args(arguments.split_whitespace());
    train
}

fn refused(train: &mut assert_cmd::Command) -> String {
    text(&train.assert().code(2).get_output().stderr)
}

#[test]
fn a_model_is_trained_further_by_its_own_preset() {
    let folder = folder(&[("new.mrg", TREES)]);
    let mut first = train(folder.path(), "--preset accurate --model old.srm --set");
    first
        .args([NETWORK, "--set", "about.licence=CC0", "--train"])
        .arg(sample("dev.mrg"))
        .assert()
        .success();
    let further = "--init old.srm --train new.mrg --model new.srm --checkpoint parts";
    let done = train(folder.path(), further).assert().success();
    let said = text(&done.get_output().stderr);
    assert!(said.contains("new ones: 0; tags: 34, new ones: 1"), "{said}");
    let mut info = srparse(&["info", "--actions", "new.srm"]);
    let info = text(&info.current_dir(&folder).assert().success().get_output().stdout);
    for part in [
        "trained on new.mrg: 1 trees",
        "continued from a model that was trained on dev.mrg",
        "licence CC0",
        "OPEN-QQQ",
        "OPEN-SBAR",
        "hidden_dim = 8",
    ] {
        assert!(info.contains(part), "{part}: {info}");
    }
    let whole = std::fs::read(folder.path().join("new.srm")).unwrap();
    let done = train(folder.path(), further).assert().success();
    assert!(text(&done.get_output().stderr).contains("from the checkpoint: 1"));
    assert!(whole == std::fs::read(folder.path().join("new.srm")).unwrap());
    let error = refused(&mut train(folder.path(), &format!("{further} --set hidden_dim=9")));
    let expected = "--init old.srm: learner.network.hidden_dim: 9, but 8 in the model";
    assert!(error.contains(expected), "{error}");
    let error = refused(&mut train(folder.path(), &further.replace("new.srm", "old.srm")));
    assert!(error.contains("--model old.srm"), "{error}");
    let error = refused(&mut train(folder.path(), &format!("{further} --encoder folder")));
    assert!(error.contains("--encoder"), "{error}");
}

#[test]
fn only_networks_and_perceptrons_are_trained_further() {
    let folder = folder(&[("new.mrg", TREES)]);
    let preset = ["train", "--preset", "sagae-lavie-2005-mbl", "--train", "new.mrg", "--model"];
    let refused = |arguments: &str| {
        refused(srparse(&["train"]).current_dir(&folder).args(arguments.split_whitespace()))
    };
    srparse(&preset).current_dir(&folder).arg("nearest.srm").assert().success();
    let of = |model: &str| refused(&format!("--init {model} --train new.mrg --model x.srm"));
    let error = of("nearest.srm");
    assert!(error.contains("--init nearest.srm: learner.kind: the model"), "{error}");
    let error = of("english-fast --set coarse_to_fine=false");
    assert!(error.contains("learner.coarse_to_fine: false, but true in the model"), "{error}");
    assert!(of("new.mrg").contains("not an srparse model"));
    assert!(of("missing.srm").contains("missing.srm"));
    assert!(!folder.path().join("x.srm").exists());
}

#[cfg(feature = "english-small")]
#[test]
fn the_embedded_model_is_trained_further() {
    let folder = folder(&[("new.mrg", TREES)]);
    let further = "--init english-small --train new.mrg --model my.srm";
    train(folder.path(), further)
        .args(["--set", "optimizer.rate=1e-9", "--set", "epochs=1"])
        .assert()
        .success();
    let trees = ["english-small", "my.srm"].map(|model| {
        let mut parse = srparse(&["parse", "--quiet", "--input", "tokens", "--model", model]);
        let words = "The cells were treated with a new drug .\n";
        let done = parse.current_dir(&folder).write_stdin(words).assert().success();
        text(&done.get_output().stdout)
    });
    assert_eq!(trees[0], trees[1]);
}

#[cfg(feature = "english-fast")]
#[test]
fn the_fast_embedded_model_is_trained_further() {
    let folder = folder(&[("new.mrg", TREES)]);
    let further = "--init english-fast --train new.mrg --model my.srm";
    srparse(&["train", "--set", "learner.epochs=50"])
        .current_dir(&folder)
        .args(further.split_whitespace())
        .assert()
        .success();
    let words = "the/DT dog/NN flurbs/ZZ ./.\nThe/DT cells/NNS were/VBD treated/VBN ./.\n";
    let [before, after] = ["english-fast", "my.srm"].map(|model| {
        let mut parse = srparse(&["parse", "--quiet", "--model", model]);
        let done = parse.current_dir(&folder).write_stdin(words).assert().success();
        text(&done.get_output().stdout)
    });
    let second = |parses: &str| parses.lines().nth(1).unwrap().to_owned();
    assert!(after.contains("(QQQ "), "{after}");
    assert_eq!(second(&after), second(&before));
}

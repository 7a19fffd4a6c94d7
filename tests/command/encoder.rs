//! `srparse train --encoder`: a tiny pretrained encoder from folder to model to trees, and folders that are refused.

use std::path::{Path, PathBuf};

use crate::command::{folder, sample, srparse, text};
use tempfile::TempDir;

/// The folder of a tiny encoder.
fn encoder(family: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encoders").join(family)
}

/// `srparse train --preset pretrained` for an epoch on the sample, in a folder that the model is written to.
fn train(encoder: &Path, model: &Path, settings: &[&str]) -> assert_cmd::Command {
    let mut train = srparse(&["train", "--quiet", "--preset", "pretrained", "--encoder"]);
    train.arg(encoder).arg("--train").arg(sample("train.mrg")).arg("--model").arg(model);
    let settings = [&["learner.epochs=1", "learner.optimizer.warm_up=0"][..], settings].concat();
    train.args(settings.iter().flat_map(|setting| ["--set", setting]));
    train
}

/// Every family becomes a model that parses and tags words without the folder, gives all words back, and does not
/// name where the folder was.
#[test]
fn models_of_every_family_parse() {
    let folder = TempDir::new().unwrap();
    let model = folder.path().join("m.srm");
    for family in ["bert", "distilbert", "electra", "roberta", "xlm-roberta"] {
        train(&encoder(family), &model, &["pieces=20", "piece_bits=4"]).assert().success();
        let words = "The dog barks ( ``Élan'' ) 馬 \u{1f600} \u{200b} .";
        let parse = ["parse", "--quiet", "--input", "tokens", "--output", "conllu", "--model"];
        let done = srparse(&parse).arg(&model).write_stdin(words).assert().success();
        let out = text(&done.get_output().stdout);
        let found: Vec<&str> = out.lines().filter_map(|line| line.split('\t').nth(1)).collect();
        assert_eq!(found.join(" "), words, "{family}");
        let bytes = std::fs::read(&model).unwrap();
        let header = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]);
        assert!(header.contains(&format!("\"path\":\"{family}\"")), "{family}");
    }
}

/// A sentence of many windows gives the same tree on any number of threads, and all its words.
#[test]
fn no_sentence_is_too_long() {
    let folder = TempDir::new().unwrap();
    let model = folder.path().join("m.srm");
    train(&encoder("bert"), &model, &[]).assert().success();
    let long = "the old miller laughed , ".repeat(600);
    let lines = format!("{long}\nThe dog barks .\n{long}\n");
    let outputs = ["1", "2"].map(|threads| {
        let parse = ["parse", "--quiet", "--input", "tokens", "-j", threads, "--model"];
        let done = srparse(&parse).arg(&model).write_stdin(&*lines).assert().success();
        text(&done.get_output().stdout)
    });
    assert_eq!(outputs[0], outputs[1]);
    let trees: Vec<&str> = outputs[0].lines().collect();
    assert_eq!((trees.len(), trees[0]), (3, trees[2]));
    assert_eq!(trees[0].matches(" laughed)").count(), 600);
}

/// Training gives the same bytes again, wherever the folder stands, on any number of threads.
#[test]
fn models_are_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let copy = folder.path().join("bert");
    std::fs::create_dir(&copy).unwrap();
    for file in std::fs::read_dir(encoder("bert")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    let models = [(encoder("bert"), "1"), (copy, "3")].map(|(encoder, threads)| {
        let model = folder.path().join(threads);
        train(&encoder, &model, &["layer_decay=0.9"]).args(["-j", threads]).assert().success();
        std::fs::read(model).unwrap()
    });
    assert!(models[0] == models[1]);
}

/// What is wrong with a folder is said before training, with the file and what to do.
#[test]
fn folders_that_are_no_encoder_are_refused() {
    let config = std::fs::read(encoder("bert").join("config.json")).unwrap();
    let gpt = String::from_utf8(config.clone()).unwrap().replace("\"bert\"", "\"gpt2\"");
    let folder = folder(&[("m.srm", b"old"), ("config.json", gpt.as_bytes())]);
    let model = folder.path().join("m.srm");
    let refused = |encoder: &Path| {
        let done = train(encoder, &model, &[]).assert().code(2);
        text(&done.get_output().stderr)
    };
    let gpt = refused(folder.path());
    assert!(
        gpt.contains("config.json") && gpt.contains("gpt2") && gpt.contains("ELECTRA"),
        "{gpt}"
    );
    let missing = refused(&folder.path().join("nothing"));
    assert!(missing.contains("nothing"), "{missing}");
    std::fs::write(folder.path().join("config.json"), &config).unwrap();
    let empty = refused(folder.path());
    assert!(empty.contains("tokenizer.json"), "{empty}");
    let weights = std::fs::read(encoder("bert").join("model.safetensors")).unwrap();
    std::fs::copy(encoder("bert").join("tokenizer.json"), folder.path().join("tokenizer.json"))
        .unwrap();
    std::fs::write(folder.path().join("model.safetensors"), &weights[..weights.len() / 2]).unwrap();
    let truncated = refused(folder.path());
    assert!(truncated.contains("model.safetensors"), "{truncated}");
    assert_eq!(std::fs::read(&model).unwrap(), b"old");
    let mut none = srparse(&["train", "--preset", "pretrained", "--train"]);
    let none = none.arg(sample("train.mrg")).arg("--model").arg(&model).assert().code(2);
    let none = text(&none.get_output().stderr);
    // Before any tree is read.
    assert!(none.contains("--encoder") && !none.contains("read "), "{none}");
    let other = ["train", "--preset", "fast", "--encoder", "x", "--model", "y", "--train"];
    let other = srparse(&other).arg(sample("train.mrg")).assert().code(2);
    assert!(text(&other.get_output().stderr).contains("pretrained"));
}

//! Models that are found by their names.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

use crate::command::{sample, text};

/// A folder for models, with one of a few trees and a file that is none.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("mine.srm");
    let train = ["train", "-q", "--preset", "fast", "--set", "learner.epochs=1"];
    let about = ["--set", "about.licence=CC0", "--set", "about.sources=[\"trees of mine\"]"];
    srparse(&[&train[..], &about].concat(), &[])
        .arg("--train")
        .arg(sample("dev.mrg"))
        .arg("--model")
        .arg(&model)
        .assert()
        .success();
    std::fs::write(folder.path().join("broken.srm"), "no model").unwrap();
    std::fs::write(folder.path().join("notes.txt"), "no model either").unwrap();
    folder
}

/// The command, where models are searched for in folders alone.
fn srparse(arguments: &[&str], folders: &[&Path]) -> Command {
    let mut command = crate::command::srparse(arguments);
    command.env("SRPARSE_MODELS", std::env::join_paths(folders).unwrap());
    command.env("XDG_DATA_HOME", "/no/such/folder");
    command
}

/// The models of the repository, by their names.
fn languages() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let models = files.filter(|file| file.extension().is_some_and(|extension| extension == "srm"));
    models.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn text_without_spaces_is_refused_by_models_of_other_scripts() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let names = languages();
    assert!(names.len() >= 9, "{names:?}");
    for name in &names {
        for (line, language) in [
            (
                "\u{79c1}\u{306f}\u{6628}\u{65e5}\u{6771}\u{4eac}\u{3078}\u{884c}\u{304d}\u{307e}\u{3057}\u{305f}\u{3002}",
                "japanese",
            ),
            ("\u{e20}\u{e32}\u{e29}\u{e32}\u{e44}\u{e17}\u{e22}", "thai"),
        ] {
            let mut parse =
                srparse(&["parse", "-q", "--input", "text", "--model", name], &[&models]);
            let done = parse.write_stdin(line).output().unwrap();
            let is_refused = text(&done.stderr).contains("the script has no spaces between words");
            assert_eq!(is_refused, name != language, "{name}: {line}");
        }
    }
}

#[test]
fn a_model_is_found_by_its_name_in_the_first_folder_that_has_it() {
    let (first, second, work) = (folder(), folder(), tempfile::tempdir().unwrap());
    std::fs::rename(first.path().join("mine.srm"), first.path().join("other.srm")).unwrap();
    let folders = [first.path(), second.path()];
    let parse = |model: &str| {
        let mut parse = srparse(&["parse", "-q", "--model", model], &folders);
        parse.current_dir(&work).write_stdin("dogs/NNS bark/VBP\n");
        parse.assert()
    };
    for model in ["mine", "other"] {
        assert!(text(&parse(model).success().get_output().stdout).starts_with("(TOP "), "{model}");
    }
    let problem = text(&parse("mien").code(2).get_output().stderr);
    assert!(problem.contains("no model of this name: did you mean `mine`?"), "{problem}");
    assert!(problem.contains("the models are english, "), "{problem}");
    let problem = text(&parse("no/such.srm").code(2).get_output().stderr);
    assert!(!problem.contains("the models are"), "{problem}");
    // Broken models say where they are; a file of the name itself comes first, a folder does not.
    let problem = text(&parse("broken").code(2).get_output().stderr);
    assert!(problem.contains(first.path().to_str().unwrap()), "{problem}");
    std::fs::create_dir(work.path().join("mine")).unwrap();
    parse("mine").success();
    std::fs::remove_dir(work.path().join("mine")).unwrap();
    std::fs::write(work.path().join("mine"), "no model").unwrap();
    parse("mine").code(2);
}

#[test]
fn models_are_listed_with_what_they_are_and_where_they_are_searched_for() {
    let folder = folder();
    let done = srparse(&["models", "--json"], &[folder.path()]).assert().code(2);
    let lines = text(&done.get_output().stdout);
    let models: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = models.iter().map(|model| model["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["english", "english-small", "english-fast", "mine"]);
    for model in &models {
        assert!(
            model["licence"] != "" && !model["sources"].as_array().unwrap().is_empty(),
            "{model}"
        );
    }
    let mine = &models[3];
    assert_eq!(mine["file"], folder.path().join("mine.srm").to_str().unwrap());
    assert_eq!((&mine["licence"], &mine["sources"][0]), (&"CC0".into(), &"trees of mine".into()));
    assert!(mine["bytes"].as_u64() > Some(1_000) && mine["trees"].as_u64() > Some(30), "{mine}");
    let problem = text(&done.get_output().stderr);
    assert!(problem.contains("broken.srm"), "{problem}");

    std::fs::remove_file(folder.path().join("broken.srm")).unwrap();
    let done = srparse(&["models"], &[folder.path(), Path::new("/nowhere")]).assert().success();
    let table = text(&done.get_output().stdout);
    assert!(table.contains(" trees: trees of mine; CC0\n"), "{table}");
    assert!(table.contains("  /nowhere (there is no such folder)\n"), "{table}");
}

#[test]
fn speed_is_that_of_sentences_on_one_thread() {
    let done = crate::command::srparse(&["info", "english-fast", "--speed"]).assert().success();
    let lines = text(&done.get_output().stdout);
    let [name, speed, machine] = lines.lines().collect::<Vec<_>>()[..] else { panic!("{lines}") };
    let number = |after: &str| {
        let before = speed.split(after).next().unwrap();
        before.rsplit(' ').next().unwrap().parse::<u32>().unwrap()
    };
    assert_eq!(name, "english-fast");
    assert!(number(" words") >= 20 * number(" sentences"), "{speed}");
    assert!(machine.contains("; instructions: "), "{machine}");
}

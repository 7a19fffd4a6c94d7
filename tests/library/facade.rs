//! What other programs use of the library beside parsing and training: storing models, threads, printing.

use srparse::cli::Cli;
use srparse::text::Tokenizer;
use srparse::{Model, Threads, Tree};

#[test]
fn a_model_survives_its_file_and_its_bytes() {
    let model = Model::embedded().unwrap();
    let bytes = model.to_bytes();
    let path = tempfile::tempdir().unwrap().keep().join("m.srm");
    model.save(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(Model::open(&path).unwrap().to_bytes(), bytes);
    assert_eq!(Model::from_bytes(&bytes, "m").unwrap().to_bytes(), bytes);
    let problem = Model::from_bytes(&bytes[..100], "the third").unwrap_err().to_string();
    assert!(problem.starts_with("the third: truncated"), "{problem}");
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[test]
fn work_runs_on_other_threads_than_the_callers() {
    let own = std::thread::current().id();
    assert_ne!(Threads(2).run(|| std::thread::current().id()).unwrap(), own);
}

#[test]
fn a_tree_prints_itself_on_one_line_or_indented() {
    let tree: Tree = "(TOP (NP (DT the) (NN dog)))".parse().unwrap();
    assert_eq!(format!("{tree:#}"), "(TOP\n  (NP (DT the) (NN dog)))");
    assert_eq!(format!("{:#}", Tree::default()), "(())");
}

#[test]
fn a_text_is_split_at_its_blank_lines_and_at_its_end() {
    let texts = |text| -> Vec<String> {
        let found = Tokenizer::default().sentences(text);
        found.into_iter().map(|sentence| sentence.layout.text).collect()
    };
    assert_eq!(texts("Dogs\nbark. Cats\n\nsleep"), ["Dogs\nbark.", "Cats", "sleep"]);
    assert!(texts(" \n").is_empty());
}

#[test]
fn wrong_arguments_and_help_are_returned() {
    let status = |arguments: &[&str]| {
        let read = Cli::try_of(arguments.iter().map(Into::into));
        read.map_err(|message| (message.exit_code(), message.to_string()))
    };
    assert!(status(&["srparse", "info"]).is_ok());
    let (code, text) = status(&["srparse", "--help"]).unwrap_err();
    assert!(code == 0 && text.contains("Usage: srparse"), "{text}");
    assert_eq!(status(&["srparse", "parse", "--no"]).unwrap_err().0, 2);
}

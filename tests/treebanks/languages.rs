//! The models of languages have the scores of `docs/data/languages.tsv`, which `docs/languages.md` quotes.

use std::path::Path;
use std::process::Command;

/// The output of the program.
fn srparse(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_srparse")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn models_of_languages_have_the_scores_of_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(root.join("docs/data/languages.tsv")).unwrap();
    let page = std::fs::read_to_string(root.join("docs/languages.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let parses = folder.path().join("parses.mrg");
    for row in table.lines().skip(1) {
        let [name, profile, dev, _, _, f1, _, tagging, ..] =
            row.split('\t').collect::<Vec<_>>()[..]
        else {
            panic!("{row}")
        };
        let quoted = page.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).unwrap();
        assert!(quoted.contains(&format!("**{f1}**")) && quoted.contains(tagging), "{quoted}");
        let Some(gold) = crate::treebank(dev) else { return };
        let (gold, model) = (gold.to_str().unwrap(), root.join(format!("models/{name}.srm")));
        let model = model.to_str().unwrap();
        let parse =
            ["parse", "-q", "-j", "0", "--retag", "--model", model, "--input", "penn", gold];
        std::fs::write(&parses, srparse(&parse)).unwrap();
        let mut eval = vec!["eval", "-q", "--json", "--gold-tags", gold, parses.to_str().unwrap()];
        if profile != "-" {
            eval.extend(["--treebank", profile]);
        }
        let scores: serde_json::Value = serde_json::from_slice(&srparse(&eval)).unwrap();
        let all = &scores["all"];
        let rounded = |key: &str| format!("{:.2}", all[key].as_f64().unwrap());
        assert_eq!(
            (rounded("f1"), rounded("tagging")),
            (f1.to_owned(), tagging.to_owned()),
            "{name}"
        );
        assert_eq!(all["errors"], 0, "{name}");
    }
}

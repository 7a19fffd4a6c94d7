//! The models of languages have the scores of `docs/data/languages.tsv`, which `docs/languages.md` quotes.

use std::path::Path;
use std::process::Command;

/// The output of the program.
fn srparse(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_srparse")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// F1 and tagging accuracy of a model, which parses every sentence.
fn scores(name: &str, profile: &str, gold: &Path, options: &[&str]) -> [String; 2] {
    let folder = tempfile::tempdir().unwrap();
    let parses = folder.path().join("parses.mrg");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("models/{name}.srm"));
    let (gold, model) = (gold.to_str().unwrap(), model.to_str().unwrap());
    let parse = ["parse", "-q", "-j", "0", "--model", model, "--input", "penn", gold];
    std::fs::write(&parses, srparse(&[&parse[..], options].concat())).unwrap();
    let mut eval = vec!["eval", "-q", "--json", "--gold-tags", gold, parses.to_str().unwrap()];
    if profile != "-" {
        eval.extend(["--treebank", profile]);
    }
    let scores: serde_json::Value = serde_json::from_slice(&srparse(&eval)).unwrap();
    assert_eq!(scores["all"]["errors"], 0, "{name}");
    ["f1", "tagging"].map(|key| format!("{:.2}", scores["all"][key].as_f64().unwrap()))
}

/// The rows of a table in `docs/data`, without its heading.
fn rows(table: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/data").join(table);
    let table = std::fs::read_to_string(path).unwrap();
    table.lines().skip(1).map(|row| row.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn models_of_languages_have_the_scores_of_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/languages.md");
    let page = std::fs::read_to_string(page).unwrap();
    for row in rows("languages.tsv") {
        let [name, profile, dev, _, _, f1, gold_tags, tagging, ..] = &row[..] else {
            panic!("{row:?}")
        };
        let quoted = page.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).unwrap();
        let figures = format!("| {f1} | {gold_tags} | {tagging} |");
        assert!(quoted.contains(&figures), "{quoted}");
        let Some(gold) = crate::treebank(dev) else { return };
        assert_eq!(scores(name, profile, &gold, &["--retag"]), [&**f1, tagging], "{name}");
        assert_eq!(scores(name, profile, &gold, &[]), [gold_tags, "100.00"], "{name}");
    }
}

#[test]
fn models_of_languages_have_the_scores_of_the_table_on_everyday_sentences() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/languages.md")).unwrap();
    for row in rows("languages-everyday.tsv") {
        let [name, _, _, before, f1, tagging_before, tagging, .., taken, _] = &row[..] else {
            panic!("{row:?}")
        };
        let (shipped, quoted) = if taken == "yes" {
            ([&**f1, tagging], format!(" | {before} \u{2192} {f1} |"))
        } else {
            ([&**before, tagging_before], format!(" | {before} |"))
        };
        let line = page.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).unwrap();
        assert!(line.ends_with(&quoted), "{line}");
        let gold = root.join(format!("data/everyday/{name}/test.mrg"));
        assert_eq!(scores(name, "-", &gold, &["--retag"]), shipped, "{name}");
    }
}

/// Abbreviations, ordinal numbers and decimal marks end no sentence.
#[test]
fn models_of_languages_find_the_sentences_of_a_text() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    for (name, sentences) in [
        (
            "dutch",
            [
                "Dhr. Vos zag o.a. de film.",
                "Op 3 mei betaalde hij 2,50 euro.",
                "'s Avonds las hij.",
            ],
        ),
        ("faroese", ["Hann kom 3. mai.", "Ta\u{f0} var t.d. gott.", "Hon s\u{e1} hann."]),
        (
            "french",
            [
                "M. Roux a vu Mme Dubois.",
                "\u{ab} Il part \u{e0} 8 h, cf. p. 12. \u{bb}",
                "Il a pay\u{e9} 2,50 euros.",
            ],
        ),
        ("german", ["Am 3. Mai kam Dr. Reh.", "Er mag z. B. Tee.", "Das kostet ca. 2,50 Euro."]),
        (
            "icelandic",
            ["Hann kom 3. ma\u{ed}.", "\u{de}a\u{f0} var t.d. gott.", "H\u{fa}n las b\u{f3}kina."],
        ),
        // Abbreviations that are words too.
        ("french", ["J'adore l'art.", "Il a manqu\u{e9} son vol.", "Il lit l'art. 5 du code."]),
        ("spanish", ["Huele a mar.", "Vino con su ex.", "Lleg\u{f3} el 3 de mar. de 2021."]),
        ("dutch", ["Hij is lid.", "Dat is het max.", "Het duurt max. 5 minuten."]),
        ("indonesian", ["Bpk. Adi tinggal di Jl. Melati.", "Dia membeli buku.", "Mereka pulang."]),
        (
            "spanish",
            [
                "El Sr. Ruiz lleg\u{f3} tarde.",
                "\u{bf}Vino la Dra. Paz?",
                "Cuesta 2,50 euros, p. ej. ayer.",
            ],
        ),
    ] {
        std::fs::write(&text, sentences.join(" ")).unwrap();
        let model = root.join(format!("models/{name}.srm"));
        let parse = ["parse", "-q", "--model", model.to_str().unwrap(), "--input", "text"];
        let conllu =
            srparse(&[&parse[..], &["--output", "conllu", text.to_str().unwrap()]].concat());
        let conllu = String::from_utf8(conllu).unwrap();
        let found: Vec<&str> =
            conllu.lines().filter_map(|line| line.strip_prefix("# text = ")).collect();
        assert_eq!(found, sentences, "{name}");
    }
}

//! The commands `srparse experiment` and `srparse ablate`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::{folder, sample, srparse, text};
use tempfile::TempDir;

const KALT: &str = "[[parser]]\npreset = 'kalt-2004-sr-l'\n";
const GREEDY: &str =
    "[[parser]]\nname = 'greedy'\npreset = 'in-order-static'\nset = ['learner.epochs=3']\n";
const SAMPLE: &str = "[[treebank]]\nname = 'sample'\ntrain = ['train.mrg']\ndev = ['dev.mrg']\n";

/// A folder with the file of an experiment.
fn with_file(parts: &[&str]) -> TempDir {
    folder(&[("my.toml", parts.concat().as_bytes())])
}

/// Runs the experiment in the folder and gives status, standard output and standard error.
fn run(folder: &TempDir, options: &[&str]) -> (i32, String, String) {
    run_on(&sample(""), folder, options)
}

/// The same on other treebanks.
fn run_on(data: &Path, folder: &TempDir, options: &[&str]) -> (i32, String, String) {
    let mut experiment = srparse(&["experiment", "my.toml", "--out", "out", "--data"]);
    experiment.arg(data).args(options).current_dir(folder);
    let output = experiment.output().unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Everything in the output folder that does not depend on time.
fn results(folder: &TempDir) -> BTreeMap<String, String> {
    let out = folder.path().join("out");
    let mut files = BTreeMap::new();
    let trees = out.join("trees").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let tables = ["scores.tsv", "learning-curve.tsv", "learning-curve.svg"];
    for path in trees.chain(tables.map(|name| out.join(name))).filter(|path| path.exists()) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        files.insert(name, std::fs::read_to_string(path).unwrap());
    }
    files
}

fn rows(scores: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut lines = scores.lines().map(|line| line.split('\t'));
    let names: Vec<&str> = lines.next().unwrap().collect();
    lines.map(|line| names.iter().copied().zip(line).collect()).collect()
}

#[test]
fn a_cell_has_the_scores_of_train_parse_and_eval() {
    let folder = with_file(&[GREEDY, SAMPLE]);
    let (status, scores, err) = run(&folder, &["-j", "1"]);
    assert_eq!(status, 0, "{err}");
    let row = &rows(&scores)[0];
    let run = |command: &str| {
        let (train, dev) = (sample("train.mrg"), sample("dev.mrg"));
        let command =
            command.replace("TRAIN", train.to_str().unwrap()).replace("DEV", dev.to_str().unwrap());
        let arguments: Vec<&str> = command.split(' ').collect();
        let output = srparse(&arguments).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{command}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    run("train -q --preset in-order-static --set learner.epochs=3 --train TRAIN --dev DEV -o m");
    for (options, scoring, prefix) in [("", "", ""), (" --retag", " --gold-tags", "own_")] {
        run(&format!("parse -q --model m --input penn{options} --out parses DEV"));
        let report = run(&format!("eval -q --json{scoring} DEV parses"));
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        for score in ["f1", "exact"] {
            let expected = format!("{:.2}", report["all"][score].as_f64().unwrap());
            assert_eq!(row[format!("{prefix}{score}").as_str()], expected, "{prefix}{score}");
        }
    }
    assert_eq!((row["trees"], row["complete"], row["treebank"]), ("225", "100.00", "sample"));
}

#[test]
fn an_interrupted_experiment_is_resumed_with_the_same_bytes() {
    let parts = ["percent = [20, 50, 100]\nseeds = [1, 2]\n", KALT, GREEDY, SAMPLE];
    let whole = with_file(&parts);
    assert_eq!(run(&whole, &["-j", "2"]).0, 0);
    let interrupted = with_file(&parts);
    let mut child = Command::new(env!("CARGO_BIN_EXE_srparse"))
        .args(["experiment", "-q", "-j", "1", "my.toml", "-o", "out", "--data"])
        .arg(sample(""))
        .current_dir(&interrupted)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let cells = interrupted.path().join("out/cells");
    let start = Instant::now();
    while !cells.join("kalt-2004-sr-l.sample.20.1.json").exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "no cell is finished");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // A cell that was being written.
    std::fs::write(cells.join("greedy.sample.100.2.json"), "{").unwrap();
    let (status, _, err) = run(&interrupted, &["-j", "2"]);
    assert_eq!(status, 0, "{err}");
    assert!(!err.starts_with("12 cells, 0 of them"), "{err}");
    assert_eq!(results(&interrupted), results(&whole));
    assert_eq!(results(&whole).len(), 12 * 2 + 3);
    let again = run(&whole, &[]);
    assert_eq!(again.2, "12 cells, 12 of them finished before\n");
}

#[test]
fn only_new_and_changed_cells_are_run() {
    let folder = with_file(&[KALT, GREEDY, SAMPLE]);
    assert!(run(&folder, &[]).2.starts_with("2 cells, 0 of them finished before\n"));
    let before = results(&folder);
    let changed = [KALT, &GREEDY.replace("epochs=3", "epochs=1"), SAMPLE].concat();
    std::fs::write(folder.path().join("my.toml"), changed).unwrap();
    let (status, scores, err) = run(&folder, &[]);
    assert_eq!(status, 0);
    assert!(err.starts_with("2 cells, 1 of them finished before\n[2/2] greedy.sample.100.1: F1 "));
    assert_ne!(before["scores.tsv"], scores);
    assert_eq!(before["scores.tsv"].lines().nth(1), scores.lines().nth(1));
    // Of a treebank that has changed all are new.
    let data = tempfile::tempdir().unwrap();
    for name in ["train.mrg", "dev.mrg"] {
        std::fs::copy(sample(name), data.path().join(name)).unwrap();
    }
    let run_there = || run_on(data.path(), &folder, &[]).2;
    assert_eq!(run_there(), "2 cells, 2 of them finished before\n");
    let dev = std::fs::read_to_string(sample("dev.mrg")).unwrap();
    std::fs::write(data.path().join("dev.mrg"), dev + "(TOP (NP (NN tea)))\n").unwrap();
    assert!(run_there().starts_with("2 cells, 0 of them"));
}

#[test]
fn the_learning_curve_of_an_earlier_run_beside_fewer_shares_is_noted() {
    let folder = with_file(&["percent = [50, 100]\n", KALT, SAMPLE]);
    let is_noted = || {
        let (status, _, said) = run(&folder, &[]);
        assert_eq!(status, 0, "{said}");
        said.contains("did not write: learning-curve.svg, learning-curve.tsv")
    };
    assert!(!is_noted());
    std::fs::write(folder.path().join("my.toml"), [KALT, SAMPLE].concat()).unwrap();
    assert!(is_noted());
}

#[test]
fn a_cell_that_fails_loses_no_other() {
    let missing = "[[treebank]]\nname = 'missing'\ntrain = ['no.mrg']\ndev = ['dev.mrg']\n";
    let setting = "[[setting]]\nname = 'plain'\n[[setting]]\nname = 'cut'\nset = ['epoks=1']\n";
    let folder = with_file(&[GREEDY, setting, missing, SAMPLE]);
    let (status, scores, err) = run(&folder, &[]);
    assert_eq!(status, 1, "{err}");
    assert_eq!(rows(&scores).len(), 1);
    assert_eq!((rows(&scores)[0]["setting"], rows(&scores)[0]["treebank"]), ("plain", "sample"));
    for says in [
        "greedy.plain.missing.100.1: failed: ",
        "no.mrg: ",
        "greedy.cut.sample.100.1: failed: epoks: no such key; did you mean `epochs`?",
        "3 of 4 cells failed; the same command runs them again",
    ] {
        assert!(err.contains(says), "{says} is missing in\n{err}");
    }
}

#[test]
fn mistakes_are_reported_with_line_and_column() {
    let treebank = |line: &str| format!("{KALT}{SAMPLE}{line}\n");
    let cases = [
        ("percent = [1,\n".to_owned(), "my.toml:"),
        ("percents = [1]\n".to_owned() + KALT + SAMPLE, "my.toml:1:1: unknown field `percents`"),
        (
            format!("percent = 5\n{KALT}{SAMPLE}"),
            "my.toml:1:11: invalid type: integer `5`, expected a list: write [ … ], or [[ … ]] for tables",
        ),
        (format!("percent = [5, 0]\n{KALT}{SAMPLE}"), "my.toml:1:15: percent.1: must be above 0"),
        (
            format!("percent = [5, 5.0]\n{KALT}{SAMPLE}"),
            "my.toml:1:15: percent.1: 5 is listed twice",
        ),
        (format!("seeds = [2, 1, 2]\n{KALT}{SAMPLE}"), "my.toml:1:16: seeds.2: 2 is listed twice"),
        (KALT.to_owned(), "missing field `treebank`"),
        (
            format!("[[parser]]\npreset = 'tagger'\n{SAMPLE}"),
            "my.toml:2:1: parser.0.preset: trains a tagger alone",
        ),
        (KALT.replace("kalt", "cult") + SAMPLE, "my.toml:2:1: parser.0.preset: no preset or file"),
        (
            format!("{KALT}set = ['minleaf=3']\n{SAMPLE}"),
            "my.toml:3:1: parser.0.set: minleaf: no such key; did you mean `min_leaf`?",
        ),
        (treebank("profile = 'keiaki'"), "my.toml:7:1: treebank.0.profile: no profile or file"),
        (treebank("heads = 'calvins'"), "my.toml:7:1: treebank.0.heads: "),
        (format!("{KALT}{KALT}{SAMPLE}"), "parser.1.name: `kalt-2004-sr-l` is too much like"),
        (
            format!("seeds = {:?}\n{KALT}{SAMPLE}", (0..10_001).collect::<Vec<_>>()),
            "10001 cells are more than",
        ),
        (format!("{KALT}name = '..'\n{SAMPLE}"), "parser.0.name: must have a letter or digit"),
    ];
    for (file, says) in cases {
        let (status, out, err) = run(&with_file(&[&file]), &[]);
        assert_eq!((status, out.as_str()), (2, ""), "{file}\n{err}");
        assert!(err.contains(says), "{says} is missing in\n{err}");
    }
    let (status, _, err) = run(&with_file(&[KALT, SAMPLE]), &["--only", "fast"]);
    assert_eq!(status, 2);
    assert!(
        err.contains("--only: no cell has such a name: the first is kalt-2004-sr-l.sample.100.1")
    );
}

#[test]
fn the_experiments_of_the_documentation_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/experiments");
    let mut files = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        srparse::experiment::Experiment::open(&path).unwrap_or_else(|error| panic!("{error}"));
        files += 1;
    }
    assert!(files > 1);
}

#[test]
fn ablation_says_what_each_group_is_worth() {
    let folder = tempfile::tempdir().unwrap();
    let run = |options: &[&str]| {
        let mut ablate = srparse(&["ablate", "--preset", "kalt-2004-sr-l", "--out", "out"]);
        ablate.arg("--train").arg(sample("train.mrg")).arg("--dev").arg(sample("dev.mrg"));
        let output = ablate.args(options).current_dir(&folder).output().unwrap();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    let (status, table, err) = run(&["--groups", "the top,The Third", "-j", "2"]);
    assert_eq!(status, 0, "{err}");
    assert!(err.starts_with("3 cells, 0 of them"), "{err}");
    let top = &rows(&table)[0];
    assert_eq!((top["group"], top["templates"]), ("The top two stack items", "2"));
    let [all, without, worth] = ["f1_all", "f1_without", "worth"].map(|name| top[name]);
    let [all, without, worth] = [all, without, worth].map(|text| text.parse::<f64>().unwrap());
    assert!(worth > 10.0 && (all - without - worth).abs() < 0.02, "{table}");
    assert!(top["p"].parse::<f64>().unwrap() < 0.05 && top["low"].starts_with('+'), "{table}");
    assert_eq!(rows(&table)[1]["group"], "The third and fourth stack items");
    let corrected = (2.0 * top["p"].parse::<f64>().unwrap()).to_string();
    assert!(top["p_holm"].starts_with(&corrected), "{table}");
    // The rest is resumed.
    let (_, table, err) = run(&["-j", "1"]);
    assert!(err.starts_with("5 cells, 3 of them"), "{err}");
    assert_eq!(rows(&table).len(), 4);
    let svg = std::fs::read_to_string(folder.path().join("out/ablation.svg")).unwrap();
    assert!(svg.contains("The top two stack items"));
    let written = std::fs::read_to_string(folder.path().join("out/ablation.tsv")).unwrap();
    assert_eq!(written, table);
    let (status, _, err) = run(&["--groups", "The"]);
    assert_eq!(status, 2);
    assert!(err.contains("`The` may be `The first four input symbols` or `The top two"), "{err}");
    let (status, _, err) = run(&["--groups", "words"]);
    assert_eq!(status, 2);
    assert!(
        err.contains("no template stands below a heading `words`: there are The first"),
        "{err}"
    );
    let network =
        srparse(&["ablate", "--preset", "accurate", "--train", "x", "--dev", "x", "-o", "y"])
            .output()
            .unwrap();
    assert!(text(&network.stderr).contains("a network has no feature templates"));
}

#[test]
fn ablation_of_any_headings_and_of_a_preset_with_jackknifing() {
    let preset = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("data/presets/kalt-2004-sr-l.toml"),
    )
    .unwrap();
    assert!(!preset.contains("jackknife") && !preset.contains("[tagger]"));
    let long = "Stack ".repeat(60);
    let templates = format!("# {long}\ns0.n\n# Words!\ns0.w\n# Words?\nb0.w\n");
    let preset = format!("jackknife = 2\n{preset}\n[tagger]\nkind = \"perceptron\"\n");
    let folder = folder(&[("my.toml", preset.as_bytes()), ("my.feats", templates.as_bytes())]);
    let run = || {
        let set = ["--set", "features.templates=my.feats", "-o", "out"];
        let mut ablate = srparse(&["ablate", "--preset", "my.toml"]);
        ablate.arg("--train").arg(sample("train.mrg")).arg("--dev").arg(sample("dev.mrg"));
        let output = ablate.args(set).current_dir(&folder).output().unwrap();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    let (status, table, err) = run();
    assert_eq!((status, rows(&table).len()), (0, 3), "{err}");
    assert_eq!(folder.path().join("out/cells").read_dir().unwrap().count(), 4);
    std::fs::write(folder.path().join("my.feats"), "# All\ns0.n\ns0.w\n").unwrap();
    let (status, _, err) = run();
    assert_eq!(status, 2);
    assert!(
        err.contains("fewer than two groups of templates: write a comment above each"),
        "{err}"
    );
}

#[test]
fn outputs_and_inputs_are_apart() {
    let train = std::fs::read(sample("train.mrg")).unwrap();
    let parts = [KALT, SAMPLE].concat();
    let files = [("my.toml", parts.as_bytes()), ("train.mrg", &train[..]), ("dev.mrg", &train[..])];
    let folder = folder(&files);
    for out in [".", "out"] {
        let mut experiment = srparse(&["experiment", "my.toml", "--out", out]);
        let output = experiment.current_dir(&folder).output().unwrap();
        let error = text(&output.stderr);
        match out {
            "." => assert!(error.contains("must not be in this folder"), "{error}"),
            _ => assert_eq!(output.status.code(), Some(0), "{error}"),
        }
    }
    let mut ablate = srparse(&["ablate", "--train", "train.mrg", "--dev", "dev.mrg", "-o", "."]);
    let output = ablate.current_dir(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("must not be in this folder"));
    assert_eq!(std::fs::read(folder.path().join("train.mrg")).unwrap(), train);
    let mut experiment = srparse(&["experiment", "my.toml", "--out", "train.mrg"]);
    let error = text(&experiment.current_dir(&folder).output().unwrap().stderr);
    assert_eq!(error, "error: --out train.mrg: train.mrg is not a folder: name a folder\n");
}

#[test]
fn cells_without_their_trees_or_with_others_are_run_again() {
    let folder = with_file(&[KALT, SAMPLE]);
    assert_eq!(run(&folder, &[]).0, 0);
    let all = results(&folder);
    let trees = folder.path().join("out/trees/kalt-2004-sr-l.sample.100.1.gold-tags.mrg");
    std::fs::remove_file(&trees).unwrap();
    assert_eq!(run(&folder, &[]).0, 0);
    assert_eq!(results(&folder), all);
    let own = trees.with_file_name("kalt-2004-sr-l.sample.100.1.own-tags.mrg");
    for changed in [&trees, &own] {
        assert!(changed.exists());
        std::fs::write(changed, "").unwrap();
        assert_eq!(run(&folder, &[]).0, 0);
        assert_eq!(results(&folder), all);
    }
}

#[test]
fn gold_trees_are_cleaned_by_the_settings_of_their_treebank() {
    let trees = "(TOP (S (NP (D hin-hinn) (N kona-kona)) (VP (V fer-fara))))\n".repeat(20);
    let treebank = "[[treebank]]\nname = 'own'\ntrain = ['t.mrg']\ndev = ['t.mrg']\n\
                    set = [\"clean.lemma_separator='-'\"]\n";
    let folder =
        folder(&[("my.toml", [GREEDY, treebank].concat().as_bytes()), ("t.mrg", trees.as_bytes())]);
    let (status, _, err) = run_on(folder.path(), &folder, &[]);
    assert_eq!(status, 0, "{err}");
    let parses: Vec<String> = results(&folder)
        .into_iter()
        .filter(|(_, text)| text.contains("(N kona)"))
        .map(|(name, _)| name)
        .collect();
    assert!(!parses.is_empty(), "{:?}", results(&folder));
}

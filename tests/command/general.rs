//! The user interface of the commands: help texts, messages and exit statuses.

use crate::command::{folder, model, model_with_tagger, parse, sample, srparse, text, transcript};

const COMMANDS: [&str; 22] = [
    "train",
    "mean",
    "parse",
    "tag",
    "serve",
    "eval",
    "compare",
    "diff",
    "oracle",
    "tree",
    "find",
    "complexity",
    "info",
    "models",
    "report",
    "chart",
    "experiment",
    "ablate",
    "split",
    "crossval",
    "completions",
    "man",
];

#[test]
fn help_describes_each_command() {
    insta::assert_snapshot!("help", transcript(&srparse(&["--help"]).assert().success()));
    for command in COMMANDS {
        let help = srparse(&[command, "--help"]).assert().success();
        let out = text(&help.get_output().stdout);
        let about = out.split("\n\nUsage").next().unwrap_or_default();
        assert!(about.len() > 15, "{command} says only `{about}`");
        insta::assert_snapshot!(format!("help_{command}"), transcript(&help));
    }
}

#[test]
fn every_command_is_in_the_help_the_completions_and_the_manual() {
    let outputs = [
        srparse(&["--help"]).assert().success(),
        srparse(&["completions", "bash"]).assert().success(),
        srparse(&["man"]).assert().success(),
    ];
    for done in outputs {
        let out = text(&done.get_output().stdout);
        for command in COMMANDS {
            assert!(out.contains(command), "{command} is missing in\n{out}");
        }
    }
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        let done = srparse(&["completions", shell]).assert().success();
        assert!(done.get_output().stdout.len() > 1000, "{shell}");
    }
}

#[test]
fn the_examples_of_the_help_texts_run() {
    let line = "The/DT dog/NN barks/VBZ ./.\n";
    let help = text(&srparse(&["--help"]).assert().success().get_output().stdout);
    let (raw, option) = ("Dogs bark. Don't they?", ["--input", "text"]);
    let example = format!("echo \"{raw}\" | srparse parse {}", option.join(" "));
    assert!(help.contains(&example), "{help}");
    parse(&option).write_stdin(raw).assert().success();
    // Values that option texts give as examples.
    let strict = ["--set", "search.illegal=fail"];
    assert!(text(&srparse(&["parse", "--help"]).output().unwrap().stdout).contains(strict[1]));
    parse(&strict).write_stdin(line).assert().success();
    parse(&["--set", "search.illegal=reject"]).write_stdin(line).assert().success();
    let short = ["--set", "learner.epochs=5"];
    assert!(text(&srparse(&["train", "--help"]).output().unwrap().stdout).contains(short[1]));
    let clean = text(&srparse(&["tree", "--help"]).output().unwrap().stdout);
    for step in ["clean.quotes=true", "clean.root=keep"] {
        assert!(clean.contains(step));
        srparse(&["tree", "--set", step]).arg(sample("dev.mrg")).assert().success();
    }
}

/// Runs `srparse ARGUMENTS` in a folder with files of every kind of fault.
fn in_a_messy_folder(arguments: &[&str]) -> String {
    let good = std::fs::read(model()).unwrap();
    let (mut newer, mut corrupted, mut header) = (good.clone(), good.clone(), good.clone());
    newer[8] = 200;
    let inside = corrupted.len() / 3;
    corrupted[inside] ^= 1;
    header[40] ^= 1;
    let folder = folder(&[
        ("good.mrg", b"( (S (NP (DT the) (NN dog)) (VP (VBZ barks))) )\n( (S (VP (VB go))) )\n"),
        ("one.mrg", b"( (S (NP (DT the) (NN dog)) (VP (VBZ barks))) )\n"),
        ("bad.mrg", b"( (S (NN a)) )\n( (S (NP (DT the)\n  (NN dog) x)) )\n"),
        ("open.mrg", b"( (S (NN a)) )\n\n( (S (NP (DT the)\n"),
        ("odd.mrg", b"( (S (QQQ (DT the) (NN dog)) (VP (VBZ barks))) )\n"),
        ("traces.mrg", b"( (S (NP (-NONE- *))) )\n"),
        ("empty.mrg", b""),
        ("bad.tagged", b"a/DT b\n"),
        ("bad.toml", b"description = \"x\"\nmax_word = 3\n"),
        ("bad.prm", b"DEBUG 0\nDELETE_LABLE TOP\n"),
        ("truncated.srm", &good[..good.len() / 2]),
        ("short.srm", &good[..10]),
        ("foreign.srm", b"PK\x03\x04 this is a zip file or so, quite long enough to be a model"),
        ("newer.srm", &newer),
        ("corrupted.srm", &corrupted),
        ("header.srm", &header),
    ]);
    transcript(&srparse(arguments).current_dir(&folder).assert())
}

/// Joins the outputs for all lines of arguments into one snapshot.
fn messages(lines: &[&str]) -> String {
    let mut all = String::new();
    for line in lines {
        let arguments: Vec<&str> = line.split(' ').collect();
        all.push_str(&format!("$ srparse {line}\n{}\n\n", in_a_messy_folder(&arguments)));
    }
    all
}

#[test]
fn missing_and_malformed_files_are_reported_with_their_place() {
    insta::assert_snapshot!(messages(&[
        "parse no.tagged",
        "parse bad.tagged",
        "parse --strict bad.tagged",
        "tree no.mrg",
        "tree bad.mrg",
        "tree --skip-bad bad.mrg",
        "tree open.mrg",
        "oracle bad.mrg",
        "train --train no.mrg --model m.srm",
        "train --train bad.mrg --model m.srm",
        "train --train empty.mrg --model m.srm",
        "train --train traces.mrg --model m.srm",
        "train --train good.mrg --dev empty.mrg --model m.srm",
        "train --train good.mrg --model no/such/folder/m.srm",
        "eval no.mrg good.mrg",
        "eval good.mrg one.mrg",
        "eval --params bad.prm good.mrg good.mrg",
        "eval --params colins good.mrg good.mrg",
        "compare good.mrg good.mrg one.mrg",
        "compare good.mrg - -",
        "compare empty.mrg empty.mrg empty.mrg",
        "compare --max-words 0 good.mrg good.mrg good.mrg",
        "compare --shuffles 0 good.mrg good.mrg good.mrg",
        "compare --max-p 5 good.mrg good.mrg good.mrg",
    ]));
}

#[test]
fn unknown_names_and_values_get_the_nearest_known_one() {
    insta::assert_snapshot!(messages(&[
        "prase",
        "parse --modle m.srm",
        "parse --input tagd",
        "parse --output brakets",
        "parse --encoding utf9",
        "parse --set epochs=3",
        "parse --set search.ilegal=fail",
        "train --train good.mrg --model m.srm --preset fasst",
        "train --train good.mrg --model m.srm --preset bad.toml",
        "train --train good.mrg --model m.srm --set epoks=3",
        "train --train good.mrg --model m.srm --set epochs",
        "train --train good.mrg --model m.srm --set epochs=0",
        "train --train good.mrg --model m.srm --set epochs=many",
        "train --train good.mrg --model m.srm --set probability=2.0",
        "train --train good.mrg --model m.srm --set heads=colins",
        "train --train good.mrg --model m.srm --set templates=rihc",
        "train --train good.mrg --model m.srm --set kind=online-perceptorn",
        "tree --set clean.rot=keep good.mrg",
        "tree --set clean.root good.mrg",
        "info --preset fasst",
        "completions bsh",
    ]));
}

#[test]
fn models_that_are_truncated_corrupt_or_foreign_are_refused_with_the_reason() {
    insta::assert_snapshot!(messages(&[
        "info no.srm",
        "info truncated.srm",
        "info short.srm",
        "info empty.mrg",
        "info foreign.srm",
        "info newer.srm",
        "info corrupted.srm",
        "info header.srm",
        "parse --model truncated.srm bad.tagged",
        "parse --model foreign.srm bad.tagged",
    ]));
}

#[test]
fn models_whose_preset_is_not_known_are_named() {
    let mut model = std::fs::read(model()).unwrap();
    let length = u32::from_le_bytes(model[12..16].try_into().unwrap()) as usize;
    let known = b"\"lowercase\"";
    let at = model[..20 + length].windows(known.len()).position(|bytes| bytes == known).unwrap();
    model[at + 1] = b'L';
    let sum = crc32fast::hash(&model[20..20 + length]);
    model[16..20].copy_from_slice(&sum.to_le_bytes());
    let tree = b"( (S (NP (DT the) (NN dog)) (VP (VBZ barks))) )\n";
    let folder = folder(&[("other.srm", &model), ("good.mrg", tree)]);
    for (line, place) in [
        ("info other.srm", ""),
        ("info other.srm --actions", ""),
        ("info other.srm --speed", ""),
        ("train --init other.srm --train good.mrg --model m.srm", "--init "),
        ("train --preset small --teacher other.srm --train good.mrg --model m.srm", "--teacher "),
        ("train --merge other.srm --train good.mrg --model m.srm", "--merge "),
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let done = srparse(&arguments).current_dir(&folder).assert().code(2);
        let reason = "the model is damaged or was written by another version";
        let printed = transcript(&done);
        assert!(printed.contains(&format!("error: {place}other.srm: {reason}")), "{printed}");
        assert!(printed.contains("Lowercase"), "{printed}");
    }
}

#[test]
fn options_that_a_learner_has_no_use_for_are_refused() {
    let files = ["train", "--train", "good.mrg", "--model", "m.srm"];
    for (options, refused) in [
        (&["--curve", "c.tsv", "--preset", "wang-2006-maxent"][..], "--curve"),
        (&["--curve", "c.tsv", "--tagger"], "--curve"),
        (&["--checkpoint", "parts", "--preset", "wang-2006-maxent"], "--checkpoint"),
        (&["--checkpoint", "parts", "--tagger", "--preset", "wang-2006-maxent"], "--checkpoint"),
        (&["--no-tagger", "--preset", "small"], "--no-tagger"),
    ] {
        let printed = in_a_messy_folder(&[&files[..], options].concat());
        let problem = format!("error: {refused}: ");
        assert!(printed.starts_with("status 2") && printed.contains(&problem), "{printed}");
    }
}

#[test]
fn training_notes_labels_without_a_head_rule() {
    let files = ["train", "--train", "good.mrg", "odd.mrg", "--model", "m.srm"];
    let printed = in_a_messy_folder(&[&files[..], &["--set", "epochs=1"]].concat());
    let notes: Vec<&str> = printed.lines().filter(|line| line.starts_with("note:")).collect();
    let note = "note: no head rule for QQQ (1 node): the outermost child that is not punctuation is the head";
    assert_eq!(notes, [note]);
    let quiet = in_a_messy_folder(&[&files[..], &["--set", "epochs=1", "--quiet"]].concat());
    assert_eq!(quiet, "status 0\n--- stdout\n--- stderr");
}

#[test]
fn exit_statuses_distinguish_success_negative_answers_and_errors() {
    let status = |arguments: &[&str]| {
        let transcript = in_a_messy_folder(arguments);
        transcript.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(status(&["eval", "--min-f1", "99", "good.mrg", "good.mrg"]), "status 0");
    assert_eq!(status(&["eval", "--min-f1", "99", "good.mrg", "one.mrg"]), "status 2");
    assert_eq!(status(&["parse", "bad.tagged"]), "status 2");
    assert_eq!(status(&["nonsense"]), "status 2");
    assert_eq!(status(&["--version"]), "status 0");
    let other = folder(&[
        ("gold", b"(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks))))\n"),
        ("test", b"(TOP (S (DT the) (NP (NN dog)) (VBZ barks)))\n"),
    ]);
    let eval = |least: &str| {
        srparse(&["eval", "--min-f1", least, "gold", "test"]).current_dir(&other).assert()
    };
    eval("99").code(1);
    eval("1").code(0);
}

#[test]
fn info_describes_a_model() {
    let done = srparse(&["info", "--actions"]).arg(model()).assert().success();
    let out = text(&done.get_output().stdout);
    for part in ["train.mrg", "SHIFT", "OPEN-NP", "vocabulary", "kind = \"online-perceptron\""] {
        assert!(out.contains(part), "{part} is missing in\n{out}");
    }
    let embedded = text(&srparse(&["info"]).assert().success().get_output().stdout);
    for part in ["trained on", "sagae-lavie-2005-maxent", "rich", "collins-modified"] {
        assert!(embedded.contains(part), "{part} is missing in\n{embedded}");
    }
}

#[test]
fn a_printed_preset_trains_as_the_preset_of_that_name() {
    let preset = srparse(&["info", "--preset", "fast"]).assert().success();
    let folder = folder(&[("my.toml", &preset.get_output().stdout)]);
    for (preset, model) in [("my.toml", "a.srm"), ("fast", "b.srm")] {
        let mut train = srparse(&["train", "-q", "--set", "epochs=1", "--preset", preset]);
        train.args(["--model", model, "--train"]).arg(sample("dev.mrg"));
        train.current_dir(&folder).assert().success();
    }
    let [a, b] = ["a.srm", "b.srm"].map(|name| std::fs::read(folder.path().join(name)).unwrap());
    assert!(a == b);
}

#[test]
fn learners_over_trees_are_trained_and_parse() {
    let folder = folder(&[("tree.feats", b"tree(2)\n")]);
    let train = |settings: &[&str]| {
        let mut train = srparse(&["train", "-q", "--model", "a.srm"]);
        train.args(settings.iter().flat_map(|setting| ["--set", setting]));
        train.args(["--set", "features.templates=tree.feats", "--train"]).arg(sample("dev.mrg"));
        train.current_dir(&folder).assert()
    };
    let learners = [
        "learner={ kind = \"subtree-boosting\", rounds = 60 }",
        "learner={ kind = \"tree-kernel\", tree_share = 1.0 }",
    ];
    for learner in learners {
        train(&[learner]).success();
        let gold = sample("dev.mrg");
        let parsed = srparse(&["parse", "--model", "a.srm", "--input", "penn"])
            .arg(&gold)
            .current_dir(&folder)
            .assert()
            .success();
        std::fs::write(folder.path().join("a.out"), &parsed.get_output().stdout).unwrap();
        let mut eval = srparse(&["eval", "--min-f1", "60"]);
        eval.arg(&gold).arg("a.out").current_dir(&folder).assert().success();
    }
    let refused = text(&train(&["learner={ kind = \"svm\" }"]).code(2).get_output().stderr);
    assert!(refused.contains("`tree(2)` is a tree"), "{refused}");
    let refused = text(&train(&["learner={ kind = \"tree-kernel\" }"]).code(2).get_output().stderr);
    assert!(refused.contains("learner.tree_share: "), "{refused}");
    let refused = text(&train(&[learners[0], "learner.max_nodes=0"]).code(2).get_output().stderr);
    assert!(refused.contains("max_nodes"), "{refused}");
}

#[test]
fn the_oracle_prints_a_derivation_and_statistics() {
    insta::assert_snapshot!(in_a_messy_folder(&["oracle", "one.mrg"]));
    insta::assert_snapshot!(in_a_messy_folder(&["oracle", "--stats", "good.mrg"]));
    let mut tagger = srparse(&["oracle", "--preset", "tagger"]);
    let done = tagger.arg(sample("dev.mrg")).assert().code(2);
    let said = text(&done.get_output().stderr);
    assert!(said.contains("preset: trains a tagger alone: name one of a parser"), "{said}");
}

#[test]
fn the_oracle_numbers_trees_as_the_file_does() {
    let trees = "(())\n(TOP (X x))\n(TOP (-NONE- *))\n(NP (NP (NN x)) (TOP (NN y)))\n";
    let done = srparse(&["oracle", "-q"]).write_stdin(trees).assert().code(1);
    let expected = "# tree 1: no words\n\n1\t\tx\tSHIFT\n2\tx/X\t\tFINISH\n\n# tree 3: no words\n\n\
                    # tree 4: a TOP below the root\n\n";
    assert_eq!(text(&done.get_output().stdout), expected);
    let done = srparse(&["oracle", "--stats"]).write_stdin(trees).assert().code(1);
    let said = text(&done.get_output().stderr);
    assert!(said.contains("left out 2 trees without words after cleaning\n"), "{said}");
}

#[test]
fn the_oracle_fails_on_trees_that_cannot_be_built_whatever_it_writes() {
    let model = model().display().to_string();
    let model = model.as_str();
    let without_words = "(())\n(TOP (X x))\n(TOP (-NONE- *))\n";
    let unfit = format!("{without_words}(NP (NP (NN x)) (TOP (NN y)))\n");
    for options in [
        &[][..],
        &["--stats"],
        &["--output", "html"],
        &["--model", model],
        &["--model", model, "--model", model],
    ] {
        for (trees, status) in [(without_words, 0), (unfit.as_str(), 1)] {
            let mut oracle = srparse(&["oracle", "-q"]);
            oracle.args(options).write_stdin(trees).assert().code(status);
        }
    }
}

#[test]
fn the_oracle_reports_the_accuracy_of_a_model() {
    let accuracy = |threads: &str, file: &str| {
        let mut oracle = srparse(&["oracle", "-j", threads, "--model"]);
        let done = oracle.arg(model()).arg(sample(file)).assert().success();
        text(&done.get_output().stdout)
    };
    let train = accuracy("1", "train.mrg");
    let row = |name: &str| -> Vec<String> {
        let row = train.lines().find(|line| line.starts_with(&format!("{name}\t")));
        row.unwrap_or_else(|| panic!("no {name} in\n{train}"))
            .split('\t')
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(row("trees that cannot be built")[1], "0");
    // It was trained on these trees.
    assert_eq!(row("with a choice")[3], "100.00 %");
    assert_eq!(row("all")[3], "100.00 %");
    let number = |name: &str| row(name)[1].parse::<u64>().unwrap();
    assert_eq!(number("OPEN"), number("REDUCE"));
    assert_eq!(number("all"), number("SHIFT") + 2 * number("OPEN") + number("FINISH"));
    assert_eq!(number("FINISH"), number("trees"));
    assert!(number("with a choice") < number("all"));
    assert_eq!(accuracy("1", "dev.mrg"), accuracy("3", "dev.mrg"));
    srparse(&["oracle", "--stats", "--model", "m.srm"]).assert().code(2);
}

#[test]
fn the_oracle_reports_which_models_are_right_together() {
    let folder = folder(&[("few.mrg", b"(S (A a))\n")]);
    let model = model().display().to_string();
    let train = ["train", "-q", "--model", "few.srm", "--set", "models=1", "--train", "few.mrg"];
    srparse(&train).current_dir(&folder).assert().success();
    let oracle = |models: &[&str], options: &[&str]| {
        let mut oracle = srparse(&["oracle"]);
        oracle.args(models.iter().flat_map(|model| ["--model", model]));
        let done = oracle.args(options).arg(sample("dev.mrg")).current_dir(&folder).assert();
        let status = done.get_output().status.code();
        (status.unwrap(), text(&done.get_output().stdout), text(&done.get_output().stderr))
    };
    let (_, alone, _) = oracle(&[&model], &[]);
    let (status, both, _) = oracle(&[&model, &model], &[]);
    assert_eq!(status, 0);
    let cell = |table: &str, row: &str, column: usize| {
        let line = table.lines().find(|line| line.starts_with(&format!("{row}\t")));
        let line = line.unwrap_or_else(|| panic!("no {row} in\n{table}"));
        line.split('\t').nth(column).unwrap().to_owned()
    };
    assert_eq!(cell(&both, "decisions", 1), cell(&alone, "all", 1));
    // A model agrees with itself.
    assert_eq!(cell(&both, "A B", 2), cell(&alone, "all", 2));
    assert_eq!(cell(&both, "A B", 4), cell(&alone, "all", 3));
    assert_eq!((cell(&both, "A", 1), cell(&both, "B", 3)), ("0".to_owned(), "0".to_owned()));
    let (status, _, error) = oracle(&[&model, "few.srm"], &[]);
    assert!(status == 2 && error.contains("few.srm differ"), "{error}");
    let (status, _, error) = oracle(&[&model, &model], &["--margins", "NP"]);
    assert!(status == 2 && error.contains("once"), "{error}");
    let (status, _, error) = oracle(&[model.as_str(); 7], &[]);
    assert!(status == 2 && error.contains("at most 6"), "{error}");
}

#[test]
fn no_percentage_is_printed_of_nothing() {
    let folder = folder(&[("one.mrg", b"(S (A a))\n"), ("none.txt", b"")]);
    let run = |arguments: &[&str]| {
        let done = srparse(arguments).current_dir(&folder).assert().success();
        transcript(&done)
    };
    let train = run(&["train", "--train", "one.mrg", "--model", "m.srm", "--set", "models=1"]);
    assert!(train.contains("epoch 1: no mistakes to learn from"), "{train}");
    let oracle = run(&["oracle", "--model", "m.srm", "none.txt"]);
    assert!(oracle.contains("all\t0\t-\t-"), "{oracle}");
    let mut tag = srparse(&["tag", "--input", "tagged", "--accuracy", "--model"]);
    let tag = tag.arg(model_with_tagger()).arg("none.txt").current_dir(&folder).assert();
    assert!(transcript(&tag.success()).contains("tagging accuracy: - (no words)"));
}

#[test]
fn a_learning_curve_is_a_table_that_the_chart_draws() {
    let folder = folder(&[]);
    let (train, dev) = (sample("train.mrg"), sample("dev.mrg"));
    let mut command =
        srparse(&["train", "-q", "--set", "epochs=2", "--set", "models=1", "--model", "m.srm"]);
    command.args(["--curve", "curve.tsv", "--train"]).arg(train).arg("--dev").arg(dev);
    command.current_dir(&folder).assert().success();
    let table = std::fs::read_to_string(folder.path().join("curve.tsv")).unwrap();
    let series = |name: &str| table.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!((series("training accuracy"), series("F1 on")), (2, 2), "{table}");
    let chart = srparse(&["chart", "curve.tsv"]).current_dir(&folder).assert().success();
    let svg = String::from_utf8(chart.get_output().stdout.clone()).unwrap();
    assert!(svg.contains("<svg") && svg.contains("epoch"), "{svg}");
}

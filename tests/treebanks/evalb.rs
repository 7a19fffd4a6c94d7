//! EVALB's own results, to the last digit. `tests/evalb` holds EVALB's samples, which are in the public
//! domain; the larger cases are treebank text, found beside the folder that `SRPARSE_TREEBANKS` names.

use std::path::{Path, PathBuf};

use srparse::eval::report::evalb;
use srparse::eval::{Evaluation, Params};
use srparse::treebank::{ReadOptions, read_all};

/// The report of EVALB on two files.
fn report(gold: &Path, test: &Path, params: Params) -> String {
    let (gold, test) = (read(gold), read(test));
    let mut evaluation = Evaluation::new(params, None);
    let mut out = Vec::new();
    evalb::header(&mut out).unwrap();
    for (number, (gold, test)) in (1..).zip(gold.lines().zip(test.lines())) {
        let score = evaluation.add_lines(gold, test);
        evalb::row(&mut out, number, &score).unwrap();
    }
    evalb::summary(&mut out, &evaluation).unwrap();
    String::from_utf8(out).unwrap()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evalb").join(name)
}

/// The numbers of each line that has any. Older versions of EVALB lay rows out differently, print
/// another count as the sum of crossings, have no F-measure, and give the number of words of sentences
/// that were left out; these numbers are dropped.
fn numbers(report: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for line in report.lines().filter(|line| !line.contains("FMeasure")) {
        let mut row: Vec<String> = line
            .split_whitespace()
            .filter(|word| word.parse::<f64>().is_ok())
            .map(str::to_owned)
            .collect();
        match row.len() {
            0 => continue,
            12 if row[2] != "0" => drop(row.remove(9)),
            9 => drop(row.remove(5)),
            _ => {}
        }
        rows.push(row);
    }
    rows
}

fn sample_params() -> Params {
    Params::load(sample("sample.prm").to_str().unwrap()).unwrap()
}

#[test]
fn evalbs_sample_gives_evalbs_numbers() {
    let ours = report(&sample("sample.gld"), &sample("sample.tst"), sample_params());
    assert_eq!(numbers(&ours), numbers(&read(&sample("sample.rsl"))));
}

#[test]
fn evalbs_bug_case_gives_evalbs_numbers() {
    let params = Params::named("new").unwrap();
    let ours = report(&sample("bug.gld"), &sample("bug.tst"), params);
    assert_eq!(numbers(&ours), numbers(&read(&sample("bug.rsl-new"))));
}

/// Compares with a result of EVALB, if the treebanks are there.
fn agrees_byte_for_byte(test: &str, params: &str, expected: &str) {
    let Some(folder) = crate::treebank("../evalb") else { return };
    let params = match params.ends_with(".prm") {
        true => Params::load(folder.join(params).to_str().unwrap()).unwrap(),
        false => Params::named(params).unwrap(),
    };
    let ours = report(&folder.join("gum-test.gld"), &folder.join(test), params);
    assert!(ours == read(&folder.join(expected)), "{expected} differs");
}

#[test]
fn collins_parameters_agree_byte_for_byte() {
    agrees_byte_for_byte("gum-test.tst", "COLLINS.prm", "gum-test.collins.rsl");
    agrees_byte_for_byte("gum-test.tst", "collins", "gum-test.collins.rsl");
}

#[test]
fn new_parameters_agree_byte_for_byte() {
    agrees_byte_for_byte("gum-test.tst", "new.prm", "gum-test.new.rsl");
    agrees_byte_for_byte("gum-test.tst", "new", "gum-test.new.rsl");
}

#[test]
fn errors_and_empty_parses_agree_byte_for_byte() {
    agrees_byte_for_byte("gum-test.err.tst", "collins-1000.prm", "gum-test.err.rsl");
}

#[test]
fn trees_score_as_their_lines_do() {
    let Some(folder) = crate::treebank("../evalb") else { return };
    let (gold, test) = (folder.join("gum-test.gld"), folder.join("gum-test.err.tst"));
    let mut by_line = Evaluation::new(Params::default(), None);
    for (gold, test) in read(&gold).lines().zip(read(&test).lines()) {
        by_line.add_lines(gold, test);
    }
    let [gold, test] =
        [gold, test].map(|path| read_all(&[path], &ReadOptions::default()).unwrap().0);
    let by_tree = Evaluation::of(gold.iter().zip(&test), &Params::default());
    assert_eq!(
        (by_tree.all, by_tree.short, by_tree.labels, by_tree.children),
        (by_line.all, by_line.short, by_line.labels, by_line.children)
    );
}

#[test]
fn real_treebanks_score_perfectly_against_themselves() {
    for name in ["craft/dev.mrg", "gum/dev.mrg", "sinica/dev.mrg"] {
        let Some(path) = crate::treebank(name) else { return };
        let (trees, _) = read_all(&[path], &ReadOptions::default()).unwrap();
        let evaluation = Evaluation::of(trees.iter().map(|tree| (tree, tree)), &Params::default());
        assert_eq!((evaluation.all.f1(), evaluation.all.errors), (100.0, 0), "{name}");
    }
}

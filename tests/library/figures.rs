//! The figures of the documentation are those of the tables in `docs/data`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Headline figures where they are quoted: a page, and its text with `{table|row|column}` in place of each figure. The row is
/// the beginning of its cells, joined by commas.
const QUOTED: &[(&str, &str)] = &[
    (
        "README.md",
        "| `english`, the default | {english|MCTB|english f1} | {english|masc/dev|english f1} | \
         {english|craft/dev|english f1} | {english|data/everyday|english f1} | 1 |",
    ),
    (
        "README.md",
        "| `english-small` | {english|MCTB|english-small f1} | \
         {english|masc/dev|english-small f1} | {english|craft/dev|english-small f1} | \
         {english|data/everyday|english-small f1} | 5 |",
    ),
    (
        "README.md",
        "| `english-fast` | {english|MCTB|english-fast f1} | {english|masc/dev|english-fast f1} | \
         {english|craft/dev|english-fast f1} | {english|data/everyday|english-fast f1} | 27 |",
    ),
    ("README.md", "| `accurate`, five seeds | – | – | {seeds|accurate,mean|own f1} | – | 5 |"),
    ("README.md", "| `fast`, five seeds | – | – | {seeds|fast,mean|own f1} | – | 24 |"),
    (
        "README.md",
        "scores {corenlp|beam of 4|f1}, `fast` {seeds|fast,mean|gold f1} and \
         `accurate` {seeds|accurate,mean|gold f1} (means of seeds)",
    ),
    (
        "README.md",
        "fifty GENIA trees raised an earlier `english-small`'s F1 from \
         {few-trees-further|genia/dev,another earlier english-small,accurate,0|f1} to \
         {few-trees-further|genia/dev,another earlier english-small,accurate,50|f1}",
    ),
    (
        "docs/results.md",
        "| 72 MB | | `pretrained`, on all-MiniLM-L6-v2, seeds 1 to 11 | {seeds|pretrained,mean|own f1} ± \
         {seeds|pretrained,standard deviation|own f1} | {seeds|pretrained,mean|gold f1} ± \
         {seeds|pretrained,standard deviation|gold f1} |",
    ),
    (
        "docs/results.md",
        "| `best`, three networks of `pretrained`, three runs | {seeds|best,mean|own f1} ± \
         {seeds|best,standard deviation|own f1} | {seeds|best,mean|gold f1} ± {seeds|best,standard deviation|gold f1} |",
    ),
    (
        "docs/results.md",
        "| `pretrained-small`, three layers, taught by `pretrained`, seeds 1 to 3 | \
         {seeds|pretrained-small,mean|own f1} ± {seeds|pretrained-small,standard deviation|own f1} | \
         {seeds|pretrained-small,mean|gold f1} ± {seeds|pretrained-small,standard deviation|gold f1} |",
    ),
    (
        "docs/results.md",
        "| `accurate`, seeds 1 to 5 | {seeds|accurate,mean|own f1} ± {seeds|accurate,standard deviation|own f1} | \
         {seeds|accurate,mean|gold f1} ± {seeds|accurate,standard deviation|gold f1} |",
    ),
    (
        "docs/results.md",
        "| `balanced`, seeds 1 to 5 | {seeds|balanced,mean|own f1} ± {seeds|balanced,standard deviation|own f1} | \
         {seeds|balanced,mean|gold f1} ± {seeds|balanced,standard deviation|gold f1} |",
    ),
    (
        "docs/results.md",
        "| `small`, seeds 1 to 5 | {seeds|small,mean|own f1} ± {seeds|small,standard deviation|own f1} | \
         {seeds|small,mean|gold f1} ± {seeds|small,standard deviation|gold f1} |",
    ),
    (
        "docs/results.md",
        "| `beam`, seeds 1 to 5 | {seeds|beam,mean|own f1} ± {seeds|beam,standard deviation|own f1} | \
         {seeds|beam,mean|gold f1} ± {seeds|beam,standard deviation|gold f1} |",
    ),
    (
        "docs/results.md",
        "| `fast`, seeds 1 to 5 | {seeds|fast,mean|own f1} ± {seeds|fast,standard deviation|own f1} | \
         {seeds|fast,mean|gold f1} ± {seeds|fast,standard deviation|gold f1} |",
    ),
    (
        "CHANGELOG.md",
        "`craft/dev` {english|craft/dev|english f1}, {english|craft/dev|english-small f1} and \
         {english|craft/dev|english-fast f1}; on `masc/dev` {english|masc/dev|english f1}, \
         {english|masc/dev|english-small f1} and {english|masc/dev|english-fast f1}.",
    ),
    (
        "docs/languages.md",
        "its row is on GENIA, where `english-small` has {english|genia/dev|english-small f1}.",
    ),
    (
        "docs/papers/turian-melamed-2005.md",
        "below {own-tags|fast,craft/dev|gold f1} of `fast` and \
         {sagae-lavie-2005-gold-tags|sagae-lavie-2005-svm,reject|f1} of",
    ),
    (
        "docs/papers/kalt-2004.md",
        "has {kalt-2004-words|kalt-2004-sr-l-words|f1}, `sr-l` {kalt-2004-words|kalt-2004-sr-l,|f1}",
    ),
    (
        "docs/tuning.md",
        "average of these two (`english-small`) | \
         {english-stages|english-small: the row above trained further, rate 0.001, on its text with 9,986|craft/dev f1}, \
         {english-stages|an earlier english-small: the row above trained further, rate 0.0015|craft/dev f1} (p = 0.015), \
         {english-stages|an earlier english-small, on the text of the ninth|craft/dev f1} (p = 0.42), \
         {english-stages|not taken alone:|craft/dev f1}, {english|craft/dev|english-small f1} \
         (p = {comparisons|tuning,english-small,the one before,craft/dev, words alone|p})",
    ),
    (
        "docs/tuning.md",
        "10,644 of the fifth | {english-stages|eighth stage:|craft/dev f1}, \
         {english-stages|ninth stage:|craft/dev f1}, {english-stages|tenth stage:|craft/dev f1}, \
         {english-stages|eleventh stage:|craft/dev f1}, {english-stages|twelfth stage:|craft/dev f1}; \
         `masc/dev` {english-stages|eighth stage:|masc/dev f1}, {english-stages|ninth stage:|masc/dev f1}, \
         {english-stages|tenth stage:|masc/dev f1}, {english-stages|eleventh stage:|masc/dev f1}, \
         {english-stages|twelfth stage:|masc/dev f1};",
    ),
    (
        "docs/tuning.md",
        "of the sixth | {english-stages|thirteenth stage:|craft/dev f1}, \
         {english-stages|fourteenth stage:|craft/dev f1}, {english-stages|fifteenth stage:|craft/dev f1}; \
         `masc/dev` {english-stages|thirteenth stage:|masc/dev f1}, \
         {english-stages|fourteenth stage:|masc/dev f1}, {english-stages|fifteenth stage:|masc/dev f1};",
    ),
    (
        "docs/tuning.md",
        "against the twelfth), {english-stages|mean of the parameters of the fifteenth|craft/dev f1} \
         (p = {comparisons|tuning,the mean after the fifteenth stage of english,the twelfth stage,craft/dev, words alone|p}); \
         `masc/dev` {english-stages|mean of the parameters of the ninth and the twelfth|masc/dev f1}, \
         {english-stages|mean of the parameters of the fifteenth|masc/dev f1} \
         (p = {comparisons|tuning,the mean after the fifteenth stage of english,the twelfth stage,masc/dev, words alone|p}); \
         last 678 {english-stages|mean of the parameters of the ninth and the twelfth|everyday/test f1, last 678}, \
         {english-stages|mean of the parameters of the fifteenth|everyday/test f1, last 678} \
         (p = {comparisons|tuning,the mean after the fifteenth stage of english,the twelfth stage,data/everyday/test, the 678|p})",
    ),
    (
        "docs/tuning.md",
        "average (`english`) | {english-stages|sixteenth stage:|craft/dev f1}, {english-stages|seventeenth stage:|craft/dev f1}; \
         {english|craft/dev|english f1} \
         (p = {comparisons|tuning,english,the mean after the fifteenth stage,craft/dev, words alone|p});",
    ),
];

/// The pages whose measured figures are all in tables.
const MEASURED: &[&str] = &[
    "CHANGELOG.md",
    "README.md",
    "data/everyday/README.md",
    "data/models/README.md",
    "docs/english.md",
    "docs/find.md",
    "docs/formats.md",
    "docs/languages.md",
    "docs/presets.md",
    "docs/results.md",
    "docs/serve.md",
    "docs/tuning.md",
    "models/README.md",
    "docs/papers/fernandez-gomez-2018.md",
    "docs/papers/kalt-2004.md",
    "docs/papers/sagae-lavie-2005.md",
    "docs/papers/turian-melamed-2005.md",
    "docs/papers/wang-sagae-mitamura-2006.md",
];

fn read(page: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"))
}

fn tables() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/data");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "tsv")).collect()
}

/// The cell of a table, given as `table|row|column`.
fn figure(place: &str) -> String {
    let [table, row, column] = place.split('|').collect::<Vec<_>>()[..] else {
        panic!("{place} is not table|row|column");
    };
    let text = read(&format!("docs/data/{table}.tsv"));
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = lines.next().unwrap_or_default();
    let at = header.iter().position(|name| *name == column);
    let at = at.unwrap_or_else(|| panic!("{table}.tsv has no column {column}: {header:?}"));
    let rows: Vec<_> = lines.filter(|cells| cells.join(",").starts_with(row)).collect();
    assert_eq!(rows.len(), 1, "{table}.tsv should have one row {row}");
    rows[0][at].to_owned()
}

/// The text with figures in place of `{table|row|column}`.
fn filled(text: &str) -> String {
    let mut parts = text.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (place, rest) = part.split_once('}').expect("every place is closed");
        filled.push_str(&figure(place));
        filled.push_str(rest);
    }
    filled
}

/// The numbers with two decimals: scores, differences and shares.
fn figures(text: &str) -> BTreeSet<&str> {
    let numbers = text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
    let numbers = numbers.map(|number| number.trim_matches(['.', ',']));
    let has_two = |number: &&str| {
        let parts: Vec<&str> = number.split('.').collect();
        parts.len() == 2 && parts[1].len() == 2 && !parts[0].is_empty() && !number.contains(',')
    };
    numbers.filter(has_two).collect()
}

/// The text without its line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn quoted_figures_are_those_of_the_tables() {
    for (page, text) in QUOTED {
        let expected = filled(text);
        assert!(one_line(&read(page)).contains(&expected), "{page} should have: {expected}");
    }
}

#[test]
fn every_measured_figure_is_in_a_table() {
    let texts: Vec<String> =
        tables().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let known: BTreeSet<&str> = texts.iter().flat_map(|text| figures(text)).collect();
    for page in MEASURED {
        let text = read(page);
        let unknown: Vec<&str> = figures(&text).difference(&known).copied().collect();
        assert!(unknown.is_empty(), "{page}: no table in docs/data has {unknown:?}");
    }
}

#[test]
fn tables_are_rectangular() {
    for path in tables() {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut widths = text.lines().map(|line| line.split('\t').count());
        let header = widths.next().unwrap_or_default();
        // The points of a chart may have a label more than the header.
        assert!(
            header > 1 && widths.all(|width| width == header || width == header + 1),
            "{}",
            path.display()
        );
    }
}

#[test]
fn a_changed_figure_is_found() {
    let page = read("docs/english.md");
    let wrong = page.replace(&figure("english|masc/dev|english f1"), "123.45");
    assert!(figures(&wrong).contains("123.45") && !figures(&page).contains("123.45"));
    assert_eq!(
        figures("F1 87.78, p = 0.0001, 1,280 in 1.13.2 and 12.5"),
        BTreeSet::from(["87.78"])
    );
}

#[test]
fn the_index_lists_every_table() {
    let index = read("docs/data/README.md");
    for path in tables() {
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(index.contains(&format!("`{name}`")), "docs/data/README.md does not list {name}");
    }
}

#[test]
fn means_of_seeds_are_those_of_their_rows() {
    let text = read("docs/data/seeds.tsv");
    let rows: Vec<Vec<&str>> =
        text.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let mut n_checked = 0;
    for mean in rows.iter().filter(|row| row[1].starts_with("mean")) {
        let deviation = rows.iter().find(|row| row[0] == mean[0] && row[1] == "standard deviation");
        for column in [2, 3].into_iter().filter(|&column| !mean[column].is_empty()) {
            let seeds =
                rows.iter().filter(|row| row[0] == mean[0] && row[1].parse::<u32>().is_ok());
            let values: Vec<f64> = seeds.map(|row| row[column].parse().unwrap()).collect();
            let n = values.len() as f64;
            let average = values.iter().sum::<f64>() / n;
            let squares: f64 = values.iter().map(|value| (value - average).powi(2)).sum();
            assert_eq!(mean[1], format!("mean of {n}"), "{mean:?}");
            assert_eq!(mean[column], format!("{average:.2}"), "{mean:?}");
            assert_eq!(deviation.unwrap()[column], format!("{:.2}", (squares / (n - 1.0)).sqrt()));
            n_checked += 1;
        }
    }
    assert_eq!(n_checked, 16);
}

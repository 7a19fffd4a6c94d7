//! Counts of matches against CoreNLP's Tregex, which `tests/find/tregex-counts.tsv` keeps for each pattern.

use srparse::find::{Pattern, Searcher};
use srparse::{ReadOptions, Tree};

/// The first trees of a treebank; `None` if there is none, and none is required.
fn trees(name: &str, n: usize) -> Option<Vec<Tree>> {
    let path = crate::treebank(name)?;
    let trees = srparse::treebank::Trees::open(&[path], &ReadOptions::default()).unwrap();
    Some(trees.take(n).map(Result::unwrap).collect())
}

#[test]
fn every_pattern_has_as_many_matches_as_in_corenlp() {
    let (Some(mut all), Some(gum)) = (trees("craft/dev.mrg", 1000), trees("gum/dev.mrg", 1000))
    else {
        return;
    };
    all.extend(gum);
    let table = std::env::var("SRPARSE_TREGEX_COUNTS")
        .map_or(include_str!("../find/tregex-counts.tsv").to_owned(), |path| {
            std::fs::read_to_string(path).unwrap()
        });
    let (mut compared, mut different) = (0, Vec::new());
    for row in table.lines().filter(|line| !line.starts_with('#')) {
        let [text, matches, nodes] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row}: expected a pattern and two counts")
        };
        let pattern = Pattern::parse(text).unwrap();
        let (mut searcher, mut once) =
            (Searcher::new(&pattern), Searcher::new(&pattern).once(true));
        let (mut found, mut listed, mut found_nodes) = (0, 0, 0);
        for tree in &all {
            found += searcher.count(tree).unwrap();
            found_nodes += once.count(tree).unwrap();
            if found < 1_000_000 {
                listed += searcher.find(tree).unwrap().len() as u64;
            }
        }
        compared += 1;
        if (found.to_string(), found_nodes.to_string()) != (matches.to_owned(), nodes.to_owned()) {
            different.push(format!("{row}: found {found} and {found_nodes}"));
        }
        assert!(found >= 1_000_000 || found == listed, "{text}: counted {found}, listed {listed}");
    }
    assert!(
        compared >= 300 && different.is_empty(),
        "{compared} patterns\n{}",
        different.join("\n")
    );
}

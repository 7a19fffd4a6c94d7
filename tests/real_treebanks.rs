//! Real treebanks, when `SRPARSE_TREEBANKS` names the folder that has them.

use std::path::PathBuf;

use srparse::treebank::{ReadOptions, read_all};

/// The file's path, or `None` (and the test passes unread) where there are no treebanks.
fn treebank(name: &str) -> Option<PathBuf> {
    std::env::var_os("SRPARSE_TREEBANKS").map(|folder| PathBuf::from(folder).join(name))
}

/// File, trees, words without traces (words with a thin or no-break space in them count once).
const COUNTS: [(&str, usize, usize); 9] = [
    ("craft/train.mrg", 18_951, 493_380),
    ("craft/dev.mrg", 2_780, 67_652),
    ("gum/train.mrg", 10_224, 177_410),
    ("gum/dev.mrg", 1_575, 28_119),
    ("gum/test.mrg", 1_464, 28_397),
    ("gum/train-open.mrg", 2_387, 48_772),
    ("sinica/train.mrg", 8_000, 72_242),
    ("sinica/dev.mrg", 1_000, 14_864),
    ("sinica/test.mrg", 1_000, 14_036),
];

#[test]
fn trees_and_words_are_as_many_as_published() {
    for (name, n_trees, n_words) in COUNTS {
        let Some(path) = treebank(name) else { return };
        let (trees, report) = read_all(&[path], &ReadOptions::default()).unwrap();
        let words =
            trees.iter().flat_map(|tree| tree.tokens()).filter(|t| t.tag != "-NONE-").count();
        assert_eq!((trees.len(), words), (n_trees, n_words), "{name}");
        assert_eq!(report.to_string(), format!("read {n_trees} trees, skipped 0"));
    }
}

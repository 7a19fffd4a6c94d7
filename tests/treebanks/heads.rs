//! Head rules and dependencies.

use srparse::tree::dependencies::dependencies;
use srparse::tree::heads::HeadRules;
use srparse::treebank::{ReadOptions, read_all};

/// A head table and the treebanks that it has a rule for every label of.
const COVERED: [(&str, &[&str]); 4] = [
    ("sinica", &["sinica/train.mrg", "sinica/dev.mrg", "sinica/test.mrg"]),
    ("collins-modified", &["craft/train.mrg", "craft/dev.mrg", "gum/dev.mrg"]),
    ("left", &["gum/dev.mrg", "sinica/dev.mrg"]),
    ("right", &["gum/dev.mrg", "sinica/dev.mrg"]),
];

#[test]
fn every_label_has_a_rule_and_every_sentence_one_root() {
    for (table, files) in COVERED {
        let rules = HeadRules::named(table).unwrap();
        for file in files {
            let Some(path) = crate::treebank(file) else { return };
            let (trees, _) = read_all(&[path], &ReadOptions::default()).unwrap();
            for mut tree in trees {
                // The only child of an unlabelled root needs no rule.
                let root = tree.root().unwrap();
                let below = tree.nodes().iter().filter(|n| !n.label.is_empty());
                for node in below {
                    assert!(rules.covers(&node.label), "{table}, {file}: {}", node.label);
                }
                assert!(rules.apply(&mut tree).is_empty(), "{table}, {file}");
                let found = dependencies(&tree);
                assert_eq!(found.iter().filter(|d| d.head == 0).count(), 1, "{file}");
                let head = tree.head_token(srparse::tree::Child::Node(root)).unwrap();
                assert_eq!(found[head as usize].head, 0, "{table}, {file}");
            }
        }
    }
}

//! The binary system and the embedded models.

use srparse::Parser;
use srparse::oracle::replay::check_replay;
use srparse::transition::TransitionSystem;
use srparse::transition::binary::Binary;
use srparse::tree::Tree;
use srparse::tree::heads::HeadRules;
use srparse::treebank::penn::{PennReader, write_line};
use srparse::treebank::{Cleaning, Encoding, ReadOptions, read_all};

/// The trees of a file, or `None` where there are no treebanks.
fn trees_of(name: &str) -> Option<Vec<Tree>> {
    Some(read_all(&[crate::treebank(name)?], &ReadOptions::default()).unwrap().0)
}

fn prepared(trees: Vec<Tree>, heads: &str) -> Vec<Tree> {
    let heads = HeadRules::named(heads).unwrap();
    let prepare = |tree| {
        let mut tree = Cleaning::default().apply(tree);
        heads.apply(&mut tree);
        tree
    };
    trees.into_iter().map(prepare).filter(|tree| !tree.tokens().is_empty()).collect()
}

/// Files with their head rules.
const TRAINING: [(&str, &str); 3] = [
    ("craft/train.mrg", "collins-modified"),
    ("gum/train-open.mrg", "collins-modified"),
    ("sinica/train.mrg", "sinica"),
];

#[test]
fn every_training_tree_comes_back_and_the_oracles_agree_on_the_way() {
    for (name, heads) in TRAINING {
        let Some(trees) = trees_of(name) else { return };
        let trees = prepared(trees, heads);
        let system = Binary::of_trees(&trees).unwrap();
        let vocabulary = crate::common::vocabulary(&trees);
        let mut optimal = Vec::new();
        for (tree, number) in trees.iter().zip(1..) {
            let sentence = vocabulary.encode(tree.tokens());
            check_replay(&system, &sentence, tree)
                .unwrap_or_else(|why| panic!("{name}, tree {number}: {why}"));
            let oracle = system.dynamic_oracle(tree).unwrap().unwrap();
            let (mut state, mut forest) = system.start(&sentence);
            for action in system.derivation(tree).unwrap() {
                oracle.optimal(&state, &forest, &mut optimal);
                assert_eq!(optimal, [action], "{name}, tree {number}");
                system.apply(&mut state, &mut forest, action);
            }
            assert_eq!(oracle.loss(&state, &forest), Some(0), "{name}, tree {number}");
        }
    }
}

#[test]
fn every_sentence_of_craft_gives_one_readable_tree_over_its_words() {
    let Some(trees) = trees_of("craft/dev.mrg") else { return };
    let parser = Parser::open("english-small").unwrap();
    let mut worker = parser.worker();
    for tree in trees {
        let tokens: Vec<_> =
            tree.into_tokens().into_iter().filter(|token| token.tag != "-NONE-").collect();
        let parse = worker.parse(&tokens).unwrap();
        crate::common::assert_valid(&parse.tree, &tokens);
        let mut line = Vec::new();
        write_line(&parse.tree, &mut line).unwrap();
        assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
        let again = PennReader::new(&line[..], "again", Encoding::Utf8).read().unwrap().unwrap();
        assert!(srparse::oracle::replay::same_brackets(&again, &parse.tree));
        assert_eq!(again.tokens(), tokens);
    }
}

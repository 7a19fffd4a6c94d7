//! Any pattern and any rules: errors have a place, and what can be read is found as often as it is counted, or ends.

use srparse::Tree;
use srparse::find::transform::Rules;
use srparse::find::{Pattern, Searcher};

use super::start;

const TREE: &str = "( (S (NP-SBJ-1 (NP (DT the) (NN dog)) (, ,) (NP (A (A (A a)))) (E )) (VP (V (V v)) (NP (-NONE- *T*-1))) (. .)))";

pub fn check(bytes: &[u8]) {
    let text = start(bytes);
    let tree: Tree = TREE.parse().expect("a tree");
    if let Ok(pattern) = Pattern::parse(text) {
        let mut searcher = Searcher::new(&pattern);
        if let Ok(count) = searcher.count(&tree)
            && count < 10_000
        {
            assert_eq!(searcher.find(&tree).expect("it was counted").len() as u64, count);
            let once = Searcher::new(&pattern).once(true).count(&tree).expect("it was counted");
            assert!(once <= count && (once > 0) == (count > 0));
        }
    }
    if let Ok(rules) = Rules::parse(text, "fuzz") {
        let _ = rules.changer().change(tree);
    }
}

use super::*;
use crate::eval::{Evaluation, Status};

fn difference(gold: &str, test: &str) -> (Tree, Tree, Difference) {
    let mut evaluation = Evaluation::new(Params::default(), None);
    let (gold, test): (Tree, Tree) = (gold.parse().unwrap(), test.parse().unwrap());
    let (score, difference) =
        evaluation.add_with(&gold, &test, |pair| (pair.score.clone(), pair.difference()));
    assert_eq!(score.status, Status::Valid);
    let difference = difference.unwrap();
    let wrong = |marks: &[Mark]| {
        marks.iter().filter(|mark| matches!(mark, Mark::Wrong | Mark::Relabelled)).count() as u32
    };
    assert_eq!(wrong(&difference.gold), score.gold - score.matched);
    assert_eq!(wrong(&difference.test), score.test - score.matched);
    let explained = |nodes: fn(&ParseError) -> &Vec<NodeId>| {
        let mut all: Vec<NodeId> = difference.errors.iter().flat_map(nodes).copied().collect();
        let n = all.len() as u32;
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len() as u32, n, "a bracket belongs to one error");
        n
    };
    assert_eq!(explained(|error| &error.missed), score.gold - score.matched);
    assert_eq!(explained(|error| &error.spurious), score.test - score.matched);
    (gold, test, difference)
}

/// The errors as class, missed labels, spurious labels.
fn errors(gold: &str, test: &str) -> Vec<String> {
    let (gold, test, difference) = difference(gold, test);
    let labels = |tree: &Tree, ids: &[NodeId]| {
        ids.iter().map(|&id| tree.node(id).label.to_string()).collect::<Vec<_>>().join(" ")
    };
    let errors = difference.errors.iter();
    errors
        .map(|error| {
            let (missed, spurious) = (labels(&gold, &error.missed), labels(&test, &error.spurious));
            format!("{}: -[{missed}] +[{spurious}]", error.class)
        })
        .collect()
}

const HIGH: &str = "(TOP (S (NP (NNS dogs)) (VP (VBD saw) (NP (DT a) (NN cat)) (PP (IN in) (NP (NN rain)))) (. .)))";
const LOW: &str = "(TOP (S (NP (NNS dogs)) (VP (VBD saw) (NP (NP (DT a) (NN cat)) (PP (IN in) (NP (NN rain))))) \
                   (. .)))";

#[test]
fn equal_trees_have_no_errors() {
    let (_, _, difference) = difference(HIGH, HIGH);
    assert_eq!(difference.errors, []);
    assert_eq!(difference.gold, difference.test);
    assert_eq!(difference.gold.iter().filter(|mark| **mark == Mark::Unscored).count(), 1);
}

#[test]
fn a_phrase_attached_too_low_or_too_high_is_one_error() {
    assert_eq!(errors(HIGH, LOW), ["PP attachment: -[] +[NP]"]);
    assert_eq!(errors(LOW, HIGH), ["PP attachment: -[NP] +[]"]);
}

#[test]
fn all_brackets_that_are_wrong_by_the_same_words_are_one_error() {
    // "today" belongs to the main clause, not to "she left".
    let gold = "(TOP (S (NP (PRP he)) (VP (VBD said) (SBAR (S (NP (PRP she)) (VP (VBD left)))) \
                (ADVP (RB today)))))";
    let test = "(TOP (S (NP (PRP he)) (VP (VBD said) (SBAR (S (NP (PRP she)) (VP (VBD left) \
                (ADVP (RB today))))))))";
    assert_eq!(errors(gold, test), ["modifier attachment: -[SBAR S VP] +[SBAR S VP]"]);
}

#[test]
fn moved_conjunctions_are_errors_of_coordination() {
    let gold = "(TOP (NP (NP (NN bread)) (PP (IN with) (NP (NN ham) (CC and) (NN cheese)))))";
    let test = "(TOP (NP (NP (NN bread)) (PP (IN with) (NP (NN ham))) (CC and) (NP (NN cheese))))";
    let found = errors(gold, test);
    assert_eq!(found[0], "coordination: -[PP NP] +[PP NP]");
}

#[test]
fn other_errors_are_named_by_what_is_missed_or_spurious() {
    let gold = "(TOP (S (NP (NN a)) (VP (VB b) (ADJP (JJ c) (JJ d)))))";
    assert_eq!(
        errors(gold, "(TOP (S (NP (NN a)) (VP (VB b) (NP (JJ c) (JJ d)))))"),
        ["different label: -[ADJP] +[NP]"]
    );
    assert_eq!(errors("(TOP (S (VP (VB go))))", "(TOP (VP (VB go)))"), ["unary: -[S] +[]"]);
    let flat = "(TOP (NP (DT a) (JJ b) (NN c) (NN d)))";
    let nested = "(TOP (NP (DT a) (NML (JJ b) (NN c)) (NN d)))";
    assert_eq!(errors(flat, nested), ["NP internal structure: -[] +[NML]"]);
    assert_eq!(
        errors("(TOP (S (NN a) (VP (VB b) (NN c))))", "(TOP (S (ADVP (NN a)) (VP (VB b) (NN c))))"),
        ["single-word phrase: -[] +[ADVP]"]
    );
    assert_eq!(
        errors("(TOP (S (X a) (X b) (X c)))", "(TOP (S (PRN (X a) (X b)) (X c)))"),
        ["other: -[] +[PRN]"]
    );
}

#[test]
fn deep_chains_and_odd_trees_end() {
    let deep = |left: bool| {
        let mut text = String::new();
        for _ in 0..2_000 {
            text += if left { "(NP " } else { "(NP (NN a) " };
        }
        text += "(NN a)";
        for _ in 0..2_000 {
            text += if left { " (NN a))" } else { ")" };
        }
        format!("(TOP {text})")
    };
    let (_, _, difference) = difference(&deep(true), &deep(false));
    assert!(!difference.errors.is_empty());
    let mut evaluation = Evaluation::new(Params::default(), None);
    let (gold, none): (Tree, Tree) = (HIGH.parse().unwrap(), "(())".parse().unwrap());
    assert_eq!(evaluation.add_with(&gold, &none, |pair| pair.difference()), None);
}

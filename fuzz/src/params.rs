//! Any text: valid parameters can score pairs of trees, both well-formed and malformed.

use srparse::eval::{Evaluation, Params};

use super::start;

const PAIRS: [(&str, &str); 4] = [
    (
        "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))",
        "(TOP (S (DT the) (NN dog) (VBZ barks) (. .)))",
    ),
    ("(TOP (S (`` ``) (PRT (RP up)) ('' '')))", "(TOP (S (NP (`` \") (ADVP (RP up)) ('' ''))))"),
    ("(S (NN a))", "(())"),
    ("(S (NN a) (NN b))", "(S (NN a"),
];

pub fn check(bytes: &[u8]) {
    let text = start(bytes);
    let Ok(params) = Params::parse(text, "fuzz") else { return };
    let mut evaluation = Evaluation::new(params, None);
    for (gold, test) in PAIRS {
        evaluation.add_lines(gold, test);
    }
    let f1 = evaluation.all.f1();
    assert!((0.0..=100.0).contains(&f1), "{f1}");
}

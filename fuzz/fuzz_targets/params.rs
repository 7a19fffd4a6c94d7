//! Any text: parameters that read can score any pair of lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use srparse::eval::{Evaluation, Params};

fuzz_target!(|input: (&str, &str, &str)| {
    let (text, gold, test) = input;
    let Ok(params) = Params::parse(text, "fuzz") else { return };
    let mut evaluation = Evaluation::new(params, None);
    evaluation.add_lines(gold, test);
    let f1 = evaluation.all.f1();
    assert!((0.0..=100.0).contains(&f1), "{f1}");
});

//! Model files of every family with right checksums and contents that someone else made: each is refused, or parses
//! in little time and memory. Inputs of the fuzzer.

#![cfg(all(feature = "serve", feature = "train"))] // targets of the fuzzer train models and serve them
#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod fuzz;
mod settings;

#[path = "../../fuzz/src/lib.rs"]
#[allow(unreachable_pub)]
mod targets;

use std::alloc::System;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cap::Cap;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use srparse::{Model, Parser, Result, Tagger, Token};

use targets::hostile::{Choices, changed_header, damaged};
use targets::tiny;

/// Counts what is allocated.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// The tests run one after the other: what one allocates counts for all.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Known and unknown words and punctuation, in short sentences: a search may be set to look at everything.
fn sentences() -> Vec<Vec<Token>> {
    let mut sentences: Vec<Vec<Token>> =
        tiny::treebank().trees.iter().take(2).map(|tree| tree.tokens().to_vec()).collect();
    sentences.push(["?", "xyz", "\u{e9}"].map(|word| Token::new(word, word)).to_vec());
    sentences.push(Vec::new());
    sentences
}

/// Loads a model file; what loads must tag and parse, and give back all words.
fn use_model(bytes: &[u8]) -> Result<()> {
    let model = Model::from_bytes(bytes, "hostile.srm")?;
    let (parser, tagger) = (Parser::new(&model, &[]), Tagger::new(&model));
    for tokens in sentences() {
        let words = || tokens.iter().map(|token| token.word.as_str());
        if let Ok(tagger) = &tagger {
            let tagged = tagger.tag(words());
            assert!(tagged.iter().map(|token| token.word.as_str()).eq(words()));
        }
        if let Ok(parser) = &parser {
            assert_eq!(parser.parse(&tokens)?.tree.tokens(), tokens);
        }
    }
    if let Ok(parser) = &parser {
        for tree in tiny::treebank().trees.iter().take(2) {
            let cleaning = &parser.preset().clean;
            let _ = cleaning.strip(tree.clone()).map(|tree| cleaning.apply(tree));
        }
    }
    if model.header.preset["only_tagger"] == true { tagger.map(drop) } else { parser.map(drop) }
}

/// Uses a model file with no more memory than four times its size, and what any parser takes to work. An allocation
/// beyond that ends the test program with a message of the system.
fn use_in_little_memory(bytes: &[u8]) -> Result<()> {
    let limit = ALLOCATOR.allocated() + 4 * bytes.len() + (16 << 20);
    ALLOCATOR.set_limit(limit).unwrap();
    let result = use_model(bytes);
    ALLOCATOR.set_limit(usize::MAX).unwrap();
    result
}

/// Words that mean something to programmers of this program only.
const INTERNAL: [&str; 12] = [
    "u16",
    "u32",
    "u64",
    "f32 ",
    "f64",
    "usize",
    "enum",
    "sequence",
    "expected",
    "invalid type",
    "deserialize",
    "EOF",
];

#[test]
fn a_changed_model_is_refused_in_plain_words_or_parses() {
    let _alone = alone();
    let n: u64 = std::env::var("SRPARSE_CHANGES").map_or(60, |n| n.parse().unwrap());
    for (family, (name, ..)) in tiny::FAMILIES.iter().enumerate() {
        let file = tiny::model(family);
        use_model(file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut refused = 0;
        for seed in 0..n {
            let bytes: Vec<u8> = ChaCha8Rng::seed_from_u64(seed).random_iter().take(64).collect();
            let changed = damaged(file, &mut Choices(&bytes));
            println!("{name}, seed {seed}");
            let start = Instant::now();
            if let Err(error) = use_in_little_memory(&changed) {
                let said = error.to_string();
                let internal = INTERNAL.iter().find(|word| said.contains(**word));
                assert_eq!(internal, None, "{said}");
                refused += 1;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
        }
        assert!(refused > n / 2, "{name}: {refused} of {n}");
    }
}

/// The model of a family with another value in its header.
fn with_header(family: &str, pointer: &str, value: Value) -> Vec<u8> {
    let family = tiny::FAMILIES.iter().position(|(name, ..)| *name == family).unwrap();
    changed_header(tiny::model(family), |header| *header.pointer_mut(pointer).unwrap() = value)
}

#[test]
fn limits_beyond_reason_are_refused() {
    let _alone = alone();
    for (family, pointer) in [
        ("memory-based", "/system/max_unaries"),
        ("non-binary", "/system/max_unaries"),
        ("top-down stack-LSTM", "/system/max_opens"),
        ("network on positions", "/system/max_opens"),
        ("predictive trees", "/system/max_predictions"),
    ] {
        let said =
            use_in_little_memory(&with_header(family, pointer, (1u64 << 31).into())).unwrap_err();
        assert!(
            said.to_string().contains("2147483648 constituents between two words"),
            "{family}: {said}"
        );
        use_in_little_memory(&with_header(family, pointer, 50.into())).unwrap();
    }
    let steps = format!("s0{}.w\n", ".r".repeat(60_000));
    let said =
        use_in_little_memory(&with_header("memory-based", "/templates", steps.into())).unwrap_err();
    assert!(said.to_string().contains("more than 8 steps"), "{said}");
}

#[test]
fn head_rules_of_many_categories_are_harmless() {
    let _alone = alone();
    let categories: String = (0..100_000).map(|n| format!(" C{n}")).collect();
    let rules = format!("NP right{categories}\nVP left{categories}\n* left\n");
    use_in_little_memory(&with_header("memory-based", "/heads", rules.into())).unwrap();
}

#[test]
fn replacements_do_not_grow_words_without_limit() {
    let _alone = alone();
    let word = tiny::treebank().trees[0].tokens()[0].word.clone();
    let rules: Vec<String> = (0..60).map(|_| format!("{word} {word}{word}")).collect();
    use_in_little_memory(&with_header("memory-based", "/preset/clean/replace", rules.into()))
        .unwrap();
}

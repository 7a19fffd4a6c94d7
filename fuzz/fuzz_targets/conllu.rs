//! Any bytes: the iterator over sentences ends and returns at most one item per line.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use srparse::treebank::{Encoding, InputFormat, Sentences};

fuzz_target!(|bytes: &[u8]| {
    let input = Box::new(Cursor::new(bytes.to_vec()));
    let items = Sentences::from_reader(input, "fuzz", InputFormat::Conllu, Encoding::Utf8);
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
    assert!(items.map(|item| item.expect("memory can be read")).count() <= lines);
});

//! Any bytes as NEGRA export: the reader ends, and its trees survive writing and reading.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use srparse::treebank::Encoding;
use srparse::treebank::export::ExportReader;

fuzz_target!(|bytes: &[u8]| {
    let input = Box::new(Cursor::new(bytes.to_vec()));
    let mut reader = ExportReader::new(input, "fuzz", Encoding::Utf8);
    for _ in 0..=bytes.len() {
        match reader.read() {
            Ok(Some(tree)) => {
                let again = tree.to_string().parse().expect("written trees are readable");
                assert_eq!(tree.to_string(), srparse::Tree::to_string(&again));
            }
            Ok(None) => return,
            Err(_) => {}
        }
    }
    panic!("the reader does not end");
});

//! Any bytes: the iterator over sentences ends and returns at most one item per line.

use std::io::Cursor;

use srparse::treebank::{Encoding, InputFormat, Sentences};

pub fn check(bytes: &[u8]) {
    let input = Box::new(Cursor::new(bytes.to_vec()));
    let items = Sentences::from_reader(input, "fuzz", InputFormat::Conllu, Encoding::Utf8);
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
    assert!(items.inspect(|item| assert!(item.is_ok(), "{item:?}")).count() <= lines);
}

//! Any bytes: the reader ends, and its trees survive writing and reading.

use srparse::treebank::Encoding;
use srparse::treebank::penn::{PennReader, write_line, write_pretty};

pub fn check(bytes: &[u8]) {
    let mut reader = PennReader::new(bytes, "fuzz", Encoding::Utf8).lenient();
    for _ in 0..=bytes.len() {
        let tree = match reader.read() {
            Ok(Some(tree)) => tree,
            Ok(None) => return,
            Err(_) => continue,
        };
        let (mut line, mut pretty) = (Vec::new(), Vec::new());
        write_line(&tree, &mut line).expect("memory takes all");
        write_pretty(&tree, &mut pretty).expect("memory takes all");
        for text in [line, pretty] {
            let again = PennReader::new(&text[..], "again", Encoding::Utf8).read();
            assert_eq!(again.expect("written trees are readable"), Some(tree.clone()));
        }
    }
    panic!("the reader does not end");
}

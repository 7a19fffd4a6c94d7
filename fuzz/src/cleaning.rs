//! Any tree and any steps: removed tokens can be reattached, and cleaning is idempotent.

use srparse::treebank::Encoding;
use srparse::treebank::clean::{Cleaning, Functions, RootPolicy, reattach};
use srparse::treebank::penn::PennReader;

use super::split;

pub fn check(bytes: &[u8]) {
    let (low, bytes) = split(bytes);
    let (high, bytes) = split(bytes);
    let on = u16::from_le_bytes([low, high]);
    let on = |bit: u32| on & (1 << bit) != 0;
    let cleaning = Cleaning {
        traces: if on(0) { vec!["-NONE-".to_owned()] } else { Vec::new() },
        functions: if on(1) { Functions::Drop } else { Functions::Keep },
        prt_to_advp: on(2),
        quotes: on(3),
        raise_punctuation: on(4),
        outermost_punctuation: on(5),
        collapse_unaries: on(6),
        lowercase: on(7),
        root: if on(8) { RootPolicy::Top } else { RootPolicy::Keep },
        ..Cleaning::default()
    };
    let mut reader = PennReader::new(bytes, "fuzz", Encoding::Utf8).lenient();
    for _ in 0..=bytes.len() {
        let tree = match reader.read() {
            Ok(Some(tree)) => tree,
            Ok(None) => return,
            Err(_) => continue,
        };
        let tokens = tree.tokens().to_vec();
        let sentence = cleaning.apply_tokens(&tokens);
        let once = cleaning.apply(tree);
        assert_eq!(once.tokens(), sentence.tokens);
        assert_eq!(reattach(&once, &sentence.positions, &tokens).tokens(), tokens);
        assert_eq!(cleaning.apply(once.clone()), once);
    }
}

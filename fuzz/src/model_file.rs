//! Any bytes, and the model file of any family with any changes and right checksums: the model is refused, or it tags
//! and parses.

use srparse::{Model, Parser, Tagger, Token};

use super::hostile::{Choices, damaged};
use super::{split, tiny};

/// Whatever loads must tag and parse.
fn use_model(bytes: &[u8]) {
    let Ok(model) = Model::from_bytes(bytes, "fuzz.srm") else { return };
    let tokens = [("the", "DT"), ("dog", "NN"), ("zebra", "?"), (".", "."), ("it", "")];
    let tokens = tokens.map(|(word, tag)| Token::new(word, tag));
    let tagger = Tagger::new(&model);
    if let Ok(tagger) = &tagger {
        tagger.tag(tokens.iter().map(|token| token.word.as_str()));
    }
    let Ok(parser) = Parser::new(&model, &[]) else { return };
    let n_tagged = if tagger.is_ok() { tokens.len() } else { tokens.len() - 1 };
    for n in 0..=n_tagged {
        let parse = parser.parse(&tokens[..n]).expect("tagged tokens are parsed");
        assert!(parse.tree.tokens().iter().zip(&tokens).all(|(own, given)| own.word == given.word));
        assert_eq!(parse.tree.tokens().len(), n);
    }
}

pub fn check(bytes: &[u8]) {
    let (family, bytes) = split(bytes);
    match tiny::FAMILIES.get(usize::from(family) % (tiny::FAMILIES.len() + 1)) {
        Some(_) => {
            let file = tiny::model(usize::from(family) % (tiny::FAMILIES.len() + 1));
            use_model(&damaged(file, &mut Choices(bytes)));
        }
        None => use_model(bytes),
    }
}

//! Any bytes, any header with a correct checksum, and a valid model with any bytes changed and correct
//! checksums: the model is refused, or it parses.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use srparse::memory::{Array, Memory};
use srparse::model::file;
use srparse::preset::TaggerChoice;
use srparse::treebank::Encoding;
use srparse::treebank::penn::PennReader;
use srparse::{Model, Parser, Preset, Tagger, Token, Trainer, Treebank};

/// A model of two sentences.
static SMALL: LazyLock<Model> = LazyLock::new(|| {
    let text = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))\n\
                (TOP (S (NP (PRP it)) (VP (VBZ sees) (NP (DT a) (JJ red) (NN cat)))))\n";
    let mut reader = PennReader::new(text.as_bytes(), "small", Encoding::Utf8);
    let mut train = Treebank::default();
    while let Ok(Some(tree)) = reader.read() {
        train.trees.push(tree);
    }
    let mut preset = Preset::load("fast", &["epochs=2".to_owned()]).expect("a built-in preset");
    preset.tagger = TaggerChoice::default();
    let trainer = Trainer::with_preset(preset).expect("a built-in preset");
    trainer.train(&train, &Treebank::default()).expect("two good trees")
});

/// Whatever loads must tag and parse.
fn use_model(model: &Model) {
    let tokens = [Token::new("the", "DT"), Token::new("zebra", "NN"), Token::new("?", "?")];
    if let Ok(tagger) = Tagger::new(model) {
        tagger.tag(tokens.iter().map(|token| token.word.as_str()));
    }
    let Ok(parser) = Parser::new(model, &[]) else { return };
    for n in 0..=tokens.len() {
        let parse = parser.parse(&tokens[..n]).expect("tagged tokens are parsed");
        assert_eq!(parse.tree.tokens(), &tokens[..n]);
    }
}

fuzz_target!(|input: (u8, u16, &[u8])| {
    let (way, at, bytes) = input;
    let path = Path::new("fuzz.srm");
    match way % 3 {
        0 => drop(file::read_memory(Memory::owned(bytes), path).map(|model| use_model(&model))),
        1 => {
            let mut whole = b"SRPARSE\0".to_vec();
            whole.extend(file::FORMAT_VERSION.to_le_bytes());
            whole.extend((bytes.len() as u32).to_le_bytes());
            whole.extend(crc32fast::hash(bytes).to_le_bytes());
            whole.extend(bytes);
            drop(file::read_memory(Memory::owned(&whole), path).map(|model| use_model(&model)));
        }
        _ => {
            let mut model = SMALL.clone();
            let which = usize::from(at) % model.sections.0.len();
            let section = &mut model.sections.0[which].bytes;
            let mut changed = section.to_vec();
            let from = usize::from(at) % changed.len().max(1);
            for (old, new) in changed[from..].iter_mut().zip(bytes) {
                *old = *new;
            }
            *section = Array::Owned(changed);
            use_model(&model);
        }
    }
});

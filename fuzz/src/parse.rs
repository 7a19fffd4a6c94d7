//! A family and any bytes in any input format: a tiny model of the family parses and tags what can be read, gives back
//! every word, and its trees can be written and read in every output format.

use std::io::Cursor;
use std::sync::OnceLock;

use srparse::NbestRequest;
use srparse::treebank::penn::{PennReader, write_line};
use srparse::treebank::{Encoding, InputFormat, Item, Sentences};
use srparse::{Model, Parser, Tagger, Token};

use super::{split, tiny};

/// Longer sentences of a mutated input say nothing new and take long.
const MAX_WORDS: usize = 40;

struct Loaded {
    parser: Option<Parser>,
    tagger: Tagger,
}

fn loaded(family: usize) -> &'static Loaded {
    static ALL: [OnceLock<Loaded>; tiny::FAMILIES.len()] =
        [const { OnceLock::new() }; tiny::FAMILIES.len()];
    ALL[family].get_or_init(|| {
        let model = Model::from_bytes(tiny::model(family), "tiny").expect("its own bytes");
        let tagger = Tagger::new(&model).expect("every tiny model has a tagger");
        Loaded { parser: Parser::new(&model, &[]).ok(), tagger }
    })
}

fn check_sentence(Loaded { parser, tagger }: &Loaded, tokens: &[Token]) {
    let words = || tokens.iter().map(|token| token.word.as_str());
    assert!(tagger.tag(words()).iter().map(|token| token.word.as_str()).eq(words()));
    let Some(parser) = parser else { return };
    let mut worker = parser.worker();
    let request = NbestRequest { trees: 3, constituents: true };
    let parses = worker.parse_nbest(tokens, request).expect("missing tags are supplied");
    let best = worker.parse(tokens).expect("missing tags are supplied");
    assert_eq!(parses[0].tree, best.tree);
    for parse in &parses {
        assert!(parse.tree.tokens().iter().map(|token| token.word.as_str()).eq(words()));
        let mut line = Vec::new();
        write_line(&parse.tree, &mut line).expect("memory takes all");
        let again =
            PennReader::new(&line[..], "again", Encoding::Utf8).read().expect("a written tree");
        assert_eq!(again.expect("one tree").tokens().len(), tokens.len());
    }
}

pub fn check(bytes: &[u8]) {
    let (family, bytes) = split(bytes);
    let (format, bytes) = split(bytes);
    let model = loaded(usize::from(family) % tiny::FAMILIES.len());
    let format = InputFormat::NAMES[usize::from(format) % InputFormat::NAMES.len()];
    let format: InputFormat = format.parse().expect("a known name");
    let input = Box::new(Cursor::new(bytes.to_vec()));
    for item in Sentences::from_reader(input, "fuzz", format, Encoding::Utf8).take(3) {
        let Ok(Item::Sentence(tokens, _)) = item else { continue };
        check_sentence(model, &tokens[..tokens.len().min(MAX_WORDS)]);
    }
}

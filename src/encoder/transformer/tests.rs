//! Hidden states are those of the reference implementation; see `tests/encoders/make.py`.

use std::path::Path;

use serde::Deserialize;

use super::*;
use crate::checkpoint::Checkpoint;
use crate::neural::Tape;
use crate::symbols::{Form, Lists, VocabularySizes};

#[derive(Deserialize)]
struct Golden {
    sentences: Vec<GoldenSentence>,
}

#[derive(Deserialize)]
struct GoldenSentence {
    pieces: Vec<Vec<u32>>,
    /// A row for each piece, with the marks of the start and the end.
    hidden: Vec<Vec<f32>>,
}

fn read(family: &str) -> (Arc<Pretrained>, Golden) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encoders").join(family);
    let checkpoint = Checkpoint::open(&folder).unwrap();
    let weights = Some(checkpoint.weights().unwrap());
    let golden = std::fs::read(folder.join("golden.json")).unwrap();
    let pretrained = Pretrained { config: checkpoint.config().clone(), weights };
    (Arc::new(pretrained), serde_json::from_slice(&golden).unwrap())
}

/// An encoder without tags, and its parameters.
fn encoder(pretrained: &Arc<Pretrained>) -> (TransformerEncoder, Params) {
    let sizes = VocabularySizes { words: 1, tags: 3, parts: 1 };
    let encoder = Some(Arc::clone(pretrained));
    let words = WordInventory { sizes, ngrams: Arc::default(), pretrained: None, encoder };
    let mut builder = Builder::new(Some(1));
    let settings = TransformerParams::default();
    let matrices = TransformerMatrices::new(&settings, &words, &mut builder).unwrap();
    let encoder = matrices.with_tables(&words, &mut builder);
    let mut params = builder.finish().unwrap();
    encoder.initialize(&mut params);
    (encoder, params)
}

#[test]
fn hidden_states_are_those_of_the_reference() {
    for (family, marks) in [
        ("bert", [2, 3]),
        ("distilbert", [2, 3]),
        ("electra", [2, 3]),
        ("roberta", [0, 2]),
        ("xlm-roberta", [0, 2]),
    ] {
        let (pretrained, golden) = read(family);
        let (encoder, params) = encoder(&pretrained);
        let sentence = |golden: &GoldenSentence| {
            let mut pieces = Lists::default();
            golden.pieces.iter().for_each(|own| pieces.push(|out| out.extend(own)));
            let n = golden.pieces.len();
            let (words, tags) = (vec![2; n], vec![2; n]);
            let forms = vec![Form::default(); n];
            Sentence { words, tags, forms, pieces, piece_marks: marks, ..Sentence::default() }
        };
        let sentences: Vec<Sentence> = golden.sentences.iter().map(sentence).collect();
        let sentences: Vec<&Sentence> = sentences.iter().collect();
        let mut tape = Tape::default();
        let encoded = encoder.record(&mut tape, &params, &sentences, &mut []);
        let states = tape.of(encoded.states);
        let width = pretrained.config.width;
        for (number, golden) in golden.sentences.iter().enumerate() {
            let mut rows = golden.hidden.iter();
            let lengths = golden.pieces.iter().map(Vec::len);
            for (position, n) in [1].into_iter().chain(lengths).chain([1]).enumerate() {
                let rows: Vec<&Vec<f32>> = rows.by_ref().take(n).collect();
                let own = &states[encoded.row(number, position) * width..][..width];
                for (at, &state) in own.iter().enumerate() {
                    let mean = rows.iter().map(|row| row[at]).sum::<f32>() / n as f32;
                    assert!((state - mean).abs() < 1e-4, "{family}: {state} {mean}");
                }
            }
            assert_eq!(rows.next(), None);
        }
    }
}

//! The folder of a pretrained encoder with one file that someone else made: it is refused, or read in little memory, and
//! what is read tokenizes any word. The same for a tokenizer as a model stores it.

use std::fs;
use std::path::Path;

use srparse::checkpoint::Checkpoint;
use srparse::pieces::PieceTokenizer;
use tempfile::TempDir;

use super::{split, tiny};

const FAMILIES: [&str; 5] = ["bert", "distilbert", "electra", "roberta", "xlm-roberta"];
const FILES: [&str; 4] = ["config.json", "model.safetensors", "tokenizer.json", "vocab.txt"];

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("a temporary folder");
}

/// Copies a family, except for the file that is replaced.
fn prepare(folder: &Path, family: &str, replaced: &str, bytes: &[u8]) {
    let from = tiny::encoders().join(family);
    for old in fs::read_dir(folder).expect("a folder").flatten() {
        fs::remove_file(old.path()).expect("a file");
    }
    for file in fs::read_dir(from).expect("a folder").flatten() {
        fs::copy(file.path(), folder.join(file.file_name())).expect("a copy");
    }
    fs::write(folder.join(replaced), bytes).expect("a file");
}

fn tokenize(tokenizer: &PieceTokenizer) {
    let mut pieces = Vec::new();
    for word in ["", "the", "Élan", "馬", "-LRB-", "\u{0}", "zzzzzzzzzzzzzzzzzzzzzzzz"] {
        pieces.clear();
        tokenizer.pieces(word, &mut pieces);
        assert!(!pieces.is_empty());
        assert!(pieces.iter().all(|&piece| (piece as usize) < tokenizer.len()));
    }
}

pub fn check(bytes: &[u8]) {
    let (choice, bytes) = split(bytes);
    let choice = usize::from(choice);
    let Some(file) = FILES.get(choice % (FILES.len() + 1)) else {
        if let Ok(tokenizer) = PieceTokenizer::from_bytes(bytes) {
            tokenize(&tokenizer);
        }
        return;
    };
    let family = FAMILIES[choice / (FILES.len() + 1) % FAMILIES.len()];
    FOLDER.with(|folder| {
        prepare(folder.path(), family, file, bytes);
        let Ok(checkpoint) = Checkpoint::open(folder.path()) else { return };
        let _ = checkpoint.weights();
        if let Ok(tokenizer) = checkpoint.tokenizer() {
            tokenize(&tokenizer);
        }
    });
}

//! What holds for any input, a function for each target. `fuzz/soak` searches for inputs that break it; the tests replay
//! the inputs in `fuzz/seeds`, and changed copies of them.

pub mod checkpoint;
pub mod cleaning;
pub mod conllu;
pub mod find;
pub mod graphs;
pub mod head_rules;
pub mod model_file;
pub mod params;
pub mod parse;
pub mod penn;
pub mod preset;
pub mod serve;
pub mod tagged;
pub mod templates;
pub mod text;

#[path = "../../tests/common/hostile.rs"]
#[allow(dead_code)]
pub mod hostile;
#[path = "../../tests/common/tiny.rs"]
pub mod tiny;

/// The first byte, which chooses something (0 where nothing is left), and the rest.
fn split(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(&first, rest)| (first, rest))
}

/// The longest start of the bytes that is text.
fn start(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

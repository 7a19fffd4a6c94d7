//! Any line: its tokens survive writing and reading.

use srparse::treebank::tagged::{TaggedFormat, parse_line, write_line};

use super::start;

pub fn check(bytes: &[u8]) {
    let line = start(bytes);
    for format in [TaggedFormat::Slash, TaggedFormat::Underscore] {
        let Ok(tokens) = parse_line(line, format) else { continue };
        let mut text = Vec::new();
        write_line(&tokens, format, &mut text).expect("memory takes all");
        let text = String::from_utf8(text).expect("text stays text");
        assert_eq!(parse_line(&text, format).expect("written lines are readable"), tokens);
    }
}

//! Any text: valid head rules choose an existing child and survive writing and reading. The words of the text
//! serve as labels, so that rules apply.

use srparse::tree::heads::HeadRules;

use super::start;

pub fn check(bytes: &[u8]) {
    let text = start(bytes);
    let Ok(rules) = HeadRules::parse(text, "fuzz") else { return };
    let again = HeadRules::parse(rules.text(), "again").expect("its own text is readable");
    let words: Vec<&str> = text.split([' ', '\t', '\n', '|']).take(200).collect();
    for (label, children) in words.iter().zip(words.chunks(5)) {
        let head = rules.head_of(label, children);
        assert!(head < children.len());
        assert_eq!(head, again.head_of(label, children));
    }
}

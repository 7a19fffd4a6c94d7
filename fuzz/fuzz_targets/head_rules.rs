//! Any text: head rules that read choose a child that is there, and read the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use srparse::tree::heads::HeadRules;

fuzz_target!(|input: (&str, Vec<&str>, &str)| {
    let (text, children, label) = input;
    let Ok(rules) = HeadRules::parse(text, "fuzz") else { return };
    let again = HeadRules::parse(rules.text(), "again").expect("its own text is readable");
    if !children.is_empty() {
        let head = rules.head_of(label, &children);
        assert!(head < children.len());
        assert_eq!(head, again.head_of(label, &children));
    }
});

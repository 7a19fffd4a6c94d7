//! Patterns of labels and words.

/// Returns whether a text matches a pattern in which `wildcard` stands for any characters.
pub(super) fn matches(pattern: &str, wildcard: &str, text: &str) -> bool {
    // Most texts differ in the first character.
    if pattern.as_bytes().first() != text.as_bytes().first() && !pattern.starts_with(wildcard) {
        return false;
    }
    let Some((start, rest)) = pattern.split_once(wildcard) else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let (between, end) = rest.rsplit_once(wildcard).unwrap_or(("", rest));
    for piece in between.split(wildcard) {
        let Some(at) = text.find(piece) else { return false };
        text = &text[at + piece.len()..];
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_stands_for_any_characters_and_everything_else_for_itself() {
        for (pattern, text, expected) in [
            ("ID", "ID", true),
            ("ID", "IDX", false),
            ("CODE*", "CODE", true),
            ("CODE*", "CODE-1", true),
            ("*ID", "METAID", true),
            ("A*B*C", "A-BB-C", true),
            ("A*B*C", "A-C", false),
            ("AA*A", "AA", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, "*", text), expected, "{pattern} {text}");
        }
        assert!(matches("*T*...", "...", "*T*-1"));
        assert!(!matches("*T*...", "...", "*ICH*-1"));
        assert!(!matches("*", "...", "word"));
        assert!(matches("{...}", "...", "{með}"));
    }
}

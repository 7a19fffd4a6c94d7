//! Hyphens and slashes that do not separate words although others do.

/// First parts of hyphenated words that are not split off, as in the treebanks of GUM and CRAFT.
const PREFIXES: &[&str] = &[
    "anti", "auto", "co", "counter", "cross", "de", "dis", "ex", "extra", "hetero", "homo",
    "hyper", "inter", "intra", "macro", "mal", "meta", "micro", "mid", "mini", "mis", "mono",
    "multi", "neo", "non", "over", "pan", "peri", "poly", "post", "pre", "pro", "pseudo", "re",
    "semi", "sub", "super", "supra", "ultra", "un", "uni",
];

/// Last parts of hyphenated words that are not split off.
const SUFFIXES: &[&str] =
    &["esque", "fold", "ish", "less", "mail", "mails", "most", "ness", "ray", "rays", "wise"];

/// The longest prefix, in bytes.
const LONGEST_PREFIX: usize = 7;

/// Words after a suspended hyphen: `pre-and postnatal`.
const CONJUNCTIONS: &[&str] = &["and", "or", "to"];

/// Whether a character is a hyphen.
pub(super) fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}' | '\u{2011}')
}

/// Whether the hyphen at `at` belongs to the word from `start` on.
pub(super) fn stays(chunk: &str, start: usize, at: usize) -> bool {
    let word = &chunk[start..at];
    let rest = chunk[at..].trim_start_matches(is_hyphen);
    let next = &rest[..rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())];
    let is_in =
        |list: &[&str], part: &str| list.iter().any(|known| part.eq_ignore_ascii_case(known));
    let is_prefix = word.len() <= LONGEST_PREFIX
        && is_in(PREFIXES, word)
        && !word.chars().skip(1).any(char::is_uppercase)
        && !is_in(CONJUNCTIONS, next);
    is_prefix || is_in(SUFFIXES, next) || is_telephone_number(&chunk.as_bytes()[start..])
}

/// Whether a hyphen marks a word that was broken off, as in `wh- what`. Other hyphens at the end of a word
/// are suspended, as in `pre- and postnatal`.
pub(super) fn breaks_off(word: &str) -> bool {
    let is_consonant = |byte: u8| byte.is_ascii_lowercase() && !b"aeiou".contains(&byte);
    word.len() <= 3 && word.bytes().all(is_consonant)
}

/// Whether a text begins with a telephone number: `555-0123`, `800-555-0123`.
fn is_telephone_number(text: &[u8]) -> bool {
    let is_part = |byte: &&u8| byte.is_ascii_digit() || **byte == b'-';
    let number = &text[..text.iter().take(16).take_while(is_part).count()];
    let mut groups = number.split(|&byte| byte == b'-').map(<[u8]>::len).rev();
    groups.next() == Some(4) && groups.all(|length| length == 3 || length == 1)
}

/// Whether a slash between `word` and `rest` belongs to `w/o`, `w/`, `c/o` or `b/c`.
pub(super) fn is_short_form(word: &str, rest: &str) -> bool {
    let letters = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    let second: &[&str] = match word {
        "w" | "W" => &["", "o"],
        "c" => &["o"],
        "b" => &["c"],
        _ => return false,
    };
    second.contains(&&rest[..letters]) && !rest[letters..].starts_with('/')
}

/// The longest fraction or date, in bytes.
const LONGEST_FRACTION: usize = 10;

/// Whether a fraction or a date begins at `start`: `1/2`, `9/11`, `3/14/1879`.
pub(super) fn is_fraction(chunk: &str, start: usize) -> bool {
    let text = &chunk.as_bytes()[start..];
    let is_part = |byte: &&u8| byte.is_ascii_digit() || **byte == b'/';
    let length = text.iter().take(LONGEST_FRACTION + 1).take_while(is_part).count();
    let stands_alone = length <= LONGEST_FRACTION
        && !chunk[..start].ends_with(|c: char| c.is_alphanumeric() || c == '/')
        && !chunk[start + length..].starts_with(char::is_alphanumeric);
    let lengths: Vec<usize> = text[..length].split(|&byte| byte == b'/').map(<[u8]>::len).collect();
    stands_alone && matches!(lengths[..], [1 | 2, 1 | 2] | [1 | 2, 1 | 2, 1 | 2 | 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_suffixes_and_telephone_numbers_keep_their_hyphen() {
        let stay = |chunk: &str| stays(chunk, 0, chunk.find(is_hyphen).unwrap());
        for chunk in
            ["non-human", "Re-read", "anti-Abc1", "two-fold", "x-ray", "555-0123", "1-800-555-0123"]
        {
            assert!(stay(chunk), "{chunk}");
        }
        for chunk in
            ["wild-type", "CO-bound", "mid-to", "10-20", "2001-02-03", "a-folding", "5550-123"]
        {
            assert!(!stay(chunk), "{chunk}");
        }
    }

    #[test]
    fn short_forms_keep_their_slash() {
        for (word, rest) in
            [("w", "o sugar"), ("w", " milk"), ("c", "o Ann"), ("b", "c of"), ("W", "o a")]
        {
            assert!(is_short_form(word, rest), "{word}/{rest}");
        }
        for (word, rest) in
            [("a", "b"), ("w", "out"), ("c", "d"), ("w", "/x"), ("B", "C"), ("W", "O")]
        {
            assert!(!is_short_form(word, rest), "{word}/{rest}");
        }
    }

    #[test]
    fn fractions_and_dates_stand_alone() {
        for chunk in ["1/2", "9/11", "3/14/1879", "3/14/79,", "1/2-inch"] {
            assert!(is_fraction(chunk, 0), "{chunk}");
        }
        for chunk in ["1/2/3/4", "1/2b", "1/200", "1900/2000", "1/"] {
            assert!(!is_fraction(chunk, 0), "{chunk}");
        }
        assert!(!is_fraction("4/5/6", 2) && is_fraction("(5/6", 1));
    }
}

//! English contractions: `don't` is `do n't`, `dog's` is `dog 's`, `gonna` is `gon na`; without
//! apostrophes, as many people write them: `dont` is `do nt`, as in the English Web Treebank.

/// Words that are split in two, and where the second begins.
const JOINED: &[(&str, usize)] = &[
    ("cannot", 3),
    ("d'ye", 2),
    ("d'you", 2),
    ("gimme", 3),
    ("gonna", 3),
    ("gotta", 3),
    ("lemme", 3),
    ("more'n", 4),
    ("wanna", 3),
    ("y'all", 2),
    ("y'know", 2),
];

/// Contractions written without an apostrophe that are hardly ever another word, and where the second token begins.
/// (`its`, `ill`, `id`, `were`, `well`, `lets` are other words.)
const WITHOUT_APOSTROPHE: &[(&str, usize)] = &[
    ("aint", 2),
    ("arent", 3),
    ("cant", 2),
    ("couldnt", 5),
    ("couldve", 5),
    ("didnt", 3),
    ("doesnt", 4),
    ("dont", 2),
    ("hadnt", 3),
    ("hasnt", 3),
    ("havent", 4),
    ("hes", 2),
    ("im", 1),
    ("isnt", 2),
    ("itll", 2),
    ("ive", 1),
    ("shes", 3),
    ("shouldnt", 6),
    ("shouldve", 6),
    ("thatll", 4),
    ("thats", 4),
    ("theres", 5),
    ("theyd", 4),
    ("theyll", 4),
    ("theyre", 4),
    ("theyve", 4),
    ("wasnt", 3),
    ("werent", 4),
    ("weve", 2),
    ("whats", 4),
    ("wheres", 5),
    ("whos", 3),
    ("wont", 2),
    ("wouldnt", 5),
    ("wouldve", 5),
    ("youd", 3),
    ("youll", 3),
    ("youre", 3),
    ("youve", 3),
];

/// The letters of clitics after an apostrophe.
const CLITICS: &[&str] = &["s", "m", "d", "re", "ve", "ll"];

/// Words whose first letters are replaced by an apostrophe.
const ELISIONS: &[&str] = &["em", "im", "er", "ere", "til", "cause", "cos", "bout", "round", "cuz"];

/// Words whose last letters are replaced by an apostrophe, besides those that end with `in'`.
const CUT_SHORT: &[&str] = &["an", "lil", "o", "ol", "th"];

/// The straight apostrophe and the typographic one.
pub(super) const APOSTROPHES: [char; 2] = ['\'', '\u{2019}'];

/// Where the last token of a word begins; 0 if it is one token.
pub(super) fn last_token(word: &str) -> usize {
    let mut whole = JOINED.iter().chain(WITHOUT_APOSTROPHE);
    if let Some((_, at)) = whole.find(|(whole, _)| word.eq_ignore_ascii_case(whole)) {
        return *at;
    }
    let Some(apostrophe) = word.rfind(APOSTROPHES) else { return 0 };
    let before = &word[..apostrophe];
    let after = word[apostrophe..].trim_start_matches(APOSTROPHES);
    if CLITICS.iter().any(|clitic| after.eq_ignore_ascii_case(clitic)) {
        apostrophe
    } else if after.eq_ignore_ascii_case("t") && before.len() > 1 && before.ends_with(['n', 'N']) {
        apostrophe - 1
    } else {
        0
    }
}

/// The length of the token that begins with an apostrophe: a clitic alone (`'s`), or a word without its
/// first letters (`'em`, `'80s`). `None` for a quotation mark. `glued` is whether it follows another
/// character without white space.
pub(super) fn clipped(text: &str, glued: bool) -> Option<usize> {
    let apostrophe = text.chars().next().filter(|c| APOSTROPHES.contains(c))?.len_utf8();
    let rest = &text[apostrophe..];
    let word = &rest[..rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())];
    let is_in = |list: &[&str]| list.iter().any(|known| word.eq_ignore_ascii_case(known));
    if is_in(&["tis", "twas"]) {
        return Some(apostrophe + 1);
    }
    let is_clitic = is_in(CLITICS) && (glued || word.len() == rest.len());
    // An apostrophe after the word closes a quotation, but in `rock 'n' roll`.
    let last = rest[word.len()..].chars().next().filter(|c| APOSTROPHES.contains(c));
    let is_word =
        !glued && (is_in(&["n"]) || last.is_none() && (is_in(ELISIONS) || is_decade(word)));
    let last = last.filter(|_| is_word);
    (is_clitic || is_word).then_some(apostrophe + word.len() + last.map_or(0, char::len_utf8))
}

/// The length of the apostrophe after a word of `length` bytes that stands for its last letters: `goin'`, `ol'`. It may close a
/// quotation too, and names such as `Martin` are taken.
pub(super) fn cut_short(text: &str, length: usize) -> Option<usize> {
    let (word, rest) = text.split_at(length);
    let apostrophe = rest.chars().next().filter(|c| APOSTROPHES.contains(c))?.len_utf8();
    let is_cut = CUT_SHORT.iter().any(|known| word.eq_ignore_ascii_case(known))
        || word.len() >= 4
            && word.bytes().all(|byte| byte.is_ascii_alphabetic())
            && word.get(word.len() - 2..).is_some_and(|end| end.eq_ignore_ascii_case("in"));
    (is_cut && !rest[apostrophe..].starts_with(char::is_alphanumeric)).then_some(apostrophe)
}

/// Whether it is `80s` or `80`.
fn is_decade(word: &str) -> bool {
    let digits = word.strip_suffix('s').unwrap_or(word);
    digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_token_of_a_contraction_is_found() {
        for (word, token) in [
            ("don't", "n't"),
            ("CAN\u{2019}T", "N\u{2019}T"),
            ("dog's", "'s"),
            ("we\u{2019}ve", "\u{2019}ve"),
            ("shouldn't've", "'ve"),
            ("Gonna", "na"),
            ("cannot", "not"),
            ("Dont", "nt"),
            ("thats", "s"),
            ("im", "m"),
        ] {
            assert_eq!(&word[last_token(word)..], token, "{word}");
        }
        for word in
            ["O'Neill", "rock'n'roll", "n't", "o'clock", "can", "d'Ettorre", "its", "want", "times"]
        {
            assert_eq!(last_token(word), 0, "{word}");
        }
    }

    #[test]
    fn apostrophes_at_the_end_stand_for_letters() {
        for (text, length) in [("goin' home", 4), ("ol\u{2019}", 2), ("Th' end", 2), ("SINGIN'", 6)]
        {
            assert!(cut_short(text, length).is_some(), "{text}");
        }
        for (text, length) in [("dogs' food", 4), ("in'", 2), ("goin'g", 4), ("Robin's", 5)] {
            assert_eq!(cut_short(text, length), None, "{text}");
        }
    }

    #[test]
    fn apostrophes_at_the_beginning_stand_for_letters_or_quote() {
        assert_eq!(clipped("'em.", false), Some(3));
        assert_eq!(clipped("\u{2019}80s", false), Some(6));
        assert_eq!(clipped("'twas", false), Some(2));
        assert_eq!(clipped("'s", false), Some(2));
        assert_eq!(clipped("'s,", true), Some(2));
        assert_eq!(clipped("'n' roll", false), Some(3));
        assert_eq!(clipped("'im.", false), Some(3));
        for text in ["'house'", "''", "'", "'s house'", "emu", "'er' twice", "'80s'"] {
            assert_eq!(clipped(text, false), None, "{text}");
        }
        assert_eq!(clipped("'em", true), None);
    }
}

//! Scripts without spaces between words.

/// Whether words of the character's script are written without spaces between them: Han, Kana, Thai, Lao, Tibetan,
/// Burmese and Khmer.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e01}'..='\u{eff}'
        | '\u{f00}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Whether most letters of a text are of such scripts.
pub(super) fn is_mostly_unspaced<'t>(words: impl IntoIterator<Item = &'t str>) -> bool {
    let (mut unspaced, mut letters) = (0_u64, 0_u64);
    for c in words.into_iter().flat_map(str::chars).filter(|c| c.is_alphabetic()) {
        letters += 1;
        unspaced += u64::from(is_unspaced(c));
    }
    2 * unspaced > letters
}

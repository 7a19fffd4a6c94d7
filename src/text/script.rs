//! Scripts without spaces between words.

/// A script whose words are written without spaces between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Thai,
    Lao,
    Tibetan,
    Burmese,
    Khmer,
    /// Chinese and Japanese.
    HanOrKana,
}

impl Script {
    pub(super) const ALL: [Self; 6] =
        [Self::Thai, Self::Lao, Self::Tibetan, Self::Burmese, Self::Khmer, Self::HanOrKana];

    fn of(c: char) -> Option<Self> {
        match c {
            '\u{e01}'..='\u{e7f}' => Some(Self::Thai),
            '\u{e80}'..='\u{eff}' => Some(Self::Lao),
            '\u{f00}'..='\u{fff}' => Some(Self::Tibetan),
            '\u{1000}'..='\u{109f}' => Some(Self::Burmese),
            '\u{1780}'..='\u{17ff}' => Some(Self::Khmer),
            '\u{3005}'..='\u{3007}'
            | '\u{3041}'..='\u{30ff}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ff9f}'
            | '\u{20000}'..='\u{3ffff}' => Some(Self::HanOrKana),
            _ => None,
        }
    }

    /// The script of most letters of a text, if it is one of these.
    pub(super) fn of_text<'t>(words: impl IntoIterator<Item = &'t str>) -> Option<Self> {
        let (mut counts, mut letters) = ([0_u64; Self::ALL.len()], 0_u64);
        for c in words.into_iter().flat_map(str::chars).filter(|c| c.is_alphabetic()) {
            letters += 1;
            if let Some(script) = Self::of(c) {
                counts[script as usize] += 1;
            }
        }
        let most = Self::ALL.into_iter().max_by_key(|&script| counts[script as usize]);
        most.filter(|_| 2 * counts.iter().sum::<u64>() > letters)
    }

    /// Its characters, without the rare ones of Chinese.
    pub(super) fn characters(self) -> impl Iterator<Item = char> {
        ('\u{e01}'..='\u{30ff}')
            .chain('\u{4e00}'..='\u{9fff}')
            .filter(move |&c| Self::of(c) == Some(self))
    }
}

/// Whether words of the character's script are written without spaces between them.
pub(super) fn is_unspaced(c: char) -> bool {
    Script::of(c).is_some()
}

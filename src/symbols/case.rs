//! Capital letters of words.

/// The number of cases.
pub const CASES: usize = 7;

/// How a word is capitalized.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Case {
    /// No letter and no digit.
    #[default]
    None,
    /// Digits, but no letter.
    Digits,
    /// No capital.
    Lower,
    /// The first letter alone is a capital, before others.
    Initial,
    /// One letter, a capital.
    Letter,
    /// All letters are capitals.
    Upper,
    /// Capitals elsewhere.
    Mixed,
}

impl Case {
    /// The case of a word.
    pub fn of(word: &str) -> Self {
        let (mut letters, mut capitals, mut starts_with_one) = (0, 0, false);
        for letter in word.chars().filter(|letter| letter.is_alphabetic()) {
            capitals += u32::from(letter.is_uppercase());
            starts_with_one |= letters == 0 && capitals == 1;
            letters += 1;
        }
        match (letters, capitals) {
            (0, _) if word.contains(char::is_numeric) => Self::Digits,
            (0, _) => Self::None,
            (_, 0) => Self::Lower,
            (1, 1) => Self::Letter,
            (_, 1) if starts_with_one => Self::Initial,
            _ if letters == capitals => Self::Upper,
            _ => Self::Mixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_cases() {
        let words = ["...", "12.5", "dog", "Dog", "I", "DNA", "mRNA", "IgG", "É", "Élan", "馬"];
        use Case::{Digits, Initial, Letter, Lower, Mixed, None, Upper};
        let cases =
            [None, Digits, Lower, Initial, Letter, Upper, Mixed, Mixed, Letter, Initial, Lower];
        assert_eq!(words.map(Case::of), cases);
        assert_eq!(Mixed as usize + 1, CASES);
    }
}

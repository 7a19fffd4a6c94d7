//! Periods after abbreviations and numbers in lines whose words are learned: what a treebank of some thousand sentences
//! shows of them is too little.

use super::abbreviations;
use super::language::LanguageRules;

/// Corrects where words end, in bytes in ascending order: a period belongs to the abbreviation or ordinal number before it,
/// and to no other number.
pub(super) fn assign(line: &str, rules: &LanguageRules, ends: &mut Vec<usize>) {
    let mut corrected = Vec::new();
    let mut learned = ends.iter().copied().peekable();
    for (period, _) in line.match_indices('.') {
        let Some(belongs) = belongs_to_word(line, period, rules) else { continue };
        while let Some(end) = learned.next_if(|&end| end < period) {
            corrected.push(end);
        }
        while learned.next_if(|&end| end <= period + 1).is_some() {}
        corrected.extend((!belongs).then_some(period));
        corrected.push(period + 1);
    }
    if !corrected.is_empty() {
        corrected.extend(learned);
        *ends = corrected;
    }
}

/// Whether a period is part of the word before it; `None` if the rules do not say.
fn belongs_to_word(line: &str, period: usize, rules: &LanguageRules) -> Option<bool> {
    let rest = &line[period + 1..];
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '.') {
        return None;
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '.';
    let word = line[..period].rsplit(|c| !is_part(c)).next()?;
    let is_abbreviation = || abbreviations::role(word, rules).is_some().then_some(true);
    rules.is_ordinal(word, rest).or_else(is_abbreviation)
}

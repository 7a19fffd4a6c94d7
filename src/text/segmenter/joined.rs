//! Words with white space in them, such as `par exemple`: those that the treebank does not have are split.

use std::ops::Range;

use super::Segmenter;
use super::features::word_hash;

/// How many parts a word may have.
const MOST_PARTS: usize = 8;
/// How many groups of digits a number may have: `1 000 000`.
const MOST_GROUPS: usize = 5;

impl Segmenter {
    /// Corrects the ends of words with white space: where the treebank does not have such a word, the longest ones that it has
    /// take its place, perhaps with the word before or after it (`il y` and `a`), or else its parts.
    pub(in crate::text) fn correct_joined(
        &self,
        line: &str,
        straightens: bool,
        ends: &mut Vec<usize>,
    ) {
        if self.marks.join.is_none() {
            return;
        }
        let knows = |word: &Range<usize>| {
            let word = &line[word.clone()];
            is_number(word) || self.has(word_hash(word, straightens))
        };
        let mut found: Vec<Range<usize>> = Vec::with_capacity(ends.len());
        let mut rest = words(line, 0, ends.iter().copied()).peekable();
        while let Some(word) = rest.next() {
            if !line[word.clone()].contains(char::is_whitespace) || knows(&word) {
                found.push(word);
                continue;
            }
            let mut parts: Vec<Range<usize>> = found.pop().into_iter().collect();
            let spaces = line[word.clone()].match_indices(char::is_whitespace);
            let ends = spaces.map(|(at, _)| word.start + at).chain([word.end]);
            parts.extend(words(line, word.start, ends));
            parts.extend(rest.next_if(|next| !line[next.clone()].contains(char::is_whitespace)));
            found.extend(longest(&parts, knows));
        }
        drop(rest);
        ends.clear();
        ends.extend(found.into_iter().map(|word| word.end));
    }
}

/// The words after `start` that end there, without white space around them.
fn words(
    line: &str,
    mut start: usize,
    ends: impl Iterator<Item = usize>,
) -> impl Iterator<Item = Range<usize>> {
    ends.filter_map(move |end| {
        let begin = end - line[start..end].trim_start().len();
        start = end;
        let word = line[begin..end].trim_end();
        (!word.is_empty()).then_some(begin..begin + word.len())
    })
}

/// The longest words that are known, from left to right; other parts are words of their own.
fn longest(
    parts: &[Range<usize>],
    knows: impl Fn(&Range<usize>) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = parts.get(at)?;
        let most = MOST_PARTS.min(parts.len() - at);
        let word = |n: &usize| first.start..parts[at + n - 1].end;
        let n = (2..=most).rev().find(|n| knows(&word(n))).unwrap_or(1);
        let word = word(&n);
        at += n;
        Some(word)
    })
}

/// `10 000`, `1 234 567,89`: groups of three digits.
fn is_number(word: &str) -> bool {
    let groups: Vec<&str> = word.split(char::is_whitespace).collect();
    let [first, inner @ .., last] = &groups[..] else { return false };
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_group = |group: &str| group.len() == 3 && are_digits(group);
    let (whole, fraction) = last.split_once(',').unwrap_or((last, "0"));
    groups.len() <= MOST_GROUPS
        && (1..=3).contains(&first.len())
        && are_digits(first)
        && inner.iter().all(|group| is_group(group))
        && is_group(whole)
        && !fraction.is_empty()
        && are_digits(fraction)
}

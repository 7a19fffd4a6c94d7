//! The score of one pair of trees, by EVALB's rules.

use std::cmp::Reverse;

use crate::eval::brackets::{Bracket, Bracketing, UNCLOSED};
use crate::eval::dependency::Attachments;
use crate::eval::params::Params;
use crate::sort::stable_sort_by_key;

/// The status of a pair of trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Status {
    /// Scored; EVALB's status 0.
    #[default]
    Valid,
    /// Excluded from all totals because the words differ or a line is malformed; EVALB's status 1.
    Error,
    /// Excluded from all totals because the test tree has no words to score; EVALB's status 2.
    Skipped,
}

impl Status {
    /// Returns EVALB's status code.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// The counts of one pair of trees.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SentenceScore {
    /// The status of the pair.
    pub status: Status,
    /// The length of the gold sentence, including punctuation.
    pub length: u32,
    /// Scored gold brackets; 0 unless the pair was compared.
    pub gold: u32,
    /// Scored test brackets.
    pub test: u32,
    /// Matched brackets.
    pub matched: u32,
    /// Test brackets that cross at least one gold bracket.
    pub crossing: u32,
    /// Words compared.
    pub words: u32,
    /// Words with the correct tag.
    pub correct_tags: u32,
    /// Gold brackets of an excluded pair, which no total of EVALB contains.
    pub lost: u32,
    /// Why the pair was excluded, in EVALB's words.
    pub problems: Vec<String>,
    /// Correct attachments, if heads are compared.
    #[doc(hidden)]
    pub attachments: Attachments,
}

impl SentenceScore {
    /// Whether the brackets are exactly those of the gold tree.
    pub fn is_exact(&self) -> bool {
        self.status == Status::Valid && self.gold == self.test && self.test == self.matched
    }
}

/// Whether each bracket of either side was matched; `None` for brackets that are not scored.
#[derive(Debug, Clone, Default)]
pub(crate) struct Matches {
    pub(crate) gold: Vec<Option<bool>>,
    pub(crate) test: Vec<Option<bool>>,
    /// The positions of the gold and the test bracket of each match.
    pub(crate) pairs: Vec<(u32, u32)>,
}

/// Scores a test sentence against the gold sentence. Quotes may be restored in either.
pub(crate) fn score(
    gold: &mut Bracketing<'_>,
    test: &mut Bracketing<'_>,
    params: &Params,
) -> (SentenceScore, Matches) {
    let mut score = SentenceScore { length: gold.length, ..SentenceScore::default() };
    score.problems.extend(gold.fault.map(str::to_owned));
    score.problems.extend(test.fault.map(str::to_owned));
    if test.words.is_empty() {
        score.status = Status::Skipped;
        score.lost = gold.count(params);
        return (score, Matches::default());
    }
    let before_repair = (gold.words.len() != test.words.len()).then(|| gold.count(params));
    if before_repair.is_some() {
        repair_quotes(gold, test, params);
    }
    if let Some(problem) = difference(gold, test, params) {
        score.status = Status::Error;
        score.problems.push(problem);
        score.lost = before_repair.unwrap_or_else(|| gold.count(params));
        return (score, Matches::default());
    }
    let matches = match_brackets(gold, test, params);
    score.gold = matches.gold.iter().flatten().count() as u32;
    score.test = matches.test.iter().flatten().count() as u32;
    score.matched = matches.gold.iter().filter(|&&matched| matched == Some(true)).count() as u32;
    score.crossing = count_crossing(gold, test, &matches);
    score.words = gold.words.len() as u32;
    score.correct_tags = (gold.words.iter().zip(&test.words))
        .filter(|(gold, test)| params.labels_match(gold.tag, test.tag))
        .count() as u32;
    // A malformed line is compared and its row printed, but it is excluded from the totals.
    if !score.problems.is_empty() {
        score.status = Status::Error;
        score.lost = score.gold;
    }
    (score, matches)
}

/// Returns why two sentences cannot be compared: different numbers of words, or different words.
fn difference(gold: &Bracketing<'_>, test: &Bracketing<'_>, params: &Params) -> Option<String> {
    if gold.words.len() != test.words.len() {
        return Some(format!("Length unmatch ({}|{})", gold.words.len(), test.words.len()));
    }
    let (gold, test) = (gold.words.iter().zip(&test.words))
        .find(|(gold, test)| !params.words_match(gold.word, test.word))?;
    Some(format!("Words unmatch ({}|{})", gold.word, test.word))
}

/// Restores quotes that only one side has deleted: those at the same position whose tags differ.
///
/// The order is EVALB's, because an insertion shifts the positions that later ones depend on.
fn repair_quotes(gold: &mut Bracketing<'_>, test: &mut Bracketing<'_>, params: &Params) {
    for t in 0..test.quotes.len() {
        let position = test.quotes[t].position;
        for g in 0..gold.quotes.len() {
            let (gold_tag, test_tag) = (gold.quotes[g].terminal.tag, test.quotes[t].terminal.tag);
            if gold.quotes[g].position != position || gold_tag == test_tag {
                continue;
            }
            match (params.deletes(gold_tag), params.deletes(test_tag)) {
                (true, false) => gold.reinsert(g),
                (false, true) => test.reinsert(t),
                _ => {}
            }
        }
    }
}

/// Matches brackets one to one: each gold bracket, in order, with the first unmatched test bracket that has
/// its span and label.
fn match_brackets(gold: &Bracketing<'_>, test: &Bracketing<'_>, params: &Params) -> Matches {
    let scored = |bracket: &Bracket<'_>| bracket.counts(params).then_some(false);
    let mut matches = Matches {
        gold: gold.brackets.iter().map(scored).collect(),
        test: test.brackets.iter().map(scored).collect(),
        pairs: Vec::new(),
    };
    let span = |t: &u32| {
        let bracket = &test.brackets[*t as usize];
        (bracket.start, bracket.end)
    };
    let mut by_span: Vec<u32> =
        (0..test.brackets.len() as u32).filter(|&t| matches.test[t as usize].is_some()).collect();
    stable_sort_by_key(&mut by_span, span);
    // How many test brackets at the beginning of a run of equal spans are matched: without it, long unary
    // chains of one label would be searched again for each gold bracket.
    let mut taken = vec![0; by_span.len()];
    for (g, bracket) in gold.brackets.iter().enumerate() {
        if matches.gold[g].is_none() {
            continue;
        }
        let wanted = (bracket.start, bracket.end);
        let first = by_span.partition_point(|t| span(t) < wanted);
        let Some(skip) = taken.get_mut(first) else { continue };
        let is_free = |t: u32| matches.test[t as usize] == Some(false);
        let same = |t: &&u32| span(t) == wanted;
        let rest = by_span[first + *skip..].iter().take_while(same);
        *skip += rest.take_while(|&&t| !is_free(t)).count();
        let partner = by_span[first + *skip..].iter().take_while(same).copied().find(|&t| {
            let label = test.brackets[t as usize].label;
            is_free(t) && (!params.labeled || params.labels_match(bracket.label, label))
        });
        if let Some(t) = partner {
            matches.gold[g] = Some(true);
            matches.test[t as usize] = Some(true);
            matches.pairs.push((g as u32, t));
        }
    }
    matches
}

/// Counts the test brackets that cross at least one gold bracket.
///
/// Gold brackets nest. So it suffices to know for each position between two words the innermost gold bracket around it: a
/// bracket is crossed if the one around its start ends inside of it, or the one around its end starts inside of it.
fn count_crossing(gold: &Bracketing<'_>, test: &Bracketing<'_>, matches: &Matches) -> u32 {
    let mut brackets: Vec<(u32, u32)> =
        scored(&gold.brackets, &matches.gold).map(|bracket| (bracket.start, bracket.end)).collect();
    stable_sort_by_key(&mut brackets, |&(start, end)| (start, Reverse(end)));
    let mut brackets = brackets.into_iter().peekable();
    let mut open: Vec<(u32, u32)> = Vec::new();
    let innermost: Vec<Option<(u32, u32)>> = (0..=gold.words.len() as u32)
        .map(|position| {
            while let Some(bracket) = brackets.next_if(|&(start, _)| start < position) {
                open.push(bracket);
            }
            while open.pop_if(|(_, end)| *end <= position).is_some() {}
            open.last().copied()
        })
        .collect();
    let around = |position: u32| innermost.get(position as usize).copied().flatten();
    scored(&test.brackets, &matches.test)
        .filter(|bracket| {
            around(bracket.start).is_some_and(|(_, end)| end < bracket.end)
                || around(bracket.end).is_some_and(|(start, _)| start > bracket.start)
        })
        .count() as u32
}

/// Returns the scored brackets that were closed.
fn scored<'b, 'a>(
    brackets: &'b [Bracket<'a>],
    matched: &'b [Option<bool>],
) -> impl Iterator<Item = &'b Bracket<'a>> {
    brackets
        .iter()
        .zip(matched)
        .filter(|(bracket, matched)| matched.is_some() && bracket.end != UNCLOSED)
        .map(|(bracket, _)| bracket)
}

#[cfg(test)]
mod tests;

//! Labels over single words, counted by file: corpora that are trained on together may differ in them.

use compact_str::{CompactString, format_compact};
use rustc_hash::FxHashMap;

use super::{Finding, Occurrence, Suspect, bracketed, setting_of_list};
use crate::error::Place;
use crate::tree::{Child, Tree};
use crate::treebank::clean::Relabel;

/// The fewest words of a tag that stand alone under a node in a file, to compare it with the others.
const FEWEST: u64 = 20;

/// The labels of nodes over a single word, by tag.
type Labels = FxHashMap<CompactString, FxHashMap<CompactString, Occurrence>>;

/// Counts of the labels over single words in each file.
#[derive(Debug, Default)]
pub(super) struct LabelsByFile {
    files: Vec<(String, Labels)>,
}

/// A label over the lone words of a tag for which the other files have another label.
struct Difference<'l> {
    tag: &'l CompactString,
    label: &'l CompactString,
    elsewhere: &'l CompactString,
    seen: Occurrence,
}

impl LabelsByFile {
    /// Counts the labels of a tree; the trees of a file come one after another.
    pub(super) fn add(&mut self, tree: &Tree, at: &Place) {
        let path = at.path.to_string();
        if self.files.last().is_none_or(|(last, _)| *last != path) {
            self.files.push((path, Labels::default()));
        }
        let Some((_, labels)) = self.files.last_mut() else { return };
        for id in tree.ids() {
            let &[Child::Token(token)] = tree.children(id) else { continue };
            let (label, token) = (&tree.node(id).label, &tree.tokens()[token as usize]);
            if label.is_empty() {
                continue;
            }
            let of_tag = labels.entry(token.tag.clone()).or_default();
            let seen = of_tag.entry(label.clone()).or_insert_with(|| Occurrence {
                count: 0,
                example: format!("({label} {})", bracketed(token)),
                at: at.clone(),
            });
            seen.count += 1;
        }
    }

    /// Returns the differences between a file and all others, the most frequent first.
    pub(super) fn findings(&self, relabel: &[Relabel]) -> Vec<Finding> {
        let differences = self.differences();
        let rules = differences.iter().map(|Difference { tag, label, elsewhere, .. }| {
            format_compact!("{label}({tag}) {elsewhere}").into_string()
        });
        let rules: Vec<String> = relabel.iter().cloned().map(String::from).chain(rules).collect();
        let setting = setting_of_list("relabel", rules.iter());
        let finding = |Difference { elsewhere, seen, .. }: Difference<'_>| {
            let example = format!("{}, elsewhere {elsewhere},", seen.example);
            Occurrence { example, ..seen }.finding(Suspect::OtherLabels, Some(setting.clone()))
        };
        differences.into_iter().map(finding).collect()
    }

    fn differences(&self) -> Vec<Difference<'_>> {
        let total = self.total();
        let mut found: Vec<Difference<'_>> = Vec::new();
        for (tag, labels) in self.files.iter().flat_map(|(_, labels)| labels) {
            let Some(new) = differs(tag, labels, &total[tag]) else { continue };
            let key = |d: &Difference<'_>| (d.tag.clone(), d.label.clone(), d.elsewhere.clone());
            match found.iter_mut().find(|old| key(old) == key(&new)) {
                Some(old) => old.seen.count += new.seen.count,
                None => found.push(new),
            }
        }
        found.sort_by(|a, b| b.seen.count.cmp(&a.seen.count).then(a.tag.cmp(b.tag)));
        found
    }

    /// The labels of each tag in all files.
    fn total(&self) -> FxHashMap<&CompactString, Counts<'_>> {
        let mut total = FxHashMap::<_, Counts<'_>>::default();
        for (tag, labels) in self.files.iter().flat_map(|(_, labels)| labels) {
            let counts = total.entry(tag).or_default();
            for (label, seen) in labels {
                *counts.entry(label).or_default() += seen.count;
            }
        }
        total
    }
}

/// How often each label occurs.
type Counts<'l> = FxHashMap<&'l CompactString, u64>;

/// Compares the labels of a tag in a file with those in all files: the usual label here, at least nine times in ten,
/// is rare in the others, which have more such words and another label for at least half of them.
fn differs<'l>(
    tag: &'l CompactString,
    labels: &'l FxHashMap<CompactString, Occurrence>,
    total: &Counts<'l>,
) -> Option<Difference<'l>> {
    let here: u64 = labels.values().map(|seen| seen.count).sum();
    let others = total.values().sum::<u64>() - here;
    let elsewhere = |label| total[label] - labels.get(label).map_or(0, |seen| seen.count);
    let (label, seen) = labels.iter().max_by_key(|(label, seen)| (seen.count, *label))?;
    let usual = *total.keys().max_by_key(|label| (elsewhere(**label), **label))?;
    let differs = usual != label
        && here >= FEWEST
        && others >= here
        && seen.count * 10 >= here * 9
        && elsewhere(usual) * 2 >= others
        && elsewhere(label) * 4 <= others;
    differs.then(|| Difference { tag, label, elsewhere: usual, seen: seen.clone() })
}

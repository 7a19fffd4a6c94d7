//! Labels over single words, counted by file: corpora that are trained on together may differ in them.

use compact_str::{CompactString, format_compact};
use rustc_hash::FxHashMap;

use super::{Finding, Occurrence, Suspect, bracketed, setting_of_list};
use crate::error::Place;
use crate::tree::{Child, Tree};
use crate::treebank::clean::Relabel;

/// The fewest nodes with a label over a single word in a file that are reported.
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
        if self.files.last().is_none_or(|(last, _)| *last != at.path) {
            self.files.push((at.path.clone(), Labels::default()));
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
            for new in differences(tag, labels, &total[tag]) {
                let is_same = |old: &&mut Difference<'_>| {
                    (old.tag, old.label, old.elsewhere) == (new.tag, new.label, new.elsewhere)
                };
                match found.iter_mut().find(is_same) {
                    Some(old) => old.seen.count += new.seen.count,
                    None => found.push(new),
                }
            }
        }
        found.sort_by(|a, b| {
            b.seen.count.cmp(&a.seen.count).then((a.tag, a.label).cmp(&(b.tag, b.label)))
        });
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

/// Compares the labels of a tag in a file with those in all files. A label is reported if it is frequent here and rare
/// in the other files, which have more such words, and four times in five another label.
fn differences<'l>(
    tag: &'l CompactString,
    labels: &'l FxHashMap<CompactString, Occurrence>,
    total: &Counts<'l>,
) -> impl Iterator<Item = Difference<'l>> {
    let here: u64 = labels.values().map(|seen| seen.count).sum();
    let others = total.values().sum::<u64>() - here;
    let elsewhere = |label| total[label] - labels.get(label).map_or(0, |seen| seen.count);
    let usual = total.keys().copied().max_by_key(|label| (elsewhere(*label), *label));
    let usual = usual.filter(|label| others >= here && elsewhere(*label) * 5 >= others * 4);
    let is_different = move |label: &'l CompactString, seen: &Occurrence| {
        Some(label) != usual
            && seen.count >= FEWEST
            && seen.count * 4 >= here
            && elsewhere(label) * 5 <= others
    };
    let difference = move |(label, seen): (&'l CompactString, &'l Occurrence)| {
        let elsewhere = usual.filter(|_| is_different(label, seen))?;
        Some(Difference { tag, label, elsewhere, seen: seen.clone() })
    };
    labels.iter().filter_map(difference)
}

//! The replay of all training trees before training starts: trees that the system cannot rebuild are reported.

use crate::error::{Error, Result, counted};
use crate::model::TrainingSummary;
use crate::observer::{Event, Observer};
use crate::oracle::Example;
use crate::oracle::replay::check_replay;
use crate::parallel;
use crate::preset::Preset;
use crate::symbols::Vocabulary;
use crate::transition::TransitionSystem;
use crate::tree::Tree;

/// The share of training trees that the system cannot rebuild above which training is refused.
pub(super) const MAX_UNFIT: f64 = 0.1;
/// The number of such trees that messages name.
const NAMED_UNFIT: usize = 3;
/// The number of words by which messages name a tree.
const NAMED_BY: usize = 6;
/// The number of such trees that a model lists.
const LISTED_UNFIT: usize = 100;

/// The training trees that can be used.
pub(super) struct Replayed {
    pub(super) examples: Vec<Example>,
    pub(super) summary: TrainingSummary,
}

impl Replayed {
    /// Adds others.
    pub(super) fn append(&mut self, other: Self) {
        let TrainingSummary { trees, words, skipped, decisions, .. } = other.summary;
        self.examples.extend(other.examples);
        self.summary.trees += trees;
        self.summary.words += words;
        self.summary.decisions += decisions;
        self.summary.skipped.extend(skipped);
    }
}

/// The error that no tree can be used.
pub(super) fn none_left(which: &str, Preset { max_words, .. }: &Preset) -> Error {
    let problem = "all are empty after cleaning, or longer than max_words";
    Error::Unfit(format!("no {which} tree is left: {problem} ({max_words})"))
}

/// The trees that have words.
pub(super) fn usable(trees: &[Tree]) -> Vec<&Tree> {
    trees.iter().filter(|tree| !tree.tokens().is_empty()).collect()
}

/// How messages name a tree: by its first words.
fn name(which: &str, tree: &Tree) -> String {
    let words = tree.tokens().iter().map(|token| token.word.as_str());
    let words: Vec<&str> = words.take(NAMED_BY).collect();
    let more = if words.len() < tree.tokens().len() { " …" } else { "" };
    format!("the {which} tree of \"{}{more}\"", words.join(" "))
}

/// Replays all trees, and keeps those that are rebuilt: all but a share of at most `max_unfit`, and at least one.
///
/// # Errors
/// [`Error::Unfit`] when too many cannot be rebuilt.
pub(super) fn replay(
    system: &dyn TransitionSystem,
    vocabulary: &Vocabulary,
    (which, trees): (&str, &[&Tree]),
    max_unfit: f64,
    observer: &dyn Observer,
) -> Result<Replayed> {
    let replay = |tree: &&Tree| -> Result<_> {
        let sentence = vocabulary.encode(tree.tokens());
        let n = check_replay(system, &sentence, tree)?;
        let left_out = tree.nodes().len() - system.target(tree).nodes().len();
        Ok((Example { sentence, tree: (*tree).clone() }, n, left_out))
    };
    let mut summary = TrainingSummary::default();
    let mut examples = Vec::with_capacity(trees.len());
    let (mut nodes, mut dropped) = (0, 0);
    for (result, tree) in parallel::map(trees, replay).into_iter().zip(trees) {
        match result {
            Ok((example, n, left_out)) => {
                nodes += example.tree.nodes().len();
                dropped += left_out;
                summary.words += example.sentence.len() as u64;
                summary.decisions += n as u64;
                examples.push(example);
            }
            Err(error) => summary.skipped.push(format!("{}: {error}", name(which, tree))),
        }
    }
    summary.trees = examples.len() as u64;
    report(system, &summary, (dropped, nodes), observer);
    let unfit = summary.skipped.len();
    if unfit as f64 > max_unfit * trees.len() as f64 || unfit == trees.len() {
        let named = summary.skipped[..unfit.min(NAMED_UNFIT)].join("; ");
        let problem = format!(
            "{unfit} of {} {which} trees cannot be rebuilt: {named}; correct or remove such trees, or choose a preset \
             with another transition system",
            trees.len()
        );
        return Err(Error::Unfit(problem));
    }
    summary.skipped.truncate(LISTED_UNFIT);
    Ok(Replayed { examples, summary })
}

fn report(
    system: &dyn TransitionSystem,
    summary: &TrainingSummary,
    (dropped, nodes): (usize, usize),
    observer: &dyn Observer,
) {
    let TrainingSummary { trees, decisions, skipped, .. } = summary;
    let facts: Vec<String> =
        system.facts().into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
    observer.event(Event::Milestone(&format!(
        "replayed {} ({decisions} actions), {} cannot be rebuilt; {}",
        counted(*trees, "tree"),
        skipped.len(),
        facts.join(", ")
    )));
    if dropped > 0 {
        let share = 100.0 * dropped as f64 / nodes as f64;
        observer.event(Event::Milestone(&format!(
            "the limits of the system leave out {dropped} of {nodes} nodes ({share:.2} %); their children pass \
             to their parents"
        )));
    }
    for skipped in skipped.iter().take(NAMED_UNFIT) {
        observer.event(Event::Note(skipped));
    }
}

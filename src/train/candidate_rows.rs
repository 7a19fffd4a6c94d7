//! Training rows for item systems: every legal action along a gold derivation is a positive or negative example of
//! its label (Turian and Melamed 2005, section 2.1.1).
//!
//! Each tree contributes one derivation; if several actions are correct, one is taken at random. Negative sampling
//! keeps one in N of the rows that are wrong for every label, with weight N.

use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use crate::classifier::Instances;
use crate::classifier::boosting::Candidates;
use crate::decode::{GoldStep, Problem, follow_gold};
use crate::feature::{Extractor, Row, Templates, extract};
use crate::observer::{Event, Observer};
use crate::oracle::{Example, OracleKind, oracle};
use crate::parallel;
use crate::scorer::{Configuration, Unscored};
use crate::sort::stable_sort_by_key;
use crate::transition::{Action, Focus, TransitionSystem};
use crate::{Error, Result};

/// How candidates are sampled.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// The seed of the derivations and the sample.
    pub seed: u64,
    /// One of this many rows that are wrong for every label is kept, with this weight; at least 1.
    pub negative_sampling: u32,
}

/// Statistics of the candidates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CandidateCounts {
    /// Configurations of the derivations.
    pub states: u64,
    /// Candidates: a label over a span of the stack, in a configuration.
    pub candidates: u64,
    /// Correct candidates.
    pub right: u64,
    /// Feature rows; candidates over the same span with the same head share one.
    pub rows: u64,
    /// Rows kept by sampling.
    pub kept: u64,
}

/// Maximal number of words processed in parallel at a time; a longer sentence is processed alone.
const MAX_CHUNK_WORDS: usize = 2_000;

/// Collects the candidates of all configurations along one derivation of each tree. Classes are action codes, below
/// `n_classes`. The result does not depend on the number of threads.
///
/// # Errors
/// If the system cannot build a tree, and [`Error::Stopped`] if the observer stops the collection.
pub fn collect(
    system: &dyn TransitionSystem,
    examples: &[Example],
    templates: &Templates,
    n_classes: usize,
    sampling: Sampling,
    observer: &dyn Observer,
) -> Result<(Candidates, CandidateCounts)> {
    let extractor = Extractor::new(templates);
    let columns = templates.columns();
    let mut candidates = Candidates::new(&columns, n_classes);
    let mut counts = CandidateCounts::default();
    let mut done = 0;
    while done < examples.len() {
        let chunk = &examples[done..done + chunk_len(&examples[done..])];
        let paths: Vec<Result<Path>> =
            parallel::map_range_init(chunk.len(), extract::Scratch::default, |places, at| {
                let mut rng = ChaCha8Rng::seed_from_u64(sampling.seed);
                rng.set_stream((done + at) as u64);
                let mut walk = CandidateWalk {
                    system,
                    extractor: &extractor,
                    negative_sampling: sampling.negative_sampling,
                    rng,
                    places,
                    row: Row::default(),
                    observer,
                };
                walk.follow(&chunk[at], Path::new(Instances::new(columns.clone(), 0)))
            });
        for path in paths {
            let path = path?;
            for (at, &SampledRow { weight, labels, gold }) in path.kept.iter().enumerate() {
                let of = |(from, to): (u32, u32)| &path.labels[from as usize..to as usize];
                candidates.push(path.rows.row(at), weight, of(labels), of(gold));
            }
            counts.states += path.counts.states;
            counts.candidates += path.counts.candidates;
            counts.right += path.counts.right;
            counts.rows += path.counts.rows;
            counts.kept += path.kept.len() as u64;
        }
        done += chunk.len();
        let total = examples.len() as u64;
        observer.event(Event::Progress { done: done as u64, total, unit: "sentences" });
        if observer.is_stopped() {
            return Err(Error::Stopped);
        }
    }
    Ok((candidates, counts))
}

/// The number of examples in the next chunk; at least 1.
fn chunk_len(examples: &[Example]) -> usize {
    let mut words = 0;
    let fits = |example: &&Example| {
        words += example.sentence.len();
        words <= MAX_CHUNK_WORDS
    };
    examples.iter().take_while(fits).count().max(1)
}

/// The weight of a row, and the labels of its candidates and of the correct ones as ranges of [`Path::labels`].
struct SampledRow {
    weight: u32,
    labels: (u32, u32),
    gold: (u32, u32),
}

/// The rows of one derivation.
struct Path {
    rows: Instances,
    kept: Vec<SampledRow>,
    labels: Vec<u16>,
    counts: CandidateCounts,
}

impl Path {
    fn new(rows: Instances) -> Self {
        Self { rows, kept: Vec::new(), labels: Vec::new(), counts: CandidateCounts::default() }
    }
}

/// A candidate of a configuration.
struct Candidate {
    focus: Focus,
    action: Action,
    is_right: bool,
}

struct CandidateWalk<'a> {
    system: &'a dyn TransitionSystem,
    extractor: &'a Extractor,
    negative_sampling: u32,
    rng: ChaCha8Rng,
    places: &'a mut extract::Scratch,
    row: Row,
    observer: &'a dyn Observer,
}

impl CandidateWalk<'_> {
    /// Follows a derivation, to its end unless it is stopped.
    fn follow(&mut self, Example { sentence, tree }: &Example, mut path: Path) -> Result<Path> {
        let oracle = oracle(self.system, tree, OracleKind::DynamicIfAny)?;
        let mut seen = Vec::new();
        let problem = Problem { system: self.system, sentence };
        follow_gold(problem, &*oracle, &mut Unscored, &mut |step, _| {
            let GoldStep { at, legal, optimal, .. } = step;
            let next = *optimal.choose(&mut self.rng).filter(|_| !self.observer.is_stopped())?;
            seen.clear();
            seen.extend(legal.iter().filter_map(|&action| {
                let focus = at.focused_view(action).focus?;
                Some(Candidate { focus, action, is_right: optimal.contains(&action) })
            }));
            path.counts.states += 1;
            path.counts.candidates += seen.len() as u64;
            path.counts.right += optimal.len() as u64;
            let span = |candidate: &Candidate| (candidate.focus.first, candidate.focus.last);
            for over_span in seen.chunk_by_mut(|a, b| span(a) == span(b)) {
                stable_sort_by_key(over_span, |candidate| candidate.focus.head);
                for same in over_span.chunk_by(|a, b| a.focus == b.focus) {
                    self.take(at, same, &mut path);
                }
            }
            Some(next)
        });
        Ok(path)
    }

    /// Adds a row for candidates with the same features, unless it is not in the sample.
    fn take(&mut self, at: Configuration<'_>, same: &[Candidate], path: &mut Path) {
        path.counts.rows += 1;
        let any_right = same.iter().any(|candidate| candidate.is_right);
        let is_sampled = !any_right && self.negative_sampling > 1;
        if is_sampled && self.rng.random_range(0..self.negative_sampling) > 0 {
            return;
        }
        let view = at.focused_view(same[0].action);
        self.extractor.extract(at.sentence, &view, self.places, &mut self.row);
        path.rows.push(&self.row, 0);
        let mut list = |of: &dyn Fn(bool) -> bool| {
            let from = path.labels.len() as u32;
            let these = same.iter().filter(|candidate| of(candidate.is_right));
            path.labels.extend(these.map(|candidate| candidate.action.code as u16));
            (from, path.labels.len() as u32)
        };
        let (labels, gold) = (list(&|_| true), list(&|is_right| is_right));
        let weight = if any_right { 1 } else { self.negative_sampling };
        path.kept.push(SampledRow { weight, labels, gold });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::Sentence;
    use crate::tree::Tree;

    #[test]
    fn chunks_are_bounded_by_words() {
        let of = |n: usize| {
            let sentence = Sentence { words: vec![0; n], ..Sentence::default() };
            Example { sentence, tree: Tree::default() }
        };
        let chunk =
            |lengths: &[usize]| chunk_len(&lengths.iter().map(|&n| of(n)).collect::<Vec<_>>());
        assert_eq!(chunk(&[30, 40]), 2);
        assert_eq!(chunk(&[1_000; 9]), 2);
        assert_eq!(chunk(&[3_000, 1]), 1);
    }
}

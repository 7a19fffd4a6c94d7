//! Examples from candidates: for systems whose actions are candidates, every action on the way to a tree is
//! an example of its label, right or wrong (Turian and Melamed 2005, section 2.1.1).
//!
//! No parser is needed. Where several actions are right, one of them is taken at random, so each tree is
//! followed along a single path. Candidates that are wrong for every label may be sampled: of so many one is
//! kept, and counts as many times.

use std::ops::ControlFlow;

use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::Example;
use crate::Result;
use crate::classifier::Instances;
use crate::classifier::boosting::Candidates;
use crate::feature::{Extractor, Row, Templates, extract};
use crate::oracle::Oracle;
use crate::parallel;
use crate::symbols::Sentence;
use crate::transition::{Action, Focus, TransitionSystem};

/// How candidates are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Drawing {
    /// Seeds the paths and the sample.
    pub seed: u64,
    /// Of so many rows that are wrong for every label one is kept; at least 1.
    pub negative_sampling: u32,
}

/// How many there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drawn {
    /// States on the paths.
    pub states: u64,
    /// Candidates: a label over a part of the stack, in a state.
    pub candidates: u64,
    /// Those that are right.
    pub right: u64,
    /// Rows: what candidates look like; labels that would have the same head share one.
    pub rows: u64,
    /// Rows that are kept.
    pub kept: u64,
}

/// How many words at most are worked on before their rows are handed over; of a sentence that is longer, all.
const WORDS_AT_ONCE: usize = 2_000;

/// The candidates of all states along one path to each tree, by class, the code of an action, of which there
/// are `n_classes`. The same for any number of threads. `progress` is told how many trees are done, and may
/// end it there.
///
/// # Errors
/// When a tree does not fit the system; call it on trees that have been replayed.
pub fn draw<S: TransitionSystem, O: Oracle<S>>(
    system: &S,
    oracle: &O,
    examples: &[Example],
    templates: &Templates,
    n_classes: usize,
    drawing: Drawing,
    mut progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<(Candidates, Drawn)> {
    let extractor = Extractor::new(templates);
    let columns = templates.columns();
    let mut candidates = Candidates::new(&columns, n_classes);
    let mut drawn = Drawn::default();
    let mut done = 0;
    while done < examples.len() {
        let chunk = &examples[done..done + fitting(&examples[done..])];
        let paths: Vec<Result<Path>> =
            parallel::map_range_init(chunk.len(), extract::Scratch::default, |places, at| {
                let mut rng = ChaCha8Rng::seed_from_u64(drawing.seed);
                rng.set_stream((done + at) as u64);
                let mut walk = Walk {
                    system,
                    extractor: &extractor,
                    negative_sampling: drawing.negative_sampling,
                    rng,
                    places,
                    row: Row::default(),
                };
                walk.follow(oracle, &chunk[at], Path::new(Instances::new(columns.clone(), 0)))
            });
        for path in paths {
            let path = path?;
            for (at, &Kept { weight, labels, gold }) in path.kept.iter().enumerate() {
                let of = |(from, to): (u32, u32)| &path.labels[from as usize..to as usize];
                candidates.push(path.rows.row(at), weight, of(labels), of(gold));
            }
            drawn.states += path.drawn.states;
            drawn.candidates += path.drawn.candidates;
            drawn.right += path.drawn.right;
            drawn.rows += path.drawn.rows;
            drawn.kept += path.kept.len() as u64;
        }
        done += chunk.len();
        if progress(done).is_break() {
            break;
        }
    }
    Ok((candidates, drawn))
}

/// How many examples are worked on at once: as many as there is room for, one at least.
fn fitting(examples: &[Example]) -> usize {
    let mut words = 0;
    let fits = |example: &&Example| {
        words += example.sentence.len();
        words <= WORDS_AT_ONCE
    };
    examples.iter().take_while(fits).count().max(1)
}

/// A row, how many times it counts, and the labels it is an example of, as ranges of [`Path::labels`].
struct Kept {
    weight: u32,
    labels: (u32, u32),
    gold: (u32, u32),
}

/// What is kept of the way to one tree.
struct Path {
    rows: Instances,
    kept: Vec<Kept>,
    labels: Vec<u16>,
    drawn: Drawn,
}

impl Path {
    fn new(rows: Instances) -> Self {
        Self { rows, kept: Vec::new(), labels: Vec::new(), drawn: Drawn::default() }
    }
}

/// What is seen of a candidate.
struct Candidate<A> {
    focus: Focus,
    action: A,
    is_right: bool,
}

struct Walk<'a, S> {
    system: &'a S,
    extractor: &'a Extractor,
    negative_sampling: u32,
    rng: ChaCha8Rng,
    places: &'a mut extract::Scratch,
    row: Row,
}

impl<S: TransitionSystem> Walk<'_, S> {
    fn follow<O: Oracle<S>>(
        &mut self,
        oracle: &O,
        Example { sentence, tree }: &Example,
        mut path: Path,
    ) -> Result<Path> {
        let gold = oracle.prepare(self.system, tree)?;
        let mut state = self.system.start(sentence);
        let (mut legal, mut right, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        while !self.system.is_final(&state) {
            oracle.optimal(self.system, &gold, &state, &mut right);
            let Some(&next) = right.choose(&mut self.rng) else { break };
            self.system.legal(&state, &mut legal);
            let focus = |action| self.system.view(&state, Some(action)).focus;
            seen.clear();
            seen.extend(legal.iter().filter_map(|&action| {
                Some(Candidate { focus: focus(action)?, action, is_right: right.contains(&action) })
            }));
            path.drawn.states += 1;
            path.drawn.candidates += seen.len() as u64;
            path.drawn.right += right.len() as u64;
            let span =
                |candidate: &Candidate<S::Action>| (candidate.focus.first, candidate.focus.last);
            for over_span in seen.chunk_by_mut(|a, b| span(a) == span(b)) {
                over_span.sort_by_key(|candidate| candidate.focus.head);
                for same in over_span.chunk_by(|a, b| a.focus == b.focus) {
                    self.take(sentence, &state, same, &mut path);
                }
            }
            self.system.apply(&mut state, next);
        }
        Ok(path)
    }

    /// Takes candidates that look the same, or leaves them out of the sample.
    fn take(
        &mut self,
        sentence: &Sentence,
        state: &S::State,
        same: &[Candidate<S::Action>],
        path: &mut Path,
    ) {
        path.drawn.rows += 1;
        let any_right = same.iter().any(|candidate| candidate.is_right);
        let is_sampled = !any_right && self.negative_sampling > 1;
        if is_sampled && self.rng.random_range(0..self.negative_sampling) > 0 {
            return;
        }
        let view = self.system.view(state, Some(same[0].action));
        self.extractor.extract(sentence, &view, self.places, &mut self.row);
        path.rows.push(&self.row, 0);
        let mut list = |of: &dyn Fn(bool) -> bool| {
            let from = path.labels.len() as u32;
            let these = same.iter().filter(|candidate| of(candidate.is_right));
            path.labels.extend(these.map(|candidate| candidate.action.code() as u16));
            (from, path.labels.len() as u32)
        };
        let (labels, gold) = (list(&|_| true), list(&|is_right| is_right));
        let weight = if any_right { 1 } else { self.negative_sampling };
        path.kept.push(Kept { weight, labels, gold });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn chunks_are_bounded_by_words() {
        let of = |n: usize| {
            let sentence = Sentence { words: vec![0; n], ..Sentence::default() };
            Example { sentence, tree: Tree::default() }
        };
        let chunk =
            |lengths: &[usize]| fitting(&lengths.iter().map(|&n| of(n)).collect::<Vec<_>>());
        assert_eq!(chunk(&[30, 40]), 2);
        assert_eq!(chunk(&[1_000; 9]), 2);
        assert_eq!(chunk(&[3_000, 1]), 1);
    }
}

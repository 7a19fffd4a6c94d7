//! A scorer for systems whose actions are candidates: what an action would do is seen in focus, and a
//! classifier has a class for each code of an action, such as the label of an item.
//!
//! The same candidate between the same neighbours looks the same in every state of a search, so its scores
//! are kept, if the features look no further ([`Extractor::reach`]).

use rustc_hash::FxHashMap;

use super::{Configuration, Scorer};
use crate::classifier::{self, Classifier, ScoreScale};
use crate::feature::{Extractor, Row, extract};
use crate::hash;
use crate::symbols::Sentence;
use crate::transition::{Action, Focus, TransitionSystem, View};

/// Features of candidates and a classifier of their labels.
#[derive(Debug, Clone)]
pub struct Focused<C = Box<dyn Classifier>> {
    extractor: Extractor,
    reach: Option<usize>,
    classifier: C,
}

/// The memory of one thread.
#[derive(Debug, Default)]
pub struct FocusedScratch {
    places: extract::Scratch,
    row: Row,
    classifier: classifier::Scratch,
    /// Where the scores of a candidate begin among the cached ones.
    cache: FxHashMap<u64, usize>,
    scores: Vec<f32>,
    /// Scores of all classes by each head of the span at hand.
    by_head: Vec<f32>,
    heads: Vec<u32>,
}

/// The most cached scores: 64 MB.
const MAX_CACHED: usize = 1 << 24;
/// Stands for a score that has not been asked for.
const UNASKED: f32 = f32::NAN;

/// A number that tells a span of the stack and its neighbours from others over the same sentence.
fn signature(view: &View<'_>, Focus { first, last, .. }: Focus, reach: usize) -> u64 {
    let (first, last, n) = (first as usize, last as usize, view.signatures.len());
    let (from, to) = (first.saturating_sub(reach), (last + reach).min(n));
    let start = (first - from) as u64 * (1 << 32) + (last - first) as u64;
    hash::finish(view.signatures[from..to].iter().fold(start, |all, &one| hash::mix::<5>(all, one)))
}

impl<C: Classifier> Focused<C> {
    /// A scorer that asks the classifier about the extractor's rows.
    pub fn new(extractor: Extractor, classifier: C) -> Self {
        let reach = extractor.reach();
        Self { extractor, reach, classifier }
    }

    /// The classifier.
    pub fn classifier(&self) -> &C {
        &self.classifier
    }

    /// The same features with another classifier.
    pub fn with_classifier<D: Classifier>(&self, classifier: D) -> Focused<D> {
        Focused { extractor: self.extractor.clone(), reach: self.reach, classifier }
    }

    /// Where the scores of a span are kept, made if there is no such place.
    fn place(&self, view: &View<'_>, focus: Focus, scratch: &mut FocusedScratch) -> usize {
        let n = self.classifier.n_classes();
        let FocusedScratch { cache, scores, .. } = scratch;
        let reach = self.reach.filter(|_| view.signatures.len() == view.stack.len());
        let key = reach.map(|reach| signature(view, focus, reach));
        if let Some(&place) = key.and_then(|key| cache.get(&key)) {
            return place;
        }
        if scores.len() >= MAX_CACHED {
            cache.clear();
            scores.clear();
        }
        if key.is_none() {
            scores.clear();
        }
        let place = scores.len();
        scores.resize(place + n, UNASKED);
        key.map(|key| cache.insert(key, place));
        place
    }

    /// The score of a class by the row of what is in focus; rows of the same span with the same head are
    /// asked once.
    fn score_class(
        &self,
        sentence: &Sentence,
        view: &View<'_>,
        head: u32,
        class: usize,
        scratch: &mut FocusedScratch,
    ) -> f32 {
        let n = self.classifier.n_classes();
        let FocusedScratch { places, row, classifier, by_head, heads, .. } = scratch;
        let at = heads.iter().position(|&known| known == head).unwrap_or_else(|| {
            heads.push(head);
            by_head.resize(heads.len() * n, 0.0);
            self.extractor.extract(sentence, view, places, row);
            let out = &mut by_head[(heads.len() - 1) * n..];
            self.classifier.scores(row.borrow(), classifier, out);
            heads.len() - 1
        });
        by_head[at * n + class]
    }
}

impl<S: TransitionSystem, C: Classifier> Scorer<S> for Focused<C> {
    type Memory = ();
    type Scratch = FocusedScratch;

    fn begin(&self, _at: Configuration<'_, S>, scratch: &mut FocusedScratch) {
        scratch.cache.clear();
        scratch.scores.clear();
    }

    fn score(
        &self,
        at: Configuration<'_, S>,
        _memory: &(),
        actions: &[S::Action],
        scratch: &mut FocusedScratch,
        out: &mut Vec<f32>,
    ) {
        out.clear();
        let mut span = None;
        let mut place = 0;
        for &action in actions {
            let class = action.code() as usize;
            let view = at.system.view(at.state, Some(action));
            let Some(focus) = view.focus.filter(|_| class < self.classifier.n_classes()) else {
                out.push(f32::NEG_INFINITY);
                continue;
            };
            if span != Some((focus.first, focus.last)) {
                span = Some((focus.first, focus.last));
                scratch.heads.clear();
                place = self.place(&view, focus, scratch);
            }
            let mut score = scratch.scores[place + class];
            if score.is_nan() {
                score = self.score_class(at.sentence, &view, focus.head, class, scratch);
                scratch.scores[place + class] = score;
            }
            out.push(score);
        }
    }

    fn scale(&self) -> ScoreScale {
        self.classifier.scale()
    }
}

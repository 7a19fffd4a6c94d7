//! A scorer for systems whose actions are candidates: features describe the candidate ([`Focus`]), and the
//! classes of the classifier are action codes, such as the label of an item.
//!
//! If features do not look beyond the neighbours of a candidate ([`Extractor::reach`]), its scores are the same
//! in every state of a search and are cached.

use rustc_hash::FxHashMap;

use super::{Components, Configuration, Memory, Reading, Scorer};
use crate::classifier::boosting::{Boosting, BoostingParams};
use crate::classifier::{self, Classifier, Evidence, Learner, ScoreScale};
use crate::error::{Error, Result};
use crate::feature::{Extractor, Row, extract};
use crate::hash;
use crate::memory::Sections;
use crate::symbols::Sentence;
use crate::transition::{Action, Focus, View};

/// Feature extraction and a classifier of candidates.
#[derive(Debug, Clone)]
pub struct Focused<C = Box<dyn Classifier>> {
    extractor: Extractor,
    reach: Option<usize>,
    classifier: C,
}

/// Maximal number of cached scores, 64 MB.
const MAX_CACHED: usize = 1 << 24;
/// Marks a score that has not been computed.
const NOT_COMPUTED: f32 = f32::NAN;

/// Hashes a span of the stack and its neighbours; valid within a sentence.
fn signature(view: &View<'_>, Focus { first, last, .. }: Focus, reach: usize) -> u64 {
    let (first, last, n) = (first as usize, last as usize, view.signatures.len());
    let (from, to) = (first.saturating_sub(reach), (last + reach).min(n));
    let start = (first - from) as u64 * (1 << 32) + (last - first) as u64;
    hash::finish(view.signatures[from..to].iter().fold(start, |all, &one| hash::mix::<5>(all, one)))
}

impl Focused {
    /// Loads the boosted trees that training has stored.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when they do not score the labels of the system.
    pub fn load(
        params: &BoostingParams,
        components: Components<'_>,
        sections: &Sections,
    ) -> Result<Box<dyn Scorer>> {
        let Components { system, templates, .. } = components;
        let columns = templates.columns();
        let classifier = Boosting { params: params.clone(), columns }.load(sections)?;
        let (scored, listed) = (classifier.n_classes(), system.labels().len());
        if scored != listed {
            let problem = format!("the trees score {scored} labels, the system has {listed}");
            return Err(Error::Corrupt(problem));
        }
        Ok(Box::new(Self::new(Extractor::new(templates), classifier)))
    }
}

impl<C: Classifier> Focused<C> {
    /// A scorer that applies the classifier to the extractor's rows.
    pub fn new(extractor: Extractor, classifier: C) -> Self {
        let reach = extractor.reach();
        Self { extractor, reach, classifier }
    }

    /// The classifier.
    pub fn classifier(&self) -> &C {
        &self.classifier
    }
}

impl<C: Classifier> Scorer for Focused<C> {
    fn reading(&self) -> Box<dyn Reading + '_> {
        Box::new(FocusedReading {
            scorer: self,
            places: extract::Scratch::default(),
            row: Row::default(),
            classifier: classifier::Scratch::default(),
            cache: FxHashMap::default(),
            scores: Vec::new(),
            by_head: Vec::new(),
            heads: Vec::new(),
        })
    }
}

/// The reading of a [`Focused`] scorer.
struct FocusedReading<'a, C> {
    scorer: &'a Focused<C>,
    places: extract::Scratch,
    row: Row,
    classifier: classifier::Scratch,
    /// For the signature of a span, the offset of its scores in `scores`.
    cache: FxHashMap<u64, usize>,
    scores: Vec<f32>,
    /// For each head of the current span, the scores of all classes.
    by_head: Vec<f32>,
    heads: Vec<u32>,
}

impl<C: Classifier> FocusedReading<'_, C> {
    /// Returns the offset of the scores of a span, which are allocated if they are not in the cache.
    fn offset(&mut self, view: &View<'_>, focus: Focus) -> usize {
        let Self { scorer, cache, scores, .. } = self;
        let n = scorer.classifier.n_classes();
        let reach = scorer.reach.filter(|_| view.signatures.len() == view.stack.len());
        let key = reach.map(|reach| signature(view, focus, reach));
        if let Some(&offset) = key.and_then(|key| cache.get(&key)) {
            return offset;
        }
        if scores.len() >= MAX_CACHED {
            cache.clear();
            scores.clear();
        }
        if key.is_none() {
            scores.clear();
        }
        let offset = scores.len();
        scores.resize(offset + n, NOT_COMPUTED);
        key.map(|key| cache.insert(key, offset));
        offset
    }

    /// The score of a class for the candidate in focus. Candidates over the same span with the same head share a
    /// row, which is scored once.
    fn score_class(
        &mut self,
        sentence: &Sentence,
        view: &View<'_>,
        head: u32,
        class: usize,
    ) -> f32 {
        let Self { scorer, places, row, classifier, by_head, heads, .. } = self;
        let n = scorer.classifier.n_classes();
        let at = heads.iter().position(|&known| known == head).unwrap_or_else(|| {
            heads.push(head);
            by_head.resize(heads.len() * n, 0.0);
            scorer.extractor.extract(sentence, view, places, row);
            let out = &mut by_head[(heads.len() - 1) * n..];
            scorer.classifier.scores(row.borrow(), classifier, out);
            heads.len() - 1
        });
        by_head[at * n + class]
    }
}

impl<C: Classifier> Reading for FocusedReading<'_, C> {
    fn begin(&mut self, _at: Configuration<'_>) -> Memory {
        self.cache.clear();
        self.scores.clear();
        Memory::None
    }

    fn score(
        &mut self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        out.clear();
        let mut span = None;
        let mut offset = 0;
        for &action in actions {
            let class = action.code as usize;
            let view = at.focused_view(action);
            let Some(focus) = view.focus.filter(|_| class < self.scorer.classifier.n_classes())
            else {
                out.push(f32::NEG_INFINITY);
                continue;
            };
            if span != Some((focus.first, focus.last)) {
                span = Some((focus.first, focus.last));
                self.heads.clear();
                offset = self.offset(&view, focus);
            }
            let mut score = self.scores[offset + class];
            if score.is_nan() {
                score = self.score_class(at.sentence, &view, focus.head, class);
                self.scores[offset + class] = score;
            }
            out.push(score);
        }
    }

    fn evidence(&mut self, at: Configuration<'_>, actions: [Action; 2]) -> Option<(Evidence, Row)> {
        let Self { scorer, places, row, classifier, .. } = self;
        let view = at.focused_view(actions[0]);
        scorer.extractor.extract(at.sentence, &view, places, row);
        let classes = actions.map(|action| action.code as u16);
        Some((scorer.classifier.evidence(row.borrow(), classes, classifier), row.clone()))
    }

    fn scale(&self) -> ScoreScale {
        self.scorer.classifier.scale()
    }
}

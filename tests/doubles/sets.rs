//! A toy learner that takes set columns, and a scorer of items that learns online.

use std::collections::{BTreeMap, HashMap};

use srparse::Result;
use srparse::classifier::{Classifier, Fit, Instances, Learner, ScoreScale, Scratch};
use srparse::feature::{ColumnKind, Extractor, Row, RowRef, Templates, extract};
use srparse::memory::Sections;
use srparse::scorer::{Configuration, Lesson, OnlineLearner, Scorer};
use srparse::symbols::Label;
use srparse::transition::TransitionSystem;
use srparse::transition::items::{Infer, Items};

fn mix(a: u64, b: u64) -> u64 {
    (a ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
}

/// The tests that hold of a row: "the set has this member" for each member, "the column has this
/// value", and one for the whole row.
fn tests_of(kinds: &[ColumnKind], row: RowRef<'_>) -> Vec<u64> {
    let (mut tests, mut whole) = (Vec::new(), 7);
    for (column, kind) in kinds.iter().enumerate() {
        let members = match kind {
            ColumnKind::Set => row.set(column).to_vec(),
            _ => vec![row.values[column]],
        };
        for member in members {
            let test = mix(column as u64 + 1, u64::from(member));
            tests.push(test);
            whole = mix(whole, test);
        }
        whole = mix(whole, 3);
    }
    tests.push(whole);
    tests
}

fn kinds_of(templates: &Templates) -> Vec<ColumnKind> {
    templates.columns().iter().map(|column| column.kind).collect()
}

/// A perceptron over exists tests.
#[derive(Debug, Clone, Copy)]
pub struct Exists {
    pub epochs: u32,
}

/// What [`Exists`] fits.
#[derive(Debug, Clone, Default)]
pub struct ExistsModel {
    kinds: Vec<ColumnKind>,
    weights: HashMap<(u64, u16), f32>,
    n_classes: usize,
}

impl ExistsModel {
    fn score(&self, tests: &[u64], class: u16) -> f32 {
        tests.iter().map(|&test| self.weights.get(&(test, class)).copied().unwrap_or(0.0)).sum()
    }

    fn change(&mut self, tests: &[u64], class: u16, by: f32) {
        for &test in tests {
            *self.weights.entry((test, class)).or_default() += by;
        }
    }
}

impl Learner for Exists {
    fn fit(&self, instances: &Instances, _fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let kinds = instances.columns().iter().map(|column| column.kind).collect();
        let n_classes = instances.n_classes();
        let mut model = ExistsModel { kinds, n_classes, ..ExistsModel::default() };
        let mut out = vec![0.0; n_classes];
        for _ in 0..self.epochs {
            for at in 0..instances.len() {
                model.scores(instances.row(at), &mut Scratch::default(), &mut out);
                let best = srparse::classifier::first_best(&out) as u16;
                let class = instances.class(at);
                if best != class {
                    let tests = tests_of(&model.kinds, instances.row(at));
                    model.change(&tests, class, 1.0);
                    model.change(&tests, best, -1.0);
                }
            }
        }
        Ok(Box::new(model))
    }

    fn load(&self, _sections: &Sections) -> Result<Box<dyn Classifier>> {
        Err(srparse::Error::Unfit("a double is not stored".to_owned()))
    }
}

impl Classifier for ExistsModel {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }

    fn scores(&self, row: RowRef<'_>, _scratch: &mut Scratch, out: &mut [f32]) {
        let tests = tests_of(&self.kinds, row);
        for (score, class) in out.iter_mut().zip(0..) {
            *score = self.score(&tests, class);
        }
    }

    fn store(&self, _sections: &mut Sections) {}
}

/// Scores candidates of the item system by the perceptron of their label, each seen in focus.
pub struct PerLabel {
    extractor: Extractor,
    kinds: Vec<ColumnKind>,
    online: BTreeMap<Label, ExistsModel>,
}

impl PerLabel {
    /// Nothing learned yet.
    pub fn new(templates: &Templates) -> Self {
        Self {
            extractor: Extractor::new(templates),
            kinds: kinds_of(templates),
            online: BTreeMap::new(),
        }
    }

    fn tests(&self, at: Configuration<'_, Items>, action: Infer, row: &mut Row) -> Vec<u64> {
        let view = at.system.view(at.state, Some(action));
        self.extractor.extract(at.sentence, &view, &mut extract::Scratch::default(), row);
        tests_of(&self.kinds, row.borrow())
    }
}

impl Scorer<Items> for PerLabel {
    type Memory = ();
    type Scratch = Row;

    fn begin(&self, _at: Configuration<'_, Items>, _scratch: &mut Self::Scratch) {}

    fn score(
        &self,
        at: Configuration<'_, Items>,
        _memory: &(),
        actions: &[Infer],
        row: &mut Row,
        out: &mut Vec<f32>,
    ) {
        out.clear();
        for &action in actions {
            let tests = self.tests(at, action, row);
            out.push(self.online.get(&action.label).map_or(0.0, |model| model.score(&tests, 0)));
        }
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }
}

impl OnlineLearner<Items> for PerLabel {
    fn learn(&mut self, lesson: &Lesson<'_, Items>, _memory: &(), row: &mut Row) -> f32 {
        if lesson.target == lesson.predicted {
            return 0.0;
        }
        for (at, by) in [(lesson.target, 1.0), (lesson.predicted, -1.0)] {
            let action = lesson.actions[at];
            let tests = self.tests(lesson.at, action, row);
            self.online.entry(action.label).or_default().change(&tests, 0, by);
        }
        1.0
    }
}

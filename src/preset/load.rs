//! From a model to a parser.

use super::Preset;
use super::learner::{LearnerChoice, Parts};
use super::plan::Plan;
use super::registry::{Source, SystemVisitor, with_system};
use crate::classifier::Classifier;
use crate::classifier::coarse_to_fine::{CoarseToFine, TwoStepIndicators};
use crate::classifier::linear::LinearModel;
use crate::decode::{Parser, Search, parser::Pipeline};
use crate::error::{Error, Result};
use crate::eval::{self, decisions::DecisionCounts, margins::Margins};
use crate::feature::Extractor;
use crate::memory::Sections;
use crate::model::{Model, bincode_section};
use crate::oracle::replay::Replay;
use crate::oracle::{Oracle, Supervised};
use crate::parallel;
use crate::scorer::factored::{Classes, Factored};
use crate::scorer::{Focused, Scorer};
use crate::symbols::{Label, Sentence, Vocabulary};
use crate::train::Example;
use crate::transition::items::Infer;
use crate::tree::Tree;

/// The preset stored in a model, changed by settings of what is not trained: `search.…`, and
/// `learner.threshold` of boosted trees.
///
/// # Errors
/// When the model's preset does not read, or a setting cannot be changed after training.
pub fn stored_preset(model: &Model, settings: &[String]) -> Result<Preset> {
    let preset: Preset = serde_json::from_value(model.header.preset.clone())
        .map_err(|error| Error::Unfit(format!("the model's preset does not read: {error}")))?;
    let changed = Preset::parse(&preset.to_toml(), "the model's preset", settings)?;
    let fixed = |preset: &Preset| {
        let learner = preset.learner.uncalibrated();
        Preset { search: Search::default(), learner, ..preset.clone() }
    };
    if fixed(&changed) != fixed(&preset) {
        let problem = "after training, only search.… and, for boosted trees, learner.threshold can be changed";
        return Err(Error::config("settings", problem));
    }
    Ok(changed)
}

/// The plan and the vocabulary of a model that parses.
fn open(model: &Model, settings: &[String]) -> Result<(Plan, Vocabulary)> {
    let preset = stored_preset(model, settings)?;
    if preset.only_tagger {
        let problem = "the model has a tagger but no parser: use it for tagging (`srparse tag`), or train a parser";
        return Err(Error::Unfit(problem.into()));
    }
    let plan = Plan::stored(preset, &model.header.templates, &model.header.heads)?;
    let labels = &model.header.training.labels;
    if !labels.is_empty() {
        return Err(Error::Unfit(format!(
            "the model was trained only for the labels {}: merge it with the models of the other labels",
            labels.join(", ")
        )));
    }
    Ok((plan, bincode_section::get(&model.sections, "vocabulary")?))
}

/// Makes a parser of a model; `settings` as for [`stored_preset`].
///
/// # Errors
/// When the parts of the model do not fit together.
pub fn load(model: &Model, settings: &[String]) -> Result<Box<dyn Parser>> {
    let (plan, vocabulary) = open(model, settings)?;
    with_scorer(model, &plan, &vocabulary, Load { plan: &plan, vocabulary: vocabulary.clone() })
}

/// What is done with a system and the scorer that was trained for it.
trait ScorerVisitor {
    type Output;

    fn visit<S: Supervised, P: Scorer<S> + 'static>(
        self,
        system: S,
        scorer: P,
    ) -> Result<Self::Output>;
}

/// Visits the system and the scorer of a model.
fn with_scorer<V: ScorerVisitor>(
    model: &Model,
    plan: &Plan,
    vocabulary: &Vocabulary,
    visitor: V,
) -> Result<V::Output> {
    let visitor = WithScorer { plan, vocabulary, sections: &model.sections, visitor };
    with_system(plan.making(Source::Tables(&model.header.system), vocabulary), visitor)
}

struct WithScorer<'a, V> {
    plan: &'a Plan,
    vocabulary: &'a Vocabulary,
    sections: &'a Sections,
    visitor: V,
}

impl<V: ScorerVisitor> SystemVisitor for WithScorer<'_, V> {
    type Output = V::Output;

    fn visit<S: Supervised>(self, system: S) -> Result<V::Output> {
        let Self { plan, vocabulary, sections, visitor } = self;
        if plan.preset.learner.takes_candidates() {
            let scorer = load_focused(plan, sections, &system)?;
            return visitor.visit(system, scorer);
        }
        if let LearnerChoice::Neural(params) = &plan.preset.learner {
            let scorer = params.load(&system, vocabulary, sections)?;
            return visitor.visit(system, scorer);
        }
        let scorer = load_scorer(plan, sections, &system)?;
        visitor.visit(system, scorer)
    }
}

struct Load<'a> {
    plan: &'a Plan,
    vocabulary: Vocabulary,
}

impl ScorerVisitor for Load<'_> {
    type Output = Box<dyn Parser>;

    fn visit<S: Supervised, P: Scorer<S> + 'static>(
        self,
        system: S,
        scorer: P,
    ) -> Result<Box<dyn Parser>> {
        Ok(Box::new(pipeline(self.plan, self.vocabulary, &system, scorer)))
    }
}

/// How often the model likes the oracle's action best on the way to these trees, which are cleaned and
/// head-marked as those it was trained on; trees without words are passed over. `settings` as for [`load`].
///
/// # Errors
/// When the parts of the model do not fit together.
pub fn decisions(model: &Model, settings: &[String], trees: Vec<Tree>) -> Result<DecisionCounts> {
    follow(model, settings, trees, CountDecisions)
}

/// How sure the model is of the candidates of a label on the way to such trees.
///
/// # Errors
/// When the parts of the model do not fit together, it scores no candidates, or knows no such label.
pub fn margins(
    model: &Model,
    settings: &[String],
    trees: Vec<Tree>,
    label: &str,
) -> Result<Margins> {
    if !stored_preset(model, settings)?.learner.takes_candidates() {
        let problem = "the model scores actions rather than candidates: give a model with system.kind = \"items\"";
        return Err(Error::config("margins", problem));
    }
    follow(model, settings, trees, MarginsOf { label })
}

/// A question about a scorer on the way to gold trees.
trait Question {
    type Answer;

    fn ask<S: Supervised, P: Scorer<S>, O: Oracle<S>>(
        self,
        system: &S,
        scorer: &P,
        oracle: &O,
        examples: &[Example],
    ) -> Result<Self::Answer>;
}

struct CountDecisions;

impl Question for CountDecisions {
    type Answer = DecisionCounts;

    fn ask<S: Supervised, P: Scorer<S>, O: Oracle<S>>(
        self,
        system: &S,
        scorer: &P,
        oracle: &O,
        examples: &[Example],
    ) -> Result<DecisionCounts> {
        Ok(eval::decisions::decisions(system, scorer, oracle, examples))
    }
}

struct MarginsOf<'a> {
    label: &'a str,
}

impl Question for MarginsOf<'_> {
    type Answer = Margins;

    fn ask<S: Supervised, P: Scorer<S>, O: Oracle<S>>(
        self,
        system: &S,
        scorer: &P,
        oracle: &O,
        examples: &[Example],
    ) -> Result<Margins> {
        let Some(label) = system.labels().position(|name| name == self.label) else {
            let known = system.labels().collect::<Vec<_>>().join(", ");
            let problem =
                format!("unknown label `{}`: the labels of the model are {known}", self.label);
            return Err(Error::config("margins", problem));
        };
        let label = Label(label as u16);
        Ok(eval::margins::margins(system, scorer, oracle, examples, label))
    }
}

/// Asks about a model's scorer on the way to trees.
fn follow<Q: Question>(
    model: &Model,
    settings: &[String],
    trees: Vec<Tree>,
    question: Q,
) -> Result<Q::Answer> {
    let (plan, vocabulary) = open(model, settings)?;
    let example = |tree: Tree| {
        let (tree, _) = plan.cleaned(tree);
        Example { sentence: vocabulary.encode(tree.tokens()), tree }
    };
    let mut examples: Vec<Example> = parallel::map_owned(trees, example);
    examples.retain(|example| !example.sentence.is_empty());
    // More than one candidate may be right.
    let several = plan.preset.learner.takes_candidates();
    with_scorer(model, &plan, &vocabulary, Follow { several, examples: &examples, question })
}

struct Follow<'a, Q> {
    several: bool,
    examples: &'a [Example],
    question: Q,
}

impl<Q: Question> ScorerVisitor for Follow<'_, Q> {
    type Output = Q::Answer;

    fn visit<S: Supervised, P: Scorer<S> + 'static>(
        self,
        system: S,
        scorer: P,
    ) -> Result<Q::Answer> {
        let Self { several, examples, question } = self;
        match system.dynamic_oracle().filter(|_| several) {
            Some(oracle) => question.ask(&system, &scorer, &oracle, examples),
            None => question.ask(&system, &scorer, &Replay, examples),
        }
    }
}

/// The scorer of candidates that was stored.
fn load_focused<S: Supervised>(plan: &Plan, sections: &Sections, system: &S) -> Result<Focused> {
    let classifier = plan.preset.learner.learner(&plan.parts::<Infer>(&[]))?.load(sections)?;
    let (scored, listed) = (classifier.n_classes(), system.labels().count());
    if scored != listed {
        return Err(Error::Unfit(format!(
            "the trees score {scored} labels, the system has {listed}"
        )));
    }
    Ok(Focused::new(Extractor::new(&plan.templates), classifier))
}

/// The scorer that was stored.
fn load_scorer<S: Supervised>(plan: &Plan, sections: &Sections, system: &S) -> Result<Factored> {
    let mut inventory = Vec::new();
    system.inventory(&system.start(&Sentence::default()), &mut inventory);
    let mut classes = Classes::of(&inventory);
    if matches!(plan.preset.learner, LearnerChoice::StructuredPerceptron(_)) {
        classes = classes.with_idle();
    }
    let classifier = load_classifier(plan, &plan.parts(&inventory), sections)?;
    if classifier.n_classes() != classes.len() {
        let (scored, listed) = (classifier.n_classes(), classes.len());
        return Err(Error::Unfit(format!(
            "the weights score {scored} actions, the system has {listed}"
        )));
    }
    Ok(Factored::new(Extractor::new(&plan.templates), classes, classifier))
}

/// The classifier that the learner stored.
fn load_classifier(plan: &Plan, parts: &Parts, sections: &Sections) -> Result<Box<dyn Classifier>> {
    let templates = &plan.templates;
    match &plan.preset.learner {
        choice if choice.decides_kind_first() => {
            Ok(Box::new(CoarseToFine::load(TwoStepIndicators::new(templates), sections)?))
        }
        choice if choice.learns_while_parsing() => {
            Ok(Box::new(LinearModel::load(parts.indicators.clone(), sections)?))
        }
        choice => choice.learner(parts)?.load(sections),
    }
}

/// A parser of parts that are already there.
pub(super) fn pipeline<S: Supervised, P>(
    plan: &Plan,
    vocabulary: Vocabulary,
    system: &S,
    scorer: P,
) -> Pipeline<S, P, Search> {
    let Preset { clean, search, .. } = &plan.preset;
    Pipeline {
        cleaning: clean.clone(),
        vocabulary,
        system: system.clone(),
        scorer,
        decoder: search.clone(),
    }
}

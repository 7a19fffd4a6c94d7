//! Learning from a teacher: another model, whose probabilities of the actions are a part of what a network learns, in
//! every configuration that training reaches (distillation; Kuncoro et al. 2016, section 4).

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::{Trainer, name_of};
use crate::classifier::ScoreScale;
use crate::error::{Error, Result};
use crate::memory::Array;
use crate::model::{Header, Model, vocabulary};
use crate::parser::stored_preset;
use crate::preset::MethodChoice;
use crate::preset::plan::Plan;
use crate::preset::registry::load_scorer;
use crate::scorer::neural::Ensemble;
use crate::scorer::{Components, Configuration, Lesson, Memory, OnlineLearner, Reading, Scorer};
use crate::symbols::{Sentence, Vocabulary};
use crate::transition::{Action, TransitionSystem};
use crate::tree::Tree;
use crate::treebank::Cleaning;

/// A model that others learn from.
pub struct Teacher {
    /// Its scorer, whose scores are log-probabilities.
    scorer: Ensemble,
    /// Its vocabulary.
    vocabulary: Vocabulary,
    /// The share of its probabilities in what is learned.
    weight: f32,
    /// A hash of the model.
    pub fingerprint: u64,
}

impl Teacher {
    /// A teacher made of scorers whose scores are log-probabilities.
    pub fn new(
        scorers: Vec<Box<dyn Scorer>>,
        vocabulary: Vocabulary,
        weight: f32,
        fingerprint: u64,
    ) -> Self {
        Self { scorer: Ensemble::new(scorers), vocabulary, weight, fingerprint }
    }

    /// What it is asked by, in one thread.
    pub fn reading(&self) -> TeacherReading<'_> {
        let (sentence, probabilities) = (Sentence::default(), Vec::new());
        TeacherReading { teacher: self, reading: self.scorer.reading(), sentence, probabilities }
    }
}

/// A teacher on a sentence.
pub struct TeacherReading<'a> {
    teacher: &'a Teacher,
    reading: Box<dyn Reading + 'a>,
    /// The sentence, encoded for the teacher.
    sentence: Sentence,
    probabilities: Vec<f32>,
}

/// A network in training, with its teacher.
pub struct Student<'a, 't> {
    /// The network.
    pub student: &'a mut dyn OnlineLearner,
    /// The teacher.
    pub teacher: &'a mut TeacherReading<'t>,
}

impl<'a, 't> Student<'a, 't> {
    /// A learner on a sentence whose tree is given, with a teacher.
    pub fn new(
        student: &'a mut dyn OnlineLearner,
        teacher: &'a mut TeacherReading<'t>,
        tree: &Tree,
    ) -> Self {
        teacher.sentence = teacher.teacher.vocabulary.encode(tree.tokens());
        Self { student, teacher }
    }
}

/// The memory of the student and that of the teacher.
fn memories(memory: &Memory) -> (&Memory, &Memory) {
    match memory {
        Memory::Members(both) => (&both[0], &both[1]),
        other => (other, other),
    }
}

impl Reading for Student<'_, '_> {
    fn begin(&mut self, at: Configuration<'_>) -> Memory {
        let TeacherReading { reading, sentence, .. } = &mut *self.teacher;
        reading.read(&mut sentence.clone());
        let of_teacher = reading.begin(Configuration { sentence, ..at });
        Memory::Members(vec![self.student.begin(at), of_teacher])
    }

    fn score(
        &mut self,
        at: Configuration<'_>,
        memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        self.student.score(at, memories(memory).0, actions, out);
    }

    fn advance(&mut self, after: Configuration<'_>, action: Action, memory: &mut Memory) {
        let Memory::Members(both) = memory else { return };
        self.student.advance(after, action, &mut both[0]);
        let TeacherReading { reading, sentence, .. } = &mut *self.teacher;
        reading.advance(Configuration { sentence, ..after }, action, &mut both[1]);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

impl OnlineLearner for Student<'_, '_> {
    fn learn(&mut self, lesson: &Lesson<'_>) {
        let TeacherReading { teacher, reading, sentence, probabilities } = &mut *self.teacher;
        let at = Configuration { sentence, ..lesson.at };
        let (own, others) = memories(lesson.memory);
        reading.score(at, others, lesson.actions, probabilities);
        let weighted = |score: &mut f32| *score = teacher.weight * score.exp();
        probabilities.iter_mut().for_each(weighted);
        self.student.learn(&Lesson { memory: own, taught: probabilities, ..*lesson });
    }
}

/// The teacher of a training run, made of its models; `None` without any.
///
/// # Errors
/// When the learner takes no teacher, or the models cannot be one.
pub(super) fn load(
    trainer: &Trainer<'_>,
    system: &dyn TransitionSystem,
) -> Result<Option<Teacher>> {
    if trainer.teachers.is_empty() {
        return Ok(None);
    }
    let (vocabulary, weight) = check(trainer)?;
    let mut scorers = Vec::new();
    for (model, number) in trainer.teachers.iter().zip(1..) {
        let plan = plan(trainer, (model, number), &system.stored())?;
        let components = Components { system, templates: &plan.templates, vocabulary: &vocabulary };
        let scorer = load_scorer(&plan.preset.learner, components, &model.sections)?;
        check_scale((model, number), scorer.reading().scale())?;
        scorers.push(scorer);
    }
    Ok(Some(Teacher::new(scorers, vocabulary, weight, fingerprint(&trainer.teachers))))
}

/// Checks that the learner takes a teacher, and that all models have the same vocabulary; returns this, and the weight
/// of the teacher.
fn check(trainer: &Trainer<'_>) -> Result<(Vocabulary, f32)> {
    let MethodChoice::Neural(params) = &trainer.preset().learner else {
        let problem = "only networks learn from the probabilities of other models: use a preset with \
                       learner.kind = \"neural\"";
        return Err(Error::config("teacher", problem));
    };
    let words = |model: &Model| -> Result<Array<u8>> { model.sections.get("vocabulary") };
    let first = &trainer.teachers[0];
    for (model, number) in trainer.teachers.iter().zip(1..) {
        if stored_preset(model, &[])?.only_tagger {
            return Err(unsuitable(
                (model, number),
                "has a tagger but no parser: use that of a parser",
            ));
        }
        if *words(model)? != *words(first)? {
            let problem = "has another vocabulary than the first: train both on the same trees";
            return Err(unsuitable((model, number), problem));
        }
    }
    Ok((vocabulary::load(&first.sections)?, params.teacher_weight))
}

/// The plan of a model, which must have this system, and the head table and cleaning of the run but for two settings.
fn plan(
    trainer: &Trainer<'_>,
    (model, number): (&Model, usize),
    system: &serde_json::Value,
) -> Result<Plan> {
    let Header { system: other, templates, heads, .. } = &model.header;
    let plan = Plan::stored(stored_preset(model, &[])?, templates, heads)?;
    let clean = &plan.preset.clean;
    // Neither matters to a teacher: it has its own vocabulary, and reads trees, not texts.
    let (unknown_below, attached) = (clean.unknown_below, clean.attached.clone());
    let expected = Cleaning { unknown_below, attached, ..trainer.preset().clean.clone() };
    let differences = [
        ("transition system, labels or limits", other == system),
        ("head table", heads == trainer.plan.heads_text()),
        ("cleaning", *clean == expected),
    ];
    match differences.into_iter().find(|(_, same)| !same) {
        None => Ok(plan),
        Some((what, _)) => Err(unsuitable(
            (model, number),
            &format!(
                "has another {what}: train it on the same trees, with the same [system] and [clean]"
            ),
        )),
    }
}

fn check_scale(model: (&Model, usize), scale: ScoreScale) -> Result<()> {
    if scale == ScoreScale::LogProb {
        return Ok(());
    }
    Err(unsuitable(
        model,
        "has scores that are not probabilities: use a network, or maximum entropy",
    ))
}

/// A hash of models.
pub(super) fn fingerprint(models: &[Model]) -> u64 {
    let mut hasher = FxHasher::default();
    models.iter().for_each(|model| model.to_bytes().hash(&mut hasher));
    hasher.finish()
}

fn unsuitable((model, number): (&Model, usize), problem: &str) -> Error {
    Error::config("teacher", format!("{} {problem}", name_of(model, number)))
}

//! Learning from a teacher: another model, whose probabilities of the actions are a part of what a network learns, in
//! every configuration that training reaches (distillation; Kuncoro et al. 2016, section 4).

use crate::classifier::ScoreScale;
use crate::scorer::neural::{Ensemble, NeuralLearner};
use crate::scorer::{Configuration, Lesson, Memory, OnlineLearner, Scorer, Scratch};
use crate::symbols::{Sentence, Vocabulary};
use crate::transition::Action;
use crate::tree::Tree;

/// A model that others learn from.
pub struct Teacher {
    /// Its scorer, whose scores are log-probabilities. An ensemble has memory of its own for each member, so it can
    /// be used beside another network.
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

    /// A learner on a sentence whose tree is given, with this teacher.
    pub fn teach<'a>(&'a self, student: NeuralLearner<'a>, tree: &Tree) -> Student<'a> {
        let sentence = self.vocabulary.encode(tree.tokens());
        Student { student, teacher: self, sentence, probabilities: Vec::new() }
    }
}

/// A network in training, with its teacher.
pub struct Student<'a> {
    student: NeuralLearner<'a>,
    teacher: &'a Teacher,
    /// The sentence, encoded for the teacher.
    sentence: Sentence,
    probabilities: Vec<f32>,
}

/// The memory of the student and that of the teacher.
fn memories(memory: &Memory) -> (&Memory, &Memory) {
    match memory {
        Memory::Members(both) => (&both[0], &both[1]),
        other => (other, other),
    }
}

impl Student<'_> {
    fn teachers<'b>(&'b self, at: Configuration<'b>) -> Configuration<'b> {
        Configuration { sentence: &self.sentence, ..at }
    }
}

impl Scorer for Student<'_> {
    fn begin(&self, at: Configuration<'_>, scratch: &mut Scratch) -> Memory {
        self.teacher.scorer.prepare(&mut self.sentence.clone(), scratch);
        let student = Scorer::begin(&self.student, at, scratch);
        Memory::Members(vec![student, self.teacher.scorer.begin(self.teachers(at), scratch)])
    }

    fn score(
        &self,
        at: Configuration<'_>,
        memory: &Memory,
        actions: &[Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) {
        self.student.score(at, memories(memory).0, actions, scratch, out);
    }

    fn advance(
        &self,
        after: Configuration<'_>,
        action: Action,
        memory: &mut Memory,
        scratch: &mut Scratch,
    ) {
        let Memory::Members(both) = memory else { return };
        self.student.advance(after, action, &mut both[0], scratch);
        self.teacher.scorer.advance(self.teachers(after), action, &mut both[1], scratch);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

impl OnlineLearner for Student<'_> {
    fn learn(&mut self, lesson: &Lesson<'_>, scratch: &mut Scratch) {
        let Self { student, teacher, sentence, probabilities } = self;
        let at = Configuration { sentence, ..lesson.at };
        let (own, others) = memories(lesson.memory);
        teacher.scorer.score(at, others, lesson.actions, scratch, probabilities);
        let weighted = |score: &mut f32| *score = teacher.weight * score.exp();
        probabilities.iter_mut().for_each(weighted);
        student.learn(&Lesson { memory: own, taught: probabilities, ..*lesson }, scratch);
    }
}

//! Ensembles of networks: the mean of their log-probabilities, and a vote on tags.

use super::normalize;
use crate::classifier::ScoreScale;
use crate::scorer::{Configuration, Memory, Reading, Scorer};
use crate::symbols::{Sentence, UNKNOWN};
use crate::transition::Action;

/// An ensemble of scorers of log-probabilities.
pub struct Ensemble {
    members: Vec<Box<dyn Scorer>>,
}

/// The reading of an ensemble.
struct EnsembleReading<'a> {
    members: Vec<Member<'a>>,
    scores: Vec<f32>,
}

/// The reading of a member.
struct Member<'a> {
    reading: Box<dyn Reading + 'a>,
    /// The sentence with the tags that the member predicts.
    sentence: Sentence,
}

impl Ensemble {
    /// An ensemble of at least one member.
    pub fn new(members: Vec<Box<dyn Scorer>>) -> Self {
        Self { members }
    }
}

/// The memory of a member, in that of the ensemble.
fn memory_of(memory: &Memory, number: usize) -> &Memory {
    match memory {
        Memory::Members(members) => &members[number],
        other => other,
    }
}

/// The most frequent tag of a token; ties go to the earlier member.
fn vote(members: &[Member<'_>], token: usize) -> u32 {
    let tag = |member: &Member<'_>| member.sentence.tags[token];
    let votes = |of: u32| members.iter().filter(|member| tag(member) == of).count();
    members.iter().map(tag).rev().max_by_key(|&tag| votes(tag)).unwrap_or(UNKNOWN)
}

impl Scorer for Ensemble {
    fn reading(&self) -> Box<dyn Reading + '_> {
        let readings = self.members.iter().map(|scorer| scorer.reading());
        let member = |reading| Member { reading, sentence: Sentence::default() };
        Box::new(EnsembleReading { members: readings.map(member).collect(), scores: Vec::new() })
    }
}

impl Reading for EnsembleReading<'_> {
    fn read(&mut self, sentence: &mut Sentence) {
        for member in &mut self.members {
            member.sentence.clone_from(sentence);
            member.reading.read(&mut member.sentence);
        }
        for (token, tag) in sentence.tags.iter_mut().enumerate() {
            if *tag == UNKNOWN {
                *tag = vote(&self.members, token);
            }
        }
    }

    fn begin(&mut self, at: Configuration<'_>) -> Memory {
        let memories: Vec<Memory> =
            self.members.iter_mut().map(|member| member.reading.begin(at)).collect();
        match memories.iter().all(|memory| matches!(memory, Memory::None)) {
            true => Memory::None,
            false => Memory::Members(memories),
        }
    }

    fn score(
        &mut self,
        at: Configuration<'_>,
        memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        let Self { members, scores } = self;
        out.clear();
        out.resize(actions.len(), 0.0);
        let share = 1.0 / members.len() as f32;
        for (number, member) in members.iter_mut().enumerate() {
            member.reading.score(at, memory_of(memory, number), actions, scores);
            out.iter_mut().zip(&*scores).for_each(|(sum, score)| *sum += share * score);
        }
        normalize(out);
    }

    fn advance(&mut self, after: Configuration<'_>, action: Action, memory: &mut Memory) {
        let Memory::Members(memories) = memory else { return };
        for (member, memory) in self.members.iter_mut().zip(memories) {
            member.reading.advance(after, action, memory);
        }
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transition::TransitionSystem;
    use crate::transition::binary::Binary;
    use crate::tree::TreeBuilder;

    /// Gives the same scores always, and unknown words a tag.
    #[derive(Clone, Copy)]
    struct Fixed {
        scores: [f32; 2],
        tag: u32,
    }

    impl Scorer for Fixed {
        fn reading(&self) -> Box<dyn Reading + '_> {
            Box::new(*self)
        }
    }

    impl Reading for Fixed {
        fn read(&mut self, sentence: &mut Sentence) {
            sentence.tags.iter_mut().filter(|tag| **tag == UNKNOWN).for_each(|tag| *tag = self.tag);
        }
        fn score(
            &mut self,
            _at: Configuration<'_>,
            _memory: &Memory,
            _actions: &[Action],
            out: &mut Vec<f32>,
        ) {
            out.clear();
            out.extend(self.scores.map(f32::ln));
        }
        fn scale(&self) -> ScoreScale {
            ScoreScale::LogProb
        }
    }

    #[test]
    fn log_probabilities_are_averaged_and_tags_voted_on() {
        let mut builder = TreeBuilder::new();
        builder.open("TOP");
        builder.token("a", "NN");
        builder.close();
        let tree = builder.finish();
        let system = Binary::of_trees([&tree]).unwrap();
        let members = [([0.9, 0.1], 7), ([0.5, 0.5], 8), ([0.1, 0.9], 8), ([0.1, 0.9], 7)];
        let members: Vec<Box<dyn Scorer>> =
            members.into_iter().map(|(scores, tag)| Box::new(Fixed { scores, tag }) as _).collect();
        let ensemble = Ensemble::new(members);
        let mut sentence =
            Sentence { words: vec![3, 4], tags: vec![UNKNOWN, 5], ..Sentence::default() };
        let mut reading = ensemble.reading();
        reading.read(&mut sentence);
        // Two against two: the first decides. Given tags stay.
        assert_eq!(sentence.tags, [7, 5]);
        let (state, forest) = system.start(&sentence);
        let at =
            Configuration { system: &system, sentence: &sentence, state: &state, forest: &forest };
        let memory = reading.begin(at);
        let mut actions = Vec::new();
        system.inventory(at.state, at.forest, &mut actions);
        let mut scores = Vec::new();
        reading.score(at, &memory, &actions[..2], &mut scores);
        // The geometric means of 0.9, 0.5, 0.1, 0.1 and of 0.1, 0.5, 0.9, 0.9, as parts of their sum.
        let means =
            [0.9 * 0.5 * 0.1 * 0.1, 0.1 * 0.5 * 0.9 * 0.9].map(|product: f32| product.powf(0.25));
        for (score, mean) in scores.iter().zip(means) {
            assert!((score.exp() - mean / (means[0] + means[1])).abs() < 1e-6);
        }
    }
}

//! Several networks that decide together: the mean of their log-probabilities, and a vote on tags.

use super::normalize;
use crate::classifier::ScoreScale;
use crate::scorer::{Configuration, Memory, Scorer, Scratch};
use crate::symbols::{Sentence, UNKNOWN};
use crate::transition::Action;

/// Scorers of log-probabilities that decide together.
pub struct Ensemble {
    members: Vec<Box<dyn Scorer>>,
}

/// Memory of one thread.
#[derive(Debug, Default)]
pub struct EnsembleScratch {
    members: Vec<Member>,
    scores: Vec<f32>,
}

/// The memory of a member.
#[derive(Debug, Default)]
struct Member {
    scratch: Scratch,
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
fn vote(members: &[Member], token: usize) -> u32 {
    let tag = |member: &Member| member.sentence.tags[token];
    let votes = |of: u32| members.iter().filter(|member| tag(member) == of).count();
    members.iter().map(tag).rev().max_by_key(|&tag| votes(tag)).unwrap_or(UNKNOWN)
}

impl Scorer for Ensemble {
    fn prepare(&self, sentence: &mut Sentence, scratch: &mut Scratch) {
        let EnsembleScratch { members, .. } = &mut scratch.ensemble;
        members.resize_with(self.members.len(), Member::default);
        for (scorer, member) in self.members.iter().zip(&mut *members) {
            member.sentence.clone_from(sentence);
            scorer.prepare(&mut member.sentence, &mut member.scratch);
        }
        for (token, tag) in sentence.tags.iter_mut().enumerate() {
            if *tag == UNKNOWN {
                *tag = vote(members, token);
            }
        }
    }

    fn begin(&self, at: Configuration<'_>, scratch: &mut Scratch) -> Memory {
        let members = self.members.iter().zip(&mut scratch.ensemble.members);
        let memories: Vec<Memory> =
            members.map(|(scorer, member)| scorer.begin(at, &mut member.scratch)).collect();
        match memories.iter().all(|memory| matches!(memory, Memory::None)) {
            true => Memory::None,
            false => Memory::Members(memories),
        }
    }

    fn score(
        &self,
        at: Configuration<'_>,
        memory: &Memory,
        actions: &[Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) {
        let EnsembleScratch { members, scores } = &mut scratch.ensemble;
        out.clear();
        out.resize(actions.len(), 0.0);
        let share = 1.0 / self.members.len() as f32;
        for (number, (scorer, member)) in self.members.iter().zip(members).enumerate() {
            scorer.score(at, memory_of(memory, number), actions, &mut member.scratch, scores);
            out.iter_mut().zip(&*scores).for_each(|(sum, score)| *sum += share * score);
        }
        normalize(out);
    }

    fn advance(
        &self,
        after: Configuration<'_>,
        action: Action,
        memory: &mut Memory,
        scratch: &mut Scratch,
    ) {
        let Memory::Members(memories) = memory else { return };
        let members = self.members.iter().zip(&mut scratch.ensemble.members);
        for ((scorer, member), memory) in members.zip(memories) {
            scorer.advance(after, action, memory, &mut member.scratch);
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
    struct Fixed {
        scores: [f32; 2],
        tag: u32,
    }

    impl Scorer for Fixed {
        fn prepare(&self, sentence: &mut Sentence, _scratch: &mut Scratch) {
            sentence.tags.iter_mut().filter(|tag| **tag == UNKNOWN).for_each(|tag| *tag = self.tag);
        }
        fn begin(&self, _at: Configuration<'_>, _scratch: &mut Scratch) -> Memory {
            Memory::None
        }
        fn score(
            &self,
            _at: Configuration<'_>,
            _memory: &Memory,
            _actions: &[Action],
            _scratch: &mut Scratch,
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
        let mut scratch = Scratch::default();
        ensemble.prepare(&mut sentence, &mut scratch);
        // Two against two: the first decides. Given tags stay.
        assert_eq!(sentence.tags, [7, 5]);
        let (state, forest) = system.start(&sentence);
        let at =
            Configuration { system: &system, sentence: &sentence, state: &state, forest: &forest };
        let memory = ensemble.begin(at, &mut scratch);
        let mut actions = Vec::new();
        system.inventory(at.state, at.forest, &mut actions);
        let mut scores = Vec::new();
        ensemble.score(at, &memory, &actions[..2], &mut scratch, &mut scores);
        // The geometric means of 0.9, 0.5, 0.1, 0.1 and of 0.1, 0.5, 0.9, 0.9, as parts of their sum.
        let means =
            [0.9 * 0.5 * 0.1 * 0.1, 0.1 * 0.5 * 0.9 * 0.9].map(|product: f32| product.powf(0.25));
        for (score, mean) in scores.iter().zip(means) {
            assert!((score.exp() - mean / (means[0] + means[1])).abs() < 1e-6);
        }
    }
}

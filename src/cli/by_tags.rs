//! Scoring with the tags of the parses, or with gold tags if the former would leave out too many sentences.

use super::options::ScoringArgs;
use crate::eval::{Evaluation, Params, Status};

/// Scores by both kinds of tags, until it is known which to use.
pub(super) struct ByTags<S> {
    /// By the tags that are asked for, or else those of the parses.
    scores: S,
    /// By gold tags, unless one kind is asked for.
    by_gold: Option<S>,
    sentences: u64,
    /// Sentences that are scored only with gold tags.
    rescued: u64,
}

/// The largest share of sentences, in percent, that may be left out because of their tags.
const MOST_LEFT_OUT: u64 = 1;

impl<S> ByTags<S> {
    /// Makes the scores: of an evaluation without sentences, which knows the tags.
    pub(super) fn new(
        scoring: &ScoringArgs,
        params: &Params,
        make: impl Fn(Evaluation) -> S,
    ) -> Self {
        let make = |gold_tags| {
            let mut evaluation = Evaluation::new(params.clone(), None);
            evaluation.gold_tags = gold_tags;
            make(evaluation)
        };
        let is_asked = scoring.gold_tags || scoring.own_tags;
        let (scores, by_gold) = (make(scoring.gold_tags), (!is_asked).then(|| make(true)));
        Self { scores, by_gold, sentences: 0, rescued: 0 }
    }

    /// Scores a sentence by both kinds of tags; `score` returns the status of each parse.
    pub(super) fn add(&mut self, mut score: impl FnMut(&mut S) -> Vec<Status>) {
        self.sentences += 1;
        let first = score(&mut self.scores);
        let Some(by_gold) = &mut self.by_gold else { return };
        let gold = score(by_gold);
        let is_rescued =
            |(first, gold): (&Status, &Status)| *first != Status::Valid && *gold == Status::Valid;
        self.rescued += u64::from(first.iter().zip(&gold).any(is_rescued));
    }

    /// The scores to use: those by gold tags if they are asked for, or if the other tags leave out more than
    /// [`MOST_LEFT_OUT`] percent of the sentences, which is said unless `quiet`.
    pub(super) fn choose(self, quiet: bool) -> S {
        let Self { scores, by_gold, rescued, sentences } = self;
        let leaves_out = rescued * 100 > sentences * MOST_LEFT_OUT;
        let Some(by_gold) = by_gold.filter(|_| leaves_out) else { return scores };
        if !quiet {
            say!(
                "note: because of other tags, other words count as punctuation in {rescued} of {sentences} sentences, \
                 which would be left out: all are scored with gold tags, as with --gold-tags; --own-tags scores them \
                 as EVALB does"
            );
        }
        by_gold
    }
}

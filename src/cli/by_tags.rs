//! Scoring with the tags of the parses, or with gold tags if the former would leave out too many sentences.

use super::options::ScoringArgs;
use crate::eval::{Evaluation, Params, Status};

/// Scores by both kinds of tags, until it is known which to use.
pub(super) struct ByTags<S> {
    scores: Scores<S>,
    sentences: u64,
    /// Sentences that are scored only with gold tags.
    rescued: u64,
}

enum Scores<S> {
    /// By the tags that are asked for.
    One(S),
    Both {
        /// By the tags of the parses.
        own: S,
        gold: S,
    },
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
        let scores = if scoring.gold_tags || scoring.own_tags {
            Scores::One(make(scoring.gold_tags))
        } else {
            Scores::Both { own: make(false), gold: make(true) }
        };
        Self { scores, sentences: 0, rescued: 0 }
    }

    /// Scores a sentence by both kinds of tags; `score` returns the status of each parse.
    pub(super) fn add<E>(
        &mut self,
        mut score: impl FnMut(&mut S) -> Result<Vec<Status>, E>,
    ) -> Result<(), E> {
        self.sentences += 1;
        match &mut self.scores {
            Scores::One(scores) => drop(score(scores)?),
            Scores::Both { own, gold } => {
                let (own, gold) = (score(own)?, score(gold)?);
                let is_rescued = |(own, gold): (&Status, &Status)| {
                    *own != Status::Valid && *gold == Status::Valid
                };
                self.rescued += u64::from(own.iter().zip(&gold).any(is_rescued));
            }
        }
        Ok(())
    }

    /// The scores to use: those by gold tags if they are asked for, or if the other tags leave out more than
    /// [`MOST_LEFT_OUT`] percent of the sentences, which is said unless `quiet`.
    pub(super) fn choose(self, quiet: bool) -> S {
        let Self { scores, rescued, sentences } = self;
        let (own, gold) = match scores {
            Scores::One(scores) => return scores,
            Scores::Both { own, gold } => (own, gold),
        };
        if rescued * 100 <= sentences * MOST_LEFT_OUT {
            return own;
        }
        if !quiet {
            say!(
                "note: because of other tags, other words count as punctuation in {rescued} of {sentences} sentences, \
                 which would be left out: all are scored with gold tags, as with --gold-tags; --own-tags scores them \
                 as EVALB does"
            );
        }
        gold
    }
}

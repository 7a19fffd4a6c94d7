//! The hypotheses of a beam, step by step, and how near the winner came to being dropped.

use std::cmp::Reverse;

use serde::Serialize;

use crate::decode::Beam;
use crate::decode::beam::Agenda;
use crate::transition::{Action, TransitionSystem};

/// The beam of a search, step by step.
#[derive(Debug, Clone, Serialize)]
pub struct BeamTrace {
    /// The beam size: the maximum number of hypotheses.
    pub width: usize,
    /// The beam after each step of the derivation, then after the idle steps that the winner takes until the others are
    /// finished.
    pub steps: Vec<BeamAfterStep>,
    /// The step, from 0, at which the winner was nearest to being dropped; none if it has no margin at any step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearly_lost: Option<usize>,
}

/// The beam after a step.
#[derive(Debug, Clone, Serialize)]
pub struct BeamAfterStep {
    /// The best hypotheses, the best first, and the winner.
    pub hypotheses: Vec<RankedHypothesis>,
    /// The number of hypotheses.
    pub size: usize,
    /// The rank of the winner, from 1.
    pub rank: usize,
    /// How much less the winner could have scored without being dropped: its lead over the last hypothesis of a full
    /// beam, or what is left to the threshold if that is less. None in a beam that is not full without a threshold, and
    /// for a single hypothesis.
    pub margin: Option<f64>,
}

/// A hypothesis of the beam.
#[derive(Debug, Clone, Serialize)]
pub struct RankedHypothesis {
    /// Its rank, from 1.
    pub rank: usize,
    /// The score of its path; none if it is infinite.
    pub score: Option<f64>,
    /// Its last action; none for an idle step.
    pub action: Option<String>,
    /// The rank before this step of the hypothesis that it extends.
    pub from: usize,
    /// Whether it becomes the parse.
    pub winner: bool,
}

/// A hypothesis of a beam.
#[derive(Clone, Copy)]
pub(super) struct Snapshot {
    /// The position of its parent in the beam before.
    parent: usize,
    /// Its last action; none for an idle step.
    action: Option<Action>,
    score: f64,
}

/// The hypotheses of a beam, best first.
pub(super) fn snapshot(agenda: &Agenda) -> Vec<Snapshot> {
    let hypotheses = agenda.beam().iter();
    let of = |hypothesis| {
        let (parent, action) = agenda.last_step(hypothesis)?;
        Some(Snapshot { parent, action, score: hypothesis.score })
    };
    hypotheses.filter_map(of).collect()
}

impl BeamTrace {
    /// The `best` hypotheses of each beam, and the one that becomes the derivation of `actions`; `None` if no beam was
    /// searched.
    pub(super) fn new(
        (system, beam): (&dyn TransitionSystem, &Beam),
        beams: &[Vec<Snapshot>],
        actions: &[Action],
        best: usize,
    ) -> Option<Self> {
        let mut steps = Vec::with_capacity(beams.len());
        let mut winner = 0;
        for (hypotheses, step) in beams.iter().zip(0..) {
            let (parent, action) = (winner, actions.get(step).copied());
            winner =
                hypotheses.iter().position(|one| (one.parent, one.action) == (parent, action))?;
            let is_listed = |&(at, _): &(usize, _)| at < best || at == winner;
            let ranked =
                |(at, &Snapshot { parent, action, score }): (usize, &_)| RankedHypothesis {
                    rank: at + 1,
                    score: Some(score).filter(|score| score.is_finite()),
                    action: action.map(|action| system.name(action)),
                    from: parent + 1,
                    winner: at == winner,
                };
            let scores: Vec<f64> = hypotheses.iter().map(|one| one.score).collect();
            steps.push(BeamAfterStep {
                hypotheses: hypotheses.iter().enumerate().filter(is_listed).map(ranked).collect(),
                size: hypotheses.len(),
                rank: winner + 1,
                margin: margin(beam, &scores, winner, step + 1),
            });
        }
        let nearly_lost = nearly_lost(&steps);
        (!steps.is_empty()).then_some(Self { width: beam.width, steps, nearly_lost })
    }

    /// The step at which the winner was nearest to being dropped, and the beam after it.
    pub fn nearest(&self) -> Option<(usize, &BeamAfterStep)> {
        self.nearly_lost.and_then(|at| Some((at, self.steps.get(at)?)))
    }
}

/// How much less a hypothesis could have scored without being dropped.
fn margin(beam: &Beam, scores: &[f64], at: usize, n_steps: usize) -> Option<f64> {
    let &[best, .., last] = scores else { return None };
    let over_last = beam.lead(scores[at], last, n_steps);
    let to_threshold = beam.threshold - beam.lead(best, scores[at], n_steps);
    let limits = [(scores.len() == beam.width, over_last), (beam.threshold > 0.0, to_threshold)];
    let limits = limits.into_iter().filter(|&(applies, limit)| applies && limit.is_finite());
    limits.map(|(_, limit)| limit).min_by(f64::total_cmp)
}

/// The step of the smallest margin; of several, that of the lowest rank, then the first.
fn nearly_lost(steps: &[BeamAfterStep]) -> Option<usize> {
    let margins = steps.iter().enumerate();
    let margins = margins.filter_map(|(at, step)| Some((at, step.margin?, Reverse(step.rank))));
    let nearest = margins.min_by(|a, b| a.1.total_cmp(&b.1).then(a.2.cmp(&b.2)));
    nearest.map(|(at, _, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::PathScore;

    #[test]
    fn a_margin_reaches_to_the_last_of_a_full_beam_or_to_the_threshold() {
        let scores = [5.0, 4.5, 2.0];
        let margin = |width, threshold, path_score, at| {
            margin(&Beam { width, threshold, path_score }, &scores, at, 10)
        };
        assert_eq!(margin(3, 0.0, PathScore::Sum, 1), Some(2.5));
        assert_eq!(margin(3, 0.0, PathScore::Mean, 1), Some(25.0));
        assert_eq!(margin(3, 1.0, PathScore::Sum, 1), Some(0.5));
        assert_eq!(margin(4, 4.0, PathScore::Sum, 2), Some(1.0));
        assert_eq!(margin(4, 0.0, PathScore::Sum, 2), None);
        let infinite = [f64::INFINITY; 2];
        let beam = Beam { width: 2, threshold: 1.0, path_score: PathScore::Min };
        assert_eq!(super::margin(&beam, &infinite, 1, 1), None);
        assert_eq!(super::margin(&beam, &infinite[..1], 0, 1), None);
    }

    #[test]
    fn the_winner_is_nearly_lost_where_its_margin_is_least_and_its_rank_lowest() {
        let step = |rank, margin| BeamAfterStep { hypotheses: vec![], size: 4, rank, margin };
        let steps = [step(1, None), step(1, Some(2.0)), step(3, Some(0.0)), step(4, Some(0.0))];
        assert_eq!(nearly_lost(&steps), Some(3));
        assert_eq!(nearly_lost(&steps[..2]), Some(1));
        assert_eq!(nearly_lost(&steps[..1]), None);
    }
}

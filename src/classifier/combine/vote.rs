//! Voting: every member votes for its best class (Wang, Sagae and Mitamura 2006, section 4.2).

use super::{Memory, choices, evidence, fit_members, load_members, member_name, store_members};
use crate::Result;
use crate::classifier::{Classifier, Evidence, Fit, Instances, Learner, Scratch, first_best};
use crate::feature::RowRef;
use crate::memory::Sections;

/// The largest bonus of a vote: earlier members have larger ones, which break ties.
const TIE_BONUS: f32 = 0.1;
/// The largest sum of normalized scores, which rank classes without votes.
const SCORE_WEIGHT: f32 = 0.001;

/// Learns members that vote.
pub struct Vote {
    /// The members. A tie goes to the class that the earliest member voted for.
    pub members: Vec<Box<dyn Learner>>,
}

impl Learner for Vote {
    fn has_parts(&self) -> bool {
        true
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let members = fit_members(&self.members, instances, fit, member_name, 0.0..1.0)?;
        Ok(Box::new(VoteModel { members, n_classes: instances.n_classes() }))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        let members = load_members(&self.members, sections)?;
        let n_classes = members.first().map_or(0, |member| member.n_classes());
        Ok(Box::new(VoteModel { members, n_classes }))
    }
}

/// The classifier that [`Vote`] fits.
pub struct VoteModel {
    members: Vec<Box<dyn Classifier>>,
    n_classes: usize,
}

impl Classifier for VoteModel {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// The number of votes plus, below one vote, the normalized scores of the members. A class that no
    /// member has seen scores minus infinity.
    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        out.fill(f32::NEG_INFINITY);
        let n = self.members.len() as f32;
        let memory: &mut Memory = scratch.of();
        let (parts, scores, _) = memory.parts(self.members.len());
        scores.resize(self.n_classes, 0.0);
        for (at, member) in self.members.iter().enumerate() {
            member.scores(row, &mut parts[at], scores);
            let best = first_best(scores);
            let lowest = scores.iter().copied().filter(|score| score.is_finite());
            let lowest = lowest.fold(scores[best], f32::min);
            let range = (scores[best] - lowest).max(f32::MIN_POSITIVE);
            for (out, &score) in out.iter_mut().zip(&*scores).filter(|(_, score)| score.is_finite())
            {
                *out = out.max(0.0) + SCORE_WEIGHT / n * (score - lowest) / range;
            }
            out[best] = out[best].max(0.0) + 1.0 + TIE_BONUS * (1.0 - at as f32 / n).powi(8);
        }
    }

    fn evidence(&self, row: RowRef<'_>, _classes: [u16; 2], _scratch: &mut Scratch) -> Evidence {
        evidence(&choices(&self.members, row), None)
    }

    fn store(&self, sections: &mut Sections) {
        store_members(&self.members, sections);
    }
}

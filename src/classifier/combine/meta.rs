//! A meta-classifier: given the predictions of the members and the probabilities of some, it selects the
//! member to follow (Wang, Sagae and Mitamura 2006, section 4.2: of the probabilities, those of maximum entropy).
//!
//! The selector is trained on the last sentences, with members trained on the others; then the members are
//! trained on all sentences. Its target is the first member with the correct class, or the first member if
//! all are wrong: the paper leaves both open.

use super::{
    Memory, Outcome, choices, evidence, fit_members, fit_part, hold_out, load_members, member_name,
    outcome_column, outcome_value, outcomes, store_members, stored,
};
use crate::classifier::{
    Classifier, Evidence, Fit, Instances, Learner, ScoreScale, Scratch, first_best,
};
use crate::feature::{Column, ColumnKind, Row, RowRef};
use crate::memory::Sections;
use crate::{Error, Result};

/// Probabilities are discretized into this many steps.
const STEPS: f32 = 10.0;

/// Learns members and a selector.
pub struct Meta {
    /// The members.
    pub members: Vec<Box<dyn Learner>>,
    /// Learns which member to follow, from the columns of [`columns`].
    pub selector: Box<dyn Learner>,
    /// The members whose probabilities the selector sees; all if empty.
    pub probabilities: Vec<u32>,
    /// The fraction of the instances that the selector is trained on; between 0 and 1.
    pub share: f64,
}

/// The columns of the selector: the class that each member predicts and, of the members in `probabilities` (of all
/// if it is empty), the probability in tenths.
pub fn columns(n_members: usize, probabilities: &[u32]) -> Vec<Column> {
    let probability = |member: usize| Column {
        name: format!("probability of member {member}"),
        kind: ColumnKind::Nominal,
        lexical: false,
    };
    let columns = |member: usize| {
        let shown = shows(probabilities, member).then(|| probability(member));
        std::iter::once(outcome_column(member)).chain(shown)
    };
    (0..n_members).flat_map(columns).collect()
}

/// Whether the selector sees the probability of a member.
fn shows(probabilities: &[u32], member: usize) -> bool {
    probabilities.is_empty() || probabilities.iter().any(|&shown| shown as usize == member)
}

/// Appends the values of a member's columns.
fn push_values(
    out: &mut Vec<u32>,
    probabilities: &[u32],
    member: usize,
    outcome: Outcome,
    scale: ScoreScale,
) {
    out.push(outcome_value(outcome.class));
    if shows(probabilities, member) {
        out.push(match scale {
            ScoreScale::LogProb => 1 + (outcome.score.exp() * STEPS) as u32,
            ScoreScale::Margin | ScoreScale::LogOdds => 0,
        });
    }
}

impl Learner for Meta {
    fn has_parts(&self) -> bool {
        true
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let (first, last) = hold_out(instances, self.share);
        let name = |member: usize| format!("held-out/{}", member_name(member));
        let members = fit_members(&self.members, &first, fit, name, 0.0..0.4)?;
        let chosen: Vec<_> =
            members.iter().map(|member| outcomes(&**member, &last, 0..last.len())).collect();
        let columns = columns(members.len(), &self.probabilities);
        let mut lessons = Instances::new(columns, members.len());
        let mut row = Row::default();
        for sentence in last.sentences() {
            lessons.begin_sentence();
            for at in sentence {
                let of_row = chosen.iter().map(|chosen| chosen[at]);
                let right = of_row.clone().position(|chosen| chosen.class == last.class(at));
                row.values.clear();
                for (number, (outcome, member)) in of_row.zip(&members).enumerate() {
                    let (shown, scale) = (&self.probabilities, member.scale());
                    push_values(&mut row.values, shown, number, outcome, scale);
                }
                lessons.push(&row, right.unwrap_or(0) as u16);
            }
        }
        let selector = fit_part(&*self.selector, &lessons, fit, "selector", 0.4..0.5)?;
        let members = fit_members(&self.members, instances, fit, member_name, 0.5..1.0)?;
        let probabilities = self.probabilities.clone();
        Ok(Box::new(MetaModel { members, selector, probabilities }))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        let members = load_members(&self.members, sections)?;
        let selector = self.selector.load(&sections.part("selector"))?;
        if selector.n_classes() != members.len() {
            return Err(Error::Corrupt(
                "the number of classes of the selector is not the number of members".to_owned(),
            ));
        }
        let probabilities = self.probabilities.clone();
        Ok(Box::new(MetaModel { members, selector, probabilities }))
    }
}

/// The classifier that [`Meta`] fits.
pub struct MetaModel {
    members: Vec<Box<dyn Classifier>>,
    selector: Box<dyn Classifier>,
    probabilities: Vec<u32>,
}

impl Classifier for MetaModel {
    fn n_classes(&self) -> usize {
        self.members.first().map_or(0, |member| member.n_classes())
    }

    /// The scores of the selected member.
    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let n_members = self.members.len();
        let memory: &mut Memory = scratch.of();
        let (parts, scores, seen) = memory.parts(1 + n_members);
        seen.values.clear();
        scores.resize(out.len() * n_members + n_members, 0.0);
        let (of_members, picks) = scores.split_at_mut(out.len() * n_members);
        let each = self.members.iter().zip(of_members.chunks_exact_mut(out.len().max(1)));
        for (at, (member, scores)) in each.enumerate() {
            member.scores(row, &mut parts[at + 1], scores);
            let outcome = Outcome::best(scores);
            push_values(&mut seen.values, &self.probabilities, at, outcome, member.scale());
        }
        self.selector.scores(seen.borrow(), &mut parts[0], picks);
        let picked = first_best(picks) * out.len();
        out.copy_from_slice(&of_members[picked..picked + out.len()]);
    }

    fn evidence(&self, row: RowRef<'_>, _classes: [u16; 2], _scratch: &mut Scratch) -> Evidence {
        let choices = choices(&self.members, row);
        let mut seen = Row::default();
        for (at, (&outcome, member)) in choices.iter().zip(&self.members).enumerate() {
            push_values(&mut seen.values, &self.probabilities, at, outcome, member.scale());
        }
        let mut picks = vec![0.0; self.members.len()];
        self.selector.scores(seen.borrow(), &mut Scratch::default(), &mut picks);
        evidence(&choices, Some(first_best(&picks)))
    }

    fn store(&self, sections: &mut Sections) {
        store_members(&self.members, sections);
        sections.put_part("selector", stored(&*self.selector));
    }
}

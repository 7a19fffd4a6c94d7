//! Stacking: the classes that the members predict become columns of the final classifier (Wang, Sagae and
//! Mitamura 2006, section 4.2).
//!
//! The final learner must see predictions for instances that the members were not trained on. In the paper
//! the members are trained on sections of their own: [`Members::LastSentences`] are those of files named last, and
//! [`Members::HeldOut`] sets aside a share of the training sentences. [`Members::OutOfFold`] instead fits every member
//! once for each fold, to the other folds, and finally to all instances, so that no data are lost.

use serde::{Deserialize, Serialize};

use super::{
    Memory, Outcome, choices, evidence, fit_members, fit_part, folds, hold_out, load_members,
    member_name, outcome_column, outcome_value, outcomes, part_of, split_off, store_members,
    stored,
};
use crate::classifier::{
    Classifier, Evidence, Fit, Instances, Learner, ScoreScale, Scratch, first_best,
};
use crate::feature::RowRef;
use crate::memory::Sections;
use crate::{Error, Result};

/// What the members of a stack are trained on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Members {
    /// The last sentences, on which the final learner is not trained.
    HeldOut {
        /// The fraction of the instances that is set aside for the members.
        #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
        share: f64,
    },
    /// So many of the last sentences, on which the final learner is not trained: those of a file that is given last.
    LastSentences {
        /// The number of sentences.
        #[schemars(range(min = 1, max = 1_000_000_000))]
        number: u32,
    },
    /// All sentences; the final learner sees predictions of members trained on the other folds.
    OutOfFold {
        /// The number of folds.
        #[schemars(range(min = 2, max = 100))]
        folds: u32,
    },
}

/// Fits members, then a classifier that sees their predictions.
pub struct Stack {
    /// The members.
    pub members: Vec<Box<dyn Learner>>,
    /// Learns from all columns and one more for each member.
    pub final_learner: Box<dyn Learner>,
    /// What the members are trained on.
    pub from: Members,
}

/// The instances of the final learner, the predictions of each member for them, and the members.
type Stacked = (Instances, Vec<Vec<Outcome>>, Vec<Box<dyn Classifier>>);

impl Stack {
    /// Fits the members to the last of the instances; the final learner has the first.
    fn apart(&self, (own, last): (Instances, Instances), fit: &Fit<'_>) -> Result<Stacked> {
        let members = fit_members(&self.members, &last, fit, member_name, 0.0..0.7)?;
        let all = 0..own.len();
        let chosen = members.iter().map(|m| outcomes(&**m, &own, all.clone())).collect();
        Ok((own, chosen, members))
    }

    fn out_of_fold(
        &self,
        instances: &Instances,
        n: usize,
        fit: &Fit<'_>,
    ) -> Result<Vec<Vec<Outcome>>> {
        let mut chosen = vec![Vec::with_capacity(instances.len()); self.members.len()];
        let step = 0.5 / n as f64;
        for (fold, range) in folds(instances, n).into_iter().enumerate() {
            let others = part_of(instances, |at| !range.contains(&at));
            let name = |member: usize| format!("fold{fold}/{}", member_name(member));
            let share = step * fold as f64..step * (fold + 1) as f64;
            let members = fit_members(&self.members, &others, fit, name, share)?;
            for (chosen, member) in chosen.iter_mut().zip(&members) {
                chosen.extend(outcomes(&**member, instances, range.clone()));
            }
        }
        Ok(chosen)
    }
}

impl Learner for Stack {
    fn scale(&self) -> ScoreScale {
        self.final_learner.scale()
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let (own, chosen, members) = match self.from {
            Members::HeldOut { share } => self.apart(hold_out(instances, share), fit)?,
            Members::LastSentences { number } => {
                self.apart(split_off(instances, number as usize)?, fit)?
            }
            Members::OutOfFold { folds } => {
                let chosen = self.out_of_fold(instances, folds as usize, fit)?;
                let members = fit_members(&self.members, instances, fit, member_name, 0.5..0.7)?;
                (instances.clone(), chosen, members)
            }
        };
        let columns: Vec<_> = (0..members.len()).map(outcome_column).collect();
        let extended = own.extended(&columns, |at, values| {
            values
                .extend(chosen.iter().map(|chosen: &Vec<Outcome>| outcome_value(chosen[at].class)));
        });
        let last = fit_part(&*self.final_learner, &extended, fit, "last", 0.7..1.0)?;
        Ok(Box::new(StackModel { members, last }))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        let members = load_members(&self.members, sections)?;
        let last = self.final_learner.load(&sections.part("last"))?;
        if members.iter().any(|member| member.n_classes() != last.n_classes()) {
            return Err(Error::Corrupt(
                "the members of the stack do not match its final classifier".to_owned(),
            ));
        }
        Ok(Box::new(StackModel { members, last }))
    }
}

/// The classifier that [`Stack`] fits.
pub struct StackModel {
    members: Vec<Box<dyn Classifier>>,
    last: Box<dyn Classifier>,
}

impl Classifier for StackModel {
    fn n_classes(&self) -> usize {
        self.last.n_classes()
    }

    fn scale(&self) -> ScoreScale {
        self.last.scale()
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let memory: &mut Memory = scratch.of();
        let (parts, _, extended) = memory.parts(1 + self.members.len());
        extended.values.clear();
        extended.values.extend_from_slice(row.values);
        extended.members.clear();
        extended.members.extend_from_slice(row.members);
        for (at, member) in self.members.iter().enumerate() {
            member.scores(row, &mut parts[at + 1], out);
            extended.values.push(outcome_value(first_best(out) as u16));
        }
        self.last.scores(extended.borrow(), &mut parts[0], out);
    }

    fn evidence(&self, row: RowRef<'_>, _classes: [u16; 2], _scratch: &mut Scratch) -> Evidence {
        evidence(&choices(&self.members, row), None)
    }

    fn store(&self, sections: &mut Sections) {
        store_members(&self.members, sections);
        sections.put_part("last", stored(&*self.last));
    }
}

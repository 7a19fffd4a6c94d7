//! Two stages: first whether to shift, then which of the other actions.
//!
//! Wang, Sagae and Mitamura (2006, section 4.1) first decide between shift and reduce, then which
//! reduction, so that a wrong shift cannot win against many reductions that share the probability. The
//! second stage is trained only on instances that are not shifts.

use super::{fit_part, stored};
use crate::classifier::{Classifier, Evidence, Fit, Instances, Learner, Scratch};
use crate::feature::RowRef;
use crate::memory::Sections;
use crate::{Error, Result};

/// Larger than any difference of scores within a stage, so that the losing side stays below the winning
/// one.
const LOSING_SIDE: f32 = 1e6;

/// Fits the two stages.
pub struct TwoStage {
    /// Decides between class 0, not a shift, and class 1, a shift.
    pub first: Box<dyn Learner>,
    /// Decides between the other classes.
    pub second: Box<dyn Learner>,
    /// For each class, whether it is a shift.
    pub shifts: Vec<bool>,
}

impl Learner for TwoStage {
    fn takes_trees(&self) -> bool {
        self.first.takes_trees() && self.second.takes_trees()
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let shift = |at: usize| self.shifts[usize::from(instances.class(at))];
        let kinds = instances.select(|at| Some(u16::from(shift(at))), 2);
        let first = fit_part(&*self.first, &kinds, fit, "first", 0.0..0.5)?;
        let others =
            instances.select(|at| (!shift(at)).then(|| instances.class(at)), instances.n_classes());
        let second = fit_part(&*self.second, &others, fit, "second", 0.5..1.0)?;
        Ok(Box::new(TwoStageModel { first, second, shifts: self.shifts.clone() }))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        let first = self.first.load(&sections.part("first"))?;
        let second = self.second.load(&sections.part("second"))?;
        if first.n_classes() != 2 || second.n_classes() != self.shifts.len() {
            return Err(Error::Corrupt("the two stages have different classes".to_owned()));
        }
        Ok(Box::new(TwoStageModel { first, second, shifts: self.shifts.clone() }))
    }
}

/// The classifier that [`TwoStage`] fits.
pub struct TwoStageModel {
    first: Box<dyn Classifier>,
    second: Box<dyn Classifier>,
    shifts: Vec<bool>,
}

impl Classifier for TwoStageModel {
    fn n_classes(&self) -> usize {
        self.shifts.len()
    }

    /// All classes of the side that the first stage prefers rank above the others.
    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let mut sides = [0.0; 2];
        let [first, second]: &mut [Scratch; 2] = scratch.of();
        self.first.scores(row, first, &mut sides);
        self.second.scores(row, second, out);
        let shift_wins = sides[1] > sides[0];
        for (score, &shift) in out.iter_mut().zip(&self.shifts) {
            *score = if shift { sides[1] } else { *score };
            if shift != shift_wins {
                *score -= LOSING_SIDE;
            }
        }
    }

    fn best(
        &self,
        row: RowRef<'_>,
        accept: &mut dyn FnMut(u16) -> bool,
        scratch: &mut Scratch,
    ) -> Option<(u16, f32)> {
        let [first, second]: &mut [Scratch; 2] = scratch.of();
        match self.first.best(row, &mut |_| true, first)? {
            (0, _) => self.second.best(row, accept, second),
            (_, score) => {
                let shift = self.shifts.iter().position(|&shift| shift)? as u16;
                accept(shift).then_some((shift, score))
            }
        }
    }

    fn evidence(&self, row: RowRef<'_>, classes: [u16; 2], scratch: &mut Scratch) -> Evidence {
        let [first, second]: &mut [Scratch; 2] = scratch.of();
        let [own, rival] = classes.map(|class| self.shifts[usize::from(class)]);
        if own == rival {
            return self.second.evidence(row, classes, second);
        }
        match self.first.evidence(row, [own, rival].map(u16::from), first) {
            // Its classes are not actions.
            Evidence::Neighbours(_) | Evidence::Members(..) => Evidence::Scores,
            evidence => evidence,
        }
    }

    fn store(&self, sections: &mut Sections) {
        sections.put_part("first", stored(&*self.first));
        sections.put_part("second", stored(&*self.second));
    }
}

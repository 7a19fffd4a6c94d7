//! One-vs-rest: a binary classifier for each class, from any learner.

use super::{fit_part, stored};
use crate::classifier::{Classifier, Fit, Instances, Learner, ScoreScale, Scratch};
use crate::feature::RowRef;
use crate::memory::Sections;
use crate::{Error, Result};

/// Learns to distinguish each class from all others.
pub struct OneVsRest {
    /// Learns one binary problem: class 1 is the class, class 0 all others.
    pub learner: Box<dyn Learner>,
}

impl Learner for OneVsRest {
    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let counts = instances.counts();
        let n = counts.len() as f64;
        let mut members = Vec::with_capacity(counts.len());
        for (class, &count) in (0u16..).zip(&counts) {
            if count == 0 {
                members.push(None);
                continue;
            }
            let two = instances.select(|at| Some(u16::from(instances.class(at) == class)), 2);
            let share = f64::from(class) / n..f64::from(class + 1) / n;
            let part = format!("class{class}");
            members.push(Some(fit_part(&*self.learner, &two, fit, &part, share)?));
        }
        Ok(Box::new(OneVsRestModel { members }))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        let seen = sections.get::<u8>("seen")?;
        let member = |(class, &seen): (usize, &u8)| -> Result<Option<Box<dyn Classifier>>> {
            if seen == 0 {
                return Ok(None);
            }
            let member = self.learner.load(&sections.part(&format!("class{class}")))?;
            if member.n_classes() != 2 {
                return Err(Error::Corrupt("a classifier of one-vs-rest is not binary".to_owned()));
            }
            Ok(Some(member))
        };
        let members = seen.iter().enumerate().map(member).collect::<Result<_>>()?;
        Ok(Box::new(OneVsRestModel { members }))
    }
}

/// The result of [`OneVsRest`]; `None` for a class that was never seen.
pub struct OneVsRestModel {
    members: Vec<Option<Box<dyn Classifier>>>,
}

impl Classifier for OneVsRestModel {
    fn n_classes(&self) -> usize {
        self.members.len()
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }

    /// The score of a class is its lead over "all others" in its own classifier.
    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let scratch = scratch.part(0);
        for (score, member) in out.iter_mut().zip(&self.members) {
            let mut sides = [0.0, f32::NEG_INFINITY];
            if let Some(member) = member {
                member.scores(row, scratch, &mut sides);
            }
            *score = sides[1] - sides[0];
        }
    }

    fn store(&self, sections: &mut Sections) {
        let seen: Vec<u8> = self.members.iter().map(|member| u8::from(member.is_some())).collect();
        sections.put("seen", seen.into());
        for (class, member) in self.members.iter().enumerate() {
            if let Some(member) = member {
                sections.put_part(&format!("class{class}"), stored(&**member));
            }
        }
    }
}

//! Classifiers composed of other classifiers.
//!
//! - [`two_stage`]: first whether to shift, then which other action (Wang, Sagae and Mitamura 2006, 4.1).
//! - [`split`]: one classifier for each value of a column, such as the tag of a word (Sagae and Lavie
//!   2005, section 4, after Yamada and Matsumoto 2003).
//! - [`vote`], [`stack`], [`meta`]: ensembles (Wang, Sagae and Mitamura 2006, 4.2).
//! - [`calibrate`]: margins become probabilities, which can be compared and added.
//!
//! All of them are learners that contain learners, nested to any depth. Data are divided by sentences, in
//! order, so that no sentence is on both sides.

pub mod calibrate;
pub mod meta;
pub mod split;
pub mod stack;
pub mod two_stage;
pub mod vote;

use std::ops::Range;

use super::{Checkpoint, Classifier, Evidence, Fit, Instances, Learner, Scratch, first_best};
use crate::feature::{Column, ColumnKind, Row, RowRef};
use crate::memory::Sections;
use crate::observer::Part;
use crate::parallel;
use crate::{Error, Result};

/// Scratch memory of one thread.
#[derive(Default)]
struct Memory {
    parts: Vec<Scratch>,
    /// The scores of the members.
    scores: Vec<f32>,
    /// A row with the predictions of the members.
    row: Row,
}

impl Memory {
    /// The parts for so many components, and the rest.
    fn parts(&mut self, number: usize) -> (&mut [Scratch], &mut Vec<f32>, &mut Row) {
        self.parts.resize_with(number.max(self.parts.len()), Scratch::default);
        (&mut self.parts, &mut self.scores, &mut self.row)
    }
}

/// Rows that a thread processes at a time.
const CHUNK: usize = 1024;

/// The checkpoint of a component, whose names have the name of the component as a prefix.
struct Within<'a> {
    checkpoint: &'a dyn Checkpoint,
    part: &'a str,
}

impl Checkpoint for Within<'_> {
    fn load(&self, name: &str) -> Option<Sections> {
        self.checkpoint.load(&format!("{}/{name}", self.part))
    }

    fn save(&self, name: &str, sections: &Sections) {
        self.checkpoint.save(&format!("{}/{name}", self.part), sections);
    }
}

/// Fits a component, or loads it from the checkpoint; its progress counts from `share.start` to
/// `share.end`.
fn fit_part(
    learner: &dyn Learner,
    instances: &Instances,
    fit: &Fit<'_>,
    part: &str,
    share: Range<f64>,
) -> Result<Box<dyn Classifier>> {
    if let Some(kept) = fit.checkpoint.and_then(|checkpoint| checkpoint.load(part)) {
        fit.step(share.end, &format!("{part}: loaded from the checkpoint"));
        return learner.load(&kept);
    }
    let within = fit.checkpoint.map(|checkpoint| Within { checkpoint, part });
    let observer = Part { observer: fit.observer, name: part, from: share.start, to: share.end };
    let classifier = learner.fit(
        instances,
        &Fit {
            seed: fit.seed,
            observer: &observer,
            checkpoint: within.as_ref().map(|within| within as &dyn Checkpoint),
        },
    )?;
    if let Some(checkpoint) = fit.checkpoint.filter(|_| !fit.is_stopped()) {
        checkpoint.save(part, &stored(&*classifier));
    }
    Ok(classifier)
}

/// Fits each learner to the same instances, one after the other.
fn fit_members(
    members: &[Box<dyn Learner>],
    instances: &Instances,
    fit: &Fit<'_>,
    name: impl Fn(usize) -> String,
    share: Range<f64>,
) -> Result<Vec<Box<dyn Classifier>>> {
    let step = (share.end - share.start) / members.len().max(1) as f64;
    let each = members.iter().enumerate().map(|(at, learner)| {
        let start = share.start + step * at as f64;
        fit_part(&**learner, instances, fit, &name(at), start..start + step)
    });
    each.collect()
}

fn member_name(at: usize) -> String {
    format!("member{at}")
}

fn stored(classifier: &dyn Classifier) -> Sections {
    let mut sections = Sections::default();
    classifier.store(&mut sections);
    sections
}

fn store_members(members: &[Box<dyn Classifier>], sections: &mut Sections) {
    for (at, member) in members.iter().enumerate() {
        sections.put_part(&member_name(at), stored(&**member));
    }
}

fn load_members(
    members: &[Box<dyn Learner>],
    sections: &Sections,
) -> Result<Vec<Box<dyn Classifier>>> {
    let parts = (0..).map(|at| sections.part(&member_name(at)));
    let members: Vec<_> = members
        .iter()
        .zip(parts)
        .map(|(member, part)| member.load(&part))
        .collect::<Result<_>>()?;
    if members.windows(2).any(|pair| pair[0].n_classes() != pair[1].n_classes()) {
        return Err(Error::Corrupt("the members score different numbers of classes".to_owned()));
    }
    Ok(members)
}

/// Divides instances into the first sentences and the last ones, which have about `share` of all instances;
/// neither side is empty if there are two sentences.
fn hold_out(instances: &Instances, share: f64) -> (Instances, Instances) {
    let sentences = instances.sentences();
    let wanted = (instances.len() as f64 * (1.0 - share)).round() as usize;
    let at = sentences.partition_point(|sentence| sentence.end <= wanted);
    let at = at.clamp(1, sentences.len().saturating_sub(1).max(1));
    let border = sentences.get(at).map_or(instances.len(), |sentence| sentence.start);
    split_at(instances, border)
}

/// Splits off the last `number` sentences.
///
/// # Errors
/// When no sentence would be left.
fn split_off(instances: &Instances, number: usize) -> Result<(Instances, Instances)> {
    let sentences = instances.sentences();
    if number >= sentences.len() {
        let problem = format!(
            "there are {} sentences to train on, so {number} of them cannot be set aside: give the \
             files of the members after the others",
            sentences.len()
        );
        return Err(Error::config("learner.from.number", problem));
    }
    Ok(split_at(instances, sentences[sentences.len() - number].start))
}

fn split_at(instances: &Instances, border: usize) -> (Instances, Instances) {
    (part_of(instances, |at| at < border), part_of(instances, |at| at >= border))
}

fn part_of(instances: &Instances, inside: impl Fn(usize) -> bool) -> Instances {
    instances.select(|at| inside(at).then(|| instances.class(at)), instances.n_classes())
}

/// Divides instances into at most `n` folds of whole sentences and about equal size.
fn folds(instances: &Instances, n: usize) -> Vec<Range<usize>> {
    let sentences = instances.sentences();
    let n = n.min(sentences.len()).max(1);
    let border = |fold: usize| match fold {
        0 => 0,
        _ if fold == n => instances.len(),
        _ => sentences[sentences.len() * fold / n].start,
    };
    (0..n).map(|fold| border(fold)..border(fold + 1)).collect()
}

/// The prediction of a classifier for an instance: the best class and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Outcome {
    class: u16,
    score: f32,
}

impl Outcome {
    /// The class with the best of the scores.
    fn best(scores: &[f32]) -> Self {
        let class = first_best(scores);
        Self { class: class as u16, score: scores[class] }
    }
}

/// The predictions of a classifier for a range of instances.
fn outcomes(
    classifier: &dyn Classifier,
    instances: &Instances,
    range: Range<usize>,
) -> Vec<Outcome> {
    let scratch = || (Scratch::default(), vec![0.0; classifier.n_classes()]);
    let outcome = |(scratch, scores): &mut (Scratch, Vec<f32>), at: usize| {
        classifier.scores(instances.row(at), scratch, scores);
        Outcome::best(scores)
    };
    parallel::map_range_init(range.len(), scratch, |scratch, at| outcome(scratch, range.start + at))
}

/// The predictions of members for a row.
fn choices(members: &[Box<dyn Classifier>], row: RowRef<'_>) -> Vec<Outcome> {
    let choices = members.iter().map(|member| {
        let mut scores = vec![0.0; member.n_classes()];
        member.scores(row, &mut Scratch::default(), &mut scores);
        Outcome::best(&scores)
    });
    choices.collect()
}

/// The predictions of members, and the member that is followed, if only one is.
fn evidence(choices: &[Outcome], followed: Option<usize>) -> Evidence {
    Evidence::Members(choices.iter().map(|of| (of.class, of.score)).collect(), followed)
}

/// The column of the class that a member predicts.
pub fn outcome_column(member: usize) -> Column {
    Column { name: format!("class of member {member}"), kind: ColumnKind::Nominal, lexical: false }
}

/// The value of a class in such a column, above the reserved values 0 and 1.
fn outcome_value(class: u16) -> u32 {
    u32::from(class) + 2
}

#[cfg(test)]
mod tests;

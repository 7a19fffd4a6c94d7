//! Batch training: instances are extracted from gold derivations, then a classifier is fitted to them.

use super::{Session, Trained};
use crate::Result;
use crate::classifier::{Instances, Learner};
use crate::decode::{Problem, follow_gold};
use crate::feature::{Extractor, Row, Templates, extract};
use crate::memory::Sections;
use crate::oracle::{Example, OracleKind, oracle};
use crate::scorer::factored::{Classes, Factored};
use crate::scorer::{Components, Unscored};
use crate::transition::TransitionSystem;

/// Trains a classifier on all instances at once.
///
/// # Errors
/// When the learner refuses the instances, or was stopped before anything was learned.
pub fn train(learner: &dyn Learner, session: &Session<'_>) -> Result<Trained> {
    let Components { system, templates, .. } = session.components;
    let classes = session.components.classes();
    let all = session.ranks_all_actions;
    let instances = collect(system, session.examples, templates, &classes, all)?;
    let (n, columns) = (instances.len(), instances.columns().len());
    session.log(&format!("{n} instances of {columns} columns"));
    let checkpoint = session.checkpoint(|| instances.fingerprint())?;
    let classifier = learner.fit(&instances, &session.fit(checkpoint.as_ref()))?;
    let mut sections = Sections::default();
    classifier.store(&mut sections);
    let scorer = Factored::new(Extractor::new(templates), classes, classifier);
    let dev = session.score_dev(&scorer);
    session.log_dev("", dev.as_ref());
    Ok(Trained { sections, dev, ..Trained::default() })
}

/// Returns an instance for each decision of each gold derivation, in order. Decisions with a single legal action are
/// omitted unless `all_actions` is true, for decoders that rank all actions; forced ones
/// ([`crate::transition::TransitionSystem::is_forced`]) are always omitted.
///
/// # Errors
/// If the system cannot build a tree.
pub fn collect(
    system: &dyn TransitionSystem,
    examples: &[Example],
    templates: &Templates,
    classes: &Classes,
    all_actions: bool,
) -> Result<Instances> {
    let extractor = Extractor::new(templates);
    let mut instances = Instances::new(templates.columns(), classes.len());
    let (mut places, mut row) = (extract::Scratch::default(), Row::default());
    for Example { sentence, tree } in examples {
        let oracle = oracle(system, tree, OracleKind::Static)?;
        instances.begin_sentence();
        follow_gold(Problem { system, sentence }, &*oracle, &mut Unscored, &mut |step, _| {
            let action = *step.optimal.first()?;
            if (all_actions || step.legal.len() > 1) && !step.is_forced() {
                extractor.extract(sentence, &step.at.view(), &mut places, &mut row);
                if let Some(class) = classes.class(action) {
                    instances.push(&row, class);
                }
            }
            Some(action)
        });
    }
    Ok(instances)
}

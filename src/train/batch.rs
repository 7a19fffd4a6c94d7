//! Batch training: instances are extracted from gold derivations, then a classifier is fitted to them.

use super::online::load_factored;
use super::session::dev_line;
use super::{Components, Session, Trained, TrainingMethod};
use crate::Result;
use crate::classifier::{Checkpoint, Fit, Instances, Learner};
use crate::decode::{Cursor, Problem};
use crate::feature::{Extractor, Row, Templates, extract};
use crate::memory::Sections;
use crate::oracle::{OracleKind, oracle};
use crate::scorer::factored::{Classes, Factored};
use crate::scorer::{Scorer, Scratch};
use crate::train::Example;
use crate::transition::TransitionSystem;

/// Trains a classifier on all instances at once.
pub struct BatchTraining(pub Box<dyn Learner>);

impl TrainingMethod for BatchTraining {
    fn train(&self, session: &Session<'_>) -> Result<Trained> {
        let Components { system, templates, .. } = session.components;
        let classes = session.components.classes();
        let all = session.ranks_all_actions;
        let instances = collect(system, session.examples, templates, &classes, all)?;
        let (n, columns) = (instances.len(), instances.columns().len());
        session.log(&format!("{n} instances of {columns} columns"));
        let checkpoint = session.checkpoint(|| instances.fingerprint())?;
        let fit = Fit {
            seed: session.seed,
            observer: session.observer,
            checkpoint: checkpoint.as_ref().map(|folder| folder as &dyn Checkpoint),
        };
        let classifier = self.0.fit(&instances, &fit)?;
        let mut sections = Sections::default();
        classifier.store(&mut sections);
        let scorer = Factored::new(Extractor::new(templates), classes, classifier);
        let dev = session.score_dev(&scorer);
        if let Some(dev) = &dev {
            session.log(&dev_line(dev));
        }
        Ok(Trained { sections, dev, ..Trained::default() })
    }

    fn load(&self, components: Components<'_>, sections: &Sections) -> Result<Box<dyn Scorer>> {
        load_factored(components, components.classes(), self.0.load(sections)?)
    }
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
    let (mut legal, mut optimal) = (Vec::new(), Vec::new());
    let mut scratch = Scratch::default();
    for Example { sentence, tree } in examples {
        let oracle = oracle(system, tree, OracleKind::Static)?;
        instances.begin_sentence();
        let problem = Problem::unscored(system, sentence);
        let (mut cursor, mut forest) = Cursor::start(problem, &mut scratch);
        while !cursor.is_final() {
            oracle.optimal(&cursor.state, &forest, &mut optimal);
            let Some(&action) = optimal.first() else { break };
            cursor.legal(problem, &forest, &mut legal);
            if (all_actions || legal.len() > 1) && !system.is_forced(&cursor.state, &forest) {
                let view = system.view(&cursor.state, &forest);
                extractor.extract(sentence, &view, &mut places, &mut row);
                if let Some(class) = classes.class(action) {
                    instances.push(&row, class);
                }
            }
            cursor.take(problem, &mut forest, action, &mut scratch);
        }
    }
    Ok(instances)
}

//! Instances from gold derivations: what classifiers are fitted to.

use super::Example;
use crate::Result;
use crate::classifier::Instances;
use crate::feature::{Extractor, Row, Templates, extract};
use crate::oracle::Oracle;
use crate::scorer::factored::Classes;
use crate::transition::TransitionSystem;

/// One instance for each decision on the way to each tree, in order. Decisions with a single legal
/// action are left out unless `forced` is true: a decoder that ranks all actions asks about them too, except
/// where the system says that there is no choice ([`TransitionSystem::is_forced`]).
///
/// # Errors
/// When a tree does not fit the system; call it on trees that have been replayed.
pub fn collect<S: TransitionSystem, O: Oracle<S>>(
    system: &S,
    oracle: &O,
    examples: &[Example],
    templates: &Templates,
    classes: &Classes,
    forced: bool,
) -> Result<Instances> {
    let extractor = Extractor::new(templates);
    let mut instances = Instances::new(templates.columns(), classes.len());
    let (mut places, mut row) = (extract::Scratch::default(), Row::default());
    let (mut legal, mut optimal) = (Vec::new(), Vec::new());
    for Example { sentence, tree } in examples {
        let gold = oracle.prepare(system, tree)?;
        instances.begin_sentence();
        let mut state = system.start(sentence);
        while !system.is_final(&state) {
            oracle.optimal(system, &gold, &state, &mut optimal);
            let Some(&action) = optimal.first() else { break };
            system.legal(&state, &mut legal);
            if (forced || legal.len() > 1) && !system.is_forced(&state) {
                extractor.extract(sentence, &system.view(&state, None), &mut places, &mut row);
                if let Some(class) = classes.class(action) {
                    instances.push(&row, class);
                }
            }
            system.apply(&mut state, action);
        }
    }
    Ok(instances)
}

/// One instance for each legal action of each decision, seen with the action in focus: what systems
/// whose actions are candidates, not a fixed list, are trained from. `class` gives the class of an
/// action that is right (true) or wrong, and none to leave it out; so a call for each label makes the
/// instances of learners that have one classifier a label (Turian and Melamed 2005).
///
/// # Errors
/// As [`collect`].
pub fn collect_candidates<S: TransitionSystem, O: Oracle<S>>(
    system: &S,
    oracle: &O,
    examples: &[Example],
    templates: &Templates,
    n_classes: usize,
    class: impl Fn(S::Action, bool) -> Option<u16>,
) -> Result<Instances> {
    let extractor = Extractor::new(templates);
    let mut instances = Instances::new(templates.columns(), n_classes);
    let (mut places, mut row) = (extract::Scratch::default(), Row::default());
    let (mut legal, mut optimal) = (Vec::new(), Vec::new());
    for Example { sentence, tree } in examples {
        let gold = oracle.prepare(system, tree)?;
        instances.begin_sentence();
        let mut state = system.start(sentence);
        while !system.is_final(&state) {
            oracle.optimal(system, &gold, &state, &mut optimal);
            let Some(&next) = optimal.first() else { break };
            system.legal(&state, &mut legal);
            for &action in &legal {
                let Some(class) = class(action, optimal.contains(&action)) else { continue };
                let view = system.view(&state, Some(action));
                extractor.extract(sentence, &view, &mut places, &mut row);
                instances.push(&row, class);
            }
            system.apply(&mut state, next);
        }
    }
    Ok(instances)
}

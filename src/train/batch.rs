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

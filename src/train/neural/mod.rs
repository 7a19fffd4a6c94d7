//! Training of networks: parse each training sentence, sum up the losses of its decisions, backpropagate ([`epochs`]).
//!
//! Several networks with different seeds make an [ensemble](crate::scorer::neural::Ensemble). One that has been trained
//! alone can be taken over. Training can continue from the parameters of another model ([`crate::train::initial`]).

pub mod epochs;

use std::path::Path;

use self::epochs::NeuralEpochs;
use super::epochs::{Epochs, Progress};
use super::online::oracles;
use super::session::check_explores;
use super::{Session, Trained};
use crate::encoder::PretrainedTable;
use crate::error::{Error, Result};
use crate::scorer::Components;
use crate::scorer::neural::{Inventory, NetworkParams, Neural, NeuralParams};
use crate::transition::Oracle;
use crate::treebank::embeddings::PretrainedEmbeddings;

impl NeuralParams {
    /// Reads the pretrained embeddings, if there are any.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn read_pretrained(&self) -> Result<Option<PretrainedEmbeddings>> {
        let read = || {
            PretrainedEmbeddings::read(Path::new(&self.pretrained), self.max_pretrained as usize)
        };
        (!self.pretrained.is_empty()).then(read).transpose()
    }

    /// The number of epochs with so many trees in each, from the beginning or further from a model.
    fn epochs_with(&self, trees: u64, is_further: bool) -> u32 {
        if self.epochs > 0 {
            return self.epochs;
        }
        // Enough for networks to converge on few trees (docs/tuning.md).
        let least: u64 = if is_further { 300 } else { 3000 };
        let batches = trees.div_ceil(u64::from(self.batch)).max(1);
        // A pretrained encoder knows much already.
        let fewest = if self.network.encoder().is_some() { 4 } else { 12 };
        least.div_ceil(batches).max(fewest) as u32
    }
}

/// Trains networks.
///
/// # Errors
/// When the data do not suit them, or training was stopped before anything was learned.
pub fn train(params: &NeuralParams, session: &Session<'_>) -> Result<Trained> {
    let epochs = params.epochs_with(session.trees_in(1), session.initial.is_some());
    let params = NeuralParams { epochs, ..params.clone() };
    let NeuralParams { models, exploration, .. } = params;
    let explores = exploration.explores();
    if explores {
        check_explores(session.components.system)?;
    }
    let run = Run {
        session,
        params: &params,
        inventory: inventory(session, &params.network),
        oracles: oracles(session, explores)?,
    };
    let total = session.trees_in(u64::from(epochs) * u64::from(models));
    let progress = Progress::new(session.observer, total);
    if models == 1 { run.network(1, &progress) } else { ensemble(&run, &progress) }
}

/// Trains all networks; when stopped, some.
fn ensemble(run: &Run<'_>, progress: &Progress<'_>) -> Result<Trained> {
    let Run { session, params, .. } = *run;
    let mut all = Trained::default();
    for number in 1..=params.models {
        session.log(&format!("network {number} of {}", params.models));
        match run.network(number, progress) {
            Ok(one) => {
                all.epoch = all.epoch.max(one.epoch);
                all.sections.put_part(&NeuralParams::part(number), one.sections);
            }
            Err(Error::Stopped) if number > 1 => {}
            Err(error) => return Err(error),
        }
        if session.observer.is_stopped() {
            break;
        }
    }
    if !session.dev.is_empty() {
        let scorer = params.load(session.components, &all.sections)?;
        all.dev = session.score_dev(&*scorer);
    }
    session.log_dev("all networks: ", all.dev.as_ref());
    Ok(all)
}

/// The symbols of a training run.
fn inventory(session: &Session<'_>, network: &NetworkParams) -> Inventory {
    let Components { system, vocabulary, .. } = session.components;
    let pretrained = session
        .embeddings
        .map(|(vectors, trained)| PretrainedTable::new(vectors, vocabulary, *trained));
    Inventory::new(network, system, vocabulary, pretrained, session.encoder.cloned())
}

/// The state that all networks of a training run share.
struct Run<'a> {
    session: &'a Session<'a>,
    params: &'a NeuralParams,
    inventory: Inventory,
    oracles: Vec<Box<dyn Oracle + 'a>>,
}

impl Run<'_> {
    /// Trains a network with a seed of its own, or takes it over from a model that has it.
    fn network(&self, number: u32, progress: &Progress<'_>) -> Result<Trained> {
        let Self { session, params, inventory, oracles } = self;
        let seed = session.seed.wrapping_add(u64::from(number - 1));
        if let Some(model) = session.merge.iter().find(|model| model.header.seed == seed) {
            session.log(&format!("taken over from the model with seed {seed}"));
            progress.add(session.trees_in(u64::from(params.epochs)));
            let network = Neural::new(&params.network, inventory, None)?;
            let sections = network.sections_of(&model.sections)?;
            let epoch = model.header.training.epoch;
            return Ok(Trained { sections, epoch, ..Trained::default() });
        }
        let session = &Session { seed, ..**session };
        let mut network = epochs::untrained(session, params, inventory)?;
        if let Some(initial) = session.initial {
            initial.initialize(number, session.components, &mut network)?;
        }
        session.log(&format!("{} parameters", network.params.values().len()));
        let mut learner = NeuralEpochs::new(session, oracles, network, params, progress);
        let checkpoint = session.checkpoint(|| session.fingerprint())?;
        let NeuralParams { epochs, patience, .. } = *self.params;
        let model = number;
        Epochs { session, model, is_part: false, epochs, patience, checkpoint }
            .run(&mut learner, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_trees_get_more_epochs() {
        let automatic = NeuralParams { epochs: 0, batch: 16, ..NeuralParams::default() };
        let epochs = |is_further| {
            [1, 379, 4000, 18_951].map(|trees| automatic.epochs_with(trees, is_further))
        };
        assert_eq!(epochs(false), [3000, 125, 12, 12]);
        assert_eq!(epochs(true), [300, 13, 12, 12]);
        let given = NeuralParams { epochs: 2, ..automatic };
        assert_eq!(given.epochs_with(379, false), 2);
    }
}

//! The model that training continues from: networks begin with its parameters.

use crate::error::Result;
use crate::memory::Sections;
use crate::neural::Quantized;
use crate::scorer::neural::Neural;
use crate::scorer::neural::names::{Renumbering, SymbolNames};
use crate::symbols::Vocabulary;
use crate::train::Components;
use crate::train::neural::NeuralTraining;
use crate::transition::TransitionSystem;

/// A model of networks that training continues from.
pub struct InitialModel {
    /// Its transition system.
    pub system: Box<dyn TransitionSystem>,
    /// Its vocabulary.
    pub vocabulary: Vocabulary,
    /// How it was trained.
    pub method: NeuralTraining,
    /// Its arrays.
    pub sections: Sections,
    /// A hash of the model.
    pub fingerprint: u64,
}

impl InitialModel {
    /// Gives the network of this number, from 1, the parameters of the model, rounded as it has them: of an ensemble
    /// those of the network of this number. Parameters of symbols that the model does not have stay.
    ///
    /// # Errors
    /// When the model is damaged, or its networks have other layers.
    pub fn initialize(
        &self,
        number: u32,
        components: Components<'_>,
        network: &mut Neural,
    ) -> Result<()> {
        let Components { system, vocabulary, .. } = components;
        let own = Components { system: &*self.system, vocabulary: &self.vocabulary, ..components };
        let (layout, parts) = self.method.networks(own, &self.sections)?;
        let part = &parts[(number as usize - 1).min(parts.len() - 1)];
        let params = Quantized::load(&layout.params, part)?.dequantize(&layout.params);
        let symbols = Renumbering {
            own: SymbolNames::new(system, vocabulary),
            other: SymbolNames::new(&*self.system, &self.vocabulary),
        };
        network.params.transfer(&params, &symbols)
    }
}

//! The pretrained encoder of a network: its weights, and its tokenizer, which becomes part of the vocabulary.

use std::path::Path;
use std::sync::Arc;

use super::Trainer;
use crate::checkpoint::Checkpoint;
use crate::encoder::{Pretrained, TransformerParams};
use crate::error::{Error, Result};
use crate::pieces::PieceTokenizer;
use crate::preset::MethodChoice;
use crate::symbols::Vocabulary;
use crate::tree::Tree;

impl Trainer<'_> {
    /// Checks that the folder of the pretrained encoder is named, if one will be read.
    ///
    /// # Errors
    /// When it is not.
    pub(crate) fn check_encoder(&self) -> Result<()> {
        if self.initial.is_none() && !self.plan.preset.only_tagger {
            self.encoder_params()?;
        }
        Ok(())
    }

    /// The settings of the pretrained encoder, if the preset has one.
    ///
    /// # Errors
    /// When its folder is not named.
    fn encoder_params(&self) -> Result<Option<&TransformerParams>> {
        let MethodChoice::Neural(learner) = &self.plan.preset.learner else { return Ok(None) };
        match learner.network.encoder() {
            Some(params) if params.path.is_empty() => {
                let problem = "is missing: give the folder of a pretrained encoder (--encoder)";
                Err(Error::config("learner.network.encoder.path", problem))
            }
            params => Ok(params),
        }
    }

    /// Reads the pretrained encoder, if the preset has one, and gives its tokenizer to the vocabulary.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn read_encoder<'t>(
        &self,
        trees: impl Iterator<Item = &'t Tree>,
        vocabulary: &mut Vocabulary,
    ) -> Result<Option<Arc<Pretrained>>> {
        let Some(params) = self.encoder_params()? else { return Ok(None) };
        let checkpoint = Checkpoint::open(Path::new(&params.path))?;
        let tokenizer = checkpoint.tokenizer()?;
        let (config, weights) = (checkpoint.config().clone(), Some(checkpoint.weights()?));
        let pretrained = Pretrained { config, weights }.cut(params.layers);
        let n = tokenizer.len();
        let (pretrained, tokenizer) = keep(pretrained, tokenizer, params, trees);
        let config = &pretrained.config;
        self.log(&format!(
            "encoder: {} layers of {} units, {} of {n} pieces",
            config.layers, config.width, config.vocabulary
        ));
        vocabulary.set_pieces(Arc::new(tokenizer));
        Ok(Some(Arc::new(pretrained)))
    }
}

/// Leaves out pieces that are neither among the first ones nor in the trees, if the settings say so.
fn keep<'t>(
    mut pretrained: Pretrained,
    tokenizer: PieceTokenizer,
    params: &TransformerParams,
    trees: impl Iterator<Item = &'t Tree>,
) -> (Pretrained, PieceTokenizer) {
    if params.pieces == 0 {
        return (pretrained, tokenizer);
    }
    let (mut seen, mut pieces) = (vec![false; tokenizer.len()], Vec::new());
    for token in trees.flat_map(Tree::tokens) {
        pieces.clear();
        tokenizer.pieces(&token.word, &mut pieces);
        pieces.iter().for_each(|&piece| seen[piece as usize] = true);
    }
    let (tokenizer, old) =
        tokenizer.restrict(|piece, _| piece < params.pieces || seen[piece as usize]);
    pretrained.keep_pieces(&old);
    (pretrained, tokenizer)
}

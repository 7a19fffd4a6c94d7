//! `config.json`: the family and the sizes of an encoder.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{read_json, unusable};
use crate::error::{Error, Result};
use crate::neural::transformer::Activation;

/// A family of encoders: transformers that normalize after each residual connection, with learned absolute positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Devlin et al. 2019; also MiniLM, BGE, E5, BioBERT, IndoBERT and others.
    Bert,
    /// Sanh et al. 2019: BERT without token types.
    DistilBert,
    /// Clark et al. 2020: BERT whose embeddings may be narrower than its layers.
    Electra,
    /// Liu et al. 2019; also CamemBERT (Martin et al. 2020).
    Roberta,
    /// Conneau et al. 2020: RoBERTa for a hundred languages.
    XlmRoberta,
}

impl Family {
    /// The family with a `model_type`.
    fn of(model_type: &str) -> Option<Self> {
        Some(match model_type {
            "bert" => Self::Bert,
            "distilbert" => Self::DistilBert,
            "electra" => Self::Electra,
            "roberta" | "camembert" => Self::Roberta,
            "xlm-roberta" => Self::XlmRoberta,
            _ => return None,
        })
    }

    /// Whether positions are counted from the one after that of padding.
    fn has_position_offset(self) -> bool {
        matches!(self, Self::Roberta | Self::XlmRoberta)
    }
}

/// The family and the sizes of an encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The family.
    pub family: Family,
    /// The number of pieces.
    pub vocabulary: usize,
    /// The width of the layers.
    pub width: usize,
    /// The width of the embeddings; another than that of the layers if there is a projection.
    pub embedding_width: usize,
    /// The number of layers.
    pub layers: usize,
    /// The number of heads of a layer; divides the width.
    pub heads: usize,
    /// The number of units between the two parts of a feed-forward block.
    pub feed_forward: usize,
    /// The most pieces of an input, with the first and the last one.
    pub positions: usize,
    /// How many rows of the table of positions come before that of the first piece.
    pub position_offset: usize,
    /// The number of token types, of which only the first is used; 0 if the family has none.
    pub types: usize,
    /// The activation function of feed-forward blocks.
    pub activation: Activation,
    /// The addition of layer norms to the variance.
    pub epsilon: f32,
}

/// The largest file.
const MAX_BYTES: u64 = 1 << 20;
const MAX_VOCABULARY: u64 = 1 << 21;
const MAX_WIDTH: u64 = 1 << 13;
const MAX_FEED_FORWARD: u64 = 1 << 15;
const MAX_LAYERS: u64 = 1 << 7;
const MAX_POSITIONS: u64 = 1 << 16;
const MAX_TYPES: u64 = 1 << 8;

/// Reads `config.json`.
pub(super) fn read(path: &Path) -> Result<Config> {
    let values: Map<String, Value> = read_json(path, MAX_BYTES)?;
    let file = ConfigFile { path, values };
    let family = file.family()?;
    file.refuse_variants()?;
    let distil = family == Family::DistilBert;
    let name =
        |distilbert: &'static str, other: &'static str| if distil { distilbert } else { other };
    let width = file.size(name("dim", "hidden_size"), MAX_WIDTH, None)?;
    let embedding_width = match family {
        Family::Electra => file.size("embedding_size", MAX_WIDTH, Some(128))?,
        _ => width,
    };
    let heads_name = name("n_heads", "num_attention_heads");
    let heads = file.size(heads_name, MAX_WIDTH, None)?;
    if !width.is_multiple_of(heads) {
        return Err(
            file.wrong(heads_name, format!("{heads} heads do not divide the width {width}"))
        );
    }
    let position_offset = match family.has_position_offset() {
        true => 1 + file.number("pad_token_id", 0..=MAX_POSITIONS, Some(1))?,
        false => 0,
    };
    let rows = file.size("max_position_embeddings", MAX_POSITIONS, None)?;
    // A piece between the first and the last one.
    let Some(positions) = rows.checked_sub(position_offset).filter(|&positions| positions > 2)
    else {
        let problem = format!("{rows} positions leave no place for a word");
        return Err(file.wrong("max_position_embeddings", problem));
    };
    Ok(Config {
        family,
        vocabulary: file.size("vocab_size", MAX_VOCABULARY, None)?,
        width,
        embedding_width,
        layers: file.size(name("n_layers", "num_hidden_layers"), MAX_LAYERS, None)?,
        heads,
        feed_forward: file.size(name("hidden_dim", "intermediate_size"), MAX_FEED_FORWARD, None)?,
        positions,
        position_offset,
        types: if distil { 0 } else { file.size("type_vocab_size", MAX_TYPES, Some(2))? },
        activation: file.activation(name("activation", "hidden_act"))?,
        epsilon: if distil { 1e-12 } else { file.epsilon()? },
    })
}

struct ConfigFile<'a> {
    path: &'a Path,
    values: Map<String, Value>,
}

impl ConfigFile<'_> {
    /// A message about the value of a key.
    fn wrong(&self, key: &str, problem: impl std::fmt::Display) -> crate::Error {
        unusable(self.path, format!("`{key}`: {problem}: give the `config.json` of these weights"))
    }

    /// A message about an encoder of another kind.
    fn unsupported(&self, what: &str) -> crate::Error {
        let advice = "give an encoder of the families BERT (also MiniLM, BGE, E5 and others), \
                      DistilBERT, ELECTRA, RoBERTa or XLM-R";
        unusable(self.path, format!("{what}: {advice}"))
    }

    /// The value of a key, if it is there and not null.
    fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key).filter(|value| !value.is_null())
    }

    fn family(&self) -> Result<Family> {
        let Some(value) = self.get("model_type") else {
            let problem = "no `model_type`: if this is a BERT, add `\"model_type\": \"bert\"`";
            return Err(self.unsupported(problem));
        };
        let family = value.as_str().and_then(Family::of);
        family.ok_or_else(|| self.unsupported(&format!("`model_type` is {}", shortened(value))))
    }

    /// Refuses variants of the families that compute something else.
    fn refuse_variants(&self) -> Result<()> {
        for (key, expected) in [
            ("position_embedding_type", Value::from("absolute")),
            ("is_decoder", Value::from(false)),
            ("add_cross_attention", Value::from(false)),
            ("is_encoder_decoder", Value::from(false)),
        ] {
            if let Some(value) = self.get(key).filter(|&value| *value != expected) {
                let problem = format!("`{key}` is {}, not {expected}", shortened(value));
                return Err(self.unsupported(&problem));
            }
        }
        Ok(())
    }

    fn size(&self, key: &str, limit: u64, default: Option<u64>) -> Result<usize> {
        self.number(key, 1..=limit, default)
    }

    fn number(
        &self,
        key: &str,
        range: std::ops::RangeInclusive<u64>,
        default: Option<u64>,
    ) -> Result<usize> {
        let number = match self.get(key) {
            Some(value) => value.as_u64().filter(|number| range.contains(number)),
            None => default,
        };
        number.map(|number| number as usize).ok_or_else(|| {
            let found = self.get(key).map_or("it is missing".to_owned(), shortened);
            let (least, most) = range.into_inner();
            self.wrong(key, format!("expected a number from {least} to {most}, but found {found}"))
        })
    }

    fn activation(&self, key: &str) -> Result<Activation> {
        let Some(value) = self.get(key) else { return Ok(Activation::Gelu) };
        match value.as_str() {
            Some("gelu" | "gelu_python") => Ok(Activation::Gelu),
            Some("gelu_new" | "gelu_fast" | "gelu_pytorch_tanh") => Ok(Activation::GeluTanh),
            Some("relu") => Ok(Activation::Relu),
            _ => Err(self.unsupported(&format!(
                "`{key}` is {}, not gelu, gelu_new, gelu_pytorch_tanh or relu",
                shortened(value)
            ))),
        }
    }

    fn epsilon(&self) -> Result<f32> {
        let Some(value) = self.get("layer_norm_eps") else { return Ok(1e-12) };
        let epsilon = value.as_f64().filter(|epsilon| (1e-30..0.1).contains(epsilon));
        epsilon.map(|epsilon| epsilon as f32).ok_or_else(|| {
            let found = shortened(value);
            self.wrong("layer_norm_eps", format!("expected 1e-30 to 0.1, but found {found}"))
        })
    }
}

/// A value as a message has it.
fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

impl Config {
    /// Checks sizes from a model.
    ///
    /// # Errors
    /// When they are impossible.
    pub fn check(&self) -> Result<()> {
        let sizes = [
            (self.vocabulary, MAX_VOCABULARY),
            (self.width, MAX_WIDTH),
            (self.embedding_width, MAX_WIDTH),
            (self.layers, MAX_LAYERS),
            (self.heads, MAX_WIDTH),
            (self.feed_forward, MAX_FEED_FORWARD),
            (self.positions, MAX_POSITIONS),
        ];
        let are_possible =
            sizes.into_iter().all(|(size, most)| (1..=most).contains(&(size as u64)));
        if are_possible && self.width.is_multiple_of(self.heads) && self.epsilon > 0.0 {
            return Ok(());
        }
        Err(Error::Corrupt("the sizes of the encoder are impossible: train the model again".into()))
    }
}

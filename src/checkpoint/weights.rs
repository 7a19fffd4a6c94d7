//! The weights of an encoder, in this program's layout.

use std::path::Path;

use super::config::{Config, Family};
use super::tensors::Tensors;
use super::unusable;
use crate::error::Result;

/// The weights of an encoder. A matrix has a row for each input and a column for each output, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// The embeddings of pieces: vocabulary × embedding width.
    pub pieces: Vec<f32>,
    /// The embeddings of positions, from that of the first piece: positions × embedding width.
    pub positions: Vec<f32>,
    /// The embedding of the first token type, embedding width; zeros if the family has no types.
    pub kind: Vec<f32>,
    /// Factors and shifts of the layer norm of embeddings: embedding width each.
    pub embedding_norm: [Vec<f32>; 2],
    /// From embeddings to the layers, where their widths differ: embedding width × width, and the bias.
    pub projection: Option<[Vec<f32>; 2]>,
    /// The layers, the lowest first.
    pub layers: Vec<LayerWeights>,
}

impl Weights {
    /// All arrays.
    pub fn arrays(&self) -> impl Iterator<Item = &[f32]> {
        let pairs = self.layers.iter().flat_map(|layer| {
            let LayerWeights { input, output, attention_norm, up, down, norm } = layer;
            [input, output, attention_norm, up, down, norm]
        });
        let pairs = [&self.embedding_norm].into_iter().chain(&self.projection).chain(pairs);
        [&self.pieces, &self.positions, &self.kind]
            .into_iter()
            .chain(pairs.flatten())
            .map(Vec::as_slice)
    }
}

/// The weights of a layer: matrices with their biases, and factors with shifts of layer norms.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerWeights {
    /// Width × 3 · width: the queries of all heads, then the keys, then the values.
    pub input: [Vec<f32>; 2],
    /// From the heads: width × width.
    pub output: [Vec<f32>; 2],
    /// The layer norm after the attention: width each.
    pub attention_norm: [Vec<f32>; 2],
    /// Width × feed-forward width.
    pub up: [Vec<f32>; 2],
    /// Feed-forward width × width.
    pub down: [Vec<f32>; 2],
    /// The layer norm after the feed-forward block: width each.
    pub norm: [Vec<f32>; 2],
}

/// How a family names the parts of a layer.
struct Names {
    layers: &'static str,
    /// Queries, keys, values.
    inputs: [&'static str; 3],
    output: &'static str,
    attention_norm: &'static str,
    up: &'static str,
    down: &'static str,
    norm: &'static str,
}

const BERT: Names = Names {
    layers: "encoder.layer",
    inputs: ["attention.self.query", "attention.self.key", "attention.self.value"],
    output: "attention.output.dense",
    attention_norm: "attention.output.LayerNorm",
    up: "intermediate.dense",
    down: "output.dense",
    norm: "output.LayerNorm",
};

const DISTILBERT: Names = Names {
    layers: "transformer.layer",
    inputs: ["attention.q_lin", "attention.k_lin", "attention.v_lin"],
    output: "attention.out_lin",
    attention_norm: "sa_layer_norm",
    up: "ffn.lin1",
    down: "ffn.lin2",
    norm: "output_layer_norm",
};

const PIECES: &str = "embeddings.word_embeddings.weight";

/// Reads the weights of a folder.
pub(super) fn read(folder: &Path, config: &Config) -> Result<Weights> {
    let tensors = Tensors::open(folder)?;
    let reader = Reader { prefix: prefix(&tensors, config.family)?, tensors, config };
    let width = config.embedding_width;
    let pieces = reader.tensor(PIECES, &[config.vocabulary, width])?;
    let rows = config.position_offset + config.positions;
    let mut positions = reader.tensor("embeddings.position_embeddings.weight", &[rows, width])?;
    positions.drain(..config.position_offset * width);
    let mut kind = vec![0.0; width];
    if config.types > 0 {
        kind = reader.tensor("embeddings.token_type_embeddings.weight", &[config.types, width])?;
        kind.truncate(width);
    }
    let embedding_norm = reader.norm("embeddings.LayerNorm", width)?;
    let projection = match width == config.width {
        true => None,
        false => Some(reader.linear(&["embeddings_project"], width, config.width)?),
    };
    let layers = (0..config.layers).map(|layer| reader.layer(layer)).collect::<Result<_>>()?;
    Ok(Weights { pieces, positions, kind, embedding_norm, projection, layers })
}

/// The prefix of the names of all tensors of the encoder.
fn prefix(tensors: &Tensors, family: Family) -> Result<String> {
    let mut prefixes = tensors.prefixes(PIECES);
    if prefixes.len() > 1 {
        let usual = match family {
            Family::Bert => "bert.",
            Family::DistilBert => "distilbert.",
            Family::Electra => "electra.",
            Family::Roberta | Family::XlmRoberta => "roberta.",
        };
        prefixes.retain(|prefix| prefix == usual);
    }
    match <[String; 1]>::try_from(prefixes) {
        Ok([prefix]) => Ok(prefix),
        Err(_) => {
            let problem = format!(
                "there must be one tensor `{PIECES}` (other names may come before it): give the weights of \
                 one encoder, with all its files"
            );
            Err(unusable(&tensors.source, problem))
        }
    }
}

struct Reader<'a> {
    tensors: Tensors,
    prefix: String,
    config: &'a Config,
}

impl Reader<'_> {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        self.tensors.read(&format!("{}{name}", self.prefix), shape)
    }

    /// Matrices over the same inputs, side by side, and their biases.
    fn linear(&self, names: &[&str], inputs: usize, outputs: usize) -> Result<[Vec<f32>; 2]> {
        let columns = names.len() * outputs;
        // No larger than the tensors of the file, which are read first.
        let (mut weights, mut bias) = (Vec::new(), Vec::new());
        for (part, name) in names.iter().enumerate() {
            let rows = self.tensor(&format!("{name}.weight"), &[outputs, inputs])?;
            weights.resize(inputs * columns, 0.0);
            for (input, row) in weights.chunks_exact_mut(columns).enumerate() {
                let row = &mut row[part * outputs..][..outputs];
                for (output, weight) in row.iter_mut().enumerate() {
                    *weight = rows[output * inputs + input];
                }
            }
            bias.extend(self.tensor(&format!("{name}.bias"), &[outputs])?);
        }
        Ok([weights, bias])
    }

    /// Factors and shifts; old files call them gamma and beta.
    fn norm(&self, name: &str, width: usize) -> Result<[Vec<f32>; 2]> {
        let is_old = self.tensors.has(&format!("{}{name}.gamma", self.prefix));
        let names = if is_old { ["gamma", "beta"] } else { ["weight", "bias"] };
        let [scale, shift] = names.map(|end| self.tensor(&format!("{name}.{end}"), &[width]));
        Ok([scale?, shift?])
    }

    fn layer(&self, layer: usize) -> Result<LayerWeights> {
        let names = if self.config.family == Family::DistilBert { &DISTILBERT } else { &BERT };
        let (width, inner) = (self.config.width, self.config.feed_forward);
        let full = |name: &str| format!("{}.{layer}.{name}", names.layers);
        let inputs = names.inputs.map(full);
        let inputs = inputs.each_ref().map(String::as_str);
        Ok(LayerWeights {
            input: self.linear(&inputs, width, width)?,
            output: self.linear(&[&full(names.output)], width, width)?,
            attention_norm: self.norm(&full(names.attention_norm), width)?,
            up: self.linear(&[&full(names.up)], width, inner)?,
            down: self.linear(&[&full(names.down)], inner, width)?,
            norm: self.norm(&full(names.norm), width)?,
        })
    }
}

//! Transformers (Vaswani et al. 2017) that normalize after each residual connection, as BERT does (Devlin et al. 2019):
//! their weights.

use serde::{Deserialize, Serialize};

use super::params::Param;

/// `x W + b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linear {
    /// W: inputs × outputs.
    pub weights: Param,
    /// b.
    pub bias: Param,
}

/// Layer normalization (Ba, Kiros and Hinton 2016): each row is shifted to mean 0, scaled to variance 1, then scaled and
/// shifted by learned vectors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerNorm {
    /// The learned factors.
    pub scale: Param,
    /// The learned shifts.
    pub shift: Param,
    /// Added to the variance.
    pub epsilon: f32,
}

/// An activation function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// The Gaussian error linear unit (Hendrycks and Gimpel 2016): x times the cumulative normal distribution at x.
    Gelu,
    /// Its approximation by a hyperbolic tangent.
    GeluTanh,
    /// The rectified linear unit.
    Relu,
}

/// A layer: self-attention, then a feed-forward block, each with a residual connection and a layer norm after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransformerLayer {
    /// Width × 3 · heads · head width: the queries of all heads, then the keys, then the values.
    pub input: Linear,
    /// Heads · head width × width.
    pub output: Linear,
    /// After the attention.
    pub attention_norm: LayerNorm,
    /// Width × feed-forward width.
    pub up: Linear,
    /// Feed-forward width × width.
    pub down: Linear,
    /// After the feed-forward block.
    pub norm: LayerNorm,
    /// The number of heads.
    pub heads: u32,
    /// The activation function between `up` and `down`.
    pub activation: Activation,
}

/// A stack of layers over sums of embeddings.
#[derive(Debug, Clone, PartialEq)]
pub struct Transformer {
    /// Of the sums of embeddings.
    pub embedding_norm: LayerNorm,
    /// From embeddings to the width of the layers, where they differ (ELECTRA).
    pub projection: Option<Linear>,
    /// The layers, the lowest first.
    pub layers: Vec<TransformerLayer>,
}

//! Packed transformers.
//!
//! Rows are quantized, each with its own scale, before each product with a matrix. Attention is computed in f32: of the
//! time for a sentence of 33 pieces (6 layers of 384 units, 12 heads, AVX-512) it takes 12 %, products and activations
//! 80 %, norms and quantization 8 %, so 8 bits could save little.
//!
//! - `tiles`: rows of numbers and quantized rows, and layer norms.
//! - `products`: products with matrices, and activations.
//! - `attention`: self-attention.

use bytemuck::Zeroable;

use super::bytes::Sums;
use super::lanes::PANEL;
use super::{InstructionSet, Matrix, PaddedLayout};
use crate::neural::Quantized;
use crate::neural::lanes::LANES;
use crate::neural::transformer::{Activation, Linear, Transformer, TransformerLayer};

mod attention;
mod products;
mod tiles;

#[cfg(test)]
mod tests;

use attention::{Attention, Heads};
use products::Finish;
use tiles::{PackedNorm, Panels, Tiles};

/// The weights of a transformer.
#[derive(Debug)]
pub struct PackedTransformer {
    embedding_norm: PackedNorm,
    projection: Option<Matrix>,
    layers: Vec<PackedLayer>,
    width: usize,
}

/// The weights of a layer.
#[derive(Debug)]
struct PackedLayer {
    input: Matrix,
    output: Matrix,
    attention_norm: PackedNorm,
    up: Matrix,
    down: Matrix,
    norm: PackedNorm,
    heads: Heads,
    activation: Activation,
}

/// Scratch memory of a transformer.
#[derive(Debug, Default)]
pub struct TransformerScratch {
    /// The state of each row after a layer.
    hidden: Panels,
    /// The inputs of the next product.
    inputs: Tiles,
    /// Embeddings; queries, keys and values; the outputs of `up`.
    wide: Panels,
    attention: Attention,
    /// The results of the attention.
    context: Panels,
    sums: Vec<Sums>,
}

impl TransformerScratch {
    /// Writes the products of the inputs.
    fn write(&mut self, set: InstructionSet, matrix: &Matrix, finish: Finish) {
        self.wide.reset(self.hidden.rows, matrix.panels());
        let (sums, y) = (&mut self.sums, &mut self.wide.panels);
        products::products(set, &self.inputs, matrix, finish, sums, y);
    }

    /// Adds the products of the inputs to the hidden states, and normalizes these.
    fn add(&mut self, set: InstructionSet, matrix: &Matrix, norm: &PackedNorm) {
        let (sums, y) = (&mut self.sums, &mut self.hidden.panels);
        products::products(set, &self.inputs, matrix, Finish::Add, sums, y);
        self.inputs.normalize(set, &mut self.hidden, norm);
    }
}

/// Packs a matrix whose inputs and outputs are of one block.
fn pack(quantized: &Quantized, Linear { weights, bias }: Linear) -> Matrix {
    let inputs = PaddedLayout::blocks(1, weights.rows as usize, LANES);
    let outputs = PaddedLayout::blocks(1, weights.columns as usize, PANEL);
    Matrix::pack(quantized, (weights, Some(bias)), &inputs, &outputs)
}

impl PackedLayer {
    fn pack(quantized: &Quantized, layer: &TransformerLayer) -> Self {
        let number = layer.heads as usize;
        let heads = Heads { number, width: layer.output.weights.rows as usize / number.max(1) };
        let places = |blocks| PaddedLayout::blocks(blocks, heads.width, LANES);
        let Linear { weights, bias } = layer.input;
        let width = PaddedLayout::blocks(1, weights.rows as usize, LANES);
        let mut input = Matrix::pack(quantized, (weights, Some(bias)), &width, &places(3 * number));
        scale_queries(&mut input, heads);
        let Linear { weights, bias } = layer.output;
        let width = PaddedLayout::blocks(1, weights.columns as usize, PANEL);
        Self {
            input,
            output: Matrix::pack(quantized, (weights, Some(bias)), &places(number), &width),
            attention_norm: PackedNorm::pack(quantized, layer.attention_norm),
            up: pack(quantized, layer.up),
            down: pack(quantized, layer.down),
            norm: PackedNorm::pack(quantized, layer.norm),
            heads,
            activation: layer.activation,
        }
    }

    /// Replaces the hidden states, which are also the inputs, by those of the next layer.
    fn run(&self, set: InstructionSet, scratch: &mut TransformerScratch) {
        scratch.write(set, &self.input, Finish::Write);
        let TransformerScratch { wide, attention, context, inputs, .. } = &mut *scratch;
        attention.run(set, wide, self.heads, context);
        inputs.quantize(set, context, self.output.places());
        scratch.add(set, &self.output, &self.attention_norm);
        scratch.write(set, &self.up, Finish::Activate(self.activation));
        scratch.inputs.quantize(set, &scratch.wide, self.down.places());
        scratch.add(set, &self.down, &self.norm);
    }
}

/// Divides queries by the root of their width.
fn scale_queries(input: &mut Matrix, heads: Heads) {
    let factor = 1.0 / (heads.width as f32).sqrt();
    for lanes in 0..heads.number * heads.lanes() {
        let scaling = &mut input.scaling[lanes / 4];
        for numbers in [&mut scaling.scale[lanes % 4], &mut scaling.bias[lanes % 4]] {
            numbers.0.iter_mut().for_each(|number| *number *= factor);
        }
    }
}

impl PackedTransformer {
    /// Packs the weights.
    pub fn pack(quantized: &Quantized, transformer: &Transformer) -> Self {
        let Transformer { embedding_norm, projection, layers } = transformer;
        let width = projection.map_or(embedding_norm.scale, |projection| projection.bias).columns;
        Self {
            embedding_norm: PackedNorm::pack(quantized, *embedding_norm),
            projection: projection.map(|projection| pack(quantized, projection)),
            layers: layers.iter().map(|layer| PackedLayer::pack(quantized, layer)).collect(),
            width: width as usize,
        }
    }

    /// The numbers of a sum of embeddings.
    pub fn embedding_width(&self) -> usize {
        self.embedding_norm.width
    }

    /// The numbers of a hidden state.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Replaces the sums of embeddings in `x`, row by row, by the hidden states of the last layer.
    pub fn run(&self, set: InstructionSet, x: &mut Vec<f32>, scratch: &mut TransformerScratch) {
        let rows = x.len() / self.embedding_width();
        if rows == 0 {
            return;
        }
        scratch.sums.resize(rows, Sums::zeroed());
        scratch.hidden.load(x, self.embedding_width());
        scratch.inputs.normalize(set, &mut scratch.hidden, &self.embedding_norm);
        if let Some(projection) = &self.projection {
            scratch.write(set, projection, Finish::Write);
            std::mem::swap(&mut scratch.hidden, &mut scratch.wide);
            scratch.inputs.quantize(set, &scratch.hidden, self.width.next_multiple_of(LANES));
        }
        for layer in &self.layers {
            layer.run(set, scratch);
        }
        x.clear();
        scratch.hidden.store(self.width, x);
    }
}

//! Products with a matrix.

use crate::neural::product::{Packed, add_product, transpose};
use crate::neural::{Gradients, Param, Params};

/// A product of each row with a matrix.
#[derive(Debug)]
pub struct Affine {
    weights: Param,
    packed: Packed,
    flipped: Vec<f32>,
}

impl Affine {
    /// A layer with these weights.
    pub fn new(weights: Param) -> Self {
        Self { weights, packed: Packed::default(), flipped: Vec::new() }
    }

    /// Writes `x W`.
    pub fn forward(&mut self, params: &Params, x: &[f32], out: &mut Vec<f32>) {
        let Param { rows, columns, .. } = self.weights;
        self.packed.pack(params.of(self.weights), columns as usize);
        out.clear();
        out.resize(x.len() / rows as usize * columns as usize, 0.0);
        add_product(x, &self.packed, out);
    }

    /// Adds the gradient of the weights, and writes that of `x`.
    pub fn backward(
        &mut self,
        params: &Params,
        x: &[f32],
        d_out: &[f32],
        d_x: &mut Vec<f32>,
        gradients: &mut Gradients,
    ) {
        let Param { rows, columns, .. } = self.weights;
        self.packed.pack(d_out, columns as usize);
        transpose(x, rows as usize, &mut self.flipped);
        add_product(&self.flipped, &self.packed, gradients.of_mut(self.weights));
        self.packed.pack_transposed(params.of(self.weights), columns as usize);
        d_x.clear();
        d_x.resize(x.len(), 0.0);
        add_product(d_out, &self.packed, d_x);
    }
}

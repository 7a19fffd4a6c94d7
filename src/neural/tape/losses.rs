//! Losses on the tape.

use super::{Op, Tape, Var};
use crate::neural::kernel;
use crate::neural::params::{Gradients, Param, Params};

impl Tape {
    /// Adds the cross-entropy loss of choosing among some of the scores: of each choice its place and its
    /// probability, which add up to 1. Returns the loss.
    ///
    /// # Panics
    /// When a place is beyond the scores.
    pub fn cross_entropy(&mut self, scores: Var, choices: &[(u32, f32)]) -> f32 {
        let gradient = self.factors.len();
        self.factors.resize(gradient + scores.len(), 0.0);
        let values = &self.values[scores.range()];
        let loss = kernel::cross_entropy(values, choices, &mut self.factors[gradient..]);
        self.ops.push(Op::Loss { scores, gradient: gradient as u32 });
        loss
    }

    /// Adds the cross-entropy losses of choosing a column in some rows of x, after a bias is added: of each row its
    /// number and the column. The columns below `from` are no choices. Returns the sum of the losses.
    ///
    /// # Panics
    /// When a column is not among the choices.
    pub fn row_losses(
        &mut self,
        params: &Params,
        bias: Param,
        x: Var,
        from: u32,
        rows: impl IntoIterator<Item = (usize, u32)>,
    ) -> f64 {
        let width = bias.len();
        let mut choices: Vec<(u32, f32)> = (from..bias.columns).map(|at| (at, 0.0)).collect();
        let (first, gradient) = (self.rows.len(), self.factors.len());
        let (mut loss, mut scores) = (0.0, vec![0.0; width]);
        for (row, column) in rows {
            scores.copy_from_slice(&self.of(x)[row * width..][..width]);
            kernel::add_scaled(1.0, params.of(bias), &mut scores);
            let own = self.factors.len();
            self.factors.resize(own + width, 0.0);
            choices[(column - from) as usize].1 = 1.0;
            loss += f64::from(kernel::cross_entropy(&scores, &choices, &mut self.factors[own..]));
            choices[(column - from) as usize].1 = 0.0;
            self.rows.push(row as u32);
        }
        let n = (self.rows.len() - first) as u32;
        let gradient = gradient as u32;
        self.ops.push(Op::RowLosses { first: first as u32, n, bias, x, gradient });
        loss
    }

    pub(super) fn back_row_losses(
        &mut self,
        (first, n): (u32, u32),
        bias: Param,
        x: Var,
        gradient: u32,
        gradients: &mut Gradients,
    ) {
        let (width, d_x) = (bias.len(), &mut self.gradients[x.range()]);
        let rows = &self.rows[first as usize..(first + n) as usize];
        let own = self.factors[gradient as usize..].chunks_exact(width);
        for (&row, own) in rows.iter().zip(own) {
            kernel::add_scaled(1.0, own, &mut d_x[row as usize * width..][..width]);
            kernel::add_scaled(1.0, own, gradients.of_mut(bias));
        }
    }
}

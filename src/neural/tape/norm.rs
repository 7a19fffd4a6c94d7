//! Layer normalization, activations, and rows on the tape: their means, and those of several variables beside each
//! other.

use super::{Op, Tape, Var};
use crate::neural::kernel::add_scaled;
use crate::neural::params::{CHUNK, Gradients, Params};
use crate::neural::row_functions::{self, NORM_CHUNK};
use crate::neural::transformer::{Activation, LayerNorm};
use crate::parallel;

impl Tape {
    /// The rows of x, normalized.
    pub fn layer_norm(&mut self, params: &Params, norm: LayerNorm, x: Var) -> Var {
        let width = norm.scale.len();
        let n = x.len() / width;
        // The normalized rows, then the mean and the inverse deviation of each row.
        let out = self.new_var(n * width + 2 * n);
        let (old, new) = self.values.split_at_mut(out.at as usize);
        let (rows, moments) = new.split_at_mut(n * width);
        let parts = rows.chunks_mut(NORM_CHUNK * width).zip(moments.chunks_mut(2 * NORM_CHUNK));
        let parts = parts.zip(old[x.range()].chunks(NORM_CHUNK * width));
        let (scale, shift) = (params.of(norm.scale), params.of(norm.shift));
        parallel::for_each(parts, |((rows, moments), x)| {
            let rows = rows.chunks_exact_mut(width).zip(moments.as_chunks_mut().0);
            for ((row, moments), x) in rows.zip(x.chunks_exact(width)) {
                row_functions::normalize(x, (scale, shift), norm.epsilon, row, moments);
            }
        });
        self.ops.push(Op::LayerNorm { norm, x, out });
        out.part(0, n * width)
    }

    pub(super) fn back_layer_norm(
        &mut self,
        norm: LayerNorm,
        x: Var,
        out: Var,
        params: &Params,
        gradients: &mut Gradients,
    ) {
        let width = norm.scale.len();
        let n = x.len() / width;
        let (old, new) = self.gradients.split_at_mut(out.at as usize);
        let (of_x, moments) = (&self.values[x.range()], &self.values[out.range()][n * width..]);
        let [d_scale, d_shift] = gradients.several_mut([norm.scale, norm.shift]);
        let d_out = new[..n * width].chunks_exact(width);
        let moments = moments.as_chunks().0;
        for ((d_out, x), moments) in d_out.zip(of_x.chunks_exact(width)).zip(moments) {
            row_functions::normalize_back_params(d_out, x, moments, d_scale, d_shift);
        }
        let scale = params.of(norm.scale);
        let parts = old[x.range()].chunks_mut(NORM_CHUNK * width);
        let parts = parts.zip(new[..n * width].chunks(NORM_CHUNK * width));
        let parts = parts.zip(of_x.chunks(NORM_CHUNK * width).zip(moments.chunks(NORM_CHUNK)));
        parallel::for_each(parts, |((d_x, d_out), (x, moments))| {
            let rows = d_x.chunks_exact_mut(width).zip(d_out.chunks_exact(width));
            for ((d_x, d_out), (x, moments)) in rows.zip(x.chunks_exact(width).zip(moments)) {
                row_functions::normalize_back(d_out, x, moments, scale, d_x);
            }
        });
    }

    /// The activation of each number.
    pub fn apply(&mut self, activation: Activation, x: Var) -> Var {
        let out = self.new_var(x.len());
        let (old, new) = self.values.split_at_mut(out.at as usize);
        let parts = new.chunks_mut(CHUNK / 4).zip(old[x.range()].chunks(CHUNK / 4));
        let apply = |(out, x): (&mut [f32], &[f32])| {
            out.copy_from_slice(x);
            match activation {
                Activation::Relu => out.iter_mut().for_each(|value| *value = value.max(0.0)),
                Activation::Gelu => row_functions::gelus(out),
                Activation::GeluTanh => row_functions::gelu_tanhs(out),
            }
        };
        in_parts(parts, x.len(), apply);
        self.ops.push(Op::Apply { activation, x, out });
        out
    }

    pub(super) fn back_apply(&mut self, activation: Activation, x: Var, out: Var) {
        let (old, new) = self.gradients.split_at_mut(out.at as usize);
        let of_x = self.values[x.range()].chunks(CHUNK / 4);
        let parts = old[x.range()].chunks_mut(CHUNK / 4).zip(new.chunks(CHUNK / 4));
        in_parts(parts.zip(of_x), x.len(), |((dx, dy), x)| match activation {
            Activation::Relu => {
                for ((dx, dy), x) in dx.iter_mut().zip(dy).zip(x) {
                    *dx += if *x > 0.0 { *dy } else { 0.0 };
                }
            }
            Activation::Gelu => row_functions::gelus_back(x, dy, dx),
            Activation::GeluTanh => row_functions::gelu_tanhs_back(x, dy, dx),
        });
    }

    /// The rows of several variables beside each other; each variable has as many.
    pub fn beside(&mut self, rows: usize, parts: &[Var]) -> Var {
        let width: usize = parts.iter().map(|part| part.len() / rows).sum();
        let out = self.new_var(rows * width);
        let (old, new) = self.values.split_at_mut(out.at as usize);
        let mut column = 0;
        for part in parts {
            let own = part.len() / rows;
            for (to, from) in new.chunks_exact_mut(width).zip(old[part.range()].chunks_exact(own)) {
                to[column..column + own].copy_from_slice(from);
            }
            column += own;
        }
        let (first, n) = self.note_parts(parts.iter().copied());
        self.ops.push(Op::Beside { first, n, rows: rows as u32, out });
        out
    }

    pub(super) fn back_beside(&mut self, (first, n): (u32, u32), rows: u32, out: Var) {
        let (old, new) = self.gradients.split_at_mut(out.at as usize);
        let width = out.len() / rows as usize;
        let mut column = 0;
        for part in &self.parts[first as usize..(first + n) as usize] {
            let own = part.len() / rows as usize;
            let d_rows = old[part.range()].chunks_exact_mut(own);
            for (to, from) in d_rows.zip(new[..out.len()].chunks_exact(width)) {
                add_scaled(1.0, &from[column..column + own], to);
            }
            column += own;
        }
    }

    /// For each list of rows of x their mean; `width` is that of a row.
    pub fn means(
        &mut self,
        width: usize,
        x: Var,
        lists: impl IntoIterator<Item = std::ops::Range<usize>>,
    ) -> Var {
        let first = self.rows.len();
        for rows in lists {
            self.rows.extend([rows.start as u32, rows.end as u32]);
        }
        let out = self.new_var((self.rows.len() - first) / 2 * width);
        let (old, new) = self.values.split_at_mut(out.at as usize);
        let (of_x, lists) = (&old[x.range()], self.rows[first..].as_chunks().0);
        for (out, rows) in new.chunks_exact_mut(width).zip(lists) {
            let (rows, share) = members(rows, width);
            for row in of_x[rows].chunks_exact(width) {
                add_scaled(share, row, out);
            }
        }
        self.ops.push(Op::Means { first: first as u32, width: width as u32, x, out });
        out
    }

    pub(super) fn back_means(&mut self, first: u32, width: u32, x: Var, out: Var) {
        let width = width as usize;
        let (old, new) = self.gradients.split_at_mut(out.at as usize);
        let (d_x, lists) = (&mut old[x.range()], self.rows[first as usize..].as_chunks().0);
        for (d_out, rows) in new[..out.len()].chunks_exact(width).zip(lists) {
            let (rows, share) = members(rows, width);
            for row in d_x[rows].chunks_exact_mut(width) {
                add_scaled(share, d_out, row);
            }
        }
    }
}

/// The numbers of some rows, and the share of each in their mean.
fn members(&[start, end]: &[u32; 2], width: usize) -> (std::ops::Range<usize>, f32) {
    (start as usize * width..end as usize * width, 1.0 / (end - start).max(1) as f32)
}

/// Works on parts of `n` numbers, on several threads if they are many.
fn in_parts<I: Send>(parts: impl Iterator<Item = I>, n: usize, work: impl Fn(I) + Sync) {
    if n <= CHUNK / 4 { parts.for_each(work) } else { parallel::for_each(parts, work) }
}

//! Self-attention on the tape (Vaswani et al. 2017, section 3.2).

use std::ops::Range;

use super::{Op, Tape, Var};
use crate::neural::kernel::add_product;
use crate::neural::row_functions::{soften, soften_back};
use crate::parallel;

/// Rows that attend to each other, and where their attention weights stand.
#[derive(Debug, Clone, Copy)]
struct Window {
    first: usize,
    rows: usize,
    /// Where the weights begin: for each head, rows × rows.
    weights: usize,
}

/// What attention computes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    /// The windows, in the list of the tape.
    first: u32,
    n: u32,
    heads: usize,
    /// Of a head.
    width: usize,
    x: Var,
    /// The context of each row, then the attention weights.
    out: Var,
}

/// The windows of a tape.
#[derive(Debug, Clone, Default)]
pub(super) struct Windows(Vec<Window>);

impl Windows {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Tape {
    /// The context of each row: for each head the sum of the values of all rows of its window, weighted by the softmax of
    /// the products of its query with their keys, divided by the root of the width of the head. The rows of `x` are the
    /// queries of all heads, the keys, and the values; `windows` are the rows that attend to each other.
    pub fn attention(
        &mut self,
        x: Var,
        heads: usize,
        row_width: usize,
        windows: &[Range<usize>],
    ) -> Var {
        let (all, first) = (row_width / 3, self.windows.0.len());
        let context = x.len() / 3;
        let mut end = context;
        for rows in windows {
            self.windows.0.push(Window { first: rows.start, rows: rows.len(), weights: end });
            end += heads * rows.len() * rows.len();
        }
        let out = self.new_var(end);
        let (first, n) = (first as u32, windows.len() as u32);
        let record = Record { first, n, heads, width: all / heads, x, out };
        self.attend(record);
        self.ops.push(Op::Attention(record));
        out.part(0, context)
    }

    fn attend(&mut self, record: Record) {
        let Record { heads, width, x, out, .. } = record;
        let (old, new) = self.values.split_at_mut(out.at as usize);
        let windows = &self.windows.0[record.first as usize..(record.first + record.n) as usize];
        let row = 3 * heads * width;
        let parts = split(new, windows, heads * width, heads);
        parallel::for_each(parts, |(window, context, weights)| {
            let rows = &old[x.range()][window.first * row..][..window.rows * row];
            let mut head = Head::default();
            for (number, weights) in
                weights.chunks_exact_mut((window.rows * window.rows).max(1)).enumerate()
            {
                head.gather(rows, row, number, width);
                head.attend(weights);
                scatter(&head.context, context, (number * width, heads * width));
            }
        });
    }

    pub(super) fn back_attention(&mut self, record: Record) {
        let Record { heads, width, x, out, .. } = record;
        let (old, new) = self.gradients.split_at_mut(out.at as usize);
        let windows = &self.windows.0[record.first as usize..(record.first + record.n) as usize];
        let row = 3 * heads * width;
        let (values, of_x) = (&self.values[out.range()], &self.values[x.range()]);
        let mut rest = &mut old[x.range()];
        let mut parts = Vec::new();
        for window in windows {
            let (own, after) = std::mem::take(&mut rest).split_at_mut(window.rows * row);
            parts.push((window, own));
            rest = after;
        }
        let d_contexts = &*new;
        parallel::for_each(parts, |(window, d_rows)| {
            let rows = &of_x[window.first * row..][..window.rows * row];
            let d_context =
                &d_contexts[window.first * heads * width..][..window.rows * heads * width];
            let size = window.rows * window.rows;
            let mut head = Head::default();
            for number in 0..heads {
                let weights = &values[window.weights + number * size..][..size];
                head.gather(rows, row, number, width);
                head.back(weights, (d_context, number, heads * width));
                for (part, gradient) in head.d_rows.iter().enumerate() {
                    scatter(gradient, d_rows, ((part * heads + number) * width, row));
                }
            }
        });
    }
}

/// The context and the weights of each window; the windows cover the rows from the first to the last.
fn split<'a>(
    new: &'a mut [f32],
    windows: &'a [Window],
    width: usize,
    heads: usize,
) -> Vec<(&'a Window, &'a mut [f32], &'a mut [f32])> {
    let rows: usize = windows.iter().map(|window| window.rows).sum();
    let (mut contexts, mut weights) = new.split_at_mut(rows * width);
    let mut parts = Vec::with_capacity(windows.len());
    for window in windows {
        let (context, other) = std::mem::take(&mut contexts).split_at_mut(window.rows * width);
        contexts = other;
        let size = heads * window.rows * window.rows;
        let (own, other) = std::mem::take(&mut weights).split_at_mut(size);
        weights = other;
        parts.push((window, context, own));
    }
    parts
}

/// Adds rows to the columns of wider rows that begin at a place.
fn scatter(rows: &[f32], to: &mut [f32], (first, to_width): (usize, usize)) {
    let n = to.len() / to_width;
    let width = rows.len() / n.max(1);
    for (row, to) in rows.chunks_exact(width.max(1)).zip(to.chunks_exact_mut(to_width)) {
        to[first..first + width].iter_mut().zip(row).for_each(|(to, value)| *to += value);
    }
}

/// A head of a window: its queries, keys and values.
#[derive(Debug, Default)]
struct Head {
    width: usize,
    /// Queries, keys, values: rows × width each.
    rows: [Vec<f32>; 3],
    /// Keys and values transposed: width × rows.
    keys: Vec<f32>,
    values: Vec<f32>,
    context: Vec<f32>,
    /// Weights and their gradients, transposed.
    weights: Vec<f32>,
    d_weights: Vec<f32>,
    d_context: Vec<f32>,
    /// The gradients of queries, keys and values.
    d_rows: [Vec<f32>; 3],
}

impl Head {
    /// Copies queries, keys and values out of rows of all heads.
    fn gather(&mut self, rows: &[f32], row_width: usize, number: usize, width: usize) {
        self.width = width;
        for (part, to) in self.rows.iter_mut().enumerate() {
            to.clear();
            let first = part * row_width / 3 + number * width;
            for row in rows.chunks_exact(row_width) {
                to.extend_from_slice(&row[first..first + width]);
            }
        }
        transpose(&self.rows[1], width, &mut self.keys);
    }

    /// The factor of products of queries with keys.
    fn scale(&self) -> f32 {
        1.0 / (self.width as f32).sqrt()
    }

    /// Writes the attention weights and the context.
    fn attend(&mut self, weights: &mut [f32]) {
        let (width, scale) = (self.width, self.scale());
        let [queries, _, values] = &self.rows;
        let n = values.len() / width;
        self.context.clear();
        self.context.resize(n * width, 0.0);
        let rows = weights.chunks_exact_mut(n).zip(queries.chunks_exact(width));
        for ((weights, query), context) in rows.zip(self.context.chunks_exact_mut(width)) {
            weights.fill(0.0);
            add_product(query, &self.keys, weights);
            soften(scale, weights);
            add_product(weights, values, context);
        }
    }

    /// Writes the gradients of queries, keys and values, given the weights and the gradient of the context.
    fn back(&mut self, weights: &[f32], (d_context, number, row_width): (&[f32], usize, usize)) {
        let (width, scale) = (self.width, self.scale());
        let n = self.rows[0].len() / width;
        let Self { rows, values, d_weights, d_context: own, d_rows, .. } = self;
        let [queries, keys, of_values] = &*rows;
        transpose(of_values, width, values);
        own.clear();
        for row in d_context.chunks_exact(row_width) {
            own.extend_from_slice(&row[number * width..][..width]);
        }
        d_weights.clear();
        d_weights.resize(n * n, 0.0);
        let of_rows = d_weights.chunks_exact_mut(n).zip(weights.chunks_exact(n));
        for ((d_weights, weights), d_context) in of_rows.zip(own.chunks_exact(width)) {
            add_product(d_context, values, d_weights);
            soften_back(scale, weights, d_weights);
        }
        let [d_queries, d_keys, d_values] = d_rows;
        products(d_weights, keys, width, d_queries);
        transpose(d_weights, n, &mut self.weights);
        products(&self.weights, queries, width, d_keys);
        transpose(weights, n, &mut self.weights);
        products(&self.weights, own, width, d_values);
    }
}

/// Writes the product of square weights with rows.
fn products(weights: &[f32], rows: &[f32], width: usize, out: &mut Vec<f32>) {
    let n = rows.len() / width;
    out.clear();
    out.resize(rows.len(), 0.0);
    for (weights, out) in weights.chunks_exact(n).zip(out.chunks_exact_mut(width)) {
        add_product(weights, rows, out);
    }
}

/// Writes the transpose of rows.
fn transpose(rows: &[f32], width: usize, out: &mut Vec<f32>) {
    crate::neural::product::transpose(rows, width, out);
}

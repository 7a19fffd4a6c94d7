//! Parameters: matrices, and embedding tables, of which a sentence uses few rows; and their gradients. `transfer` gives
//! them the values of another network.

mod transfer;

pub use transfer::SameSymbols;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rustc_hash::FxHashMap;

use super::kernel::{add_scaled, sum_of_squares};
use super::optimizer::move_towards;
use crate::memory::Sections;
use crate::parallel;
use crate::{Error, Result};

/// Numbers of bytes and scales of quantized parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Extent {
    pub(super) bytes: u32,
    pub(super) scales: u32,
}

/// A matrix, a vector (a matrix of one row) or a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Param {
    at: u32,
    /// The bytes and scales of the parameters before it.
    quantized: Extent,
    /// Of a table.
    bits: Bits,
    /// Rows: the inputs of a matrix, the entries of a table.
    pub rows: u32,
    /// The numbers of a row: the outputs of a matrix.
    pub columns: u32,
}

impl Param {
    /// How many numbers it has.
    pub fn len(self) -> usize {
        self.rows as usize * self.columns as usize
    }

    /// The bits of a number, if it is a table.
    pub(super) fn bits(self) -> Bits {
        self.bits
    }

    /// Where its bytes begin when it is quantized.
    pub(super) fn first_byte(self) -> usize {
        self.quantized.bytes as usize
    }

    /// Where its scales begin when it is quantized.
    pub(super) fn first_scale(self) -> usize {
        self.quantized.scales as usize
    }

    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.at as usize..self.at as usize + self.len()
    }

    /// The range of a row among all numbers.
    pub(super) fn row(self, row: u32) -> std::ops::Range<usize> {
        let first = self.at as usize + row as usize * self.columns as usize;
        first..first + self.columns as usize
    }
}

/// All parameters of a network in one array: first the matrices, then the tables.
#[derive(Debug, Clone, Default)]
pub struct Params {
    values: Vec<f32>,
    /// The number of values once all are loaded.
    len: usize,
    /// The number of values of the matrices.
    dense: usize,
    layout: Vec<Entry>,
}

/// A parameter in a layout.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Entry {
    pub(super) param: Param,
    pub(super) kind: Kind,
    /// What the learning rate is multiplied by; 0 if training does not change it.
    pub(super) rate: f32,
    /// What its rows and its columns stand for.
    axes: [Axis; 2],
}

/// What the rows or the columns of a parameter stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    /// Units of a layer, whose number is a setting.
    Units,
    /// Symbols of the set of that name, whose number depends on the training data.
    Symbols(&'static str),
}

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Matrix,
    Vector,
    Table(Bits),
}

/// The bits of a number of a table once it is quantized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bits {
    /// From -7 to 7.
    #[default]
    Four,
    /// From -127 to 127.
    Eight,
}

impl Bits {
    /// The bytes of a row of so many numbers.
    pub(super) fn bytes(self, columns: u32) -> u32 {
        match self {
            Self::Four => columns.div_ceil(2),
            Self::Eight => columns,
        }
    }
}

impl Kind {
    /// What a parameter takes when it is quantized: a byte for each number of a matrix, the [bytes](Bits::bytes) of each
    /// row of a table; a scale for each column of a matrix and each row of a table. A vector is stored in place of
    /// scales.
    fn extent(self, param: Param) -> Extent {
        let Param { rows, columns, .. } = param;
        match self {
            Self::Matrix => Extent { bytes: rows.saturating_mul(columns), scales: columns },
            Self::Vector => Extent { bytes: 0, scales: columns },
            Self::Table(bits) => {
                Extent { bytes: rows.saturating_mul(bits.bytes(columns)), scales: rows }
            }
        }
    }
}

/// Maximum number of parameters of a network: 4 GB, and about 13 times as much in training.
const MOST: usize = 1 << 30;

/// Allocates parameters and initializes them.
#[derive(Debug)]
pub struct Builder {
    params: Params,
    /// The generator of initial values; `None` if they will be loaded.
    rng: Option<ChaCha8Rng>,
    rate: f32,
}

impl Builder {
    /// An empty builder. Without a seed values are not initialized: they must be loaded.
    pub fn new(seed: Option<u64>) -> Self {
        let rng = seed.map(ChaCha8Rng::seed_from_u64);
        Self { params: Params::default(), rng, rate: 1.0 }
    }

    /// Sets what the learning rate of the parameters allocated from now on is multiplied by: 1 at first, 0 for
    /// parameters that training does not change.
    pub fn set_rate(&mut self, rate: f32) {
        self.rate = rate;
    }

    fn add(
        &mut self,
        kind: Kind,
        rows: usize,
        columns: usize,
        mut value: impl FnMut(&mut ChaCha8Rng) -> f32,
    ) -> Param {
        let at = self.params.len as u32;
        let n = rows.saturating_mul(columns);
        self.params.len = self.params.len.saturating_add(n);
        if let Some(rng) = self.rng.as_mut().filter(|_| self.params.len <= MOST) {
            self.params.values.extend((0..n).map(|_| value(rng)));
        }
        let quantized = self.params.extent();
        let bits = if let Kind::Table(bits) = kind { bits } else { Bits::default() };
        let param = Param { at, quantized, bits, rows: rows as u32, columns: columns as u32 };
        let axes = [Axis::Units; 2];
        self.params.layout.push(Entry { param, kind, rate: self.rate, axes });
        param
    }

    fn uniform(&mut self, kind: Kind, rows: usize, columns: usize, bound: f32) -> Param {
        self.add(kind, rows, columns, |rng| (rng.random::<f32>() * 2.0 - 1.0) * bound)
    }

    /// A matrix, initialized as in Glorot and Bengio (2010). All matrices come before the first table.
    pub fn matrix(&mut self, inputs: usize, outputs: usize) -> Param {
        let bound = (6.0 / (inputs + outputs) as f32).sqrt();
        let matrix = self.uniform(Kind::Matrix, inputs, outputs, bound);
        self.params.dense = self.params.len;
        matrix
    }

    /// A vector of one number. All vectors come before the first table.
    pub fn vector(&mut self, n: usize, value: f32) -> Param {
        self.vector_of(|_| value, n)
    }

    /// A vector of given numbers. All vectors come before the first table.
    pub fn vector_of(&mut self, value: impl Fn(usize) -> f32, n: usize) -> Param {
        let mut at = 0;
        let vector = self.add(Kind::Vector, 1, n, |_| {
            at += 1;
            value(at - 1)
        });
        self.params.dense = self.params.len;
        vector
    }

    /// A table whose rows have about unit length, of 4 bits once it is quantized.
    pub fn table(&mut self, rows: usize, columns: usize) -> Param {
        self.table_of(Bits::Four, rows, columns)
    }

    /// A table whose rows have about unit length, of so many bits once it is quantized.
    pub fn table_of(&mut self, bits: Bits, rows: usize, columns: usize) -> Param {
        self.uniform(Kind::Table(bits), rows, columns, (3.0 / columns as f32).sqrt())
    }

    /// A [table](Builder::table) with a row for each symbol of a set.
    pub fn symbol_table(&mut self, symbols: &'static str, rows: usize, columns: usize) -> Param {
        let table = self.table(rows, columns);
        self.rows_are(symbols);
        table
    }

    /// A [matrix](Builder::matrix) and a bias for the scores of the symbols of a set.
    pub fn scores(&mut self, symbols: &'static str, inputs: usize, n: usize) -> (Param, Param) {
        let weights = self.matrix(inputs, n);
        self.columns_are(symbols);
        let bias = self.vector(n, 0.0);
        self.columns_are(symbols);
        (weights, bias)
    }

    /// Notes that the rows of the last parameter are symbols of a set.
    pub fn rows_are(&mut self, symbols: &'static str) {
        self.note(0, symbols);
    }

    /// Notes that the columns of the last parameter are symbols of a set.
    fn columns_are(&mut self, symbols: &'static str) {
        self.note(1, symbols);
    }

    fn note(&mut self, axis: usize, symbols: &'static str) {
        if let Some(last) = self.params.layout.last_mut() {
            last.axes[axis] = Axis::Symbols(symbols);
        }
    }

    /// The allocated parameters.
    ///
    /// # Errors
    /// When there are too many numbers.
    pub fn finish(self) -> Result<Params> {
        if self.params.len > MOST {
            let problem =
                format!("{} numbers, at most {MOST}: make its layers smaller", self.params.len);
            return Err(Error::config("learner.network", problem));
        }
        Ok(self.params)
    }
}

impl Params {
    /// The values of a parameter.
    pub fn of(&self, param: Param) -> &[f32] {
        &self.values[param.range()]
    }

    /// The values of a parameter, mutable.
    pub fn of_mut(&mut self, param: Param) -> &mut [f32] {
        &mut self.values[param.range()]
    }

    /// A row of a table; the last one for a number beyond it.
    pub fn row(&self, table: Param, row: u32) -> &[f32] {
        &self.values[table.row(row.min(table.rows.saturating_sub(1)))]
    }

    /// All values.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Moves the values towards those of another network of the same layout, by a share of the difference.
    pub fn move_towards(&mut self, other: &Self, share: f32) {
        move_towards(&mut self.values, &other.values, share);
    }

    /// All values, mutable; for tests.
    #[cfg(test)]
    pub(super) fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// All values, mutable: first those of the matrices, then those of the tables.
    pub(super) fn split_mut(&mut self) -> (&mut [f32], &mut [f32]) {
        self.values.split_at_mut(self.dense)
    }

    /// How many numbers there are, whether or not they are known.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// All parameters in the order in which they were laid out.
    pub(super) fn layout(&self) -> &[Entry] {
        &self.layout
    }

    /// How many bytes and scales there are when all are quantized.
    pub(super) fn extent(&self) -> Extent {
        let Some(last) = self.layout.last() else { return Extent::default() };
        let (before, own) = (last.param.quantized, last.kind.extent(last.param));
        Extent {
            bytes: before.bytes.saturating_add(own.bytes),
            scales: before.scales.saturating_add(own.scales),
        }
    }

    pub(super) fn dense(&self) -> usize {
        self.dense
    }

    /// The entry of the table whose row begins at a position among all numbers.
    pub(super) fn table_at(&self, position: usize) -> &Entry {
        let after = self.layout.partition_point(|entry| entry.param.at as usize <= position);
        &self.layout[after - 1]
    }

    /// Parameters of the same layout with other values.
    pub(super) fn with(&self, values: Vec<f32>) -> Self {
        debug_assert_eq!(values.len(), self.len);
        Self { values, len: self.len, dense: self.dense, layout: self.layout.clone() }
    }

    /// Adds the parameters to the sections of a model.
    pub fn store(&self, sections: &mut Sections) {
        sections.put("neural.values", self.values.clone().into());
    }

    /// Whether a value is not finite: training has diverged.
    pub fn is_broken(&self) -> bool {
        self.values.iter().any(|value| !value.is_finite())
    }

    /// Reads what [`Params::store`] wrote into parameters of the same layout.
    ///
    /// # Errors
    /// When they are of another layout.
    pub fn load(&mut self, sections: &Sections) -> Result<()> {
        self.set(&sections.get::<f32>("neural.values")?)
    }

    /// Replaces all values.
    ///
    /// # Errors
    /// When their number is wrong, or one is not finite.
    pub fn set(&mut self, values: &[f32]) -> Result<()> {
        if values.len() != self.len || values.iter().any(|value| !value.is_finite()) {
            return Err(Error::Corrupt(
                "the weights are not those of this network: train the model again".into(),
            ));
        }
        self.values.clear();
        self.values.extend_from_slice(values);
        Ok(())
    }
}

/// Tables whose rows can be added up.
pub trait RowTables {
    /// Adds a row of a table, or the last one for a number beyond it, times a factor.
    fn add_row(&self, table: Param, row: u32, factor: f32, to: &mut [f32]);
}

impl RowTables for Params {
    fn add_row(&self, table: Param, row: u32, factor: f32, to: &mut [f32]) {
        to.iter_mut().zip(self.row(table, row)).for_each(|(sum, value)| *sum += factor * value);
    }
}

/// Numbers that one thread works on at a time.
pub(super) const CHUNK: usize = 1 << 16;

/// The gradients of the parameters: of all matrices, and of the rows of tables that were used.
#[derive(Debug, Clone, Default)]
pub struct Gradients {
    pub(super) dense: Vec<f32>,
    /// For each used row its offset among all values, its length, and the offset of its gradient.
    pub(super) used: Vec<(u32, u32, u32)>,
    pub(super) rows: Vec<f32>,
    index: FxHashMap<u32, u32>,
}

impl Gradients {
    /// Makes all gradients zero, for parameters of a layout.
    pub fn clear(&mut self, params: &Params) {
        self.dense.clear();
        self.dense.resize(params.dense, 0.0);
        self.used.clear();
        self.rows.clear();
        self.index.clear();
    }

    /// The gradient of a matrix or vector.
    pub(super) fn of(&self, param: Param) -> &[f32] {
        &self.dense[param.range()]
    }

    /// The gradient of a matrix or vector, mutable.
    pub fn of_mut(&mut self, param: Param) -> &mut [f32] {
        &mut self.dense[param.range()]
    }

    /// The gradients of matrices and vectors, which must be in the order in which they were laid out.
    pub(super) fn several_mut<const N: usize>(&mut self, params: [Param; N]) -> [&mut [f32]; N] {
        let (mut rest, mut done) = (&mut self.dense[..], 0);
        params.map(|param| {
            let range = param.range();
            let (_, from) = std::mem::take(&mut rest).split_at_mut(range.start - done);
            let (own, after) = from.split_at_mut(range.len());
            (rest, done) = (after, range.end);
            own
        })
    }

    /// Adds to the gradient of the row of a table, times a factor.
    pub fn add_to_row(&mut self, table: Param, row: u32, factor: f32, gradient: &[f32]) {
        self.add_at(table.row(row).start as u32, factor, gradient);
    }

    /// The same for the row that begins at `at` among all numbers.
    pub(super) fn add_at(&mut self, at: u32, factor: f32, gradient: &[f32]) {
        let new = self.rows.len() as u32;
        let first = *self.index.entry(at).or_insert(new);
        if first == new {
            self.used.push((at, gradient.len() as u32, new));
            self.rows.resize(self.rows.len() + gradient.len(), 0.0);
        }
        let row = &mut self.rows[first as usize..first as usize + gradient.len()];
        add_scaled(factor, gradient, row);
    }

    /// Adds other gradients, one after the other.
    pub fn add(&mut self, others: &[&Self]) {
        parallel::for_each(self.dense.chunks_mut(CHUNK).enumerate(), |(number, sums)| {
            for other in others {
                add_scaled(1.0, &other.dense[number * CHUNK..][..sums.len()], sums);
            }
        });
        for other in others {
            for (at, gradient) in other.used_rows() {
                self.add_at(at as u32, 1.0, gradient);
            }
        }
    }

    /// The rows of tables that were used: the offset of each among all values, and its gradient.
    pub(super) fn used_rows(&self) -> impl Iterator<Item = (usize, &[f32])> {
        self.used.iter().map(|&(at, len, first)| {
            (at as usize, &self.rows[first as usize..(first + len) as usize])
        })
    }

    /// The norm of all gradients.
    pub fn norm(&self) -> f32 {
        let squares = |numbers: &[f32]| f64::from(sum_of_squares(numbers));
        // In chunks that do not depend on the number of threads.
        let dense: Vec<f64> = parallel::map_owned(self.dense.chunks(CHUNK), squares);
        let sum: f64 =
            dense.iter().sum::<f64>() + self.rows.chunks(CHUNK).map(squares).sum::<f64>();
        sum.sqrt() as f32
    }

    /// The gradient of one of all numbers, by its position; for tests.
    #[cfg(test)]
    pub(super) fn at(&self, position: usize) -> f32 {
        if position < self.dense.len() {
            return self.dense[position];
        }
        let row =
            self.used.iter().find(|&&(at, len, _)| (at..at + len).contains(&(position as u32)));
        row.map_or(0.0, |&(at, _, first)| self.rows[first as usize + position - at as usize])
    }
}

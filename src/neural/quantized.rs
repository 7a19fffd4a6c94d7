//! Parameters as small integers: from -127 to 127 in a matrix, with a scale for each column; in a table from -127 to 127
//! or from -7 to 7, with a scale for each row. In a table of 4 bits, the first half of a row is stored in the low bits of
//! bytes, and the second half in the high ones.

use super::params::{Bits, Entry, Extent, Kind, Param, Params, RowTables};
use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// The largest integer of a matrix, and of a table of 8 bits.
pub const LARGEST: f32 = 127.0;
/// The largest integer of a table of 4 bits.
const LARGEST_NIBBLE: f32 = 7.0;
/// What is stored for 0 in a table of 4 bits.
const NIBBLE_ZERO: i8 = 8;

/// The parameters of a network, rounded.
#[derive(Debug, Clone)]
pub struct Quantized {
    /// The matrices and the tables.
    bytes: Array<i8>,
    /// What an integer of 1 stands for, and the vectors.
    scales: Array<f32>,
}

impl Quantized {
    /// Rounds parameters.
    pub fn new(params: &Params) -> Self {
        let Extent { bytes, scales } = params.extent();
        let mut bytes = Vec::with_capacity(bytes as usize);
        let mut scales = Vec::with_capacity(scales as usize);
        for &Entry { param, kind, .. } in params.layout() {
            let values = params.of(param);
            let rows = values.chunks_exact((param.columns as usize).max(1));
            match kind {
                Kind::Vector => scales.extend_from_slice(values),
                Kind::Matrix => {
                    let largest = largest_of_columns(values, param.columns as usize);
                    scales.extend(largest.iter().map(|&largest| scale(largest, LARGEST)));
                    for row in rows {
                        let scales = &scales[param.first_scale()..];
                        let numbers = row.iter().zip(scales);
                        bytes.extend(numbers.map(|(&value, &scale)| round(value, scale, LARGEST)));
                    }
                }
                Kind::Table(Bits::Eight) => {
                    for row in rows {
                        let scale = scale(largest_of(row), LARGEST);
                        scales.push(scale);
                        bytes.extend(row.iter().map(|&value| round(value, scale, LARGEST)));
                    }
                }
                Kind::Table(Bits::Four) => {
                    for row in rows {
                        let scale = scale(largest_of(row), LARGEST_NIBBLE);
                        scales.push(scale);
                        let nibble = |value: f32| round(value, scale, LARGEST_NIBBLE) + NIBBLE_ZERO;
                        let (low, high) = row.split_at(row.len().div_ceil(2));
                        let high = high.iter().copied().chain([0.0]);
                        let pairs = low.iter().zip(high);
                        bytes.extend(pairs.map(|(&low, high)| nibble(low) | nibble(high) << 4));
                    }
                }
            }
        }
        Self { bytes: bytes.into(), scales: scales.into() }
    }

    /// The numbers that the integers stand for, for parameters of the same layout.
    #[must_use]
    pub fn dequantize(&self, layout: &Params) -> Params {
        let mut values = Vec::with_capacity(layout.len());
        for &Entry { param, kind, .. } in layout.layout() {
            match kind {
                Kind::Vector => values.extend_from_slice(self.scales(param)),
                Kind::Matrix => {
                    for row in self.bytes(param).chunks_exact((param.columns as usize).max(1)) {
                        let numbers = row.iter().zip(self.scales(param));
                        values.extend(numbers.map(|(&byte, scale)| f32::from(byte) * scale));
                    }
                }
                Kind::Table(_) => {
                    let mut numbers = vec![0.0; param.columns as usize];
                    for row in 0..param.rows {
                        numbers.fill(0.0);
                        self.add_row(param, row, 1.0, &mut numbers);
                        values.extend_from_slice(&numbers);
                    }
                }
            }
        }
        layout.with(values)
    }

    /// The integers of a matrix.
    pub fn bytes(&self, matrix: Param) -> &[i8] {
        &self.bytes[matrix.first_byte()..][..matrix.len()]
    }

    /// What an integer of 1 stands for in each column of a matrix; the numbers of a vector.
    pub fn scales(&self, param: Param) -> &[f32] {
        &self.scales[param.first_scale()..][..param.columns as usize]
    }

    /// Adds them to the sections of a model.
    pub fn store(&self, sections: &mut Sections) {
        sections.put("neural.bytes", self.bytes.clone());
        sections.put("neural.scales", self.scales.clone());
    }

    /// Reads what [`Quantized::store`] wrote for parameters of this layout.
    ///
    /// # Errors
    /// When they are of another layout, or cannot have been written so.
    pub fn load(layout: &Params, sections: &Sections) -> Result<Self> {
        let (bytes, scales): (Array<i8>, Array<f32>) =
            (sections.get("neural.bytes")?, sections.get("neural.scales")?);
        let extent = layout.extent();
        let fits = bytes.len() == extent.bytes as usize && scales.len() == extent.scales as usize;
        let quantized = Self { bytes, scales };
        // The instructions that multiply bytes differ where one is -128.
        let is_valid = |entry: &Entry| {
            entry.kind != Kind::Matrix || !quantized.bytes(entry.param).contains(&i8::MIN)
        };
        let are_valid = fits && layout.layout().iter().all(is_valid);
        if !are_valid || quantized.scales.iter().any(|scale| !scale.is_finite()) {
            return Err(Error::Corrupt(
                "the weights are not those of this network: train the model again".into(),
            ));
        }
        Ok(quantized)
    }
}

impl RowTables for Quantized {
    fn add_row(&self, table: Param, row: u32, factor: f32, to: &mut [f32]) {
        let row = row.min(table.rows.saturating_sub(1)) as usize;
        let scale = factor * self.scales[table.first_scale() + row];
        let columns = table.columns as usize;
        if table.bits() == Bits::Eight {
            let bytes = &self.bytes[table.first_byte() + row * columns..][..columns];
            let numbers = bytes.iter().map(|&byte| f32::from(byte) * scale);
            return to.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        }
        let half = columns.div_ceil(2);
        let bytes = &self.bytes[table.first_byte() + row * half..][..half];
        let (low, high) = to[..columns].split_at_mut(half);
        let number = |nibble: i8| f32::from(nibble - NIBBLE_ZERO) * scale;
        low.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum += number(byte & 0xf));
        high.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum += number(byte >> 4 & 0xf));
    }
}

fn largest_of_columns(values: &[f32], columns: usize) -> Vec<f32> {
    let mut largest = vec![0f32; columns];
    for row in values.chunks_exact(columns) {
        largest
            .iter_mut()
            .zip(row)
            .for_each(|(largest, value)| *largest = largest.max(value.abs()));
    }
    largest
}

fn largest_of(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

/// What an integer of 1 stands for if the largest number is to become `integer`.
fn scale(largest: f32, integer: f32) -> f32 {
    if largest > 0.0 { largest / integer } else { 1.0 }
}

fn round(value: f32, scale: f32, largest: f32) -> i8 {
    (value / scale).round_ties_even().clamp(-largest, largest) as i8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::params::Builder;

    fn params() -> (Params, [Param; 4]) {
        let mut builder = Builder::new(Some(5));
        let dense = [builder.matrix(7, 5), builder.vector(3, 0.3)];
        let all = [dense[0], dense[1], builder.table(4, 6), builder.table(4, 7)];
        builder.table_of(Bits::Eight, 3, 5);
        (builder.finish().unwrap(), all)
    }

    /// No number is off by more than half of what an integer of 1 stands for, and the largest ones stay.
    #[test]
    fn numbers_are_rounded() {
        let (params, [matrix, vector, table, odd]) = params();
        let quantized = Quantized::new(&params);
        let rounded = quantized.dequantize(&params);
        assert_eq!(rounded.of(vector), params.of(vector));
        for (at, &value) in params.of(matrix).iter().enumerate() {
            let off = (rounded.of(matrix)[at] - value).abs();
            assert!(off <= 0.501 * quantized.scales(matrix)[at % 5]);
        }
        for table in [table, odd] {
            for row in 0..4 {
                let (rounded, row) = (rounded.row(table, row), params.row(table, row));
                let largest = largest_of(row);
                let off = rounded.iter().zip(row).map(|(a, b)| (a - b).abs());
                assert!(off.fold(0f32, f32::max) <= 0.501 * largest / LARGEST_NIBBLE);
                assert!((largest_of(rounded) - largest).abs() < 1e-6);
            }
        }
        let eight = params.layout().last().unwrap().param;
        for row in 0..3 {
            let (rounded, row) = (rounded.row(eight, row), params.row(eight, row));
            let off = rounded.iter().zip(row).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0f32, f32::max) <= 0.501 * largest_of(row) / LARGEST);
        }
    }

    #[test]
    fn stored_parameters_are_checked() {
        let (params, [matrix, ..]) = params();
        let mut sections = Sections::default();
        Quantized::new(&params).store(&mut sections);
        let loaded = Quantized::load(&params, &sections).unwrap();
        assert_eq!(loaded.bytes(matrix), Quantized::new(&params).bytes(matrix));
        let mut other = Builder::new(None);
        other.matrix(7, 4);
        assert!(Quantized::load(&other.finish().unwrap(), &sections).is_err());
        for (section, byte) in [(0, 128), (1, 255)] {
            let mut broken = sections.clone();
            let mut bytes = broken.0[section].bytes.to_vec();
            bytes[..4].fill(byte);
            broken.0[section].bytes = bytes.into();
            assert!(Quantized::load(&params, &broken).is_err(), "{section}");
        }
    }
}

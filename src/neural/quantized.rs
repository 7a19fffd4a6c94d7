//! Parameters in 8 bits: integers from -127 to 127, with a scale for each column of a matrix and each row of a table.

use super::params::{Kind, Param, Params, Tables};
use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// The largest integer.
pub const LARGEST: f32 = 127.0;

/// The parameters of a network, rounded.
#[derive(Debug, Clone)]
pub struct Quantized {
    /// At the places of the numbers that they stand for; 0 for vectors.
    bytes: Array<i8>,
    /// What a byte of 1 stands for, and the vectors.
    scales: Array<f32>,
}

impl Quantized {
    /// Rounds parameters.
    pub fn new(params: &Params) -> Self {
        let (mut bytes, mut scales) = (vec![0; params.len()], Vec::with_capacity(params.scales()));
        for &(param, kind) in params.layout() {
            let (values, bytes) = (params.of(param), &mut bytes[param.range()]);
            let columns = (param.columns as usize).max(1);
            match kind {
                Kind::Vector => scales.extend_from_slice(values),
                Kind::Matrix => {
                    let largest = largest_of_columns(values, columns);
                    scales.extend(largest.iter().map(|&largest| scale(largest)));
                    let scales = scales[param.first_scale()..].iter().cycle();
                    round(values.iter().zip(scales), bytes);
                }
                Kind::Table => {
                    for (values, bytes) in
                        values.chunks_exact(columns).zip(bytes.chunks_exact_mut(columns))
                    {
                        let largest =
                            values.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
                        scales.push(scale(largest));
                        round(values.iter().zip(std::iter::repeat(&scale(largest))), bytes);
                    }
                }
            }
        }
        Self { bytes: bytes.into(), scales: scales.into() }
    }

    /// The integers of a matrix or table.
    pub fn bytes(&self, param: Param) -> &[i8] {
        &self.bytes[param.range()]
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
        let fits = bytes.len() == layout.len() && scales.len() == layout.scales();
        // The instructions that multiply bytes differ where one is -128.
        let is_valid =
            fits && !bytes.contains(&i8::MIN) && scales.iter().all(|scale| scale.is_finite());
        if !is_valid {
            return Err(Error::Corrupt(
                "the weights are not those of this network: train the model again".into(),
            ));
        }
        Ok(Self { bytes, scales })
    }
}

impl Tables for Quantized {
    fn add_row(&self, table: Param, row: u32, factor: f32, to: &mut [f32]) {
        let row = row.min(table.rows.saturating_sub(1));
        let scale = factor * self.scales[table.first_scale() + row as usize];
        for (sum, &byte) in to.iter_mut().zip(&self.bytes[table.row(row)]) {
            *sum += f32::from(byte) * scale;
        }
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

fn scale(largest: f32) -> f32 {
    if largest > 0.0 { largest / LARGEST } else { 1.0 }
}

fn round<'a>(values: impl Iterator<Item = (&'a f32, &'a f32)>, bytes: &mut [i8]) {
    for (byte, (value, scale)) in bytes.iter_mut().zip(values) {
        *byte = (value / scale).round_ties_even().clamp(-LARGEST, LARGEST) as i8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::params::Builder;

    fn params() -> (Params, [Param; 3]) {
        let mut builder = Builder::new(Some(5));
        let all = [builder.matrix(7, 5), builder.vector(3, 0.3), builder.table(4, 6)];
        (builder.finish().unwrap(), all)
    }

    /// No number is off by more than half of what an integer of 1 stands for, and the largest ones stay.
    #[test]
    fn numbers_are_rounded() {
        let (params, [matrix, vector, table]) = params();
        let quantized = Quantized::new(&params);
        assert_eq!(quantized.scales(vector), params.of(vector));
        for (at, &value) in params.of(matrix).iter().enumerate() {
            let scale = quantized.scales(matrix)[at % 5];
            let rounded = f32::from(quantized.bytes(matrix)[at]) * scale;
            assert!((rounded - value).abs() <= 0.501 * scale);
        }
        for row in 0..4 {
            let mut rounded = [0.0; 6];
            quantized.add_row(table, row, 1.0, &mut rounded);
            let off = rounded.iter().zip(params.row(table, row)).map(|(a, b)| (a - b).abs());
            let largest =
                params.row(table, row).iter().fold(0f32, |most, value| most.max(value.abs()));
            assert!(off.fold(0f32, f32::max) <= 0.501 * largest / LARGEST);
            assert!(
                quantized.bytes(table)[row as usize * 6..][..6]
                    .iter()
                    .any(|byte| byte.abs() == 127)
            );
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

//! From columns to one-hot ids: one 64-bit id for each template that applies.
//!
//! An id mixes the template's number with the values of its columns. Two different features share an
//! id with a chance of 2⁻⁶³ a pair, which no table of this program is large enough to notice. A
//! template does not apply where one of its nominal columns has nothing there.

use super::template::Step;
use super::{Column, ColumnKind, RowRef, Templates};
use crate::symbols::NOTHING;

/// Spreads bits when multiplied by.
pub(crate) const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The id of "this template does not apply".
pub const OFF: u64 = 0;

/// Writes the one-hot ids of rows.
#[derive(Debug, Clone)]
pub struct Indicators {
    /// For each template the columns it conjoins, and whether 0 is a value of that column.
    templates: Vec<Conjunction>,
    columns: Vec<(u16, bool)>,
}

#[derive(Debug, Clone, Copy)]
struct Conjunction {
    seed: u64,
    first: u16,
    last: u16,
}

impl Indicators {
    /// The indicators of a template file.
    pub fn new(templates: &Templates) -> Self {
        let kinds: Vec<ColumnKind> = templates.columns().iter().map(|column| column.kind).collect();
        let mut indicators = Self { templates: Vec::new(), columns: Vec::new() };
        for (conjunction, number) in templates.conjunctions().iter().zip(1u64..) {
            let first = indicators.columns.len() as u16;
            for &column in conjunction {
                let zero_is_a_value = kinds[usize::from(column)] == ColumnKind::Number;
                indicators.columns.push((column, zero_is_a_value));
            }
            let last = indicators.columns.len() as u16;
            indicators.templates.push(Conjunction {
                seed: number.wrapping_mul(MULTIPLIER),
                first,
                last,
            });
        }
        indicators
    }

    /// The indicators of the templates for one step of a decision; those for both have the same ids.
    pub fn of_step(templates: &Templates, step: Step) -> Self {
        let mut all = Self::new(templates);
        let mut is_for = templates.of_step(step);
        all.templates.retain(|_| is_for.next().unwrap_or(true));
        all
    }

    /// One indicator for each nominal column.
    pub fn of_columns(columns: &[Column]) -> Self {
        let none = Self { templates: Vec::new(), columns: Vec::new() };
        (0..columns.len() as u16).fold(none, Self::with_column)
    }

    /// The same with one more template: a single nominal column.
    #[must_use]
    pub fn with_column(mut self, column: u16) -> Self {
        let (first, number) = (self.columns.len() as u16, self.templates.len() as u64 + 1);
        self.columns.push((column, false));
        let seed = number.wrapping_mul(MULTIPLIER);
        self.templates.push(Conjunction { seed, first, last: first + 1 });
        self
    }

    /// The number of templates.
    pub fn len(&self) -> usize {
        self.templates.len()
    }

    /// Whether there is no template.
    pub fn is_empty(&self) -> bool {
        self.templates.is_empty()
    }

    /// Writes the ids of the templates that apply into `out` (emptied first). Columns that are sets
    /// apply by where they stand in the row, which means nothing: plans refuse them.
    pub fn ids(&self, row: RowRef<'_>, out: &mut Vec<u64>) {
        out.clear();
        self.append_ids(row, out);
    }

    /// The same, after what is in `out` already.
    pub fn append_ids(&self, row: RowRef<'_>, out: &mut Vec<u64>) {
        for template in &self.templates {
            let mut hash = template.seed;
            let mut applies = true;
            for &(column, zero_is_a_value) in
                &self.columns[usize::from(template.first)..usize::from(template.last)]
            {
                let value = row.values[usize::from(column)];
                applies &= zero_is_a_value | (value != NOTHING);
                hash = (hash.rotate_left(23) ^ u64::from(value)).wrapping_mul(MULTIPLIER);
            }
            if applies {
                out.push(finish(hash));
            }
        }
    }
}

/// Spreads what multiplication left in the high bits; never [`OFF`].
pub(crate) fn finish(hash: u64) -> u64 {
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_off_where_a_name_is_missing_but_not_where_a_number_is_zero() {
        let templates = Templates::parse("s0.w\ns0.w s1.w\ns0.w s0.len", "test").unwrap();
        let indicators = Indicators::new(&templates);
        let mut ids = Vec::new();
        indicators.ids(RowRef { values: &[5, 0, 0], members: &[] }, &mut ids);
        assert_eq!(ids.len(), 2);
    }

    #[test]
    fn ids_tell_templates_and_the_order_of_values_apart() {
        let templates = Templates::parse("s0.w s1.w\ns1.w s0.w\ns0.w\ns1.w", "test").unwrap();
        let indicators = Indicators::new(&templates);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        indicators.ids(RowRef { values: &[5, 6], members: &[] }, &mut a);
        indicators.ids(RowRef { values: &[6, 5], members: &[] }, &mut b);
        let all: std::collections::BTreeSet<u64> = a.iter().chain(&b).copied().collect();
        assert_eq!(all.len(), 8);
    }
}

//! Indicator features: one 64-bit id for each template that applies.
//!
//! An id is a hash of the template's number and the values of its columns. Two different features collide with
//! probability 2⁻⁶³, which is negligible for the size of feature tables. A template does not apply if one of its
//! nominal columns has no value.

use super::template::DecisionStep;
use super::{Column, ColumnKind, RowRef, Templates};
use crate::hash::{MULTIPLIER, finish, mix};
use crate::symbols::NOTHING;

/// The id of a template that does not apply, which is no hash.
pub const OFF: u64 = 0;

/// Computes the indicator features of rows.
#[derive(Debug, Clone)]
pub struct Indicators {
    /// For each template, the columns it conjoins, and whether 0 is a valid value of each.
    templates: Vec<Conjunction>,
    columns: Vec<(u16, bool)>,
}

#[derive(Debug, Clone, Copy)]
struct Conjunction {
    seed: u64,
    /// The number of its template, from 0.
    number: u16,
    first: u16,
    last: u16,
}

impl Indicators {
    /// Returns the indicators of a template file.
    pub fn new(templates: &Templates) -> Self {
        let kinds: Vec<ColumnKind> = templates.columns().iter().map(|column| column.kind).collect();
        let mut indicators = Self { templates: Vec::new(), columns: Vec::new() };
        for (conjunction, number) in templates.conjunctions().iter().zip(1u64..) {
            // A tree is no indicator.
            if conjunction.iter().any(|&column| kinds[usize::from(column)] == ColumnKind::Tree) {
                continue;
            }
            let first = indicators.columns.len() as u16;
            for &column in conjunction {
                let zero_is_a_value = kinds[usize::from(column)] == ColumnKind::Number;
                indicators.columns.push((column, zero_is_a_value));
            }
            let last = indicators.columns.len() as u16;
            indicators.templates.push(Conjunction {
                seed: number.wrapping_mul(MULTIPLIER),
                number: number as u16 - 1,
                first,
                last,
            });
        }
        indicators
    }

    /// Returns the indicators of the templates for one step of a two-step decision; templates for both steps have the
    /// same ids.
    pub fn of_step(templates: &Templates, step: DecisionStep) -> Self {
        let mut all = Self::new(templates);
        let is_for: Vec<bool> = templates.of_step(step).collect();
        all.templates.retain(|template| is_for[usize::from(template.number)]);
        all
    }

    /// Returns one indicator for each nominal column.
    pub fn of_columns(columns: &[Column]) -> Self {
        let none = Self { templates: Vec::new(), columns: Vec::new() };
        (0..columns.len() as u16).fold(none, Self::with_column)
    }

    /// Adds a template of a single nominal column.
    #[must_use]
    pub fn with_column(mut self, column: u16) -> Self {
        let (first, number) = (self.columns.len() as u16, self.templates.len() as u64 + 1);
        self.columns.push((column, false));
        let seed = number.wrapping_mul(MULTIPLIER);
        let number = self.templates.len() as u16;
        self.templates.push(Conjunction { seed, number, first, last: first + 1 });
        self
    }

    /// Returns the number of templates.
    pub fn len(&self) -> usize {
        self.templates.len()
    }

    /// Writes the ids of the templates that apply into `out`, which is cleared first. Columns that are sets are not
    /// supported; plans reject them.
    pub fn ids(&self, row: RowRef<'_>, out: &mut Vec<u64>) {
        out.clear();
        self.append_ids(row, out);
    }

    /// Appends the ids of the templates that apply to `out`.
    pub fn append_ids(&self, row: RowRef<'_>, out: &mut Vec<u64>) {
        for template in &self.templates {
            if let Some(id) = self.id(template, row) {
                out.push(id);
            }
        }
    }

    /// The ids of the templates that apply, each with the number of its template, from 0.
    pub fn numbered<'a>(&'a self, row: RowRef<'a>) -> impl Iterator<Item = (u16, u64)> + 'a {
        self.templates
            .iter()
            .filter_map(move |template| Some((template.number, self.id(template, row)?)))
    }

    /// The id of a template; `None` if it does not apply.
    #[inline(always)]
    fn id(&self, template: &Conjunction, row: RowRef<'_>) -> Option<u64> {
        let mut hash = template.seed;
        let mut applies = true;
        for &(column, zero_is_a_value) in
            &self.columns[usize::from(template.first)..usize::from(template.last)]
        {
            let value = row.values[usize::from(column)];
            applies &= zero_is_a_value | (value != NOTHING);
            hash = mix::<23>(hash, u64::from(value));
        }
        applies.then(|| finish(hash))
    }
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

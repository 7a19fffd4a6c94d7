//! Parameters that begin with the values of another network: of the same layers, with other symbols.

use super::{Axis, Params};
use crate::{Error, Result};

/// The symbols that networks have parameters for.
pub trait SameSymbols {
    /// For each symbol of a set in the one network, its number in the other one, if that has it. `n` are the numbers of
    /// rows or columns for the set in each.
    fn numbers(&self, set: &'static str, n: [u32; 2]) -> Vec<Option<u32>>;
}

impl Params {
    /// Takes the values of another network: of all units, and of the symbols that it has. Other symbols keep the values
    /// that they have.
    ///
    /// # Errors
    /// When the layers are others.
    pub fn transfer(&mut self, from: &Self, symbols: &dyn SameSymbols) -> Result<()> {
        let fail = || Err(Error::corrupt("its layers are not those of its settings"));
        if self.layout.len() != from.layout.len() || from.values.len() != from.len {
            return fail();
        }
        for (own, other) in self.layout.iter().zip(&from.layout) {
            let sizes =
                [[own.param.rows, other.param.rows], [own.param.columns, other.param.columns]];
            let mut numbers = [Vec::new(), Vec::new()];
            for at in 0..2 {
                numbers[at] = match own.axes[at] {
                    _ if own.axes[at] != other.axes[at] => return fail(),
                    Axis::Units if sizes[at][0] != sizes[at][1] => return fail(),
                    Axis::Units => (0..sizes[at][0]).map(Some).collect(),
                    Axis::Symbols(set) => symbols.numbers(set, sizes[at]),
                };
            }
            let [rows, columns] = &numbers;
            for (row, &other_row) in (0..own.param.rows).zip(rows) {
                let Some(other_row) = other_row else { continue };
                let source = &from.values[other.param.row(other_row)];
                let target = &mut self.values[own.param.row(row)];
                for (value, &column) in target.iter_mut().zip(columns) {
                    if let Some(column) = column {
                        *value = source[column as usize];
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::params::Builder;

    /// Symbols are letters.
    struct Letters([&'static str; 2]);

    impl SameSymbols for Letters {
        fn numbers(&self, _set: &'static str, _n: [u32; 2]) -> Vec<Option<u32>> {
            let [own, other] = self.0;
            own.chars().map(|letter| other.find(letter).map(|at| at as u32)).collect()
        }
    }

    /// A matrix of 3 units by letters, its bias, a plain table, and a table of letters.
    fn params(letters: &str, units: usize, seed: u64) -> Params {
        let mut builder = Builder::new(Some(seed));
        builder.scores("letters", units, letters.len());
        builder.table(5, 2);
        builder.symbol_table("letters", letters.len(), 4);
        builder.finish().unwrap()
    }

    #[test]
    fn symbols_keep_their_values_wherever_they_stand() {
        let (mut old, mut new) = (params("abc", 3, 1), params("cxa", 3, 2));
        let bias = old.layout()[1].param;
        old.of_mut(bias).copy_from_slice(&[0.1, 0.2, 0.3]);
        let fresh = new.clone();
        new.transfer(&old, &Letters(["cxa", "abc"])).unwrap();
        let of = |params: &Params, at: usize| params.of(params.layout()[at].param).to_vec();
        for row in 0..3 {
            let (old, new, fresh) = (of(&old, 0), of(&new, 0), of(&fresh, 0));
            let [old, new, fresh] = [old, new, fresh].map(|all| all[3 * row..][..3].to_vec());
            assert_eq!(new, [old[2], fresh[1], old[0]]);
        }
        assert_eq!(of(&new, 1), [0.3, 0.0, 0.1]);
        assert_eq!(of(&new, 2), of(&old, 2));
        let (old, new, fresh) = (of(&old, 3), of(&new, 3), of(&fresh, 3));
        assert_eq!(new, [&old[8..12], &fresh[4..8], &old[..4]].concat());
    }

    #[test]
    fn other_layers_are_refused() {
        let mut new = params("ab", 3, 1);
        assert!(new.transfer(&params("ab", 4, 1), &Letters(["ab", "ab"])).is_err());
        assert!(new.transfer(&Params::default(), &Letters(["ab", "ab"])).is_err());
    }
}

//! Head rules over numbers, for parsers, which find heads while they build constituents.

use super::{Clause, HeadRules, Side, basic, choose};

/// The rules for a fixed list of parent labels and of child categories, both by position.
#[derive(Debug, Clone)]
pub struct HeadTable {
    default: Side,
    punctuation: Vec<bool>,
    coordination: Vec<bool>,
    /// For each parent label its rule, if it has one.
    parents: Vec<Option<usize>>,
    /// For each rule the clauses to try.
    rules: Vec<Vec<usize>>,
    clauses: Vec<NumberedClause>,
}

/// A clause with the priority of each category, or [`NOT_TAKEN`].
#[derive(Debug, Clone)]
struct NumberedClause {
    side: Side,
    any: bool,
    priorities: Vec<u32>,
}

/// The priority of a category that a clause does not match.
const NOT_TAKEN: u32 = u32::MAX;

impl HeadRules {
    /// The rules for these parent labels and child categories (labels or tags).
    #[doc(hidden)]
    pub fn table<'a>(
        &self,
        parents: impl IntoIterator<Item = &'a str>,
        categories: impl IntoIterator<Item = &'a str>,
    ) -> HeadTable {
        let categories: Vec<&str> = categories.into_iter().map(basic).collect();
        let rule = |label: &str| self.labels.most_exact(basic(label));
        let numbered = |clause: &Clause| {
            let priority = |category: &&str| self.priority(clause, category).unwrap_or(NOT_TAKEN);
            let priorities = categories.iter().map(priority).collect();
            NumberedClause { side: clause.side, any: clause.any, priorities }
        };
        HeadTable {
            default: self.default,
            punctuation: categories.iter().map(|name| self.is_punctuation(name)).collect(),
            coordination: categories.iter().map(|name| self.coordination.contain(name)).collect(),
            parents: parents.into_iter().map(rule).collect(),
            rules: self.rules.clone(),
            clauses: self.clauses.iter().map(numbered).collect(),
        }
    }
}

impl HeadTable {
    /// The position of the head among `n` children of the categories `category(0)`, `category(1)`, …, as
    /// [`HeadRules::head_of`] returns for their names.
    pub fn head_of(&self, parent: usize, n: usize, category: impl Fn(usize) -> usize) -> usize {
        if n < 2 {
            return 0;
        }
        let category = &category;
        let rule = self.parents[parent].map_or(&[][..], |rule| &self.rules[rule]);
        let clauses = rule.iter().map(|&clause| {
            let NumberedClause { side, any, priorities } = &self.clauses[clause];
            let priority = move |i: usize| Some(priorities[category(i)]).filter(|&p| p < NOT_TAKEN);
            (*side, *any, priority)
        });
        let is_conjunction = |i: usize| self.coordination[category(i)];
        choose(n, self.default, clauses, |i| self.punctuation[category(i)], is_conjunction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LABELS: [&str; 8] = ["NP", "VP", "S", "PP", "X", "NP-SBJ", "-LRB-", "CONJP"];
    const TAGS: [&str; 10] = ["NN", "NNS", "DT", "CC", ",", "VBZ", "IN", "JJ", "``", "POS"];

    proptest! {
        #[test]
        fn a_table_finds_the_heads_that_the_rules_find(
            parent in 0..LABELS.len(),
            children in prop::collection::vec(0..LABELS.len() + TAGS.len(), 1..7),
        ) {
            let all: Vec<&str> = LABELS.iter().chain(&TAGS).copied().collect();
            for name in HeadRules::names() {
                let rules = HeadRules::named(name).unwrap();
                let table = rules.table(LABELS, all.iter().copied());
                let names: Vec<&str> = children.iter().map(|&child| all[child]).collect();
                prop_assert_eq!(
                    table.head_of(parent, children.len(), |i| children[i]),
                    rules.head_of(LABELS[parent], &names)
                );
            }
        }
    }
}

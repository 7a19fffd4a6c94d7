//! Classification accuracy: the share of configurations of gold derivations in which a scorer ranks the oracle's
//! action first (Wang, Sagae and Mitamura 2006, table 2).
//!
//! The derivation stays on the gold path after an error, so errors do not propagate. A model trained with
//! `search.illegal = "next-best"` has seen no decisions with a single legal action and has not learned to reject
//! illegal ones: only its accuracy among legal actions is meaningful.

use std::ops::AddAssign;

use crate::classifier::first_best;
use crate::decode::{GoldStep, Problem, follow_gold};
use crate::eval::percent::percent;
use crate::oracle::{Example, OracleKind, oracle};
use crate::parallel;
use crate::scorer::{Reading, Scorer};
use crate::transition::{Action, ActionKind, TransitionSystem};
use crate::tree::Tree;

/// A decision of a scorer in a configuration of a gold derivation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// The kind of the oracle's action.
    pub kind: ActionKind,
    /// Whether more than one action is legal.
    pub has_choice: bool,
    /// Whether the best-scoring action of the whole inventory is correct.
    pub right: bool,
    /// Whether the best-scoring legal action is correct.
    pub right_of_legal: bool,
}

/// The decisions of one derivation; `None` if the system cannot build the tree.
pub type Followed = Option<Vec<Decision>>;

/// Counts of decisions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decisions {
    /// All decisions.
    pub number: u64,
    /// Decisions whose best-scoring action of the whole inventory is correct.
    pub right: u64,
    /// Decisions whose best-scoring legal action is correct.
    pub right_of_legal: u64,
}

impl Decisions {
    /// The accuracy among all actions of the inventory, in percent; none without decisions.
    pub fn accuracy(&self) -> Option<f64> {
        (self.number > 0).then(|| percent(self.right, self.number))
    }

    /// The accuracy among legal actions, in percent; none without decisions.
    pub fn accuracy_of_legal(&self) -> Option<f64> {
        (self.number > 0).then(|| percent(self.right_of_legal, self.number))
    }
}

impl AddAssign for Decisions {
    fn add_assign(&mut self, other: Self) {
        self.number += other.number;
        self.right += other.right;
        self.right_of_legal += other.right_of_legal;
    }
}

/// The order of [`DecisionCounts::kinds`].
pub const KINDS: [ActionKind; 4] =
    [ActionKind::Shift, ActionKind::Reduce, ActionKind::Open, ActionKind::Finish];

/// Counts of decisions along gold derivations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DecisionCounts {
    /// Trees whose derivation was followed.
    pub trees: u64,
    /// Trees that the system cannot build.
    pub unfit: u64,
    /// All decisions.
    pub all: Decisions,
    /// Decisions with more than one legal action.
    pub choices: Decisions,
    /// Decisions by the kind of the oracle's action, in the order of [`KINDS`].
    pub kinds: [Decisions; KINDS.len()],
}

impl DecisionCounts {
    /// The counts of derivations.
    pub fn of(followed: &[Followed]) -> Self {
        let mut counts = Self::default();
        for derivation in followed {
            match derivation {
                Some(decisions) => {
                    counts.trees += 1;
                    decisions.iter().for_each(|&decision| counts.add(decision));
                }
                None => counts.unfit += 1,
            }
        }
        counts
    }

    fn add(&mut self, Decision { kind, has_choice, right, right_of_legal }: Decision) {
        let (right, right_of_legal) = (u64::from(right), u64::from(right_of_legal));
        let decision = Decisions { number: 1, right, right_of_legal };
        self.all += decision;
        if has_choice {
            self.choices += decision;
        }
        let row = KINDS.iter().position(|&of_row| of_row == kind);
        self.kinds[row.unwrap_or(0)] += decision;
    }
}

impl AddAssign for DecisionCounts {
    fn add_assign(&mut self, other: Self) {
        self.trees += other.trees;
        self.unfit += other.unfit;
        self.all += other.all;
        self.choices += other.choices;
        for (mine, others) in self.kinds.iter_mut().zip(other.kinds) {
            *mine += others;
        }
    }
}

/// The decisions of a scorer along the gold derivations of all examples, in order.
pub fn decisions(
    system: &dyn TransitionSystem,
    scorer: &dyn Scorer,
    kind: OracleKind,
    examples: &[Example],
) -> Vec<Followed> {
    let follow = |reading: &mut Box<dyn Reading + '_>, example: &Example| {
        let mut sentence = example.sentence.clone();
        reading.read(&mut sentence);
        follow(Problem { system, sentence: &sentence }, &example.tree, kind, &mut **reading)
    };
    parallel::map_init(examples, || scorer.reading(), follow)
}

/// The decisions of one derivation; `None` if the system cannot build the tree.
fn follow(
    problem: Problem<'_>,
    tree: &Tree,
    kind: OracleKind,
    reading: &mut dyn Reading,
) -> Followed {
    let system = problem.system;
    let oracle = oracle(system, tree, kind).ok()?;
    let (mut inventory, mut scores, mut decisions) = (Vec::new(), Vec::new(), Vec::new());
    let is_complete = follow_gold(problem, &*oracle, reading, &mut |step, reading| {
        let GoldStep { at, memory, legal, optimal } = step;
        system.inventory(at.state, at.forest, &mut inventory);
        let next = *optimal.first().filter(|next| legal.contains(next))?;
        let mut is_right = |actions: &[Action]| {
            reading.score(at, memory, actions, &mut scores);
            actions.get(first_best(&scores)).is_some_and(|best| optimal.contains(best))
        };
        let right = step.is_forced() || is_right(&inventory);
        let right_of_legal = legal.len() == 1 || is_right(legal);
        let (kind, has_choice) = (system.kind(next), legal.len() > 1);
        decisions.push(Decision { kind, has_choice, right, right_of_legal });
        Some(next)
    });
    is_complete.then_some(decisions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::ScoreScale;
    use crate::scorer::{Configuration, Memory};
    use crate::symbols::Vocabulary;
    use crate::transition::binary::Binary;
    use crate::tree::TreeBuilder;

    /// Ranks actions in their order, SHIFT first.
    struct Shifter;

    impl Scorer for Shifter {
        fn reading(&self) -> Box<dyn Reading + '_> {
            Box::new(Self)
        }
    }

    impl Reading for Shifter {
        fn score(
            &mut self,
            _at: Configuration<'_>,
            _memory: &Memory,
            actions: &[Action],
            out: &mut Vec<f32>,
        ) {
            out.clear();
            out.extend((0..actions.len()).map(|at| -(at as f32)));
        }

        fn scale(&self) -> ScoreScale {
            ScoreScale::Margin
        }
    }

    /// `(TOP (LABEL a b))`, headed by the first word.
    fn tree(label: &str) -> Tree {
        let mut builder = TreeBuilder::new();
        builder.open("TOP");
        builder.open(label);
        builder.token("a", "A");
        builder.token("b", "B");
        builder.close_with_head(Some(0));
        builder.close_with_head(Some(0));
        builder.finish()
    }

    #[test]
    fn decisions_are_counted_by_hand() {
        let system = Binary::of_trees([&tree("X")]).unwrap();
        let example =
            |tree: Tree| Example { sentence: Vocabulary::default().encode(tree.tokens()), tree };
        // The actions are SHIFT, REDUCE-LEFT-X, REDUCE-RIGHT-X, FINISH; the tree takes SHIFT (the only
        // legal action), SHIFT (again), REDUCE-LEFT-X (of two), FINISH (the only one).
        let examples = vec![example(tree("X")), example(tree("Y")), example(tree("X"))];
        let followed = decisions(&system, &Shifter, OracleKind::Static, &examples);
        let right = |decisions: &Vec<Decision>| decisions.iter().map(|d| d.right).collect();
        let right: Vec<Option<Vec<bool>>> =
            followed.iter().map(|decisions| decisions.as_ref().map(right)).collect();
        let one = Some(vec![true, true, false, false]);
        assert_eq!(right, [one.clone(), None, one]);
        let found = DecisionCounts::of(&followed);
        assert_eq!((found.trees, found.unfit), (2, 1));
        let of = |number, right, right_of_legal| Decisions { number, right, right_of_legal };
        assert_eq!(found.all, of(8, 4, 8));
        assert_eq!(found.choices, of(2, 0, 2));
        assert_eq!(found.kinds, [of(4, 4, 4), of(2, 0, 2), of(0, 0, 0), of(2, 0, 2)]);
        assert_eq!(found.all.accuracy(), Some(50.0));
        assert_eq!(found.all.accuracy_of_legal(), Some(100.0));
        assert_eq!(Decisions::default().accuracy(), None);
    }
}

//! Classification accuracy: on the way to gold trees, how often does a scorer like the oracle's action
//! best?
//!
//! It is what Wang, Sagae and Mitamura 2006, table 2, give beside the scores of trees. No mistake
//! leads off the gold path here, so it says how good decisions are and not what mistakes cost. A model
//! that was trained for `search.illegal = "next-best"` has never been asked about decisions without a
//! choice, nor to tell legal actions from others: its accuracy is that among legal actions.

use std::ops::AddAssign;

use crate::classifier::first_best;
use crate::eval::percent::percent;
use crate::oracle::Oracle;
use crate::parallel;
use crate::scorer::{Configuration, Scorer};
use crate::train::Example;
use crate::transition::{Action, ActionKind, TransitionSystem};

/// How many decisions were right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decisions {
    /// Decisions.
    pub number: u64,
    /// Those whose best-scoring action of the whole inventory is right.
    pub right: u64,
    /// Those whose best-scoring legal action is right.
    pub right_of_legal: u64,
}

impl Decisions {
    /// Right decisions in percent, with all actions of the inventory ranked.
    pub fn accuracy(&self) -> f64 {
        percent(self.right, self.number)
    }

    /// Right decisions in percent, with legal actions ranked only.
    pub fn accuracy_of_legal(&self) -> f64 {
        percent(self.right_of_legal, self.number)
    }
}

impl AddAssign for Decisions {
    fn add_assign(&mut self, other: Self) {
        self.number += other.number;
        self.right += other.right;
        self.right_of_legal += other.right_of_legal;
    }
}

/// The kinds of actions, in the order of [`DecisionCounts::kinds`].
pub const KINDS: [ActionKind; 4] =
    [ActionKind::Shift, ActionKind::Reduce, ActionKind::Open, ActionKind::Finish];

/// Decisions of all gold derivations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DecisionCounts {
    /// Trees whose derivation was followed.
    pub trees: u64,
    /// Trees that the system cannot build.
    pub unfit: u64,
    /// All decisions.
    pub all: Decisions,
    /// Those with more than one legal action.
    pub choices: Decisions,
    /// By the kind of the oracle's action, rows as in [`KINDS`].
    pub kinds: [Decisions; KINDS.len()],
}

impl DecisionCounts {
    fn add(&mut self, action: ActionKind, n_legal: usize, decision: Decisions) {
        self.all += decision;
        if n_legal > 1 {
            self.choices += decision;
        }
        let row = KINDS.iter().position(|&kind| kind == action);
        self.kinds[row.unwrap_or(0)] += decision;
    }

    fn plus(mut self, other: Self) -> Self {
        self.trees += other.trees;
        self.unfit += other.unfit;
        self.all += other.all;
        self.choices += other.choices;
        for (mine, others) in self.kinds.iter_mut().zip(other.kinds) {
            *mine += others;
        }
        self
    }
}

/// Follows the oracle over all examples and asks the scorer about every state on the way.
pub fn decisions<S, P, O>(
    system: &S,
    scorer: &P,
    oracle: &O,
    examples: &[Example],
) -> DecisionCounts
where
    S: TransitionSystem,
    P: Scorer<S>,
    O: Oracle<S>,
{
    let follow = |scratch: &mut Scratch<S, P>, example: &Example| {
        let counts = scratch.follow(system, scorer, oracle, example);
        counts.unwrap_or(DecisionCounts { unfit: 1, ..DecisionCounts::default() })
    };
    let counts = parallel::map_init(examples, Scratch::default, follow);
    counts.into_iter().fold(DecisionCounts::default(), DecisionCounts::plus)
}

/// The memory of one thread.
struct Scratch<S: TransitionSystem, P: Scorer<S>> {
    inventory: Vec<S::Action>,
    legal: Vec<S::Action>,
    optimal: Vec<S::Action>,
    scores: Vec<f32>,
    scorer: P::Scratch,
}

impl<S: TransitionSystem, P: Scorer<S>> Default for Scratch<S, P> {
    fn default() -> Self {
        Self {
            inventory: Vec::new(),
            legal: Vec::new(),
            optimal: Vec::new(),
            scores: Vec::new(),
            scorer: P::Scratch::default(),
        }
    }
}

impl<S: TransitionSystem, P: Scorer<S>> Scratch<S, P> {
    /// The decisions of one derivation; none when the system cannot build the tree.
    fn follow<O: Oracle<S>>(
        &mut self,
        system: &S,
        scorer: &P,
        oracle: &O,
        Example { sentence, tree }: &Example,
    ) -> Option<DecisionCounts> {
        let gold = oracle.prepare(system, tree).ok()?;
        let mut counts = DecisionCounts { trees: 1, ..DecisionCounts::default() };
        let mut state = system.start(sentence);
        let at = Configuration { system, sentence, state: &state };
        let mut memory = scorer.begin(at, &mut self.scorer);
        while !system.is_final(&state) {
            system.legal(&state, &mut self.legal);
            system.inventory(&state, &mut self.inventory);
            oracle.optimal(system, &gold, &state, &mut self.optimal);
            let next = *self.optimal.first().filter(|next| self.legal.contains(next))?;
            let at = Configuration { system, sentence, state: &state };
            let mut is_right = |actions: &[S::Action]| {
                scorer.score(at, &memory, actions, &mut self.scorer, &mut self.scores);
                let best = actions.get(first_best(&self.scores));
                best.is_some_and(|best| self.optimal.contains(best))
            };
            let right = u64::from(system.is_forced(&state) || is_right(&self.inventory));
            let right_of_legal = u64::from(self.legal.len() == 1 || is_right(&self.legal));
            let decision = Decisions { number: 1, right, right_of_legal };
            counts.add(next.kind(), self.legal.len(), decision);
            system.apply(&mut state, next);
            let after = Configuration { system, sentence, state: &state };
            scorer.advance(after, next, &mut memory, &mut self.scorer);
        }
        Some(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::ScoreScale;
    use crate::oracle::replay::Replay;
    use crate::symbols::Vocabulary;
    use crate::transition::binary::Binary;
    use crate::tree::{Tree, TreeBuilder};

    /// Likes shifting best and the other actions in their order.
    struct Shifter;

    impl<S: TransitionSystem> Scorer<S> for Shifter {
        type Memory = ();
        type Scratch = ();

        fn begin(&self, _at: Configuration<'_, S>, _scratch: &mut Self::Scratch) {}

        fn score(
            &self,
            _at: Configuration<'_, S>,
            _memory: &(),
            actions: &[S::Action],
            _scratch: &mut (),
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
        let found = decisions(&system, &Shifter, &Replay, &examples);
        assert_eq!((found.trees, found.unfit), (2, 1));
        let of = |number, right, right_of_legal| Decisions { number, right, right_of_legal };
        assert_eq!(found.all, of(8, 4, 8));
        assert_eq!(found.choices, of(2, 0, 2));
        assert_eq!(found.kinds, [of(4, 4, 4), of(2, 0, 2), of(0, 0, 0), of(2, 0, 2)]);
        assert_eq!((found.all.accuracy(), found.all.accuracy_of_legal()), (50.0, 100.0));
    }
}

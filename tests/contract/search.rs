//! Searches that an oracle guides.

use srparse::classifier::ScoreScale;
use srparse::decode::{Illegal, Method, PathScore, Search};
use srparse::oracle::replay::same_brackets;
use srparse::oracle::{Guide, GuideKind, Supervised, guide};
use srparse::scorer::{Configuration, Memory, Scorer, Scratch};
use srparse::transition::TransitionSystem;

use srparse::tree::Tree;

use super::walk::{TREES, Trees, borrowed};
use crate::common::training::decode;
use crate::common::{sentence, shown};

/// Scores the actions that a guide thinks optimal 0 and all others -1: however long a path is, it scores 0 if
/// all of its actions were optimal, and less if not. Away from the gold path a guide that replays a derivation
/// answers anything, which cannot make up for what was lost before.
pub(crate) struct Guided<S>(Box<dyn Guide<S>>);

impl<S: TransitionSystem> Scorer<S> for Guided<S> {
    fn begin(&self, _at: Configuration<'_, S>, _scratch: &mut Scratch) -> Memory {
        Memory::None
    }

    fn score(
        &self,
        at: Configuration<'_, S>,
        _memory: &Memory,
        actions: &[S::Action],
        _scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) {
        let mut optimal = Vec::new();
        self.0.optimal(at.system, at.state, &mut optimal);
        let score = |action| if optimal.contains(action) { 0.0 } else { -1.0 };
        out.clear();
        out.extend(actions.iter().map(score));
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }
}

pub(crate) fn searches_that_the_oracle_guides_find_the_tree<S: Supervised>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(10, TREES / 4);
    let system = make(&borrowed(&trees));
    let greedy = Search { method: Method::Greedy, ..Search::default() };
    let ranking_all = Search { illegal: Illegal::Fail, ..greedy.clone() };
    let (method, path_score) = (Method::Beam, PathScore::Sum);
    let beam = Search { method, beam: 4, path_score, ..Search::default() };
    for tree in &trees {
        let sentence = sentence(tree);
        for kind in [GuideKind::Static, GuideKind::DynamicIfAny] {
            let scorer = Guided(guide(&system, tree, kind).unwrap());
            for search in [&greedy, &ranking_all, &beam] {
                let found = decode(search, &system, &scorer, &sentence);
                let built = system.tree(&found.state, tree.tokens());
                assert!(
                    found.complete && same_brackets(&built, &system.target(tree)),
                    "{kind:?} {:?}: {} {}",
                    search.method,
                    shown(&built),
                    shown(tree)
                );
            }
        }
    }
}

//! Searches that an oracle guides.

use srparse::classifier::ScoreScale;
use srparse::decode::{Illegal, Method, PathScore, Search};
use srparse::oracle::replay::same_brackets;
use srparse::oracle::{OracleKind, oracle};
use srparse::scorer::{Configuration, Memory, Reading};
use srparse::transition::{Action, ActionKind, Oracle, StoredSystem};

use srparse::tree::Tree;

use super::walk::{TREES, Trees, borrowed};
use crate::common::training::decode;
use crate::common::{sentence, shown};

/// Scores the actions that an oracle thinks optimal 0 and all others -1: however long a path is, it scores 0 if
/// all of its actions were optimal, and less if not. Away from the gold path an oracle that replays a derivation
/// answers anything, which cannot make up for what was lost before.
pub(crate) struct Guided<'a>(Box<dyn Oracle + 'a>);

impl Reading for Guided<'_> {
    fn score(
        &mut self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        let mut optimal = Vec::new();
        self.0.optimal(at.state, at.forest, &mut optimal);
        let score = |action| if optimal.contains(action) { 0.0 } else { -1.0 };
        out.clear();
        out.extend(actions.iter().map(score));
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }
}

pub(crate) fn searches_that_the_oracle_guides_find_the_tree<S: StoredSystem>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(10, TREES / 4);
    let system = make(&borrowed(&trees));
    let greedy = Search { method: Method::Greedy, ..Search::default() };
    let [failing, rejecting] =
        [Illegal::Fail, Illegal::Reject].map(|illegal| Search { illegal, ..greedy.clone() });
    let (method, path_score) = (Method::Beam, PathScore::Sum);
    let beam = Search { method, beam: 4, path_score, ..Search::default() };
    for tree in &trees {
        let sentence = sentence(tree);
        for kind in [OracleKind::Static, OracleKind::DynamicIfAny] {
            let mut reading = Guided(oracle(&system, tree, kind).unwrap());
            for search in [&greedy, &failing, &rejecting, &beam] {
                let found = decode(search, &system, &mut reading, &sentence);
                let built = system.tree(&found.state, &found.forest, tree.tokens());
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

/// Scores actions by what they are and by how many came before, as if at random.
struct Erratic;

impl Reading for Erratic {
    fn score(
        &mut self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        let steps = at.state.steps;
        let score = |action: &Action| {
            let mixed = (action.code ^ steps.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
            (mixed >> 8) as f32
        };
        out.clear();
        out.extend(actions.iter().map(score));
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }
}

pub(crate) fn a_sentence_is_rejected_only_where_no_parse_may_end_after_its_last_word<
    S: StoredSystem,
>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(11, TREES / 4);
    let system = make(&borrowed(&trees));
    let search = Search { illegal: Illegal::Reject, ..Search::default() };
    let mut legal = Vec::new();
    for tree in &trees {
        let sentence = sentence(tree);
        let found = decode(&search, &system, &mut Erratic, &sentence);
        if found.state.finished {
            continue;
        }
        system.legal(&found.state, &found.forest, &mut legal);
        assert!(!found.complete);
        assert_eq!(found.state.buffer as usize, tree.tokens().len());
        assert!(legal.iter().all(|&action| system.kind(action) != ActionKind::Finish));
    }
}

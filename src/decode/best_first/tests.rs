use std::collections::BTreeSet;

use super::*;
use crate::classifier::ScoreScale;
use crate::transition::items::{Infer, ItemOrder, ItemTables, Items};

/// Scores that depend on how many items there are, so that paths to the same state differ.
struct Arbitrary;

impl Scorer<Items> for Arbitrary {
    type Memory = ();
    type Scratch = ();

    fn begin(&self, _at: Configuration<'_, Items>, _scratch: &mut Self::Scratch) {}

    fn score(
        &self,
        at: Configuration<'_, Items>,
        _memory: &(),
        actions: &[Infer],
        _scratch: &mut (),
        out: &mut Vec<f32>,
    ) {
        let score = |&Infer { first, last, label }: &Infer| {
            let (start, end) = at.state.span(first as usize, last as usize);
            let all = [start, end, label.0.into(), at.system.steps(at.state) as u32];
            let mix = |all: u32, one: &u32| (all ^ one).wrapping_mul(0x9e37_79b1).rotate_left(13);
            -((all.iter().fold(7, mix) >> 8) as f32) / 1e6
        };
        out.clear();
        out.extend(actions.iter().map(score));
    }

    fn advance(
        &self,
        _after: Configuration<'_, Items>,
        _action: Infer,
        _memory: &mut (),
        _scratch: &mut Self::Scratch,
    ) {
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogOdds
    }
}

fn system() -> Items {
    let mut labels = crate::symbols::Symbols::default();
    for label in ["TOP", "A", "B"] {
        labels.intern(label);
    }
    Items::from_tables(ItemTables { labels, order: ItemOrder::Free, max_children: 3 }).unwrap()
}

#[test]
fn worse_paths_to_a_state_take_no_room() {
    let (system, sentence) = (system(), Sentence { words: vec![2; 4], ..Sentence::default() });
    let search = |agenda: usize| BestFirst {
        max_states: 1_000,
        agenda,
        unfinished: Unfinished::Partial,
        path_score: PathScore::Sum,
    };
    let mut scratch = BestFirstScratch::default();
    scratch.start(PathScore::Sum, &system, &Arbitrary, &sentence);
    let states = |open: &[Open<Infer>], closed: &FxHashMap<u64, usize>| {
        let identities = open.iter().filter_map(|step| step.identity);
        let open: BTreeSet<u64> = identities.filter(|one| !closed.contains_key(one)).collect();
        open.len()
    };
    let (mut at, mut copies) = (0, 0);
    for _ in 0..200 {
        scratch.expand(at, &search(usize::MAX), &system, &Arbitrary, &sentence);
        let (n, all) = (states(&scratch.open, &scratch.closed), scratch.open.len());
        copies += all - n;
        let mut narrow = BestFirstScratch::<Items, Arbitrary> {
            open: scratch.open.clone(),
            best: scratch.best.clone(),
            ..BestFirstScratch::default()
        };
        std::mem::swap(&mut narrow.nodes, &mut scratch.nodes);
        narrow.cut(n - 1);
        assert_eq!((narrow.open.len(), states(&narrow.open, &scratch.closed)), (n - 1, n - 1));
        std::mem::swap(&mut narrow.nodes, &mut scratch.nodes);
        let next = scratch.advance(PathScore::Sum, None, &system, &Arbitrary, &sentence);
        at = next.unwrap();
        if system.is_final(&scratch.nodes[at].state) {
            break;
        }
    }
    assert!(copies > 0);
}

#[test]
fn without_an_agenda_open_steps_are_bounded() {
    let (system, sentence) = (system(), Sentence { words: vec![2; 4], ..Sentence::default() });
    let mut scratch = BestFirstScratch::<Items, Arbitrary>::default();
    scratch.start(PathScore::Sum, &system, &Arbitrary, &sentence);
    let action = Infer { first: 0, last: 1, label: crate::symbols::Label(1) };
    let step = |number: usize| Open {
        score: -(number as f64),
        path: 0.0,
        step: 0.0,
        length: 1,
        number,
        parent: 0,
        action,
        identity: None,
    };
    scratch.open = (0..=MAX_OPEN).map(step).collect();
    scratch.cut(usize::MAX);
    assert_eq!(scratch.open.len(), MAX_OPEN / 2);
    assert!(scratch.open.iter().all(|step| step.number < MAX_OPEN / 2));
}

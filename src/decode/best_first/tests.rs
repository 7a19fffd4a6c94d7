use std::collections::BTreeSet;

use super::*;
use crate::classifier::ScoreScale;
use crate::scorer::{Configuration, Memory};
use crate::symbols::Sentence;
use crate::transition::StoredSystem;
use crate::transition::items::{ItemOrder, ItemTables, Items, infer};

/// Scores that depend on how many items there are, so that paths to the same state differ.
struct Arbitrary;

impl Reading for Arbitrary {
    fn score(
        &mut self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        let score = |&Action { place: [first, last], code }: &Action| {
            let node = |place: u32| at.forest.node(at.state.frontier.items[place as usize]);
            let all = [node(first).start, node(last - 1).end, code, at.state.steps];
            let mix = |all: u32, one: &u32| (all ^ one).wrapping_mul(0x9e37_79b1).rotate_left(13);
            -((all.iter().fold(7, mix) >> 8) as f32) / 1e6
        };
        out.clear();
        out.extend(actions.iter().map(score));
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
fn worse_paths_to_a_state_do_not_count() {
    let (system, sentence) = (system(), Sentence { words: vec![2; 4], ..Sentence::default() });
    let search = |agenda: usize| BestFirst {
        max_states: 1_000,
        max_scored: usize::MAX,
        agenda,
        unfinished: Unfinished::Partial,
        path_score: PathScore::Sum,
    };
    let problem = Problem { system: &system, sentence: &sentence };
    let (mut agenda, mut reading) = (BestFirstScratch::default(), Arbitrary);
    agenda.start(problem, PathScore::Sum, &mut reading);
    let states = |open: &[OpenStep], closed: &FxHashMap<u64, usize>| {
        let identities = open.iter().filter_map(|step| step.identity);
        let open: BTreeSet<u64> = identities.filter(|one| !closed.contains_key(one)).collect();
        open.len()
    };
    let (mut at, mut copies) = (0, 0);
    for _ in 0..200 {
        agenda.expand(at, &search(usize::MAX), problem, &mut reading);
        let (n, all) = (states(&agenda.open, &agenda.closed), agenda.open.len());
        copies += all - n;
        let mut narrow = BestFirstScratch {
            open: agenda.open.clone(),
            best: agenda.best.clone(),
            ..BestFirstScratch::default()
        };
        std::mem::swap(&mut narrow.nodes, &mut agenda.nodes);
        narrow.prune(n - 1);
        assert_eq!((narrow.open.len(), states(&narrow.open, &agenda.closed)), (n - 1, n - 1));
        std::mem::swap(&mut narrow.nodes, &mut agenda.nodes);
        let next = agenda.advance(problem, PathScore::Sum, None, &mut reading);
        at = next.unwrap();
        if agenda.nodes[at].end != End::Open {
            break;
        }
    }
    assert!(copies > 0);
}

#[test]
fn without_an_agenda_open_steps_are_bounded() {
    let (system, sentence) = (system(), Sentence { words: vec![2; 4], ..Sentence::default() });
    let problem = Problem { system: &system, sentence: &sentence };
    let mut agenda = BestFirstScratch::default();
    agenda.start(problem, PathScore::Sum, &mut Arbitrary);
    let action = infer(0, 1, crate::symbols::Label(1));
    let step = |number: usize| OpenStep {
        score: -(number as f64),
        path: 0.0,
        step: 0.0,
        length: 1,
        number,
        parent: 0,
        action,
        identity: None,
    };
    agenda.open = (0..=MAX_OPEN).map(step).collect();
    agenda.prune(usize::MAX);
    assert_eq!(agenda.open.len(), MAX_OPEN / 2);
    assert!(agenda.open.iter().all(|step| step.number < MAX_OPEN / 2));
}

#[test]
fn the_number_of_scored_actions_is_bounded_and_leaves_a_partial_tree() {
    use crate::tree::Token;
    let system = system();
    let tokens: Vec<Token> = (0..200).map(|at| Token::new(format!("w{at}"), "T")).collect();
    let sentence = Sentence { words: vec![2; tokens.len()], ..Sentence::default() };
    let problem = Problem { system: &system, sentence: &sentence };
    let mut agenda = BestFirstScratch::default();
    // 2 labels over 1 to 3 items each, and TOP.
    let (most, per_state) = (20_000, 2 * 3 * 200);
    for unfinished in [Unfinished::Partial, Unfinished::Greedy] {
        let search = BestFirst {
            max_states: usize::MAX,
            max_scored: most,
            agenda: usize::MAX,
            unfinished,
            path_score: PathScore::Sum,
        };
        let found = search.decode(problem, 1, &mut agenda, &mut Arbitrary).remove(0);
        assert!(agenda.scored < most + per_state, "{}", agenda.scored);
        assert!(!found.complete);
        assert_eq!(system.tree(&found.state, &found.forest, &tokens).tokens(), tokens);
    }
}

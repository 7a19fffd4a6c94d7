use super::*;
use crate::scorer::Unscored;
use crate::symbols::Sentence;
use crate::transition::bracketing::{Bracketing, Strategy};
use crate::tree::TreeBuilder;
use crate::tree::binarize::Scheme;

#[test]
fn what_is_copied_does_not_grow_with_the_derivation() {
    let mut builder = TreeBuilder::new();
    for label in ["TOP", "S", "NP"] {
        builder.open(label);
    }
    builder.token("dogs", "NNS");
    (0..3).for_each(|_| builder.close());
    let tree = builder.finish();
    let beam = Beam { width: 8, threshold: 0.0, path_score: PathScore::Sum };
    for order in [Strategy::TopDown, Strategy::InOrder] {
        let system = Bracketing::of_trees([&tree], order, Scheme::None).unwrap();
        let sentence = Sentence { words: vec![2; 40], ..Sentence::default() };
        let problem = Problem { system: &system, sentence: &sentence };
        let (mut agenda, mut reading) = (Agenda::default(), Unscored);
        agenda.start(problem, beam.path_score, &mut reading);
        for _ in 0..60 {
            agenda.advance(&beam, problem, None, &mut reading);
            let lists = |slot: &Cursor| slot.state.frontier.items.capacity();
            assert!(agenda.slots.iter().all(|slot| lists(slot) == 0));
        }
        assert!(agenda.forest.len() > 40 && agenda.beam.len() == 8, "{order:?}");
    }
}

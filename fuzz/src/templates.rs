//! Any text: valid templates can be extracted from any configuration and give one value per column.

use srparse::feature::{Extractor, Indicators, Row, Templates, extract};
use srparse::symbols::{Label, Symbols, Vocabulary};
use srparse::transition::{ActionKind, ActionRow, ActionTable, Focus, Forest, StackView, View};
use srparse::tree::Token;

use super::start;

/// A configuration with tokens, a unary and a binary node, dependents, and a candidate.
fn ask(templates: &Templates, buffer: u32, focus: Option<Focus>) {
    let tokens = [("``", "``"), ("we", "NP"), (",", ","), ("go", "V")];
    let tokens = tokens.map(|(word, tag)| Token::new(word, tag));
    let sentence = Vocabulary::default().encode(&tokens);
    let mut labels = Symbols::default();
    labels.intern("NP");
    let mut forest = Forest::with_room_for(4, true);
    let tokens: Vec<u32> = (0..3).map(|at| forest.push_token(at)).collect();
    let unary = forest.push((Label(1), false), &tokens[1..2], |_, _| 0);
    let binary = forest.push((Label(0), true), &[tokens[0], unary], |_, _| 1);
    let stack = [binary, tokens[2]];
    let row = |number| ActionRow { number, kind: ActionKind::Reduce, label: None };
    let actions = ActionTable::new((0..3).map(row));
    let view = View {
        forest: &forest,
        labels: &labels,
        stack: StackView::Listed(&stack),
        frontier: &stack,
        open: StackView::Listed(&[]),
        complete: StackView::Listed(&stack),
        buffer,
        recent: [3, 0],
        actions: &actions,
        focus,
        signatures: &[],
    };
    let mut row = Row::default();
    let extractor = Extractor::new(templates);
    extractor.extract(&sentence, &view, &mut extract::Scratch::default(), &mut row);
    assert_eq!(row.values.len(), templates.columns().len());
    let mut ids = Vec::new();
    Indicators::new(templates).ids(row.borrow(), &mut ids);
    assert!(ids.len() <= templates.conjunctions().len());
}

pub fn check(bytes: &[u8]) {
    let text = start(bytes);
    let Ok(templates) = Templates::parse(text, "fuzz") else { return };
    for buffer in [3, 4] {
        for focus in [
            None,
            Some(Focus { first: 0, last: 1, head: 0 }),
            Some(Focus { first: 0, last: 2, head: 1 }),
        ] {
            ask(&templates, buffer, focus);
        }
    }
    let again = Templates::parse(templates.text(), "again").expect("its own text is readable");
    assert_eq!(again.conjunctions(), templates.conjunctions());
}

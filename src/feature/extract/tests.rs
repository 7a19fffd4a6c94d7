use std::sync::LazyLock;

use super::*;
use crate::symbols::{Form, Label, Symbols, Vocabulary};
use crate::transition::{ActionKind, ActionRow, ActionTable, Focus, Forest, Open, StackView};
use crate::tree::Token;

/// Four actions, with the numbers from 0.
static ACTIONS: LazyLock<ActionTable> = LazyLock::new(|| {
    let row = |number| ActionRow { number, kind: ActionKind::Reduce, label: None };
    ActionTable::new((0..4).map(row))
});

fn sentence(n: u32) -> Sentence {
    Sentence {
        words: (10..10 + n).collect(),
        tags: (20..20 + n).collect(),
        forms: vec![Form { suffix2: 5, suffix3: 6, shape: 7, ..Form::default() }; n as usize],
        ..Sentence::default()
    }
}

fn values(text: &str, view: &View<'_>, n: u32) -> Row {
    values_in(text, view, &sentence(n))
}

fn values_in(text: &str, view: &View<'_>, sentence: &Sentence) -> Row {
    let mut row = Row::default();
    let extractor = Extractor::new(&Templates::parse(text, "test").unwrap());
    extractor.extract(sentence, view, &mut Scratch::default(), &mut row);
    row
}

#[test]
fn addresses_reach_children_corners_dependents_and_the_buffer() {
    let mut forest = Forest::with_room_for(4, true);
    let (a, b) = (forest.push_token(0), forest.push_token(1));
    let np = forest.push((Label(3), true), &[a, b], |_, _| 1);
    let stack = [np];
    let view = View {
        forest: &forest,
        labels: &Symbols::default(),
        stack: StackView::Listed(&stack),
        frontier: &stack,
        open: StackView::Listed(&[]),
        complete: StackView::Listed(&stack),
        buffer: 2,
        recent: [4, 0],
        actions: &ACTIONS,
        focus: None,
        signatures: &[],
    };
    let text = "s0.w\ns0.c\ns0.l.w\ns0.r.n\ns0.u.c\ns0.lw\ns0.ld.t\ns0.deps\ns0.len\nb0.w\nb2.w\ns1.w\ndistance(s0,b1)\nsize(stack)\naction(0)\ns0.len.bin";
    let (tag, end) = (TAG_SYMBOLS + 21, BOUNDARY);
    assert_eq!(
        values(text, &view, 4).values,
        [11, 9, 10, tag, 0, 10, 20, 1, 2, 12, end, end, 2, 1, 4, 3]
    );
}

#[test]
fn a_focus_gives_children_and_neighbours_of_the_candidate() {
    let mut forest = Forest::default();
    let stack: Vec<u32> = (0..4).map(|at| forest.push_token(at)).collect();
    let focus = Some(Focus { first: 1, last: 3, head: 1 });
    let view = View {
        forest: &forest,
        labels: &Symbols::default(),
        stack: StackView::Listed(&stack),
        frontier: &stack,
        open: StackView::Listed(&[]),
        complete: StackView::Listed(&stack),
        buffer: 4,
        recent: [0; 2],
        actions: &ACTIONS,
        focus,
        signatures: &[],
    };
    let row = values("before0.w\nbefore1.w\nafter0.w\nitem.kids.t", &view, 4);
    assert_eq!(row.values[..3], [10, BOUNDARY, 13]);
    assert_eq!(row.borrow().set(3), [21, 22]);
}

#[test]
fn children_of_a_candidate_are_found_from_both_sides_and_from_its_head() {
    let mut forest = Forest::default();
    let tokens: Vec<u32> = (0..5).map(|at| forest.push_token(at)).collect();
    let pair = forest.push((Label(1), false), &tokens[1..3], |_, _| 1);
    // t0 [(t1 t2) t3 t4], the candidate in brackets, headed by t3.
    let stack = [tokens[0], pair, tokens[3], tokens[4]];
    let labels = Symbols::default();
    let view = View {
        forest: &forest,
        labels: &labels,
        stack: StackView::Listed(&stack),
        frontier: &stack,
        open: StackView::Listed(&[]),
        complete: StackView::Listed(&stack),
        buffer: 5,
        recent: [0; 2],
        actions: &ACTIONS,
        focus: Some(Focus { first: 1, last: 4, head: 2 }),
        signatures: &[],
    };
    let text = "left0.w\nleft2.w\nleft3.w\nright0.w\nright2.w\nright3.w\nhead.w\nheadleft0.w\nheadleft1.w\n\
                headright0.w\nleft0.first.w\nleft0.head.w\nhead.first.w";
    assert_eq!(values(text, &view, 5).values, [12, 14, 0, 14, 12, 0, 13, 12, 0, 14, 11, 12, 0]);
    let sets = |group: &str| {
        let row = values(&format!("item.{group}.w\nitem.{group}.terminals.w"), &view, 5);
        (row.borrow().set(0).to_vec(), row.borrow().set(1).to_vec())
    };
    assert_eq!(sets("kids"), (vec![12, 13, 14], vec![11, 12, 13, 14]));
    assert_eq!(sets("nonhead"), (vec![12, 14], vec![11, 12, 14]));
    assert_eq!(sets("nonleft"), (vec![13, 14], vec![13, 14]));
    assert_eq!(sets("nonright"), (vec![12, 13], vec![11, 12, 13]));
    assert_eq!(sets("prehead"), (vec![12], vec![11, 12]));
    assert_eq!(sets("posthead"), (vec![14], vec![14]));
    assert_eq!(sets("tohead"), (vec![12, 13], vec![11, 12, 13]));
    assert_eq!(sets("fromhead"), (vec![13, 14], vec![13, 14]));
}

#[test]
fn the_reach_of_features_is_that_of_the_farthest_neighbour() {
    let reach = |text: &str| Extractor::new(&Templates::parse(text, "test").unwrap()).reach();
    assert_eq!(reach("left0.w\nitem.kids.n"), Some(0));
    assert_eq!(reach("left0.w before1.n\nafter0.first.t"), Some(2));
    assert_eq!(reach("left0.w\ns0.w"), None);
    assert_eq!(reach("left0.w\nsize(stack)"), None);
}

#[test]
fn open_nonterminals_their_children_and_complete_items_have_positions() {
    let mut forest = Forest::default();
    // (0 (1* t0 (2 t1 t2) (3 t3 …: labels by number; 0, 1 and 3 are open, and 3 has a token.
    let root = forest.push_open(Label(0), false, None, 0);
    let open = forest.push_open(Label(1), true, None, 0);
    let first = forest.push_token(0);
    let words = [forest.push_token(1), forest.push_token(2)];
    let phrase = forest.push((Label(2), false), &words, |_, _| 1);
    let inner = forest.push_open(Label(3), false, None, 3);
    let last = forest.push_token(3);
    let (stack, complete) = ([root, open, first, phrase, inner, last], [first, phrase, last]);
    let open =
        [(root, 0), (open, 0), (inner, 2)].map(|(node, first)| Open { node, first, base: 0 });
    let labels = Symbols::default();
    let view = View {
        forest: &forest,
        labels: &labels,
        stack: StackView::Listed(&stack),
        frontier: &stack,
        open: StackView::Listed(&open),
        complete: StackView::Listed(&complete),
        buffer: 4,
        recent: [0; 2],
        actions: &ACTIONS,
        focus: None,
        signatures: &[],
    };
    let open_symbol = |label: u32, temporary: u32| ((label + 1) * 2 + temporary) | 1 << 18;
    let (tag, end) = (|at: u32| TAG_SYMBOLS + 20 + at, BOUNDARY);
    // The innermost first; where an open one begins, and its length so far.
    assert_eq!(
        values("o0.n\no1.n\no2.n\no3.n\no1.lw\no0.lt\no1.len\no0.w", &view, 6).values,
        [open_symbol(3, 0), open_symbol(1, 1), open_symbol(0, 0), end, 10, 23, 4, 0]
    );
    // The last first, whatever is opened between them.
    assert_eq!(
        values("c0.n\nc1.c\nc2.n\nc3.n\nc1.len", &view, 6).values,
        [tag(3), 6, tag(0), end, 2]
    );
    // Children of one node too, unlike `l` and `r`.
    assert_eq!(
        values("c1.first.n\nc1.last.n\nc0.first.n\no0.first.n\ns0.last.n", &view, 6).values,
        [tag(1), tag(2), 0, 0, 0]
    );
    // The root has no child of its own yet: all belongs to the temporary node in it.
    let pending = "pending(o0)\npending(o1)\npending(o2)\npending(o3)";
    assert_eq!(values(pending, &view, 6).values, [1, 2, 0, 0]);
    let mut forest = Forest::default();
    let word = forest.push_token(0);
    let unary = forest.push((Label(5), false), &[word], |_, _| 0);
    let corner = forest.push_open(Label(6), false, Some(unary), 1);
    let open = [Open { node: corner, first: 0, base: 0 }];
    let view = View {
        forest: &forest,
        stack: StackView::Listed(&[corner]),
        open: StackView::Listed(&open),
        complete: StackView::Listed(&[unary]),
        buffer: 1,
        ..view
    };
    // An open constituent has its left corner; a node with one child has it first and last.
    let text = "s0.n\ns0.first.n\ns0.first.first.n\ns0.first.last.n\ns0.first.l.n\nc0.n";
    assert_eq!(values(text, &view, 6).values, [open_symbol(6, 0), 12, tag(0), tag(0), 0, 12]);
}

#[test]
fn punctuation_commas_pairs_and_rhythm_are_read_off_the_sentence() {
    let tokens: Vec<Token> =
        ["「/PU", "大/JJ", "說明書/NN", "，/PU", "他們/PN", "、/PU", "看/VV", "」/PU"]
            .iter()
            .map(|token| token.split_once('/').unwrap())
            .map(|(word, tag)| Token::new(word, tag))
            .collect();
    let sentence = Vocabulary::default().encode(&tokens);
    let mut labels = Symbols::default();
    let (np, ip) = (labels.intern("NP") as u16, labels.intern("IP") as u16);
    let mut forest = Forest::default();
    let ids: Vec<u32> = (0..8).map(|at| forest.push_token(at)).collect();
    // 「 (NP 大 說明書), (IP ， 他們 、), 看 on the stack, 」 in the buffer.
    let noun = forest.push((Label(np), false), &ids[1..3], |_, _| 1);
    let clause = forest.push((Label(ip), false), &ids[3..6], |_, _| 1);
    let stack = [ids[0], noun, clause, ids[6]];
    let view = |stack, buffer| View {
        forest: &forest,
        labels: &labels,
        stack: StackView::Listed(stack),
        frontier: &[],
        open: StackView::Listed(&[]),
        complete: StackView::Listed(stack),
        buffer,
        recent: [0; 2],
        actions: &ACTIONS,
        focus: None,
        signatures: &[],
    };
    let text = "s0.punct\ns1.punct\ns2.punct\ns3.punct\nb0.punct\n\
                s0.rhythm\ns1.rhythm\ns2.rhythm\ns2.l.rhythm\ns2.r.rhythm\nb0.rhythm\ns9.rhythm\n\
                comma(s0,s1)\ncomma(s1,s2)\ncomma(s2,s1)\ncomma(s2,s3)\ncomma(s0,s9)\n\
                empty(stack)\nempty(buffer)\nopen(punctuation)";
    assert_eq!(
        values_in(text, &view(&stack, 7), &sentence).values,
        [0, 2, 0, 1, 1, 1, 0, 2, 0, 3, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1]
    );
    let functions = "empty(stack)\nempty(buffer)\nopen(punctuation)";
    assert_eq!(values_in(functions, &view(&ids, 8), &sentence).values, [0, 1, 0]);
    assert_eq!(values_in(functions, &view(&[], 0), &sentence).values, [1, 0, 0]);
}

#[test]
fn a_configuration_is_a_tree_of_its_items_their_heads_and_the_next_tokens() {
    let mut forest = Forest::with_room_for(4, true);
    let (a, b) = (forest.push_token(0), forest.push_token(1));
    let np = forest.push((Label(3), true), &[a, b], |_, _| 1);
    let top = forest.push((Label(0), false), &[np], |_, _| 0);
    let stack = [top];
    let view = View {
        forest: &forest,
        labels: &Symbols::default(),
        stack: StackView::Listed(&stack),
        frontier: &[],
        open: StackView::Listed(&[]),
        complete: StackView::Listed(&stack),
        buffer: 3,
        recent: [0, 0],
        actions: &ACTIONS,
        focus: None,
        signatures: &[],
    };
    let of = |text: &str| -> Vec<(u32, u32)> {
        let row = values(text, &view, 4);
        row.borrow().tree(row.values.len() - 1).collect()
    };
    let (root, tag, word) = (tree::ROOT, TAG_SYMBOLS, 1 << 31);
    let above = (1..=4).rev().flat_map(|at| [(root + at, 1), (root + 4 + at, 1)]).take(6);
    let mut whole = vec![(root, 0)];
    whole.extend(above);
    whole.extend([(root + 1, 1), (2, 2), (9, 3), (tag + 20, 4), (tag + 21, 4)]);
    whole.extend([(root + 5, 1), (tag + 21, 2), (word + 11, 3)]);
    whole.extend([(root + 9, 1), (tag + 23, 2), (word + 13, 3)]);
    whole.extend([(root + 10, 1), (root + 11, 1), (root + 12, 1)]);
    assert_eq!(of("s0.kids.n\ntree(3)"), whole);
    whole.retain(|&(_, depth)| depth < 4);
    assert_eq!(of("tree(2)"), whole);
    assert!(whole.iter().all(|&(_, depth)| depth <= tree::MAX_DEPTH));
}

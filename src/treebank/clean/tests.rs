use super::*;
use crate::treebank::Encoding;
use crate::treebank::penn::{PennReader, write_brackets};
use proptest::prelude::*;

fn read(text: &str) -> Tree {
    PennReader::new(text.as_bytes(), "t", Encoding::Utf8).read().unwrap().unwrap()
}

fn write(tree: &Tree) -> String {
    let mut out = Vec::new();
    write_brackets(tree, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn cleaned(text: &str, cleaning: &Cleaning) -> String {
    write(&cleaning.apply(read(text)))
}

fn with(steps: &[(&str, &str)]) -> Cleaning {
    let mut table = serde_json::to_value(Cleaning::none()).unwrap();
    for (key, value) in steps {
        assert!(table.get(key).is_some(), "{key}");
        table[key] = serde_json::from_str(value).unwrap_or_else(|_| (*value).into());
    }
    serde_json::from_value(table).unwrap()
}

#[test]
fn the_default_is_the_usual_preprocessing() {
    let text = "( (S-1 (NP-SBJ=2 (-NONE- *)) (VP (VP (V go) (NP (-NONE- *T*-1)))) (-LRB- -LRB-)) )";
    assert_eq!(cleaned(text, &Cleaning::default()), "(TOP (S (VP (V go)) (-LRB- -LRB-)))");
    assert_eq!(Cleaning::default().apply_tokens(read(text).tokens()).positions, [1, 3]);
}

#[test]
fn function_tags_may_stay_and_indices_go() {
    let cleaning = with(&[("functions", "keep"), ("indices", "true"), ("separators", "-=;{")]);
    let text = "(S-TTL-1 (NP-SBJ=2 (A a)) (PP;*SBJ* (-LRB- b)) (-LRB- (NP;{DOG_1} (A c))))";
    let expected = "(S-TTL (NP-SBJ (A a)) (PP;*SBJ* (-LRB- b)) (-LRB- (NP (A c))))";
    assert_eq!(cleaned(text, &cleaning), expected);
}

#[test]
fn switches_of_earlier_models_are_understood() {
    let read = |text: &str| serde_json::from_str::<Cleaning>(text).unwrap();
    assert_eq!(read(r#"{"traces":true,"functions":true}"#), Cleaning::default());
    let off = read(r#"{"traces":false,"functions":false}"#);
    assert_eq!((off.traces.len(), off.functions), (0, Functions::Keep));
}

#[test]
fn a_root_is_renamed_added_or_made_one() {
    let top = with(&[("root", "top")]);
    for text in [
        "((S (A a)))",
        "(ROOT (S (A a)))",
        "(S1 (S (A a)))",
        "(VROOT (S (A a)))",
        "(TOP (S (A a)))",
        "(S (A a))",
        "( (ROOT (TOP (S (A a)))))",
    ] {
        assert_eq!(cleaned(text, &top), "(TOP (S (A a)))", "{text}");
    }
    assert_eq!(cleaned("(())", &top), "(TOP )");
    assert_eq!(cleaned("( (A a))", &top), "(TOP (A a))");
    assert_eq!(top.apply(Tree::default()).nodes().len(), 1);
}

#[test]
fn nothing_is_changed_without_a_step() {
    let text = "(S (NP (NP-SBJ (-NONE- *))) (NP ) (A A))";
    assert_eq!(cleaned(text, &Cleaning::none()), text);
}

#[test]
fn everything_may_be_removed() {
    let cleaning = with(&[("outermost_punctuation", "true"), ("raise_punctuation", "true")]);
    assert_eq!(cleaned("(S (NP (, ,)) (. .))", &cleaning), "(S )");
    assert_eq!(cleaned("(S (-NONE- *))", &Cleaning::default()), "(TOP )");
}

#[test]
fn quotes_and_outermost_punctuation_go_and_inner_stays() {
    let text = "(S (`` ``) (, ,) (A a) (, ,) ('' '') (B b) (. .) ('' ''))";
    assert_eq!(cleaned(text, &with(&[("quotes", "true")])), "(S (, ,) (A a) (, ,) (B b) (. .))");
    let cleaning = with(&[("outermost_punctuation", "true")]);
    assert_eq!(cleaned(text, &cleaning), "(S (A a) (, ,) ('' '') (B b))");
    let sentence = cleaning.apply_tokens(read(text).tokens());
    assert_eq!(sentence.positions, [2, 3, 4, 5]);
}

#[test]
fn punctuation_is_raised_as_high_as_it_goes() {
    let text = "(TOP (S (NP (NP (A a) (, ,)) (: :)) (VP (B b) (PRN (, ,)) (NP (C c) (. .)))))";
    let expected = "(TOP (S (NP (NP (A a))) (, ,) (: :) (VP (B b) (, ,) (NP (C c))) (. .)))";
    assert_eq!(cleaned(text, &with(&[("raise_punctuation", "true")])), expected);
}

#[test]
fn particles_become_adverbs_and_words_lower_case() {
    let cleaning = with(&[("prt_to_advp", "true"), ("lowercase", "true")]);
    assert_eq!(
        cleaned("(S (PRT (RP UP)) (-LRB- -LRB-))", &cleaning),
        "(S (ADVP (RP up)) (-LRB- -LRB-))"
    );
}

#[test]
fn a_missing_token_goes_as_high_as_brackets_allow() {
    let tree = read("(TOP (S (NP (A a)) (VP (B b) (NP (C c)))))");
    let tokens: Vec<_> = ["``", "a", ",", "b", ":", "c", "."].map(|w| Token::new(w, "X")).to_vec();
    let whole = reattach(&tree, &[1, 3, 5], &tokens);
    assert_eq!(
        write(&whole),
        "(TOP (X ``) (S (NP (X a)) (X ,) (VP (X b) (X :) (NP (X c)))) (X .))"
    );
    let none = reattach(&read("(TOP )"), &[], &tokens[..2]);
    assert_eq!(write(&none), "(TOP (X ``) (X a))");
    assert_eq!(write(&reattach(&Tree::default(), &[], &tokens[..1])), "( (X ``))");
}

#[test]
fn heads_are_shifted_by_reattached_tokens() {
    let mut tree = read("(S (A a) (B b))");
    tree.nodes_mut()[0].head = Some(1);
    let tokens: Vec<_> = ["x", "a", "y", "b", "z"].map(|w| Token::new(w, "X")).to_vec();
    assert_eq!(reattach(&tree, &[1, 3], &tokens).nodes()[0].head, Some(3));
}

/// Trees of any shape over words and punctuation.
fn any_tree() -> impl Strategy<Value = Tree> {
    let label = prop_oneof![Just(""), Just("S"), Just("NP-SBJ"), Just("TOP"), Just("PRT")];
    let tag = prop_oneof![Just(","), Just("."), Just("``"), Just("-NONE-"), Just("A"), Just("B")];
    proptest::collection::vec((0..6u8, label, tag), 0..40).prop_map(|steps| {
        let mut builder = crate::tree::TreeBuilder::new();
        builder.open("");
        for (what, label, tag) in steps {
            match what {
                0 | 1 => builder.open(label),
                2 if builder.depth() > 1 => builder.close(),
                _ => builder.token(tag, tag),
            }
        }
        while builder.depth() > 0 {
            builder.close();
        }
        builder.finish()
    })
}

fn any_cleaning() -> impl Strategy<Value = Cleaning> {
    proptest::array::uniform9(any::<bool>()).prop_map(|on| Cleaning {
        traces: if on[0] { vec![TRACE.to_owned()] } else { Vec::new() },
        functions: if on[1] { Functions::Drop } else { Functions::Keep },
        prt_to_advp: on[2],
        quotes: on[3],
        raise_punctuation: on[4],
        outermost_punctuation: on[5],
        collapse_unaries: on[6],
        lowercase: on[7],
        root: if on[8] { RootPolicy::Top } else { RootPolicy::Keep },
        ..Cleaning::default()
    })
}

/// The spans of nodes in terms of the tokens at `positions`, in post-order, empty ones left out.
fn spans_over(tree: &Tree, positions: &[u32]) -> Vec<(String, usize, usize)> {
    let before = |position: u32| positions.partition_point(|&k| k < position);
    tree.nodes()
        .iter()
        .map(|node| (node.label.to_string(), before(node.start), before(node.end)))
        .filter(|span| span.1 < span.2)
        .collect()
}

proptest! {
    #[test]
    fn cleaning_is_the_same_for_trees_and_sentences_and_done_once_it_is_done(
        tree in any_tree(), cleaning in any_cleaning(),
    ) {
        let sentence = cleaning.apply_tokens(tree.tokens());
        let once = cleaning.apply(tree);
        prop_assert_eq!(once.tokens(), &sentence.tokens[..]);
        let root = once.nodes().last().unwrap();
        prop_assert_eq!((root.start, root.end), (0, once.tokens().len() as u32));
        let read_again = read(&write(&once));
        prop_assert_eq!(read_again.tokens(), once.tokens());
        prop_assert_eq!(cleaning.apply(once.clone()), once);
    }

    #[test]
    fn removed_tokens_are_reattached_in_place(tree in any_tree(), cleaning in any_cleaning()) {
        let tokens = tree.tokens().to_vec();
        let positions = cleaning.apply_tokens(&tokens).positions;
        let tree = cleaning.apply(tree);
        let whole = reattach(&tree, &positions, &tokens);
        prop_assert_eq!(whole.tokens(), &tokens[..]);
        let all: Vec<u32> = (0..tree.tokens().len() as u32).collect();
        prop_assert_eq!(spans_over(&whole, &positions), spans_over(&tree, &all));
        prop_assert_eq!(whole.nodes().len(), tree.nodes().len());
        let root = whole.nodes().last().unwrap();
        prop_assert_eq!((root.start, root.end), (0, tokens.len() as u32));
    }
}

#[test]
fn punctuation_rises_the_same_whether_or_not_the_root_was_written() {
    let cleaning = with(&[("root", "top"), ("raise_punctuation", "true")]);
    let bare = cleaned("(X (S (NP (NNP Maria)) (. .)))", &cleaning);
    assert_eq!(bare, cleaned("(TOP (X (S (NP (NNP Maria)) (. .))))", &cleaning));
    assert_eq!(bare, cleaned(&bare, &cleaning));
}

#[test]
fn replacements_that_feed_each_other_add_little() {
    let replace: Vec<String> = (0..60).map(|_| "a aa".to_owned()).collect();
    let cleaning = Cleaning { replace, ..Cleaning::none() };
    let mut builder = crate::tree::TreeBuilder::new();
    builder.open("S");
    builder.token("ab", "T");
    builder.close();
    let tree = cleaning.strip(builder.finish()).unwrap();
    let word = &tree.tokens()[0].word;
    assert!((3..=1002).contains(&word.len()) && word.ends_with("aab"), "{} bytes", word.len());
}

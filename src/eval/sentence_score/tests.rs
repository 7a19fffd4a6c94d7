//! One test for each rule of EVALB, on hand-written trees.

use super::*;

fn with(params: &Params, gold: &str, test: &str) -> SentenceScore {
    let mut gold = Bracketing::from_line(gold, params);
    let mut test = Bracketing::from_line(test, params);
    score(&mut gold, &mut test, params).0
}

fn collins(gold: &str, test: &str) -> SentenceScore {
    with(&Params::default(), gold, test)
}

/// Gold, test and matched brackets.
fn brackets(gold: &str, test: &str) -> (u32, u32, u32) {
    let score = collins(gold, test);
    assert_eq!(score.status, Status::Valid, "{:?}", score.problems);
    (score.gold, score.test, score.matched)
}

#[test]
fn a_deleted_tag_removes_the_word_and_a_deleted_label_only_the_bracket() {
    let gold = "(TOP (NP (NN a) (. .)))";
    assert_eq!(brackets(gold, "(NP (NN a))"), (1, 1, 1));
    // A bracket with a deleted label goes, what is below it stays.
    assert_eq!(brackets("(TOP (. (NP (NN a))))", "(NP (NN a))"), (1, 1, 1));
    // A tag is compared as it stands, a label after it was cut.
    assert_eq!(brackets("(TOP-X (NP (NN a)))", "(NP (NN a))"), (1, 1, 1));
    assert_eq!(collins("(NP (NN a) (.-X b))", "(NP (NN a))").status, Status::Error);
}

#[test]
fn a_label_is_deleted_through_an_equivalence_but_a_tag_is_not() {
    let params = Params::parse("DELETE_LABEL X\nEQ_LABEL X Y", "p").unwrap();
    let score = with(&params, "(Y (A (Y a)))", "(A (X b) (Y a))");
    assert_eq!((score.status, score.gold, score.test), (Status::Valid, 1, 1));
}

#[test]
fn constituents_left_without_words_are_dropped() {
    assert_eq!(brackets("(S (NP (-NONE- *)) (VP (VB go)))", "(S (VP (VB go)))"), (2, 2, 2));
}

#[test]
fn deleted_words_take_no_position_so_punctuation_breaks_no_span() {
    let inside = "(S (NP (NN a) (, ,)) (VP (VB b)))";
    let outside = "(S (NP (NN a)) (, ,) (VP (VB b)))";
    assert_eq!(brackets(inside, outside), (3, 3, 3));
}

#[test]
fn brackets_currency_and_question_marks_are_words_like_others() {
    for tag in ["-LRB-", "-RRB-", "#", "$", "!", "?", "PU"] {
        let gold = format!("(S (NP (NN a)) ({tag} x))");
        let test = format!("(S (NP (NN a) ({tag} x)))");
        assert_eq!(brackets(&gold, &test), (2, 2, 1), "{tag}");
    }
}

#[test]
fn labels_are_cut_at_the_first_hyphen_or_equals_sign_even_in_front() {
    assert_eq!(brackets("(NP-SBJ=2 (NN a))", "(NP (NN a))"), (1, 1, 1));
    assert_eq!(brackets("(NP=2-SBJ (NN a))", "(NP (NN a))"), (1, 1, 1));
    // `-X-` is cut to nothing, and so is `=Y`.
    assert_eq!(brackets("(-X- (NN a))", "(=Y (NN a))"), (1, 1, 1));
}

#[test]
fn tags_are_not_cut_and_cost_tagging_accuracy_only() {
    let score = collins("(NP (DT-X a) (NN b))", "(NP (DT a) (NN b))");
    assert_eq!((score.matched, score.words, score.correct_tags), (1, 2, 1));
}

#[test]
fn equivalent_labels_match_either_way_and_as_tags_too() {
    assert_eq!(brackets("(ADVP (RB up))", "(PRT (RB up))"), (1, 1, 1));
    assert_eq!(brackets("(PRT (RB up))", "(ADVP (RB up))"), (1, 1, 1));
    assert_eq!(collins("(X (PRT up))", "(X (ADVP up))").correct_tags, 1);
}

#[test]
fn equivalence_is_not_transitive() {
    let params = Params::parse("EQ_LABEL A B\nEQ_LABEL B C", "p").unwrap();
    assert_eq!(with(&params, "(A (X a))", "(C (X a))").matched, 0);
    assert_eq!(with(&params, "(C (X a))", "(B (X a))").matched, 1);
}

#[test]
fn equivalent_words_do_not_make_an_error() {
    let params = Params::parse("EQ_WORD This this", "p").unwrap();
    assert_eq!(with(&params, "(A (X this))", "(A (X This))").status, Status::Valid);
    assert_eq!(with(&params, "(A (X this))", "(A (X THIS))").status, Status::Error);
}

#[test]
fn brackets_pair_one_to_one() {
    assert_eq!(brackets("(NP (NP (NN a)))", "(NP (NN a))"), (2, 1, 1));
    assert_eq!(brackets("(NP (NN a))", "(NP (NP (NP (NN a))))"), (1, 3, 1));
}

#[test]
fn pairing_is_greedy_in_order_even_where_another_pairing_would_match_more() {
    // The gold B takes the first test bracket it may, A; then the gold A is left with C.
    let params = Params::parse("EQ_LABEL A B\nEQ_LABEL B C", "p").unwrap();
    assert_eq!(with(&params, "(B (A (X a)))", "(A (C (X a)))").matched, 1);
    assert_eq!(with(&params, "(A (B (X a)))", "(A (C (X a)))").matched, 2);
}

#[test]
fn unlabeled_scoring_compares_spans_only() {
    let params = Params::parse("LABELED 0", "p").unwrap();
    assert_eq!(with(&params, "(A (X a))", "(B (X a))").matched, 1);
}

#[test]
fn roots_other_than_top_count_as_brackets_in_evalbs_own_reading() {
    for root in ["ROOT", "S1", ""] {
        let test = format!("({root} (NP (NN a)))");
        assert_eq!(brackets("(TOP (NP (NN a)))", &test), (1, 2, 1), "{root}");
    }
}

#[test]
fn other_words_and_other_numbers_of_words_are_errors_with_evalbs_message() {
    let words = collins("(NP (DT the) (NN cat))", "(NP (DT the) (NN dog))");
    assert_eq!((words.status, words.lost), (Status::Error, 1));
    assert_eq!(words.problems, ["Words unmatch (cat|dog)"]);
    let length = collins("(S (NP (NN a) (NN b)))", "(NP (NN a))");
    assert_eq!((length.status, length.lost), (Status::Error, 2));
    assert_eq!(length.problems, ["Length unmatch (2|1)"]);
    assert_eq!(collins("(NP (-LRB- -LRB-))", "(NP (-LRB- [))").status, Status::Error);
    assert_eq!(collins("", "(NP (NN a))").problems, ["Length unmatch (0|1)"]);
}

#[test]
fn empty_parses_are_skipped_and_their_gold_brackets_are_lost() {
    for empty in ["(())", "(TOP )", "", "   ", "(TOP (. .))"] {
        let score = collins("(S (NP (NN a)))", empty);
        assert_eq!((score.status, score.lost, score.gold), (Status::Skipped, 2, 0), "{empty}");
        assert!(score.problems.is_empty());
    }
    assert_eq!(collins("", "").status, Status::Skipped);
}

#[test]
fn punctuation_tagged_as_a_word_makes_an_error() {
    let score = collins("(S (NN a) (. .))", "(S (NN a) (NN .))");
    assert_eq!(score.problems, ["Length unmatch (1|2)"]);
}

#[test]
fn a_quote_deleted_on_one_side_only_is_put_back() {
    let params = Params::named("new").unwrap();
    // In gold the quote is deleted; in test it is a word in its own constituent.
    let score = with(
        &params,
        "(S (NP (NN a) ('' ')) (VP (VB b) (NN c)))",
        "(S (NP (NN a) (POS ')) (VP (VB b) (NN c)))",
    );
    assert_eq!((score.status, score.words, score.correct_tags), (Status::Valid, 4, 3));
    assert_eq!((score.gold, score.test, score.matched), (3, 3, 3));
    // The other way round.
    let score =
        with(&params, "(S (NP (NN a) (POS ')) (VP (VB b)))", "(S (NN a) ('' ') (VP (VB b)))");
    assert_eq!((score.gold, score.test, score.matched), (3, 2, 2));
    // Without QUOTE_LABEL it is an error.
    assert_eq!(collins("(S (NN a) ('' '))", "(S (NN a) (POS '))").status, Status::Error);
}

#[test]
fn length_counts_punctuation_but_no_traces() {
    let tree = "(S (NP (-NONE- *)) (NN a) (, ,) (. .))";
    assert_eq!(collins(tree, tree).length, 3);
    assert_eq!(collins(tree, "").length, 3);
}

#[test]
fn crossing_is_counted_once_for_each_test_bracket() {
    let gold = "(S (A (X a) (X b)) (B (X c) (X d)))";
    assert_eq!(collins(gold, "(S (X a) (C (X b) (X c)) (X d))").crossing, 1);
    assert_eq!(collins(gold, "(S (C (C (X a) (X b) (X c))) (X d))").crossing, 2);
    assert_eq!(collins(gold, "(S (X a) (X b) (X c) (X d))").crossing, 0);
    // The gold trees cross the same way, but fewer brackets do.
    assert_eq!(collins("(S (X a) (C (X b) (X c)) (X d))", gold).crossing, 2);
}

#[test]
fn malformed_lines_are_errors_that_end() {
    let good = "(S (NN a))";
    for (bad, problem) in [
        ("(S (NN a)", "Bracketing is unbalanced (too many open bracket)"),
        ("(S (NN a)))", "Bracketing unbalance (too many close bracket)"),
        ("(S (NN a b))", "More than two elements in a bracket"),
        ("x (S (NN a))", "Reading sentence"),
        ("(S (NN a", "More than two elements in a bracket"),
    ] {
        for score in [collins(good, bad), collins(bad, good)] {
            assert_ne!(score.status, Status::Valid, "{bad}");
            assert!(score.problems.iter().any(|p| p == problem), "{bad}: {:?}", score.problems);
        }
    }
}

#[test]
fn a_sentence_may_be_several_trees_and_a_word_may_have_no_letters() {
    assert_eq!(brackets("(S (A a) (B b))", "(A a) (B b)"), (1, 0, 0));
    assert_eq!(collins("(NP )", "(NP )").words, 1);
}

#[test]
fn there_is_no_limit_on_length_or_depth() {
    let long = format!("(S {})", "(NN w) ".repeat(5000));
    assert_eq!(brackets(&long, &long), (1, 1, 1));
    let deep = format!("{}(NN w){}", "(A ".repeat(100_000), ")".repeat(100_000));
    assert_eq!(brackets(&deep, &deep), (100_000, 100_000, 100_000));
}

/// Matched and crossing brackets by EVALB's own nested loops, for comparison with the fast way.
fn by_nested_loops(gold: &Bracketing<'_>, test: &Bracketing<'_>, params: &Params) -> (u32, u32) {
    let kept = |side: &Bracketing<'_>| -> Vec<(i64, i64, String)> {
        let counted = side.brackets.iter().filter(|bracket| bracket.counts(params));
        // An unclosed bracket ends at -1 there.
        let end = |end: u32| if end == UNCLOSED { -1 } else { i64::from(end) };
        counted.map(|b| (i64::from(b.start), end(b.end), b.label.to_owned())).collect()
    };
    let (gold, test) = (kept(gold), kept(test));
    let (mut taken, mut matched, mut crossing) = (vec![false; test.len()], 0, 0);
    for (start, end, label) in &gold {
        let partner = (0..test.len()).find(|&t| {
            !taken[t]
                && (test[t].0, test[t].1) == (*start, *end)
                && params.labels_match(label, &test[t].2)
        });
        if let Some(t) = partner {
            taken[t] = true;
            matched += 1;
        }
    }
    for (start, end, _) in &test {
        let crossed = gold.iter().any(|(from, to, _)| {
            (from < start && to > start && to < end) || (from > start && from < end && to > end)
        });
        crossing += u32::from(crossed);
    }
    (matched, crossing)
}

proptest::proptest! {
    #[test]
    fn pairing_and_crossing_agree_with_nested_loops(
        gold in "(\\((A|B|C|T)|(\\(X w\\)){1,2}|\\)){0,40}",
        test in "(\\((A|B|C|T)|(\\(X w\\)){1,2}|\\)){0,40}",
        words in 1usize..12,
    ) {
        // The same number of words on both sides, so that most pairs are compared.
        let even = |line: &str| {
            let line = line.replacen("(X w)", "(X v)", words).replace("(X w)", "");
            let missing = words - line.matches("(X v)").count();
            format!("{line}{}", "(X v)".repeat(missing))
        };
        let params = Params::parse("DELETE_LABEL T\nEQ_LABEL A B\nEQ_LABEL B C", "p").unwrap();
        let (gold, test) = (even(&gold), even(&test));
        let mut gold = Bracketing::from_line(&gold, &params);
        let mut test = Bracketing::from_line(&test, &params);
        let (score, _) = score(&mut gold, &mut test, &params);
        proptest::prop_assert_eq!(score.words as usize, words);
        let expected = by_nested_loops(&gold, &test, &params);
        proptest::prop_assert_eq!((score.matched, score.crossing), expected);
    }
}

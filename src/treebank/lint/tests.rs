use super::*;

/// The findings in trees, one on each line: suspect, count, example, line and setting.
fn findings(text: &str, cleaning: &Cleaning) -> Vec<String> {
    let mut lint = Lint::new(cleaning);
    for (line, number) in text.lines().zip(1..) {
        lint.add(&line.parse().unwrap(), &Place::new("t", number, 0));
    }
    let shown = |finding: Finding| {
        let Finding { suspect, count, example, at, setting } = finding;
        format!("{suspect:?} {count} {example} {} {}", at.line, setting.unwrap_or_default())
    };
    lint.findings().into_iter().map(shown).collect()
}

#[test]
fn an_ordinary_treebank_gives_no_finding() {
    let text = "( (S-1 (NP-SBJ (-NONE- *T*-1) (NN self-made) (SYM *) (CD 0)) (VP (CD 12) (CD 13))) )\n\
                (S (TO TO) (. .) (SYM **) (CD <0.5>) (NP (NNP A) (NNP B) (NNP C)))\n";
    assert_eq!(findings(&text.repeat(30), &Cleaning::default()), [""; 0]);
}

#[test]
fn metadata_empty_elements_and_lemmas_are_found_with_the_settings_that_remove_them() {
    let text = "( (IP (CODE <P_1>) (NP *pro*) (CP;*X* (WNP 0) (C 0)) (VB fara-fara) (N sæ-sær)) (ID a.1))\n\
                ( (IP (NP *T*-1) (X {COM:a}) (VB sjá-sjá)) (ID a.2))\n";
    let found = findings(text, &Cleaning::default());
    assert_eq!(
        found,
        [
            "Identifiers 2 (ID a.1) 1 clean.drop=[\"CODE\", \"ID\"]",
            "Markup 2 (CODE <P_1>) 1 clean.drop=[\"CODE\", \"ID\"]",
            "Traces 4 (NP *pro*) 1 clean.traces=[\"-NONE-\", \"*...\", \"0\"]",
            "LabelMarks 1 (CP;*X*) 1 clean.separators=\"-=;\"",
        ]
    );
    let cleaning = Cleaning {
        drop: ["CODE", "ID", "X"].map(str::to_owned).to_vec(),
        traces: ["-NONE-", "*...", "0"].map(str::to_owned).to_vec(),
        separators: "-=;".to_owned(),
        ..Cleaning::default()
    };
    let lemmas = ["Lemmas 3 (VB fara-fara) 1 clean.lemma_separator=\"-\""];
    assert_eq!(findings(text, &cleaning), lemmas);
    let cleaning = Cleaning { lemma_separator: "-".to_owned(), ..cleaning };
    assert_eq!(findings(text, &cleaning), [""; 0]);
    let text = "(S (N a-b) (N dog) (N cat) (V see) (V go))";
    let needless = ["NoLemmas 1 (N a-b) 1 clean.lemma_separator=\"\""];
    assert_eq!(findings(text, &cleaning), needless);
    let text = "(S (N dog) (N cat) (V see) (V go) (ID a-b.1) (CODE (X c-d)))";
    assert_eq!(findings(text, &cleaning), [""; 0]);
}

#[test]
fn trees_on_which_rules_fail_are_counted() {
    let found = |rules: &str| {
        let rules = rules.to_owned().try_into().unwrap();
        let cleaning = Cleaning { rules, ..Cleaning::default() };
        findings("(S (N dog))\n(S (A (N dog)))\n(S (A (N cat)))\n", &cleaning)
    };
    let endless = found("A=a\n\nrelabel a A");
    assert!(endless[0].starts_with("FailedRules 2 rules:1: the pattern still"), "{endless:?}");
    let deleting = found("S=s < A\n\ndelete s");
    assert!(deleting[0].starts_with("FailedRules 2 rules:1: "), "{deleting:?}");
    assert_eq!(found("A=a\n\nrelabel a B"), [""; 0]);
}

#[test]
fn identifiers_are_found_under_any_tag() {
    let text: String = (0..20).map(|n| format!("(S (N dog) (REF doc.{n}))\n")).collect();
    let found = findings(&text, &Cleaning::default());
    assert_eq!(found, ["Identifiers 20 (REF doc.0) 1 clean.drop=[\"REF\"]"]);
}

#[test]
fn short_sentences_rare_labels_and_tags_like_words_are_found() {
    let text: String = (0..20).map(|n| format!("(L{n} (N dog))\n")).collect();
    let found = findings(&text, &Cleaning::default());
    assert_eq!(found, ["OneWord 20 (N dog) 1 ", "RareLabels 20 (L0) 1 "]);
    let found = findings("(S (dog dog) (barks barks))", &Cleaning::default());
    assert_eq!(found, ["TagsLikeWords 2 (dog dog) 1 "]);
    let text: String = (0..100).map(|n| format!("(S (N#{n} a) (N#{n} b))\n")).collect();
    let found = findings(&text, &Cleaning::default());
    assert_eq!(found, ["TagsLikeWords 100 (N#0 a) 1 clean.tag_separators=\"#\""]);
}

#[test]
fn a_large_tagset_in_few_trees_is_none_of_words() {
    let text = |pair: fn(&str, usize) -> String| -> String {
        let tree = |n| format!("(S {} {} {})\n", pair("a", n), pair("b", n), pair("c", n));
        (0..120).map(tree).collect()
    };
    let right = text(|word, n| format!("(T{n} {word}{n})"));
    assert_eq!(findings(&right, &Cleaning::default()), [""; 0]);
    let swapped = text(|word, n| format!("({word}{n} T{n})"));
    let found = findings(&swapped, &Cleaning::default());
    assert_eq!(found, ["TagsLikeWords 360 (a0 T0) 1 "]);
}

#[test]
fn labels_over_single_words_that_differ_between_files_are_found() {
    let find = |cleaning: &Cleaning| {
        let mut lint = Lint::new(cleaning);
        for (file, line, times) in [
            ("a", "(S (WHNP (WDT which)) (NP (DT this)) (VP (VB a)))", 40),
            ("b", "(S (NP-SBJ (WDT that)) (NP (DT this)) (VP (VB b)))", 10),
            ("c", "(S (NP (WDT who)) (NP (DT this)) (VP (VB c)))", 20),
        ] {
            for number in 1..=times {
                lint.add(&line.parse().unwrap(), &Place::new(file, number, 0));
            }
        }
        lint.findings()
    };
    let shown: Vec<String> = find(&Cleaning::default()).iter().map(Finding::to_string).collect();
    let expected = "labels over single words that differ between the files: 20, such as (NP (WDT who)), \
                    elsewhere WHNP, in c:1";
    assert_eq!(shown, [expected]);
    let setting = find(&Cleaning::default())[0].setting.clone();
    assert_eq!(setting.as_deref(), Some("clean.relabel=[\"NP(WDT) WHNP\"]"));
    let relabel = serde_json::from_str(r#"["NP(WDT) WHNP"]"#).unwrap();
    assert_eq!(find(&Cleaning { relabel, ..Cleaning::default() }), []);
}

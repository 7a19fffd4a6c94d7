//! What reads, what does not, and what the built-in files hold.

use super::*;

#[test]
fn errors_name_the_column_and_the_nearest_field() {
    let error = Templates::parse("s0.w\ns0.w  s1.lx", "my.feats").unwrap_err();
    let problem = "my.feats:2:7: unknown field `lx` in `s1.lx`: did you mean `lt`? the fields are ";
    assert!(error.to_string().starts_with(problem), "{error}");
}

#[test]
fn columns_are_the_distinct_addresses() {
    let templates =
        Templates::parse("s0.w s0.t # both\ns0.t\ndistance(s0,s1).bin s0.kids.n", "x").unwrap();
    let kinds: Vec<_> = templates.columns().into_iter().map(|c| (c.name, c.kind)).collect();
    assert_eq!(
        kinds,
        [
            ("s0.w".to_owned(), ColumnKind::Nominal),
            ("s0.t".to_owned(), ColumnKind::Nominal),
            ("distance(s0,s1).bin".to_owned(), ColumnKind::Nominal),
            ("s0.kids.n".to_owned(), ColumnKind::Set),
        ]
    );
    assert_eq!(templates.conjunctions(), [vec![0, 1], vec![1], vec![2, 3]]);
}

#[test]
fn functions_check_their_arguments() {
    let text = "comma(s1,s0)\nempty(buffer)\nopen(punctuation)\ns0.punct\ns0.rhythm.bin";
    let kinds: Vec<ColumnKind> =
        Templates::parse(text, "x").unwrap().columns().iter().map(|c| c.kind).collect();
    let number = ColumnKind::Number;
    assert_eq!(kinds, [number, number, number, number, ColumnKind::Nominal]);
    for (wrong, hint) in [
        ("comma(s0)", "`comma(s0)` needs two positions, such as comma(s0,s1)"),
        ("empty(queue)", "write empty(stack) or empty(buffer)"),
        ("open(quotes)", "write open(punctuation)"),
        ("commas(s0,s1)", "the functions are distance, comma, size, empty, open, pending, action"),
        ("s0.kids.punct", "a set cannot have numbers"),
    ] {
        let error = Templates::parse(wrong, "x").unwrap_err().to_string();
        assert!(error.contains(hint), "{error}");
    }
}

#[test]
fn templates_with_an_address_can_be_left_out() {
    let templates = Templates::parse("s0.w # word\ns0.w s1.t\ns1.t", "x").unwrap();
    let left = templates.without(&["s0.w".to_owned()]).unwrap();
    assert_eq!(left.text(), "s1.t\n");
    let error = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        templates.without(&names).unwrap_err().to_string()
    };
    assert!(error(&["s0.t"]).contains("did you mean `s"), "{}", error(&["s0.t"]));
    assert!(error(&["s0.w", "s1.t"]).contains("no template remains"));
    assert!(error(&["x0.w"]).contains("unknown position `x0`"));
}

#[test]
fn the_built_in_files_read() {
    for name in Templates::names() {
        assert!(Templates::named(name).is_some(), "{name}");
    }
}

#[test]
fn the_tables_features_are_columns_of_their_own() {
    let chinese = Templates::named("wang-2006").unwrap();
    // The groups of table 1 have 1, 1, 1, 3, 16, 4, 3, 2, 12, 4 and 4 addresses.
    assert_eq!(chinese.addresses().len(), 51);
    assert_eq!(chinese.conjunctions().len(), 51);
    let rhythm = ["s0.rhythm".to_owned(), "s1.rhythm".to_owned()];
    let english = Templates::named("wang-2006-english").unwrap();
    assert_eq!(chinese.without(&rhythm).unwrap().addresses(), english.addresses());
}

#[test]
fn templates_may_be_for_one_step_only() {
    let text = "s0.w\n@kind\ns1.w\n@action # the rest\ns0.t\n@both\ns1.t";
    let templates = Templates::parse(text, "x").unwrap();
    let of = |templates: &Templates, step| templates.of_step(step).collect::<Vec<_>>();
    assert_eq!(of(&templates, DecisionStep::Kind), [true, true, false, true]);
    assert_eq!(of(&templates, DecisionStep::Action), [true, false, true, true]);
    let fewer = templates.without(&["s0.w".to_owned()]).unwrap();
    assert_eq!(of(&fewer, DecisionStep::Action), [false, true, true]);
    let error = Templates::parse("s0.w\n@kinds", "my.feats").unwrap_err();
    let expected = "my.feats:2:1: unknown directive `@kinds`: write @kind, @action or @both";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn endless_paths_and_files_are_refused_and_the_largest_can_be_extracted() {
    let error = |text: &str| Templates::parse(text, "x").unwrap_err().to_string();
    let steps = |n: usize| format!("s0{}.w", ".r".repeat(n));
    assert_eq!(error(&steps(60_000)), "x:1:1: more than 8 steps from `s0`: remove some");
    let fields = ["w", "t", "c", "n", "lw", "lt", "rw", "rt", "len", "arity"];
    let path = |at: usize| ["l", "r"].map(|step| format!(".{step}"))[at % 2].clone();
    let address = |at: usize| {
        let steps: String = (0..8).map(|bit| path((at / 2) >> bit)).collect();
        format!("s{}{steps}.{}", at % 10, fields[at / 10 % 10])
    };
    let text = |n: usize| {
        (0..n)
            .map(|at| address(at % 250) + " " + &address(at / 250 + 1 + at % 250) + "\n")
            .collect()
    };
    let most: String = text(245);
    let templates = Templates::parse(&most, "x").unwrap();
    let columns = crate::feature::Extractor::new(&templates).n_columns();
    assert_eq!(columns, templates.addresses().len());
    let fields: String = (0..1_001)
        .map(|at| {
            format!("s{}.w b{}.w o{}.w c{}.w\n", at % 10, at / 10 % 10, at / 100 % 10, at / 1000)
        })
        .collect();
    assert_eq!(error(&fields), "x:1001:1: more than 1000 templates: remove some");
}

#[test]
fn templates_are_grouped_by_the_comments_above_them() {
    let text = "# A file.\n\n# One,\n# of two lines.\ns0.w # not a heading\n\ns1.w\n# Two.\n@kind\nb0.w\n\
                @both\n# One, of two lines\ns0.t\n";
    let templates = Templates::parse(text, "x").unwrap();
    assert_eq!(templates.groups(), [("One, of two lines", 3), ("Two", 1)]);
    assert_eq!(templates.group("ONE"), Ok("One, of two lines"));
    assert!(templates.group("o").is_ok() && templates.group("").is_err());
    let left = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        templates.without(&names).map(|left| left.text().to_owned()).map_err(|e| e.to_string())
    };
    assert_eq!(left(&["two"]).unwrap(), "s0.w\ns1.w\ns0.t\n");
    assert_eq!(
        left(&["One, of two lines", "b0.w"]).unwrap_err().split(':').nth(1),
        Some(" no template remains")
    );
    assert_eq!(left(&["s1.w", "Two"]).unwrap(), "s0.w\ns0.t\n");
    assert!(left(&["three words here"]).unwrap_err().contains("there are One, of two lines; Two"));
}

#[test]
fn a_tree_has_up_to_nine_levels_and_a_line_of_its_own() {
    let error = |text: &str| Templates::parse(text, "x").unwrap_err().to_string();
    assert_eq!(Templates::parse("tree(9)", "x").unwrap().columns()[0].kind, ColumnKind::Tree);
    for wrong in ["tree(0)", "tree(10)", "tree(x)"] {
        assert_eq!(error(wrong), format!("x:1:1: `{wrong}`: write tree(1) to tree(9)"));
    }
    assert!(error("s0.w tree(2)").contains("a line of its own"));
    assert!(error("tree(2).bin").contains("only numbers"));
}

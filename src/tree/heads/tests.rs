use proptest::prelude::*;

use super::*;
use crate::tree::{Child, TreeBuilder};

/// The head of a constituent written as `LABEL child child …`.
fn head<'a>(rules: &HeadRules, constituent: &'a str) -> &'a str {
    let mut words = constituent.split_whitespace();
    let label = words.next().unwrap();
    let children: Vec<&str> = words.collect();
    children[rules.head_of(label, &children)]
}

fn check(table: &str, cases: &[(&str, &str)]) {
    let rules = HeadRules::named(table).unwrap();
    for (constituent, expected) in cases {
        assert_eq!(head(&rules, constituent), *expected, "{table}: {constituent}");
    }
}

fn problem(text: &str) -> String {
    HeadRules::parse(text, "t.heads").unwrap_err().to_string()
}

#[test]
fn collins_heads_the_classic_english_cases() {
    check(
        "collins",
        &[
            ("NP DT NN POS", "POS"),
            ("NP NP POS NN NNS", "NNS"),
            ("NP NP PP SBAR", "NP"),
            ("NP $ CD", "$"),
            ("NP DT JJ", "JJ"),
            ("VP MD RB VP", "MD"),
            ("VP TO VP", "TO"),
            ("VP VBD NP PP", "VBD"),
            ("VP ADVP VBN PP", "VBN"),
            ("S PP , NP VP .", "VP"),
            ("S NP-SBJ-1 ADVP VP .", "VP"),
            ("SBAR WHNP-2 S", "WHNP-2"),
            ("SBAR IN S", "IN"),
            ("SBAR -NONE- S", "S"),
            ("SBARQ WHNP SQ .", "SQ"),
            ("SQ VBZ NP VP", "VBZ"),
            ("PP IN NP", "IN"),
            ("PP ADVP IN NP", "IN"),
            ("PRN -LRB- NP -RRB-", "NP"),
            ("QP IN $ CD CD", "$"),
            ("FRAG NP :", "NP"),
            ("ADJP RB JJ PP", "JJ"),
        ],
    );
}

#[test]
fn a_coordination_is_headed_by_the_conjunct_before_the_conjunction() {
    for table in ["collins", "collins-modified"] {
        let rules = HeadRules::named(table).unwrap();
        assert_eq!(rules.head_of("NP", &["NN", "CC", "NN"]), 0);
        assert_eq!(rules.head_of("NP", &["NN", ",", "NN", ",", "CC", "NN"]), 2);
        assert_eq!(rules.head_of("NP", &["CC", "NN"]), 1);
        assert_eq!(rules.head_of("NP", &[",", "CC", "NN"]), 2);
        assert_eq!(rules.head_of("VP", &["VP", "CC", "VP"]), 0);
        assert_eq!(rules.head_of("S", &["S", "CC", "S", "."]), 0);
        assert_eq!(rules.head_of("UCP", &["ADJP", "CONJP", "PP"]), 0);
    }
}

#[test]
fn collins_modified_differs_where_it_should() {
    check(
        "collins-modified",
        &[
            ("S IN S", "S"),
            ("ADVP RB IN", "IN"),
            ("PRN , S ,", "S"),
            ("X NP VP", "VP"),
            ("NP DT ADVP", "ADVP"),
            ("PP NP SYM NP", "SYM"),
            ("NML NN HYPH NN", "NN"),
            ("CIT -LRB- NNP CC NNP CD -RRB-", "NNP"),
            ("CAPTION NP S", "S"),
            (" TOP NP S", "S"),
        ],
    );
}

#[test]
fn the_chinese_tables_head_ip_vp_np_and_the_de_phrases() {
    let common = [
        ("IP NP-SBJ PU VP PU", "VP"),
        ("IP VP PU VP", "VP"),
        ("VP ADVP VP", "VP"),
        ("NP NN NN", "NN"),
        ("NP DNP NP", "NP"),
        ("NP NR NN", "NN"),
        ("QP CD CLP", "CLP"),
        ("PP P NP", "P"),
        ("LCP NP LC", "LC"),
        ("DVP VP DEV", "DEV"),
        ("DNP NP DEG", "DEG"),
        ("VCD VV VV", "VV"),
    ];
    for table in ["bikel-chinese", "sun-jurafsky-chinese"] {
        check(table, &common);
    }
    check("bikel-chinese", &[("CP IP DEC", "DEC"), ("DP DT CLP", "DT"), ("VP BA IP", "BA")]);
    check("sun-jurafsky-chinese", &[("CP IP DEC", "IP"), ("PRN PU NP PU", "PU")]);
}

#[test]
fn sinica_heads_nouns_verbs_prepositions_and_de() {
    check(
        "sinica",
        &[
            ("TOP S COMMA", "S"),
            ("S NP Dd VC2 NP VP", "VC2"),
            ("S NP VP", "VP"),
            ("NP VP‧的 DM Nab", "Nab"),
            ("NP Nhaa VP‧的", "Nhaa"),
            ("NP Neqa", "Neqa"),
            ("VP‧的 VP DE", "DE"),
            ("V‧地 VH11 DE", "DE"),
            ("得‧VP DE VP", "DE"),
            ("PP P21 GP", "P21"),
            ("GP NP Ng", "Ng"),
            ("N Nba Caa Nhaa", "Nba"),
            ("Nab Nab Caa Nab", "Nab"),
        ],
    );
    let rules = HeadRules::named("sinica").unwrap();
    assert_eq!(rules.head_of("VP", &["Caa[P1]", "VH11", "Caa[P2]", "VH11"]), 1);
}

#[test]
fn left_and_right_pass_over_punctuation_and_cover_every_label() {
    check("left", &[("S `` NP VP .", "NP"), ("PRN -LRB- NP -RRB-", "NP"), ("S . :", ".")]);
    check("right", &[("S NP VP .", "VP"), ("S . :", ":")]);
    for table in ["left", "right"] {
        let rules = HeadRules::named(table).unwrap();
        assert!(rules.covers("NP") && rules.covers("") && rules.covers("-X-"));
    }
}

#[test]
fn priorities_directions_and_patterns_work_as_documented() {
    let rules = HeadRules::parse(
        "@punctuation ,\nA left X Y\nB right X Y\nC leftdis X Y\nD rightdis X Y\n\
         E left Q\nE right\nF left V*\nG left * ,\nH left *b a*\nV* right\nVP left\n",
        "t",
    )
    .unwrap();
    let head = |label, children: &[&str]| rules.head_of(label, children);
    assert_eq!(head("A", &["Y", "X", "X"]), 1);
    assert_eq!(head("B", &["X", "X", "Y"]), 1);
    assert_eq!(head("C", &["Z", "Y", "X"]), 1);
    assert_eq!(head("D", &["X", "Y", "Z"]), 1);
    assert_eq!(head("E", &["X", "Y", ","]), 1);
    assert_eq!(head("F", &["N", "VP", "V"]), 1);
    assert_eq!(head("G", &[",", "X"]), 1);
    assert_eq!(head("H", &["ac", "cb"]), 1);
    assert_eq!(head("VX", &["X", "Y"]), 1);
    assert_eq!(head("VP", &["X", "Y"]), 0);
    assert_eq!(head("unknown", &[",", "Y", "X"]), 1);
    assert_eq!(head("A", &[]), 0);
}

#[test]
fn labels_are_compared_without_function_tags() {
    let pairs = [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("=", "="),
        ("", ""),
        ("NP‧的", "NP‧的"),
        ("的-x", "的"),
    ];
    for (label, expected) in pairs {
        assert_eq!(basic(label), expected);
    }
}

#[test]
fn apply_marks_heads_and_collects_labels_without_a_rule() {
    let mut builder = TreeBuilder::new();
    builder.open("");
    for label in ["NML-X", "NML", "CIT"] {
        builder.open(label);
        builder.token(",", ",");
        builder.token("a", "NN");
        builder.close();
    }
    builder.open("ODD");
    builder.token("a", "NN");
    builder.close();
    builder.open("EMPTY");
    builder.close();
    builder.close();
    let mut tree = builder.finish();
    let uncovered = HeadRules::named("collins").unwrap().apply(&mut tree);
    let heads: Vec<_> = tree.nodes().iter().map(|n| n.head).collect();
    assert_eq!(heads, [Some(1), Some(1), Some(1), Some(0), None, Some(0)]);
    assert_eq!(uncovered.to_string(), "TOP (1 node), CIT (1 node), NML (2 nodes)");
    let mut twice = uncovered.clone();
    twice.merge(&uncovered);
    assert_eq!(twice.iter().last(), Some(("NML", 4)));
}

#[test]
fn a_very_deep_tree_is_no_problem() {
    let mut builder = TreeBuilder::new();
    for _ in 0..100_000 {
        builder.open("S");
    }
    builder.token("deep", "NN");
    for _ in 0..100_000 {
        builder.close();
    }
    let mut tree = builder.finish();
    assert!(HeadRules::named("collins").unwrap().apply(&mut tree).is_empty());
    assert!(tree.nodes().iter().all(|n| n.head == Some(0)));
}

#[test]
fn every_table_reads_and_its_text_gives_the_same_table_again() {
    for name in HeadRules::names() {
        let rules = HeadRules::named(name).unwrap();
        assert_eq!(rules.name(), name);
        let again = HeadRules::parse(rules.text(), name).unwrap();
        assert_eq!(format!("{again:?}"), format!("{rules:?}"));
    }
    let error = HeadRules::named("colins").unwrap_err().to_string();
    assert!(error.contains("did you mean `collins`?"), "{error}");
}

#[test]
fn load_takes_a_name_or_a_file() {
    assert_eq!(HeadRules::load("sinica").unwrap().name(), "sinica");
    let mut file = tempfile::NamedTempFile::with_suffix(".heads").unwrap();
    std::io::Write::write_all(&mut file, b"* right\n").unwrap();
    let rules = HeadRules::load(file.path().to_str().unwrap()).unwrap();
    assert_eq!(rules.head_of("NP", &["A", "B"]), 1);
    assert!(matches!(HeadRules::load("sinika"), Err(Error::Config { .. })));
    assert!(matches!(HeadRules::load("none.heads"), Err(Error::Io { .. })));
}

#[test]
fn messages_say_where_and_what_to_do() {
    let cases = [
        ("NP", "t.heads:1:1: `NP` needs a direction after it: left, right, leftdis, rightdis"),
        ("\nNP rigth NN", "t.heads:2:4: `rigth` is not a direction: did you mean `right`? "),
        ("NP NN", "t.heads:1:4: `NN` is not a direction: there are left"),
        ("@punct ,", "t.heads:1:1: `@punct` is not a setting"),
        ("@default", "t.heads:1:1: `@default` needs `left` or `right` after it"),
        ("@default middle", "t.heads:1:10: `middle` is not a default: there are left, right"),
        ("@default left NN", "t.heads:1:15: `NN` is one word too many; remove it"),
        ("@default left\n@default left", "t.heads:2:1: `@default` was given on line 1 already"),
        ("NP left NN NN", "t.heads:1:12: `NN` is listed twice; remove one"),
        ("NP left\n NP right NN", "t.heads:2:2: this line is never reached"),
        ("NP left NP-SBJ", "t.heads:1:9: `NP-SBJ` cannot occur"),
        ("NP left *N*", "t.heads:1:9: `*N*` has more than one `*`"),
        ("NP||NX left", "t.heads:1:4: a label is missing next to the `|`"),
        ("NP|NP left", "t.heads:1:4: `NP` occurs twice in this line"),
        ("# nothing\n", "t.heads:2: there are no rules"),
    ];
    for (text, expected) in cases {
        let problem = problem(text);
        assert!(problem.starts_with(expected), "{text:?} gave {problem:?}");
    }
}

#[test]
fn endless_tables_are_refused_or_harmless() {
    let names = |n: usize| (0..n).map(|at| format!(" C{at}")).collect::<String>();
    let rules = HeadRules::parse(&format!("NP right{}\n", names(100_000)), "t").unwrap();
    assert_eq!(rules.head_of("NP", &["C99999", "C7", "X"]), 1);
    assert_eq!(
        problem(&format!("NP left{}\n", names(100_000).replace('C', "*C"))),
        "t.heads:1:5899: more than 1000 names with a `*`: remove some"
    );
    assert!(
        problem(&"NP left X\n".repeat(10_001)).ends_with("more than 10000 clauses: remove some")
    );
}

#[test]
fn a_byte_order_mark_and_carriage_returns_are_ignored() {
    let rules = HeadRules::parse("\u{feff}# x\r\nNP right NN\r\n", "t").unwrap();
    assert_eq!(rules.head_of("NP", &["NN", "PP"]), 0);
}

/// A random tree: each step opens a node, adds a token or closes a node.
fn any_tree() -> impl Strategy<Value = Tree> {
    let label = prop_oneof!["[A-Z]{0,3}(-[A-Z0-9]{1,3})?", "NP|VP|S|-LRB-|,|CC|=|TOP", ".{0,4}"];
    let step = (0..3u8, label);
    prop::collection::vec(step, 0..60).prop_map(|steps| {
        let mut builder = TreeBuilder::new();
        for (step, label) in steps {
            match step {
                0 => builder.open(label),
                1 => builder.token("w", label),
                _ if builder.depth() > 0 => builder.close(),
                _ => {}
            }
        }
        while builder.depth() > 0 {
            builder.close();
        }
        builder.finish()
    })
}

proptest! {
    #[test]
    fn every_node_with_children_gets_a_head_in_range(tree in any_tree(), table in any::<proptest::sample::Index>()) {
        let names: Vec<&str> = HeadRules::names().collect();
        let rules = HeadRules::named(names[table.index(names.len())]).unwrap();
        let mut tree = tree;
        rules.apply(&mut tree);
        for id in tree.ids() {
            let children = tree.children(id);
            match tree.node(id).head {
                Some(head) => prop_assert!((head as usize) < children.len()),
                None => prop_assert!(children.is_empty()),
            }
            let labels: Vec<&str> =
                children.iter().map(|&c: &Child| tree.child_label(c).as_str()).collect();
            let head = rules.head_of(&tree.node(id).label, &labels);
            prop_assert_eq!(head, tree.node(id).head.unwrap_or(0) as usize);
        }
    }

    #[test]
    fn no_text_like_a_table_makes_the_reader_panic(text in "([A-Z*|@=-]{0,4}|left|right|rightdis|@default|@punctuation|#| |\n|的|\u{feff}){0,40}") {
        if let Ok(rules) = HeadRules::parse(&text, "t") {
            rules.head_of("NP", &["A", ",", "B"]);
        }
    }
}

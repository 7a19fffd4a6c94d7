//! Patterns on small trees, and random patterns against a naive search.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::tree::{TreeBuilder, Visit};

fn tree(text: &str) -> Tree {
    text.parse().unwrap()
}

/// The labels of the nodes that are found, with the labels of named nodes.
fn found(pattern: &str, text: &str) -> Vec<String> {
    let (pattern, tree) = (Pattern::parse(pattern).unwrap(), tree(text));
    let found = Searcher::new(&pattern).find(&tree).unwrap();
    let line = |one: &Found| {
        let mut line = one.position.label(&tree).to_owned();
        for (name, position) in &one.nodes {
            let (start, end) = position.span(&tree);
            write!(line, " {name}={}[{start},{end}]", position.label(&tree)).unwrap();
        }
        line
    };
    found.iter().map(line).collect()
}

const SENTENCE: &str = "(S (NP-SBJ (NP (DT the) (NN dog)) (PP (IN of) (NP (NN town)))) (VP (VBZ is) (VP (VBN seen) \
                        (PP (IN by) (NP (PRP$ his) (NN cat))))) (. .))";

#[test]
fn every_way_is_a_match() {
    assert_eq!(found("NP < DT|NN", SENTENCE), ["NP", "NP", "NP", "NP"]);
    assert_eq!(found("NP-SBJ << NN=n", SENTENCE), ["NP-SBJ n=NN[1,2]", "NP-SBJ n=NN[3,4]"]);
    assert_eq!(found("VP ?< NP=a ?<< NN=b", SENTENCE), ["VP b=NN[8,9]", "VP b=NN[8,9]"]);
}

#[test]
fn named_nodes_can_be_named_again_by_alternatives_and_compared() {
    assert_eq!(found("VP [< VBZ=v | < VBN=v] < =v", SENTENCE), ["VP v=VBZ[4,5]", "VP v=VBN[5,6]"]);
    assert_eq!(found("NP=a .. ~a", SENTENCE).len(), 3);
    assert_eq!(found("PP=a : (NP > =a << cat)", SENTENCE), ["PP a=PP[6,9]"]);
    assert_eq!(found("/^(.)P$/#1%x << (/^(.)P$/#1%x)", SENTENCE), ["VP"]);
    assert_eq!(found("/\"/ > X", "(S (X \") (X x))"), ["\""]);
}

#[test]
fn a_search_that_is_given_up_finds_nothing_false() {
    let tree = tree("(S (YY y) (A a) (A a) (A a) (A a))");
    let text = "S=a ![<< (__ .. (__ .. (ZZ > =a))) | < YY]";
    let pattern = Pattern::parse(text).unwrap();
    let mut given_up = 0;
    for steps in 1..1000 {
        let mut searcher = Searcher::new(&pattern).within(steps);
        let ended = searcher.for_each(&tree, |_| -> ControlFlow<()> { panic!("{steps} steps") });
        given_up += usize::from(ended.is_err());
    }
    assert!((10..990).contains(&given_up), "{given_up}");
}

#[test]
fn words_without_text_below_them_and_deep_trees_are_searched() {
    let mut builder = TreeBuilder::new();
    for _ in 0..100_000 {
        builder.open("X");
    }
    builder.token("w", "T");
    for _ in 0..100_000 {
        builder.close();
    }
    let deep = builder.finish();
    for (pattern, count) in
        [("X <: T", 1), ("T >>: (X !> __)", 1), ("X <: (X <: X)", 99_998), ("w > T >> X", 100_000)]
    {
        let pattern = Pattern::parse(pattern).unwrap();
        assert_eq!(Searcher::new(&pattern).count(&deep).unwrap(), count);
    }
    assert_eq!(found("E !< __", "(A (B b) (E ))"), ["E"]);
    let pattern = Pattern::parse("__").unwrap();
    assert_eq!(Searcher::new(&pattern).count(&Tree::default()).unwrap(), 0);
}

#[test]
fn what_cannot_be_a_match_is_found_out_in_time() {
    // Without memory this would take longer than the universe is old.
    let mut text = "__ << __".to_owned();
    for _ in 0..40 {
        text = format!("__ << ({text})");
    }
    let text = format!("__ << ({text} << Z)");
    let pattern = Pattern::parse(&text).unwrap();
    let mut wide = "(X (Y y))".to_owned();
    for _ in 0..60 {
        wide = format!("(X (Z z) {wide})");
    }
    assert!(Searcher::new(&pattern).once(true).count(&tree(&wide)).unwrap() > 0);
    assert!(Searcher::new(&pattern).count(&tree(&wide)).unwrap() > 0);
    // Nor are all combinations tried in groups.
    let many = format!("(S {})", "(NP n) ".repeat(200));
    for pattern in [
        "S ![<< NP << NP << NP << NP << NP << Z]",
        "S [<< NP << NP << NP << NP << NP << Z | < NP]",
        "S [<< NP << NP << NP << NP << NP ![<< NP << NP << NP << Z] << Z | < NP]",
    ] {
        let pattern = Pattern::parse(pattern).unwrap();
        assert!(!Searcher::new(&pattern).find(&tree(&many)).unwrap().is_empty());
    }
}

#[test]
fn errors_have_the_column_and_advice() {
    let cases = [
        ("", "1: expected a label"),
        ("NP < DT VP", "9: expected a relation"),
        ("NP < (DT", "9: expected a relation or `)`"),
        ("NP < DT)", "8: this `)` closes nothing"),
        ("NP < PRP$", "10: expected a label"),
        (
            "\"NP\"",
            "1: labels and words stand without quotation marks, such as NP; the character itself is /\"/",
        ),
        ("NP < \"it\"", "6: labels and words stand without quotation marks"),
        ("NP\"", "3: expected a relation"),
        ("S < NP|/^V/", "8: an expression cannot be one of several labels"),
        (
            "S < (NP | VP)",
            "9: expected a relation or `)`; alternatives of one label are written NP|VP",
        ),
        ("NP !< DT=a", "7: a node below `!` is never found"),
        ("NP < =a", "7: no node before this place is named `a`"),
        ("NP [< DT=a | < =a]", "17: no node before this place is named `a`"),
        ("NP=a < NP=a", "8: `a` names a node already"),
        ("NP !!< DT", "5: `!` and `?` stand alone"),
        ("NP !DT", "4: expected a relation after `!`"),
        ("NP < /N(/", "6: this is no expression"),
        ("NP < /N", "6: this expression has no end"),
        ("/np/i", "5: expected the end of the description"),
        ("/n(p)/#2%x", "8: the expression has only 1 groups"),
        ("NP <0 DT", "5: children are counted from 1"),
        ("é <+ NP", "6: expected a description in brackets"),
        ("NP & < DT", "4: expected a relation before `&`"),
        ("NP <... DT", "9: expected the children"),
        ("NP\n  < ", "5: expected a label"),
    ];
    for (text, expected) in cases {
        let error = Pattern::parse(text).unwrap_err().to_string();
        let (_, message) =
            error.split_once(':').and_then(|(_, rest)| rest.split_once(':')).unwrap();
        assert!(message.starts_with(expected), "{text}: {message}");
    }
    for deep in ["(".repeat(10_000), format!("NP {}", "[".repeat(10_000)), "NP < (".repeat(10_000)]
    {
        let error = Pattern::parse(&deep).unwrap_err().to_string();
        assert!(error.contains("more than 200 deep"), "{error}");
    }
    let wide = format!("NP {}", "< DT ".repeat(10_000));
    assert!(Pattern::parse(&wide).unwrap_err().to_string().contains("at most 500 nodes"));
    let wide = format!("NP {}", "<< DT ".repeat(499));
    let pattern = Pattern::parse(&wide).unwrap();
    assert_eq!(Searcher::new(&pattern).find(&tree("(NP (DT a))")).unwrap().len(), 1);
}

#[test]
fn another_pattern_after_a_relation_is_warned_of() {
    let pattern = Pattern::parse("S < /^V/|NP").unwrap();
    assert!(
        pattern.warnings()[0].starts_with("pattern:1:9: what follows `|`"),
        "{:?}",
        pattern.warnings()
    );
    assert!(Pattern::parse("NP | VP").unwrap().warnings().is_empty());
}

/// A tree as a naive search sees it.
struct Naive {
    labels: Vec<String>,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// The first leaf, and one past the last.
    leaves: Vec<(usize, usize)>,
}

impl Naive {
    fn of(tree: &Tree) -> Self {
        let mut naive = Self {
            labels: Vec::new(),
            parents: Vec::new(),
            children: Vec::new(),
            leaves: Vec::new(),
        };
        let mut open = Vec::new();
        for visit in tree.traverse() {
            match visit {
                Visit::Open(id) => open.push(naive.add(&tree.node(id).label, open.last().copied())),
                Visit::Token(at) => {
                    let token = &tree.tokens()[at as usize];
                    let tag = naive.add(&token.tag, open.last().copied());
                    naive.add(&token.word, Some(tag));
                }
                Visit::Close(_) => {
                    open.pop();
                }
            }
        }
        let mut leaf = 0;
        naive.leaves = vec![(0, 0); naive.labels.len()];
        for node in 0..naive.labels.len() {
            naive.leaves[node].0 = leaf;
            leaf += usize::from(naive.children[node].is_empty());
        }
        for node in (0..naive.labels.len()).rev() {
            let (first, last) = (naive.leaves[node].0, naive.children[node].last());
            naive.leaves[node].1 = last.map_or(first + 1, |&last| naive.leaves[last].1);
        }
        naive
    }

    fn add(&mut self, label: &str, parent: Option<usize>) -> usize {
        let id = self.labels.len();
        self.labels.push(label.to_owned());
        self.parents.push(parent);
        self.children.push(Vec::new());
        if let Some(parent) = parent {
            self.children[parent].push(id);
        }
        id
    }

    fn is_child(&self, parent: usize, child: usize) -> bool {
        self.parents[child] == Some(parent)
    }

    /// Whether `below` is below `above`, through nodes for which `passes` holds.
    fn is_below(&self, above: usize, below: usize, passes: &dyn Fn(usize, usize) -> bool) -> bool {
        let Some(parent) = self.parents[below] else { return false };
        parent == above || passes(parent, below) && self.is_below(above, parent, passes)
    }

    fn place(&self, node: usize) -> Option<(usize, usize)> {
        let sisters = &self.children[self.parents[node]?];
        let place = sisters.iter().position(|&sister| sister == node)?;
        Some((place, sisters.len() - 1 - place))
    }

    /// Whether a chain of adjacent nodes with a label leads from one node to the other, which is on its right.
    fn is_chained(&self, from: usize, to: usize, label: &str) -> bool {
        let (begin, end) = (self.leaves[from].1, self.leaves[to].0);
        let mut reached = vec![false; self.labels.len() + 2];
        reached[begin] = true;
        for leaf in begin..end {
            for node in 0..self.labels.len() {
                if reached[leaf] && self.leaves[node].0 == leaf && self.labels[node] == label {
                    reached[self.leaves[node].1] = true;
                }
            }
        }
        begin <= end && reached[end]
    }

    fn related(&self, relation: &str, a: usize, b: usize) -> bool {
        let any = |_: usize, _: usize| true;
        let sisters = self.parents[a].is_some() && self.parents[a] == self.parents[b] && a != b;
        let places = self.place(a).zip(self.place(b)).filter(|_| sisters);
        let right = places.map(|((a, _), (b, _))| b as isize - a as isize);
        match relation {
            "==" => a == b,
            "<=" => a == b || self.is_child(a, b),
            "<" => self.is_child(a, b),
            "<<" => self.is_below(a, b, &any),
            "<," => self.is_child(a, b) && self.place(b).unwrap().0 == 0,
            "<-" => self.is_child(a, b) && self.place(b).unwrap().1 == 0,
            "<2" => self.is_child(a, b) && self.place(b).unwrap().0 == 1,
            "<-2" => self.is_child(a, b) && self.place(b).unwrap().1 == 1,
            "<:" => self.is_child(a, b) && self.children[a].len() == 1,
            "<<:" => {
                self.children[a].len() == 1
                    && self.is_below(a, b, &|node, _| self.children[node].len() == 1)
            }
            "<<," => self.is_below(a, b, &any) && self.leftmost(a, b),
            "<<-" => self.is_below(a, b, &any) && self.rightmost(a, b),
            "$" => sisters,
            "$+" => right == Some(1),
            "$-" => right == Some(-1),
            "$++" => right.is_some_and(|right| right > 0),
            "$--" => right.is_some_and(|right| right < 0),
            ".." => self.leaves[a].1 <= self.leaves[b].0,
            "." => self.leaves[a].1 == self.leaves[b].0,
            "<+(A)" => self.is_below(a, b, &|node, _| self.labels[node] == "A"),
            ".+(A)" => self.is_chained(a, b, "A"),
            ",+(A)" => self.is_chained(b, a, "A"),
            ",," => self.related("..", b, a),
            "," => self.related(".", b, a),
            upward => self.related(&upward.replace('>', "<"), b, a),
        }
    }

    fn leftmost(&self, a: usize, b: usize) -> bool {
        let is_first = |node: usize| self.place(node).is_some_and(|(place, _)| place == 0);
        is_first(b) && self.is_below(a, b, &|node, _| is_first(node))
    }

    fn rightmost(&self, a: usize, b: usize) -> bool {
        let is_last = |node: usize| self.place(node).is_some_and(|(_, place)| place == 0);
        is_last(b) && self.is_below(a, b, &|node, _| is_last(node))
    }

    fn ways(&self, pattern: &Described, at: usize) -> u64 {
        let is_label = match pattern.label {
            "__" => true,
            label => label.split('|').any(|label| label == self.labels[at]),
        };
        if is_label { self.ways_of_all(&pattern.goals, at) } else { 0 }
    }

    fn ways_of_all(&self, goals: &[Wanted], at: usize) -> u64 {
        goals.iter().map(|goal| self.ways_of(goal, at)).product()
    }

    fn ways_of(&self, goal: &Wanted, at: usize) -> u64 {
        let ways = match &goal.what {
            What::Related(relation, pattern) => (0..self.labels.len())
                .filter(|&other| self.related(relation, at, other))
                .map(|other| self.ways(pattern, other))
                .sum(),
            What::Any(alternatives) => {
                alternatives.iter().map(|goals| self.ways_of_all(goals, at)).sum::<u64>()
            }
        };
        match goal.mark {
            "!" => u64::from(ways == 0),
            "?" => 1,
            _ => ways,
        }
    }
}

/// A random pattern.
#[derive(Debug, Clone)]
struct Described {
    label: &'static str,
    goals: Vec<Wanted>,
}

#[derive(Debug, Clone)]
struct Wanted {
    mark: &'static str,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Related(&'static str, Described),
    Any(Vec<Vec<Wanted>>),
}

impl Described {
    fn write(&self, out: &mut String) {
        out.push_str(self.label);
        write_all(&self.goals, out);
    }
}

fn write_all(goals: &[Wanted], out: &mut String) {
    for goal in goals {
        write!(out, " {}", goal.mark).unwrap();
        match &goal.what {
            What::Related(relation, target) => {
                write!(out, "{relation} (").unwrap();
                target.write(out);
                out.push(')');
            }
            What::Any(alternatives) => {
                out.push('[');
                for (at, goals) in alternatives.iter().enumerate() {
                    out.push_str(if at > 0 { " | " } else { "" });
                    write_all(goals, out);
                }
                out.push(']');
            }
        }
    }
}

const RELATIONS: [&str; 41] = [
    "==", "<=", "<", "<<", "<,", "<-", "<2", "<-2", "<:", "<<:", "<<,", "<<-", "$", "$+", "$-",
    "$++", "$--", "..", ".", ",,", ",", ">", ">>", ">,", ">-", ">2", ">-2", ">:", ">>:", ">>,",
    ">>-", "<+(A)", ">+(A)", ".+(A)", ",+(A)", "<", "<<", ">", ">>", "$", "<",
];

fn goals(depth: u32) -> BoxedStrategy<Vec<Wanted>> {
    if depth == 0 {
        return Just(Vec::new()).boxed();
    }
    let related = (prop::sample::select(RELATIONS.to_vec()), described(depth - 1))
        .prop_map(|(relation, target)| What::Related(relation, target));
    let any = prop::collection::vec(
        goals(depth - 1).prop_filter("not empty", |goals| !goals.is_empty()),
        1..3,
    )
    .prop_map(What::Any);
    let what =
        if depth == 1 { related.boxed() } else { prop_oneof![4 => related, 1 => any].boxed() };
    let mark = prop::sample::select(vec!["", "", "", "!", "?"]);
    let goal = (mark, what).prop_map(|(mark, what)| Wanted { mark, what });
    prop::collection::vec(goal, 0..3).boxed()
}

fn described(depth: u32) -> BoxedStrategy<Described> {
    let label = prop::sample::select(vec!["A", "B", "C", "A|B", "__", "__", "w"]);
    (label, goals(depth)).prop_map(|(label, goals)| Described { label, goals }).boxed()
}

/// A small tree: each step opens a node, adds a token or closes a node.
fn small_tree() -> impl Strategy<Value = Tree> {
    prop::collection::vec((0..5_u8, prop::sample::select(vec!["A", "B", "C"])), 1..24).prop_map(
        |steps| {
            let mut builder = TreeBuilder::new();
            builder.open("A");
            for (step, label) in steps {
                match step {
                    0 | 1 => builder.open(label),
                    2 | 3 => builder.token("w", label),
                    _ if builder.depth() > 1 => builder.close(),
                    _ => {}
                }
            }
            while builder.depth() > 0 {
                builder.close();
            }
            builder.finish()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn matches_are_those_of_a_naive_search(tree in small_tree(), pattern in described(3)) {
        let mut text = String::new();
        pattern.write(&mut text);
        let compiled = Pattern::parse(&text).unwrap();
        let naive = Naive::of(&tree);
        let ways: Vec<u64> = (0..naive.labels.len()).map(|at| naive.ways(&pattern, at)).collect();
        let expected: u64 = ways.iter().sum();
        let mut searcher = Searcher::new(&compiled);
        prop_assert_eq!(searcher.count(&tree).unwrap(), expected, "{} in {}", text, tree);
        let nodes = ways.iter().filter(|&&ways| ways > 0).count() as u64;
        prop_assert_eq!(Searcher::new(&compiled).once(true).count(&tree).unwrap(), nodes, "{} in {}", text, tree);
        if expected < 5000 {
            prop_assert_eq!(searcher.find(&tree).unwrap().len() as u64, expected, "{} in {}", text, tree);
            // A variable that captures nothing keeps patterns from being closed.
            let open = format!("{text} : (/()/#1%x !> __)");
            let open = Pattern::parse(&open).unwrap();
            prop_assert_eq!(Searcher::new(&open).count(&tree).unwrap(), expected, "{} in {}", text, tree);
        }
    }
}

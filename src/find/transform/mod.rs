//! Rules that change trees, in the language of Tsurgeon (Levy and Andrew, 2006, "Tregex and Tsurgeon", LREC).
//!
//! A file has patterns, each followed by a blank line, one or more operations on lines of their own, and a blank line. What
//! follows `%` at the beginning of a line is a comment:
//!
//! ```text
//! % Tags of auxiliaries.
//! VP < (/^VB/=tag < be|am|is|are|was|were|been|being)
//!
//! relabel tag AUX
//! ```
//!
//! Rules are applied one after the other, each again and again until its pattern matches no more. An operation with a node
//! that an optional relation has not found does nothing.

mod edit;
mod operation;

use crate::error::{Error, Result};
use crate::tree::Tree;
use crate::tree::heads::HeadRules;

use super::{Pattern, Searcher};
use edit::EditedTree;
use operation::Operation;
use std::ops::ControlFlow::Break;

/// The most changes by one rule for each node and token of a tree.
const STEPS_PER_NODE: usize = 20;
/// The most changes by one rule, whatever the tree.
const MAX_STEPS: usize = 100_000;
/// The factor by which rules may enlarge a tree, in nodes and bytes of labels and words.
const GROWTH_FACTOR: usize = 20;
/// How much a tree may grow besides, so that small trees have room.
const GROWTH_ALLOWANCE: usize = 1_000_000;

/// A list of rules.
#[derive(Debug, Clone)]
pub struct Rules {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    pattern: Pattern,
    operations: Vec<Operation>,
    /// The file and the line of the pattern, for messages.
    at: String,
}

impl Rules {
    /// Reads rules; messages call the text `name`.
    ///
    /// ```
    /// use srparse::find::transform::Rules;
    /// let rules = Rules::parse("NP < PRP=p\n\nrelabel p PRON\n", "my.tsurgeon")?;
    /// let tree = "(S (NP (PRP it)) (VP (VBZ rains)))".parse()?;
    /// assert_eq!(rules.changer().change(tree)?.to_string(), "(S (NP (PRON it)) (VP (VBZ rains)))");
    /// # Ok::<(), srparse::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a pattern or an operation is malformed, or an operation names an unknown node.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let mut rules = Vec::new();
        let mut pattern: Option<(Pattern, String)> = None;
        for block in blocks(text) {
            let Some((pattern, at)) = pattern.take() else {
                let compiled = Pattern::parse_at(&block.text, name, block.line)?;
                pattern = Some((compiled, format!("{name}:{}", block.line)));
                continue;
            };
            let mut names: Vec<String> = pattern.names().map(str::to_owned).collect();
            let mut operations = Vec::new();
            for (line, text) in (block.line..).zip(block.text.lines()) {
                if !text.trim().is_empty() {
                    operations.push(operation::parse(text, name, line, &mut names)?);
                }
            }
            rules.push(Rule { pattern, operations, at });
        }
        match pattern {
            None => Ok(Self { rules }),
            Some((_, at)) => Err(Error::config(
                at,
                "this pattern has no operations: write them after a blank line, such as `delete name`",
            )),
        }
    }

    /// Applies the rules to trees one after the other; each thread needs its own.
    pub fn changer(&self) -> Changer<'_> {
        let searchers = self.rules.iter().map(|rule| (rule, Searcher::new(&rule.pattern)));
        Changer { searchers: searchers.collect() }
    }
}

/// Lines between blank lines.
struct Block {
    line: u64,
    text: String,
}

/// The blocks of a text, with empty lines in place of comments.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_inside = false;
    for (line, text) in (1..).zip(text.lines()) {
        let is_comment = text.trim_start().starts_with('%');
        match blocks.last_mut() {
            Some(block) if is_inside && (is_comment || !text.trim().is_empty()) => {
                block.text.push_str(if is_comment { "" } else { text });
                block.text.push('\n');
            }
            _ if is_comment => {}
            _ => {
                is_inside = !text.trim().is_empty();
                if is_inside {
                    blocks.push(Block { line, text: format!("{text}\n") });
                }
            }
        }
    }
    blocks
}

/// Applies rules to trees.
#[derive(Debug)]
pub struct Changer<'r> {
    searchers: Vec<(&'r Rule, Searcher<'r>)>,
}

impl Changer<'_> {
    /// The changer with other head rules for its patterns.
    #[must_use]
    pub fn with_heads(mut self, rules: &HeadRules) -> Self {
        let searchers = self.searchers.drain(..);
        let searchers = searchers.map(|(rule, searcher)| (rule, searcher.with_heads(rules)));
        Self { searchers: searchers.collect() }
    }

    /// The tree after all rules. Heads of nodes are dropped if it changes.
    ///
    /// # Errors
    /// When the result is no tree, or a rule goes on without end.
    pub fn change(&mut self, mut tree: Tree) -> Result<Tree> {
        let most_size = GROWTH_FACTOR * edit::size(&tree) + GROWTH_ALLOWANCE;
        for (rule, searcher) in &mut self.searchers {
            let size = tree.nodes().len() + tree.tokens().len() + 1;
            let most = (STEPS_PER_NODE * size).min(MAX_STEPS);
            let mut steps = 0;
            while let Some(changed) = step(rule, searcher, &tree, most_size)? {
                tree = changed;
                steps += 1;
                if steps > most {
                    let problem = format!(
                        "the pattern still matches after {most} changes of one tree: write a pattern that does not match \
                         what the operations make"
                    );
                    return Err(Error::config(&rule.at, problem));
                }
            }
        }
        Ok(tree)
    }
}

/// The tree after the operations at the first match; `None` if there is none.
fn step(
    rule: &Rule,
    searcher: &mut Searcher<'_>,
    tree: &Tree,
    most_size: usize,
) -> Result<Option<Tree>> {
    let mut first = None;
    searcher.for_each(tree, |found| {
        first = Some(found.nodes().map(|(name, at)| (name.to_owned(), at)).collect::<Vec<_>>());
        Break(())
    })?;
    let Some(nodes) = first else { return Ok(None) };
    let mut edited = EditedTree::of(tree, &nodes);
    let failed = |problem: String| Error::config(&rule.at, problem);
    for operation in &rule.operations {
        edited.apply(operation).map_err(failed)?;
        if edited.size() > most_size {
            let problem = format!(
                "the tree has grown to {} nodes and bytes of labels: write a pattern that does not match what the operations make",
                edited.size()
            );
            return Err(failed(problem));
        }
    }
    edited.finish().map(Some).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(rules: &str, tree: &str) -> String {
        let rules = Rules::parse(rules, "r").unwrap();
        match rules.changer().change(tree.parse().unwrap()) {
            Ok(tree) => tree.to_string(),
            Err(error) => error.to_string(),
        }
    }

    const TREE: &str = "(S (NP (DT the) (NN dog)) (VP (VBZ barks) (ADVP (RB now))) (. .))";

    #[test]
    fn every_operation_changes_what_it_names() {
        let cases = [
            (
                "NP=n\n\nrelabel n NP-SBJ",
                "(S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks) (ADVP (RB now))) (. .))",
            ),
            (
                "/^VB(.)$/=v\n\nrelabel v /^VB(.)$/V-$1/",
                "(S (NP (DT the) (NN dog)) (VP (V-Z barks) (ADVP (RB now))) (. .))",
            ),
            (
                "/^VB(.)$/=v\n\nrelabel v /^(VBZ)$/$1\\$\\//",
                "(S (NP (DT the) (NN dog)) (VP (VBZ$/ barks) (ADVP (RB now))) (. .))",
            ),
            (
                "DT=d\n\nrelabel d /PRP\\$/",
                "(S (NP (PRP$ the) (NN dog)) (VP (VBZ barks) (ADVP (RB now))) (. .))",
            ),
            (
                "barks=w\n\nrelabel w /sings/",
                "(S (NP (DT the) (NN dog)) (VP (VBZ sings) (ADVP (RB now))) (. .))",
            ),
            ("RB=r\n\ndelete r", "(S (NP (DT the) (NN dog)) (VP (VBZ barks) (ADVP )) (. .))"),
            ("RB=r\n\nprune r", "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))"),
            ("VP=v\n\nexcise v v", "(S (NP (DT the) (NN dog)) (VBZ barks) (ADVP (RB now)) (. .))"),
            (
                "VP < ADVP=a $+ /^\\.$/=p\n\nmove a $+ p",
                "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (ADVP (RB now)) (. .))",
            ),
            (
                "NP=n $+ VP=v !>> X\n\nmove n >1 v\nrelabel v X",
                "(S (X (NP (DT the) (NN dog)) (VBZ barks) (ADVP (RB now))) (. .))",
            ),
            (
                "NP=n !< JJ\n\ninsert (JJ old) >2 n",
                "(S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ barks) (ADVP (RB now))) (. .))",
            ),
            (
                "NP=n !< JJ\n\ninsert (JJ old) >-1 n",
                "(S (NP (DT the) (NN dog) (JJ old)) (VP (VBZ barks) (ADVP (RB now))) (. .))",
            ),
            (
                "DT=d !$ JJ\n\ninsert (JJ old) $- d",
                "(S (NP (DT the) (JJ old) (NN dog)) (VP (VBZ barks) (ADVP (RB now))) (. .))",
            ),
            (
                "NP=n > S !<< war\n\nadjoin (NP NP@ (PP (IN of) (NP (NN war)=w))) n",
                "(S (NP (NP (DT the) (NN dog)) (PP (IN of) (NP (NN war)))) (VP (VBZ barks) (ADVP (RB now))) (. .))",
            ),
            (
                "ADVP=a < RB=r\n\nreplace a r",
                "(S (NP (DT the) (NN dog)) (VP (VBZ barks) (RB now)) (. .))",
            ),
            (
                "/^NP$/=n $+ /^VP$/=v\n\ncoindex n v",
                "(S (NP-1 (DT the) (NN dog)) (VP-1 (VBZ barks) (ADVP (RB now))) (. .))",
            ),
            (
                "NP=n ?< JJ=j !< X\n\ndelete j\ninsert (X x) >1 n",
                "(S (NP (X x) (DT the) (NN dog)) (VP (VBZ barks) (ADVP (RB now))) (. .))",
            ),
            (
                "NP=n !< X\n\ninsert (Y=n y) >1 n\nrelabel n X",
                "(S (NP (X y) (DT the) (NN dog)) (VP (VBZ barks) (ADVP (RB now))) (. .))",
            ),
            ("NP=n\n\ndelete n\nreplace n (Q (X y))", "(S (VP (VBZ barks) (ADVP (RB now))) (. .))"),
            (
                "DT=d . NN=n\n\nreplace d n\nreplace d n",
                "(S (NP (NN dog) (NN dog)) (VP (VBZ barks) (ADVP (RB now))) (. .))",
            ),
        ];
        for (rules, expected) in cases {
            assert_eq!(changed(rules, TREE), expected, "{rules}");
        }
        let two =
            "% tags\nNN=n\n\nrelabel n N\n\n% phrases\nNP=p\n  < N\n\n% and so on\nrelabel p NX\n";
        assert!(changed(two, TREE).starts_with("(S (NX (DT the) (N dog))"));
        assert_eq!(changed("", TREE), TREE);
    }

    #[test]
    fn what_is_no_tree_or_never_ends_is_an_error() {
        let cases = [
            ("NP=n\n\nrelabel n NP", "r:1: the pattern still matches"),
            ("NP=n\n\ninsert (NP=n) >1 n\nprune n", "r:1: the pattern still matches"),
            ("S=s\n\ninsert s >1 s", "r:1: the tree has grown to "),
            ("/^NP/=n\n\nrelabel n /(.*)/$1$1/", "r:1: the tree has grown to "),
            (&format!("NP=n\n\n{}", "insert n >1 n\n".repeat(60)), "r:1: the tree has grown to "),
            ("S=s\n\ndelete s", "r:1: `delete` takes the root away"),
            ("NP=n\n\ninsert (JJ old) >-4 n", "r:1: `insert`: the node has too few children (2)"),
            ("S=s\n\nexcise s s", "r:1: `excise` leaves 3 roots"),
            (
                "NP=n\n\nexcise n n\n\nVBZ=v\n\nexcise v v",
                "r:5: the word `barks` has no tag of its own",
            ),
            ("S=s < NP=n\n\nmove s >1 n", "r:1: `move` puts a node below itself"),
            ("NP=n < DT=d\n\nexcise d n", "r:1: `excise`: the first node is not above the second"),
        ];
        for (rules, expected) in cases {
            let found = changed(rules, TREE);
            assert!(found.starts_with(expected), "{rules}: {found}");
        }
    }

    #[test]
    fn errors_have_the_line_and_the_column() {
        let cases = [
            ("NP <\n", "r:2:1: expected a label"),
            ("NP=n\n", "r:1: this pattern has no operations"),
            ("NP=n\n\ndelte n", "r:3:1: no operation `delte`: did you mean `delete`?"),
            ("NP=n\n\n delete m", "r:3:9: no node is named `m`"),
            ("NP=n\n\ndelete", "r:3:7: expected the name of a node"),
            ("NP=n\n\nrelabel n", "r:3:10: expected a label"),
            ("NP=n\n\nrelabel n /a(/b/", "r:3:11: this is no expression"),
            ("NP=n\n\nmove n n", "r:3:8: expected a place"),
            ("NP=n\n\nmove n >0 n", "r:3:9: children are counted from 1"),
            ("NP=n\n\ninsert (A (B b) $+ n", "r:3:21: expected a tree"),
            ("NP=n\n\nadjoin (A (B b)) n", "r:3:8: the tree has no foot"),
            ("NP=n\n\ndelete n n2", "r:3:10: no node is named `n2`"),
            ("NP=n\n\nrelabel n A B", "r:3:13: expected the end of the line"),
        ];
        for (rules, expected) in cases {
            let error = Rules::parse(rules, "r").unwrap_err().to_string();
            assert!(error.starts_with(expected), "{rules}: {error}");
        }
    }
}

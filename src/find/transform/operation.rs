//! The operations, and how they are written.

use compact_str::CompactString;
use fancy_regex::Regex;

use super::super::scanner::Scanner;
use crate::error::{Result, choices, did_you_mean};

/// A change of a tree. Nodes are given by their names.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    /// Takes nodes away, with all below them.
    Delete(Vec<String>),
    /// The same, and nodes above them that have no other children.
    Prune(Vec<String>),
    /// Takes the nodes from the first down to the second away, and puts the children of the second in their place.
    Excise(String, String),
    Relabel(String, NewLabel),
    Insert(Source, Place),
    Move(String, Place),
    Replace(String, Source),
    /// Puts a tree in the place of a node, and the node in the place of the foot.
    Adjoin(NewTree, String),
    /// Gives nodes the same new index.
    Coindex(Vec<String>),
}

/// A label to give.
#[derive(Debug, Clone)]
pub(super) enum NewLabel {
    Label(CompactString),
    /// What an expression finds is replaced; `$1` is its first group.
    Substitution(Box<Regex>, String),
}

/// A text without the backslashes that escape characters in it.
fn unescaped(text: &str) -> String {
    let (mut plain, mut chars) = (String::new(), text.chars());
    while let Some(c) = chars.next() {
        plain.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    plain
}

/// What is put somewhere.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// A copy of the node with a name.
    Named(String),
    New(NewTree),
}

/// Where something is put.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) side: Side,
    pub(super) node: String,
}

/// The place relative to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// `$+`: left sister.
    Left,
    /// `$-`: right sister.
    Right,
    /// `>1`: child with this number, from 0.
    Child(usize),
    /// `>-1`: child with this number from the last, which is 0.
    ChildFromLast(usize),
}

/// A tree that a rule makes; children stand after their parents.
#[derive(Debug, Clone, Default)]
pub(super) struct NewTree {
    pub(super) nodes: Vec<NewNode>,
    pub(super) foot: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct NewNode {
    pub(super) label: CompactString,
    pub(super) name: Option<String>,
    pub(super) parent: Option<usize>,
    /// Whether it was written in brackets; others are words.
    pub(super) is_node: bool,
}

const NAMES: [&str; 9] =
    ["relabel", "delete", "prune", "excise", "move", "insert", "replace", "adjoin", "coindex"];

/// Reads the operation on a line; `names` are those of the pattern, and of trees in operations before.
pub(super) fn parse(
    text: &str,
    file: &str,
    line: u64,
    names: &mut Vec<String>,
) -> Result<Operation> {
    let mut reader = Reader { scanner: Scanner::new(text, file, line), names };
    let operation = reader.operation()?;
    if reader.scanner.skip_space() {
        return Err(reader
            .scanner
            .error("expected the end of the line: each operation has a line of its own"));
    }
    Ok(operation)
}

struct Reader<'t, 'n> {
    scanner: Scanner<'t>,
    names: &'n mut Vec<String>,
}

impl Reader<'_, '_> {
    fn operation(&mut self) -> Result<Operation> {
        self.scanner.skip_space();
        let start = self.scanner.at();
        let operation = self.scanner.word();
        Ok(match operation {
            "delete" => Operation::Delete(self.nodes()?),
            "prune" => Operation::Prune(self.nodes()?),
            "coindex" => Operation::Coindex(self.nodes()?),
            "excise" => Operation::Excise(self.node()?, self.node()?),
            "relabel" => Operation::Relabel(self.node()?, self.new_label()?),
            "insert" => Operation::Insert(self.source()?, self.place()?),
            "move" => Operation::Move(self.node()?, self.place()?),
            "replace" => Operation::Replace(self.node()?, self.source()?),
            "adjoin" => {
                self.scanner.skip_space();
                let start = self.scanner.at();
                let tree = self.new_tree()?;
                if tree.foot.is_none() {
                    let problem = "the tree has no foot: mark the node under which the old one goes, such as (NP NP@ (PP …))";
                    return Err(self.scanner.error_at(start, problem));
                }
                Operation::Adjoin(tree, self.node()?)
            }
            other => {
                let choices = choices(other, "there are", NAMES);
                let problem = format!("no operation `{other}`: {choices}");
                return Err(self.scanner.error_at(start, problem));
            }
        })
    }

    /// The names of one or more nodes, up to the end of the line.
    fn nodes(&mut self) -> Result<Vec<String>> {
        let mut nodes = vec![self.node()?];
        while self.scanner.skip_space() {
            nodes.push(self.node()?);
        }
        Ok(nodes)
    }

    fn node(&mut self) -> Result<String> {
        if !self.scanner.skip_space() {
            return Err(self.scanner.error("expected the name of a node"));
        }
        let start = self.scanner.at();
        let name = self.scanner.word();
        if name.is_empty() {
            return Err(self.scanner.error("expected the name of a node"));
        }
        if self.names.iter().any(|known| known == name) {
            return Ok(name.to_owned());
        }
        let hint = did_you_mean(name, self.names.iter().map(String::as_str));
        let problem =
            format!("no node is named `{name}`: {hint}name it in the pattern, such as NP={name}");
        Err(self.scanner.error_at(start, problem))
    }

    fn new_label(&mut self) -> Result<NewLabel> {
        if !self.scanner.skip_space() {
            return Err(self
                .scanner
                .error("expected a label, /label/ or /expression/replacement/"));
        }
        if !self.scanner.rest().starts_with('/') {
            return Ok(NewLabel::Label(self.label(|c| c.is_whitespace())?));
        }
        let start = self.scanner.at();
        self.scanner.eat_here("/");
        let first = self.up_to_slash(start)?;
        if !self.scanner.skip_space() {
            return Ok(NewLabel::Label(unescaped(&first).into()));
        }
        let replacement = self.up_to_slash(start)?;
        let regex = Regex::new(&first.replace("\\/", "/")).map_err(|problem| {
            let problem = problem.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ");
            self.scanner.error_at(start, format!("this is no expression: {problem}"))
        })?;
        Ok(NewLabel::Substitution(Box::new(regex), replacement))
    }

    /// The text up to the next slash that is not escaped.
    fn up_to_slash(&mut self, start: usize) -> Result<String> {
        let mut text = String::new();
        let mut chars = self.scanner.rest().char_indices();
        let end = loop {
            match chars.next() {
                Some((end, '/')) => break end,
                Some((_, '\\')) => {
                    text.extend(['\\'].into_iter().chain(chars.next().map(|(_, c)| c)));
                }
                Some((_, c)) => text.push(c),
                None => {
                    return Err(self.scanner.error_at(
                        start,
                        "a slash is missing: write /label/ or /expression/replacement/",
                    ));
                }
            }
        };
        let at = self.scanner.at();
        self.scanner.go_to(at + end + 1);
        Ok(text)
    }

    fn label(&mut self, ends: impl Fn(char) -> bool) -> Result<CompactString> {
        match self.scanner.take_while(|c| !ends(c)) {
            "" => Err(self.scanner.error("expected a label")),
            label => Ok(label.into()),
        }
    }

    fn place(&mut self) -> Result<Place> {
        self.scanner.skip_space();
        let start = self.scanner.at();
        let side = if self.scanner.eat_here("$+") {
            Side::Left
        } else if self.scanner.eat_here("$-") {
            Side::Right
        } else if self.scanner.eat_here(">") {
            let is_last = self.scanner.eat_here("-");
            let at = self.scanner.at();
            let Some(number) = self.scanner.number()?.checked_sub(1) else {
                return Err(self
                    .scanner
                    .error_at(at, "children are counted from 1, or from -1 at the end"));
            };
            if is_last {
                Side::ChildFromLast(number as usize)
            } else {
                Side::Child(number as usize)
            }
        } else {
            let problem = "expected a place: `$+ name` (left sister), `$- name` (right sister), `>1 name` (first child) or \
                           `>-1 name` (last child)";
            return Err(self.scanner.error_at(start, problem));
        };
        Ok(Place { side, node: self.node()? })
    }

    fn source(&mut self) -> Result<Source> {
        match self.scanner.peek() {
            Some('(') => self.new_tree().map(Source::New),
            _ => self.node().map(Source::Named),
        }
    }

    /// A tree in brackets.
    fn new_tree(&mut self) -> Result<NewTree> {
        let mut tree = NewTree::default();
        let mut open: Vec<usize> = Vec::new();
        loop {
            if self.scanner.eat("(") {
                self.scanner.skip_space();
                let node = self.new_node(&mut tree, open.last().copied(), true)?;
                open.push(node);
            } else if !open.is_empty() && self.scanner.eat(")") {
                let closed = open.pop();
                // A name or the mark of the foot may follow the bracket.
                if let Some(closed) = closed {
                    self.marks(&mut tree, closed)?;
                }
                if open.is_empty() {
                    return Ok(tree);
                }
            } else if let (Some(&parent), true) = (open.last(), self.scanner.skip_space()) {
                self.new_node(&mut tree, Some(parent), false)?;
            } else {
                return Err(self.scanner.error(
                    "expected a tree in brackets, such as (NP (NN dog)): a bracket is missing",
                ));
            }
        }
    }

    fn new_node(
        &mut self,
        tree: &mut NewTree,
        parent: Option<usize>,
        is_node: bool,
    ) -> Result<usize> {
        let label = self.label(|c| c.is_whitespace() || "()=@".contains(c))?;
        let node = tree.nodes.len();
        tree.nodes.push(NewNode { label, name: None, parent, is_node });
        self.marks(tree, node)?;
        Ok(node)
    }

    /// `=name` and `@` after a node.
    fn marks(&mut self, tree: &mut NewTree, node: usize) -> Result<()> {
        if self.scanner.eat_here("@") {
            if tree.foot.replace(node).is_some() {
                return Err(self.scanner.error("a tree has one foot"));
            }
            tree.nodes[node].is_node = true;
        }
        if self.scanner.eat_here("=") {
            let name = self.scanner.name()?.to_owned();
            self.names.push(name.clone());
            tree.nodes[node].name = Some(name);
        }
        Ok(())
    }
}

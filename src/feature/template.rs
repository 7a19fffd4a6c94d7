//! The template language.
//!
//! A template file has one template per line: one address, or a conjunction of several, separated by spaces.
//! `#` begins a comment. An address is
//!
//! ```text
//! position { "." step } "." field [ ".bin" ]
//! ```
//!
//! | position | meaning |
//! |---|---|
//! | `s0` … `s9` | items of the stack from the top |
//! | `b0` … `b9` | tokens of the buffer from the front |
//! | `before0` …, `after0` … | items next to a candidate constituent, outward |
//! | `o0` … `o9` | open constituents from the innermost |
//! | `c0` … `c9` | complete constituents and tokens from the last, in systems that open nonterminals |
//! | `left0` …, `right0` … | children of the candidate, from the left, from the right |
//! | `head` | its head child |
//! | `headleft0` …, `headright0` … | its children to the left, to the right of the head child, outward |
//! | `item` | the candidate itself; only groups of its children can be addressed |
//!
//! | step | meaning |
//! |---|---|
//! | `l`, `r` | first, last child of a node with two children or more |
//! | `u` | the child of a node with one child |
//! | `first`, `last` | first, last child of a node with any number of children |
//! | `ld`, `rd` | the most recent left, right dependent of the head word |
//! | `head` | the head child, or a child with the same head word |
//! | `kids` | all children: the column is a set |
//!
//! | group of the candidate's children | meaning |
//! |---|---|
//! | `item.kids` | all |
//! | `item.nonhead`, `item.nonleft`, `item.nonright` | all except the head child, the leftmost, the rightmost |
//! | `item.prehead`, `item.posthead` | all to the left, to the right of the head child |
//! | `item.tohead`, `item.fromhead` | the same, including the head child |
//!
//! The column is a set of the children; with `.terminals` after the group, a set of the tokens they dominate.
//!
//! | field | meaning |
//! |---|---|
//! | `w`, `t` | head word, its tag |
//! | `c` | label of the constituent; no value for a token |
//! | `n` | label of the constituent; the tag for a token |
//! | `lw`, `lt`, `rw`, `rt` | word, tag of the first, last token of the span |
//! | `sf2`, `sf3`, `shape` | last two, three characters of the head word; its shape |
//! | `len`, `arity` | number of tokens, of children |
//! | `deps`, `ldeps`, `rdeps` | number of dependents of the head word so far; left; right |
//! | `punct` | number of punctuation marks in the span ([`crate::symbols::Mark`]) |
//! | `rhythm` | length of a noun or verb, up to 3 characters; number of tokens of such a phrase; otherwise 0 |
//!
//! | independent of a position | meaning |
//! |---|---|
//! | `distance(A,B)` | distance in words between the head words of two positions |
//! | `comma(A,B)` | 1 if there is a comma between these head words, otherwise 0 |
//! | `size(stack)`, `size(buffer)` | number of stack items, of buffer tokens |
//! | `empty(stack)`, `empty(buffer)` | 1 if it is empty, otherwise 0 |
//! | `open(punctuation)` | 1 if an odd number of opening marks before the buffer are not closed yet, otherwise 0 |
//! | `pending(o0)` … `pending(o9)` | number of complete children of that open constituent |
//! | `action(0)`, `action(1)` | the last action, the one before |
//! | `tree(1)` … `tree(9)` | the configuration as a tree, with that many levels of each stack item: the column is a tree ([`super::extract::tree`]), alone in its template |
//!
//! A line `@kind`, `@action` or `@both` sets for which steps of a two-step decision ([`DecisionStep`]) the
//! templates below it are used; the default is `@both`.
//!
//! A comment of its own lines is the heading of the templates below it, up to the next one: they are a group, which a
//! preset can leave out by its heading. The same heading may occur several times.
//!
//! With `.bin`, numbers are binned: 0 to 4 separately, then 5–6, 7–10, 11–20, more. Nouns, verbs and their phrases
//! are recognized by tags and labels that begin with N or V.

mod groups;
mod parse;

use crate::built_in::TEMPLATES;
use crate::error::{Error, Place, Result};

use super::{Column, ColumnKind};
use groups::Heading;
use parse::parse_address;

/// The first position of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// Stack item from the top.
    Stack(u8),
    /// Buffer token from the front.
    Buffer(u8),
    /// Item to the left of the candidate, outward.
    Before(u8),
    /// Item to the right of the candidate, outward.
    After(u8),
    /// Open constituent from the innermost.
    Open(u8),
    /// Complete item from the last.
    Complete(u8),
    /// Child of the candidate from the left.
    LeftChild(u8),
    /// Child of the candidate from the right.
    RightChild(u8),
    /// Head child of the candidate.
    HeadChild,
    /// Child of the candidate to the left of its head child, outward.
    LeftOfHead(u8),
    /// Child of the candidate to the right of its head child, outward.
    RightOfHead(u8),
}

/// A group of children of the candidate (Turian and Melamed 2005, table 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // named and explained in the table of the module
pub enum Group {
    Kids,
    NonHead,
    NonLeft,
    NonRight,
    PreHead,
    PostHead,
    ToHead,
    FromHead,
}

/// A step from one node to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// First child of two or more.
    Left,
    /// Last child of two or more.
    Right,
    /// Only child.
    Only,
    /// First child.
    First,
    /// Last child.
    Last,
    /// Head child.
    Head,
    /// Latest left dependent of the head word.
    LeftDependent,
    /// Latest right dependent of the head word.
    RightDependent,
}

/// A property of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // named and explained in the table of the module
pub enum Field {
    Word,
    Tag,
    Label,
    Symbol,
    LeftWord,
    LeftTag,
    RightWord,
    RightTag,
    Suffix2,
    Suffix3,
    Shape,
    Length,
    Arity,
    Dependents,
    LeftDependents,
    RightDependents,
    Punctuation,
    Rhythm,
}

impl Field {
    /// Returns whether the field is a number.
    pub fn is_number(self) -> bool {
        use Field::{
            Arity, Dependents, LeftDependents, Length, Punctuation, Rhythm, RightDependents,
        };
        matches!(
            self,
            Length | Arity | Dependents | LeftDependents | RightDependents | Punctuation | Rhythm
        )
    }
}

/// A position in a configuration: an anchor and the steps from it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Path {
    /// The first position.
    pub anchor: Anchor,
    /// The steps in order.
    pub steps: Vec<PathStep>,
}

/// The question that an address asks about a configuration, with positions of the type `P`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Question<P = Path> {
    /// A field of a position.
    Field(P, Field),
    /// A field of all children of a position, as a set.
    Kids(P, Field),
    /// A field of a group of the candidate's children, or of all tokens they dominate, as a set.
    Group {
        /// The children.
        group: Group,
        /// Whether the tokens that they dominate are meant.
        terminals: bool,
        /// The field.
        field: Field,
    },
    /// The distance in words between the heads of two positions.
    Distance(P, P),
    /// Whether there is a comma between the heads of two positions.
    Comma(P, P),
    /// Items on the stack.
    StackSize,
    /// Tokens in the buffer.
    BufferSize,
    /// Whether the stack is empty.
    StackEmpty,
    /// Whether the buffer is empty.
    BufferEmpty,
    /// Whether an odd number of opening marks before the buffer are not closed yet.
    OpenPunctuation,
    /// Complete children of an open constituent, counted from the innermost.
    Pending(u8),
    /// The latest action (0) or the one before (1).
    Action(u8),
    /// The configuration as a tree, with this number of levels of each stack item.
    Tree(u8),
}

impl<P> Question<P> {
    /// The same question about other positions.
    pub fn map<Q>(&self, mut position: impl FnMut(&P) -> Q) -> Question<Q> {
        match self {
            Self::Field(at, field) => Question::Field(position(at), *field),
            Self::Kids(at, field) => Question::Kids(position(at), *field),
            &Self::Group { group, terminals, field } => Question::Group { group, terminals, field },
            Self::Distance(a, b) => Question::Distance(position(a), position(b)),
            Self::Comma(a, b) => Question::Comma(position(a), position(b)),
            Self::StackSize => Question::StackSize,
            Self::BufferSize => Question::BufferSize,
            Self::StackEmpty => Question::StackEmpty,
            Self::BufferEmpty => Question::BufferEmpty,
            Self::OpenPunctuation => Question::OpenPunctuation,
            Self::Pending(n) => Question::Pending(*n),
            Self::Action(back) => Question::Action(*back),
            Self::Tree(levels) => Question::Tree(*levels),
        }
    }
}

/// A question and how its value is encoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    /// The question.
    pub question: Question,
    /// Whether the number is binned.
    pub binned: bool,
}

impl Address {
    /// Returns the type of the values.
    pub fn kind(&self) -> ColumnKind {
        match &self.question {
            Question::Kids(..) | Question::Group { .. } => ColumnKind::Set,
            Question::Tree(_) => ColumnKind::Tree,
            Question::Action(_) => ColumnKind::Nominal,
            _ if self.binned => ColumnKind::Nominal,
            Question::Field(_, field) if !field.is_number() => ColumnKind::Nominal,
            _ => ColumnKind::Number,
        }
    }

    /// Returns whether the values are words.
    fn is_lexical(&self) -> bool {
        use Field::{LeftWord, RightWord, Word};
        let (Question::Field(_, field) | Question::Kids(_, field) | Question::Group { field, .. }) =
            self.question
        else {
            return false;
        };
        matches!(field, Word | LeftWord | RightWord)
    }
}

/// A step of a two-step (coarse-to-fine) decision; see [`crate::classifier::coarse_to_fine`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionStep {
    /// Chooses the kind of action.
    Kind,
    /// Chooses the action of that kind.
    Action,
}

/// The directives that set for which steps the templates below them are used.
const DIRECTIVES: [(&str, &[DecisionStep]); 3] = [
    ("@kind", &[DecisionStep::Kind]),
    ("@action", &[DecisionStep::Action]),
    ("@both", &[DecisionStep::Kind, DecisionStep::Action]),
];

/// A parsed template file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Templates {
    text: String,
    names: Vec<String>,
    addresses: Vec<Address>,
    conjunctions: Vec<Vec<u16>>,
    /// For each template, the directive above it, as an index into [`DIRECTIVES`].
    steps: Vec<u8>,
    /// For each template, the heading above it; empty without one.
    headings: Vec<String>,
}

impl Templates {
    /// Parses a template file; messages name it `name`.
    ///
    /// # Errors
    /// [`Error::Syntax`] with the place of the first invalid address.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let mut templates = Self {
            text: text.to_owned(),
            names: Vec::new(),
            addresses: Vec::new(),
            conjunctions: Vec::new(),
            steps: Vec::new(),
            headings: Vec::new(),
        };
        let mut steps = DIRECTIVES.len() as u8 - 1;
        let mut heading = Heading::default();
        for (line, number) in text.lines().zip(1..) {
            heading.read(line);
            let content = line.split('#').next().unwrap_or_default();
            let directive = content.trim();
            if directive.starts_with('@') {
                let known = DIRECTIVES.iter().position(|(word, _)| *word == directive);
                steps = known.ok_or_else(|| {
                    let problem =
                        format!("unknown directive `{directive}`: write @kind, @action or @both");
                    Error::syntax(Place::new(name, number, 1), problem)
                })? as u8;
                continue;
            }
            let mut conjunction = Vec::new();
            for word in content.split_ascii_whitespace() {
                let offset = word.as_ptr() as usize - line.as_ptr() as usize;
                let column = line[..offset].chars().count() as u64 + 1;
                let fail =
                    |problem: String| Error::syntax(Place::new(name, number, column), problem);
                let address = parse_address(word).map_err(fail)?;
                let position = templates.position(word, address).map_err(fail)?;
                if conjunction.contains(&position) {
                    return Err(fail(format!("`{word}` occurs twice in one template: remove one")));
                }
                if conjunction.len() == MAX_CONJOINED {
                    return Err(fail(format!(
                        "more than {MAX_CONJOINED} addresses in one template"
                    )));
                }
                conjunction.push(position);
            }
            if !conjunction.is_empty() {
                templates
                    .check(&conjunction)
                    .map_err(|problem| Error::syntax(Place::new(name, number, 1), problem))?;
                templates.conjunctions.push(conjunction);
                templates.steps.push(steps);
                templates.headings.push(heading.name().to_owned());
            }
        }
        if templates.conjunctions.is_empty() {
            return Err(Error::syntax(Place::new(name, 1, 0), "the file has no templates"));
        }
        Ok(templates)
    }

    /// Checks whether a template can be added; the error is what is wrong.
    fn check(&self, conjunction: &[u16]) -> Result<(), String> {
        let is_tree = |&at: &u16| self.addresses[usize::from(at)].kind() == ColumnKind::Tree;
        if self.conjunctions.len() == MAX_TEMPLATES {
            return Err(format!("more than {MAX_TEMPLATES} templates: remove some"));
        }
        if conjunction.len() > 1 && conjunction.iter().any(is_tree) {
            return Err("a tree cannot be part of a conjunction: give it a line of its own".into());
        }
        if self.conjunctions.iter().any(|above| above == conjunction) {
            return Err("this template occurs above: remove the line".into());
        }
        Ok(())
    }

    /// Returns a built-in template file.
    pub fn named(name: &str) -> Option<Self> {
        let text = TEMPLATES.text(name)?;
        Some(Self::parse(text, name).expect("the built-in templates are tested"))
    }

    /// Returns the names of the built-in files.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TEMPLATES.names()
    }

    /// Returns the text of the file, as it is stored in a model.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the distinct addresses (the columns), in order of first appearance.
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Returns the columns with their types.
    pub fn columns(&self) -> Vec<Column> {
        let named = self.names.iter().zip(&self.addresses);
        let column = |(name, address): (&String, &Address)| Column {
            name: name.clone(),
            kind: address.kind(),
            lexical: address.is_lexical(),
        };
        named.map(column).collect()
    }

    /// Returns the templates as lists of column indices.
    pub fn conjunctions(&self) -> &[Vec<u16>] {
        &self.conjunctions
    }

    /// Returns for each template whether it is used for a step.
    pub fn of_step(&self, step: DecisionStep) -> impl Iterator<Item = bool> {
        self.steps.iter().map(move |&steps| DIRECTIVES[usize::from(steps)].1.contains(&step))
    }

    fn position(&mut self, name: &str, address: Address) -> Result<u16, String> {
        if let Some(position) = self.addresses.iter().position(|known| *known == address) {
            return Ok(position as u16);
        }
        if self.addresses.len() == usize::from(u8::MAX) {
            return Err("more than 255 different addresses".to_owned());
        }
        self.names.push(name.to_owned());
        self.addresses.push(address);
        Ok(self.addresses.len() as u16 - 1)
    }
}

/// The maximum number of addresses in a template.
pub const MAX_CONJOINED: usize = 6;
/// The maximum number of templates in a file.
pub const MAX_TEMPLATES: usize = 1_000;
/// The maximum number of steps from a position.
pub const MAX_STEPS: usize = 8;

#[cfg(test)]
mod tests;

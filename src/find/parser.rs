//! From the text of a pattern to its program.

use super::labels::{LabelTest, TestId, TestKind};
use super::program::{Goal, GoalKind, Mode, NameId, PatternNode, PatternNodeId, Program, Target};
use super::relation::{Relation, SYMBOLS, Symbol};
use super::scanner::Scanner;
use crate::error::Result;

/// How deep brackets can be nested.
const MAX_DEPTH: u32 = 200;
/// How many nodes a pattern can have.
const MAX_NODES: usize = 500;

/// Reads a whole pattern, which ends with the text.
pub(super) fn parse(scanner: &mut Scanner<'_>) -> Result<(Program, Vec<String>)> {
    let mut parser = Parser::new(scanner);
    parser.pattern()?;
    let Parser { mut program, warnings, .. } = parser;
    program.analyse();
    Ok((program, warnings))
}

struct Parser<'p, 't> {
    scanner: &'p mut Scanner<'t>,
    program: Program,
    variables: Vec<&'t str>,
    /// For each name whether it has been given on the way to this place.
    known: Vec<bool>,
    /// How many marks `!` this place is below.
    negations: u32,
    depth: u32,
    warnings: Vec<String>,
}

impl<'p, 't> Parser<'p, 't> {
    fn new(scanner: &'p mut Scanner<'t>) -> Self {
        Self {
            scanner,
            program: Program::default(),
            variables: Vec::new(),
            known: Vec::new(),
            negations: 0,
            depth: 0,
            warnings: Vec::new(),
        }
    }

    /// Alternatives, each of one or more segments.
    fn pattern(&mut self) -> Result<()> {
        loop {
            let root = self.node()?;
            while self.scanner.eat(":") {
                let mut goals = vec![related(Relation::Segment, self.target()?)];
                // They are those of the first node.
                goals.extend(self.goals()?);
                self.program.nodes[root.0 as usize].goals.extend(goals);
            }
            self.program.roots.push(root);
            let bar = self.scanner.at();
            if !self.scanner.eat("|") {
                break;
            }
            self.warn_of_alternative(root, bar);
            self.known.fill(false);
        }
        if !self.scanner.skip_space() {
            return Ok(());
        }
        let problem = match self.scanner.peek() {
            Some(')') => "this `)` closes nothing",
            Some(']') => "this `]` closes nothing",
            Some('&') => "expected a relation before `&`, such as NP < DT & < NN",
            _ => "expected a relation, such as `<` or `<<`, or the end of the pattern",
        };
        Err(self.scanner.error(problem))
    }

    /// A `|` outside of brackets begins another pattern, which is seldom meant after a relation.
    fn warn_of_alternative(&mut self, root: PatternNodeId, bar: usize) {
        if !self.program.node(root).goals.is_empty() {
            let at = self.scanner.error_at(bar, "").to_string();
            let at = at.trim_end_matches([':', ' ']);
            self.warnings.push(format!(
                "{at}: what follows `|` is another pattern; for alternatives of one label write NP|VP without spaces, \
                 or one expression, and of relations [< NP | < VP]"
            ));
        }
    }

    /// A node with its goals.
    fn node(&mut self) -> Result<PatternNodeId> {
        let node = self.target()?;
        let goals = self.goals()?;
        self.program.nodes[node.0 as usize].goals.extend(goals);
        Ok(node)
    }

    /// A node without goals, or with goals in brackets.
    fn target(&mut self) -> Result<PatternNodeId> {
        if !self.scanner.eat("(") {
            return self.description();
        }
        let node = self.nested(Self::node)?;
        self.close(")")?;
        Ok(node)
    }

    /// Reads something that is one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            let problem = format!("brackets are nested more than {MAX_DEPTH} deep");
            return Err(self.scanner.error(problem));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn close(&mut self, bracket: &str) -> Result<()> {
        if self.scanner.eat(bracket) {
            return Ok(());
        }
        let or = if self.scanner.peek() == Some('|') {
            "; alternatives of one label are written NP|VP without spaces, those of relations [< NP | < VP]"
        } else {
            ""
        };
        Err(self.scanner.error(format!("expected a relation or `{bracket}`{or}")))
    }

    /// Goals and alternatives of goals; none if there are none.
    fn goals(&mut self) -> Result<Vec<Goal>> {
        if !self.is_at_goal() {
            return Ok(Vec::new());
        }
        let (before, mut after) = (self.known.clone(), Vec::new());
        let mut alternatives = vec![self.conjunction()?];
        loop {
            let bar = self.scanner.at();
            if !self.scanner.eat("|") || !self.is_at_goal() {
                self.scanner.go_to(bar);
                break;
            }
            self.merge_known(&mut after);
            self.known = before.clone();
            self.known.resize(self.program.names.len(), false);
            alternatives.push(self.conjunction()?);
        }
        if alternatives.len() == 1 {
            return Ok(alternatives.swap_remove(0));
        }
        self.merge_known(&mut after);
        self.known = after;
        Ok(vec![Goal { mode: Mode::Plain, kind: GoalKind::Any(alternatives) }])
    }

    /// Adds the names that are known here.
    fn merge_known(&self, all: &mut Vec<bool>) {
        all.resize(self.known.len(), false);
        all.iter_mut().zip(&self.known).for_each(|(all, known)| *all |= known);
    }

    fn conjunction(&mut self) -> Result<Vec<Goal>> {
        let mut goals = self.goal()?;
        loop {
            if self.scanner.eat("&") {
                if !self.is_at_goal() {
                    return Err(self
                        .scanner
                        .error("expected a relation after `&`, such as `< NP`"));
                }
            } else if !self.is_at_goal() {
                return Ok(goals);
            }
            goals.extend(self.goal()?);
        }
    }

    /// Whether a goal begins here.
    fn is_at_goal(&mut self) -> bool {
        match self.scanner.peek() {
            Some('!' | '?' | '[') => true,
            // Relations in round brackets.
            Some('(') => {
                let here = self.scanner.at();
                self.scanner.eat("(");
                let begins = loop {
                    match self.scanner.peek() {
                        Some('(') => self.scanner.eat("("),
                        Some('!' | '?' | '[') => break true,
                        _ => break self.symbol().is_some(),
                    };
                };
                self.scanner.go_to(here);
                begins
            }
            _ => {
                let here = self.scanner.at();
                let is_relation = self.symbol().is_some();
                self.scanner.go_to(here);
                is_relation
            }
        }
    }

    /// Takes the symbol of a relation.
    fn symbol(&mut self) -> Option<Symbol> {
        SYMBOLS.iter().find(|(text, _)| self.scanner.eat(text)).map(|&(_, symbol)| symbol)
    }

    /// A relation, or several in brackets, with `!` or `?`.
    fn goal(&mut self) -> Result<Vec<Goal>> {
        let start = self.scanner.at();
        let mode = match self.scanner.peek() {
            Some('!') => Mode::Not,
            Some('?') => Mode::Optional,
            _ => Mode::Plain,
        };
        if mode != Mode::Plain {
            self.scanner.eat(if mode == Mode::Not { "!" } else { "?" });
            if matches!(self.scanner.peek(), Some('!' | '?')) {
                return Err(self
                    .scanner
                    .error("`!` and `?` stand alone before a relation: leave one out"));
            }
        }
        if !self.is_at_goal() {
            let problem = "expected a relation after `!` or `?`, such as !< NP; a label is negated after the relation: < !NP";
            return Err(self.scanner.error_at(start, problem));
        }
        self.negations += u32::from(mode == Mode::Not);
        let goals = self.related_or_group()?;
        self.negations -= u32::from(mode == Mode::Not);
        Ok(match (mode, goals) {
            (Mode::Plain, goals) => goals,
            (mode, goals) => match &goals[..] {
                [goal] if goal.mode == Mode::Plain => vec![Goal { mode, ..goal.clone() }],
                _ => vec![Goal { mode, kind: GoalKind::Any(vec![goals]) }],
            },
        })
    }

    fn related_or_group(&mut self) -> Result<Vec<Goal>> {
        for (open, close) in [("[", "]"), ("(", ")")] {
            if self.scanner.eat(open) {
                if !self.is_at_goal() {
                    return Err(self
                        .scanner
                        .error("expected a relation after `[`, such as [< NP | < PP]"));
                }
                let goals = self.nested(Self::goals)?;
                self.close(close)?;
                return Ok(goals);
            }
        }
        match self.symbol() {
            Some(Symbol::Children) => self.children(),
            Some(symbol) => {
                let relation = self.relation(symbol)?;
                self.program.needs_heads |= relation.needs_heads();
                Ok(vec![related(relation, self.target()?)])
            }
            None => Err(self.scanner.error("expected a relation, such as `<` or `<<`")),
        }
    }

    /// The relation of a symbol, with the number or the chain that follows.
    fn relation(&mut self, symbol: Symbol) -> Result<Relation> {
        let here = self.scanner.at();
        self.scanner.skip_space();
        let (is_last, relation) = match symbol {
            Symbol::Whole(relation) => return Ok(relation),
            Symbol::Chain(relation) => return self.chain().map(relation),
            Symbol::Counted(relation) => (self.scanner.eat_here("-"), relation),
            Symbol::CountedFromLast(relation) => (true, relation),
            Symbol::Children => (false, Relation::Parent),
        };
        if !self.scanner.rest().starts_with(|c: char| c.is_ascii_digit()) {
            self.scanner.go_to(here);
            return Ok(relation);
        }
        let Some(number) = self.scanner.number()?.checked_sub(1) else {
            return Err(self
                .scanner
                .error_at(here, "children are counted from 1, or from -1 at the end"));
        };
        let is_below = matches!(relation, Relation::Parent | Relation::HasChildFromLast(_));
        Ok(match (is_below, is_last) {
            (true, false) => Relation::HasChild(number),
            (true, true) => Relation::HasChildFromLast(number),
            (false, false) => Relation::IsChild(number),
            (false, true) => Relation::IsChildFromLast(number),
        })
    }

    /// The description in brackets of the nodes of a chain.
    fn chain(&mut self) -> Result<TestId> {
        if !self.scanner.eat("(") {
            return Err(self.scanner.error("expected a description in brackets, such as <+(VP)"));
        }
        let is_negated = self.scanner.eat("!");
        let is_basic = self.scanner.eat("@");
        self.scanner.skip_space();
        let kind = match self.scanner.regex()? {
            Some(regex) => TestKind::Regex(Box::new(regex)),
            None => self.names()?,
        };
        self.close(")")?;
        Ok(self.test(LabelTest { kind, is_basic, is_negated }))
    }

    /// The list of all children: `{ DT ; NN }`.
    fn children(&mut self) -> Result<Vec<Goal>> {
        if !self.scanner.eat("{") {
            return Err(self
                .scanner
                .error("expected the children after `<...`, such as <... { DT ; NN }"));
        }
        let mut goals = Vec::new();
        loop {
            let child = self.nested(Self::node)?;
            goals.push(related(Relation::HasChild(goals.len() as u32), child));
            if self.scanner.eat("}") {
                break;
            }
            if !self.scanner.eat(";") {
                return Err(self.scanner.error("expected a relation, `;` or `}`"));
            }
        }
        let any = self.test(LabelTest { kind: TestKind::Any, is_basic: false, is_negated: false });
        let another = self.add(Target::Labelled(any))?;
        let kind = GoalKind::Related(Relation::HasChild(goals.len() as u32), another);
        goals.push(Goal { mode: Mode::Not, kind });
        Ok(goals)
    }

    /// A description of a node, with its name.
    fn description(&mut self) -> Result<PatternNodeId> {
        let start = self.scanner.at();
        let is_negated = self.scanner.eat("!");
        let is_basic = self.scanner.eat("@");
        self.scanner.skip_space();
        if !is_negated && !is_basic {
            let is_same = self.scanner.eat_here("=");
            if is_same || self.scanner.eat_here("~") {
                return self.reference(is_same);
            }
        }
        let label = self.scanner.at();
        let (kind, groups) = match self.scanner.regex()? {
            Some(regex) => {
                let n_groups = regex.captures_len();
                let groups = self.groups(n_groups)?;
                (TestKind::Regex(Box::new(regex)), groups)
            }
            None => (self.names()?, Vec::new()),
        };
        if is_negated && !groups.is_empty() {
            return Err(self.scanner.error_at(
                label,
                "a negated expression captures nothing: leave out `!` or the variables",
            ));
        }
        let test = self.test(LabelTest { kind, is_basic, is_negated });
        let node = self.add(Target::Labelled(test))?;
        self.program.nodes[node.0 as usize].groups = groups;
        self.scanner.skip_space();
        if self.scanner.rest().starts_with('=') && !self.scanner.rest().starts_with("==") {
            self.scanner.eat_here("=");
            self.program.nodes[node.0 as usize].name = Some(self.new_name(start)?);
        }
        Ok(node)
    }

    /// Names of labels, or `__`.
    fn names(&mut self) -> Result<TestKind> {
        let names = self.scanner.labels()?;
        match &names[..] {
            [] if self.scanner.rest().starts_with('"') => {
                let problem = "labels and words stand without quotation marks, such as NP; the character itself is /\"/";
                Err(self.scanner.error(problem))
            }
            [] => {
                let found = match self.scanner.rest().chars().next() {
                    Some(c) => format!("`{c}`"),
                    None => "the end".to_owned(),
                };
                Err(self.scanner.error(format!(
                    "expected a label, such as NP, NP|VP, /^NP/ or __, but found {found}; labels with other characters \
                     than letters, digits, `-`, `_`, `*` and `'` are written as expressions, such as /^PRP\\$$/"
                )))
            }
            [name] if name == "__" => Ok(TestKind::Any),
            _ => Ok(TestKind::Names(names)),
        }
    }

    /// The variables of an expression: `#1%x`.
    fn groups(&mut self, n_groups: usize) -> Result<Vec<(usize, u32)>> {
        let mut groups = Vec::new();
        while self.scanner.eat("#") {
            let start = self.scanner.at();
            let group = self.scanner.number()? as usize;
            if group >= n_groups {
                let problem =
                    format!("the expression has only {} groups in brackets", n_groups - 1);
                return Err(self.scanner.error_at(start, problem));
            }
            if !self.scanner.eat("%") {
                return Err(self.scanner.error("expected `%` and a variable, such as #1%x"));
            }
            let name = self.scanner.name()?;
            let variable = self.variables.iter().position(|known| *known == name);
            let variable = variable.unwrap_or_else(|| {
                self.variables.push(name);
                self.variables.len() - 1
            });
            groups.push((group, variable as u32));
        }
        self.program.n_variables = self.variables.len() as u32;
        Ok(groups)
    }

    /// The named node again, or a node with its label.
    fn reference(&mut self, is_same: bool) -> Result<PatternNodeId> {
        let start = self.scanner.at();
        let name = self.scanner.name()?;
        match self.program.names.iter().position(|known| known == name) {
            Some(id) if self.known[id] => {
                let id = NameId(id as u32);
                self.add(if is_same { Target::Same(id) } else { Target::Alike(id) })
            }
            _ => Err(self.scanner.error_at(
                start,
                format!("no node before this place is named `{name}`: name one, such as NP={name}"),
            )),
        }
    }

    /// The name that a description gives to its node.
    fn new_name(&mut self, start: usize) -> Result<NameId> {
        let name = self.scanner.name()?;
        if self.negations > 0 {
            let problem = format!("a node below `!` is never found: leave out the name `{name}`");
            return Err(self.scanner.error_at(start, problem));
        }
        let names = &mut self.program.names;
        let id = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        self.known.resize(names.len(), false);
        if std::mem::replace(&mut self.known[id], true) {
            let problem = format!(
                "`{name}` names a node already: for the same node write ={name} without a label"
            );
            return Err(self.scanner.error_at(start, problem));
        }
        Ok(NameId(id as u32))
    }

    /// The number of a test; equal lists of names have one number.
    fn test(&mut self, test: LabelTest) -> TestId {
        let is_equal = |other: &LabelTest| {
            (test.is_basic, test.is_negated) == (other.is_basic, other.is_negated)
                && match (&test.kind, &other.kind) {
                    (TestKind::Any, TestKind::Any) => true,
                    (TestKind::Names(a), TestKind::Names(b)) => a == b,
                    _ => false,
                }
        };
        let tests = &mut self.program.tests;
        let id = tests.iter().position(is_equal).unwrap_or(tests.len());
        if id == tests.len() {
            tests.push(test);
        }
        TestId(id as u32)
    }

    fn add(&mut self, target: Target) -> Result<PatternNodeId> {
        if self.program.nodes.len() == MAX_NODES {
            let problem = format!("a pattern can have at most {MAX_NODES} nodes");
            return Err(self.scanner.error(problem));
        }
        let id = PatternNodeId(self.program.nodes.len() as u32);
        let (name, groups, goals) = (None, Vec::new(), Vec::new());
        let (is_closed, memo) = (false, None);
        self.program.nodes.push(PatternNode { target, name, groups, goals, is_closed, memo });
        Ok(id)
    }
}

fn related(relation: Relation, target: PatternNodeId) -> Goal {
    Goal { mode: Mode::Plain, kind: GoalKind::Related(relation, target) }
}

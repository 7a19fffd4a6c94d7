//! The search for all ways in which a pattern matches a tree.
//!
//! A search meets one goal after the other and goes back for the next way. What is left to do after a goal is a list on
//! the stack ([`Rest`]), so that the depth of the search is that of the pattern, never that of the tree.
//!
//! Most nodes of patterns depend on nothing outside of them. For these it is remembered by position whether their goals
//! can be met, and in how many ways, so that dead ends are met once: finding out whether there is a match takes time
//! proportional to the pattern times the nodes of the tree times the nodes that one relation leads to.

use std::ops::ControlFlow::{self, Break, Continue};

use super::index::{NONE, View};
use super::program::{Goal, GoalKind, Mode, NameId, PatternNodeId, Program, Target};

/// The text that a variable stands for: a label, and the bytes of the group in the part that was tested.
pub(super) type Captured = Option<(u32, usize, usize)>;

/// Why a search ends before it has found everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The caller has enough.
    Enough,
    /// The optional goal with this number has been met; it counts once.
    Met(u32),
    /// The search takes too long.
    TooLong,
}

/// The work left after a goal.
#[derive(Clone, Copy)]
enum Rest<'r> {
    /// Nothing: this is a match.
    Nothing,
    /// Goals of a node.
    Goals(&'r [Goal], u32, &'r Rest<'r>),
    /// An optional goal has been met.
    Met(u32, &'r Rest<'r>),
}

/// Called with the names of each match.
type Sink<'s> = &'s mut dyn FnMut(&[u32]) -> ControlFlow<()>;

/// The memory of a search about a tree.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The position of each named node.
    names: Vec<u32>,
    variables: Vec<Captured>,
    /// By node of the pattern and position, whether its goals can be met: 0 unknown, 1 no, 2 yes.
    answers: Vec<u8>,
    /// The same for the number of ways, and one more; 0 unknown.
    ways: Vec<u64>,
    optional: u32,
    /// How many more nodes may be tried.
    steps: u64,
}

impl Memory {
    /// Forgets the last tree.
    pub(super) fn begin(&mut self, program: &Program, n: u32, counts: bool, steps: u64) {
        self.steps = steps;
        self.names.clear();
        self.names.resize(program.names.len(), NONE);
        self.variables.clear();
        self.variables.resize(program.n_variables as usize, None);
        let n_answers = program.n_memos as usize * n as usize;
        self.answers.clear();
        self.answers.resize(n_answers, 0);
        self.ways.clear();
        self.ways.resize(if counts { n_answers } else { 0 }, 0);
    }

    /// Whether the last search was given up: what it found may be wrong.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps == 0
    }
}

/// A search in one tree.
pub(super) struct Search<'s> {
    pub(super) program: &'s Program,
    pub(super) view: View<'s>,
    pub(super) memory: &'s mut Memory,
}

impl Search<'_> {
    /// Calls `sink` with the names of every match at a position.
    pub(super) fn at(&mut self, root: PatternNodeId, at: u32, sink: Sink<'_>) -> ControlFlow<()> {
        match self.visit(root, at, &Rest::Nothing, sink) {
            Break(End::Enough | End::TooLong) => Break(()),
            Break(End::Met(_)) | Continue(()) => Continue(()),
        }
    }

    /// Counts a step; returns false if there may be no more.
    fn may_go_on(&mut self) -> bool {
        self.memory.steps = self.memory.steps.saturating_sub(1);
        self.memory.steps > 0
    }

    /// Whether the label at a position is that of a node of the pattern; the goals may still fail.
    pub(super) fn is_labelled(&self, node: PatternNodeId, at: u32) -> bool {
        match self.program.node(node).target {
            Target::Labelled(test) => self.view.passes(test, at),
            Target::Same(NameId(name)) => self.memory.names[name as usize] == at,
            Target::Alike(NameId(name)) => match self.memory.names[name as usize] {
                NONE => false,
                other => self.view.index.label(other) == self.view.index.label(at),
            },
        }
    }

    /// Matches a node of the pattern with a position, its goals, and then the rest.
    fn visit(
        &mut self,
        id: PatternNodeId,
        at: u32,
        rest: &Rest<'_>,
        sink: Sink<'_>,
    ) -> ControlFlow<End> {
        if !self.may_go_on() {
            return Break(End::TooLong);
        }
        if !self.is_labelled(id, at) {
            return Continue(());
        }
        let program = self.program;
        let node = program.node(id);
        if node.memo.is_some() && !self.can_match(id, at) {
            return Continue(());
        }
        let before = (!node.groups.is_empty()).then(|| self.memory.variables.clone());
        if before.is_some() && !self.capture(id, at) {
            return Continue(());
        }
        let outer = node
            .name
            .map(|NameId(name)| std::mem::replace(&mut self.memory.names[name as usize], at));
        let found = self.solve(&Rest::Goals(&node.goals, at, rest), sink);
        if let (Some(NameId(name)), Some(outer)) = (node.name, outer) {
            self.memory.names[name as usize] = outer;
        }
        if let Some(before) = before {
            self.memory.variables = before;
        }
        found
    }

    /// Meets what is left, in every way.
    fn solve(&mut self, rest: &Rest<'_>, sink: Sink<'_>) -> ControlFlow<End> {
        match *rest {
            // A negated goal whose search was given up seems to hold: this may be no match.
            Rest::Nothing if self.memory.is_exhausted() => Break(End::TooLong),
            Rest::Nothing => sink(&self.memory.names).map_break(|()| End::Enough),
            Rest::Met(optional, rest) => {
                self.solve(rest, sink)?;
                Break(End::Met(optional))
            }
            Rest::Goals([], _, rest) => self.solve(rest, sink),
            Rest::Goals([goal, others @ ..], at, rest) => {
                self.meet(goal, at, &Rest::Goals(others, at, rest), sink)
            }
        }
    }

    /// Meets a goal, and then the rest.
    fn meet(&mut self, goal: &Goal, at: u32, rest: &Rest<'_>, sink: Sink<'_>) -> ControlFlow<End> {
        match goal.mode {
            Mode::Plain => self.ways_to_meet(&goal.kind, at, rest, sink),
            Mode::Not if self.can_meet(&goal.kind, at) => Continue(()),
            Mode::Not => self.solve(rest, sink),
            Mode::Optional => {
                self.memory.optional += 1;
                let optional = self.memory.optional;
                match self.ways_to_meet(&goal.kind, at, &Rest::Met(optional, rest), sink) {
                    Continue(()) => self.solve(rest, sink),
                    Break(End::Met(met)) if met == optional => Continue(()),
                    Break(end) => Break(end),
                }
            }
        }
    }

    fn ways_to_meet(
        &mut self,
        kind: &GoalKind,
        at: u32,
        rest: &Rest<'_>,
        sink: Sink<'_>,
    ) -> ControlFlow<End> {
        match kind {
            GoalKind::Any(alternatives) => alternatives.iter().try_for_each(|goals| {
                if self.program.are_closed(goals) && !self.can_meet_each(goals, at) {
                    return Continue(());
                }
                self.solve(&Rest::Goals(goals, at, rest), sink)
            }),
            &GoalKind::Related(relation, target) => {
                let view = self.view;
                view.each(relation, at, &mut |node| self.visit(target, node, rest, sink))
            }
        }
    }

    /// Whether a goal without its mark can be met, with the names and variables as they are.
    fn can_meet(&mut self, kind: &GoalKind, at: u32) -> bool {
        match kind {
            GoalKind::Any(alternatives) => {
                alternatives.iter().any(|goals| self.can_meet_all(goals, at))
            }
            &GoalKind::Related(relation, target) => {
                let view = self.view;
                let mut find =
                    |node| if self.can_match(target, node) { Break(()) } else { Continue(()) };
                view.each(relation, at, &mut find).is_break()
            }
        }
    }

    /// Whether goals can be met together.
    fn can_meet_all(&mut self, goals: &[Goal], at: u32) -> bool {
        if self.program.are_closed(goals) {
            return self.can_meet_each(goals, at);
        }
        self.solve(&Rest::Goals(goals, at, &Rest::Nothing), &mut |_| Break(()))
            == Break(End::Enough)
    }

    /// Whether goals can be met that do not depend on each other, because they are closed.
    fn can_meet_each(&mut self, goals: &[Goal], at: u32) -> bool {
        goals.iter().all(|goal| match goal.mode {
            Mode::Plain => self.can_meet(&goal.kind, at),
            Mode::Not => !self.can_meet(&goal.kind, at),
            Mode::Optional => true,
        })
    }

    /// Whether a node of the pattern matches at a position.
    fn can_match(&mut self, id: PatternNodeId, at: u32) -> bool {
        if !self.may_go_on() || !self.is_labelled(id, at) {
            return false;
        }
        let program = self.program;
        let node = program.node(id);
        let Some(memo) = node.memo else {
            let is_leaf = node.goals.is_empty() && node.groups.is_empty();
            return is_leaf
                || self.visit(id, at, &Rest::Nothing, &mut |_| Break(())) == Break(End::Enough);
        };
        let place = memo as usize * self.view.index.len() as usize + at as usize;
        if self.memory.answers[place] == 0 {
            self.memory.answers[place] = 1 + u8::from(self.can_meet_each(&node.goals, at));
        }
        self.memory.answers[place] == 2
    }

    /// In how many ways a node of a closed pattern matches at a position; `u64::MAX` stands for more.
    pub(super) fn count(&mut self, id: PatternNodeId, at: u32) -> u64 {
        if !self.may_go_on() || !self.is_labelled(id, at) {
            return 0;
        }
        let program = self.program;
        let node = program.node(id);
        let Some(memo) = node.memo else { return 1 };
        let place = memo as usize * self.view.index.len() as usize + at as usize;
        if self.memory.ways[place] == 0 {
            let ways = self.count_all(&node.goals, at);
            self.memory.ways[place] = ways.saturating_add(1);
        }
        self.memory.ways[place] - 1
    }

    fn count_all(&mut self, goals: &[Goal], at: u32) -> u64 {
        let mut ways = 1_u64;
        for goal in goals {
            ways = ways.saturating_mul(match goal.mode {
                Mode::Plain => self.count_goal(&goal.kind, at),
                Mode::Not => u64::from(!self.can_meet(&goal.kind, at)),
                Mode::Optional => 1,
            });
            if ways == 0 {
                break;
            }
        }
        ways
    }

    fn count_goal(&mut self, kind: &GoalKind, at: u32) -> u64 {
        let mut ways = 0_u64;
        match kind {
            GoalKind::Any(alternatives) => {
                for goals in alternatives {
                    ways = ways.saturating_add(self.count_all(goals, at));
                }
            }
            &GoalKind::Related(relation, target) => {
                let view = self.view;
                let _: ControlFlow<()> = view.each(relation, at, &mut |node| {
                    ways = ways.saturating_add(self.count(target, node));
                    Continue(())
                });
            }
        }
        ways
    }

    /// Gives the variables of a node their texts; returns false if one has another text already.
    fn capture(&mut self, id: PatternNodeId, at: u32) -> bool {
        use super::labels::TestKind;
        let program = self.program;
        let node = program.node(id);
        let Target::Labelled(test) = node.target else { return true };
        let (labels, label) = (self.view.labels, self.view.index.label(at));
        let test = labels.test(test);
        let TestKind::Regex(regex) = &test.kind else { return true };
        let Ok(Some(captures)) = regex.captures(test.part(labels.text(label))) else {
            return false;
        };
        for &(group, variable) in &node.groups {
            let text = captures.get(group);
            let known = self.memory.variables[variable as usize]
                .map(|(label, start, end)| &labels.text(label)[start..end]);
            match (known, text) {
                (Some(known), text) if text.map(|text| text.as_str()) != Some(known) => {
                    return false;
                }
                (None, Some(text)) => {
                    self.memory.variables[variable as usize] =
                        Some((label, text.start(), text.end()));
                }
                _ => {}
            }
        }
        true
    }
}

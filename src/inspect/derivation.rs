//! A derivation for people: each configuration with the action that is taken in it.

use serde::Serialize;

use super::trace::Decision;
use crate::decode::{Cursor, Problem};
use crate::scorer::{Reading, Unscored};
use crate::symbols::Sentence;
use crate::transition::{Action, Forest, NO_HEAD, State, TransitionSystem};
use crate::tree::{Token, Tree};

/// How much of a stack is kept: a derivation of a long sentence with a deep stack is not quadratic in its length.
const MAX_STACK: usize = 200;

/// A derivation of a sentence.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Derivation {
    /// The words, as the parser sees them.
    pub words: Vec<String>,
    /// Their tags.
    pub tags: Vec<String>,
    /// Everything that is ever on the stack, in the order in which it is built.
    pub constituents: Vec<Built>,
    /// The configurations; the last one has no action.
    pub steps: Vec<Step>,
}

/// A constituent, or a token on the stack.
#[derive(Debug, Clone, Serialize)]
pub struct Built {
    /// The label, with a `*` for temporary nodes; none for a token.
    pub label: Option<String>,
    /// Whether it is open: not complete yet.
    pub open: bool,
    /// The first token.
    pub start: u32,
    /// One past the last token.
    pub end: u32,
    /// The head token, if there is one.
    pub head: Option<u32>,
    /// Its children, as positions among the constituents.
    pub children: Vec<u32>,
}

/// A configuration and the action taken.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// The stack from bottom to top, as positions among the constituents; in item systems the frontier. If it is longer
    /// than `MAX_STACK`, its upper part.
    pub stack: Vec<u32>,
    /// The length of the part of the stack that is left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub below: usize,
    /// The first token of the buffer.
    pub buffer: u32,
    /// The action; none in the last configuration.
    pub action: Option<String>,
    /// How a model decided on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Derivation {
    /// Follows actions, each legal in its turn, and looks at every decision.
    pub(crate) fn follow(
        problem: Problem<'_>,
        (tokens, actions): (&[Token], &[Action]),
        reading: &mut dyn Reading,
        mut decide: impl FnMut((&Cursor, &Forest), Action, &mut dyn Reading) -> Option<Decision>,
    ) -> Self {
        let system = problem.system;
        let mut found = Self {
            words: tokens.iter().map(|token| token.word.to_string()).collect(),
            tags: tokens.iter().map(|token| token.tag.to_string()).collect(),
            ..Self::default()
        };
        let (mut cursor, mut forest) = Cursor::start(problem, reading);
        for &action in actions {
            let decision = decide((&cursor, &forest), action, reading);
            let name = Some(system.name(action));
            found.step(system, (&cursor.state, &forest), name, decision);
            cursor.take(problem, &mut forest, action, reading);
        }
        found.step(system, (&cursor.state, &forest), None, None);
        found
    }

    /// The derivation of a gold tree; empty if the system cannot build it.
    pub fn of_gold(system: &dyn TransitionSystem, sentence: &Sentence, tree: &Tree) -> Self {
        let actions = system.derivation(tree).unwrap_or_default();
        let problem = Problem { system, sentence };
        let path = (tree.tokens(), &actions[..]);
        Self::follow(problem, path, &mut Unscored, |_, _, _| None)
    }

    /// Adds a configuration, and the constituents that are new in it.
    fn step(
        &mut self,
        system: &dyn TransitionSystem,
        (state, forest): (&State, &Forest),
        action: Option<String>,
        decision: Option<Decision>,
    ) {
        let view = system.view(state, forest);
        for id in self.constituents.len() as u32..view.forest.len() as u32 {
            let node = view.forest.node(id);
            let star = if node.temporary { "*" } else { "" };
            self.constituents.push(Built {
                label: node.label.map(|label| format!("{}{star}", system.label_name(label))),
                open: node.open,
                start: node.start,
                end: node.end,
                head: Some(node.head).filter(|&head| head != NO_HEAD),
                children: view.forest.children(id).to_vec(),
            });
        }
        let below = view.stack.len().saturating_sub(MAX_STACK);
        let mut stack: Vec<u32> = view.stack.from_top().take(MAX_STACK).collect();
        stack.reverse();
        self.steps.push(Step { stack, below, buffer: view.buffer, action, decision });
    }

    /// The stack of a configuration from bottom to top: a constituent as its label and head word, with an opening
    /// bracket if it is still open; a token as its word and tag.
    pub fn stack_text(&self, step: &Step) -> String {
        let item = |&id: &u32| {
            let Built { label, open, head, .. } = &self.constituents[id as usize];
            let word = |head: u32| self.words.get(head as usize).map_or("", String::as_str);
            match (label, head) {
                (Some(label), head) => {
                    let bracket = if *open { "(" } else { "" };
                    let head = head.map_or_else(String::new, |head| format!("[{}]", word(head)));
                    format!("{bracket}{label}{head}")
                }
                (None, Some(head)) => {
                    let tag = self.tags.get(*head as usize).map_or("", String::as_str);
                    format!("{}/{tag}", word(*head))
                }
                (None, None) => String::new(),
            }
        };
        let below = (step.below > 0).then(|| "…".to_owned());
        below.into_iter().chain(step.stack.iter().map(item)).collect::<Vec<_>>().join(" ")
    }

    /// The first words of the buffer of a configuration.
    pub fn buffer_text(&self, step: &Step) -> String {
        let buffer = self.words.get(step.buffer as usize..).unwrap_or_default();
        let mut words: Vec<&str> = buffer.iter().take(3).map(String::as_str).collect();
        if buffer.len() > words.len() {
            words.push("…");
        }
        words.join(" ")
    }
}

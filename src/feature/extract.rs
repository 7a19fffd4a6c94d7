//! Feature extraction: evaluates every distinct address of a template file once per configuration.

pub mod tree;

use super::Row;
use super::template::{Address, Anchor, Field, Group, Path, PathStep, Question, Templates};
use crate::symbols::{Label, NOTHING, Sentence, is_nominal_or_verbal};
use crate::transition::{Action, Constituent, Dependents, Focus, NO_NODE, View};

/// Offset that separates tags from labels in the field `n`.
const TAG_SYMBOLS: u32 = 1 << 20;
/// Stands for no token.
const NO_TOKEN: u32 = u32::MAX;
/// The head token of a position beyond the end of the stack or buffer.
const BEYOND: u32 = u32::MAX - 1;
/// The value of all nominal fields of such a position.
const BOUNDARY: u32 = 1 << 21;

/// The meaning of a value of the fields `c` and `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolValue {
    /// A position beyond the end of the stack or buffer.
    Outside,
    /// The value of a tag.
    Tag(u32),
    /// A constituent.
    Label {
        /// Its label.
        label: Label,
        /// Whether it is a temporary node.
        temporary: bool,
        /// Whether it is open.
        open: bool,
    },
}

/// Reads a value of the fields `c` and `n` that is not [`NOTHING`]; see [`Constituent::symbol`].
pub fn symbol(value: u32) -> SymbolValue {
    match value {
        BOUNDARY => SymbolValue::Outside,
        TAG_SYMBOLS.. => SymbolValue::Tag(value - TAG_SYMBOLS),
        _ => SymbolValue::Label {
            label: Label(((value & 0x3_ffff) / 2).saturating_sub(1) as u16),
            temporary: value % 2 == 1,
            open: value >> 18 & 1 == 1,
        },
    }
}

/// A position in a configuration.
#[derive(Debug, Clone, Copy)]
struct FoundPosition {
    /// The constituent, if the position is on the stack or a descendant of such an item.
    node: u32,
    /// The head token, or a marker if the position does not exist.
    token: u32,
    /// The topmost constituent with this head, if it has been shifted: its dependents are those of the token.
    projection: u32,
}

const MISSING: FoundPosition = FoundPosition::token(NO_TOKEN);
const OUTSIDE: FoundPosition = FoundPosition::token(BEYOND);

impl FoundPosition {
    /// A token that has no dependents.
    const fn token(token: u32) -> Self {
        Self { node: NO_NODE, token, projection: NO_NODE }
    }
}

/// How a position is reached: from an anchor, or by a step from another position.
#[derive(Debug, Clone, Copy)]
enum AddressPart {
    Anchor(Anchor),
    Step(u16, PathStep),
}

/// Evaluates the addresses of a template file.
#[derive(Debug, Clone)]
pub struct Extractor {
    parts: Vec<AddressPart>,
    /// About positions in `parts`, and whether the value is binned.
    questions: Vec<(Question<u16>, bool)>,
}

/// Working memory of one thread for [`Extractor::extract`].
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    found: Vec<FoundPosition>,
}

impl Extractor {
    /// Returns the extractor for a template file.
    pub fn new(templates: &Templates) -> Self {
        let mut extractor = Self { parts: Vec::new(), questions: Vec::new() };
        let mut paths: Vec<Path> = Vec::new();
        for Address { question, binned } in templates.addresses() {
            let question = question.map(|path| extractor.place(&mut paths, path));
            extractor.questions.push((question, *binned));
        }
        extractor
    }

    /// Returns the index of a path in `parts`, adding all of its prefixes.
    fn place(&mut self, paths: &mut Vec<Path>, path: &Path) -> u16 {
        if let Some(known) = paths.iter().position(|known| known == path) {
            return known as u16;
        }
        let part = match path.steps.split_last() {
            None => AddressPart::Anchor(path.anchor),
            Some((&step, before)) => {
                let before = Path { anchor: path.anchor, steps: before.to_vec() };
                AddressPart::Step(self.place(paths, &before), step)
            }
        };
        paths.push(path.clone());
        self.parts.push(part);
        self.parts.len() as u16 - 1
    }

    /// Returns the number of columns.
    #[cfg(test)]
    pub(crate) fn n_columns(&self) -> usize {
        self.questions.len()
    }

    /// Returns how many items on each side of a candidate the row depends on; `None` if it depends on other parts
    /// of the configuration too.
    pub fn reach(&self) -> Option<usize> {
        let reach_of_part = |part: &AddressPart| match *part {
            AddressPart::Anchor(Anchor::Before(n) | Anchor::After(n)) => Some(usize::from(n) + 1),
            AddressPart::Anchor(
                Anchor::Stack(_) | Anchor::Buffer(_) | Anchor::Open(_) | Anchor::Complete(_),
            ) => None,
            AddressPart::Anchor(_) | AddressPart::Step(..) => Some(0),
        };
        let is_local = |question: &Question<u16>| {
            use Question::{Comma, Distance, Field, Group, Kids};
            matches!(question, Field(..) | Kids(..) | Group { .. } | Distance(..) | Comma(..))
        };
        let reaches = self.parts.iter().map(reach_of_part);
        let farthest = reaches.reduce(|a, b| Some(a?.max(b?))).unwrap_or(Some(0));
        farthest.filter(|_| self.questions.iter().all(|(question, _)| is_local(question)))
    }

    /// Writes the columns of a configuration into `row`.
    pub fn extract(
        &self,
        sentence: &Sentence,
        view: &View<'_>,
        scratch: &mut Scratch,
        row: &mut Row,
    ) {
        scratch.found.clear();
        for part in &self.parts {
            let found = match *part {
                AddressPart::Anchor(anchor) => anchored(sentence, view, anchor),
                AddressPart::Step(from, step) => {
                    stepped(view, scratch.found[usize::from(from)], step)
                }
            };
            scratch.found.push(found);
        }
        row.values.clear();
        row.members.clear();
        let found = |place: u16| scratch.found[usize::from(place)];
        for &(question, binned) in &self.questions {
            let value = match question {
                Question::Field(place, field) => field_of(sentence, view, found(place), field),
                Question::Kids(place, field) => {
                    let node = found(place).node;
                    let kids = if node == NO_NODE { &[][..] } else { view.forest.children(node) };
                    let kids = kids.iter().map(|&node| on_top(view, node));
                    let kids = kids.map(|kid| field_of(sentence, view, kid, field));
                    write_set(kids, &mut row.members)
                }
                Question::Group { group, terminals, field } => {
                    let parts = view.focus.map(|focus| group_of(group, focus)).unwrap_or_default();
                    let parts =
                        parts.map(|(first, last)| &view.frontier[first as usize..last as usize]);
                    let field = |found| field_of(sentence, view, found, field);
                    if terminals {
                        let tokens = parts.into_iter().flat_map(|part| tokens_under(view, part));
                        write_set(
                            tokens.map(|token| field(FoundPosition::token(token))),
                            &mut row.members,
                        )
                    } else {
                        let kids = parts.into_iter().flatten();
                        write_set(kids.map(|&node| field(on_top(view, node))), &mut row.members)
                    }
                }
                Question::Distance(a, b) => match (found(a).token, found(b).token) {
                    (BEYOND.., _) | (_, BEYOND..) => 0,
                    (a, b) => a.abs_diff(b),
                },
                Question::Comma(a, b) => match (found(a).token, found(b).token) {
                    (BEYOND.., _) | (_, BEYOND..) => 0,
                    (a, b) => u32::from(comma_between(sentence, a.min(b), a.max(b))),
                },
                Question::StackSize => view.stack.len() as u32,
                Question::BufferSize => sentence.len() as u32 - view.buffer,
                Question::StackEmpty => u32::from(view.stack.is_empty()),
                Question::BufferEmpty => u32::from(view.buffer as usize >= sentence.len()),
                Question::OpenPunctuation => sentence.before(view.buffer).open % 2,
                Question::Pending(n) => pending(view, n.into()),
                Question::Action(back) => {
                    let code = view.recent[usize::from(back)].checked_sub(1);
                    code.map_or(0, |code| view.actions.row(Action::new(code)).number + 1)
                }
                Question::Tree(levels) => tree::write(sentence, view, levels, &mut row.members),
            };
            row.values.push(if binned { bin(value) } else { value });
        }
    }
}

fn comma_between(sentence: &Sentence, first: u32, last: u32) -> bool {
    sentence.before(last).commas > sentence.before(first + 1).commas
}

/// Bins a number: 0 to 4 separately, then 5–6, 7–10, 11–20, more. Bins are numbered from 1, because 0 means that
/// there is no value.
fn bin(value: u32) -> u32 {
    1 + match value {
        0..=4 => value,
        5..=6 => 5,
        7..=10 => 6,
        11..=20 => 7,
        _ => 8,
    }
}

/// Returns the number of complete children of the `n`-th open constituent, counted from the innermost.
fn pending(view: &View<'_>, n: usize) -> u32 {
    let Some(own) = view.open.nth(n) else { return 0 };
    let inside = n.checked_sub(1).and_then(|n| view.open.nth(n));
    inside.map_or(view.complete.len() as u32, |inside| inside.first) - own.first
}

fn on_frontier(view: &View<'_>, at: Option<usize>) -> FoundPosition {
    let node = at.and_then(|at| view.frontier.get(at));
    node.map_or(OUTSIDE, |&node| on_top(view, node))
}

/// A constituent that is part of no other one with its head.
fn on_top(view: &View<'_>, node: u32) -> FoundPosition {
    FoundPosition { node, token: view.forest.node(node).head, projection: node }
}

fn anchored(sentence: &Sentence, view: &View<'_>, anchor: Anchor) -> FoundPosition {
    let on_stack = |node: Option<u32>| node.map_or(OUTSIDE, |node| on_top(view, node));
    match anchor {
        Anchor::Stack(n) => on_stack(view.stack.nth(n.into())),
        Anchor::Buffer(n) => {
            let token = view.buffer + u32::from(n);
            if (token as usize) < sentence.len() { FoundPosition::token(token) } else { OUTSIDE }
        }
        Anchor::Before(n) => on_frontier(
            view,
            view.focus.and_then(|f| (f.first as usize).checked_sub(usize::from(n) + 1)),
        ),
        Anchor::After(n) => on_frontier(view, view.focus.map(|f| f.last as usize + usize::from(n))),
        Anchor::Open(n) => on_stack(view.open.nth(n.into()).map(|open| open.node)),
        Anchor::Complete(n) => on_stack(view.complete.nth(n.into())),
        Anchor::LeftChild(n) => child_of(view, |focus| Some(focus.first + u32::from(n))),
        Anchor::RightChild(n) => child_of(view, |focus| focus.last.checked_sub(u32::from(n) + 1)),
        Anchor::HeadChild => child_of(view, |focus| Some(focus.head)),
        Anchor::LeftOfHead(n) => child_of(view, |focus| focus.head.checked_sub(u32::from(n) + 1)),
        Anchor::RightOfHead(n) => child_of(view, |focus| Some(focus.head + u32::from(n) + 1)),
    }
}

/// Returns a child of the candidate by its index on the frontier, or [`MISSING`].
fn child_of(view: &View<'_>, at: impl Fn(Focus) -> Option<u32>) -> FoundPosition {
    let is_child = |focus: Focus| at(focus).filter(|at| (focus.first..focus.last).contains(at));
    let child = view.focus.and_then(is_child);
    child.map_or(MISSING, |at| on_top(view, view.frontier[at as usize]))
}

fn stepped(view: &View<'_>, from: FoundPosition, step: PathStep) -> FoundPosition {
    if from.token >= BEYOND {
        return MISSING;
    }
    let dependent = |pick: fn(&Dependents) -> u32| match pick(&dependents_of(view, from)) {
        NO_NODE => MISSING,
        // Its dependents, but not the constituent, are reached from here.
        node => FoundPosition { node: NO_NODE, ..on_top(view, node) },
    };
    let children = if from.node == NO_NODE { &[][..] } else { view.forest.children(from.node) };
    let child = |child: Option<&u32>| child.map_or(MISSING, |&node| below(view, from, node));
    match step {
        PathStep::Left => child(children.first().filter(|_| children.len() > 1)),
        PathStep::Right => child(children.last().filter(|_| children.len() > 1)),
        PathStep::Only => child(children.first().filter(|_| children.len() == 1)),
        PathStep::First => child(children.first()),
        PathStep::Last => child(children.last()),
        PathStep::Head => {
            let is_head = |&&node: &&u32| view.forest.node(node).head == from.token;
            child(children.iter().find(is_head))
        }
        PathStep::LeftDependent => dependent(|d| d.left),
        PathStep::RightDependent => dependent(|d| d.right),
    }
}

/// A child of a constituent: the head child shares its head.
fn below(view: &View<'_>, parent: FoundPosition, node: u32) -> FoundPosition {
    let child = on_top(view, node);
    let is_head = child.token == parent.token;
    FoundPosition { projection: if is_head { parent.projection } else { node }, ..child }
}

/// The dependents of a token so far.
fn dependents_of(view: &View<'_>, found: FoundPosition) -> Dependents {
    match found.projection {
        NO_NODE => Dependents::default(),
        node => view.forest.dependents(node),
    }
}

#[inline(always)]
fn field_of(sentence: &Sentence, view: &View<'_>, found: FoundPosition, field: Field) -> u32 {
    let FoundPosition { node, token, .. } = found;
    if token >= BEYOND {
        if node != NO_NODE {
            return of_open_nonterminal(sentence, view, view.forest.node(node), field);
        }
        return if token == NO_TOKEN || field.is_number() { NOTHING } else { BOUNDARY };
    }
    let token_at = token as usize;
    let constituent = (node != NO_NODE).then(|| view.forest.node(node));
    let span = constituent.map_or((token, token + 1), |node| (node.start, node.end));
    let dependents = || dependents_of(view, found);
    match field {
        Field::Word => sentence.words[token_at],
        Field::Tag => sentence.tags[token_at],
        Field::Label => constituent.map_or(NOTHING, |node| node.symbol()),
        Field::Symbol => match constituent.map_or(NOTHING, |node| node.symbol()) {
            NOTHING => TAG_SYMBOLS + sentence.tags[token_at],
            symbol => symbol,
        },
        Field::LeftWord => sentence.words[span.0 as usize],
        Field::LeftTag => sentence.tags[span.0 as usize],
        Field::RightWord => sentence.words[span.1 as usize - 1],
        Field::RightTag => sentence.tags[span.1 as usize - 1],
        Field::Suffix2 => sentence.forms[token_at].suffix2,
        Field::Suffix3 => sentence.forms[token_at].suffix3,
        Field::Shape => sentence.forms[token_at].shape,
        Field::Length => span.1 - span.0,
        Field::Arity => {
            if node == NO_NODE {
                0
            } else {
                view.forest.children(node).len() as u32
            }
        }
        Field::Dependents => dependents().n_left + dependents().n_right,
        Field::LeftDependents => dependents().n_left,
        Field::RightDependents => dependents().n_right,
        Field::Punctuation => {
            sentence.before(span.1).marks.saturating_sub(sentence.before(span.0).marks)
        }
        Field::Rhythm => match constituent.and_then(|node| phrase_label(view, node)) {
            Some(label) if is_nominal_or_verbal(label) => span.1 - span.0,
            Some(_) => 0,
            None => sentence.rhythms.get(token_at).map_or(0, |&rhythm| rhythm.into()),
        },
    }
}

/// Returns a field of an open nonterminal that has no words yet: its label, and what its start determines.
fn of_open_nonterminal(
    sentence: &Sentence,
    view: &View<'_>,
    node: &Constituent,
    field: Field,
) -> u32 {
    let first = |values: &[u32]| values.get(node.start as usize).copied().unwrap_or(NOTHING);
    match field {
        Field::Label | Field::Symbol => node.symbol(),
        Field::LeftWord => first(&sentence.words),
        Field::LeftTag => first(&sentence.tags),
        Field::Length => view.buffer - node.start,
        _ => NOTHING,
    }
}

/// Returns the name of the label of a constituent; `None` for a token.
fn phrase_label<'a>(view: &View<'a>, node: &Constituent) -> Option<&'a str> {
    node.label.map(|label| view.labels.name(label.0.into()).unwrap_or_default())
}

/// Returns the one or two ranges of the frontier that form a group of the candidate's children; unused ranges are empty.
fn group_of(group: Group, Focus { first, last, head }: Focus) -> [(u32, u32); 2] {
    let part = |first: u32, last: u32| [(first, last.max(first)), (first, first)];
    match group {
        Group::Kids => part(first, last),
        Group::NonHead => [(first, head), (head + 1, last)],
        Group::NonLeft => part(first + 1, last),
        Group::NonRight => part(first, last - 1),
        Group::PreHead => part(first, head),
        Group::PostHead => part(head + 1, last),
        Group::ToHead => part(first, head + 1),
        Group::FromHead => part(head, last),
    }
}

/// Returns the tokens dominated by a range of the frontier.
fn tokens_under(view: &View<'_>, part: &[u32]) -> std::ops::Range<u32> {
    match (part.first(), part.last()) {
        (Some(&first), Some(&last)) => view.forest.node(first).start..view.forest.node(last).end,
        _ => 0..0,
    }
}

/// Appends a set and returns the index of its size.
fn write_set(values: impl Iterator<Item = u32>, members: &mut Vec<u32>) -> u32 {
    let size_at = members.len();
    members.push(0);
    members.extend(values);
    members[size_at + 1..].sort_unstable();
    let mut kept = size_at + 1;
    for at in size_at + 1..members.len() {
        if at == size_at + 1 || members[at] != members[kept - 1] {
            members[kept] = members[at];
            kept += 1;
        }
    }
    members.truncate(kept);
    members[size_at] = (kept - size_at - 1) as u32;
    size_at as u32
}

#[cfg(test)]
mod tests;

//! The parser of addresses.

use super::super::ColumnKind;
use super::{Address, Anchor, Field, Group, MAX_STEPS, Path, PathStep, Question};
use crate::error::choices;

const GROUPS: [(&str, Group); 8] = [
    ("kids", Group::Kids),
    ("nonhead", Group::NonHead),
    ("nonleft", Group::NonLeft),
    ("nonright", Group::NonRight),
    ("prehead", Group::PreHead),
    ("posthead", Group::PostHead),
    ("tohead", Group::ToHead),
    ("fromhead", Group::FromHead),
];

const FIELDS: [(&str, Field); 18] = [
    ("w", Field::Word),
    ("t", Field::Tag),
    ("c", Field::Label),
    ("n", Field::Symbol),
    ("lw", Field::LeftWord),
    ("lt", Field::LeftTag),
    ("rw", Field::RightWord),
    ("rt", Field::RightTag),
    ("sf2", Field::Suffix2),
    ("sf3", Field::Suffix3),
    ("shape", Field::Shape),
    ("len", Field::Length),
    ("arity", Field::Arity),
    ("deps", Field::Dependents),
    ("ldeps", Field::LeftDependents),
    ("rdeps", Field::RightDependents),
    ("punct", Field::Punctuation),
    ("rhythm", Field::Rhythm),
];

const STEPS: [(&str, PathStep); 8] = [
    ("l", PathStep::Left),
    ("r", PathStep::Right),
    ("u", PathStep::Only),
    ("first", PathStep::First),
    ("last", PathStep::Last),
    ("head", PathStep::Head),
    ("ld", PathStep::LeftDependent),
    ("rd", PathStep::RightDependent),
];

/// Makes an anchor from its number.
type Numbered = fn(u8) -> Anchor;

/// The numbered positions.
const PLACES: [(&str, Numbered); 10] = [
    ("s", Anchor::Stack),
    ("b", Anchor::Buffer),
    ("o", Anchor::Open),
    ("c", Anchor::Complete),
    ("before", Anchor::Before),
    ("after", Anchor::After),
    ("left", Anchor::LeftChild),
    ("right", Anchor::RightChild),
    ("headleft", Anchor::LeftOfHead),
    ("headright", Anchor::RightOfHead),
];

/// Parses one address.
pub(super) fn parse_address(word: &str) -> Result<Address, String> {
    let (body, binned) = match word.strip_suffix(".bin") {
        Some(body) => (body, true),
        None => (word, false),
    };
    let question = match body.split_once('(') {
        Some((function, rest)) => {
            let inside =
                rest.strip_suffix(')').ok_or_else(|| format!("`{word}` has no closing `)`"))?;
            parse_function(function, inside)?
        }
        None => parse_field(body)?,
    };
    let address = Address { question, binned: false };
    if binned && address.kind() != ColumnKind::Number {
        return Err(format!("`{word}`: only numbers can be binned: remove `.bin`"));
    }
    Ok(Address { binned, ..address })
}

const FUNCTIONS: [&str; 8] =
    ["distance", "comma", "size", "empty", "open", "pending", "action", "tree"];

fn parse_function(function: &str, inside: &str) -> Result<Question, String> {
    match (function, inside) {
        ("size", "stack") => Ok(Question::StackSize),
        ("size", "buffer") => Ok(Question::BufferSize),
        ("size", _) => Err(format!("`size({inside})`: write size(stack) or size(buffer)")),
        ("action", "0") => Ok(Question::Action(0)),
        ("action", "1") => Ok(Question::Action(1)),
        ("action", _) => Err(format!("`action({inside})`: write action(0) or action(1)")),
        ("tree", _) => match inside.parse() {
            Ok(levels @ 1..=9) => Ok(Question::Tree(levels)),
            _ => Err(format!("`tree({inside})`: write tree(1) to tree(9)")),
        },
        ("empty", "stack") => Ok(Question::StackEmpty),
        ("empty", "buffer") => Ok(Question::BufferEmpty),
        ("empty", _) => Err(format!("`empty({inside})`: write empty(stack) or empty(buffer)")),
        ("open", "punctuation") => Ok(Question::OpenPunctuation),
        ("open", _) => Err(format!("`open({inside})`: write open(punctuation)")),
        ("pending", _) => match parse_anchor(inside)? {
            Anchor::Open(n) => Ok(Question::Pending(n)),
            _ => Err(format!("`pending({inside})`: write pending(o0) to pending(o9)")),
        },
        ("distance" | "comma", _) => {
            let (a, b) = inside.split_once(',').ok_or_else(|| {
                format!("`{function}({inside})` needs two positions, such as {function}(s0,s1)")
            })?;
            let (a, b) = (parse_path(a)?, parse_path(b)?);
            let question = if function == "comma" { Question::Comma } else { Question::Distance };
            Ok(question(a, b))
        }
        _ => Err(format!(
            "unknown function `{function}`: the functions are {}",
            FUNCTIONS.join(", ")
        )),
    }
}

fn parse_field(body: &str) -> Result<Question, String> {
    let (path, name) = body
        .rsplit_once('.')
        .ok_or_else(|| format!("`{body}` has no field: add one, such as {body}.w"))?;
    let field =
        FIELDS.iter().find(|(known, _)| *known == name).map(|&(_, field)| field).ok_or_else(
            || {
                let known = FIELDS.iter().map(|&(known, _)| known);
                let choices = choices(name, "the fields are", known);
                format!("unknown field `{name}` in `{body}`: {choices}")
            },
        )?;
    let group =
        path.strip_prefix("item").filter(|group| group.is_empty() || group.starts_with('.'));
    match (group, path.strip_suffix(".kids")) {
        (None, None) => Ok(Question::Field(parse_path(path)?, field)),
        _ if field.is_number() => {
            Err(format!("`{body}`: a set cannot have numbers: choose a nominal field"))
        }
        (Some(group), _) => parse_group(group.trim_start_matches('.'), field, body),
        (None, Some(path)) => Ok(Question::Kids(parse_path(path)?, field)),
    }
}

/// Parses a group of the candidate's children, without `item.`.
fn parse_group(text: &str, field: Field, body: &str) -> Result<Question, String> {
    let (name, terminals) = match text.strip_suffix(".terminals") {
        Some(name) => (name, true),
        None => (text, false),
    };
    let group = GROUPS.iter().find(|(known, _)| *known == name).map(|&(_, group)| group);
    let group = group.ok_or_else(|| {
        let known = GROUPS.map(|(known, _)| known).join(", ");
        format!(
            "`{body}`: of the candidate, only groups of children can be addressed: item.{{{known}}}"
        )
    })?;
    Ok(Question::Group { group, terminals, field })
}

fn parse_path(text: &str) -> Result<Path, String> {
    let mut parts = text.split('.');
    let first = parts.next().unwrap_or_default();
    let anchor = parse_anchor(first)?;
    if parts.clone().count() > MAX_STEPS {
        return Err(format!("more than {MAX_STEPS} steps from `{first}`: remove some"));
    }
    let step = |name: &str| {
        let found = STEPS.iter().find(|(known, _)| *known == name).map(|&(_, step)| step);
        found.ok_or_else(|| {
            format!("unknown step `{name}` in `{text}`: the steps are l, r, u, first, last, head, ld, rd and kids")
        })
    };
    Ok(Path { anchor, steps: parts.map(step).collect::<Result<_, _>>()? })
}

fn parse_anchor(name: &str) -> Result<Anchor, String> {
    if name == "head" {
        return Ok(Anchor::HeadChild);
    }
    let digit = name.chars().last().and_then(|last| last.to_digit(10)).map(|digit| digit as u8);
    if let Some(digit) = digit {
        let known = PLACES.iter().find(|(known, _)| *known == &name[..name.len() - 1]);
        if let Some((_, anchor)) = known {
            return Ok(anchor(digit));
        }
    }
    let known = PLACES.map(|(known, _)| format!("{known}0–{known}9")).join(", ");
    Err(format!("unknown position `{name}`: the positions are {known}, head and item"))
}

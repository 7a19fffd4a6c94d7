//! Checks a preset against its schema.

use serde_json::{Map, Value};

use super::Node;
use crate::error::{Error, Result, choices, did_you_mean};

/// Checks a preset, as JSON; messages say how to write `KEY=VALUE` settings.
///
/// # Errors
/// With the dotted path of the first key that is unknown, missing, or has a value that it cannot have.
pub(in crate::preset) fn check(preset: &Value) -> Result<()> {
    value(Node::root(), preset, "", in_setting)
}

/// Checks the preset of a file, as JSON; messages say how to write the file.
///
/// # Errors
/// As [`check`].
pub(in crate::preset) fn check_file(preset: &Value) -> Result<()> {
    value(Node::root(), preset, "", in_file)
}

/// How a value is written that has a path.
type Written = fn(path: &str, value: &str) -> String;

fn in_setting(path: &str, value: &str) -> String {
    format!("{path}='{value}'")
}

fn in_file(path: &str, value: &str) -> String {
    match path.rsplit('.').next() {
        // An item of a list has no key.
        Some(key) if key.parse::<usize>().is_err() => format!("{key} = {value}"),
        _ => value.to_owned(),
    }
}

fn fail(path: &str, problem: String) -> Result<()> {
    Err(Error::config(path, problem))
}

pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn value(node: Node, value: &Value, path: &str, written: Written) -> Result<()> {
    let node = node.resolved();
    let variants = node.variants();
    if !variants.is_empty() || node.text("type") == Some("object") {
        let Some(found) = value.as_object() else {
            let table = written(path, "{ … }");
            return fail(path, format!("must be a table: write {table}, or set one of its keys"));
        };
        return if variants.is_empty() {
            table(node, found, path, written)
        } else {
            variant(node, &variants, found, path, written)
        };
    }
    if node.text("type") == Some("array") {
        let Some(found) = value.as_array() else {
            return fail(path, format!("must be a list: write {}", written(path, "[ … ]")));
        };
        return list(node, found, path, written);
    }
    if is_possible(node, value) {
        return Ok(());
    }
    let choices = node.choices();
    match value {
        Value::String(given) if !choices.is_empty() => {
            let hint = did_you_mean(given, choices);
            fail(path, format!("unknown value `{given}`: {hint}give {}", node.range()))
        }
        _ if node.text("type") == Some("integer") && !value.is_u64() && !value.is_i64() => {
            fail(path, format!("must be a whole number, {}, not {value}", node.range()))
        }
        _ => fail(path, format!("must be {}, not {}", node.range(), given(value))),
    }
}

/// A value in a message. JSON has no infinity: a number that is not finite is null there.
fn given(value: &Value) -> String {
    match value {
        Value::Null => "inf".to_owned(),
        // A number with a fraction would round large whole numbers.
        Value::Number(number) if number.is_u64() || number.is_i64() => number.to_string(),
        other => other
            .as_f64()
            .map_or_else(|| other.to_string(), |number| super::shortest(number).to_string()),
    }
}

/// Whether a value that is neither a table nor a list is allowed by its node.
fn is_possible(node: Node, value: &Value) -> bool {
    let mut alternatives = node.list("anyOf").peekable();
    if alternatives.peek().is_some() {
        // The alternatives of a range do not repeat the type.
        let is_fraction = node.text("type") == Some("integer") && value.is_f64();
        return !is_fraction && alternatives.any(|node| is_possible(node, value));
    }
    let choices = node.choices();
    match value {
        Value::Bool(_) => node.text("type") == Some("boolean"),
        Value::String(text) if !choices.is_empty() => choices.contains(&text.as_str()),
        Value::String(_) => node.text("type") == Some("string"),
        Value::Null => is_number(node) && node.contains(f64::INFINITY),
        Value::Number(number) => {
            let is_whole = number.is_u64() || number.is_i64();
            is_number(node)
                && (is_whole || node.text("type") != Some("integer"))
                && number.as_f64().is_some_and(|number| node.contains(super::shortest(number)))
        }
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// Whether a node is numeric; alternatives of a range do not repeat the type.
fn is_number(node: Node) -> bool {
    node.choices().is_empty() && matches!(node.text("type"), None | Some("integer" | "number"))
}

fn variant(
    node: Node,
    variants: &[(&str, Node)],
    found: &Map<String, Value>,
    path: &str,
    written: Written,
) -> Result<()> {
    let kinds: Vec<&str> = variants.iter().map(|(kind, _)| *kind).collect();
    let (key, known) = (join(path, "kind"), kinds.join(", "));
    let kind = found.get("kind").map(|kind| kind.as_str().unwrap_or_default());
    let Some(kind) = kind.or(node.text("default-kind")) else {
        return fail(&key, format!("is missing: choose one of {known}"));
    };
    let Some((_, node)) = variants.iter().find(|(other, _)| *other == kind) else {
        let hint = did_you_mean(kind, kinds);
        return fail(&key, format!("unknown kind `{kind}`: {hint}choose one of {known}"));
    };
    table(*node, found, path, written)
}

fn table(node: Node, found: &Map<String, Value>, path: &str, written: Written) -> Result<()> {
    // `variant` has found the kind.
    let mut required = node.required().filter(|key| *key != "kind");
    if let Some(missing) = required.find(|key| !found.contains_key(*key)) {
        return fail(&join(path, missing), "is missing".to_owned());
    }
    for (key, inner) in found {
        let path = join(path, key);
        let Some((_, node)) = node.properties().find(|(known, _)| known == key) else {
            let known = node.properties().map(|(key, _)| key);
            let choices = choices(key, "the keys here are", known);
            return fail(&path, format!("no such key; {choices}"));
        };
        if node.text("const").is_none() {
            value(node, inner, &path, written)?;
        }
    }
    Ok(())
}

fn list(node: Node, found: &[Value], path: &str, written: Written) -> Result<()> {
    let n = found.len() as f64;
    if node.limit("minItems").is_some_and(|fewest| n < fewest) {
        return fail(path, format!("the list is empty: give {}", node.range()));
    }
    if let Some(most) = node.limit("maxItems").filter(|most| n > *most) {
        return fail(path, format!("the list has {n} items: give at most {most}"));
    }
    let Some(items) = node.0.get("items") else { return Ok(()) };
    let mut numbered = found.iter().enumerate();
    numbered.try_for_each(|(at, item)| {
        value(Node::of(items), item, &join(path, &at.to_string()), written)
    })
}

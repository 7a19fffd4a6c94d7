//! Presets as TOML: parsed to JSON, and written from it.
//!
//! Both conversions go through [`Value`], so that the code that reads and writes the settings of every type is
//! compiled once. JSON has no infinity; it is null there.

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::schema;
use crate::error::{Error, Place, Result};

/// Parses and checks a preset, or a part of one; messages call it `name`.
///
/// # Errors
/// With file, line and column.
pub(super) fn read(text: &str, name: &str, check: fn(&Value) -> Result<()>) -> Result<Value> {
    let table = DeTable::parse(text).map_err(|error| syntax(&error, text, name))?.into_inner();
    let checked = json_table(&table, "").and_then(|value| check(&value).map(|()| value));
    checked.map_err(|error| placed(error, text, name))
}

/// Parses another file of settings; messages call it `name`.
///
/// # Errors
/// When it is no TOML, a key is unknown, or a value has the wrong type: with file, line and column.
#[cfg(feature = "train")]
pub(crate) fn read_as<T: serde::de::DeserializeOwned>(text: &str, name: &str) -> Result<T> {
    toml::from_str(text).map_err(|error| syntax(&error, text, name))
}

/// Adds file, line and column to an error in a value of a text in TOML, whose path is the key of the error.
pub(crate) fn placed(error: Error, text: &str, name: &str) -> Error {
    match (error, DeTable::parse(text)) {
        (Error::Config { key, problem }, Ok(table)) => {
            let start = start_of(table.get_ref(), &key);
            Error::syntax(place(text, name, start), format!("{key}: {problem}"))
        }
        (other, _) => other,
    }
}

fn syntax(error: &toml::de::Error, text: &str, name: &str) -> Error {
    let start = error.span().map_or(0, |span| span.start);
    let problem = error.message().trim();
    let problem = match problem.strip_suffix("expected a sequence") {
        Some(found) => format!("{found}expected a list: write [ … ], or [[ … ]] for tables"),
        None => problem.to_owned(),
    };
    Error::syntax(place(text, name, start), problem)
}

fn place(text: &str, name: &str, start: usize) -> Place {
    let before = text.get(..start).unwrap_or_default();
    let line = before.matches('\n').count() as u64 + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u64 + 1;
    Place::new(name, line, column)
}

/// Parses the value after `KEY=`; `None` if it is not a TOML value.
pub(super) fn read_value(text: &str) -> Option<Value> {
    let text = format!("value = {text}");
    let table = DeTable::parse(&text).ok()?.into_inner();
    json_table(&table, "").ok()?.get("value").cloned()
}

fn json_table(table: &DeTable<'_>, path: &str) -> Result<Value> {
    let mut object = Map::new();
    for (key, value) in table {
        let key = key.get_ref();
        let path = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
        object.insert(key.to_string(), json(value.get_ref(), &path)?);
    }
    Ok(Value::Object(object))
}

fn json(value: &DeValue<'_>, path: &str) -> Result<Value> {
    let wrong = |problem: &str| Error::config(path, problem);
    Ok(match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(is_true) => Value::from(*is_true),
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix());
            Value::from(number.map_err(|_| wrong("is too large"))?)
        }
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(f64::INFINITY) => Value::Null,
            Ok(number) if number.is_finite() => Value::from(number),
            _ => return Err(wrong("is not a number that can be used here")),
        },
        DeValue::Datetime(_) => return Err(wrong("is a date, which no setting takes")),
        DeValue::Array(items) => {
            let numbered = items.iter().enumerate();
            let items = numbered.map(|(at, item)| json(item.get_ref(), &format!("{path}.{at}")));
            Value::Array(items.collect::<Result<_>>()?)
        }
        DeValue::Table(table) => json_table(table, path)?,
    })
}

/// The offset of the value at a path, or of its nearest ancestor.
fn start_of(table: &DeTable<'_>, path: &str) -> usize {
    let (mut start, mut inside): (_, Option<&DeValue<'_>>) = (0, None);
    for (depth, part) in path.split('.').enumerate() {
        let table = match inside {
            None if depth == 0 => table,
            Some(DeValue::Table(table)) => table,
            Some(DeValue::Array(items)) => {
                let Some(item) = part.parse().ok().and_then(|at: usize| items.get(at)) else {
                    break;
                };
                (start, inside) = (item.span().start, Some(item.get_ref()));
                continue;
            }
            _ => break,
        };
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == part) else { break };
        (start, inside) = (key.span().start, Some(value.get_ref()));
    }
    start
}

/// Writes a preset.
pub(super) fn write(preset: &Value) -> String {
    toml::to_string(&toml_value(preset)).unwrap_or_default()
}

fn toml_value(value: &Value) -> toml::Value {
    match value {
        Value::Null => toml::Value::Float(f64::INFINITY),
        Value::Bool(is_true) => toml::Value::Boolean(*is_true),
        Value::String(text) => toml::Value::String(text.clone()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => toml::Value::Integer(whole),
            None => toml::Value::Float(schema::shortest(number.as_f64().unwrap_or_default())),
        },
        Value::Array(items) => toml::Value::Array(items.iter().map(toml_value).collect()),
        Value::Object(table) => {
            let entries = table.iter().map(|(key, value)| (key.clone(), toml_value(value)));
            toml::Value::Table(entries.collect())
        }
    }
}

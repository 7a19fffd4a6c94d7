//! Changes of single settings: `KEY=VALUE`.

use serde_json::{Value, json};

use super::{schema, text};
use crate::error::{Error, Result, did_you_mean};

/// Changes one setting of a preset. A key is a dotted path, or the last part of one if that is unambiguous;
/// in a preset for a parser, the last part alone never means a setting of the tagger. The whole path of a
/// table or a list replaces all of it. Another kind may need settings that have no defaults: those of its table in the
/// `later` settings that follow at once. Returns how many of these are done.
///
/// # Errors
/// When the key is unknown or ambiguous, or the value is not allowed.
pub(super) fn apply(preset: &mut Value, setting: &str, later: &[String]) -> Result<usize> {
    let Some((key, text)) = setting.split_once('=') else {
        return Err(Error::config(setting, "a setting is KEY=VALUE, such as learner.epochs=5"));
    };
    let (key, text) = (key.trim(), text.trim());
    let path = full_path(preset, key)?;
    // The value is a TOML value if it parses as one, unless only a string is allowed.
    let as_text = Value::String(text.to_owned());
    let changed = replaced(preset, &path, value_of(text))
        .or_else(|refused| replaced(preset, &path, as_text).map_err(|_| refused));
    // Another kind may have none of the settings of the present one, so it begins with its defaults.
    let (changed, more) = match (changed, path.strip_suffix(".kind")) {
        (Err(_), Some(table)) => of_kind(preset, table, text, later)?,
        (changed, _) => (changed?, 0),
    };
    *preset = changed;
    Ok(more)
}

fn value_of(text: &str) -> Value {
    text::read_value(text).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The preset with a table of another kind, with as few of the later settings as possible, and how many these are.
fn of_kind(preset: &Value, table: &str, kind: &str, later: &[String]) -> Result<(Value, usize)> {
    let mut settings = json!({ "kind": kind });
    let mut more = 0;
    loop {
        let refused = match replaced(preset, table, settings.clone()) {
            Ok(changed) => return Ok((changed, more)),
            Err(refused) => refused,
        };
        let next = later.get(more).and_then(|setting| setting.split_once('='));
        let key = |key| str::strip_prefix(str::trim(key), table)?.strip_prefix('.');
        let Some((key, text)) = next.and_then(|(path, text)| Some((key(path)?, text.trim())))
        else {
            return Err(refused);
        };
        settings[key] = value_of(text);
        more += 1;
    }
}

/// The preset with another value at a path, if that is allowed there.
fn replaced(preset: &Value, path: &str, value: Value) -> Result<Value> {
    let mut changed = preset.clone();
    let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
    let table = if table.is_empty() { Some(&mut changed) } else { value_at(&mut changed, table) };
    if let Some(Value::Object(table)) = table {
        table.insert(key.to_owned(), value);
    } else if let Some(place) = value_at(&mut changed, path) {
        *place = value;
    } else {
        return Err(Error::config(path, "no such key"));
    }
    schema::check(&changed).map(|()| changed)
}

/// The path that a key stands for.
fn full_path(preset: &mut Value, key: &str) -> Result<String> {
    let mut paths = schema::absent(preset);
    leaves(preset, "", &mut paths);
    let suffix = format!(".{key}");
    let mut found: Vec<&String> = match paths.iter().find(|path| *path == key) {
        Some(path) => vec![path],
        None => paths.iter().filter(|path| path.ends_with(&suffix)).collect(),
    };
    let only_tagger = preset["only_tagger"] == true;
    let is_main = |path: &&String| path.starts_with("tagger.") == only_tagger;
    if found.iter().any(is_main) {
        found.retain(is_main);
    }
    match found[..] {
        [path] => Ok(path.clone()),
        [] if value_at(preset, key).is_some() => Ok(key.to_owned()),
        [] => {
            let last = |path| str::rsplit(path, '.').next().unwrap_or(path);
            let known = paths.iter().flat_map(|path| [path.as_str(), last(path)]);
            let hint = did_you_mean(key, known);
            let known = paths.join(", ");
            let problem = format!("no such key; {hint}the keys of this preset are {known}");
            Err(Error::config(key, problem))
        }
        _ => {
            let all = found.into_iter().cloned().collect::<Vec<_>>().join(", ");
            Err(Error::config(key, format!("ambiguous: write one of {all}")))
        }
    }
}

/// The value at a dotted path; the items of a list are numbered from 0.
fn value_at<'a>(preset: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    path.split('.').try_fold(preset, |place, part| match place {
        Value::Array(items) => items.get_mut(part.parse::<usize>().ok()?),
        place => place.get_mut(part),
    })
}

/// The dotted paths of all values that are neither tables nor lists of tables.
fn leaves(value: &Value, path: &str, out: &mut Vec<String>) {
    let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(table) => {
            table.iter().for_each(|(key, value)| leaves(value, &inner(key), out));
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (at, item) in items.iter().enumerate() {
                leaves(item, &inner(&at.to_string()), out);
            }
        }
        _ => out.push(path.to_owned()),
    }
}

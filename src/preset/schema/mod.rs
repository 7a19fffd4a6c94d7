//! The settings of presets, generated from their types.
//!
//! The JSON schema of [`Preset`] has the description, range and default of each setting, as they are at its
//! field. `check` compares presets with it and `help` lists it, so neither can differ from the code.

mod check;
mod help;

use std::borrow::Cow;
use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::Preset;
use check::join;
pub(super) use check::{check, check_file};
pub use help::settings_help;

static ROOT: LazyLock<Value> = LazyLock::new(|| {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Preset>().to_value()
});

/// The JSON schema of presets.
pub fn root() -> &'static Value {
    &ROOT
}

/// The dotted paths of the settings that a preset leaves out.
pub(super) fn absent(preset: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    Node::root().absent(preset, "", &mut paths);
    paths
}

static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// The schema of a value.
#[derive(Clone, Copy)]
struct Node(&'static Map<String, Value>);

impl Node {
    /// The schema of whole presets.
    fn root() -> Self {
        Self::of(&ROOT)
    }

    fn of(schema: &'static Value) -> Self {
        Self(schema.as_object().unwrap_or(&EMPTY))
    }

    /// The alternatives under a keyword.
    fn list(self, keyword: &str) -> impl Iterator<Item = Self> {
        self.0.get(keyword).and_then(Value::as_array).into_iter().flatten().map(Self::of)
    }

    fn text(self, keyword: &str) -> Option<&'static str> {
        self.0.get(keyword).and_then(Value::as_str)
    }

    /// The name of the type that it references.
    fn type_name(self) -> Option<&'static str> {
        self.text("$ref")?.strip_prefix("#/$defs/")
    }

    /// The node itself, with references and options resolved.
    fn resolved(self) -> Self {
        if let Some(name) = self.type_name() {
            return Self::of(&ROOT["$defs"][name]).resolved();
        }
        let mut some = self.list("anyOf").filter(|node| node.text("type") != Some("null"));
        match (some.next(), some.next()) {
            (Some(only), None) => only.resolved(),
            _ => self,
        }
    }

    fn description(self) -> Cow<'static, str> {
        let text = self.text("description").or(self.resolved().text("description"));
        let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
        words.join(" ").replace("[`", "`").replace("`]", "`").into()
    }

    /// The keys of a table.
    fn properties(self) -> impl Iterator<Item = (&'static str, Self)> {
        let properties = self.0.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(key, node)| (key.as_str(), Self::of(node)))
    }

    /// Adds the dotted paths of the keys that a value leaves out.
    fn absent(self, value: &Value, path: &str, out: &mut Vec<String>) {
        let node = self.resolved();
        if let (Value::Array(items), Some(schema)) = (value, node.0.get("items")) {
            for (at, item) in items.iter().enumerate() {
                Self::of(schema).absent(item, &join(path, &at.to_string()), out);
            }
        }
        let Value::Object(table) = value else { return };
        let kind = table.get("kind").and_then(Value::as_str);
        let variant = node.variants().into_iter().find(|(name, _)| Some(*name) == kind);
        let node = variant.map_or(node, |(_, node)| node);
        for (key, inner) in node.properties() {
            match table.get(key) {
                Some(value) => inner.absent(value, &join(path, key), out),
                None => out.push(join(path, key)),
            }
        }
    }

    /// The required keys of a table.
    fn required(self) -> impl Iterator<Item = &'static str> {
        self.0
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    }

    /// The alternatives of a table, distinguished by `kind`.
    fn variants(self) -> Vec<(&'static str, Self)> {
        let kind_of = |node: Self| {
            let (_, kind) = node.properties().find(|(key, _)| *key == "kind")?;
            Some((kind.text("const")?, node))
        };
        self.list("oneOf").filter_map(kind_of).collect()
    }

    /// The strings that are allowed.
    fn choices(self) -> Vec<&'static str> {
        let of_list = self.0.get("enum").and_then(Value::as_array).into_iter().flatten();
        let of_list = of_list.filter_map(Value::as_str);
        of_list
            .chain(self.list("oneOf").flat_map(Self::choices))
            .chain(self.text("const"))
            .collect()
    }

    /// A description of the allowed values.
    fn range(self) -> String {
        if self.type_name() == Some("LearnerChoice") {
            return "a learner with its settings".to_owned();
        }
        let node = self.resolved();
        // The alternatives of a range do not repeat the type.
        let is_whole = node.text("type") == Some("integer");
        let alternative = |node: Node| if is_whole { node.interval(whole) } else { node.range() };
        let alternatives: Vec<String> = node.list("anyOf").map(alternative).collect();
        if !alternatives.is_empty() {
            return alternatives.join(", or ");
        }
        let choices = node.choices();
        if !choices.is_empty() {
            return one_of(&choices);
        }
        match node.text("type") {
            Some("boolean") => "true or false".to_owned(),
            Some("string") => "text".to_owned(),
            Some("array") => {
                let items =
                    node.0.get("items").map(|items| Self::of(items).range()).unwrap_or_default();
                let at_least =
                    node.limit("minItems").map(|n| format!(", at least {n}")).unwrap_or_default();
                let items = match &items[..] {
                    "text" => "texts",
                    "a learner with its settings" => "learners",
                    _ => "numbers",
                };
                format!("a list of {items}{at_least}")
            }
            Some("object") => "a table".to_owned(),
            _ => node.interval(if is_whole { whole } else { number }),
        }
    }

    fn limit(self, keyword: &str) -> Option<f64> {
        self.0.get(keyword).and_then(Value::as_f64)
    }

    fn interval(self, number: fn(f64) -> String) -> String {
        let limit = |keyword| self.limit(keyword).map(number);
        if let Some(only) = limit("const") {
            return only;
        }
        let low = (limit("exclusiveMinimum"), limit("minimum"));
        match (low, limit("exclusiveMaximum"), limit("maximum")) {
            ((Some(low), _), Some(high), _) => format!("above {low} and below {high}"),
            ((Some(low), _), None, Some(high)) => format!("above {low}, at most {high}"),
            ((Some(low), _), None, None) => format!("above {low}, or inf"),
            ((None, Some(low)), Some(high), _) => format!("{low} or more, below {high}"),
            ((None, Some(low)), None, Some(high)) => format!("{low} to {high}"),
            ((None, Some(low)), None, None) => format!("{low} or more"),
            ((None, None), ..) => "a number".to_owned(),
        }
    }

    /// Whether a number is within the limits.
    fn contains(self, value: f64) -> bool {
        let is_within = |keyword: &str, holds: fn(f64, f64) -> bool| {
            self.limit(keyword).is_none_or(|limit| holds(value, limit))
        };
        is_within("const", |value, only| value == only)
            && is_within("minimum", |value, low| value >= low)
            && is_within("exclusiveMinimum", |value, low| value > low)
            && is_within("maximum", |value, high| value <= high)
            && is_within("exclusiveMaximum", |value, high| value < high)
    }
}

/// A limit of whole numbers, as it can be given.
fn whole(value: f64) -> String {
    value.to_string()
}

fn number(value: f64) -> String {
    let is_short = value == 0.0 || (1e-4..1e7).contains(&value.abs());
    if is_short { value.to_string() } else { format!("{value:e}") }
}

/// The names of the learners, or of what else a section of presets chooses by its `kind`.
pub fn kinds(section: &str) -> Vec<&'static str> {
    let mut sections = Node::root().properties().filter(|(key, _)| *key == section);
    let variants = sections.next().map(|(_, node)| node.resolved().variants()).unwrap_or_default();
    variants.into_iter().map(|(kind, _)| kind).collect()
}

/// A single-precision number with the digits as written: 0.3, not 0.30000001192092896.
pub(super) fn shortest(value: f64) -> f64 {
    let single = value as f32;
    if f64::from(single) == value { single.to_string().parse().unwrap_or(value) } else { value }
}

/// "a, b or c".
fn one_of(choices: &[&str]) -> String {
    match choices {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => choices.concat(),
    }
}

#[cfg(test)]
mod tests;

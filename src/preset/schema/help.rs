//! The settings of presets, as `srparse train --help` lists them.

use serde_json::Value;

use super::{Node, one_of, shortest};

/// The sections of a preset whose settings are listed, with their headings.
const SECTIONS: [(&str, &str); 5] = [
    ("learner", "Learners and their settings ([learner] in a preset, or --set learner.KEY=VALUE):"),
    ("tagger", "Taggers and their settings ([tagger] in a preset, or --set tagger.KEY=VALUE):"),
    ("search", "Settings of the search ([search] in a preset, or --set search.KEY=VALUE):"),
    ("text", "Splitting of raw text ([text] in a preset, or --set text.KEY=VALUE):"),
    ("clean", "Cleaning steps ([clean] in a preset, or --set clean.KEY=VALUE):"),
];

/// Every learner and every tagger with its settings, the search settings, and the cleaning steps: for each
/// the key, a description, the possible values, and the default.
pub fn settings_help() -> String {
    let sections = SECTIONS.map(|(section, heading)| {
        let mut text = heading.to_owned();
        let nodes = Node::root().properties();
        for node in nodes.filter(|(key, _)| *key == section).map(|(_, node)| node.resolved()) {
            let variants = node.variants();
            if variants.is_empty() {
                text.push('\n');
                table(node, "", None, "", &mut text);
            }
            for (kind, node) in variants {
                text.push_str(&format!("\n\n  kind = \"{kind}\": {}", node.description()));
                table(node, "", None, "", &mut text);
            }
        }
        text
    });
    sections.join("\n\n")
}

/// Adds the settings of a table. `default` is the default of the whole table, `only` the condition for it
/// to exist.
fn table(node: Node, prefix: &str, default: Option<&Value>, only: &str, text: &mut String) {
    for (key, node) in node.properties().filter(|(_, node)| node.text("const").is_none()) {
        let own = node.0.get("default");
        setting(
            node,
            &format!("{prefix}{key}"),
            default.and_then(|table| table.get(key)).or(own),
            only,
            text,
        );
    }
}

fn setting(node: Node, key: &str, default: Option<&Value>, only: &str, text: &mut String) {
    let inner = node.resolved();
    let is_learner = node.type_name() == Some("LearnerChoice");
    if inner.text("type") == Some("object") && !is_learner {
        return table(inner, &format!("{key}."), default, only, text);
    }
    let variants = inner.variants();
    let is_table = !variants.is_empty() && !is_learner;
    let kinds: Vec<&str> = variants.iter().map(|(kind, _)| *kind).collect();
    let (name, range, shown_default) = if is_table {
        (format!("{key}.kind"), one_of(&kinds), default.and_then(|table| table.get("kind")))
    } else {
        (key.to_owned(), node.range(), default)
    };
    let default_text = shown_default.map(|value| format!(", default {}", shown(value)));
    let default_text = default_text.unwrap_or_default();
    text.push_str(&format!(
        "\n    {name}: {}\n      {range}{default_text}{only}",
        node.description()
    ));
    if is_table {
        for (kind, node) in variants {
            let default = default.filter(|table| table["kind"] == kind);
            table(node, &format!("{key}."), default, &format!(" (for {kind})"), text);
        }
    }
}

fn shown(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if value.is_f64() => Value::from(shortest(number)).to_string(),
        _ => value.to_string(),
    }
}

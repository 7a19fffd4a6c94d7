//! Settings drawn from the documented ranges: each is refused in a message that names a key, or training and parsing end
//! in little memory.
//!
//! `SRPARSE_SETTINGS` is the number of draws; the default is for every day, thousands for a release.

use std::sync::atomic::{AtomicU32, Ordering};

use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use serde_json::Value;
use srparse::observer::{Event, Observer};
use srparse::preset::schema;
use srparse::{Error, Model, Preset, Result, Trainer, Treebank};

use crate::{ALLOCATOR, alone, tiny, use_model};

/// How much memory a training on the tiny trees may take.
const MEMORY: usize = 512 << 20;

/// Stops training after some questions whether to stop: a training that does not ask never ends.
struct Patience(AtomicU32);

impl Observer for Patience {
    fn event(&self, _: Event<'_>) {}

    fn is_stopped(&self) -> bool {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        left.is_err()
    }
}

/// A setting and what the schema says of it.
type Setting = (String, &'static Value);

/// A node without references, and without the alternative of no value.
fn resolved(node: &'static Value) -> &'static Value {
    if let Some(name) = node["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return resolved(&schema::root()["$defs"][name]);
    }
    let some = |node: &&Value| node["type"] != "null";
    match node["anyOf"].as_array().map(|list| list.iter().filter(some).collect::<Vec<_>>()) {
        Some(list) if list.len() == 1 => resolved(list[0]),
        _ => node,
    }
}

/// The settings of a preset, given as JSON.
fn settings(node: &'static Value, preset: &Value, key: &str, found: &mut Vec<Setting>) {
    let node = resolved(node);
    let variants = node["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    let kind_of = |variant: &'static Value| variant["properties"]["kind"]["const"].as_str();
    let table =
        variants.iter().find(|variant| kind_of(variant).is_some_and(|kind| preset["kind"] == kind));
    if table.is_some() {
        found.push((format!("{key}.kind"), node));
    }
    match table.unwrap_or(node)["properties"].as_object() {
        Some(keys) => {
            for (name, inner) in keys.iter().filter(|(_, inner)| inner["const"].is_null()) {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                settings(inner, &preset[name], &key, found);
            }
        }
        None => found.push((key.to_owned(), node)),
    }
}

/// The names that a value may have.
fn names(node: &Value) -> Vec<&str> {
    let list = |keyword: &str| node[keyword].as_array().into_iter().flatten();
    let variants = list("oneOf").flat_map(|node| match &node["properties"]["kind"] {
        Value::Null => names(node),
        kind => names(kind),
    });
    list("enum").filter_map(Value::as_str).chain(node["const"].as_str()).chain(variants).collect()
}

/// How much the settings that say how large a model is may ask for.
const LARGE: f64 = 24.0;
const SIZES: [&str; 8] =
    ["dim", "layers", "rows", "models", "pieces", "beam", "jackknife", "folds"];

/// A value at, next to or between the ends of a range.
fn number(key: &str, node: &Value, rng: &mut impl Rng) -> f64 {
    let limit = |names: [&str; 2]| names.iter().find_map(|name| node[*name].as_f64());
    let low = limit(["minimum", "exclusiveMinimum"]).unwrap_or(0.0);
    let high = limit(["maximum", "exclusiveMaximum"]).unwrap_or(1e9);
    let most = if SIZES.iter().any(|size| key.ends_with(size)) { high.min(LARGE) } else { high };
    match rng.random_range(0..8) {
        0 => low,
        1 => most,
        2 => low - 1.0,
        3 => high + high.max(1.0) * 0.5,
        4 => low + 1.0,
        5 => low.midpoint(most),
        // All orders of magnitude are as likely.
        _ => low + (most - low) * 10f64.powf(rng.random_range(-12.0..0.0)),
    }
}

/// A value as it is written after `KEY=`; `None` for texts and lists.
fn value(key: &str, node: &Value, rng: &mut impl Rng) -> Option<String> {
    if let Some(alternatives) = node["anyOf"].as_array() {
        return value(key, alternatives.choose(rng)?, rng);
    }
    if let Some(name) = names(node).choose(rng) {
        return Some(format!("\"{name}\""));
    }
    match node["type"].as_str() {
        Some("boolean") => Some(rng.random_bool(0.5).to_string()),
        Some("string" | "array" | "object") => None,
        Some("integer") => Some((number(key, node, rng).round() as i64).to_string()),
        _ => {
            Some(format!("{:?}", node["const"].as_f64().unwrap_or_else(|| number(key, node, rng))))
        }
    }
}

/// A preset of a family with some settings drawn.
fn drawn(seed: u64) -> (&'static str, Vec<String>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let family = rng.random_range(0..tiny::FAMILIES.len());
    let (_, preset, mut chosen) = tiny::settings(family);
    let json = serde_json::to_value(Preset::load(preset, &chosen).unwrap()).unwrap();
    let mut known = Vec::new();
    settings(schema::root(), &json, "", &mut known);
    for _ in 0..rng.random_range(1..=3) {
        let (key, node) = known.choose(&mut rng).unwrap();
        chosen.extend(value(key, node, &mut rng).map(|value| format!("{key}={value}")));
    }
    (preset, chosen)
}

/// Trains and parses with no more than some memory. An allocation beyond that ends the test program.
fn train(preset: &str, settings: &[String]) -> Result<()> {
    let preset = Preset::load(preset, settings)?;
    ALLOCATOR.set_limit(ALLOCATOR.allocated() + MEMORY).unwrap();
    let train = || -> Result<Model> {
        let patience = Patience(AtomicU32::new(200));
        let trainer = Trainer::with_preset(preset)?.observe(&patience);
        trainer.train(&tiny::treebank(), &Treebank::default())
    };
    let result = train().and_then(|model| use_model(&model.to_bytes()));
    ALLOCATOR.set_limit(usize::MAX).unwrap();
    result
}

#[test]
fn settings_of_the_documented_ranges_are_refused_by_name_or_harmless() {
    let _alone = alone();
    let n: u64 = std::env::var("SRPARSE_SETTINGS").map_or(200, |n| n.parse().unwrap());
    let (mut refused, mut trained) = (0, 0);
    for seed in 0..n {
        let (preset, settings) = drawn(seed);
        println!("seed {seed}: {preset} {settings:?}");
        match train(preset, &settings) {
            Ok(()) => trained += 1,
            Err(Error::Config { key, .. }) => {
                let section = key.split('.').next().unwrap_or_default();
                let is_key = schema::root()["properties"].get(section).is_some();
                assert!(is_key || key == "--set", "{key}");
                refused += 1;
            }
            Err(Error::Stopped | Error::Unfit(_)) => trained += 1,
            Err(other) => panic!("{other}"),
        }
    }
    println!("{refused} refused, {trained} trained");
    assert!(refused > n / 10 && trained > n / 10, "{refused} refused, {trained} trained");
}

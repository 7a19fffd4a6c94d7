//! Presets that extend others: a file has only the settings that differ from those of its parent.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Preset, schema, text};
use crate::built_in::PRESETS;
use crate::error::{Error, Result, choices};
use crate::text_file;

/// The key that names the parent: a built-in preset, or a file relative to the one with the key.
const KEY: &str = "extends";

/// Parses and checks a preset with the settings of all its ancestors; messages call it `name`, and paths are relative to its
/// folder if it is one.
///
/// # Errors
/// With file, line and column: as [`Preset::load`], and when a parent does not exist or extends its own child.
pub(super) fn read(text: &str, name: &str) -> Result<Value> {
    resolve(text, name, &mut vec![identity(name)])
}

/// Reads a preset whose descendants are `children`, itself included.
fn resolve(text: &str, name: &str, children: &mut Vec<String>) -> Result<Value> {
    let mut own = text::read(text, name, |_| Ok(()))?;
    let here = |error| text::placed(error, text, name);
    let parent = match own.as_object_mut().and_then(|keys| keys.remove(KEY)) {
        None => return schema::check_file(&own).map(|()| own).map_err(here),
        Some(Value::String(parent)) => parent,
        Some(_) => {
            let problem = "must be text: the name of a preset, or a file relative to this one";
            return Err(here(Error::config(KEY, problem)));
        }
    };
    let (parent, parents_text) = find(&parent, name).map_err(here)?;
    let known = identity(&parent);
    let is_child = children.contains(&known);
    children.push(known);
    if is_child {
        let chain = children.join(" extends ");
        let problem = format!("presets extend each other: {chain}; name another parent");
        return Err(here(Error::config(KEY, problem)));
    }
    let mut all = resolve(&parents_text, &parent, children)?;
    merge(&mut all, own);
    schema::check_file(&all).map(|()| all).map_err(here)
}

/// The name or path, and the text, of a parent that the preset `child` names.
fn find(parent: &str, child: &str) -> Result<(String, String)> {
    if let Some(text) = PRESETS.text(parent) {
        return Ok((parent.to_owned(), text.to_owned()));
    }
    let path = Path::new(child)
        .parent()
        .map_or_else(|| PathBuf::from(parent), |folder| folder.join(parent));
    if !text_file::exists(&path) {
        let choices = choices(parent, "there are", Preset::names());
        let problem = format!("no preset `{parent}`, and no file {}: {choices}", path.display());
        return Err(Error::config(KEY, problem));
    }
    let path = path.to_string_lossy().into_owned();
    let text = text_file::read(&path)?;
    Ok((path, text))
}

/// The same text for every way to write a path.
fn identity(name: &str) -> String {
    match PRESETS.text(name) {
        Some(_) => name.to_owned(),
        None => std::fs::canonicalize(name)
            .map_or_else(|_| name.to_owned(), |path| path.to_string_lossy().into_owned()),
    }
}

/// Puts the settings of a child over those of its parent. Tables are merged, unless the child names another kind, which has
/// other settings; everything else is replaced.
fn merge(parent: &mut Value, child: Value) {
    match (parent, child) {
        (Value::Object(parent), Value::Object(child))
            if child.get("kind").is_none_or(|kind| parent.get("kind") == Some(kind)) =>
        {
            for (key, value) in child {
                match parent.get_mut(&key) {
                    Some(place) => merge(place, value),
                    None => drop(parent.insert(key, value)),
                }
            }
        }
        (parent, child) => *parent = child,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(result: Result<Preset>) -> String {
        result.expect_err("it is refused").to_string()
    }

    #[test]
    fn a_preset_has_the_settings_of_its_parent_but_its_own() {
        let text = "extends = 'accurate'\n[learner]\nepochs = 3\n[search]\nbeam = 8\n";
        let settings = ["learner.epochs=3".to_owned(), "search.beam=8".to_owned()];
        let preset = Preset::parse(text, "my.toml", &[]).unwrap();
        assert_eq!(preset, Preset::load("accurate", &settings).unwrap());
        assert!(!preset.to_toml().contains("extends"));
    }

    #[test]
    fn another_kind_takes_none_of_the_settings_of_the_parents_kind() {
        let text = "extends = 'sagae-lavie-2005-svm'\n[learner]\nkind = 'maxent'\n";
        let preset = Preset::parse(text, "my.toml", &[]).unwrap();
        assert_eq!(
            preset.learner,
            Preset::parse("[learner]\nkind = 'maxent'\n", "", &[]).unwrap().learner
        );
        assert_eq!(preset.system, Preset::load("sagae-lavie-2005-svm", &[]).unwrap().system);
    }

    #[test]
    fn files_are_relative_to_the_file_that_names_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path.to_string_lossy().into_owned()
        };
        write("base.toml", "extends = 'fast'\nmax_words = 40\n[learner]\nmodels = 2\n");
        let mine = write("mine/my.toml", "extends = '../base.toml'\n[learner]\nepochs = 3\n");
        let settings = ["max_words=40", "models=2", "epochs=3"].map(str::to_owned);
        assert_eq!(Preset::load(&mine, &[]).unwrap(), Preset::load("fast", &settings).unwrap());

        // A mistake is where it was made.
        let base = write("base.toml", "extends = 'fast'\n\n[learner]\nepoks = 2\n");
        let said = refused(Preset::load(&mine, &[]));
        let place = format!("{}/mine/../base.toml:4:1: ", folder.path().display());
        assert!(said.starts_with(&place) && said.contains("did you mean `epochs`?"), "{said}");

        let again = write("again.toml", "max_words = 3\nextends = 'base.toml'\n");
        std::fs::write(base, "extends = './again.toml'\n").unwrap();
        let said = refused(Preset::load(&again, &[]));
        assert!(said.contains("base.toml:1:1: extends: presets extend each other: "), "{said}");
        let alone = write("alone.toml", "\nextends = 'alone.toml'\n");
        assert!(refused(Preset::load(&alone, &[])).contains("alone.toml:2:1: extends: "));
    }

    #[test]
    fn parents_that_do_not_exist_are_named_with_the_nearest_one() {
        let said = refused(Preset::parse("# mine\nextends = 'fasst'\n", "my.toml", &[]));
        assert!(said.starts_with("my.toml:2:1: extends: no preset `fasst`"), "{said}");
        assert!(said.contains("did you mean `fast`?"), "{said}");
        let said = refused(Preset::parse("extends = 3\n", "my.toml", &[]));
        assert!(said.starts_with("my.toml:1:1: extends: must be text"), "{said}");
    }
}

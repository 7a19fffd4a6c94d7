//! The file of an experiment.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::cell::Cell;
use crate::error::{Error, Result};
use crate::preset::{Preset, TreebankProfile, text};
use crate::tree::heads::HeadRules;

/// An experiment, as written: the axes of a table of runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The purpose of the experiment.
    #[serde(default)]
    pub description: String,
    /// Shares of the training trees, in percent; above 0, at most 100.
    #[serde(default = "whole")]
    pub percent: Vec<f64>,
    /// Random seeds.
    #[serde(default = "first_seed")]
    pub seeds: Vec<u64>,
    /// The parsers.
    #[serde(rename = "parser")]
    pub parsers: Vec<ParserEntry>,
    /// Settings with which every parser is trained; without any, parsers are trained unchanged.
    #[serde(default, rename = "setting")]
    pub settings: Vec<SettingEntry>,
    /// The treebanks.
    #[serde(rename = "treebank")]
    pub treebanks: Vec<TreebankEntry>,
}

/// A parser of an experiment.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ParserEntry {
    /// Its name in tables; that of the preset by default.
    pub name: String,
    /// The preset: a name or a file.
    pub preset: String,
    /// Changes of the preset, `KEY=VALUE`.
    pub set: Vec<String>,
    /// Shares of the training trees, instead of those of the experiment.
    pub percent: Option<Vec<f64>>,
}

/// Settings of an experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingEntry {
    /// Their name in tables.
    pub name: String,
    /// Changes of the presets, `KEY=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
}

/// A treebank of an experiment.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreebankEntry {
    /// Its name in tables.
    pub name: String,
    /// Training trees: files, folders and patterns.
    pub train: Vec<PathBuf>,
    /// Development trees, by which the best epoch is selected and which are parsed and scored.
    #[serde(default)]
    pub dev: Vec<PathBuf>,
    /// Trees that are parsed and scored instead of the development trees.
    #[serde(default)]
    pub test: Vec<PathBuf>,
    /// The treebank profile: a name or a file.
    #[serde(default)]
    pub profile: Option<String>,
    /// Head rules instead of those of presets that have any: a name or a file; empty for none.
    #[serde(default)]
    pub heads: Option<String>,
    /// Changes of the presets, `KEY=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
}

fn whole() -> Vec<f64> {
    vec![100.0]
}

fn first_seed() -> Vec<u64> {
    vec![1]
}

impl ParserEntry {
    fn name(&self) -> &str {
        if self.name.is_empty() { &self.preset } else { &self.name }
    }
}

impl TreebankEntry {
    /// The trees that are parsed and scored.
    pub(super) fn scored(&self) -> &[PathBuf] {
        if self.test.is_empty() { &self.dev } else { &self.test }
    }

    /// Its profile with its head rules.
    pub(super) fn profile(&self) -> Result<TreebankProfile> {
        let mut profile = match &self.profile {
            Some(name) => TreebankProfile::load(name)?,
            None => TreebankProfile::parse("", "")?,
        };
        if let Some(heads) = &self.heads {
            profile.heads = Some(heads.clone());
        }
        Ok(profile)
    }
}

impl Experiment {
    /// Reads the file of an experiment.
    ///
    /// # Errors
    /// When it cannot be read, is no TOML, a key is unknown or missing, a value is not allowed, or there is no such preset
    /// or treebank profile: with file, line and column.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        Self::parse(&crate::text_file::read(&name)?, &name)
    }

    /// Reads the text of an experiment; messages call it `name`.
    ///
    /// # Errors
    /// As [`Experiment::open`].
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let experiment: Self = text::read_as(text, name)?;
        let checked = experiment.check();
        checked.map(|()| experiment).map_err(|error| text::placed(error, text, name))
    }

    /// Its cells: for each parser, setting, treebank, share and seed, in this order. Paths of treebanks are relative to
    /// `data`.
    pub fn cells(&self, data: &Path) -> Vec<Cell> {
        let plain = [SettingEntry { name: String::new(), set: Vec::new() }];
        let settings = if self.settings.is_empty() { &plain[..] } else { &self.settings };
        let mut cells = Vec::new();
        for parser in &self.parsers {
            for setting in settings {
                for treebank in &self.treebanks {
                    let set = [&treebank.set, &parser.set, &setting.set].map(Clone::clone).concat();
                    for &percent in parser.percent.as_ref().unwrap_or(&self.percent) {
                        cells.extend(self.seeds.iter().map(|&seed| Cell {
                            parser: parser.name().to_owned(),
                            setting: setting.name.clone(),
                            treebank: treebank.below(data),
                            percent,
                            seed,
                            preset: parser.preset.clone(),
                            set: set.clone(),
                        }));
                    }
                }
            }
        }
        cells
    }

    /// Checks the values, as [`Experiment::open`] does.
    ///
    /// # Errors
    /// When one is not allowed, or there is no such preset or treebank profile: with its key.
    pub fn check(&self) -> Result<()> {
        not_empty(&self.parsers, "parser", "name a preset under [[parser]]")?;
        not_empty(&self.treebanks, "treebank", "describe one under [[treebank]]")?;
        not_empty(&self.seeds, "seeds", "give at least one")?;
        check_distinct(&self.seeds, "seeds")?;
        check_shares(&self.percent, "percent")?;
        for (at, parser) in self.parsers.iter().enumerate() {
            let path = format!("parser.{at}");
            Preset::load(&parser.preset, &[]).map_err(|error| at_key(&path, "preset", &error))?;
            let preset = Preset::load(&parser.preset, &parser.set)
                .map_err(|error| at_key(&path, "set", &error))?;
            preset.refuse_tagger().map_err(|error| at_key(&path, "preset", &error))?;
            let shares = parser.percent.as_ref();
            shares.map_or(Ok(()), |shares| check_shares(shares, &format!("{path}.percent")))?;
        }
        for (at, treebank) in self.treebanks.iter().enumerate() {
            let path = format!("treebank.{at}");
            not_empty(&treebank.train, &format!("{path}.train"), "name a file")?;
            if treebank.test.is_empty() {
                not_empty(&treebank.dev, &format!("{path}.dev"), "name a file")?;
            }
            if let Some(profile) = &treebank.profile {
                TreebankProfile::load(profile).map_err(|error| at_key(&path, "profile", &error))?;
            }
            if let Some(heads) = treebank.heads.as_ref().filter(|heads| !heads.is_empty()) {
                HeadRules::load(heads).map_err(|error| at_key(&path, "heads", &error))?;
            }
        }
        check_names(self.parsers.iter().map(ParserEntry::name), "parser")?;
        check_names(self.settings.iter().map(|setting| setting.name.as_str()), "setting")?;
        check_names(self.treebanks.iter().map(|treebank| treebank.name.as_str()), "treebank")?;
        self.check_size()
    }
}

impl Experiment {
    fn check_size(&self) -> Result<()> {
        let shares = |parser: &ParserEntry| parser.percent.as_ref().unwrap_or(&self.percent).len();
        let shares: usize = self.parsers.iter().map(shares).sum();
        let others = [self.settings.len().max(1), self.treebanks.len(), self.seeds.len()];
        let cells = others.into_iter().fold(shares, usize::saturating_mul);
        if cells > MOST_CELLS {
            let problem = format!("{cells} cells are more than {MOST_CELLS}: split the experiment");
            return Err(Error::config("parser", problem));
        }
        Ok(())
    }
}

/// The most cells of an experiment: the tables are written anew after each.
const MOST_CELLS: usize = 10_000;

impl TreebankEntry {
    /// The same with paths below a folder.
    fn below(&self, folder: &Path) -> Self {
        let below = |paths: &[PathBuf]| paths.iter().map(|path| folder.join(path)).collect();
        let Self { train, dev, test, .. } = self;
        Self { train: below(train), dev: below(dev), test: below(test), ..self.clone() }
    }
}

/// The error of a value, under its path in the file.
fn at_key(path: &str, key: &str, error: &Error) -> Error {
    let problem = match error {
        Error::Config { key: own, problem } if [key, "treebank"].contains(&own.as_str()) => {
            problem.clone()
        }
        other => other.to_string(),
    };
    Error::config(format!("{path}.{key}"), problem)
}

fn not_empty<T>(list: &[T], path: &str, advice: &str) -> Result<()> {
    if list.is_empty() { Err(Error::config(path, format!("is empty: {advice}"))) } else { Ok(()) }
}

fn check_shares(shares: &[f64], path: &str) -> Result<()> {
    not_empty(shares, path, "give at least one")?;
    match shares.iter().position(|share| !(*share > 0.0 && *share <= 100.0)) {
        Some(at) => {
            let problem = format!("must be above 0, at most 100, not {}", shares[at]);
            Err(Error::config(format!("{path}.{at}"), problem))
        }
        None => check_distinct(shares, path),
    }
}

fn check_distinct<T: PartialEq + Display>(values: &[T], path: &str) -> Result<()> {
    match (1..values.len()).find(|&at| values[..at].contains(&values[at])) {
        Some(at) => {
            let problem = format!("{} is listed twice: give each only once", values[at]);
            Err(Error::config(format!("{path}.{at}"), problem))
        }
        None => Ok(()),
    }
}

/// Checks that all names can be told apart, also as names of files.
fn check_names<'a>(names: impl Iterator<Item = &'a str>, axis: &str) -> Result<()> {
    let mut seen = BTreeMap::new();
    for (at, name) in names.enumerate() {
        let path = format!("{axis}.{at}.name");
        if !name.contains(char::is_alphanumeric) || name.contains(char::is_control) {
            let problem = "must have a letter or digit, and no control characters";
            return Err(Error::config(path, problem));
        }
        let file_name = super::cell::file_name(name).to_lowercase();
        if let Some(other) = seen.insert(file_name, name) {
            let problem = format!("`{name}` is too much like `{other}`: give another name");
            return Err(Error::config(path, problem));
        }
    }
    Ok(())
}

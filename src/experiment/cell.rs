//! A cell of an experiment: one parser, trained and scored once.

use std::hash::{Hash, Hasher};
use std::io::Read;
use std::path::PathBuf;

use rustc_hash::FxHasher;

use super::folder::{Costs, Folder, GOLD_TAGS, OWN_TAGS, Outcome, Scores, TagScores};
use super::resources::{peak_memory, reset_peak_memory, timed};
use super::spec::TreebankEntry;
use crate::error::{Error, Result};
use crate::eval::{Evaluation, Params};
use crate::model::file::FORMAT_VERSION;
use crate::observer::Observer;
use crate::parallel;
use crate::parser::Parser;
use crate::preset::plan::Plan;
use crate::preset::{DEFAULT, MethodChoice, Preset};
use crate::train::Trainer;
use crate::train::session::words;
use crate::tree::{Tree, remove_tags};
use crate::treebank::{ReadOptions, Treebank, expand};

/// A cell: what is trained, on what.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The name of the parser in tables.
    pub parser: String,
    /// The name of the settings in tables; empty without any.
    pub setting: String,
    /// The treebank, with paths as they are opened.
    pub treebank: TreebankEntry,
    /// The share of the training trees, in percent.
    pub percent: f64,
    /// The random seed.
    pub seed: u64,
    pub(super) preset: String,
    pub(super) set: Vec<String>,
}

impl Cell {
    /// Its name, also of its files: unique in an experiment.
    pub fn name(&self) -> String {
        let Self { parser, setting, treebank, percent, seed, .. } = self;
        let names = [parser, setting, &treebank.name].map(|name| file_name(name));
        let names: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        format!("{}.{percent}.{seed}", names.join("."))
    }

    /// A hash of everything that its results depend on: the preset with the files that it names, the version of the
    /// program, and the treebank.
    ///
    /// # Errors
    /// When the preset or a setting is invalid, or a file cannot be read.
    pub fn fingerprint(&self) -> Result<String> {
        let plan = Plan::new(self.preset()?)?;
        let preset = serde_json::to_string(&plan.preset).unwrap_or_default();
        let cleaning = serde_json::to_string(&self.gold_cleaning()?.clean).unwrap_or_default();
        let mut hasher = FxHasher::default();
        (env!("CARGO_PKG_VERSION"), FORMAT_VERSION, preset, cleaning).hash(&mut hasher);
        (plan.templates.text(), plan.heads_text()).hash(&mut hasher);
        (self.percent.to_bits(), self.seed).hash(&mut hasher);
        if let MethodChoice::Neural(params) = &plan.preset.learner {
            let encoder = params.network.encoder().map(|encoder| &encoder.path);
            let paths = [Some(&params.pretrained), encoder].into_iter().flatten();
            let paths: Vec<_> = paths.filter(|path| !path.is_empty()).map(PathBuf::from).collect();
            hash_files(&paths, &mut hasher)?;
        }
        for paths in [&self.treebank.train, &self.treebank.dev] {
            hash_files(paths, &mut hasher)?;
        }
        if !self.treebank.test.is_empty() {
            hash_files(&self.treebank.test, &mut hasher)?;
        }
        Ok(format!("{:016x}", hasher.finish()))
    }

    /// The trees that are parsed, as they are scored.
    ///
    /// # Errors
    /// When they cannot be read, or there are none.
    pub fn gold(&self) -> Result<Vec<Tree>> {
        let scored = read(self.treebank.scored())?;
        Ok(scored.stripped(&self.gold_cleaning()?.clean).into_owned().trees)
    }

    /// Trains the parser on one thread, parses the trees to score and stores the results. Memory is measured if
    /// nothing else runs in the process (`is_alone`).
    ///
    /// # Errors
    /// When a setting is invalid, a file cannot be read or written, or training fails.
    pub fn run(&self, folder: &Folder, is_alone: bool, observer: &dyn Observer) -> Result<Outcome> {
        parallel::with_threads(1, || self.run_on_one_thread(folder, is_alone, observer))?
    }

    fn run_on_one_thread(
        &self,
        folder: &Folder,
        is_alone: bool,
        observer: &dyn Observer,
    ) -> Result<Outcome> {
        let fingerprint = self.fingerprint()?;
        folder.begin(self)?;
        let checkpoint = folder.checkpoint(self);
        let mut trainer = Trainer::with_preset(self.preset()?)?.seed(self.seed).observe(observer);
        if trainer.has_checkpoints() {
            trainer = trainer.checkpoint(&checkpoint);
        }
        let is_resumed = checkpoint.exists();
        let is_measured = is_alone && !is_resumed && reset_peak_memory();
        let train = self.share(read(&self.treebank.train)?);
        let dev = match &self.treebank.dev[..] {
            [] => Treebank::default(),
            dev => read(dev)?,
        };
        let (model, training) = timed(|| trainer.train(&train, &dev));
        let parser = Parser::new(&model?, &[])?;
        let gold = self.gold()?;
        let (parses, parsing) = timed(|| parse(&parser, &gold, false));
        let seconds = parsing.cpu.unwrap_or(parsing.elapsed).as_secs_f64();
        let costs = Costs {
            train_cpu_s: training.cpu.filter(|_| !is_resumed).map(|cpu| cpu.as_secs_f64()),
            train_s: (!is_resumed).then_some(training.elapsed.as_secs_f64()),
            memory_mb: peak_memory().filter(|_| is_measured).map(|bytes| bytes as f64 / 1e6),
            sentences_s: gold.len() as f64 / seconds.max(1e-9),
        };
        let gold_tags = parses?;
        folder.write_trees(self, GOLD_TAGS, &gold_tags.trees)?;
        let own_tags = parser.has_tagger().then(|| parse(&parser, &gold, true)).transpose()?;
        if let Some(own_tags) = &own_tags {
            folder.write_trees(self, OWN_TAGS, &own_tags.trees)?;
        }
        let scores = Scores {
            trees: train.trees.len() as u64,
            gold_tags: score(&gold, &gold_tags, false),
            own_tags: own_tags.map(|own_tags| score(&gold, &own_tags, true)),
        };
        let outcome = Outcome { fingerprint, scores, costs };
        folder.finish(self, &outcome)?;
        Ok(outcome)
    }

    fn preset(&self) -> Result<Preset> {
        let preset = Preset::load_for(&self.preset, Some(&self.treebank.profile()?), &self.set)?;
        preset.refuse_tagger()?;
        Ok(preset)
    }

    /// The preset by which gold trees are cleaned, whatever the parser: the treebank decides.
    fn gold_cleaning(&self) -> Result<Preset> {
        let of_cleaning = |setting: &&String| setting.starts_with("clean.");
        let settings: Vec<String> = self.treebank.set.iter().filter(of_cleaning).cloned().collect();
        Preset::load_for(DEFAULT, Some(&self.treebank.profile()?), &settings)
    }

    /// The share of the trees, spread evenly over the treebank.
    fn share(&self, treebank: Treebank) -> Treebank {
        let up_to = |n: usize| (n as f64 * self.percent / 100.0 + 1e-9) as usize;
        let Treebank { files, trees } = treebank;
        let numbered = trees.into_iter().enumerate();
        let kept = numbered.filter(|&(at, _)| up_to(at + 1) > up_to(at));
        Treebank { files, trees: kept.map(|(_, tree)| tree).collect() }
    }
}

/// The most bytes of a name in the name of a file, which may have 255.
const MAX_BYTES: usize = 60;

/// A name as a part of the name of a file: letters, digits and hyphens, cut if it is long.
pub(super) fn file_name(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let name = words.join("-");
    let fits = |(at, c): &(usize, char)| at + c.len_utf8() <= MAX_BYTES;
    name.char_indices().take_while(fits).map(|(_, c)| c).collect()
}

fn read(paths: &[PathBuf]) -> Result<Treebank> {
    let (treebank, _) = Treebank::read(paths, &ReadOptions::default())?;
    if treebank.trees.is_empty() {
        let name = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        return Err(Error::Unfit(format!("{name}: no trees: check that this is a treebank file")));
    }
    Ok(treebank)
}

fn hash_files(paths: &[PathBuf], hasher: &mut FxHasher) -> Result<()> {
    let inputs = expand(paths)?.found;
    inputs.len().hash(hasher);
    for input in inputs {
        let mut bytes = Vec::new();
        let read = input.open()?.read_to_end(&mut bytes);
        read.map_err(|error| Error::io(input.name(), error))?;
        bytes.hash(hasher);
    }
    Ok(())
}

/// Parses of the trees that are scored.
struct Parses {
    trees: Vec<Tree>,
    /// How many are complete.
    complete: u64,
}

/// Parses the words of trees, with their tags or with the parser's own.
fn parse(parser: &Parser, gold: &[Tree], retags: bool) -> Result<Parses> {
    let mut worker = parser.worker();
    let mut parses = Parses { trees: Vec::with_capacity(gold.len()), complete: 0 };
    for tree in gold {
        let mut tokens = words(tree);
        if retags {
            remove_tags(&mut tokens);
        }
        let parse = worker.parse(&tokens)?;
        parses.complete += u64::from(parse.complete);
        parses.trees.push(parse.tree);
    }
    Ok(parses)
}

fn score(gold: &[Tree], parses: &Parses, gold_tags: bool) -> TagScores {
    let mut evaluation = Evaluation::new(Params::default(), None);
    evaluation.gold_tags = gold_tags;
    for (gold, test) in gold.iter().zip(&parses.trees) {
        evaluation.add(gold, test);
    }
    let all = &evaluation.all;
    TagScores {
        f1: all.f1(),
        exact: all.exact(),
        complete: 100.0 * parses.complete as f64 / gold.len().max(1) as f64,
        tagging: all.tagging(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(percent: f64) -> Cell {
        Cell {
            parser: String::new(),
            setting: String::new(),
            treebank: TreebankEntry::default(),
            percent,
            seed: 1,
            preset: "accurate".to_owned(),
            set: Vec::new(),
        }
    }

    #[test]
    fn fingerprints_differ_with_any_input() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c, vectors] =
            ["a.mrg", "b.mrg", "c.mrg", "v.txt"].map(|name| folder.path().join(name));
        for path in [&a, &b, &c, &vectors] {
            std::fs::write(path, path.file_name().unwrap().as_encoded_bytes()).unwrap();
        }
        let mut cell = cell(100.0);
        let mut seen = Vec::new();
        let mut is_new = |cell: &Cell| {
            let fingerprint = cell.fingerprint().unwrap();
            let is_new = !seen.contains(&fingerprint);
            seen.push(fingerprint);
            is_new
        };
        (cell.treebank.train, cell.treebank.dev) = (vec![a.clone(), b.clone()], vec![c.clone()]);
        assert!(is_new(&cell) && !is_new(&cell));
        (cell.treebank.train, cell.treebank.dev) = (vec![a], vec![b, c]);
        assert!(is_new(&cell));
        cell.set = vec![format!("learner.pretrained={}", vectors.display())];
        assert!(is_new(&cell) && !is_new(&cell));
        std::fs::write(&vectors, "other vectors").unwrap();
        assert!(is_new(&cell));
    }

    #[test]
    fn shares_are_spread_and_nested() {
        let trees: Vec<Tree> = (0..200)
            .map(|n| {
                let mut builder = crate::tree::TreeBuilder::new();
                builder.open("S");
                builder.token(n.to_string(), "CD");
                builder.close();
                builder.finish()
            })
            .collect();
        let kept = |percent| cell(percent).share(trees.clone().into()).trees;
        for (percent, number) in
            [(0.1, 0), (0.5, 1), (1.0, 2), (33.0, 66), (99.5, 199), (100.0, 200)]
        {
            assert_eq!(kept(percent).len(), number, "{percent}");
        }
        let (fewer, more) = (kept(4.0), kept(8.0));
        assert!(fewer.iter().all(|tree| more.contains(tree)));
        assert_eq!(kept(1.0), [&trees[99], &trees[199]].map(Clone::clone));
    }

    #[test]
    fn names_of_files_have_no_other_characters() {
        assert_eq!(file_name("1. Head word, and tag of S(0)"), "1-Head-word-and-tag-of-S-0");
        assert_eq!(file_name("../x"), "x");
        assert_eq!(file_name(&"a".repeat(300)), "a".repeat(60));
        assert_eq!(file_name(&format!("a{}", "é".repeat(300))), format!("a{}", "é".repeat(29)));
    }
}

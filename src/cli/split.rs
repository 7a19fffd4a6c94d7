//! `srparse split`: divides a treebank into parts.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;

use super::inputs::note_report;
use super::options::{INPUT, TreebankArgs, Verbosity};
use super::out::{Out, note_leftovers, refuse_folder_of_inputs};
use crate::error::counted;
use crate::output::OutputFile;
use crate::text_file;
use crate::tree::{TRACE, Tree};
use crate::treebank::partition::{self, Entry, SentenceNumber, Unit};
use crate::treebank::{ids, penn};

/// Divide a treebank into training, development and test trees.
///
/// Writes each part to a file of the output folder, NAME.mrg, in brackets, as read and in the order of the treebank, and
/// prints how many trees, words and documents it has. Shares are spread evenly over the treebank; with --seed they are
/// drawn at random. With --by, documents stay whole. Lists name the files or IDs of a part; what they leave is divided by
/// the shares.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse split -o parts --share train=80,dev=10,test=10 data/sample/train.mrg
  srparse split -o parts --share train=90,dev=10 --by file --seed 1 'bank/*.mrg'
  srparse split -o parts --list test=test-files.txt --share train=100 bank")]
pub struct SplitArgs {
    /// Treebank files (may be .gz), folders, quoted globs, or - for standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Folder for the parts.
    #[arg(short, long, value_name = "FOLDER")]
    out: PathBuf,
    /// Parts with their shares in percent; the rest of the treebank is left out.
    #[arg(
        long,
        value_name = "NAME=PERCENT,…",
        value_delimiter = ',',
        required_unless_present = "list"
    )]
    share: Vec<String>,
    /// A part with the files or trees that a text file lists, a line each: names of files, with or without their ending,
    /// IDs of documents, or IDs of trees; may be repeated.
    #[arg(long, value_name = "NAME=FILE", num_args = 1)]
    list: Vec<String>,
    #[command(flatten)]
    units: UnitArgs,
    /// Keep the IDs of trees of other formats than brackets, as `( (S ...) (ID x))`.
    #[arg(long)]
    ids: bool,
    #[command(flatten)]
    treebank: TreebankArgs,
    #[command(flatten)]
    verbosity: Verbosity,
}

/// How trees are drawn.
#[derive(Debug, clap::Args)]
pub(super) struct UnitArgs {
    /// What stays together: trees of one file, or those whose IDs differ only in the number of the sentence: their last,
    /// or their first if that gives longer documents; without it every tree stands alone.
    #[arg(long, value_enum, value_name = "WHAT", help_heading = INPUT)]
    by: Option<By>,
    /// Draw at random, with this seed, instead of evenly.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// Files.
    File,
    /// IDs.
    Id,
}

impl UnitArgs {
    /// Whether documents stay whole.
    pub(super) fn are_documents(&self) -> bool {
        self.by.is_some()
    }

    /// The units of a treebank, in the order in which they are drawn.
    ///
    /// # Errors
    /// When trees are to stay together by their IDs and none has one.
    pub(super) fn units(&self, entries: &[Entry]) -> anyhow::Result<Vec<Vec<usize>>> {
        let unit = match self.by {
            None => Unit::Tree,
            Some(By::File) => Unit::File,
            Some(By::Id) => Unit::Id,
        };
        ensure!(
            unit != Unit::Id || entries.iter().any(|entry| entry.id.is_some()),
            "--by id: no tree has an ID: give a treebank with `(ID x)`, or use --by file"
        );
        let mut units = partition::units(entries, unit);
        if let Some(seed) = self.seed {
            partition::shuffle(&mut units, seed);
        }
        Ok(units)
    }
}

/// A part, with the positions of its trees.
struct Part {
    name: String,
    trees: Vec<usize>,
    units: usize,
}

/// Runs the command.
///
/// # Errors
/// When the treebank cannot be read, a share or a list is malformed, or the folder cannot be written.
pub fn run(args: &SplitArgs) -> anyhow::Result<ExitCode> {
    let shares = shares(&args.share)?;
    let lists =
        args.list.iter().map(|list| named("--list", list)).collect::<Result<Vec<_>, _>>()?;
    let names = lists.iter().map(|(name, _)| *name).chain(shares.iter().map(|(name, _)| *name));
    let names: Vec<&str> = names.collect();
    check_names(names.iter().copied())?;
    refuse_folder_of_inputs("--out", &args.out, &args.files)?;
    let (entries, report) = partition::read(&args.files, &args.treebank.options())?;
    note_report(&report, args.verbosity.quiet);
    ensure!(!entries.is_empty(), "{}: no trees to split", args.files[0].display());
    let (mut units, mut parts) = (args.units.units(&entries)?, Vec::new());
    for (name, list) in &lists {
        parts.push(listed(name, Path::new(list), &entries, &mut units)?);
    }
    let left = by_share(&shares, &units, &mut parts);
    if left > 0 && !args.verbosity.quiet {
        say!("{} in no part", counted(left as u64, "tree"));
    }
    std::fs::create_dir_all(&args.out).map_err(|error| crate::Error::io(&args.out, error))?;
    let mut files = Vec::new();
    for part in &mut parts {
        part.trees.sort_unstable();
        let path = args.out.join(format!("{}.mrg", part.name));
        let mut file = OutputFile::create(&path)?;
        write(&mut file, &part.trees, &entries, args.ids)
            .and_then(|()| file.flush())
            .map_err(|error| crate::Error::io(path, error))?;
        files.push(file);
    }
    // Only now: a full disk changes no part.
    files.into_iter().try_for_each(OutputFile::finish)?;
    print(&parts, &entries)?;
    let is_other =
        |file: &str| file.strip_suffix(".mrg").is_some_and(|part| !names.contains(&part));
    note_leftovers(&args.out, is_other, args.verbosity.quiet);
    if !args.verbosity.quiet {
        let (listed, shared) = parts.split_at(lists.len());
        warn_of_empty(listed, "check its list");
        let advice = if args.units.are_documents() {
            "documents stay whole: give more documents or a larger share, or change or omit --by"
        } else {
            "give more trees or a larger share"
        };
        warn_of_empty(shared, advice);
    }
    Ok(ExitCode::SUCCESS)
}

/// Warns of parts without trees.
fn warn_of_empty(parts: &[Part], advice: &str) {
    for part in parts.iter().filter(|part| part.trees.is_empty()) {
        say!("WARNING: the part `{}` has no trees: {advice}", part.name);
    }
}

/// Divides units by share; returns how many trees are left over.
fn by_share(shares: &[(&str, f64)], units: &[Vec<usize>], parts: &mut Vec<Part>) -> usize {
    let first = parts.len();
    let part =
        |&(name, _): &(&str, f64)| Part { name: name.to_owned(), trees: Vec::new(), units: 0 };
    parts.extend(shares.iter().map(part));
    let percents: Vec<f64> = shares.iter().map(|&(_, percent)| percent).collect();
    let mut left = 0;
    for (unit, part) in units.iter().zip(partition::divide(units, &percents)) {
        match part {
            Some(part) => {
                parts[first + part].trees.extend(unit);
                parts[first + part].units += 1;
            }
            None => left += unit.len(),
        }
    }
    left
}

/// Takes the units of which a tree is listed out of the treebank.
fn listed(
    name: &str,
    list: &Path,
    entries: &[Entry],
    units: &mut Vec<Vec<usize>>,
) -> anyhow::Result<Part> {
    let text = text_file::read(list).context("--list")?;
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut wanted: HashMap<&str, bool> = lines.map(|line| (line, false)).collect();
    let mut part = Part { name: name.to_owned(), trees: Vec::new(), units: 0 };
    let number = SentenceNumber::of(entries);
    let mut kept = Vec::with_capacity(units.len());
    for unit in units.drain(..) {
        let mut is_listed = false;
        for &at in &unit {
            for name in names_of(&entries[at], number) {
                if let Some(found) = wanted.get_mut(name.as_str()) {
                    (*found, is_listed) = (true, true);
                }
            }
        }
        if is_listed {
            part.trees.extend(unit);
            part.units += 1;
        } else {
            kept.push(unit);
        }
    }
    *units = kept;
    let missing = text.lines().zip(1..).find(|(line, _)| wanted.get(line.trim()) == Some(&false));
    if let Some((line, number)) = missing {
        bail!(
            "{}:{number}: `{}` names no file and no ID of the treebank, or one that is in another part: correct the list",
            list.display(),
            line.trim()
        );
    }
    Ok(part)
}

/// The names by which a list may mean a tree.
fn names_of(entry: &Entry, number: SentenceNumber) -> Vec<String> {
    let name_of = |file: Option<&OsStr>| file.map(|name| name.to_string_lossy().into_owned());
    let name = name_of(Path::new(&entry.file).file_name());
    let plain = entry.file.strip_suffix(".gz").unwrap_or(&entry.file);
    let stem = name_of(Path::new(plain).file_stem());
    let id = entry.id.clone();
    let document = entry
        .id
        .as_deref()
        .map(|id| number.document(id).trim_matches(|c: char| !c.is_alphanumeric()).to_owned());
    [Some(entry.file.clone()), name, stem, id, document].into_iter().flatten().collect()
}

/// Splits `NAME=VALUE`.
fn named<'a>(option: &str, text: &'a str) -> anyhow::Result<(&'a str, &'a str)> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name, value)),
        _ => bail!("{option} {text}: write a name and its value, such as {option} dev=10"),
    }
}

fn shares(list: &[String]) -> anyhow::Result<Vec<(&str, f64)>> {
    let mut shares = Vec::new();
    for text in list {
        let (name, value) = named("--share", text)?;
        match value.trim_end_matches('%').parse::<f64>() {
            Ok(percent) if percent > 0.0 && percent <= 100.0 => shares.push((name, percent)),
            _ => bail!(
                "--share {text}: a share is a percentage above 0, at most 100, such as dev=10"
            ),
        }
    }
    let total: f64 = shares.iter().map(|(_, percent)| percent).sum();
    ensure!(
        total <= 100.0 + 1e-9,
        "--share: the shares are together {total} percent: give at most 100"
    );
    Ok(shares)
}

fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> anyhow::Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        let is_file = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        ensure!(
            is_file && name.contains(char::is_alphanumeric),
            "`{name}` is no name of a part: use letters, digits, hyphens and underscores"
        );
        ensure!(seen.insert(name.to_lowercase()), "the part `{name}` is named twice: name it once");
    }
    Ok(())
}

/// Writes trees to a file.
fn write(
    out: &mut OutputFile,
    trees: &[usize],
    entries: &[Entry],
    with_ids: bool,
) -> io::Result<()> {
    trees.iter().try_for_each(|&at| {
        let Entry { tree, id, id_in_brackets, .. } = &entries[at];
        match id.as_deref().filter(|_| with_ids || *id_in_brackets) {
            Some(id) => penn::write_line(&ids::with_id(tree, id), out),
            None => penn::write_line(tree, out),
        }
    })
}

/// Prints the size of each part.
fn print(parts: &[Part], entries: &[Entry]) -> anyhow::Result<()> {
    let mut out = Out::stdout();
    writeln!(out, "part\ttrees\tdocuments\twords")?;
    for Part { name, trees, units } in parts {
        let words = trees.iter().map(|&at| words(&entries[at].tree)).sum::<usize>();
        writeln!(out, "{name}\t{}\t{units}\t{words}", trees.len())?;
    }
    out.finish()
}

/// The number of words of a tree, without traces.
fn words(tree: &Tree) -> usize {
    tree.tokens().iter().filter(|token| token.tag != TRACE).count()
}

//! `srparse find`: searches trees in the language of Tregex.

mod count;
mod output;

use std::collections::HashSet;
use std::io::Write;
use std::ops::ControlFlow::{Break, Continue};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;

use super::options::OUTPUT;
use super::out::Out;
use super::page;
use super::page::trees::TreesPage;
use super::sentences::{Sentence, SentenceArgs, SentenceProcessor};
use crate::find::{HEADS, Pattern, Searcher, basic_category};
use crate::text_file;
use crate::tree::function_tags_problem;
use crate::tree::heads::HeadRules;
use count::Tally;

/// Find the places in trees that match a pattern.
///
/// Patterns are those of Tregex: `NP < NN` is a noun phrase over a noun, `S << VBD` a clause that dominates a past-tense
/// verb. docs/find.md describes the language. As in Tregex, a node is found once per way in which the
/// pattern matches; with --once, only once.
///
/// Each match is a line: the file and the number of the tree in it, a tab, and the subtree. Trees are searched as they
/// are in the file, with traces and function tags, unless --clean, --treebank or --set is given.
///
/// Exit status is 0 if something was found, 1 if nothing was, 2 on an error.
#[derive(Debug, clap::Args)]
#[command(mut_arg("treebank", |arg| arg.conflicts_with("text")))]
#[command(after_help = "Examples:
  srparse find 'NP < (DT . JJ)' data/sample/dev.mrg
  srparse find --output kwic '@NP $+ VP' data/sample/dev.mrg
  srparse find --label NP --output words data/sample/dev.mrg
  srparse find --count-by words 'NN > NP' data/sample/*.mrg
  srparse find 'VP=vp < NP=object' --node object --output json data/sample/dev.mrg
  echo 'The dog barked at the cats.' | srparse find 'VP < PP' --text
  srparse find --output html 'SBAR' data/sample/dev.mrg > found.html")]
pub struct FindArgs {
    /// What to find; a file if --label is given.
    #[arg(value_name = "PATTERN", required_unless_present = "label")]
    pattern: Option<String>,
    /// Files with trees (may be .gz), folders, quoted globs; standard input if omitted, or for `-`.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Find all phrases with this label, whatever their function tags, instead of a pattern; or several, such as NP|PP.
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,
    /// Find each node once, even if the pattern matches it in several ways.
    #[arg(long)]
    once: bool,
    /// Head rules for the relations <#, >#, <<# and >>#: a name listed by `srparse info`, or a file. By default those of
    /// the treebank, or with --text of the model; otherwise collins-modified.
    #[arg(value_parser = super::listed::heads(), hide_possible_values = true, long, value_name = "NAME|FILE")]
    heads: Option<String>,
    #[command(flatten)]
    source: SentenceArgs,
    /// Format of the matches.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t, help_heading = OUTPUT)]
    output: FindOutput,
    /// Print the node with this name, which `=name` gives it in the pattern, instead of the whole match.
    #[arg(long, value_name = "NAME", help_heading = OUTPUT)]
    node: Option<String>,
    /// Print the number of matches only.
    #[arg(short = 'c', long, conflicts_with = "output", help_heading = OUTPUT)]
    count: bool,
    /// Print a table of match counts by document (file), by label, or by the words of the match.
    #[arg(long, value_name = "WHAT", value_enum, conflicts_with_all = ["count", "output"], help_heading = OUTPUT)]
    count_by: Option<CountBy>,
    /// Print matches without file and number.
    #[arg(long, help_heading = OUTPUT)]
    no_place: bool,
    /// Columns of context on each side of the match, for --output kwic: at most 10,000; 40 without this option.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(..=10_000), help_heading = OUTPUT)]
    width: Option<u16>,
}

/// The columns of context without --width.
const WIDTH: u16 = 40;

/// The output of `srparse find` for a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum FindOutput {
    /// The subtree in brackets.
    #[default]
    Brackets,
    /// Its words.
    Words,
    /// Its words with those around them, aligned.
    Kwic,
    /// One JSON object per line: file, tree, label, span, words, named nodes, and characters of raw text.
    Json,
    /// Whole trees with a match, each once, below a comment with the place.
    Trees,
    /// A page with these trees, in which the matches are marked.
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CountBy {
    /// Each file, also those without matches.
    Document,
    /// Each label of the nodes that are found.
    Label,
    /// The words of the nodes that are found.
    Words,
}

/// The longest line of a pattern that a message shows.
const MAX_SHOWN: usize = 200;

/// The most matches that are printed of one tree, and about the most bytes.
const MAX_MATCHES: u64 = 100_000;
const MAX_BYTES: usize = 1 << 28;

/// Runs the command.
///
/// # Errors
/// When the pattern or an option is invalid, an input cannot be read, or the output cannot be written.
pub fn run(args: &FindArgs) -> anyhow::Result<ExitCode> {
    ensure!(
        args.width.is_none() || args.output == FindOutput::Kwic,
        "--width is for words in their context: add --output kwic"
    );
    let (text, files) = args.pattern_and_files()?;
    let pattern = compiled(&text)?;
    if !args.source.verbosity.quiet {
        pattern.warnings().iter().for_each(|warning| say!("note: {warning}"));
    }
    if let Some(name) = &args.node {
        let names: Vec<&str> = pattern.names().collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        ensure!(
            names.contains(&name.as_str()),
            "--node {name}: the pattern names no such node; it names {known}"
        );
    }
    let heads = match &args.heads {
        Some(heads) => HeadRules::load(heads).context("--heads")?,
        None if !pattern.needs_heads() => HeadRules::named(HEADS)?,
        None => args.source.heads()?.map_or_else(|| HeadRules::named(HEADS), Ok)?,
    };
    let mut out = args.source.out.open(&files)?;
    if args.is_page() {
        page::begin(&TreesPage { title: format!("Matches of {text}") }, &mut out)?;
    }
    let make = || -> SentenceProcessor<'_, crate::Result<Hits>> {
        // A named node is one of many in a match.
        let is_once = args.once && args.node.is_none();
        let mut searcher = Searcher::new(&pattern).with_heads(&heads).once(is_once);
        Box::new(move |sentence| {
            let one = sentence?;
            search(args, &mut searcher, &one).map_err(|error| placed(error, &one))
        })
    };
    let mut tally = Tally::default();
    let mut take = |out: &mut Out, hits: crate::Result<Hits>| {
        let hits = hits?;
        hits.count(args.count_by, &mut tally);
        out.write_all(&hits.bytes)?;
        Ok(true)
    };
    args.source.run(&files, &make, (&mut out, &mut take))?;
    let total = tally.total();
    match (args.count, args.count_by) {
        (true, _) => writeln!(out, "{total}")?,
        (_, Some(by)) => tally.write(by == CountBy::Document, &mut out)?,
        _ if args.is_page() => out.write_all(page::END)?,
        _ => {}
    }
    out.finish()?;
    Ok(if total > 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

impl FindArgs {
    /// The pattern and the files: with `--label`, the first argument is a file.
    ///
    /// # Errors
    /// When a label has function tags, or a file is in the place of the pattern.
    fn pattern_and_files(&self) -> anyhow::Result<(String, Vec<PathBuf>)> {
        let mut files = self.files.clone();
        let text = match (&self.label, &self.pattern) {
            (Some(label), pattern) => {
                files.splice(0..0, pattern.iter().map(PathBuf::from));
                labelled(label)?
            }
            (None, pattern) => pattern.clone().unwrap_or_default(),
        };
        ensure!(
            self.label.is_some() || !is_file(&text),
            "{text}: this is a file, and the pattern comes first, as in: srparse find NP {text}"
        );
        if files.is_empty() {
            files.push("-".into());
        }
        Ok((text, files))
    }

    /// Whether the output is a page.
    fn is_page(&self) -> bool {
        self.output == FindOutput::Html
    }

    /// Whether nodes are only counted.
    fn counts_only(&self) -> bool {
        self.node.is_none() && (self.count || self.count_by == Some(CountBy::Document))
    }
}

/// Whether a pattern is rather the name of a file. A file may have the name of a label too.
fn is_file(pattern: &str) -> bool {
    pattern.contains(['.', '/', '\\']) && text_file::exists(pattern)
}

/// The pattern of phrases with a label, or with one of several; labels such as `PRP$` are no names in patterns.
///
/// # Errors
/// When a label has function tags.
fn labelled(labels: &str) -> anyhow::Result<String> {
    for label in labels.split('|') {
        if let Some(problem) = function_tags_problem(label, basic_category(label)) {
            bail!("--label {label}: {problem}, or give {label} as the pattern");
        }
    }
    let labels: Vec<String> =
        labels.split('|').map(|label| fancy_regex::escape(label).into_owned()).collect();
    Ok(format!("@/^({})$/ <1 __", labels.join("|").replace('/', "\\/")))
}

/// Compiles a pattern; the message of an error shows the place.
fn compiled(text: &str) -> anyhow::Result<Pattern> {
    Pattern::parse(text).map_err(|error| {
        let crate::Error::Syntax { at, .. } = &error else { return error.into() };
        let line = text.lines().nth(at.line as usize - 1).unwrap_or_default();
        if line.chars().count() > MAX_SHOWN {
            return error.into();
        }
        let space = " ".repeat(at.column as usize - 1);
        anyhow::anyhow!("{error}\n  {line}\n  {space}^")
    })
}

/// The matches of one tree.
#[derive(Default)]
struct Hits {
    file: Arc<str>,
    bytes: Vec<u8>,
    count: u64,
    /// The part of each match that is counted.
    keys: Vec<String>,
    /// The size of the keys in bytes.
    key_bytes: usize,
}

impl Hits {
    fn add_key(&mut self, key: String) {
        self.key_bytes += key.len();
        self.keys.push(key);
    }

    /// Counts the matches.
    fn count(&self, by: Option<CountBy>, tally: &mut Tally) {
        match by {
            Some(CountBy::Document) => tally.add(&self.file, self.count),
            Some(_) => self.keys.iter().for_each(|key| tally.add(key, 1)),
            None => tally.add("", self.count),
        }
    }
}

/// Searches a tree.
fn search(
    args: &FindArgs,
    searcher: &mut Searcher<'_>,
    sentence: &Sentence,
) -> crate::Result<Hits> {
    let output = output::Output { args, sentence };
    let mut hits = Hits { file: Arc::clone(&sentence.file), ..Hits::default() };
    if args.counts_only() {
        hits.count = searcher.count(&sentence.tree)?;
        return Ok(hits);
    }
    let (mut positions, mut seen) = (Vec::new(), HashSet::new());
    searcher.for_each(&sentence.tree, |found| {
        let position = match &args.node {
            Some(name) => found.named(name),
            None => Some(found.position()),
        };
        let Some(position) = position else { return Continue(()) };
        if args.once && !seen.insert(position) {
            return Continue(());
        }
        hits.count += 1;
        if args.count {
            return Continue(());
        }
        if is_too_much(&hits) {
            return Break(());
        }
        match args.count_by {
            Some(CountBy::Document) => {}
            Some(CountBy::Label) => hits.add_key(position.label(&sentence.tree).to_owned()),
            Some(CountBy::Words) => hits.add_key(output.words(position)),
            None if output.is_of_trees() => positions.push(position),
            None => output.write(position, &found, &mut hits.bytes),
        }
        Continue(())
    })?;
    if !args.count && is_too_much(&hits) {
        let problem = format!(
            "more than {MAX_MATCHES} matches, or {} MB of them, in one tree: use --once or --count",
            MAX_BYTES >> 20
        );
        return Err(crate::Error::config("the pattern", problem));
    }
    if !positions.is_empty() {
        output.write_tree(&positions, &mut hits.bytes);
    }
    Ok(hits)
}

/// The error of a search, with the number of the tree.
fn placed(error: crate::Error, sentence: &Sentence) -> crate::Error {
    match error {
        crate::Error::Config { key, problem } => {
            let key = format!("{}: tree {}: {key}", sentence.file, sentence.number);
            crate::Error::config(key, problem)
        }
        other => other,
    }
}

/// Whether a tree has more matches than memory should hold.
fn is_too_much(hits: &Hits) -> bool {
    hits.count > MAX_MATCHES || hits.bytes.len() + hits.key_bytes > MAX_BYTES
}

//! `srparse oracle`: derivations of trees, and how well a model predicts their actions.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::listed;
use super::options::{ThreadsArg, TreebankArgs, Verbosity, note_stdin};
use super::out::{Out, OutArg};
use super::reading_bar::ReadingBar;
use crate::Result;
use crate::inspect::decisions::{DecisionCounts, KINDS};
use crate::inspect::margins::BIN;
use crate::model::file;
use crate::oracle::Supervised;
use crate::oracle::replay::check_replay;
use crate::parser::Parser;
use crate::preset::DEFAULT;
use crate::preset::plan::Plan;
use crate::preset::registry::{Source, SystemVisitor, with_system};
use crate::sort::sort_by;
use crate::symbols::{Sentence, Vocabulary};
use crate::transition::{Action, View};
use crate::tree::{Token, Tree};
use crate::treebank::read_all;

/// Show the derivations of trees.
///
/// Prints one configuration per line: its number, the stack, the buffer, and the action taken. Trees are
/// preprocessed as they would be for training with the preset. With --model, prints instead how often the
/// model predicts the correct action on the way to each tree.
///
/// Exit status: 0 on success; 1 if the transition system cannot build some of the trees; 2 on an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse tree --nth 1 data/sample/dev.mrg | srparse oracle
  srparse oracle --stats data/sample/train.mrg
  srparse oracle --model data/models/english.srm data/sample/dev.mrg")]
pub struct OracleArgs {
    /// Treebank files (may be .gz), folders, quoted patterns, or - for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
    /// Preset that defines the transition system: a name listed by `srparse info`, or a file.
    #[arg(value_parser = listed::presets(), hide_possible_values = true, long, value_name = "NAME|FILE", default_value = DEFAULT)]
    preset: String,
    /// Change a setting of the preset or, with --model, a search setting of the model; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print statistics of all derivations instead.
    #[arg(long)]
    stats: bool,
    /// Print the accuracy of this model on the decisions of the derivations. Trees that its actions cannot
    /// build are counted and left out.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["preset", "stats"])]
    model: Option<PathBuf>,
    /// Print a histogram of the margins (confidence in the truth) of correct and wrong candidates with this
    /// label; needs the --model of an item-based parser.
    #[arg(long, value_name = "LABEL", requires = "model")]
    margins: Option<String>,
    #[command(flatten)]
    out: OutArg,
    #[command(flatten)]
    verbosity: Verbosity,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    treebank: TreebankArgs,
}

/// The number of trees parsed between two updates of the progress bar.
const CHUNK: usize = 256;

impl OracleArgs {
    /// A progress bar for the trees; none while output goes to the terminal.
    fn bar(&self, n: usize, writes: bool) -> ReadingBar {
        let is_disturbing = writes && self.out.is_terminal();
        ReadingBar::of_count(!self.verbosity.quiet && !is_disturbing, n, "trees")
    }
}

/// Runs the command.
///
/// # Errors
/// When the trees cannot be read, or no transition system can be built from them.
pub fn run(args: &OracleArgs) -> anyhow::Result<ExitCode> {
    let mut out = args.out.open(args.files.iter().chain(&args.model))?;
    note_stdin(&args.files, args.verbosity.quiet);
    if let Some(path) = &args.model {
        return accuracy(args, path, out);
    }
    let plan = Plan::new(args.treebank.profile.preset(&args.preset, &args.set)?)?;
    let (trees, report) = read_all(&args.files, &args.treebank.options())?;
    if !args.verbosity.quiet || report.skipped > 0 {
        say!("{report}");
    }
    let clean = &plan.preset.clean;
    let prepare = |tree: Tree| {
        let mut tree = clean.apply(clean.strip(tree)?).tree;
        if let Some(heads) = &plan.heads {
            heads.apply(&mut tree);
        }
        Some(tree)
    };
    let trees: Vec<Tree> =
        trees.into_iter().filter_map(prepare).filter(|tree| !tree.tokens().is_empty()).collect();
    let borrowed: Vec<&Tree> = trees.iter().collect();
    let vocabulary = Vocabulary::of(borrowed.iter().map(|tree| tree.tokens()), 1);
    let builder = plan.builder(Source::Trees(&borrowed), &vocabulary);
    let bar = args.bar(trees.len(), !args.stats);
    let (stats, out_of) = (args.stats, &mut out);
    let show = Show { trees: &borrowed, vocabulary: &vocabulary, stats, bar, out: out_of };
    let unfit = with_system(builder, show)?;
    out.finish()?;
    Ok(if unfit? == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints how often a model predicts the correct action on the way to the trees.
fn accuracy(args: &OracleArgs, path: &Path, mut out: Out) -> anyhow::Result<ExitCode> {
    args.threads.apply(&args.verbosity);
    args.treebank.profile.refuse_with_model()?;
    let name = || path.display().to_string();
    let parser = Parser::new(&file::read(path)?, &args.set).with_context(name)?;
    let (trees, report) = read_all(&args.files, &args.treebank.options())?;
    if !args.verbosity.quiet || report.skipped > 0 {
        say!("{report}");
    }
    if let Some(label) = &args.margins {
        let margins = parser.margins(trees, label).with_context(name)?;
        writeln!(out, "margin from\tcorrect candidates\twrong candidates")?;
        for (bin, [right, wrong]) in margins.bins {
            writeln!(out, "{:.1}\t{right}\t{wrong}", bin as f32 * BIN)?;
        }
        let [right, wrong] = margins.infinite;
        if right + wrong > 0 {
            say!(
                "left out {right} correct and {wrong} wrong candidates of infinite confidence: the model has no \
                 trees for this label"
            );
        }
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut bar = args.bar(trees.len(), false);
    let mut counts = DecisionCounts::default();
    let mut trees = trees.into_iter();
    loop {
        let chunk: Vec<Tree> = trees.by_ref().take(CHUNK).collect();
        if chunk.is_empty() {
            break;
        }
        let n = chunk.len() as u64;
        counts += parser.decisions(chunk);
        bar.add(n);
    }
    drop(bar);
    writeln!(out, "trees\t{}", counts.trees)?;
    writeln!(out, "trees that cannot be built\t{}", counts.unfit)?;
    writeln!(out, "decisions\tnumber\taccuracy, all actions\taccuracy, legal actions")?;
    let kinds = KINDS.iter().zip(&counts.kinds).filter(|(_, of_kind)| of_kind.number > 0);
    let kinds = kinds.map(|(kind, of_kind)| (format!("{kind:?}").to_uppercase(), of_kind));
    let rows = [("all".to_owned(), &counts.all), ("with a choice".to_owned(), &counts.choices)];
    for (name, decisions) in rows.into_iter().chain(kinds) {
        let [right, of_legal] = [decisions.accuracy(), decisions.accuracy_of_legal()]
            .map(|share| share.map_or("-".to_owned(), |share| format!("{share:.2} %")));
        writeln!(out, "{name}\t{}\t{right}\t{of_legal}", decisions.number)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

struct Show<'a, W> {
    trees: &'a [&'a Tree],
    vocabulary: &'a Vocabulary,
    stats: bool,
    bar: ReadingBar,
    out: &'a mut W,
}

impl<W: Write> SystemVisitor for Show<'_, W> {
    /// How many trees the system cannot build.
    type Output = io::Result<u64>;

    fn visit<S: Supervised>(mut self, system: S) -> Result<io::Result<u64>> {
        if self.stats {
            return Ok(statistics(&system, self));
        }
        let mut unfit = 0;
        for (tree, number) in self.trees.iter().zip(1..) {
            self.bar.add(1);
            let sentence = self.vocabulary.encode(tree.tokens());
            let written = match check_replay(&system, &sentence, tree) {
                Ok(_) => derivation(&system, &sentence, tree, self.out),
                Err(error) => {
                    unfit += 1;
                    writeln!(self.out, "# tree {number}: {error}\n")
                }
            };
            if let Err(error) = written {
                return Ok(Err(error));
            }
        }
        Ok(Ok(unfit))
    }
}

/// Writes one derivation and a blank line.
fn derivation<S: Supervised>(
    system: &S,
    sentence: &Sentence,
    tree: &Tree,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut state = system.start(sentence);
    for (action, step) in system.derivation(tree).unwrap_or_default().into_iter().zip(1..) {
        let view = system.view(&state);
        let stack = stack_text(system, &view, tree.tokens());
        let buffer = tree.tokens().get(view.buffer as usize..).unwrap_or_default();
        let mut words: Vec<&str> = buffer.iter().take(3).map(|token| token.word.as_str()).collect();
        if buffer.len() > words.len() {
            words.push("…");
        }
        writeln!(out, "{step}\t{stack}\t{}\t{}", words.join(" "), system.name(action))?;
        system.apply(&mut state, action);
    }
    writeln!(out)
}

/// Renders the stack from bottom to top: a constituent as its label and head word, with an opening bracket if
/// it is still open; a token as its word and tag.
fn stack_text<S: Supervised>(system: &S, view: &View<'_>, tokens: &[Token]) -> String {
    let item = |&id: &u32| {
        let node = view.forest.node(id);
        let head = tokens.get(node.head as usize);
        let word = head.map_or("", |head| head.word.as_str());
        match (node.label, head) {
            (Some(label), _) => {
                let mark = if node.temporary { "*" } else { "" };
                let open = if node.open { "(" } else { "" };
                let word = if head.is_some() { format!("[{word}]") } else { String::new() };
                format!("{open}{}{mark}{word}", system.label_name(label))
            }
            (None, head) => {
                format!("{word}/{}", head.map_or("", |head| head.tag.as_str()))
            }
        }
    };
    view.stack.iter().map(item).collect::<Vec<_>>().join(" ")
}

/// Writes derivation lengths and how often each action is taken.
fn statistics<S: Supervised>(system: &S, show: Show<'_, impl Write>) -> io::Result<u64> {
    let Show { trees, vocabulary, mut bar, out, .. } = show;
    // Actions that do the same to different candidates count as one.
    let mut counts: BTreeMap<u32, (u64, S::Action)> = BTreeMap::new();
    let (mut lengths, mut words, mut unfit) = (Vec::new(), 0, 0);
    let (mut nodes, mut left_out) = (0, 0);
    for tree in trees {
        bar.add(1);
        match check_replay(system, &vocabulary.encode(tree.tokens()), tree) {
            Ok(length) => lengths.push(length),
            Err(_) => {
                unfit += 1;
                continue;
            }
        }
        words += tree.tokens().len();
        for action in system.derivation(tree).unwrap_or_default() {
            counts.entry(action.code()).or_insert((0, action)).0 += 1;
        }
        nodes += tree.nodes().len();
        left_out += tree.nodes().len() - system.target(tree).nodes().len();
    }
    drop(bar);
    lengths.sort_unstable();
    let total: usize = lengths.iter().sum();
    let n = lengths.len().max(1);
    writeln!(out, "trees\t{}", lengths.len())?;
    writeln!(out, "trees that cannot be built\t{unfit}")?;
    writeln!(out, "words\t{words}")?;
    writeln!(out, "actions\t{total}")?;
    writeln!(out, "actions per tree\t{:.2}", total as f64 / n as f64)?;
    writeln!(
        out,
        "derivation length, median and maximum\t{}\t{}",
        lengths.get(n / 2).unwrap_or(&0),
        lengths.last().unwrap_or(&0)
    )?;
    for (name, value) in system.facts() {
        writeln!(out, "{name}\t{value}")?;
    }
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    if left_out > 0 {
        let share = percent(left_out as u64, nodes as u64);
        writeln!(out, "nodes lost to limits\t{left_out}\t{share:.2} %")?;
    }
    let mut ranked: Vec<(u64, S::Action)> = counts.into_values().collect();
    sort_by(&mut ranked, |a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    for (count, action) in ranked {
        writeln!(
            out,
            "{}\t{count}\t{:.2} %",
            system.kind_name(action),
            percent(count, total as u64)
        )?;
    }
    Ok(unfit)
}

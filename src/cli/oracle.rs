//! `srparse oracle`: derivations of trees, and how well a model predicts their actions.

mod agreement;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use super::inputs::{note_report, note_without_words};
use super::options::{ThreadsArg, TreebankArgs, Verbosity, note_stdin};
use super::out::{Out, OutArg};
use super::page::player::{PlayedGold, PlayerPage, Players};
use super::reading_bar::ReadingBar;
use super::tree_input::{InputTree, TreeInput};
use super::{listed, page};
use crate::Result;
use crate::eval::percent::percent;
use crate::inspect::decisions::{DecisionCounts, KINDS};
use crate::inspect::derivation::Derivation;
use crate::inspect::margins::{BIN, Margins};
use crate::model::Model;
use crate::oracle::replay::check_replay;
use crate::parser::Parser;
use crate::preset::DEFAULT;
use crate::preset::plan::Plan;
use crate::preset::registry::Source;
use crate::sort::sort_by;
use crate::symbols::Vocabulary;
use crate::transition::{Action, TransitionSystem};
use crate::tree::Tree;
use crate::treebank::{Trees, read_all};

/// Show the derivations of trees.
///
/// Prints one configuration per line: its number, the stack, the buffer, and the action taken. Trees are
/// preprocessed as they would be for training with the preset. With --model, prints instead how often the
/// model predicts the correct action on the way to each tree; with several models, which of them are right together.
///
/// Exit status: 0 on success; 1 if the transition system cannot build some of the trees; 2 on an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse tree --nth 1 data/sample/dev.mrg | srparse oracle
  srparse oracle --preset fast --preset binary-static --output html data/sample/dev.mrg > a.html
  srparse oracle --stats data/sample/train.mrg
  srparse oracle --model data/models/english-small.srm data/sample/dev.mrg
  srparse oracle --model data/models/english-small.srm --model data/models/english-small.srm data/sample/dev.mrg")]
pub struct OracleArgs {
    /// Treebank files (may be .gz), folders, quoted globs, or - for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
    /// Preset that defines the transition system: a name listed by `srparse info`, or a file. With --output html may be
    /// repeated: the derivations are shown side by side.
    #[arg(value_parser = listed::presets(), hide_possible_values = true, long, value_name = "NAME|FILE", num_args = 1,
          default_value = DEFAULT)]
    preset: Vec<String>,
    /// Change a setting of the preset or, with --model, a search setting of the model; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Output format of the derivations.
    #[arg(long, value_enum, default_value_t, conflicts_with_all = ["model", "stats"])]
    output: OracleOutput,
    /// Print statistics of all derivations instead.
    #[arg(long)]
    stats: bool,
    /// Print the accuracy of this model on the decisions of the derivations. Trees that its actions cannot
    /// build are counted and left out. May be repeated, for up to 6 models with the same actions: prints on how many
    /// decisions each subset of them is right, where A is the first model.
    #[arg(long, value_name = "FILE", num_args = 1, conflicts_with_all = ["preset", "stats"])]
    model: Vec<PathBuf>,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum OracleOutput {
    /// A line for each configuration.
    #[default]
    Text,
    /// A page that plays them step by step.
    Html,
}

/// Why a tree has no derivation that is no fault of the system.
const NO_WORDS: &str = "no words";

/// The number of trees that a model parses at a time.
const CHUNK: usize = 256;

/// Runs the command.
///
/// # Errors
/// When the trees cannot be read, or no transition system can be built from them.
pub fn run(args: &OracleArgs) -> anyhow::Result<ExitCode> {
    let mut out = args.out.open(args.files.iter().chain(&args.model))?;
    match &args.model[..] {
        [] => {}
        [path] => return accuracy(args, path, out),
        several => return agreement::run(args, several, out),
    }
    let is_page = args.output == OracleOutput::Html;
    anyhow::ensure!(
        is_page || args.preset.len() == 1,
        "several --preset are shown side by side only with --output html"
    );
    let unfit = if is_page {
        play(args, &mut out)?
    } else if args.stats {
        all_statistics(args, &plan(args, &args.preset[0])?, &mut out)?
    } else {
        derivations(args, &plan(args, &args.preset[0])?, &mut out)?
    };
    out.finish()?;
    Ok(status(unfit))
}

/// The exit status when the system cannot build so many trees.
fn status(unfit: u64) -> ExitCode {
    if unfit == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn plan(args: &OracleArgs, preset: &str) -> anyhow::Result<Plan> {
    let preset = args.treebank.profile.preset(preset, &args.set)?;
    preset.refuse_tagger()?;
    Ok(Plan::new(preset)?)
}

/// A tree as the system builds it; `None` without words.
fn prepared(plan: &Plan, tree: Tree) -> Option<Tree> {
    let (tree, _) = plan.cleaned(plan.preset.clean.strip(tree)?);
    (!tree.tokens().is_empty()).then_some(tree)
}

/// Writes the derivation of each tree, in a system that is made for it: of the trees of a treebank, each has the same
/// derivation in a system that is made for all. Returns how many trees with words cannot be built.
fn derivations(args: &OracleArgs, plan: &Plan, out: &mut Out) -> anyhow::Result<u64> {
    let input = TreeInput::open(&args.files, &args.treebank, &args.verbosity, Some(&args.out))?;
    let mut number = 0;
    let mut select = |trees: &mut Trees| {
        let tree = trees.next()?.map(|tree| prepared(plan, tree).unwrap_or_default());
        number += 1;
        Some(tree.map(|tree| InputTree { number, at: None, id: None, tree }))
    };
    let process = |InputTree { number, tree, .. }: InputTree, bytes: &mut Vec<u8>| {
        // Writing to memory does not fail.
        if tree.tokens().is_empty() {
            _ = writeln!(bytes, "# tree {number}: {NO_WORDS}\n");
            return Ok(true);
        }
        let vocabulary = Vocabulary::of([tree.tokens()], 1);
        let only = [&tree];
        let write = |bytes: &mut Vec<u8>| -> Result<()> {
            let system = plan.builder(Source::Trees(&only), &vocabulary).build()?;
            let sentence = vocabulary.encode(tree.tokens());
            check_replay(&*system, &sentence, &tree)?;
            _ = write_derivation(&Derivation::of_gold(&*system, &sentence, &tree), bytes);
            Ok(())
        };
        let result = write(bytes);
        if let Err(error) = &result {
            _ = writeln!(bytes, "# tree {number}: {error}\n");
        }
        Ok(result.is_ok())
    };
    let threads = args.threads.number(&args.verbosity);
    let (unfit, trees) = input.run(&mut select, &process, out, threads)?;
    note_report(trees.report(), args.verbosity.quiet);
    Ok(unfit)
}

/// Writes statistics of the derivations of all trees. Returns how many trees cannot be built.
fn all_statistics(args: &OracleArgs, plan: &Plan, out: &mut Out) -> anyhow::Result<u64> {
    let mut input = TreeInput::open(&args.files, &args.treebank, &args.verbosity, None)?;
    let mut trees = Vec::new();
    for tree in input.trees.by_ref() {
        trees.extend(prepared(plan, tree?));
        input.bar.add(1);
    }
    drop(input.bar);
    note_trees(&input.trees, trees.len() as u64, args);
    let trees: Vec<&Tree> = trees.iter().collect();
    let vocabulary = Vocabulary::of(trees.iter().map(|tree| tree.tokens()), 1);
    let system = plan.builder(Source::Trees(&trees), &vocabulary).build()?;
    let is_shown = !args.verbosity.quiet;
    let bar = ReadingBar::of_count(is_shown, trees.len(), "trees");
    Ok(statistics(&*system, (&trees, &vocabulary), bar, out)?)
}

/// Notes what was read, and how many of the trees have no words.
fn note_trees(trees: &Trees, with_words: u64, args: &OracleArgs) {
    let report = trees.report();
    note_without_words(report.read - with_words, args.verbosity.quiet);
    note_report(report, args.verbosity.quiet);
}

/// Writes a page that plays the derivations by all presets; returns how many trees with words a system cannot build.
fn play(args: &OracleArgs, out: &mut Out) -> anyhow::Result<u64> {
    note_stdin(&args.files, args.verbosity.quiet);
    let (trees, report) = read_all(&args.files, &args.treebank.options())?;
    note_report(&report, args.verbosity.quiet);
    let mut sentences: Vec<Vec<PlayedGold>> = trees.iter().map(|_| Vec::new()).collect();
    let mut unfit = 0;
    for preset in &args.preset {
        let plan = plan(args, preset)?;
        let trees: Vec<Option<Tree>> =
            trees.iter().map(|tree| prepared(&plan, tree.clone())).collect();
        let borrowed: Vec<&Tree> = trees.iter().flatten().collect();
        let vocabulary = Vocabulary::of(borrowed.iter().map(|tree| tree.tokens()), 1);
        let system = plan.builder(Source::Trees(&borrowed), &vocabulary).build()?;
        for (all, tree) in sentences.iter_mut().zip(&trees) {
            let played = played(&*system, &vocabulary, preset, tree.as_ref());
            unfit += u64::from(tree.is_some() && played.problem.is_some());
            all.push(played);
        }
    }
    let files: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let title = format!("Derivations of {}: {}", files.join(", "), args.preset.join(", "));
    page::begin(&PlayerPage { title }, out)?;
    for systems in sentences {
        page::write_line(&Players { systems }, out)?;
    }
    out.write_all(page::END)?;
    Ok(unfit)
}

/// The derivation of a tree by a preset; no tree if it has no words.
fn played(
    system: &dyn TransitionSystem,
    vocabulary: &Vocabulary,
    preset: &str,
    tree: Option<&Tree>,
) -> PlayedGold {
    let name = preset.to_owned();
    let Some(tree) = tree else {
        return PlayedGold { name, trace: None, problem: Some(NO_WORDS.to_owned()) };
    };
    let sentence = vocabulary.encode(tree.tokens());
    match check_replay(system, &sentence, tree) {
        Ok(_) => {
            let trace = Some(Derivation::of_gold(system, &sentence, tree));
            PlayedGold { name, trace, problem: None }
        }
        Err(error) => PlayedGold { name, trace: None, problem: Some(error.to_string()) },
    }
}

/// Prints how often a model predicts the correct action on the way to the trees.
fn accuracy(args: &OracleArgs, path: &Path, mut out: Out) -> anyhow::Result<ExitCode> {
    args.threads.apply(&args.verbosity);
    args.treebank.profile.refuse_with_model()?;
    let name = || path.display().to_string();
    let parser = Parser::new(&Model::open(path)?, &args.set).with_context(name)?;
    let mut input = TreeInput::open(&args.files, &args.treebank, &args.verbosity, None)?;
    if let Some(label) = &args.margins {
        let mut margins = Margins::default();
        chunks(&mut input, |trees| {
            margins += parser.margins(trees, label).with_context(name)?;
            Ok(())
        })?;
        note_report(input.trees.report(), args.verbosity.quiet);
        write_margins(&margins, &mut out)?;
        out.finish()?;
        return Ok(status(margins.unfit));
    }
    let mut counts = DecisionCounts::default();
    chunks(&mut input, |trees| {
        counts += parser.decisions(trees);
        Ok(())
    })?;
    note_trees(&input.trees, counts.trees + counts.unfit, args);
    drop(input.bar);
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
    Ok(status(counts.unfit))
}

/// Processes the trees of the input, some at a time; none if there are none.
fn chunks(
    input: &mut TreeInput,
    mut process: impl FnMut(Vec<Tree>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    loop {
        let chunk: Vec<Tree> = input.trees.by_ref().take(CHUNK).collect::<Result<_>>()?;
        let n = chunk.len();
        process(chunk)?;
        input.bar.add(n as u64);
        if n < CHUNK {
            return Ok(());
        }
    }
}

fn write_margins(margins: &Margins, out: &mut Out) -> io::Result<()> {
    writeln!(out, "margin from\tcorrect candidates\twrong candidates")?;
    for (bin, [right, wrong]) in &margins.bins {
        writeln!(out, "{:.1}\t{right}\t{wrong}", *bin as f32 * BIN)?;
    }
    let [right, wrong] = margins.infinite;
    if right + wrong > 0 {
        say!(
            "left out {right} correct and {wrong} wrong candidates of infinite confidence: the model has no \
             trees for this label"
        );
    }
    Ok(())
}

/// Writes one derivation and a blank line.
fn write_derivation(derivation: &Derivation, out: &mut impl Write) -> io::Result<()> {
    for (step, number) in derivation.steps.iter().zip(1..) {
        let Some(action) = &step.action else { break };
        let (stack, buffer) = (derivation.stack_text(step), derivation.buffer_text(step));
        writeln!(out, "{number}\t{stack}\t{buffer}\t{action}")?;
    }
    writeln!(out)
}

/// Writes derivation lengths and how often each action is taken. Returns how many trees the system cannot build.
fn statistics(
    system: &dyn TransitionSystem,
    (trees, vocabulary): (&[&Tree], &Vocabulary),
    mut bar: ReadingBar,
    out: &mut Out,
) -> io::Result<u64> {
    // Actions that do the same to different candidates count as one.
    let mut counts: BTreeMap<u32, (u64, Action)> = BTreeMap::new();
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
            counts.entry(action.code).or_insert((0, action)).0 += 1;
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
    if left_out > 0 {
        let share = percent(left_out as u64, nodes as u64);
        writeln!(out, "nodes lost to limits\t{left_out}\t{share:.2} %")?;
    }
    let mut ranked: Vec<(u64, Action)> = counts.into_values().collect();
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

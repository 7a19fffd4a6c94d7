//! `srparse oracle`: the derivation of a tree, one configuration a line.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;

use crate::Result;
use crate::eval::decisions::KINDS;
use crate::eval::margins::BIN;
use crate::model::file;
use crate::oracle::Supervised;
use crate::oracle::replay::check_replay;
use crate::preset::load;
use crate::preset::plan::Plan;
use crate::preset::registry::{Source, SystemVisitor, with_system};
use crate::preset::{DEFAULT, Preset};
use crate::symbols::{Sentence, Vocabulary};
use crate::transition::{Action, View};
use crate::tree::{Token, Tree};
use crate::treebank::{Encoding, ReadOptions, read_all};

/// Show the derivations of trees.
///
/// One configuration a line: its number, stack, buffer, and the action taken. The trees are cleaned and
/// head-marked as the preset says; the system is the one they would train. With --model, tells instead
/// how often the model likes the right action best on the way to each tree: its classification accuracy.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse tree --nth 1 data/sample/dev.mrg | srparse oracle
  srparse oracle --stats data/sample/train.mrg
  srparse oracle --model data/models/english.srm data/sample/dev.mrg")]
pub struct OracleArgs {
    /// Trees: files, folders, quoted patterns, or - for standard input.
    #[arg(default_value = "-")]
    files: Vec<PathBuf>,
    /// The preset whose system is used.
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT)]
    preset: String,
    /// Change a value of the preset, or one of the model that can be changed; may be given again.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print statistics of all derivations instead.
    #[arg(long)]
    stats: bool,
    /// Print the share of decisions that this model takes as the derivations do. Trees that its actions
    /// cannot build are counted and left out.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["preset", "stats"])]
    model: Option<PathBuf>,
    /// With --model of a parser of items: print how many right and how many wrong candidates of this label
    /// have which margin, the confidence in the truth.
    #[arg(long, value_name = "LABEL", requires = "model")]
    margins: Option<String>,
    /// Threads for --model; 0 for one on each core. The output is the same for any number.
    #[arg(short = 'j', long = "threads", value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Encoding of the files: utf-8, gb18030 or latin-1.
    #[arg(long, value_name = "NAME", default_value = "utf-8")]
    encoding: Encoding,
    /// Leave out trees that do not read instead of stopping at the first.
    #[arg(long)]
    skip_bad_trees: bool,
}

/// Runs the command.
///
/// # Errors
/// When the trees do not read or no system can be made of them.
pub fn run(args: &OracleArgs) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.model {
        return accuracy(args, path);
    }
    let plan = Plan::new(Preset::load(&args.preset, &args.set)?)?;
    let options = ReadOptions { encoding: args.encoding, skip_bad_trees: args.skip_bad_trees };
    let (trees, report) = read_all(&args.files, &options)?;
    eprintln!("{report}");
    let prepare = |tree: Tree| {
        let mut tree = plan.preset.clean.apply(tree).tree;
        if let Some(heads) = &plan.heads {
            heads.apply(&mut tree);
        }
        tree
    };
    let trees: Vec<Tree> =
        trees.into_iter().map(prepare).filter(|tree| !tree.tokens().is_empty()).collect();
    let mut out = BufWriter::new(io::stdout().lock());
    let borrowed: Vec<&Tree> = trees.iter().collect();
    let vocabulary = Vocabulary::of(borrowed.iter().map(|tree| tree.tokens()), 1);
    let making = plan.making(Source::Trees(&borrowed), &vocabulary);
    let show = Show { trees: &borrowed, vocabulary: &vocabulary, stats: args.stats, out: &mut out };
    let unfit = with_system(making, show)?;
    out.flush()?;
    Ok(if unfit? == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints how often a model is right on the way to the trees.
fn accuracy(args: &OracleArgs, path: &Path) -> anyhow::Result<ExitCode> {
    super::set_threads(args.threads);
    let model = file::read(path)?;
    let options = ReadOptions { encoding: args.encoding, skip_bad_trees: args.skip_bad_trees };
    let (trees, report) = read_all(&args.files, &options)?;
    eprintln!("{report}");
    let mut out = BufWriter::new(io::stdout().lock());
    if let Some(label) = &args.margins {
        let margins = load::margins(&model, &args.set, trees, label)
            .with_context(|| path.display().to_string())?;
        writeln!(out, "margin, from\tright candidates\twrong candidates")?;
        for (bin, [right, wrong]) in margins.bins {
            writeln!(out, "{:.1}\t{right}\t{wrong}", bin as f32 * BIN)?;
        }
        let [right, wrong] = margins.infinite;
        if right + wrong > 0 {
            eprintln!(
                "left out {right} right and {wrong} wrong candidates of infinite confidence: the model has no \
                 trees for this label"
            );
        }
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let counts =
        load::decisions(&model, &args.set, trees).with_context(|| path.display().to_string())?;
    writeln!(out, "trees\t{}", counts.trees)?;
    writeln!(out, "trees that do not fit\t{}", counts.unfit)?;
    writeln!(out, "decisions\tnumber\tright of all actions\tright of legal actions")?;
    let kinds = KINDS.iter().zip(&counts.kinds).filter(|(_, of_kind)| of_kind.number > 0);
    let kinds = kinds.map(|(kind, of_kind)| (format!("{kind:?}").to_uppercase(), of_kind));
    let rows = [("all".to_owned(), &counts.all), ("with a choice".to_owned(), &counts.choices)];
    for (name, decisions) in rows.into_iter().chain(kinds) {
        let (number, right) = (decisions.number, decisions.accuracy());
        let of_legal = decisions.accuracy_of_legal();
        writeln!(out, "{name}\t{number}\t{right:.2} %\t{of_legal:.2} %")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

struct Show<'a, W> {
    trees: &'a [&'a Tree],
    vocabulary: &'a Vocabulary,
    stats: bool,
    out: &'a mut W,
}

impl<W: Write> SystemVisitor for Show<'_, W> {
    /// How many trees do not fit the system.
    type Output = io::Result<u64>;

    fn visit<S: Supervised>(self, system: S) -> Result<io::Result<u64>> {
        if self.stats {
            return Ok(statistics(&system, self.vocabulary, self.trees, self.out));
        }
        let mut unfit = 0;
        for (tree, number) in self.trees.iter().zip(1..) {
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

/// Writes one derivation, then a blank line.
fn derivation<S: Supervised>(
    system: &S,
    sentence: &Sentence,
    tree: &Tree,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut state = system.start(sentence);
    for (action, step) in system.derivation(tree).unwrap_or_default().into_iter().zip(1..) {
        let view = system.view(&state, None);
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

/// The stack from bottom to top: each item by its label and head word, a token by its word and tag; an open
/// constituent with an opening bracket.
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

/// Derivation lengths and how often each action is taken.
fn statistics<S: Supervised>(
    system: &S,
    vocabulary: &Vocabulary,
    trees: &[&Tree],
    out: &mut impl Write,
) -> io::Result<u64> {
    // Actions that do the same to different candidates count as one.
    let mut counts: BTreeMap<u32, (u64, S::Action)> = BTreeMap::new();
    let (mut lengths, mut words, mut unfit) = (Vec::new(), 0, 0);
    let (mut nodes, mut left_out) = (0, 0);
    for tree in trees {
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
    lengths.sort_unstable();
    let total: usize = lengths.iter().sum();
    let n = lengths.len().max(1);
    writeln!(out, "trees\t{}", lengths.len())?;
    writeln!(out, "trees that do not fit\t{unfit}")?;
    writeln!(out, "words\t{words}")?;
    writeln!(out, "actions\t{total}")?;
    writeln!(out, "actions a tree\t{:.2}", total as f64 / n as f64)?;
    writeln!(
        out,
        "median, longest derivation\t{}\t{}",
        lengths.get(n / 2).unwrap_or(&0),
        lengths.last().unwrap_or(&0)
    )?;
    for (name, value) in system.facts() {
        writeln!(out, "{name}\t{value}")?;
    }
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    if left_out > 0 {
        let share = percent(left_out as u64, nodes as u64);
        writeln!(out, "nodes left out by limits\t{left_out}\t{share:.2} %")?;
    }
    let mut ranked: Vec<(u64, S::Action)> = counts.into_values().collect();
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
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

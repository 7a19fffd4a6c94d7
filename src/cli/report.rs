//! `srparse report`: one page about a model and its errors on development trees.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use askama::Template;

use super::aligned_trees::no_trees;
use super::diff::html::{Differences, file_name, write_data};
use super::diff::{Found, Sentence, System};
use super::inputs::inputs;
use super::notes::grouped;
use super::options::{EncodingArg, INPUT, SCORING, Verbosity, note_stdin};
use super::out::OutArg;
use super::page;
use super::reading_bar::ReadingBar;
use super::unseen::UnseenNotes;
use super::{chart, listed};
use crate::error::Place;
use crate::eval::{Evaluation, Params, Totals};
use crate::model::{Header, Model, embedded};
use crate::parser::Parser;
use crate::train::session::words;
use crate::tree::{Tree, remove_tags};
use crate::treebank::Trees;

/// Write a page about a model: its scores and errors on development trees.
///
/// Parses the trees with the tags of the model's tagger and with gold tags, on one thread. The page has the scores, the
/// speed, errors by class, the sentences with both trees, F1 by length and label, confusions of labels, the preset, the
/// data and the commands.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse report data/sample/dev.mrg > report.html
  srparse report --model my.srm --curve curve.tsv -o report.html dev.mrg")]
pub struct ReportArgs {
    /// Development trees: a file (may be .gz), a folder, a quoted glob, or - for standard input.
    gold: PathBuf,
    /// Model file, or the name of a model, see `srparse models`.
    #[arg(long, value_name = "NAME|FILE", default_value = embedded::DEFAULT)]
    model: PathBuf,
    /// Learning curve that `srparse train --curve` wrote.
    #[arg(long, value_name = "FILE")]
    curve: Option<PathBuf>,
    #[command(flatten)]
    out: OutArg,
    #[command(flatten)]
    verbosity: Verbosity,
    /// EVALB parameters: collins, new, spmrl, or a .prm file.
    #[arg(value_parser = listed::params(), hide_possible_values = true, long, value_name = "NAME|FILE",
          default_value = "collins", help_heading = SCORING)]
    params: String,
    #[command(flatten, next_help_heading = INPUT)]
    encoding: EncodingArg,
}

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    title: String,
    columns: Vec<&'static str>,
    scores: Vec<(&'static str, Vec<String>)>,
    facts: Vec<(&'static str, String)>,
    curve: Option<String>,
    differences: Differences<'a>,
    commands: Vec<String>,
    preset: String,
}

/// Gold trees with their places.
type Gold = Vec<(Tree, Option<Place>)>;

/// The parses of all trees with one source of tags.
struct TagSourceParses {
    /// The source of the tags.
    tags: &'static str,
    found: Found,
    /// Parses that are not complete.
    partial: u64,
    seconds: f64,
}

/// Runs the command.
///
/// # Errors
/// When the model or the trees cannot be read, or the page cannot be written.
pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let mut out =
        args.out.open([&args.gold].into_iter().chain([&args.model]).chain(&args.curve))?;
    let model = Model::open(&args.model)?;
    let name = file_name(&args.model);
    let parser = Parser::new(&model, &[]).with_context(|| name.clone())?;
    let params = Params::load(&args.params).context("--params")?;
    let curve = args.curve.as_deref().map(chart::of_file).transpose()?;
    let gold = read(args, &parser)?;
    note_unseen(&parser, &gold, args.verbosity.quiet);
    let mut runs = Vec::new();
    if parser.has_tagger() {
        runs.push(parse(&parser, &gold, &params, true, args)?);
    }
    runs.push(parse(&parser, &gold, &params, false, args)?);
    let Some(first) = runs.first() else { return Err(no_trees(&args.gold)) };
    let template = ReportPage {
        title: format!("{name} on {}", file_name(&args.gold)),
        columns: runs.iter().map(|run| run.tags).collect(),
        scores: scores(&runs),
        facts: facts(&model.header),
        curve,
        differences: Differences::new(
            vec![("gold", args.gold.display().to_string()), ("parsed with", first.tags.to_owned())],
            &first.found,
        )?,
        commands: commands(args, &model.header),
        preset: parser.preset().to_toml(),
    };
    page::begin(&template, &mut out)?;
    write_data(&first.found, &mut out)?;
    out.write_all(page::END)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the gold trees, without traces and what the model's cleaning strips.
fn read(args: &ReportArgs, parser: &Parser) -> anyhow::Result<Gold> {
    let files = std::slice::from_ref(&args.gold);
    note_stdin(files, args.verbosity.quiet);
    let mut trees = Trees::new(inputs(files, args.verbosity.quiet)?, &args.encoding.options());
    let mut gold = Vec::new();
    while let Some(tree) = trees.next().transpose()? {
        let tree = parser.preset().clean.strip(tree);
        gold.extend(tree.map(|tree| (tree, trees.place())));
    }
    if !args.verbosity.quiet {
        say!("{}", trees.report());
    }
    if gold.is_empty() { Err(no_trees(&args.gold)) } else { Ok(gold) }
}

/// Notes tags and words that are unknown to the model.
fn note_unseen(parser: &Parser, gold: &Gold, quiet: bool) {
    let advice = "Check that these are trees of the treebank that it was trained on";
    let mut unseen = UnseenNotes::new(parser, quiet, false).advising(advice);
    for (tree, _) in gold {
        if let Some(note) = unseen.add(&words(tree)) {
            say!("{note}");
        }
    }
    unseen.end();
}

/// Parses the words of the gold trees, with the parser's own tags or theirs.
fn parse(
    parser: &Parser,
    gold: &Gold,
    params: &Params,
    own_tags: bool,
    args: &ReportArgs,
) -> anyhow::Result<TagSourceParses> {
    let mut bar = ReadingBar::of_count(!args.verbosity.quiet, gold.len(), "sentences");
    // A wrong tag may change which words count.
    let mut evaluation = Evaluation::new(params.clone(), None);
    evaluation.gold_tags = own_tags;
    let mut system = System::new(evaluation);
    let (mut sentences, mut partial, mut worker) = (Vec::new(), 0, parser.worker());
    let mut seconds = 0.0;
    for ((tree, at), number) in gold.iter().zip(1..) {
        let mut tokens = words(tree);
        if own_tags {
            remove_tags(&mut tokens);
        }
        let start = Instant::now();
        let parse = worker.parse(&tokens)?;
        seconds += start.elapsed().as_secs_f64();
        partial += u64::from(!parse.complete);
        let (_, scored) = system.add(tree, parse.tree);
        let at = at.clone();
        sentences.extend(scored.map(|parse| Sentence {
            number,
            at,
            gold: tree.clone(),
            parses: vec![parse],
        }));
        bar.add(1);
    }
    let found = Found { systems: vec![system], sentences, brackets: Vec::new() };
    Ok(TagSourceParses {
        tags: if own_tags { "own tags" } else { "gold tags" },
        found,
        partial,
        seconds,
    })
}

/// A score and its name.
type Score = (&'static str, fn(&Totals) -> f64);

/// The table of scores: for each its name and the value of each run.
fn scores(runs: &[TagSourceParses]) -> Vec<(&'static str, Vec<String>)> {
    let percents: [Score; 6] = [
        ("F1", Totals::f1),
        ("precision", Totals::precision),
        ("recall", Totals::recall),
        ("exact match", Totals::exact),
        ("tagging accuracy", Totals::tagging),
        ("coverage", Totals::coverage),
    ];
    let all = |run: &TagSourceParses| run.found.systems[0].evaluation.all;
    let percents = percents
        .map(|(name, of)| (name, runs.iter().map(|run| format!("{:.2}", of(&all(run)))).collect()));
    let mut rows: Vec<(&str, Vec<String>)> = percents.into();
    rows.push(("sentences", runs.iter().map(|run| grouped(all(run).sentences)).collect()));
    rows.push(("partial parses", runs.iter().map(|run| grouped(run.partial)).collect()));
    let speed =
        |run: &TagSourceParses| grouped((all(run).sentences as f64 / run.seconds.max(1e-9)) as u64);
    rows.push(("sentences/s, one thread", runs.iter().map(speed).collect()));
    rows
}

fn facts(header: &Header) -> Vec<(&'static str, String)> {
    let training = &header.training;
    let mut facts = vec![
        ("written by", format!("srparse {}", header.tool_version)),
        ("seed", header.seed.to_string()),
        ("training files", training.files.join(", ")),
        ("training trees", grouped(training.trees)),
        ("training words", grouped(training.words)),
        ("decisions", grouped(training.decisions)),
    ];
    if training.epoch > 0 {
        facts.push(("best epoch", training.epoch.to_string()));
    }
    if let Some(dev) = &header.dev {
        facts.push(("F1 in training", format!("{:.2} on {}", dev.f1, dev.files.join(", "))));
    }
    if let Some(tagger) = &header.tagger {
        let (tags, words) = (tagger.tags, grouped(tagger.words));
        facts.push(("tagger", format!("{tags} tags, {words} distinct words")));
    }
    facts
}

/// The commands that train such a model and write the page.
fn commands(args: &ReportArgs, header: &Header) -> Vec<String> {
    let model = args.model.display();
    let files = header.training.files.join(" ");
    let train = format!(
        "srparse train --preset preset.toml --seed {} --train {files} --model {model}",
        header.seed
    );
    let curve = args.curve.as_ref().map(|path| format!(" --curve {}", path.display()));
    let (curve, gold) = (curve.unwrap_or_default(), args.gold.display());
    let report = format!("srparse report --model {model}{curve} {gold}");
    vec![train, report]
}

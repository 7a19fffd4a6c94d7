//! `srparse parse`: sentences in, trees out, one for each, in order.

use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use clap::ValueEnum;

use super::stream::{self, Made, Maker, StreamArgs, Totals};
use crate::decode::{NbestRequest, Parse, Worker};
use crate::model::Model;
use crate::preset::load::load;
use crate::preset::tagger::load_tagger;
use crate::tagger::{Tagger, TaggerWorker};
use crate::tree::dependencies::dependencies;
use crate::treebank::sentences::{InputFormat, Item};
use crate::treebank::{conllu, json, penn};

/// Parse tagged sentences, or tokens with a model that has a tagger.
///
/// Sentences come one a line from files or standard input; each gives one tree on standard output. Words
/// and tags come back unchanged and in order. A blank line gives a blank line. A line that does not read
/// gives (()), a message, and exit status 2 in the end.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  echo 'The/DT dog/NN barks/VBZ ./.' | srparse parse
  srparse parse --output conllu data/sample/sentences.txt
  srparse parse --input penn -j 2 data/sample/dev.mrg")]
pub struct ParseArgs {
    /// Files to parse (.gz too); standard input if none.
    files: Vec<PathBuf>,
    #[command(flatten)]
    stream: StreamArgs,
    /// How sentences are written: tagged (word/TAG), underscore (word_TAG), conllu, penn (words and tags
    /// of trees), or tokens (words alone, which the model's tagger tags).
    #[arg(long, value_name = "FORMAT", default_value = "tagged", display_order = 1)]
    input: InputFormat,
    /// Replace the tags of the input by those of the model's tagger.
    #[arg(long, display_order = 2)]
    retag: bool,
    /// How trees are written.
    #[arg(long, value_name = "FORMAT", default_value = "brackets", display_order = 3)]
    output: OutputFormat,
    /// Search with a beam of so many hypotheses; the same as --set search.method=beam --set search.beam=N.
    #[arg(long, value_name = "N", display_order = 4)]
    beam: Option<u32>,
    /// What to do when a greedy search has failed; the same as --set search.fallback=....
    #[arg(long, value_name = "HOW", display_order = 5)]
    fallback: Option<FallbackTo>,
    /// Write up to K different trees for each sentence, best first, and a blank line after them. Each has
    /// its rank and score before it, or, as JSON, all stand in one list. A greedy search finds one.
    #[arg(long, value_name = "K", display_order = 6)]
    nbest: Option<NonZeroUsize>,
    /// Write how sure the model was of each constituent, with --output json: span_scores, one for each of
    /// spans.
    #[arg(long, display_order = 7)]
    span_scores: bool,
    /// Change a setting of the search, such as search.illegal=fail; may be given again.
    #[arg(long, value_name = "KEY=VALUE", display_order = 12)]
    set: Vec<String>,
    /// Say nothing but errors.
    #[arg(short, long, display_order = 14)]
    quiet: bool,
}

/// How trees are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// One line of brackets a tree.
    Brackets,
    /// Indented brackets over several lines.
    Pretty,
    /// CoNLL-U: words, tags and dependencies.
    Conllu,
    /// A JSON object a line: tree, spans, heads, score, completeness.
    Json,
}

/// What to do when a greedy search has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FallbackTo {
    /// Keep the partial tree.
    None,
    /// Search the sentence again with a beam.
    Beam,
}

impl ParseArgs {
    /// All changes of search settings.
    fn settings(&self) -> Vec<String> {
        let mut settings = Vec::new();
        if let Some(width) = self.beam {
            settings.extend(["search.method=beam".to_owned(), format!("search.beam={width}")]);
        }
        match self.fallback {
            Some(FallbackTo::None) => settings.push("search.fallback=none".to_owned()),
            Some(FallbackTo::Beam) => settings.push("search.fallback=beam".to_owned()),
            None => {}
        }
        settings.extend_from_slice(&self.set);
        settings
    }
}

/// Runs the command.
///
/// # Errors
/// When the model is refused or an input cannot be read.
pub fn run(args: &ParseArgs) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        !args.span_scores || args.output == OutputFormat::Json,
        "--span-scores has no place in this output: add --output json"
    );
    let model = args.stream.model()?;
    let name = || args.stream.model_name();
    let parser = load(&model, &args.settings()).with_context(name)?;
    let tagger = tagger(args, &model).with_context(name)?;
    let start = Instant::now();
    let maker = || -> Maker<'_, u64> {
        let mut worker = parser.worker();
        let mut tagger_worker = tagger.as_deref().map(TaggerWorker::new);
        Box::new(move |item, made| make(&mut *worker, tagger_worker.as_mut(), item, args, made))
    };
    Ok(finish(args, &stream::run(&args.files, args.input, &args.stream, &maker)?, start))
}

/// The model's tagger, if it is needed.
fn tagger(args: &ParseArgs, model: &Model) -> anyhow::Result<Option<Box<dyn Tagger>>> {
    let wanted = match (args.input, args.retag) {
        (InputFormat::Tokens, _) => "--input tokens",
        (_, true) => "--retag",
        _ => return Ok(None),
    };
    let tagger = load_tagger(model)?;
    anyhow::ensure!(
        tagger.is_some(),
        "{wanted} needs a model with a tagger, and this one has none: train it with `--jackknife 10` or \
         a preset that has a table `[tagger]`, or tag the sentences first, with `srparse tag`"
    );
    Ok(tagger)
}

/// Tells what was done; `tally` counts partial trees.
fn finish(args: &ParseArgs, totals: &Totals<u64>, start: Instant) -> ExitCode {
    let Totals { blank, sentences, words, unreadable, tally: partial } = totals;
    if args.input == InputFormat::Penn && !args.quiet {
        eprintln!("read {} trees, skipped {unreadable}", sentences + blank);
    }
    if !args.quiet && (io::stderr().is_terminal() || partial + unreadable > 0) {
        let seconds = start.elapsed().as_secs_f64();
        let rate = *sentences as f64 / seconds.max(1e-9);
        eprintln!(
            "parsed {sentences} sentences ({words} words) in {seconds:.2} s, {rate:.0} a second; \
             {partial} partial, {unreadable} unreadable"
        );
    }
    if *unreadable > 0 { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

/// Parses one item and writes it as bytes.
fn make(
    worker: &mut dyn Worker,
    tagger_worker: Option<&mut TaggerWorker<'_>>,
    item: Item,
    args: &ParseArgs,
    made: &mut Made<u64>,
) -> io::Result<()> {
    match item {
        Item::Blank => made.bytes.push(b'\n'),
        Item::Bad { at, problem } => {
            made.problem = Some(format!("{at}: {problem}"));
            made.bytes.extend_from_slice(match args.output {
                OutputFormat::Brackets | OutputFormat::Pretty => b"(())\n",
                OutputFormat::Conllu => b"# unreadable\n\n",
                OutputFormat::Json => b"{\"tree\":\"(())\",\"complete\":false}\n",
            });
        }
        Item::Sentence(mut tokens) => {
            if let Some(tagger_worker) = tagger_worker {
                tagger_worker.tag(&mut tokens);
            }
            made.words = tokens.len();
            if args.nbest.is_none() && !args.span_scores {
                let parse = worker.parse(&tokens);
                made.tally = u64::from(!parse.complete);
                return write_parse(&parse, args.output, &mut made.bytes);
            }
            let trees = args.nbest.map_or(1, NonZeroUsize::get);
            let parses =
                worker.parse_nbest(&tokens, NbestRequest { trees, constituents: args.span_scores });
            made.tally = u64::from(parses.iter().any(|parse| !parse.complete));
            match &parses[..] {
                [parse] if args.nbest.is_none() => {
                    write_parse(parse, args.output, &mut made.bytes)?;
                }
                parses => write_nbest(parses, args.output, &mut made.bytes)?,
            }
        }
    }
    Ok(())
}

/// Writes trees of one sentence, best first.
fn write_nbest(parses: &[Parse], format: OutputFormat, out: &mut Vec<u8>) -> io::Result<()> {
    let is_json = format == OutputFormat::Json;
    for (parse, rank) in parses.iter().zip(1..) {
        match format {
            OutputFormat::Json => out.push(if rank == 1 { b'[' } else { b',' }),
            OutputFormat::Brackets => write!(out, "{rank}\t{}\t", parse.score)?,
            OutputFormat::Pretty | OutputFormat::Conllu => {
                writeln!(out, "# rank = {rank}\n# score = {}", parse.score)?;
            }
        }
        write_parse(parse, format, out)?;
        if is_json {
            out.pop();
        }
    }
    out.extend_from_slice(if is_json { b"]\n" } else { b"\n" });
    Ok(())
}

fn write_parse(parse: &Parse, format: OutputFormat, out: &mut Vec<u8>) -> io::Result<()> {
    let Parse { tree, score, complete, constituents } = parse;
    match format {
        OutputFormat::Brackets => penn::write_line(tree, out),
        OutputFormat::Pretty => penn::write_pretty(tree, out),
        OutputFormat::Conllu => {
            let (heads, relations): (Vec<u32>, Vec<_>) = dependencies(tree)
                .into_iter()
                .map(|dependency| (dependency.head, dependency.label))
                .unzip();
            conllu::write_sentence(tree, &heads, &relations, out)
        }
        OutputFormat::Json => {
            let heads: Vec<u32> =
                dependencies(tree).into_iter().map(|dependency| dependency.head).collect();
            json::write_line(
                &json::Parse {
                    tree,
                    heads: Some(&heads),
                    score: Some(*score),
                    complete: *complete,
                    span_scores: constituents.as_deref(),
                },
                out,
            )
        }
    }
}

//! `srparse parse`: one tree for each sentence, in the order of the input.

use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use clap::ValueEnum;

use super::options::{INPUT, OUTPUT};
use super::stream::{self, Processor, Rendered, StreamArgs, Totals};
use crate::decode::{NbestRequest, Parse};
use crate::parser::{Parser, ParserWorker};
use crate::tree::Token;
use crate::tree::dependencies::dependencies;
use crate::treebank::sentences::InputFormat;
use crate::treebank::{conllu, json, penn};

/// Parse sentences into constituency trees.
///
/// Reads one sentence per line from files or standard input and writes one tree per sentence, in the
/// order of the input. Tokens are expected to be tagged (word/TAG); with --input tokens, the tagger in
/// the model tags them first. Words and given tags are copied to the output unchanged.
///
/// A blank line produces a blank line. A line that cannot be read produces (()) and an error message,
/// and the exit status is 2.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  echo 'The/DT dog/NN barks/VBZ ./.' | srparse parse
  echo 'The dog barks .' | srparse parse --input tokens
  srparse parse --output conllu data/sample/sentences.txt
  srparse parse --input penn -j 2 data/sample/dev.mrg")]
pub struct ParseArgs {
    /// Files with sentences (may be .gz); standard input if omitted.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Format of the input: tagged (word/TAG), underscore (word_TAG), conllu, penn (only the words and
    /// tags of the trees are used), or tokens (words without tags).
    #[arg(long, value_name = "FORMAT", default_value_t, help_heading = INPUT)]
    input: InputFormat,
    /// Replace the tags of the input with those of the tagger in the model.
    #[arg(long, help_heading = INPUT)]
    retag: bool,
    #[command(flatten)]
    stream: StreamArgs,
    /// Format of the trees.
    #[arg(long, value_name = "FORMAT", default_value = "brackets", help_heading = OUTPUT)]
    output: OutputFormat,
    /// Write up to K different trees per sentence, best first, each with its rank and score, followed by a
    /// blank line; with --output json, one list per sentence. Greedy search finds only one tree.
    #[arg(long, value_name = "K", help_heading = OUTPUT)]
    nbest: Option<NonZeroUsize>,
    /// Add a confidence score for each constituent (span_scores, parallel to spans); needs --output json.
    #[arg(long, help_heading = OUTPUT)]
    span_scores: bool,
    /// Use beam search with a beam of width N; short for --set search.method=beam --set search.beam=N.
    #[arg(long, value_name = "N", help_heading = SEARCH)]
    beam: Option<u32>,
    /// What to do when greedy search does not reach a complete parse; short for --set search.fallback=HOW.
    #[arg(long, value_name = "HOW", help_heading = SEARCH)]
    fallback: Option<FallbackTo>,
    /// Change a search setting of the model, such as search.illegal=fail; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", help_heading = SEARCH)]
    set: Vec<String>,
}

const SEARCH: &str = "Search options";

/// Output formats for trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// Penn brackets, one tree per line.
    Brackets,
    /// Penn brackets, indented over several lines.
    Pretty,
    /// CoNLL-U: words, tags and dependencies.
    Conllu,
    /// One JSON object per line: tree, tokens, spans, heads, score, complete.
    Json,
}

/// What to do when greedy search does not reach a complete parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FallbackTo {
    /// Keep the partial tree.
    None,
    /// Parse the sentence again with beam search.
    Beam,
}

impl ParseArgs {
    /// Returns all changes to the search settings, the shorthand options first.
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
/// When the model cannot be loaded or an input cannot be read.
pub fn run(args: &ParseArgs) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        !args.span_scores || args.output == OutputFormat::Json,
        "--span-scores needs an output format that has a place for them: add --output json"
    );
    let model = args.stream.model()?;
    let name = || args.stream.model_name();
    let parser = Parser::new(&model, &args.settings()).with_context(name)?;
    let retags = retags(args, &parser).with_context(name)?;
    let start = Instant::now();
    let processor = || -> Processor<'_, u64> {
        let mut parser = parser.worker();
        Box::new(move |tokens, result| parse_sentence(&mut parser, retags, tokens, args, result))
    };
    let unreadable: &[u8] = match args.output {
        OutputFormat::Brackets | OutputFormat::Pretty => b"(())\n",
        OutputFormat::Conllu => b"# unreadable\n\n",
        OutputFormat::Json => b"{\"tree\":\"(())\",\"complete\":false}\n",
    };
    let (clean, stream) = (&parser.preset().clean, &args.stream);
    let totals = stream::run(&args.files, args.input, clean, stream, unreadable, &processor)?;
    report(args, &totals, start);
    Ok(totals.exit_code())
}

/// Returns whether the model's tagger tags the input; fails if it should and there is none.
fn retags(args: &ParseArgs, parser: &Parser) -> anyhow::Result<bool> {
    let option = match (args.input, args.retag) {
        (InputFormat::Tokens, _) => "--input tokens",
        (_, true) => "--retag",
        _ => return Ok(false),
    };
    anyhow::ensure!(
        parser.has_tagger(),
        "{option} needs a model with a tagger, and this model has none: train it with `--jackknife 10` or \
         with a preset that has a [tagger] table, or tag the sentences first with `srparse tag`"
    );
    parser.tagger()?;
    Ok(true)
}

/// Prints how many sentences were parsed and how fast; `tally` counts partial trees.
fn report(args: &ParseArgs, totals: &Totals<u64>, start: Instant) {
    let Totals { sentences, words, unreadable, tally: partial, .. } = totals;
    args.stream.report_trees(args.input, totals);
    if !args.stream.quiet && (io::stderr().is_terminal() || partial + unreadable > 0) {
        let seconds = start.elapsed().as_secs_f64();
        let rate = *sentences as f64 / seconds.max(1e-9);
        eprintln!(
            "parsed {sentences} sentences ({words} words) in {seconds:.2} s, {rate:.0} sentences/s; \
             {partial} partial, {unreadable} unreadable"
        );
    }
}

/// Parses one sentence and renders its tree or trees.
fn parse_sentence(
    parser: &mut ParserWorker<'_>,
    retags: bool,
    mut tokens: Vec<Token>,
    args: &ParseArgs,
    result: &mut Rendered<u64>,
) -> io::Result<()> {
    if retags {
        parser.tag(&mut tokens).map_err(io::Error::other)?;
    }
    if args.nbest.is_none() && !args.span_scores {
        let parse = parser.parse(&tokens).map_err(io::Error::other)?;
        result.tally = u64::from(!parse.complete);
        return write_parse(&parse, args.output, result.source.as_ref(), &mut result.bytes);
    }
    let trees = args.nbest.map_or(1, NonZeroUsize::get);
    let request = NbestRequest { trees, constituents: args.span_scores };
    let parses = parser.parse_nbest(&tokens, request).map_err(io::Error::other)?;
    result.tally = u64::from(parses.iter().any(|parse| !parse.complete));
    let (source, out) = (result.source.as_ref(), &mut result.bytes);
    match &parses[..] {
        [parse] if args.nbest.is_none() => write_parse(parse, args.output, source, out),
        parses => write_nbest(parses, args.output, source, out),
    }
}

/// Writes the trees of one sentence, best first.
fn write_nbest(
    parses: &[Parse],
    format: OutputFormat,
    source: Option<&conllu::Source>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let is_json = format == OutputFormat::Json;
    for (parse, rank) in parses.iter().zip(1..) {
        match format {
            OutputFormat::Json => out.push(if rank == 1 { b'[' } else { b',' }),
            OutputFormat::Brackets => write!(out, "{rank}\t{}\t", parse.score)?,
            OutputFormat::Pretty | OutputFormat::Conllu => {
                writeln!(out, "# rank = {rank}\n# score = {}", parse.score)?;
            }
        }
        write_parse(parse, format, source, out)?;
        if is_json {
            out.pop();
        }
    }
    out.extend_from_slice(if is_json { b"]\n" } else { b"\n" });
    Ok(())
}

/// Writes a tree; in CoNLL-U as the sentence was read, if it was read from that.
fn write_parse(
    parse: &Parse,
    format: OutputFormat,
    source: Option<&conllu::Source>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let Parse { tree, score, complete, constituents } = parse;
    match format {
        OutputFormat::Brackets => penn::write_line(tree, out),
        OutputFormat::Pretty => penn::write_pretty(tree, out),
        OutputFormat::Conllu => {
            let (heads, relations): (Vec<u32>, Vec<_>) = dependencies(tree)
                .into_iter()
                .map(|dependency| (dependency.head, dependency.label))
                .unzip();
            match source {
                Some(source) => source.write_parsed(tree, &heads, &relations, out),
                None => conllu::write_sentence(tree, &heads, &relations, out),
            }
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

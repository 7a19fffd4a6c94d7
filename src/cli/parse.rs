//! `srparse parse`: one tree for each sentence, in the order of the input.

mod trace_text;

use std::io::{self, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use clap::ValueEnum;

use super::options::{INPUT, OUTPUT, from_one};
use super::page::player::{PlayedTrace, PlayerPage, Players};
use super::page::trees::{PageTree, SentenceTrees, TreesPage};
use super::resume::Causes;
use super::stream::{self, Processor, Rendered, StreamArgs, Totals, Work};
use super::unseen::UnseenNotes;
use super::{listed, page};
use crate::error::counted;
use crate::model::Model;
use crate::parse_request::ParseRequest;
use crate::parser::{NbestRequest, Parse, Parser, ParserWorker};
use crate::text::remove_given_tags;
use crate::tree::Token;
use crate::treebank::sentences::{InputFormat, Sentences};
use crate::treebank::{Missing, Origin, Reason, ids, penn};

/// Parse sentences into constituency trees.
///
/// Reads one sentence per line from files or standard input and writes one tree per sentence, in the
/// order of the input. Tokens are expected to be tagged (word/TAG); with --input tokens, the tagger in
/// the model tags them first. Words and given tags are copied to the output unchanged.
///
/// With --input text, raw text is split into sentences and words, across line breaks; a blank line ends
/// a sentence. With --input lines, each line of raw text is one sentence.
///
/// Otherwise a blank line produces a blank line, in JSON an empty tree, in CoNLL-U a comment. A line that
/// cannot be read produces (()) and an error message, and the exit status is 2. Partial parses, tags that
/// the model has never seen, and text of another language are noted on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  echo \"Dogs bark. Don't they?\" | srparse parse --input text
  echo 'The/DT dog/NN barks/VBZ ./.' | srparse parse
  echo 'The dog barks .' | srparse parse --input tokens
  srparse parse --output conllu data/sample/sentences.txt
  srparse parse --input penn -j 2 data/sample/dev.mrg
  echo 'The/DT dog/NN barks/VBZ ./.' | srparse parse --trace
  srparse parse --output html data/sample/sentences.txt > trees.html")]
pub struct ParseArgs {
    /// Files with sentences (may be .gz); standard input if omitted.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Format of the input: tagged (word/TAG), underscore (word_TAG), conllu, penn (only the words and
    /// tags of the trees are used), tokens (words without tags), text (raw text), lines (raw text, a sentence per
    /// line), or json (an object per line with tokens, which are words or lists of word and tag, or a text).
    #[arg(value_parser = listed::input_formats(), hide_possible_values = true, long,
          value_name = "FORMAT", default_value_t, help_heading = INPUT)]
    input: InputFormat,
    /// Replace the tags of the input with those of the tagger in the model.
    #[arg(long, help_heading = INPUT)]
    retag: bool,
    #[command(flatten)]
    stream: StreamArgs,
    /// Format of the trees.
    #[arg(long, value_name = "FORMAT", default_value = "brackets", help_heading = OUTPUT)]
    output: OutputFormat,
    /// Write -LRB- and other escaped words as the characters they stand for: with --input text as in the
    /// text. In Penn brackets, round brackets remain escaped.
    #[arg(long, help_heading = OUTPUT)]
    unescape: bool,
    /// Keep the IDs of sentences: the `(ID x)` of a tree, `#BOS`, `id` of TIGER-XML, `sentid` of Alpino XML, `sent_id` of
    /// CoNLL-U and `id` of JSON. In brackets the output is `( (S ...) (ID x))`, in CoNLL-U `# sent_id = x`, in JSON `id`.
    #[arg(long, conflicts_with = "trace", help_heading = OUTPUT)]
    ids: bool,
    /// Write K different trees per sentence, at most 4096, each with its rank and score, followed by a blank line; with
    /// --output json, one list per sentence. The first is the one found without --nbest; the others follow, best first,
    /// from a beam at least K wide and without a threshold. Greedy search finds only one tree.
    #[arg(long, value_name = "K", value_parser = number_of_trees, help_heading = OUTPUT)]
    nbest: Option<NonZeroUsize>,
    /// Add a confidence score for each constituent (span_scores, parallel to spans); needs --output json.
    #[arg(long, help_heading = OUTPUT)]
    span_scores: bool,
    /// With --out FILE: continue a run of the same command that was interrupted, by a signal or a power cut; the output
    /// has the same bytes as without an interruption. Until it is complete it is in FILE.part, and FILE.part.json says
    /// how far it is. Without these files the run begins at the first sentence; if FILE is there already, the
    /// run is refused.
    #[arg(long, help_heading = OUTPUT)]
    resume: bool,
    /// Show how each tree was found, instead of the tree: for each step the stack, the buffer, the K best actions with
    /// their scores, and what decided between the first two; with a beam also its K best hypotheses, and the step at
    /// which the winner was nearest to being dropped. With gold trees (--input penn) also where the derivation leaves
    /// the gold path, and the cost of each action by the dynamic oracle. As text, or with --output json or html.
    #[arg(long, value_name = "K", num_args = 0..=1, require_equals = true, default_missing_value = "5",
          value_parser = from_one, conflicts_with_all = ["nbest", "span_scores", "unescape"], help_heading = OUTPUT)]
    trace: Option<NonZeroUsize>,
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

fn number_of_trees(text: &str) -> Result<NonZeroUsize, String> {
    let most = NbestRequest::MAX_TREES;
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= most);
    number.ok_or_else(|| format!("must be a number of trees from 1 to {most}"))
}

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
    /// A page with the trees, whose nodes can be collapsed.
    Html,
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

    /// Returns what is asked for each sentence.
    fn request(&self, retags: bool) -> ParseRequest {
        let Self { nbest, span_scores, unescape, .. } = *self;
        ParseRequest { retags, nbest, span_scores, unescape }
    }

    /// The conditions of the output besides the files.
    fn causes(&self, model: &Model) -> Causes {
        let Self { input, retag, output, unescape, nbest, span_scores, trace, ids, .. } = self;
        let causes = [
            ("version of srparse", env!("CARGO_PKG_VERSION").to_owned()),
            ("--input", input.to_string()),
            ("--retag", retag.to_string()),
            ("--output", format!("{output:?}").to_lowercase()),
            ("--unescape", unescape.to_string()),
            ("--ids", ids.to_string()),
            ("--nbest", nbest.map_or_else(|| "none".to_owned(), |nbest| nbest.to_string())),
            ("--span-scores", span_scores.to_string()),
            ("--trace", trace.map_or_else(|| "none".to_owned(), |best| best.to_string())),
            ("search setting", self.settings().join(", ")),
        ];
        let causes = self.stream.causes(model).into_iter().chain(causes);
        causes.map(|(name, value)| (name.to_owned(), value)).collect()
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
    anyhow::ensure!(
        args.trace.is_none()
            || matches!(
                args.output,
                OutputFormat::Brackets | OutputFormat::Json | OutputFormat::Html
            ),
        "--trace is written as text, or with --output json or --output html"
    );
    let model = args.stream.model()?;
    let name = || args.stream.model_name();
    let parser = Parser::new(&model, &args.settings()).with_context(name)?;
    let retags = retags(args, &parser).with_context(name)?;
    note_greedy_search(args, &parser);
    let start = Instant::now();
    let processor = || -> Processor<'_, u64> {
        let mut worker = parser.worker();
        let parser = &parser;
        Box::new(move |tokens, origin, result| {
            let sentence = (tokens, origin);
            match args.trace {
                Some(best) => trace_sentence(parser, retags, sentence, (args, best), result),
                None => parse_sentence(&mut worker, retags, sentence, args, result),
            }
        })
    };
    let prepare = |sentences: Sentences| {
        sentences
            .strip_trees(parser.preset().clean.clone())
            .split_by(parser.tokenizer())
            .needing_tags(!parser.has_tagger())
            .keeping_trees(args.trace.is_some())
            .keeping_ids(args.ids)
    };
    let report = |totals: &Totals<u64>| report(args, totals, start);
    let work = Work {
        command: "parse",
        files: &args.files,
        format: args.input,
        prepare: &prepare,
        frame: frame(args)?,
        missing: &|sentence| missing(args, sentence),
        make: &processor,
        report: &report,
        resume: args.resume.then(|| args.causes(&model)),
    };
    let mut unseen = UnseenNotes::new(&parser, args.stream.verbosity.quiet, retags);
    let totals = stream::run(&work, &mut |tokens| unseen.add(tokens), &args.stream)?;
    unseen.end();
    report(&totals);
    Ok(args.stream.exit_code(&totals))
}

/// Returns what is written for a sentence without words to parse: of a tree in brackets a tree again, so that each gold
/// tree has a parse.
fn missing(args: &ParseArgs, missing: &Missing) -> Vec<u8> {
    let problem = missing.problem();
    match (args.output, &missing.reason) {
        (OutputFormat::Json, _) => {
            let mut out = Vec::new();
            args.request(false).write_missing(&missing.origin, problem.as_deref(), &mut out);
            out
        }
        (OutputFormat::Html, _) if args.trace.is_some() => player_line(problem),
        (OutputFormat::Html, _) => page_line(Vec::new(), problem.as_deref()),
        (OutputFormat::Conllu, _) => {
            let mut out = missing.conllu();
            // A list ends with one more blank line.
            if args.nbest.is_some() {
                out.push(b'\n');
            }
            out
        }
        (_, Reason::Bad { .. }) => unreadable(args).to_vec(),
        (OutputFormat::Brackets | OutputFormat::Pretty, Reason::NoWords)
            if args.trace.is_none() && args.nbest.is_none() =>
        {
            NO_TREE.to_vec()
        }
        _ => b"\n".to_vec(),
    }
}

/// Returns the text for a sentence that cannot be read.
fn unreadable(args: &ParseArgs) -> &'static [u8] {
    match (args.output, args.nbest) {
        (OutputFormat::Brackets, _) if args.trace.is_some() => b"# unreadable\n\n",
        (OutputFormat::Brackets, Some(_)) => b"1\t-inf\t(())\n\n",
        (OutputFormat::Pretty, Some(_)) => b"# rank = 1\n# score = -inf\n(())\n\n",
        _ => NO_TREE,
    }
}

/// A tree without words, in brackets.
const NO_TREE: &[u8] = b"(())\n";

/// Returns what is written before and after the results: a page has a head and an end.
fn frame(args: &ParseArgs) -> io::Result<[Vec<u8>; 2]> {
    let mut begin = Vec::new();
    if args.output != OutputFormat::Html {
        return Ok([begin, Vec::new()]);
    }
    let model = args.stream.model_name();
    match args.trace {
        Some(_) => page::begin(&PlayerPage { title: format!("Decisions of {model}") }, &mut begin)?,
        None => page::begin(&TreesPage { title: format!("Trees of {model}") }, &mut begin)?,
    }
    Ok([begin, page::END.to_vec()])
}

/// Returns a line of the data of a page.
fn page_line(trees: Vec<PageTree<'_>>, problem: Option<&str>) -> Vec<u8> {
    let mut line = Vec::new();
    // Writing to memory does not fail.
    let _ = page::write_line(&SentenceTrees { n: None, name: None, trees, problem }, &mut line);
    line
}

/// Returns a line of the data of a page with players, for a sentence without a derivation.
fn player_line(problem: Option<String>) -> Vec<u8> {
    let problem = problem.or_else(|| Some("no words".to_owned()));
    let mut line = Vec::new();
    let systems = vec![PlayedTrace { name: String::new(), trace: None, problem }];
    // Writing to memory does not fail.
    let _ = page::write_line(&Players { systems }, &mut line);
    line
}

fn page_tree(parse: &Parse, rank: Option<usize>) -> PageTree<'_> {
    let Parse { tree, score, complete, .. } = parse;
    PageTree { rank, score: Some(*score), complete: Some(*complete), ..PageTree::of(tree) }
}

/// Returns whether the model's tagger tags the input; fails if it should and there is none.
fn retags(args: &ParseArgs, parser: &Parser) -> anyhow::Result<bool> {
    let option = match (args.input, args.retag) {
        (InputFormat::Tokens, _) => "--input tokens",
        (InputFormat::Text, _) => "--input text",
        (InputFormat::Lines, _) => "--input lines",
        (_, true) => "--retag",
        (InputFormat::Json, false) if parser.has_tagger() => {
            // For words without tags, if there are any.
            parser.load_tagger()?;
            return Ok(false);
        }
        _ => return Ok(false),
    };
    anyhow::ensure!(
        parser.has_tagger(),
        "{option} needs a model with a tagger, and this model has none: train it without \
         `--no-tagger`, or tag the sentences first with `srparse tag`"
    );
    parser.load_tagger()?;
    Ok(true)
}

/// Notes that greedy search finds one tree where several are asked for.
fn note_greedy_search(args: &ParseArgs, parser: &Parser) {
    let Some(nbest) = args.nbest.filter(|nbest| nbest.get() > 1) else { return };
    if args.stream.verbosity.quiet || parser.preset().search.compares_paths() {
        return;
    }
    let advice = if parser.plan.can_compare_paths() {
        "add --beam 4"
    } else {
        "choose a model with a beam, such as `english`, or train one, as with --preset beam"
    };
    say!(
        "note: --nbest {nbest}: the search of {} is greedy and finds one tree for each sentence: {advice}",
        args.stream.model_name()
    );
}

/// Prints how many sentences were parsed and how fast; `tally` counts partial trees.
fn report(args: &ParseArgs, totals: &Totals<u64>, start: Instant) {
    let Totals { sentences, words, unreadable, tally: partial, .. } = totals;
    args.stream.report_trees(args.input, totals);
    if !args.stream.verbosity.quiet && (io::stderr().is_terminal() || partial + unreadable > 0) {
        let seconds = start.elapsed().as_secs_f64();
        let rate = *sentences as f64 / seconds.max(1e-9);
        say!(
            "parsed {} ({}) in {seconds:.2} s, {rate:.0} sentences/s; {partial} partial, {unreadable} unreadable",
            counted(*sentences, "sentence"),
            counted(*words, "word")
        );
    }
}

/// Parses one sentence and renders its tree or trees.
fn parse_sentence(
    parser: &mut ParserWorker<'_>,
    retags: bool,
    (tokens, origin): (Vec<Token>, &Origin),
    args: &ParseArgs,
    result: &mut Rendered<u64>,
) -> io::Result<()> {
    let request = args.request(retags);
    let parses = request.parse(parser, tokens, origin.layout()).map_err(io::Error::other)?;
    let is_partial = parses.iter().any(|parse| !parse.complete);
    result.tally = u64::from(is_partial);
    result.note = is_partial.then_some("no complete parse was found, so the tree is partial");
    if args.output == OutputFormat::Json {
        return request.write_json(&parses, origin, &mut result.bytes);
    }
    if args.output == OutputFormat::Conllu {
        origin.write_comments(&mut result.bytes)?;
    }
    match &parses[..] {
        [parse] if args.nbest.is_none() => write_parse(parse, origin, args, &mut result.bytes),
        parses => write_nbest(parses, origin, args, &mut result.bytes),
    }
}

/// Parses one sentence and renders how it was parsed.
fn trace_sentence(
    parser: &Parser,
    retags: bool,
    (mut tokens, origin): (Vec<Token>, &Origin),
    (args, best): (&ParseArgs, NonZeroUsize),
    result: &mut Rendered<u64>,
) -> io::Result<()> {
    let gold = if let Origin::Tree(origin) = origin { origin.tree.clone() } else { None };
    if retags {
        remove_given_tags(&mut tokens, origin.layout());
    }
    let trace = parser.trace(&tokens, gold, best.get()).map_err(io::Error::other)?;
    result.tally = u64::from(!trace.complete);
    match args.output {
        OutputFormat::Json => {
            serde_json::to_writer(&mut result.bytes, &trace)?;
            writeln!(result.bytes)
        }
        OutputFormat::Html => {
            let systems =
                vec![PlayedTrace { name: String::new(), trace: Some(trace), problem: None }];
            page::write_line(&Players { systems }, &mut result.bytes)
        }
        _ => trace_text::write(&trace, &mut result.bytes),
    }
}

/// Writes the trees of one sentence, best first.
fn write_nbest(
    parses: &[Parse],
    origin: &Origin,
    args: &ParseArgs,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    if args.output == OutputFormat::Html {
        let trees = parses.iter().zip(1..).map(|(parse, rank)| page_tree(parse, Some(rank)));
        return out.write_all(&page_line(trees.collect(), None));
    }
    for (parse, rank) in parses.iter().zip(1..) {
        match args.output {
            OutputFormat::Brackets => write!(out, "{rank}\t{}\t", parse.score)?,
            OutputFormat::Html | OutputFormat::Json => {}
            OutputFormat::Pretty | OutputFormat::Conllu => {
                writeln!(out, "# rank = {rank}\n# score = {}", parse.score)?;
            }
        }
        write_parse(parse, origin, args, out)?;
    }
    out.write_all(b"\n")
}

fn write_parse(
    parse: &Parse,
    origin: &Origin,
    args: &ParseArgs,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let id = origin.id().filter(|_| args.ids);
    let named = id.map(|id| ids::with_id(&parse.tree, id.as_str()));
    let in_brackets = named.as_ref().unwrap_or(&parse.tree);
    let tree = &parse.tree;
    match args.output {
        OutputFormat::Brackets => penn::write_line(in_brackets, out),
        OutputFormat::Html => out.write_all(&page_line(vec![page_tree(parse, None)], None)),
        OutputFormat::Pretty => penn::write_pretty(in_brackets, out),
        OutputFormat::Conllu => origin.write_parse(tree, out),
        // Written by `ParseRequest::write_json`.
        OutputFormat::Json => Ok(()),
    }
}

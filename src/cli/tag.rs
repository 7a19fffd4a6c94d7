//! `srparse tag`: one tagged sentence for each sentence, in the order of the input.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use clap::ValueEnum;

use super::listed;
use super::options::{INPUT, OUTPUT};
use super::stream::{self, Processor, Rendered, StreamArgs, Totals, Work};
use crate::error::counted;
use crate::parser::{Tagger, TaggingWorker, stored_preset, tokenizer};
use crate::tagger::Accuracy;
use crate::text::remove_given_tags;
use crate::tree::Token;
use crate::treebank::sentences::{InputFormat, Sentences};
use crate::treebank::tagged::{TaggedFormat, write_line};
use crate::treebank::{Missing, Origin};

/// Tag sentences with parts of speech.
///
/// Reads one sentence per line from files or standard input and writes one tagged sentence per line, in
/// the order of the input. Words are copied unchanged; tags in the input are replaced.
///
/// With --input text, raw text is split into sentences and words, across line breaks; a blank line ends
/// a sentence. With --input lines, each line of raw text is one sentence.
///
/// Otherwise a blank line, or one that cannot be read, produces a blank line, in CoNLL-U a comment. A line that
/// cannot be read also produces an error message, and the exit status is 2.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  echo 'The dog barks .' | srparse tag
  echo \"Dogs bark. Don't they?\" | srparse tag --input text
  srparse train --tagger --train data/sample/train.mrg --model tagger.srm
  srparse tag --model tagger.srm --input penn --accuracy data/sample/dev.mrg")]
pub struct TagArgs {
    /// Files with sentences (may be .gz); standard input if omitted.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Format of the input: tokens (words without tags), text (raw text), lines (raw text, a sentence per line), tagged
    /// (word/TAG), underscore (word_TAG), conllu, penn (only the words of the trees are used), or json (an object per
    /// line with tokens, which are words or lists of word and tag, or a text).
    #[arg(value_parser = listed::input_formats(), hide_possible_values = true, long,
          value_name = "FORMAT", default_value = "tokens", help_heading = INPUT)]
    input: InputFormat,
    #[command(flatten)]
    stream: StreamArgs,
    /// Format of the tagged sentences.
    #[arg(long, value_name = "FORMAT", default_value = "tagged", help_heading = OUTPUT)]
    output: OutputFormat,
    /// Report the tagging accuracy against the tags of the input, on standard error.
    #[arg(long, help_heading = OUTPUT)]
    accuracy: bool,
}

/// Output formats for tagged sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// word/TAG, one sentence per line.
    Tagged,
    /// word_TAG, one sentence per line.
    Underscore,
    /// CoNLL-U: words and tags.
    Conllu,
}

/// Runs the command.
///
/// # Errors
/// When the model cannot be loaded or has no tagger, or an input cannot be read.
pub fn run(args: &TagArgs) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        !(args.accuracy
            && matches!(args.input, InputFormat::Tokens | InputFormat::Text | InputFormat::Lines)),
        "--accuracy needs tags to compare with, and --input {} has none: choose tagged, underscore, \
         conllu, penn or json",
        args.input
    );
    let model = args.stream.model()?;
    let name = || args.stream.model_name();
    let tagger = Tagger::new(&model).with_context(name)?;
    let start = Instant::now();
    let processor = || -> Processor<'_, Accuracy> {
        let (tagger, mut worker) = (&tagger, tagger.worker());
        Box::new(move |tokens, origin, result| {
            tag_sentence((tagger, &mut worker), (tokens, origin), args, result)
        })
    };
    let missing = |missing: &Missing| match args.output {
        OutputFormat::Conllu => missing.conllu(),
        _ => b"\n".to_vec(),
    };
    let preset = stored_preset(&model, &[])?;
    let tokenizer = tokenizer(&model, &preset, |tag| tagger.knows_tag(tag))?;
    let prepare = |sentences: Sentences| {
        sentences
            .strip_trees(preset.clean.clone())
            .split_by(tokenizer.clone())
            .needing_tags(args.accuracy)
    };
    let report = |totals: &Totals<Accuracy>| report(args, totals, start);
    let work = Work {
        command: "tag",
        files: &args.files,
        format: args.input,
        prepare: &prepare,
        frame: Default::default(),
        missing: &missing,
        make: &processor,
        report: &report,
        resume: None,
    };
    let totals = stream::run(&work, &mut |_| None, &args.stream)?;
    report(&totals);
    Ok(args.stream.exit_code(&totals))
}

/// Prints the accuracy if it was asked for, how many sentences were tagged, and how fast.
fn report(args: &TagArgs, totals: &Totals<Accuracy>, start: Instant) {
    let Totals { sentences, words, unreadable, tally, .. } = totals;
    args.stream.report_trees(args.input, totals);
    if args.accuracy {
        say!("tagging accuracy: {tally}");
    }
    if !args.stream.verbosity.quiet && (io::stderr().is_terminal() || *unreadable > 0) {
        let seconds = start.elapsed().as_secs_f64();
        let rate = *words as f64 / seconds.max(1e-9);
        say!(
            "tagged {} ({}) in {seconds:.2} s, {rate:.0} words/s; {unreadable} unreadable",
            counted(*sentences, "sentence"),
            counted(*words, "word")
        );
    }
}

/// Tags one sentence and renders it.
fn tag_sentence(
    (tagger, worker): (&Tagger, &mut TaggingWorker<'_>),
    (mut tokens, origin): (Vec<Token>, &Origin),
    args: &TagArgs,
    result: &mut Rendered<Accuracy>,
) -> io::Result<()> {
    let gold = if args.accuracy { tokens.clone() } else { Vec::new() };
    remove_given_tags(&mut tokens, origin.layout());
    worker.tag(&mut tokens);
    if args.accuracy {
        result.tally = Accuracy::of(&gold, &tokens, |word| tagger.knows(word));
    }
    let out = &mut result.bytes;
    match args.output {
        OutputFormat::Tagged => write_line(&tokens, TaggedFormat::Slash, out),
        OutputFormat::Underscore => write_line(&tokens, TaggedFormat::Underscore, out),
        OutputFormat::Conllu => {
            origin.write_comments(out)?;
            origin.write_tokens(&tokens, out)
        }
    }
}

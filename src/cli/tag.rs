//! `srparse tag`: sentences in, tagged sentences out, one for each, in order.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use clap::ValueEnum;

use super::stream::{self, Made, Maker, StreamArgs, Totals};
use crate::preset::tagger::load_tagger;
use crate::tagger::{Accuracy, Tagger, TaggerWorker};
use crate::treebank::conllu;
use crate::treebank::sentences::{InputFormat, Item};
use crate::treebank::tagged::{TaggedFormat, write_line};

/// Tag sentences with parts of speech.
///
/// Sentences come one a line from files or standard input; each gives one tagged line on standard output.
/// Words come back unchanged and in order; tags that the input has are replaced. A blank line gives a
/// blank line. A line that does not read gives a blank line, a message, and exit status 2 in the end.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse train --tagger --train data/sample/train.mrg --model tagger.srm
  echo 'The dog barks .' | srparse tag --model tagger.srm
  srparse tag --model tagger.srm --input penn --accuracy data/sample/dev.mrg")]
pub struct TagArgs {
    /// Files to tag (.gz too); standard input if none.
    files: Vec<PathBuf>,
    #[command(flatten)]
    stream: StreamArgs,
    /// How sentences are written: tokens (words alone), tagged (word/TAG), underscore (word_TAG), conllu,
    /// or penn (words of trees).
    #[arg(long, value_name = "FORMAT", default_value = "tokens", display_order = 1)]
    input: InputFormat,
    /// How tagged sentences are written.
    #[arg(long, value_name = "FORMAT", default_value = "tagged", display_order = 3)]
    output: OutputFormat,
    /// Tell on standard error how many tags are those of the input.
    #[arg(long, display_order = 4)]
    accuracy: bool,
    /// Say nothing but errors, and the accuracy if wanted.
    #[arg(short, long, display_order = 14)]
    quiet: bool,
}

/// How tagged sentences are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// word/TAG, one sentence a line.
    Tagged,
    /// word_TAG, one sentence a line.
    Underscore,
    /// CoNLL-U: words and tags.
    Conllu,
}

/// Runs the command.
///
/// # Errors
/// When the model is refused or has no tagger, or an input cannot be read.
pub fn run(args: &TagArgs) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        !(args.accuracy && args.input == InputFormat::Tokens),
        "--accuracy: tokens have no tags to compare with: choose another --input (tagged, underscore, \
         conllu, penn)"
    );
    let model = args.stream.model()?;
    let name = || args.stream.model_name();
    let tagger = load_tagger(&model).with_context(name)?.with_context(|| {
        format!(
            "{}: there is no tagger in it: train one with `srparse train --tagger` and name it by --model",
            name()
        )
    })?;
    let start = Instant::now();
    let maker = || -> Maker<'_, Accuracy> {
        let (tagger, mut worker) = (&*tagger, TaggerWorker::new(&*tagger));
        Box::new(move |item, made| make(tagger, &mut worker, item, args, made))
    };
    Ok(finish(args, &stream::run(&args.files, args.input, &args.stream, &maker)?, start))
}

/// Tells what was done.
fn finish(args: &TagArgs, totals: &Totals<Accuracy>, start: Instant) -> ExitCode {
    let Totals { blank, sentences, words, unreadable, tally } = totals;
    if args.input == InputFormat::Penn && !args.quiet {
        eprintln!("read {} trees, skipped {unreadable}", sentences + blank);
    }
    if args.accuracy {
        eprintln!("tags right: {tally}");
    }
    if !args.quiet && (io::stderr().is_terminal() || *unreadable > 0) {
        let seconds = start.elapsed().as_secs_f64();
        let rate = *words as f64 / seconds.max(1e-9);
        eprintln!(
            "tagged {sentences} sentences ({words} words) in {seconds:.2} s, {rate:.0} words a second; \
             {unreadable} unreadable"
        );
    }
    if *unreadable > 0 { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

/// Tags one item and writes it as bytes.
fn make(
    tagger: &dyn Tagger,
    worker: &mut TaggerWorker<'_>,
    item: Item,
    args: &TagArgs,
    made: &mut Made<Accuracy>,
) -> io::Result<()> {
    match item {
        Item::Blank => made.bytes.push(b'\n'),
        Item::Bad { at, problem } => {
            made.problem = Some(format!("{at}: {problem}"));
            made.bytes.extend_from_slice(match args.output {
                OutputFormat::Tagged | OutputFormat::Underscore => b"\n",
                OutputFormat::Conllu => b"# unreadable\n\n",
            });
        }
        Item::Sentence(mut tokens) => {
            made.words = tokens.len();
            if args.accuracy {
                let gold = tokens.clone();
                worker.tag(&mut tokens);
                made.tally = Accuracy::of(&gold, &tokens, tagger.lexicon());
            } else {
                worker.tag(&mut tokens);
            }
            let out = &mut made.bytes;
            match args.output {
                OutputFormat::Tagged => write_line(&tokens, TaggedFormat::Slash, out)?,
                OutputFormat::Underscore => write_line(&tokens, TaggedFormat::Underscore, out)?,
                OutputFormat::Conllu => conllu::write_tokens(&tokens, out)?,
            }
        }
    }
    Ok(())
}

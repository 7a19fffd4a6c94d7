//! `srparse info --speed`: how fast a model parses on this machine.

use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::model::Model;
use crate::neural::inference::InstructionSet;
use crate::parser::Parser;
use crate::train::session::words;
use crate::tree::{Token, remove_tags};
use crate::treebank::Encoding;
use crate::treebank::penn::PennReader;

/// Invented sentences, short ones.
const SAMPLE: &str = include_str!("../../data/sample/dev.mrg");
/// The least number of words of a sentence that is measured: those of texts have 20 to 25.
const WORDS: usize = 20;
/// How long sentences are parsed.
const DURATION: Duration = Duration::from_secs(5);

/// Measures a model on one thread, and writes the figures with the name of the processor.
///
/// # Errors
/// When the model holds no parser, or the output cannot be written.
pub(super) fn measure(model: &Model, out: &mut impl Write) -> anyhow::Result<()> {
    let parser = Parser::new(model, &[])?;
    let sentences = sentences(parser.has_tagger())?;
    let mut worker = parser.worker();
    let start = Instant::now();
    let (mut n_sentences, mut n_words) = (0_u64, 0_u64);
    while start.elapsed() < DURATION {
        for sentence in &sentences {
            worker.parse(sentence)?;
            n_sentences += 1;
            n_words += sentence.len() as u64;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let per_second = |count: u64| count as f64 / seconds;
    writeln!(
        out,
        "{:.0} sentences a second, {:.0} words a second, on one thread\n  {}; instructions: {}",
        per_second(n_sentences),
        per_second(n_words),
        processor(),
        InstructionSet::wanted()?.name()
    )?;
    Ok(())
}

/// Sentences of at least [`WORDS`] words, but for the last; without tags, if the parser needs none.
fn sentences(without_tags: bool) -> anyhow::Result<Vec<Vec<Token>>> {
    let mut reader = PennReader::new(SAMPLE.as_bytes(), "the sample", Encoding::Utf8);
    let mut sentences = vec![Vec::new()];
    while let Some(tree) = reader.read()? {
        if sentences.last().is_some_and(|last| last.len() >= WORDS) {
            sentences.push(Vec::new());
        }
        let mut tokens = words(&tree);
        if without_tags {
            remove_tags(&mut tokens);
        }
        sentences.last_mut().into_iter().for_each(|last| last.append(&mut tokens));
    }
    Ok(sentences)
}

/// The name of the processor.
fn processor() -> String {
    let names = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = names.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_owned());
    name.unwrap_or_else(|| format!("{} ({})", std::env::consts::ARCH, std::env::consts::OS))
}

//! EVALB's report, byte for byte.

use std::io::{self, Write};

use crate::eval::Evaluation;
use crate::eval::percent::percent;
use crate::eval::sentence_score::SentenceScore;
use crate::eval::totals::Totals;

const RULE: &str = "============================================================================";

/// Writes the header of the table of sentences.
///
/// # Errors
/// When `out` cannot be written to.
pub fn header(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "  Sent.                        Matched  Bracket   Cross        Correct Tag")?;
    writeln!(out, " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy")?;
    writeln!(out, "{RULE}")
}

/// Writes the row of a sentence, numbered from 1.
///
/// # Errors
/// When `out` cannot be written to.
pub fn row(out: &mut impl Write, number: u64, score: &SentenceScore) -> io::Result<()> {
    let SentenceScore { length, gold, test, matched, crossing, words, correct_tags, .. } = *score;
    let share = |part: u32, whole: u32| percent(part.into(), whole.into());
    writeln!(
        out,
        "{number:4}  {length:3}    {}  {:6.2} {:6.2}   {matched:3}    {gold:3}  {test:3}    {crossing:3}   \
         {words:4}  {correct_tags:4}   {:6.2}",
        score.status.code(),
        share(matched, gold),
        share(matched, test),
        share(correct_tags, words),
    )
}

/// Writes the row of totals and both summaries.
///
/// # Errors
/// When `out` cannot be written to.
pub fn summary(out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
    let all = &evaluation.all;
    writeln!(out, "{RULE}")?;
    if all.gold > 0 && all.test > 0 {
        let (matched, gold, test) = (all.matched, all.gold, all.test);
        write!(out, "{:16}{:6.2} {:6.2}", "", all.recall(), all.precision())?;
        write!(out, " {matched:6} {gold:5} {test:5}  {:5}", all.crossing)?;
    }
    writeln!(out, "  {:5} {:5}   {:6.2}", all.words, all.correct_tags, all.tagging())?;
    writeln!(out, "=== Summary ===\n\n-- All --")?;
    block(out, all)?;
    writeln!(out, "\n-- len<={} --", evaluation.params.cutoff)?;
    block(out, &evaluation.short)
}

fn block(out: &mut impl Write, totals: &Totals) -> io::Result<()> {
    let counts = [
        ("Number of sentence", totals.sentences),
        ("Number of Error sentence", totals.errors),
        ("Number of Skip  sentence", totals.skipped),
        ("Number of Valid sentence", totals.valid()),
    ];
    for (name, count) in counts {
        writeln!(out, "{name:25} = {count:6}")?;
    }
    let shares = [
        ("Bracketing Recall", totals.recall()),
        ("Bracketing Precision", totals.precision()),
        ("Bracketing FMeasure", totals.f1()),
        ("Complete match", totals.exact()),
        ("Average crossing", totals.average_crossing()),
        ("No crossing", totals.without_crossing()),
        ("2 or less crossing", totals.two_or_less_crossing()),
        ("Tagging accuracy", totals.tagging()),
    ];
    for (name, share) in shares {
        writeln!(out, "{name:25} = {share:6.2}")?;
    }
    Ok(())
}

//! `srparse compare --agreement`: how many brackets and trees each subset of parsers gets right.

use std::process::ExitCode;

use super::CompareArgs;
use crate::cli::by_tags::ByTags;
use crate::cli::out::Out;
use crate::eval::agreement::Agreement;
use crate::eval::report::agreement::Report;
use crate::eval::{Evaluation, Status};
use crate::tree::Tree;

/// Reads the trees and prints the counts.
///
/// # Errors
/// When a file cannot be read, or the numbers of trees differ.
pub(super) fn run(args: &CompareArgs, mut out: Out) -> anyhow::Result<ExitCode> {
    let params = args.scoring.params()?;
    let mut sides = args.sides()?;
    let systems = 2 + args.more.len();
    let mut scores = ByTags::new(&args.scoring, &params, |evaluation| Scores {
        evaluations: vec![evaluation; systems],
        failures: vec![0; systems],
        brackets: Agreement::new(systems),
        exact: Agreement::new(systems),
    });
    while let Some(trees) = sides.next()? {
        let Some((gold, parses)) = trees.split_first() else { break };
        scores.add(|scores| scores.add(gold, parses, args.max_words));
    }
    let Scores { evaluations, failures, brackets, exact } = scores.choose(args.verbosity.quiet);
    args.report(&sides, exact.number(), &failures)?;
    sides.warn_of_other_words(&evaluations, &args.scoring);
    let report = Report { brackets, exact, failures, max_words: args.max_words };
    if args.json {
        report.json(&mut out)?;
    } else {
        report.text(&mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The counts of all parsers.
struct Scores {
    evaluations: Vec<Evaluation>,
    failures: Vec<u64>,
    brackets: Agreement,
    exact: Agreement,
}

impl Scores {
    /// Adds a sentence, unless it is too long.
    fn add(&mut self, gold: &Tree, parses: &[Tree], max_words: Option<u32>) -> Vec<Status> {
        let scored = self.evaluations.iter_mut().zip(parses);
        let scored = scored.map(|(evaluation, parse)| {
            evaluation.add_with(gold, parse, |pair| (pair.score.clone(), pair.gold_matches()))
        });
        let (scores, found): (Vec<_>, Vec<_>) = scored.unzip();
        if max_words.is_none_or(|most| scores[0].length <= most) {
            for (score, failures) in scores.iter().zip(&mut self.failures) {
                *failures += u64::from(score.status != Status::Valid);
            }
            self.exact.add(scores.iter().map(|score| score.is_exact()));
            add_brackets(&mut self.brackets, &found, scores[0].lost);
        }
        scores.iter().map(|score| score.status).collect()
    }
}

/// Adds the gold brackets of a sentence; `found` has whether a parser found each of those that are scored, and nothing
/// where the parser failed. Where all failed, `lost` is their number.
fn add_brackets(brackets: &mut Agreement, found: &[Option<Vec<Option<bool>>>], lost: u32) {
    let Some(first) = found.iter().flatten().next() else {
        (0..lost).for_each(|_| brackets.add(found.iter().map(|_| false)));
        return;
    };
    let of =
        |parser: &Option<Vec<Option<bool>>>, at: usize| parser.as_ref().and_then(|all| all[at]);
    for at in 0..first.len() {
        if found.iter().any(|parser| of(parser, at).is_some()) {
            brackets.add(found.iter().map(|parser| of(parser, at) == Some(true)));
        }
    }
}

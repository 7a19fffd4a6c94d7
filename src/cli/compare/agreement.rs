//! `srparse compare --agreement`: how many brackets and trees each subset of parsers gets right.

use std::process::ExitCode;

use super::CompareArgs;
use crate::cli::out::Out;
use crate::eval::Status;
use crate::eval::agreement::Agreement;
use crate::eval::report::agreement::Report;

/// Reads the trees and prints the counts.
///
/// # Errors
/// When a file cannot be read, or the numbers of trees differ.
pub(super) fn run(args: &CompareArgs, mut out: Out) -> anyhow::Result<ExitCode> {
    let params = args.scoring.params()?;
    let mut sides = args.sides()?;
    let systems = 2 + args.more.len();
    let mut evaluations = vec![args.scoring.evaluation(params, None); systems];
    let mut failures = vec![0; systems];
    let (mut brackets, mut exact) = (Agreement::new(systems), Agreement::new(systems));
    while let Some(trees) = sides.next()? {
        let Some((gold, parses)) = trees.split_first() else { break };
        let scored = evaluations.iter_mut().zip(parses);
        let (scores, found): (Vec<_>, Vec<_>) =
            scored.map(|(evaluation, parse)| evaluation.add_and_match(gold, parse)).unzip();
        if args.max_words.is_some_and(|most| scores[0].length > most) {
            continue;
        }
        for (score, failures) in scores.iter().zip(&mut failures) {
            *failures += u64::from(score.status != Status::Valid);
        }
        exact.add(scores.iter().map(|score| score.is_exact()));
        add_brackets(&mut brackets, &found, scores[0].lost);
    }
    args.report(&sides, exact.number(), &failures)?;
    let report = Report { brackets, exact, failures, max_words: args.max_words };
    if args.json {
        report.json(&mut out)?;
    } else {
        report.text(&mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
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

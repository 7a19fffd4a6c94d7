//! Traces as text: a line for each configuration, then its decision, indented.

use std::io::{self, Write};

use crate::inspect::derivation::Step;
use crate::inspect::trace::{Contribution, Decision, Neighbour, Ranked, Reasons, Trace};

/// Writes a trace and a blank line.
pub(super) fn write(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    let derivation = &trace.derivation;
    writeln!(out, "# {}", derivation.words.join(" "))?;
    for (step, number) in derivation.steps.iter().zip(1..) {
        let Step { action: Some(action), decision, .. } = step else { break };
        let (stack, buffer) = (derivation.stack_text(step), derivation.buffer_text(step));
        writeln!(out, "{number}\t{stack}\t{buffer}\t{action}")?;
        if trace.left_gold == Some(number - 1) {
            writeln!(out, "\tleaves the gold path here")?;
        }
        if let Some(decision) = decision.as_ref().filter(|decision| decision.legal > 1) {
            write_decision(decision, out)?;
        }
    }
    let whole = if trace.complete { "complete" } else { "partial" };
    writeln!(out, "# score {:.2}, {whole}", trace.score)?;
    if let Some(unfit) = &trace.unfit {
        writeln!(out, "# gold tree: {unfit}")?;
    }
    writeln!(out)
}

fn write_decision(decision: &Decision, out: &mut impl Write) -> io::Result<()> {
    for (ranked, rank) in decision.ranked.iter().zip(1..) {
        let Ranked { action, score, legal, taken, cost } = ranked;
        let score = score.map_or_else(|| "never".to_owned(), |score| format!("{score:.2}"));
        let mut notes: Vec<String> = Vec::new();
        notes.extend(taken.then(|| "taken".to_owned()));
        notes.extend((!legal).then(|| "illegal".to_owned()));
        notes.extend(decision.correct.contains(action).then(|| "correct".to_owned()));
        notes.extend(cost.filter(|&cost| cost > 0).map(|cost| format!("costs {cost}")));
        writeln!(out, "\t{rank}\t{score}\t{action}\t{}", notes.join(", "))?;
    }
    let is_listed = |name: &&String| decision.ranked.iter().any(|ranked| ranked.action == **name);
    for action in decision.correct.iter().filter(|name| !is_listed(name)) {
        writeln!(out, "\t-\t-\t{action}\tcorrect")?;
    }
    match &decision.reasons {
        None => Ok(()),
        Some(Reasons::Weights(weights)) => weights.iter().try_for_each(|contribution| {
            let Contribution { feature, weight, rival } = contribution;
            let lead = weight - rival;
            writeln!(out, "\tfeature\t{lead:+.2}\t{feature}\t{weight:.2} against {rival:.2}")
        }),
        Some(Reasons::Path(tests)) => {
            tests.iter().try_for_each(|test| writeln!(out, "\ttest\t\t{test}"))
        }
        Some(Reasons::Neighbours(rows)) => {
            rows.iter().try_for_each(|Neighbour { distance, actions }| {
                let actions: Vec<String> =
                    actions.iter().map(|(action, n)| format!("{n} × {action}")).collect();
                writeln!(out, "\tneighbour\t{distance:.4}\t{}", actions.join(", "))
            })
        }
    }
}

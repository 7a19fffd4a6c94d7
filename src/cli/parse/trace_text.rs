//! Traces as text: a line for each configuration, then its decision, indented.

use std::io::{self, Write};

use crate::inspect::beam::{BeamAfterStep, BeamTrace, RankedHypothesis};
use crate::inspect::derivation::Step;
use crate::inspect::trace::{
    Contribution, Decision, Member, Neighbour, Ranked, Reasons, Trace, TreeLeaf,
};

/// Writes a trace and a blank line.
pub(super) fn write(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    let derivation = &trace.derivation;
    writeln!(out, "# {}", derivation.words.join(" "))?;
    let mut beams = trace.beam.iter().flat_map(|beam| &beam.steps);
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
        if let Some(beam) = beams.next() {
            write_beam(beam, out)?;
        }
    }
    for (beam, number) in beams.zip(derivation.steps.len()..) {
        writeln!(out, "{number}\t\t\tidle")?;
        write_beam(beam, out)?;
    }
    let whole = if trace.complete { "complete" } else { "partial" };
    writeln!(out, "# score {:.2}, {whole}", trace.score)?;
    if let Some((step, beam)) = trace.beam.as_ref().and_then(BeamTrace::nearest) {
        let BeamAfterStep { rank, size, .. } = beam;
        let margin = margin_text(beam);
        writeln!(out, "# nearly lost at step {}: rank {rank} of {size}{margin}", step + 1)?;
    }
    if let Some(unfit) = &trace.unfit {
        writeln!(out, "# gold tree: {unfit}")?;
    }
    writeln!(out)
}

/// Writes the hypotheses after a step.
fn write_beam(beam: &BeamAfterStep, out: &mut impl Write) -> io::Result<()> {
    for RankedHypothesis { rank, score, action, from, winner } in &beam.hypotheses {
        let score = score.map_or_else(|| "-".to_owned(), |score| format!("{score:.2}"));
        let action = action.as_deref().unwrap_or("idle");
        let winner = if *winner { format!(", winner{}", margin_text(beam)) } else { String::new() };
        writeln!(out, "\tbeam {rank}\t{score}\t{action}\tfrom {from}{winner}")?;
    }
    Ok(())
}

fn margin_text(beam: &BeamAfterStep) -> String {
    beam.margin.map_or_else(String::new, |margin| format!(", margin {margin:.2}"))
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
        Some(Reasons::Trees(leaves)) => {
            leaves.iter().try_for_each(|TreeLeaf { confidence, tests }| {
                let tests =
                    if tests.is_empty() { "no test holds".to_owned() } else { tests.join(", ") };
                writeln!(out, "\ttree\t{confidence:+.2}\t{tests}")
            })
        }
        Some(Reasons::Members(members)) => {
            members.iter().zip(1..).try_for_each(|(Member { action, score, followed }, number)| {
                let score = score.map_or_else(|| "-".to_owned(), |score| format!("{score:.2}"));
                let followed = if *followed { "followed" } else { "" };
                writeln!(out, "\tmember {number}\t{score}\t{action}\t{followed}")
            })
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

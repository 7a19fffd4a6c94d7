//! The differences as tables, and as trees side by side.

use std::io::{self, Write};

use super::side_by_side;
use super::{Found, Sentence, SentenceParse, System, names};
use crate::eval::{ClassCounts, ErrorClass, ParseError, Relabelled};

/// How many changes of labels are listed.
const CHANGES: usize = 10;

/// Writes the tables, then the sentences, in colours unless the user has switched them off (`NO_COLOR`).
pub(super) fn write(found: &Found, colors: bool, out: &mut impl Write) -> io::Result<()> {
    classes(&found.systems, out)?;
    changes(&found.systems, out)?;
    for sentence in &found.sentences {
        write_sentence(sentence, colors, out)?;
    }
    Ok(())
}

/// The beginning of a line about a parser.
fn prefix(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("{name}: ") }
}

/// The heading of a column with counts of a parser.
fn count(name: &str) -> String {
    format!("count {name}").trim_end().to_owned()
}

/// One table with all parsers, in the order of the first one's errors.
fn classes(systems: &[System], out: &mut impl Write) -> io::Result<()> {
    let Some(first) = systems.first() else { return Ok(()) };
    write!(out, "{:24}", "error")?;
    for name in names(systems.len()) {
        write!(out, "{:>9}{:>9}{:>9}{:>9}", count(name), "missed", "spurious", "F1 gain")?;
    }
    writeln!(out)?;
    for (class, _) in first.errors.by_brackets() {
        write!(out, "{class:24}")?;
        for System { evaluation, errors } in systems {
            let counts = errors.of(class);
            let gain = counts.f1_mended(&evaluation.all) - evaluation.all.f1();
            let ClassCounts { errors, missed, spurious } = counts;
            write!(out, "{errors:9}{missed:9}{spurious:9}{gain:+9.2}")?;
        }
        writeln!(out)?;
    }
    for (name, system) in names(systems.len()).iter().zip(systems) {
        let totals = &system.evaluation.all;
        let (f1, exact, all) = (totals.f1(), totals.complete, totals.sentences);
        let (name, excluded) = (prefix(name), totals.errors + totals.skipped);
        writeln!(
            out,
            "{name}F1 {f1:.2}, {exact} of {all} sentences without errors, {excluded} excluded"
        )?;
    }
    Ok(())
}

/// The most frequent changes of labels of each parser.
fn changes(systems: &[System], out: &mut impl Write) -> io::Result<()> {
    for (name, system) in names(systems.len()).iter().zip(systems) {
        let changes = system.errors.relabelled();
        if changes.is_empty() {
            continue;
        }
        writeln!(out, "\n{:12}{:12}{:>9}", "gold label", "test label", count(name))?;
        for Relabelled { gold, test, count } in changes.iter().take(CHANGES) {
            writeln!(out, "{gold:12}{test:12}{count:9}")?;
        }
    }
    Ok(())
}

fn write_sentence(sentence: &Sentence, colors: bool, out: &mut impl Write) -> io::Result<()> {
    let Sentence { number, at, gold, parses } = sentence;
    let at = at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
    writeln!(out, "\nsentence {number}{at}")?;
    for (name, parse) in names(parses.len()).iter().zip(parses) {
        let SentenceParse { tree, f1, difference } = parse;
        writeln!(out, "{}F1 {f1:.2}; {}", prefix(name), listed(&difference.errors))?;
        let columns = [(gold, &difference.gold[..]), (tree, &difference.test[..])];
        side_by_side::write(columns, colors, out)?;
    }
    Ok(())
}

/// The classes of errors with their numbers.
fn listed(errors: &[ParseError]) -> String {
    let count = |class: ErrorClass| errors.iter().filter(|error| error.class == class).count();
    let found = ErrorClass::ALL.into_iter().filter_map(|class| match count(class) {
        0 => None,
        1 => Some(class.name().to_owned()),
        n => Some(format!("{n} {}", class.name())),
    });
    let found: Vec<String> = found.collect();
    if found.is_empty() { "no errors".to_owned() } else { found.join(", ") }
}
